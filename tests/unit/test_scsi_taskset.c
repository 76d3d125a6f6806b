/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Task attributes, abort, task management, fences over all workers. */

#include <stdlib.h>
#include <string.h>

#include "scsi/scsi_int.h"
#include "tests/lib/cdb.h"
#include "tests/lib/unit.h"

static struct rig_cmd *start(unsigned nexus, struct cdb cdb,
			     enum task_attribute attr)
{
	struct rig_cmd *c = cdb_new(nexus, 0, cdb);

	c->scsi.attr = attr;
	rig_submit(c, cdb.b[0] ? 512 : 0, cdb.b[0] != 0x2a);
	return c;
}

static struct rig_cmd *start_read(unsigned nexus)
{
	return start(nexus, cdb_read10(0, 1), ATTR_SIMPLE);
}

static void end_one(void)
{
	fake_complete(rig.vol[0], 0);
	fake_run();
}

START_TEST(simple_commands_run_side_by_side)
{
	start_read(0);
	start_read(0);
	ck_assert_int_eq(fake_npending(rig.vol[0]), 2);
	end_one();
	end_one();
}
END_TEST

START_TEST(an_ordered_command_waits_and_lets_nobody_pass)
{
	struct rig_cmd *a = start_read(0);
	struct rig_cmd *b = start(0, cdb_read10(1, 1), ATTR_ORDERED);
	struct rig_cmd *c = start(0, cdb_tur(), ATTR_SIMPLE);

	ck_assert_int_eq(fake_npending(rig.vol[0]), 1);
	end_one();
	ck_assert(rig_good(a));
	ck_assert_int_eq(fake_npending(rig.vol[0]), 1);
	ck_assert(!c->done);
	end_one();
	ck_assert(rig_good(b));
	ck_assert(rig_good(c));
}
END_TEST

START_TEST(a_head_of_queue_command_passes_those_that_wait)
{
	struct rig_cmd *c, *d;

	start_read(0);
	d = start(0, cdb_tur(), ATTR_ORDERED);
	c = start(0, cdb_tur(), ATTR_HEAD);
	ck_assert(rig_good(c));
	ck_assert(!d->done);
	end_one();
	ck_assert(rig_good(d));
}
END_TEST

START_TEST(order_is_kept_per_nexus)
{
	start_read(0);
	start(0, cdb_tur(), ATTR_ORDERED);
	ck_assert(rig_good(start(1, cdb_tur(), ATTR_ORDERED)));
	end_one();
}
END_TEST

START_TEST(a_hundred_that_wait_behind_one_all_end)
{
	struct rig_cmd *c[100];
	unsigned i;

	start_read(0);
	for (i = 0; i < 100; i++)
		c[i] = start(0, cdb_tur(), i % 3 ? ATTR_SIMPLE : ATTR_ORDERED);
	ck_assert(!c[0]->done);
	end_one();
	for (i = 0; i < 100; i++)
		ck_assert(rig_good(c[i]));
}
END_TEST

START_TEST(an_aborted_command_that_waits_ends_at_once)
{
	struct rig_cmd *b, *c;

	start_read(0);
	b = start(0, cdb_read10(1, 1), ATTR_ORDERED);
	c = start(0, cdb_tur(), ATTR_SIMPLE);
	rig_abort(b);
	ck_assert_int_eq(b->done, 1);
	/* and those behind it go on */
	ck_assert(rig_good(c));
	end_one();
}
END_TEST

START_TEST(an_abort_of_io_in_flight_waits_for_it)
{
	struct rig_cmd *c = start(0, cdb_write10(0, 1), ATTR_SIMPLE);

	rig_abort(c);
	ck_assert(!c->done);
	end_one();
	ck_assert_int_eq(c->done, 1);
	ck_assert(c->scsi.aborted);
}
END_TEST

