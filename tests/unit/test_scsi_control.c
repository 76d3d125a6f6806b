/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What the control mode page switches: TAS, QERR, UA_INTLCK_CTRL. */

#include <string.h>

#include "scsi/scsi_int.h"
#include "tests/lib/pr.h"
#include "tests/lib/unit.h"

#define QERR_ALL_BITS	(QERR_ALL << 1)
#define QERR_NEXUS_BITS	(QERR_NEXUS << 1)
#define STAYS		(UA_STAYS << 4)
#define STAYS_AND_TELLS	(UA_STAYS_AND_TELLS << 4)
#define TAS		0x40

/* MODE SELECT of the control page with bits in bytes 3, 4 and 5. */
static struct rig_cmd *control(unsigned b3, unsigned b4, unsigned b5)
{
	uint8_t list[16] = {
		[4] = 0x0a, 0x0a, 0x00, 0x10, [12] = 0xff, 0xff,
	};

	list[7] |= (uint8_t)b3;
	list[8] = (uint8_t)b4;
	list[9] = (uint8_t)b5;
	return run_out(0, 0, cdb_mode_select6(sizeof(list)), list,
		       sizeof(list));
}

/* Interlocked or not. */
static void forget_attention(unsigned nexus)
{
	ck_assert(rig_good(run_in(nexus, 0, cdb_request_sense(false, 18),
				  18)));
}

static void set_control(unsigned b3, unsigned b4, unsigned b5)
{
	struct rig_cmd *c;

	ck_assert(rig_good(control(b3, b4, b5)));
	forget_attention(1);
	c = run_in(0, 0, cdb_with(cdb_mode_sense6(0, 0x0a, 255), 1, 8), 255);
	ck_assert_uint_eq(c->in[7], 0x10 | b3);
	ck_assert_uint_eq(c->in[8], b4);
	ck_assert_uint_eq(c->in[9], b5);
}

/* A command that ends with CHECK CONDITION. */
static void beyond_end(unsigned nexus)
{
	ck_assert(rig_sense(run_in(nexus, 0, cdb_read10(RIG_BLOCKS, 1), 512),
			    0x5, 0x21, 0x00));
}

static void end_one(void)
{
	fake_complete(rig.vol[0], 0);
	fake_run();
}

static void tmf_done(struct scsi_tmf *t)
{
	*(bool *)t->priv = true;
}

static void manage(struct scsi_tmf *t, bool *done, enum tmf function)
{
	*done = false;
	*t = (struct scsi_tmf){ .nexus = rig.nexus[0], .function = function,
				.done = tmf_done, .priv = done };
	fake_enter(rig.host.worker[0]);
	scsi_task_management(t);
	fake_run();
}

static bool task_aborted(const struct rig_cmd *c)
{
	return c->done == 1 && c->scsi.tas &&
	       c->scsi.status == STATUS_TASK_ABORTED && !c->scsi.data_in_len;
}

static bool vanished(const struct rig_cmd *c)
{
	return c->done == 1 && c->scsi.aborted && !c->scsi.tas;
}

/* ---- values -------------------------------------------------------------- */

START_TEST(fields_can_be_changed_and_the_others_are_told)
{
	ck_assert(rig_good(control(QERR_ALL_BITS, STAYS, TAS)));
	ck_assert(rig_sense(run(1, 0, cdb_tur()), 0x6, 0x2a, 0x01));
	ck_assert_uint_eq(atomic_load(&rig.lu[0]->qerr), QERR_ALL);
	ck_assert_uint_eq(atomic_load(&rig.lu[0]->ua_interlock), UA_STAYS);
	ck_assert(atomic_load(&rig.lu[0]->tas));
	set_control(QERR_NEXUS_BITS, 0, 0);
	set_control(0, 0, 0);
}
END_TEST

START_TEST(reserved_values_are_5_26_00_and_change_nothing)
{
	struct rig_cmd *c = control(2 << 1, 0, TAS);

	ck_assert(rig_sense(c, 0x5, 0x26, 0x00));
	ck_assert(points_at_param(c, 7));
	c = control(0, 1 << 4, TAS);
	ck_assert(rig_sense(c, 0x5, 0x26, 0x00));
	ck_assert(points_at_param(c, 8));
	ck_assert(!atomic_load(&rig.lu[0]->tas));
	ck_assert_uint_eq(drain_attentions(1, 0), 0);
}
END_TEST

START_TEST(a_reset_takes_them_back)
{
	struct scsi_tmf t;
	bool done;

	set_control(QERR_ALL_BITS, 0, TAS);
	manage(&t, &done, TMF_LOGICAL_UNIT_RESET);
	ck_assert(done && !atomic_load(&rig.lu[0]->tas) &&
		  !atomic_load(&rig.lu[0]->qerr));
	drain_attentions(0, 0);
	drain_attentions(1, 0);
}
END_TEST

