/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Standard INQUIRY data, READ CAPACITY, REQUEST SENSE, START STOP UNIT. */

#include <string.h>

#include "scsi/scsi_int.h"
#include "tests/lib/cdb.h"
#include "tests/lib/unit.h"

START_TEST(standard_data_are_96_bytes_and_say_what_we_are)
{
	struct rig_cmd *c = run_in(0, 0, cdb_inquiry(STANDARD_INQUIRY, 255),
				   255);

	ck_assert_int_eq(c->nin, 96);
	ck_assert_int_eq(c->in[0], 0x00);
	ck_assert_int_eq(c->in[2], 0x06);
	ck_assert_int_eq(c->in[3], 0x02);
	ck_assert_int_eq(c->in[4], 91);
	ck_assert_int_eq(c->in[5], 0x18);	/* TPGS 01b, 3PC */
	ck_assert_int_eq(c->in[7], 0x02);
	ck_assert_mem_eq(c->in + 8, "LUND    VOLUME          ", 24);
	ck_assert_mem_eq(c->in + 32, PRODUCT_REVISION, 4);
	ck_assert_int_eq(in16(c, 58), 0x00a0);
	ck_assert_int_eq(in16(c, 60), 0x0960);
	ck_assert_int_eq(in16(c, 62), 0x0460);
	ck_assert_int_eq(in16(c, 64), 0x04c0);
}
END_TEST

START_TEST(third_party_copy_follows_the_clone_primitive)
{
	lu_set_primitive(rig.lu[0], PRIM_CLONE, false);
	ck_assert_int_eq(run_in(0, 0, cdb_inquiry(STANDARD_INQUIRY, 96),
				96)->in[5], 0x10);
}
END_TEST

START_TEST(every_allocation_length_cuts_the_same_data)
{
	struct rig_cmd *whole, *c;

	whole = run_in(0, 0, cdb_inquiry(STANDARD_INQUIRY, 512), 512);
	c = run_in(0, 0, cdb_inquiry(STANDARD_INQUIRY, (uint16_t)_i), 512);
	ck_assert_int_eq(c->nin, MIN(_i, 96));
	ck_assert_mem_eq(c->in, whole->in, c->nin);
}
END_TEST

START_TEST(a_page_code_without_evpd_is_refused)
{
	struct rig_cmd *c = run_in(0, 0, cdb_with(cdb_inquiry(STANDARD_INQUIRY,
							      255), 2, 1), 255);

	ck_assert(rig_sense(c, 0x5, 0x24, 0x00));
	ck_assert(points_at(c, 2, 7));
}
END_TEST

START_TEST(the_well_known_unit_answers_what_it_must)
{
	static const uint8_t report_luns[8] = { 0xc1, 0x01 };
	struct rig_cmd *c = cdb_new(0, 0, cdb_inquiry(STANDARD_INQUIRY, 96));

	memcpy(c->scsi.lun, report_luns, 8);
	rig_submit(c, 96, true);
	ck_assert_int_eq(c->in[0], 0x1e);
	c = cdb_new(0, 0, cdb_tur());
	memcpy(c->scsi.lun, report_luns, 8);
	rig_submit(c, 0, true);
	ck_assert(rig_good(c));
	c = cdb_new(0, 0, cdb_read_capacity10());
	memcpy(c->scsi.lun, report_luns, 8);
	rig_submit(c, 8, true);
	ck_assert(rig_sense(c, 0x5, 0x20, 0x00));
}
END_TEST

/* ---- capacity ---------------------------------------------------------- */

START_TEST(read_capacity_tells_the_last_block)
{
	struct rig_cmd *c = run_in(0, 0, cdb_read_capacity10(), 8);

	ck_assert_int_eq(in32(c, 0), RIG_BLOCKS - 1);
	ck_assert_int_eq(in32(c, 4), 512);
	c = run_in(0, 0, cdb_read_capacity16(32), 32);
	ck_assert_int_eq(c->nin, 32);
	ck_assert_int_eq(in64(c, 0), RIG_BLOCKS - 1);
	ck_assert_int_eq(in32(c, 8), 512);
	ck_assert_int_eq(c->in[12], 0);
}
END_TEST

START_TEST(read_capacity_10_of_a_large_unit_is_all_ones)
{
	atomic_store(&rig.lu[0]->nblocks, (1ull << 32) + 1);
	ck_assert_int_eq(in32(run_in(0, 0, cdb_read_capacity10(), 8), 0),
			 UINT32_MAX);
	ck_assert_int_eq(in64(run_in(0, 0, cdb_read_capacity16(32), 32), 0),
			 1ull << 32);
}
END_TEST

START_TEST(short_allocation_lengths_are_no_error)
{
	struct rig_cmd *c = run_in(0, 0, cdb_read_capacity16((uint32_t)_i), 32);

	ck_assert(rig_good(c));
	ck_assert_int_eq(c->nin, _i);
}
END_TEST

