/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What is answered when a flush or a stable write fails, and when a volume
 * goes, is away or comes.
 */

#include "tests/lib/acts.h"
#include "tests/lib/unit.h"

START_TEST(failed_act_is_answered_without_flush_and_not_written)
{
	struct req r;

	submit(&r, e1, BREQ_WRITE, 0);
	act_ends(&r.b, -ENOSPC);
	manual_turn(e1);
	ck_assert(r.done && !r.written);
	ck_assert_int_eq(r.error, -ENOSPC);
	ck_assert_uint_eq(at_work(BREQ_FLUSH), 0);
	ck_assert_int_eq(volume_state(v), VOLUME_ONLINE);
}
END_TEST

START_TEST(failed_flush_fails_all_that_it_may_have_lost)
{
	struct req r[3];

	fail_flush(r, -EIO);
	ck_assert(r[0].done && r[1].done && !r[2].done);
	ck_assert_int_eq(r[0].error, -EIO);
	ck_assert_int_eq(r[1].error, -EIO);
	act_ends(&r[2].b, 0);
	manual_turn(e1);
	ck_assert_int_eq(r[2].error, -EIO);
	ck_assert_uint_eq(at_work(BREQ_FLUSH), 0);	/* no retry */
	ck_assert_int_eq(volume_state(v), VOLUME_FAILED);
	ck_assert_int_eq(volume_error(v), -EIO);
	ck_assert_uint_eq(changes, 1);
	ck_assert_int_eq(told, VOLUME_FAILED);
}
END_TEST

START_TEST(failed_volume_refuses_changes_and_flushes_but_reads)
{
	struct req r[3], later;
	int i;

	fail_flush(r, -EIO);
	act_ends(&r[2].b, 0);
	for (i = 0; i < NCHANGING; i++) {
		submit(&later, e2, changing[i], 0);
		manual_turn(e2);
		ck_assert_int_eq(later.error, -EIO);
	}
	submit(&later, e2, BREQ_FLUSH, 0);
	manual_turn(e2);
	ck_assert(later.done);
	ck_assert_int_eq(later.error, -EIO);
	submit(&later, e2, BREQ_READ, 0);
	act_ends(&later.b, 0);
	manual_turn(e2);
	ck_assert(later.done && !later.error);
	manual_turn(e1);
}
END_TEST

START_TEST(operator_brings_a_failed_volume_back)
{
	struct req r[3], later;

	fail_flush(r, -EIO);
	manual_enter(e1);
	volume_set_online(v);
	manual_turn(e1);
	ck_assert_int_eq(told, VOLUME_ONLINE);
	submit(&later, e1, BREQ_WRITE, 0);
	act_ends(&later.b, 0);
	act_ends(&r[2].b, 0);		/* began before the failure */
	manual_turn(e1);
	ck_assert_int_eq(r[2].error, -EIO);
	flush_ends(0);
	ck_assert(later.done && !later.error);
}
END_TEST

START_TEST(flush_without_space_is_told_to_all_and_the_volume_stays_online)
{
	struct req r[3], later;

	fail_flush(r, -ENOSPC);
	ck_assert_int_eq(r[0].error, -ENOSPC);
	ck_assert_int_eq(r[1].error, -ENOSPC);
	act_ends(&r[2].b, 0);
	manual_turn(e1);
	ck_assert_int_eq(r[2].error, -ENOSPC);
	ck_assert_int_eq(volume_state(v), VOLUME_ONLINE);
	submit(&later, e1, BREQ_WRITE, 0);
	act_ends(&later.b, 0);
	manual_turn(e1);
	flush_ends(0);
	ck_assert(later.done && !later.error);
}
END_TEST

START_TEST(flush_that_lost_parts_fails_their_rest)
{
	struct req part, other;

	submit(&part, e1, BREQ_WRITE, BREQ_PART);
	act_ends(&part.b, 0);
	manual_turn(e1);
	ck_assert(part.done && !part.error);
	submit(&other, e2, BREQ_WRITE, 0);
	act_ends(&other.b, 0);
	manual_turn(e2);
	flush_ends(-ENOSPC);
	ck_assert_int_eq(volume_state(v), VOLUME_ONLINE);
	submit_rest(&part, e1, 0);
	act_ends(&part.b, 0);
	manual_turn(e1);
	ck_assert(part.done);
	ck_assert_int_eq(part.error, -ENOSPC);
	ck_assert_uint_eq(at_work(BREQ_FLUSH), 0);
}
END_TEST

START_TEST(flush_without_space_fails_a_volume_that_answered_before)
{
	struct req r;

	remake(&back);
	submit(&r, e1, BREQ_FLUSH, 0);
	manual_turn(e1);
	flush_ends(-ENOSPC);
	ck_assert_int_eq(r.error, -EIO);
	ck_assert_int_eq(volume_state(v), VOLUME_FAILED);
}
END_TEST

