/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Unit attentions, and the live changes of a logical unit that post them. */

#include <errno.h>
#include <string.h>

#include "scsi/scsi_int.h"
#include "tests/lib/cdb.h"
#include "tests/lib/unit.h"

static bool told(unsigned nexus, unsigned asc, unsigned ascq)
{
	return rig_sense(run(nexus, 0, cdb_tur()), 0x6, asc, ascq);
}

START_TEST(each_nexus_is_told_once_and_in_order)
{
	ua_post(rig.lu[0], UA_COMMANDS_CLEARED, NULL);
	ua_post(rig.lu[0], UA_POWER_ON, NULL);
	ua_post(rig.lu[0], UA_POWER_ON, NULL);
	ck_assert(told(0, 0x29, 0x00));
	ck_assert(told(0, 0x2f, 0x00));
	ck_assert(rig_good(run(0, 0, cdb_tur())));
	ck_assert_int_eq(drain_attentions(1, 0), 2);
	ck_assert_int_eq(drain_attentions(0, 1), 0);
}
END_TEST

START_TEST(a_nexus_can_be_left_out)
{
	ua_post(rig.lu[0], UA_MODE_CHANGED, rig.nexus[0]);
	ck_assert_int_eq(drain_attentions(0, 0), 0);
	ck_assert(told(1, 0x2a, 0x01));
}
END_TEST

START_TEST(inquiry_and_report_luns_leave_it_pending)
{
	ua_post(rig.lu[0], UA_CAPACITY_CHANGED, NULL);
	ck_assert(rig_good(run_in(0, 0, cdb_inquiry(STANDARD_INQUIRY, 96),
				  96)));
	ck_assert(rig_good(run_in(0, 0, cdb_report_luns(0, 64), 64)));
	ck_assert(told(0, 0x2a, 0x09));
}
END_TEST

START_TEST(a_command_that_carries_it_does_nothing_else)
{
	static const uint8_t block[512];

	ua_post(rig.lu[0], UA_MODE_CHANGED, NULL);
	ck_assert(rig_sense(run_out(0, 0, cdb_write10(0, 1), block, 512), 0x6,
			    0x2a, 0x01));
	ck_assert(rig_untouched(0, 0, 512));
}
END_TEST

START_TEST(every_unit_attention_has_a_result)
{
	struct itl *itl = nexus_find(rig.nexus[0], 0);

	ua_post_itl(itl, (enum unit_attention)_i);
	ck_assert_int_eq(result_key(ua_take(itl)), KEY_UNIT_ATTENTION);
	ck_assert_int_eq(ua_take(itl), SCSI_GOOD);
}
END_TEST

/* ---- live changes ------------------------------------------------------ */

static void keep_err(void *arg, int err)
{
	*(int *)arg = err;
}

START_TEST(a_primitive_that_stays_as_it_is_tells_nobody)
{
	lu_set_primitive(rig.lu[0], PRIM_ATS, true);
	ck_assert_int_eq(drain_attentions(0, 0), 0);
	lu_set_primitive(rig.lu[0], PRIM_ATS, false);
	ck_assert(told(1, 0x3f, 0x03));
}
END_TEST

START_TEST(growing_tells_the_new_capacity)
{
	int err = 1;

	fake_enter(rig.host.main);
	lu_resize(rig.lu[0], 2 * RIG_BLOCKS * 512, keep_err, &err);
	fake_run();
	ck_assert_int_eq(err, 0);
	ck_assert(told(0, 0x2a, 0x09));
	ck_assert_int_eq(in32(run_in(0, 0, cdb_read_capacity10(), 8), 0),
			 2 * RIG_BLOCKS - 1);
}
END_TEST