START_TEST(done_never_comes_from_inside_submit)
{
	/* rig_submit() asserts it for each command; here without running */
	struct rig_cmd *c = cdb_new(0, 0, cdb_tur());

	fake_enter(rig.host.worker[0]);
	c->scsi.edtl = 0;
	c->scsi.dir_in = c->scsi.dir_out = false;
	scsi_submit(&c->scsi);
	ck_assert(!c->done);
	scsi_abort(&c->scsi);	/* between its end and its answer */
	fake_run();
	ck_assert_int_eq(c->done, 1);
	ck_assert(c->scsi.aborted);
}
END_TEST

/* ---- task management --------------------------------------------------- */

struct managed {
	struct scsi_tmf t;
	bool		done;
};

static void tmf_done(struct scsi_tmf *t)
{
	struct managed *m = t->priv;

	m->done = true;
}

static void manage(struct managed *m, unsigned nexus, enum tmf function,
		   unsigned lun)
{
	memset(m, 0, sizeof(*m));
	m->t.nexus = rig.nexus[nexus];
	m->t.function = function;
	m->t.lun[1] = (uint8_t)lun;
	m->t.done = tmf_done;
	m->t.priv = m;
	fake_enter(rig.host.worker[nexus]);
	scsi_task_management(&m->t);
	ck_assert(!m->done);
	fake_run();
}

START_TEST(a_function_at_no_lun_says_so)
{
	struct managed m;

	manage(&m, 0, TMF_LOGICAL_UNIT_RESET, 7);
	ck_assert(m.done);
	ck_assert_int_eq(m.t.response, TMF_NO_LUN);
	manage(&m, 0, TMF_CLEAR_ACA, 0);
	ck_assert_int_eq(m.t.response, TMF_NOT_SUPPORTED);
}
END_TEST

START_TEST(query_task_set_tells_of_commands_of_its_own_nexus)
{
	struct managed m;

	start_read(1);
	manage(&m, 0, TMF_QUERY_TASK_SET, 0);
	ck_assert(m.done);
	ck_assert_int_eq(m.t.response, TMF_COMPLETE);
	manage(&m, 1, TMF_QUERY_TASK_SET, 0);
	ck_assert_int_eq(m.t.response, TMF_SUCCEEDED);
	end_one();
	manage(&m, 1, TMF_QUERY_TASK_SET, 0);
	ck_assert_int_eq(m.t.response, TMF_COMPLETE);
}
END_TEST

START_TEST(query_asynchronous_event_tells_what_is_pending_and_leaves_it)
{
	struct managed m;

	manage(&m, 0, TMF_QUERY_ASYNC_EVENT, 0);
	ck_assert_int_eq(m.t.response, TMF_COMPLETE);
	ua_post(rig.lu[0], UA_CAPACITY_CHANGED, NULL);
	manage(&m, 0, TMF_QUERY_ASYNC_EVENT, 0);
	ck_assert_int_eq(m.t.response, TMF_SUCCEEDED);
	ck_assert_int_eq(m.t.info[0], 0x06);
	ck_assert_int_eq(m.t.info[1], 0x2a);
	ck_assert_int_eq(m.t.info[2], 0x09);
	ck_assert_int_eq(drain_attentions(0, 0), 1);
	drain_attentions(1, 0);
}
END_TEST

START_TEST(i_t_nexus_reset_takes_its_own_commands_on_every_unit)
{
	struct rig_cmd *a = start_read(0), *b = start_read(1);
	struct managed m;

	manage(&m, 0, TMF_I_T_NEXUS_RESET, 0);
	ck_assert(!m.done);
	end_one();
	ck_assert(m.done);
	ck_assert_int_eq(m.t.response, TMF_COMPLETE);
	ck_assert(a->scsi.aborted);
	end_one();
	ck_assert(rig_good(b));
	ck_assert(rig_sense(run(0, 0, cdb_tur()), 0x6, 0x29, 0x07));
	ck_assert(rig_sense(run(0, 1, cdb_tur()), 0x6, 0x29, 0x07));
	ck_assert_int_eq(drain_attentions(1, 0), 0);
}
END_TEST