START_TEST(failed_stable_write_fails_what_waits_for_a_flush)
{
	struct req waiting, urgent;

	submit(&waiting, e1, BREQ_WRITE, 0);
	act_ends(&waiting.b, 0);
	manual_turn(e1);
	submit(&urgent, e1, BREQ_WRITE, BREQ_URGENT);
	act_ends(&urgent.b, -EIO);
	manual_turn(e1);
	ck_assert_int_eq(urgent.error, -EIO);
	flush_ends(0);			/* success means nothing now */
	ck_assert_int_eq(waiting.error, -EIO);
	ck_assert_int_eq(volume_state(v), VOLUME_FAILED);
}
END_TEST

START_TEST(stable_write_without_space_fails_alone)
{
	struct req waiting, urgent;

	submit(&waiting, e1, BREQ_WRITE, 0);
	act_ends(&waiting.b, 0);
	manual_turn(e1);
	submit(&urgent, e1, BREQ_WRITE, BREQ_URGENT);
	act_ends(&urgent.b, -ENOSPC);
	manual_turn(e1);
	ck_assert_int_eq(urgent.error, -ENOSPC);
	flush_ends(0);
	ck_assert(waiting.done && !waiting.error);
	ck_assert_int_eq(volume_state(v), VOLUME_ONLINE);
}
END_TEST

START_TEST(closing_waits_for_requests_and_refuses_new_ones)
{
	struct req r, late;

	submit(&r, e2, BREQ_WRITE, 0);
	manual_enter(e1);
	volume_close(v);
	manual_advance(e1, 10);
	ck_assert(!is_closed);
	submit(&late, e2, BREQ_READ, 0);
	manual_turn(e2);
	ck_assert_int_eq(late.error, -ENODEV);
	act_ends(&r.b, 0);
	manual_turn(e2);
	manual_advance(e1, 10);
	ck_assert(!is_closed);		/* the flush still runs */
	flush_ends(0);
	ck_assert(r.done && !r.error);
	manual_advance(e1, 10);
	while (!is_closed)
		manual_wait(e1);
	ck_assert_uint_eq(closes, 1);
	volume_free(v);
	is_closed = false;
	make(&through);			/* for the fixture */
}
END_TEST

static void retry(void)
{
	manual_advance(e1, VOLUME_RETRY_MS);
	while (v->opening)
		manual_wait(e1);
}

START_TEST(degraded_volume_is_tried_again_until_it_heals)
{
	struct req r;

	drop();
	open_error = -ENOENT;
	opens = 0;
	make(&through);
	ck_assert_int_eq(volume_state(v), VOLUME_DEGRADED);
	ck_assert_int_eq(volume_error(v), -ENOENT);
	submit(&r, e1, BREQ_READ, 0);
	manual_turn(e1);
	ck_assert_int_eq(r.error, -ENODEV);
	retry();
	ck_assert_uint_eq(opens, 2);
	ck_assert_uint_eq(changes, 0);
	open_error = 0;
	retry();
	ck_assert_int_eq(told, VOLUME_ONLINE);
	ck_assert_uint_eq(changes, 1);
	submit(&r, e1, BREQ_READ, 0);
	act_ends(&r.b, 0);
	manual_turn(e1);
	ck_assert(r.done && !r.error);
}
END_TEST

START_TEST(request_beyond_the_end_is_refused)
{
	struct req r = { .b = {
		.op = BREQ_READ, .off = UINT64_MAX - 511, .len = 1024,
		.data = r.data, .done = on_done,
	} };

	manual_enter(e1);
	volume_submit(v, &r.b);
	manual_turn(e1);
	ck_assert_int_eq(r.error, -EIO);
}
END_TEST

START_TEST(volume_whose_opening_is_under_way_can_be_closed)
{
	drop();
	v = volume_new_ops(&through, &(struct volume_events){
			   .closed = on_closed }, e1, &kind, NULL);
	manual_enter(e1);
	volume_open(v);
	volume_close(v);
	while (!is_closed) {
		manual_wait(e1);
		manual_advance(e1, 10);
	}
	ck_assert_uint_eq(opens, 2);
	volume_free(v);
	is_closed = false;
	make(&through);			/* for the fixture */
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("failures");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc,
		       failed_act_is_answered_without_flush_and_not_written);
	tcase_add_test(tc, failed_flush_fails_all_that_it_may_have_lost);
	tcase_add_test(tc, failed_volume_refuses_changes_and_flushes_but_reads);
	tcase_add_test(tc, operator_brings_a_failed_volume_back);
	tcase_add_test(tc,
		flush_without_space_is_told_to_all_and_the_volume_stays_online);
	tcase_add_test(tc, flush_that_lost_parts_fails_their_rest);
	tcase_add_test(tc,
		       flush_without_space_fails_a_volume_that_answered_before);
	tcase_add_test(tc, failed_stable_write_fails_what_waits_for_a_flush);
	tcase_add_test(tc, stable_write_without_space_fails_alone);
	tcase_add_test(tc, closing_waits_for_requests_and_refuses_new_ones);
	tcase_add_test(tc, degraded_volume_is_tried_again_until_it_heals);
	tcase_add_test(tc, request_beyond_the_end_is_refused);
	tcase_add_test(tc, volume_whose_opening_is_under_way_can_be_closed);
	return unit_run("backend_flush_fail", tc);
}
