/* SPDX-License-Identifier: GPL-2.0-or-later */

/* When is a request answered? */

#include "tests/lib/acts.h"
#include "tests/lib/unit.h"

START_TEST(good_needs_a_flush_that_started_after_the_write_ended)
{
	struct req first, second;

	submit(&first, e1, BREQ_WRITE, 0);
	submit(&second, e1, BREQ_WRITE, 0);
	act_ends(&first.b, 0);
	manual_turn(e1);		/* a flush starts */
	ck_assert_uint_eq(at_work(BREQ_FLUSH), 1);
	act_ends(&second.b, 0);		/* while it runs */
	manual_turn(e1);
	ck_assert_uint_eq(at_work(BREQ_FLUSH), 1);
	flush_ends(0);
	ck_assert(first.done);
	ck_assert(second.written && !second.done);
	flush_ends(0);			/* the one that started afterwards */
	ck_assert(second.done);
}
END_TEST

START_TEST(write_that_has_not_ended_starts_no_flush)
{
	struct req r;

	submit(&r, e1, BREQ_WRITE, 0);
	manual_turn(e1);
	ck_assert_uint_eq(at_work(BREQ_FLUSH), 0);
	act_ends(&r.b, 0);
	ck_assert(!r.done);
	manual_turn(e1);
	flush_ends(0);
	ck_assert(r.done && !r.error);
}
END_TEST

START_TEST(writes_that_end_in_one_turn_share_a_flush)
{
	struct req r[8];
	int i;

	for (i = 0; i < 8; i++)
		submit(&r[i], e1, BREQ_WRITE, 0);
	for (i = 0; i < 8; i++)
		act_ends(&r[i].b, 0);
	manual_turn(e1);
	ck_assert_uint_eq(at_work(BREQ_FLUSH), 1);
	flush_ends(0);
	for (i = 0; i < 8; i++)
		ck_assert(r[i].done && !r[i].error);
	ck_assert_uint_eq(at_work(BREQ_FLUSH), 0);
}
END_TEST

START_TEST(writes_that_end_during_a_flush_share_the_next)
{
	struct req r[5];
	int i;

	for (i = 0; i < 5; i++)
		submit(&r[i], e1, BREQ_WRITE, 0);
	for (i = 0; i < 5; i++) {
		act_ends(&r[i].b, 0);
		manual_turn(e1);
	}
	flush_ends(0);
	ck_assert(r[0].done && !r[1].done);
	ck_assert_uint_eq(at_work(BREQ_FLUSH), 1);
	flush_ends(0);
	for (i = 1; i < 5; i++)
		ck_assert(r[i].done);
}
END_TEST

START_TEST(engines_share_a_flush_and_each_answers_its_own)
{
	struct req r[3];

	submit(&r[0], e1, BREQ_WRITE, 0);
	submit(&r[1], e2, BREQ_WRITE, 0);
	submit(&r[2], e2, BREQ_WRITE, 0);
	act_ends(&r[0].b, 0);
	manual_turn(e1);
	act_ends(&r[1].b, 0);
	act_ends(&r[2].b, 0);
	manual_turn(e2);
	ck_assert_uint_eq(at_work(BREQ_FLUSH), 1);
	flush_ends(0);
	ck_assert(r[0].done && !r[1].done);
	flush_ends(0);
	ck_assert(r[1].done && r[2].done);
}
END_TEST

START_TEST(urgent_write_makes_itself_stable_beside_a_running_flush)
{
	struct req slow, urgent;

	submit(&slow, e1, BREQ_WRITE, 0);
	act_ends(&slow.b, 0);
	manual_turn(e1);
	submit(&urgent, e1, BREQ_WRITE, BREQ_URGENT);
	ck_assert(breq_wants_sync(&urgent.b));
	ck_assert_uint_eq(atomic_load(&v->urgent), 1);
	act_ends(&urgent.b, 0);
	manual_turn(e1);
	ck_assert(urgent.done && urgent.written && !urgent.error);
	ck_assert_uint_eq(atomic_load(&v->urgent), 0);
	ck_assert(!slow.done);
	flush_ends(0);
}
END_TEST

START_TEST(lone_direct_write_is_its_own_flush_and_several_share_one)
{
	struct req r[2];

	remake(&direct);
	submit(&r[0], e1, BREQ_WRITE, 0);
	ck_assert(breq_wants_sync(&r[0].b));
	submit(&r[1], e1, BREQ_WRITE, 0);
	ck_assert(!breq_wants_sync(&r[1].b));
	act_ends(&r[0].b, 0);
	act_ends(&r[1].b, 0);
	manual_turn(e1);
	ck_assert(r[0].done && !r[1].done);
	flush_ends(0);
}
END_TEST

START_TEST(every_change_of_the_medium_waits_for_a_flush)
{
	struct req r;

	submit(&r, e1, changing[_i], 0);
	act_ends(&r.b, 0);
	manual_turn(e1);
	ck_assert(r.written && !r.done);
	flush_ends(0);
	ck_assert(r.done && !r.error);
}
END_TEST

