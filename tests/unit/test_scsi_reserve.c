/* SPDX-License-Identifier: GPL-2.0-or-later */

/* RESERVE and RELEASE, 6 and 10. */

#include "scsi/scsi_int.h"
#include "tests/lib/cdb.h"
#include "tests/lib/unit.h"

static const uint8_t block[1024];

static bool conflicts(const struct rig_cmd *c)
{
	return c->done == 1 && c->scsi.status == STATUS_RESERVATION_CONFLICT &&
	       !c->scsi.sense_len;
}

START_TEST(the_holder_goes_on_and_may_reserve_again)
{
	fake_auto(rig.vol[0], true);
	ck_assert(rig_good(run(0, 0, cdb_reserve6())));
	ck_assert(rig_good(run(0, 0, cdb_reserve10())));
	ck_assert(rig_good(run_in(0, 0, cdb_read10(0, 1), 512)));
	ck_assert(rig_good(run(0, 0, cdb_release10())));
	ck_assert(rig_good(run(1, 0, cdb_reserve6())));
}
END_TEST

START_TEST(another_nexus_gets_reservation_conflict)
{
	run(0, 0, cdb_reserve6());
	ck_assert(conflicts(run(1, 0, cdb_tur())));
	ck_assert(conflicts(run(1, 0, cdb_reserve6())));
	ck_assert(conflicts(run_in(1, 0, cdb_read10(0, 1), 512)));
	ck_assert(conflicts(run_out(1, 0, cdb_write10(0, 1), block, 512)));
	ck_assert(conflicts(run_out(1, 0, cdb_caw(0, 1), block, 1024)));
	ck_assert(conflicts(run_in(1, 0, cdb_mode_sense6(0, 0x3f, 255), 255)));
	ck_assert(rig_good(run(1, 1, cdb_tur())));
}
END_TEST

START_TEST(some_commands_are_answered_beside_a_reservation)
{
	run(0, 0, cdb_reserve6());
	ck_assert(rig_good(run_in(1, 0, cdb_inquiry(STANDARD_INQUIRY, 96),
				  96)));
	ck_assert(rig_good(run_in(1, 0, cdb_report_luns(0, 96), 96)));
	ck_assert(rig_good(run_in(1, 0, cdb_request_sense(false, 18), 18)));
	ck_assert(rig_good(run_in(1, 0, cdb_read_capacity10(), 8)));
	ck_assert(rig_good(run_in(1, 0, cdb_read_capacity16(32), 32)));
}
END_TEST

START_TEST(release_by_another_is_good_and_releases_nothing)
{
	run(0, 0, cdb_reserve6());
	ck_assert(rig_good(run(1, 0, cdb_release6())));
	ck_assert(conflicts(run(1, 0, cdb_tur())));
	ck_assert(rig_good(run(0, 0, cdb_release6())));
	ck_assert(rig_good(run(1, 0, cdb_tur())));
	ck_assert(rig_good(run(0, 0, cdb_release6())));
}
END_TEST

START_TEST(third_party_and_extent_reservations_are_refused)
{
	ck_assert(rig_sense(run(0, 0, cdb_with(cdb_reserve6(), 1, 0x10)), 0x5,
			    0x24, 0x00));
	ck_assert(rig_sense(run(0, 0, cdb_with(cdb_reserve6(), 1, 0x01)), 0x5,
			    0x24, 0x00));
	ck_assert(rig_sense(run(0, 0, cdb_with(cdb_reserve10(), 1, 0x02)), 0x5,
			    0x24, 0x00));
	ck_assert(rig_good(run(1, 0, cdb_tur())));
}
END_TEST

START_TEST(a_reserved_unit_that_is_unmapped_is_released)
{
	run(0, 0, cdb_reserve6());
	fake_enter(rig.host.worker[0]);
	nexus_unmap(rig.nexus[0], 0, NULL, NULL);
	fake_run();
	ck_assert(rig_good(run(1, 0, cdb_tur())));
	maps_changed();
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("reservations");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_test(tc, the_holder_goes_on_and_may_reserve_again);
	tcase_add_test(tc, another_nexus_gets_reservation_conflict);
	tcase_add_test(tc, some_commands_are_answered_beside_a_reservation);
	tcase_add_test(tc, release_by_another_is_good_and_releases_nothing);
	tcase_add_test(tc, third_party_and_extent_reservations_are_refused);
	tcase_add_test(tc, a_reserved_unit_that_is_unmapped_is_released);
	return unit_run("scsi_reserve", tc);
}
