/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Persistent reservations taken from others: PREEMPT, PREEMPT AND ABORT. */

#include "scsi/scsi_int.h"
#include "tests/lib/pr.h"
#include "tests/lib/unit.h"

#define RELEASED	0x2a04
#define REGS_PREEMPTED	0x2a05

/* ---- PREEMPT ------------------------------------------------------------- */

START_TEST(preempt_takes_the_reservation_over)
{
	pr_register(0, 0xa);
	pr_register(1, 0xb);
	pr_reserve(0, 0xa, WE);
	ck_assert(rig_good(pr_out(1, PREEMPT, EA_RO, 0xb, 0xa)));
	ck_assert(pr_keys() == 1 && pr_has(0xb));
	ck_assert_uint_eq(pr_attention(0), REGS_PREEMPTED);
	ck_assert_uint_eq(pr_attention(0), 0);
	ck_assert(pr_type() == EA_RO && pr_holder_key() == 0xb);
	ck_assert_uint_eq(pr_attention(1), 0);
	ck_assert(pr_conflicts(rig_read(0, 0, 1)));
}
END_TEST

START_TEST(preempt_of_a_key_that_holds_nothing_ignores_scope_and_type)
{
	pr_register(0, 0xa);
	pr_register(1, 0xb);
	pr_reserve(0, 0xa, WE);
	ck_assert(rig_good(pr_out(0, PREEMPT, 0xfe, 0xa, 0xb)));
	ck_assert(pr_keys() == 1 && pr_has(0xa));
	ck_assert(pr_type() == WE && pr_holder_key() == 0xa);
	ck_assert_uint_eq(pr_attention(1), REGS_PREEMPTED);
}
END_TEST

START_TEST(preempt_that_takes_over_needs_a_type)
{
	pr_register(0, 0xa);
	pr_register(1, 0xb);
	pr_reserve(0, 0xa, WE);
	ck_assert(points_at(pr_out(1, PREEMPT, 2, 0xb, 0xa), 2, 3));
	ck_assert(points_at(pr_out(1, PREEMPT, 0x11, 0xb, 0xa), 2, 7));
	ck_assert(pr_keys() == 2 && pr_holder_key() == 0xa);
}
END_TEST

START_TEST(preempt_without_a_reservation_removes_registrations)
{
	pr_register(0, 0xa);
	pr_register(1, 0xb);
	ck_assert(rig_good(pr_out(0, PREEMPT, 0, 0xa, 0xb)));
	ck_assert(pr_keys() == 1 && pr_has(0xa));
	ck_assert_uint_eq(pr_type(), 0);
}
END_TEST

START_TEST(preempt_of_a_key_that_nobody_has_conflicts)
{
	pr_register(0, 0xa);
	ck_assert(pr_conflicts(pr_out(0, PREEMPT, WE, 0xa, 0xc)));
	ck_assert(pr_conflicts(pr_out(1, PREEMPT, WE, 0xa, 0xa)));
	pr_reserve(0, 0xa, WE_AR);
	ck_assert(pr_conflicts(pr_out(0, PREEMPT, WE, 0xa, 0xc)));
	ck_assert_uint_eq(pr_keys(), 1);
}
END_TEST

START_TEST(preempt_of_key_0_is_for_all_registrants_alone)
{
	pr_register(0, 0xa);
	pr_register(1, 0xb);
	ck_assert(points_at_param(pr_out(1, PREEMPT, WE, 0xb, 0), 8));
	pr_reserve(0, 0xa, WE_RO);
	ck_assert(points_at_param(pr_out(1, PREEMPT, WE, 0xb, 0), 8));
	pr_out(0, RELEASE, WE_RO, 0xa, 0);
	ck_assert_uint_eq(pr_attention(1), RELEASED);
	pr_reserve(0, 0xa, WE_AR);
	ck_assert(rig_good(pr_out(1, PREEMPT, EA, 0xb, 0)));
	ck_assert(pr_keys() == 1 && pr_has(0xb));
	ck_assert(pr_type() == EA && pr_holder_key() == 0xb);
	ck_assert_uint_eq(pr_attention(0), REGS_PREEMPTED);
}
END_TEST