START_TEST(abort_task_set_takes_its_own_nexus_alone)
{
	struct rig_cmd *a = start_read(0), *b = start_read(1);
	struct managed m;

	manage(&m, 0, TMF_ABORT_TASK_SET, 0);
	ck_assert(!m.done);
	end_one();
	ck_assert(m.done);
	ck_assert_int_eq(m.t.response, TMF_COMPLETE);
	ck_assert(a->scsi.aborted);
	end_one();
	ck_assert(rig_good(b));
	ck_assert_int_eq(drain_attentions(1, 0), 0);
}
END_TEST

START_TEST(clear_task_set_tells_those_whose_commands_went)
{
	struct rig_cmd *b;
	struct managed m;

	start_read(0);
	b = start_read(1);
	manage(&m, 0, TMF_CLEAR_TASK_SET, 0);
	end_one();
	ck_assert(!m.done);
	end_one();
	ck_assert(m.done);
	ck_assert(b->scsi.aborted && !b->scsi.tas);
	ck_assert(rig_sense(run(1, 0, cdb_tur()), 0x6, 0x2f, 0x00));
	ck_assert_int_eq(drain_attentions(0, 0), 0);
}
END_TEST

START_TEST(a_reset_is_answered_when_all_nexuses_commands_are_gone)
{
	struct rig_cmd *a, *b;
	struct managed m;

	ck_assert(rig_good(run(1, 0, cdb_reserve6())));
	b = start_read(1);
	manage(&m, 0, TMF_LOGICAL_UNIT_RESET, 0);
	ck_assert(!m.done);
	/* what comes after the reset is not its concern */
	ck_assert(rig_sense(run(0, 0, cdb_tur()), 0x6, 0x29, 0x03));
	a = start_read(0);
	fake_complete_breq(fake_pending(rig.vol[0]), 0);
	fake_run();
	ck_assert(m.done);
	ck_assert(b->scsi.aborted);
	ck_assert(!a->done);
	end_one();
	ck_assert(rig_good(a));
	ck_assert(rig_sense(run(1, 0, cdb_tur()), 0x6, 0x29, 0x03));
	ck_assert(rig_good(run(0, 0, cdb_reserve6())));
}
END_TEST

START_TEST(a_reset_of_one_unit_leaves_the_other_alone)
{
	struct rig_cmd *c = cdb_new(0, 1, cdb_read10(0, 1));
	struct managed m;

	rig_submit(c, 512, true);
	manage(&m, 0, TMF_LOGICAL_UNIT_RESET, 0);
	ck_assert(m.done);
	ck_assert(!c->scsi.aborted);
	fake_complete(rig.vol[1], 0);
	fake_run();
	ck_assert_int_eq(drain_attentions(0, 1), 0);
	ck_assert_int_eq(drain_attentions(0, 0), 1);
}
END_TEST

START_TEST(a_target_reset_reaches_every_unit)
{
	struct rig_cmd *c = cdb_new(1, 1, cdb_read10(0, 1));
	struct managed m;

	rig_submit(c, 512, true);
	manage(&m, 0, TMF_TARGET_WARM_RESET, 0);
	ck_assert(!m.done);
	fake_complete(rig.vol[1], 0);
	fake_run();
	ck_assert(m.done && c->scsi.aborted);
	ck_assert_int_eq(drain_attentions(0, 0), 1);
	ck_assert_int_eq(drain_attentions(1, 1), 1);
}
END_TEST

START_TEST(a_reset_resets_the_mode_pages)
{
	struct managed m;

	atomic_store(&rig.lu[0]->swp, true);
	atomic_store(&rig.lu[0]->d_sense, true);
	manage(&m, 1, TMF_LOGICAL_UNIT_RESET, 0);
	ck_assert(!atomic_load(&rig.lu[0]->swp));
	ck_assert(!atomic_load(&rig.lu[0]->d_sense));
}
END_TEST