/* ---- TAS ----------------------------------------------------------------- */

START_TEST(with_tas_commands_of_others_end_task_aborted)
{
	static const enum tmf functions[] = {
		TMF_CLEAR_TASK_SET, TMF_LOGICAL_UNIT_RESET,
		TMF_TARGET_WARM_RESET,
	};
	struct rig_cmd *own, *other;
	struct scsi_tmf t;
	bool done;

	set_control(0, 0, TAS);
	own = rig_read(0, 0, 1);
	other = rig_read(1, 0, 1);
	manage(&t, &done, functions[_i]);
	ck_assert(!done);
	end_one();
	end_one();
	ck_assert(done && vanished(own) && task_aborted(other));
	/* and are told nothing else of it */
	ck_assert_uint_eq(drain_attentions(1, 0),
			  functions[_i] != TMF_CLEAR_TASK_SET);
	drain_attentions(0, 0);
}
END_TEST

START_TEST(with_tas_abort_task_set_stays_silent)
{
	struct rig_cmd *own;
	struct scsi_tmf t;
	bool done;

	set_control(0, 0, TAS);
	own = rig_read(0, 0, 1);
	manage(&t, &done, TMF_ABORT_TASK_SET);
	end_one();
	ck_assert(done && vanished(own));
}
END_TEST

START_TEST(with_tas_the_preempted_end_task_aborted)
{
	struct rig_cmd *w, *p;

	set_control(0, 0, TAS);
	pr_register(0, 0xa);
	pr_register(1, 0xb);
	w = rig_write(1, 0, 1, 0x77);
	p = pr_out(0, PREEMPT_ABORT, WE, 0xa, 0xb);
	ck_assert(!p->done && !w->done);
	end_one();
	ck_assert(rig_good(p) && task_aborted(w));
	ck_assert_uint_eq(pr_attention(1), 0x2a05);
}
END_TEST

/* ---- QERR ---------------------------------------------------------------- */

START_TEST(without_qerr_an_error_concerns_nobody_else)
{
	struct rig_cmd *c = rig_read(0, 0, 1);

	beyond_end(0);
	end_one();
	ck_assert(rig_good(c));
}
END_TEST

START_TEST(qerr_01_takes_the_commands_of_all)
{
	struct rig_cmd *own, *other, *later;

	set_control(QERR_ALL_BITS, 0, 0);
	own = rig_read(0, 0, 1);
	other = rig_read(1, 0, 1);
	beyond_end(0);
	/* what comes later is not concerned */
	later = rig_read(0, 0, 1);
	end_one();
	end_one();
	end_one();
	ck_assert(vanished(own) && vanished(other));
	ck_assert(rig_good(later));
	ck_assert_uint_eq(pr_attention(1), 0x2f00);
	ck_assert_uint_eq(pr_attention(0), 0);
}
END_TEST

START_TEST(qerr_01_with_tas_tells_those_of_others)
{
	struct rig_cmd *own, *other;

	set_control(QERR_ALL_BITS, 0, TAS);
	own = rig_read(0, 0, 1);
	other = rig_read(1, 0, 1);
	beyond_end(0);
	end_one();
	end_one();
	ck_assert(vanished(own) && task_aborted(other));
	ck_assert_uint_eq(drain_attentions(1, 0), 0);
}
END_TEST

START_TEST(qerr_11_takes_those_of_its_own_nexus)
{
	struct rig_cmd *own, *waits, *head, *other;

	set_control(QERR_NEXUS_BITS, 0, 0);
	own = rig_read(0, 0, 1);
	other = rig_read(1, 0, 1);
	waits = cdb_new(0, 0, cdb_tur());
	waits->scsi.attr = ATTR_ORDERED;
	rig_submit(waits, 0, false);
	ck_assert(!waits->done);
	head = cdb_new(0, 0, cdb_read10(RIG_BLOCKS, 1));
	head->scsi.attr = ATTR_HEAD;	/* it fails before the one that waits */
	rig_submit(head, 512, true);
	fake_run();
	ck_assert(rig_sense(head, 0x5, 0x21, 0x00));
	ck_assert(vanished(waits));
	end_one();
	end_one();
	ck_assert(vanished(own) && rig_good(other));
	ck_assert_uint_eq(drain_attentions(1, 0), 0);
}
END_TEST

START_TEST(an_error_without_a_unit_concerns_nobody)
{
	struct rig_cmd *c;

	set_control(QERR_ALL_BITS, 0, 0);
	c = rig_read(0, 0, 1);
	ck_assert(rig_sense(run(0, 7, cdb_tur()), 0x5, 0x25, 0x00));
	end_one();
	ck_assert(rig_good(c));
}
END_TEST