START_TEST(preempt_of_a_key_of_all_registrants_leaves_the_reservation)
{
	pr_register(0, 0xa);
	pr_register(1, 0xb);
	pr_reserve(0, 0xa, WE_AR);
	ck_assert(rig_good(pr_out(1, PREEMPT, EA, 0xb, 0xa)));
	ck_assert(pr_keys() == 1 && pr_type() == WE_AR);
}
END_TEST

START_TEST(the_holder_may_preempt_itself_to_another_type)
{
	pr_register(0, 0xa);
	pr_register(1, 0xb);
	pr_reserve(0, 0xa, WE_RO);
	ck_assert(rig_good(pr_out(0, PREEMPT, EA_RO, 0xa, 0xa)));
	ck_assert(pr_keys() == 2 && pr_type() == EA_RO);
	ck_assert_uint_eq(pr_attention(1), RELEASED);
	ck_assert_uint_eq(pr_attention(1), 0);
}
END_TEST

/* ---- PREEMPT AND ABORT --------------------------------------------------- */

START_TEST(preempt_and_abort_is_answered_when_the_writes_are_gone)
{
	struct rig_cmd *w, *waits, *own, *p;

	pr_register(0, 0xa);
	pr_register(1, 0xb);
	pr_reserve(0, 0xa, WE_RO);
	w = rig_write(0, 0, 1, 0x77);
	own = rig_write(1, 8, 1, 0x66);
	waits = rig_caw(0, 0, 1, 0x55);		/* behind the write */
	p = pr_out(1, PREEMPT_ABORT, WE_RO, 0xb, 0xa);
	ck_assert(!p->done && waits->done && !w->done && !own->done);
	/* what is on its way may land before the answer, not after it */
	fake_complete(rig.vol[0], 0);
	ck_assert(w->done && w->scsi.aborted && rig_good(p));
	ck_assert(!own->scsi.aborted && !own->done);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(own));
	ck_assert_uint_eq(pr_attention(0), REGS_PREEMPTED);
	ck_assert(pr_conflicts(rig_write(0, 0, 1, 0x11)));
}
END_TEST

START_TEST(a_write_without_its_data_is_given_up_at_once)
{
	struct rig_cmd *w = rig_16(rig_new(0, 0), 0x8a, 0, 1), *p;

	pr_register(0, 0xa);
	pr_register(1, 0xb);
	w->hold = true;
	rig_submit(w, 512, false);
	p = pr_out(1, PREEMPT_ABORT, WE, 0xb, 0xa);
	ck_assert(rig_good(p) && w->done && w->scsi.aborted);
	ck_assert(rig_untouched(0, 0, 512));
}
END_TEST

START_TEST(others_can_be_served_while_an_abort_is_waited_for)
{
	struct rig_cmd *w, *p;

	pr_register(0, 0xa);
	pr_register(1, 0xb);
	w = rig_write(0, 0, 1, 0x77);
	p = pr_out(1, PREEMPT_ABORT, WE, 0xb, 0xa);
	ck_assert(!p->done);
	ck_assert(rig_good(pr_out(1, RESERVE, WE, 0xb, 0)));
	ck_assert_uint_eq(pr_attention(0), REGS_PREEMPTED);
	fake_complete(rig.vol[0], 0);
	ck_assert(w->done && rig_good(p));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("preempt");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_test(tc, preempt_takes_the_reservation_over);
	tcase_add_test(tc,
		preempt_of_a_key_that_holds_nothing_ignores_scope_and_type);
	tcase_add_test(tc, preempt_that_takes_over_needs_a_type);
	tcase_add_test(tc,
		preempt_without_a_reservation_removes_registrations);
	tcase_add_test(tc, preempt_of_a_key_that_nobody_has_conflicts);
	tcase_add_test(tc, preempt_of_key_0_is_for_all_registrants_alone);
	tcase_add_test(tc,
		preempt_of_a_key_of_all_registrants_leaves_the_reservation);
	tcase_add_test(tc, the_holder_may_preempt_itself_to_another_type);
	tcase_add_test(tc,
		preempt_and_abort_is_answered_when_the_writes_are_gone);
	tcase_add_test(tc, a_write_without_its_data_is_given_up_at_once);
	tcase_add_test(tc,
		others_can_be_served_while_an_abort_is_waited_for);
	return unit_run("scsi_pr_preempt", tc);
}
