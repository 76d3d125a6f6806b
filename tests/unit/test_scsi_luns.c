/* SPDX-License-Identifier: GPL-2.0-or-later */

/* REPORT LUNS and REPORT TARGET PORT GROUPS. */

#include <string.h>

#include "scsi/scsi_int.h"
#include "tests/lib/cdb.h"
#include "tests/lib/unit.h"

static const struct { uint8_t select; unsigned luns; } selects[] = {
	{ 0x00, 2 }, { 0x02, 2 }, { 0x11, 2 },
	{ 0x01, 0 }, { 0x10, 0 }, { 0x12, 0 },
};

START_TEST(every_select_report_value_has_its_list)
{
	struct rig_cmd *c = run_in(0, 0, cdb_report_luns(selects[_i].select,
							 256), 256);

	ck_assert(rig_good(c));
	ck_assert_int_eq(in32(c, 0), selects[_i].luns * 8);
	ck_assert_int_eq(c->nin, 8 + selects[_i].luns * 8);
}
END_TEST

START_TEST(another_select_report_value_is_refused)
{
	struct rig_cmd *c = run_in(0, 0, cdb_report_luns(0x03, 256), 256);

	ck_assert(rig_sense(c, 0x5, 0x24, 0x00));
	ck_assert(points_at(c, 2, 7));
}
END_TEST

START_TEST(luns_are_sorted_peripheral_below_256_and_flat_above)
{
	static const uint8_t want[5][8] = {
		{ 0, 0 }, { 0, 1 }, { 0, 255 }, { 0x41, 0x00 }, { 0x7f, 0xff },
	};
	struct rig_cmd *c;

	fake_enter(rig.host.worker[0]);
	nexus_map(rig.nexus[0], LUN_MAX, rig.lu[0], false, false);
	nexus_map(rig.nexus[0], 255, rig.lu[0], false, false);
	nexus_map(rig.nexus[0], 256, rig.lu[0], false, false);
	c = run_in(0, 0, cdb_report_luns(0, 256), 256);
	ck_assert_int_eq(in32(c, 0), sizeof(want));
	ck_assert_mem_eq(c->in + 8, want, sizeof(want));
	maps_changed();
}
END_TEST

START_TEST(a_short_allocation_length_still_tells_the_whole_length)
{
	struct rig_cmd *c = run_in(0, 0, cdb_report_luns(0, 12), 256);

	ck_assert(rig_good(c));
	ck_assert_int_eq(c->nin, 12);
	ck_assert_int_eq(in32(c, 0), 16);
}
END_TEST

START_TEST(it_is_answered_where_lun_0_is_absent)
{
	struct rig_cmd *c;

	fake_enter(rig.host.worker[0]);
	nexus_unmap(rig.nexus[0], 0, NULL, NULL);
	fake_run();
	c = run_in(0, 0, cdb_report_luns(0, 256), 256);
	ck_assert(rig_good(c));
	ck_assert_int_eq(in32(c, 0), 8);
	ck_assert_int_eq(c->in[9], 1);
	c = run_in(0, 0, cdb_inquiry(STANDARD_INQUIRY, 96), 96);
	ck_assert_int_eq(c->in[0], 0x7f);
	maps_changed();
}
END_TEST

START_TEST(it_is_answered_to_another_nexus_beside_a_reservation)
{
	run(1, 0, cdb_reserve6());
	ck_assert(rig_good(run_in(0, 0, cdb_report_luns(0, 256), 256)));
}
END_TEST

START_TEST(both_forms_of_a_lun_reach_the_same_unit)
{
	struct rig_cmd *c = cdb_new(0, 1, cdb_tur());

	c->scsi.lun[0] = 0x40;
	rig_submit(c, 0, true);
	ck_assert(rig_good(c));
	ck_assert_ptr_eq(c->scsi.lu, rig.lu[1]);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("luns");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_loop_test(tc, every_select_report_value_has_its_list, 0, 6);
	tcase_add_test(tc, another_select_report_value_is_refused);
	tcase_add_test(tc,
		luns_are_sorted_peripheral_below_256_and_flat_above);
	tcase_add_test(tc,
		a_short_allocation_length_still_tells_the_whole_length);
	tcase_add_test(tc, it_is_answered_where_lun_0_is_absent);
	tcase_add_test(tc,
		it_is_answered_to_another_nexus_beside_a_reservation);
	tcase_add_test(tc, both_forms_of_a_lun_reach_the_same_unit);
	return unit_run("scsi_luns", tc);
}