START_TEST(a_write_that_waits_for_data_is_aborted_by_a_reset)
{
	struct rig_cmd *c = cdb_new(1, 0, cdb_write10(0, 1));
	struct managed m;

	c->hold = true;
	rig_submit(c, 512, false);
	manage(&m, 0, TMF_LOGICAL_UNIT_RESET, 0);
	ck_assert(m.done);
	ck_assert_int_eq(c->done, 1);
	ck_assert(rig_untouched(0, 0, 512));
}
END_TEST

/* ---- fences ------------------------------------------------------------ */

static void fenced(struct fence *f)
{
	*(bool *)f->arg = true;
	fence_free(f);
}

static void fence(bool *flag)
{
	struct fence *f = fence_new(rig.lu[0], rig.host.main);

	*flag = false;
	f->done = fenced;
	f->arg = flag;
	fake_enter(rig.host.main);
	lu_fence(f);
	ck_assert(!*flag);
	fake_run();
}

START_TEST(overlapping_fences_each_wait_for_their_own)
{
	struct breq *first, *second;
	bool one, two, three;

	start_read(0);
	first = fake_pending(rig.vol[0]);
	fence(&one);
	start_read(1);
	fence(&two);
	second = first == fake_pending(rig.vol[0]) ? NULL :
						     fake_pending(rig.vol[0]);
	ck_assert_ptr_null(second);
	ck_assert(!one && !two);
	fake_complete_breq(first, 0);
	fake_run();
	ck_assert(one && !two);
	end_one();
	ck_assert(two);
	fence(&three);
	ck_assert(three);
}
END_TEST

START_TEST(a_fence_without_abort_leaves_commands_as_they_are)
{
	struct rig_cmd *c = start_read(0);
	bool gone;

	fence(&gone);
	end_one();
	ck_assert(gone);
	ck_assert(rig_good(c));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("task sets");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_test(tc, simple_commands_run_side_by_side);
	tcase_add_test(tc, an_ordered_command_waits_and_lets_nobody_pass);
	tcase_add_test(tc, a_head_of_queue_command_passes_those_that_wait);
	tcase_add_test(tc, order_is_kept_per_nexus);
	tcase_add_test(tc, a_hundred_that_wait_behind_one_all_end);
	tcase_add_test(tc, an_aborted_command_that_waits_ends_at_once);
	tcase_add_test(tc, an_abort_of_io_in_flight_waits_for_it);
	tcase_add_test(tc, done_never_comes_from_inside_submit);
	tcase_add_test(tc, a_function_at_no_lun_says_so);
	tcase_add_test(tc, query_task_set_tells_of_commands_of_its_own_nexus);
	tcase_add_test(tc,
		query_asynchronous_event_tells_what_is_pending_and_leaves_it);
	tcase_add_test(tc,
		i_t_nexus_reset_takes_its_own_commands_on_every_unit);
	tcase_add_test(tc, abort_task_set_takes_its_own_nexus_alone);
	tcase_add_test(tc, clear_task_set_tells_those_whose_commands_went);
	tcase_add_test(tc,
		a_reset_is_answered_when_all_nexuses_commands_are_gone);
	tcase_add_test(tc, a_reset_of_one_unit_leaves_the_other_alone);
	tcase_add_test(tc, a_target_reset_reaches_every_unit);
	tcase_add_test(tc, a_reset_resets_the_mode_pages);
	tcase_add_test(tc, a_write_that_waits_for_data_is_aborted_by_a_reset);
	tcase_add_test(tc, overlapping_fences_each_wait_for_their_own);
	tcase_add_test(tc, a_fence_without_abort_leaves_commands_as_they_are);
	return unit_run("scsi_taskset", tc);
}