START_TEST(provisioning_bits_follow_the_volume_and_the_primitive)
{
	struct volume_caps *caps = fake_caps(rig.vol[0]);

	caps->unmap_zeroes = true;
	ck_assert_int_eq(run_in(0, 0, cdb_read_capacity16(32), 32)->in[14],
			 0xc0);
	caps->unmap_zeroes = false;
	ck_assert_int_eq(run_in(0, 0, cdb_read_capacity16(32), 32)->in[14],
			 0x80);
	lu_set_primitive(rig.lu[0], PRIM_DELETE, false);
	drain_attentions(0, 0);
	ck_assert_int_eq(run_in(0, 0, cdb_read_capacity16(32), 32)->in[14], 0);
}
END_TEST

START_TEST(physical_blocks_are_told_as_a_power_of_two)
{
	fake_caps(rig.vol[0])->physical_block_size = 4096;
	ck_assert_int_eq(run_in(0, 0, cdb_read_capacity16(32), 32)->in[13], 3);
}
END_TEST

/* ---- REQUEST SENSE ----------------------------------------------------- */

START_TEST(request_sense_tells_and_clears_a_unit_attention)
{
	struct rig_cmd *c;

	ua_post(rig.lu[0], UA_CAPACITY_CHANGED, NULL);
	c = run_in(0, 0, cdb_request_sense(false, 252), 252);
	ck_assert(rig_good(c));
	ck_assert_int_eq(c->nin, 18);
	ck_assert_int_eq(c->in[0], 0x70);
	ck_assert_int_eq(c->in[2], 0x6);
	ck_assert_int_eq(c->in[12], 0x2a);
	ck_assert_int_eq(c->in[13], 0x09);
	c = run_in(0, 0, cdb_request_sense(true, 252), 252);
	ck_assert_int_eq(c->in[0], 0x72);
	ck_assert_int_eq(c->in[1], 0x0);
}
END_TEST

/* ---- START STOP UNIT --------------------------------------------------- */

START_TEST(a_stopped_unit_wants_to_be_started)
{
	ck_assert(rig_good(run(0, 0, cdb_start_stop(0x00))));
	ck_assert(rig_sense(run(1, 0, cdb_tur()), 0x2, 0x04, 0x02));
	ck_assert(rig_sense(run_in(0, 0, cdb_read10(0, 1), 512), 0x2, 0x04, 2));
	ck_assert(rig_good(run(0, 0, cdb_start_stop(0x00))));
	ck_assert(rig_good(run(0, 0, cdb_start_stop(0x01))));
	ck_assert(rig_good(run(1, 0, cdb_tur())));
}
END_TEST

START_TEST(stopping_a_write_back_unit_flushes_it_first)
{
	struct rig_cmd *c;

	volume_set_write_back(rig.vol[0], true, NULL, NULL);
	c = run(0, 0, cdb_start_stop(0x00));
	ck_assert(!c->done);
	ck_assert_ptr_nonnull(fake_pending_op(rig.vol[0], BREQ_FLUSH));
	ck_assert(rig_good(run(1, 0, cdb_tur())));
	fake_complete(rig.vol[0], 0);
	fake_run();
	ck_assert(rig_good(c));
	ck_assert(rig_sense(run(1, 0, cdb_tur()), 0x2, 0x04, 0x02));
}
END_TEST

START_TEST(load_eject_and_power_conditions_are_refused)
{
	ck_assert(rig_sense(run(0, 0, cdb_start_stop(0x02)), 0x5, 0x24, 0));
	ck_assert(rig_sense(run(0, 0, cdb_start_stop(0x10)), 0x5, 0x24, 0));
	ck_assert(rig_good(run(0, 0, cdb_tur())));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("inquiry");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_test(tc, standard_data_are_96_bytes_and_say_what_we_are);
	tcase_add_test(tc, third_party_copy_follows_the_clone_primitive);
	tcase_add_loop_test(tc, every_allocation_length_cuts_the_same_data, 0,
			    100);
	tcase_add_test(tc, a_page_code_without_evpd_is_refused);
	tcase_add_test(tc, the_well_known_unit_answers_what_it_must);
	tcase_add_test(tc, read_capacity_tells_the_last_block);
	tcase_add_test(tc, read_capacity_10_of_a_large_unit_is_all_ones);
	tcase_add_loop_test(tc, short_allocation_lengths_are_no_error, 0, 16);
	tcase_add_test(tc,
		provisioning_bits_follow_the_volume_and_the_primitive);
	tcase_add_test(tc, physical_blocks_are_told_as_a_power_of_two);
	tcase_add_test(tc, request_sense_tells_and_clears_a_unit_attention);
	tcase_add_test(tc, a_stopped_unit_wants_to_be_started);
	tcase_add_test(tc, stopping_a_write_back_unit_flushes_it_first);
	tcase_add_test(tc, load_eject_and_power_conditions_are_refused);
	return unit_run("scsi_inquiry", tc);
}