/* ---- UA_INTLCK_CTRL ------------------------------------------------------ */

START_TEST(an_interlocked_attention_stays_until_request_sense)
{
	struct rig_cmd *c;
	int i;

	set_control(0, STAYS, 0);
	ua_post(rig.lu[0], UA_CAPACITY_CHANGED, rig.nexus[0]);
	for (i = 0; i < 3; i++)
		ck_assert(rig_sense(run(1, 0, cdb_tur()), 0x6, 0x2a, 0x09));
	c = run_in(1, 0, cdb_request_sense(false, 18), 18);
	ck_assert(rig_good(c));
	ck_assert_uint_eq(c->in[12], 0x2a);
	ck_assert(rig_good(run(1, 0, cdb_tur())));
}
END_TEST

START_TEST(with_10_a_conflict_is_told_once)
{
	set_control(0, STAYS, 0);
	ck_assert(rig_good(run(0, 0, cdb_reserve6())));
	ck_assert(pr_conflicts(run(1, 0, cdb_tur())));
	ck_assert(pr_conflicts(run(1, 0, cdb_tur())));
	ck_assert(rig_good(run(0, 0, cdb_release6())));
}
END_TEST

START_TEST(with_11_what_was_not_served_is_an_attention)
{
	static const struct {
		enum scsi_status status;
		uint8_t ascq;
	} rows[] = {
		{ STATUS_BUSY, 0x07 }, { STATUS_TASK_SET_FULL, 0x08 },
		{ STATUS_RESERVATION_CONFLICT, 0x09 },
	};
	struct rig_cmd *c;
	unsigned i;

	set_control(0, STAYS_AND_TELLS, 0);
	ck_assert(rig_good(run(0, 0, cdb_reserve6())));
	ck_assert(pr_conflicts(run(1, 0, cdb_tur())));
	ck_assert(rig_sense(run(1, 0, cdb_tur()), 0x6, 0x2c, 0x09));
	c = run_in(1, 0, cdb_request_sense(false, 18), 18);
	ck_assert(c->in[12] == 0x2c && c->in[13] == 0x09);
	ck_assert(rig_good(run(0, 0, cdb_release6())));
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ua_of_status(nexus_find(rig.nexus[1], 0), rows[i].status);
		ck_assert(rig_sense(run(1, 0, cdb_tur()), 0x6, 0x2c,
				    rows[i].ascq));
		forget_attention(1);
	}
	ua_of_status(nexus_find(rig.nexus[1], 0), STATUS_TASK_ABORTED);
	ck_assert(rig_good(run(1, 0, cdb_tur())));
}
END_TEST

START_TEST(a_full_transport_is_told_of_too)
{
	struct rig_cmd *c = cdb_new(1, 0, cdb_tur());

	set_control(0, STAYS_AND_TELLS, 0);
	scsi_full(&c->scsi);
	ck_assert_uint_eq(c->scsi.status, STATUS_TASK_SET_FULL);
	rig_submit(c, 0, false);
	fake_run();
	ck_assert(rig_sense(c, 0x6, 0x2c, 0x08));
	forget_attention(1);
	/* where no logical unit is, nobody is */
	c = cdb_new(1, 7, cdb_tur());
	scsi_full(&c->scsi);
	ck_assert_uint_eq(c->scsi.status, STATUS_TASK_SET_FULL);
	rig_submit(c, 0, false);
	fake_run();
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("control mode page");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_test(tc, fields_can_be_changed_and_the_others_are_told);
	tcase_add_test(tc, reserved_values_are_5_26_00_and_change_nothing);
	tcase_add_test(tc, a_reset_takes_them_back);
	tcase_add_loop_test(tc, with_tas_commands_of_others_end_task_aborted,
			    0, 3);
	tcase_add_test(tc, with_tas_abort_task_set_stays_silent);
	tcase_add_test(tc, with_tas_the_preempted_end_task_aborted);
	tcase_add_test(tc, without_qerr_an_error_concerns_nobody_else);
	tcase_add_test(tc, qerr_01_takes_the_commands_of_all);
	tcase_add_test(tc, qerr_01_with_tas_tells_those_of_others);
	tcase_add_test(tc, qerr_11_takes_those_of_its_own_nexus);
	tcase_add_test(tc, an_error_without_a_unit_concerns_nobody);
	tcase_add_test(tc, an_interlocked_attention_stays_until_request_sense);
	tcase_add_test(tc, with_10_a_conflict_is_told_once);
	tcase_add_test(tc, with_11_what_was_not_served_is_an_attention);
	tcase_add_test(tc, a_full_transport_is_told_of_too);
	return unit_run("scsi_control", tc);
}