START_TEST(parts_wait_for_no_flush_and_one_covers_them_with_the_rest)
{
	struct req r;

	submit(&r, e1, changing[_i], BREQ_PART);
	act_ends(&r.b, 0);
	manual_turn(e1);
	ck_assert(r.written && r.done && !r.error);
	submit_rest(&r, e1, BREQ_PART);
	act_ends(&r.b, 0);
	manual_turn(e1);
	ck_assert(r.written && r.done && !r.error);
	ck_assert_uint_eq(at_work(BREQ_FLUSH), 0);
	submit_rest(&r, e1, 0);
	act_ends(&r.b, 0);
	manual_turn(e1);
	ck_assert(r.written && !r.done);
	flush_ends(0);
	ck_assert(r.done && !r.error);
}
END_TEST

START_TEST(rest_is_stable_as_its_parts_were_whatever_the_mode_is_now)
{
	struct req r;

	submit(&r, e1, BREQ_WRITE, BREQ_PART | BREQ_FUA);
	act_ends(&r.b, 0);
	manual_turn(e1);
	volume_set_write_back(v, true, NULL, NULL);
	manual_turn(e1);
	flush_ends(0);
	submit_rest(&r, e1, BREQ_FUA);
	ck_assert(!breq_wants_sync(&r.b));	/* it would be stable alone */
	act_ends(&r.b, 0);
	manual_turn(e1);
	ck_assert(!r.done);
	flush_ends(0);
	ck_assert(r.done && !r.error);
}
END_TEST

START_TEST(write_back_answers_at_once)
{
	struct req r;

	remake(&back);
	submit(&r, e1, changing[_i], 0);
	ck_assert(!breq_wants_sync(&r.b));
	act_ends(&r.b, 0);
	manual_turn(e1);
	ck_assert(r.done && !r.error);
	ck_assert_uint_eq(at_work(BREQ_FLUSH), 0);
}
END_TEST

START_TEST(write_back_honours_fua)
{
	struct req r;

	remake(&back);
	submit(&r, e1, changing[_i], BREQ_FUA);
	act_ends(&r.b, 0);
	manual_turn(e1);
	if (breq_wants_sync(&r.b)) {
		ck_assert_int_eq(r.b.op, BREQ_WRITE);
	} else {
		ck_assert(!r.done);
		flush_ends(0);
	}
	ck_assert(r.done && !r.error);
}
END_TEST

START_TEST(flush_request_waits_for_a_flush_that_starts_later)
{
	struct req w, f;

	submit(&w, e1, BREQ_WRITE, 0);
	act_ends(&w.b, 0);
	manual_turn(e1);
	submit(&f, e1, BREQ_FLUSH, 0);
	manual_turn(e1);
	flush_ends(0);
	ck_assert(w.done && !f.done);
	flush_ends(0);
	ck_assert(f.done && !f.error);
}
END_TEST

static int durability;

static void durability_set(void *arg, int err)
{
	(void)arg;
	durability = err;
}

START_TEST(change_to_write_through_flushes_first)
{
	struct req early, late;

	remake(&back);
	submit(&early, e1, BREQ_WRITE, 0);
	durability = 1;
	volume_set_write_back(v, false, durability_set, NULL);
	manual_turn(e1);
	ck_assert_int_eq(durability, 1);
	act_ends(&early.b, 0);		/* too late for that flush */
	manual_turn(e1);
	ck_assert(!early.done);
	submit(&late, e1, BREQ_WRITE, 0);
	flush_ends(0);
	ck_assert_int_eq(durability, 0);
	ck_assert(!volume_write_back(v) && !early.done);
	act_ends(&late.b, 0);
	manual_turn(e1);
	flush_ends(0);
	ck_assert(early.done);
	flush_ends(0);
	ck_assert(late.done);
}
END_TEST

START_TEST(change_to_write_back_takes_effect_at_once)
{
	struct req r;

	volume_set_write_back(v, true, durability_set, NULL);
	submit(&r, e1, BREQ_WRITE, 0);
	act_ends(&r.b, 0);
	manual_turn(e1);
	ck_assert(r.done);
	flush_ends(0);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("flush");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc,
		       good_needs_a_flush_that_started_after_the_write_ended);
	tcase_add_test(tc, write_that_has_not_ended_starts_no_flush);
	tcase_add_test(tc, writes_that_end_in_one_turn_share_a_flush);
	tcase_add_test(tc, writes_that_end_during_a_flush_share_the_next);
	tcase_add_test(tc, engines_share_a_flush_and_each_answers_its_own);
	tcase_add_test(tc,
		       urgent_write_makes_itself_stable_beside_a_running_flush);
	tcase_add_test(tc,
		lone_direct_write_is_its_own_flush_and_several_share_one);
	tcase_add_loop_test(tc, every_change_of_the_medium_waits_for_a_flush,
			    0, NCHANGING);
	tcase_add_loop_test(tc,
		parts_wait_for_no_flush_and_one_covers_them_with_the_rest, 0,
		NCHANGING);
	tcase_add_test(tc,
		rest_is_stable_as_its_parts_were_whatever_the_mode_is_now);
	tcase_add_loop_test(tc, write_back_answers_at_once, 0, NCHANGING);
	tcase_add_loop_test(tc, write_back_honours_fua, 0, NCHANGING);
	tcase_add_test(tc, flush_request_waits_for_a_flush_that_starts_later);
	tcase_add_test(tc, change_to_write_through_flushes_first);
	tcase_add_test(tc, change_to_write_back_takes_effect_at_once);
	return unit_run("backend_flush", tc);
}