START_TEST(shrinking_waits_for_commands_at_the_old_size)
{
	struct rig_cmd *c = cdb_new(0, 0, cdb_read10(RIG_BLOCKS - 1, 1));
	int err = 1;

	rig_submit(c, 512, true);
	fake_enter(rig.host.main);
	lu_resize(rig.lu[0], RIG_BLOCKS * 256, keep_err, &err);
	fake_run();
	ck_assert_int_eq(err, 1);
	ck_assert(rig_sense(run_in(1, 0, cdb_read10(RIG_BLOCKS - 1, 1), 512),
			    0x5, 0x21, 0x00));
	fake_complete(rig.vol[0], 0);
	fake_run();
	ck_assert_int_eq(err, 0);
	ck_assert(rig_good(c));
	ck_assert(told(1, 0x2a, 0x09));
}
END_TEST

START_TEST(a_size_that_does_not_fit_the_blocks_is_refused)
{
	int err = 1;

	fake_enter(rig.host.main);
	lu_resize(rig.lu[0], RIG_BLOCKS * 512 + 1, keep_err, &err);
	fake_run();
	ck_assert_int_eq(err, -EINVAL);
	ck_assert_int_eq(drain_attentions(0, 0), 0);
}
END_TEST

START_TEST(durability_changes_and_is_told)
{
	int err = 1;

	fake_auto(rig.vol[0], true);
	fake_enter(rig.host.main);
	lu_set_write_back(rig.lu[0], true, keep_err, &err);
	fake_run();
	ck_assert_int_eq(err, 0);
	ck_assert(told(0, 0x2a, 0x01));
	ck_assert(volume_write_back(rig.vol[0]));
}
END_TEST

START_TEST(read_only_changes_and_is_told)
{
	lu_set_read_only(rig.lu[0], true);
	ck_assert(told(0, 0x2a, 0x01));
	lu_set_read_only(rig.lu[0], false);
	ck_assert(told(0, 0x2a, 0x01));
}
END_TEST

START_TEST(a_volume_that_comes_back_larger_tells_its_capacity)
{
	fake_set_state(rig.vol[0], VOLUME_DEGRADED, -ENOENT);
	fake_run();
	atomic_store(&rig.lu[0]->nblocks, 5);
	fake_set_state(rig.vol[0], VOLUME_ONLINE, 0);
	fake_run();
	ck_assert(told(0, 0x2a, 0x09));
}
END_TEST

START_TEST(info_tells_what_is_served_and_how)
{
	struct lu_info i;

	lu_set_primitive(rig.lu[0], PRIM_CLONE, false);
	lu_get_info(rig.lu[0], &i);
	ck_assert_str_eq(i.name, "zero");
	ck_assert_int_eq(i.size, RIG_BLOCKS * 512);
	ck_assert_int_eq(i.block_size, 512);
	ck_assert(i.supported[PRIM_ATS] && !i.supported[PRIM_CLONE]);
	ck_assert(i.supported[PRIM_DELETE] && i.method[PRIM_DELETE]);
	ck_assert_str_eq(i.product, "VOLUME");
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("unit attentions");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_test(tc, each_nexus_is_told_once_and_in_order);
	tcase_add_test(tc, a_nexus_can_be_left_out);
	tcase_add_test(tc, inquiry_and_report_luns_leave_it_pending);
	tcase_add_test(tc, a_command_that_carries_it_does_nothing_else);
	tcase_add_loop_test(tc, every_unit_attention_has_a_result, 0,
			    UNIT_ATTENTIONS);
	tcase_add_test(tc, a_primitive_that_stays_as_it_is_tells_nobody);
	tcase_add_test(tc, growing_tells_the_new_capacity);
	tcase_add_test(tc, shrinking_waits_for_commands_at_the_old_size);
	tcase_add_test(tc, a_size_that_does_not_fit_the_blocks_is_refused);
	tcase_add_test(tc, durability_changes_and_is_told);
	tcase_add_test(tc, read_only_changes_and_is_told);
	tcase_add_test(tc, a_volume_that_comes_back_larger_tells_its_capacity);
	tcase_add_test(tc, info_tells_what_is_served_and_how);
	return unit_run("scsi_ua", tc);
}
