/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The order of checks, decoding, data, residuals and the end of a command. */

#include <errno.h>
#include <string.h>

#include "scsi/scsi_int.h"
#include "tests/lib/cdb.h"
#include "tests/lib/unit.h"

static const uint8_t block[512];

START_TEST(an_absent_lun_is_5_25_00_but_inquiry_answers)
{
	struct rig_cmd *c = run(0, 9, cdb_tur());

	ck_assert(rig_sense(c, 0x5, 0x25, 0x00));
	c = run_in(0, 9, cdb_inquiry(STANDARD_INQUIRY, 96), 96);
	ck_assert(rig_good(c));
	ck_assert_int_eq(c->in[0], 0x7f);
	ck_assert(!memcmp(c->in + 8, "LUND    ", 8));
	ck_assert(rig_good(run_in(0, 9, cdb_report_luns(0, 64), 64)));
	c = run_in(0, 9, cdb_request_sense(false, 18), 18);
	ck_assert(rig_good(c));
	ck_assert_int_eq(c->in[2], 0x5);
	ck_assert_int_eq(c->in[12], 0x25);
}
END_TEST

START_TEST(an_unknown_opcode_is_5_20_00)
{
	ck_assert(rig_sense(run(0, 0, cdb_with(cdb_tur(), 0, 0xee)), 0x5, 0x20,
			    0x00));
}
END_TEST

START_TEST(an_unknown_service_action_points_at_it)
{
	struct rig_cmd *c = run(0, 0, cdb_with(cdb_read_capacity16(32), 1,
					       0x1f));

	ck_assert(rig_sense(c, 0x5, 0x24, 0x00));
	ck_assert(points_at(c, 1, 4));
}
END_TEST

/* RDPROTECT, a reserved byte, NACA */
START_TEST(a_foreign_bit_is_refused_with_its_place)
{
	struct rig_cmd *c = run_in(0, 0, cdb_with(cdb_read10(0, 1), 1, 0x20),
				   512);

	ck_assert(rig_sense(c, 0x5, 0x24, 0x00));
	ck_assert(points_at(c, 1, 5));
	c = run(0, 0, cdb_with(cdb_tur(), 3, 0x81));
	ck_assert(rig_sense(c, 0x5, 0x24, 0x00));
	ck_assert(points_at(c, 3, 7));
	c = run(0, 0, cdb_with(cdb_tur(), 5, 0x04));
	ck_assert(rig_sense(c, 0x5, 0x24, 0x00));
	ck_assert(points_at(c, 5, 2));
}
END_TEST

START_TEST(group_number_dpo_and_fua_are_taken)
{
	struct cdb c = cdb_with(cdb_with(cdb_read10(0, 1), 1, 0x18), 6, 3);

	fake_auto(rig.vol[0], true);
	ck_assert(rig_good(run_in(0, 0, c, 512)));
}
END_TEST

static const struct { uint64_t lba; uint32_t n; uint64_t info; } beyond[] = {
	{ RIG_BLOCKS, 1, RIG_BLOCKS },
	{ RIG_BLOCKS, 0, RIG_BLOCKS },
	{ RIG_BLOCKS - 1, 2, RIG_BLOCKS },
	{ UINT64_MAX, 0, 0 },
	{ UINT64_MAX, UINT32_MAX, 0 },
	{ UINT64_MAX - 1, 65535, 0 },
	{ 1ull << 63, 1, 0 },
};

START_TEST(blocks_beyond_the_end_are_5_21_00)
{
	struct rig_cmd *c = run_in(0, 0, cdb_read16(beyond[_i].lba,
						    beyond[_i].n), 512);
	const uint8_t *s = c->scsi.sense;

	ck_assert(rig_sense(c, 0x5, 0x21, 0x00));
	/* INFORMATION is valid where it fits */
	ck_assert_int_eq(s[0], beyond[_i].info ? 0xf0 : 0x70);
	if (beyond[_i].info)
		ck_assert_int_eq(be32_get(BE_AT(be32, s, 3)), beyond[_i].info);
}
END_TEST

START_TEST(zero_blocks_are_good)
{
	struct rig_cmd *c = run(0, 0, cdb_read10(0, 0));

	ck_assert(rig_good(c));
	ck_assert_int_eq(c->scsi.wanted, 0);
}
END_TEST

START_TEST(more_blocks_than_mtl_are_5_24_00)
{
	struct rig_cmd *c;

	atomic_store(&rig.lu[0]->nblocks, 1u << 20);
	c = run_in(0, 0, cdb_read16(0, 65536), 512);
	ck_assert(rig_sense(c, 0x5, 0x24, 0x00));
	ck_assert(points_at(c, 10, 7));
	ck_assert(rig_sense(run_in(0, 0, cdb_read16(1u << 20, 65536), 512),
			    0x5, 0x21, 0x00));
}
END_TEST

START_TEST(a_unit_attention_comes_before_a_conflict_but_after_the_cdb)
{
	ck_assert(rig_good(run(1, 0, cdb_reserve6())));
	ua_post(rig.lu[0], UA_MODE_CHANGED, NULL);
	ck_assert(rig_sense(run(0, 0, cdb_with(cdb_tur(), 2, 1)), 0x5, 0x24,
			    0x00));
	ck_assert(rig_sense(run(0, 0, cdb_tur()), 0x6, 0x2a, 0x01));
	ck_assert_int_eq(run(0, 0, cdb_tur())->scsi.status,
			 STATUS_RESERVATION_CONFLICT);
}
END_TEST

START_TEST(writes_to_what_is_read_only_are_7_27_00)
{
	lu_set_read_only(rig.lu[0], true);
	drain_attentions(0, 0);
	ck_assert(rig_sense(run_out(0, 0, cdb_write10(0, 1), block, 512), 0x7,
			    0x27, 0x00));
	/* before the range is looked at, and before UNMAP's list is */
	ck_assert(rig_sense(run_out(0, 0, cdb_write16(UINT64_MAX, 1), block,
				    512), 0x7, 0x27, 0x00));
	ck_assert(rig_untouched(0, 0, 512));
}
END_TEST

START_TEST(a_degraded_volume_says_becoming_ready_and_stays_listed)
{
	struct rig_cmd *c;

	fake_set_state(rig.vol[0], VOLUME_DEGRADED, -ENOENT);
	fake_run();
	ck_assert(rig_sense(run(0, 0, cdb_tur()), 0x2, 0x04, 0x01));
	ck_assert(rig_sense(run_in(0, 0, cdb_read10(0, 1), 512), 0x2, 0x04, 1));
	c = run_in(0, 0, cdb_inquiry(STANDARD_INQUIRY, 96), 96);
	ck_assert(rig_good(c));
	ck_assert_int_eq(c->in[0], 0x00);
	ck_assert_int_eq(in32(run_in(0, 0, cdb_report_luns(0, 64), 64), 0), 16);
	fake_set_state(rig.vol[0], VOLUME_ONLINE, 0);
	fake_run();
	ck_assert(rig_good(run(0, 0, cdb_tur())));
}
END_TEST

START_TEST(a_failed_volume_reads_and_does_not_write)
{
	fake_auto(rig.vol[0], true);
	fake_set_state(rig.vol[0], VOLUME_FAILED, -EIO);
	fake_run();
	ck_assert(rig_good(run_in(0, 0, cdb_read10(0, 1), 512)));
	ck_assert(rig_sense(run_out(0, 0, cdb_write10(0, 1), block, 512), 0x3,
			    0x0c, 0x00));
}
END_TEST

START_TEST(an_answer_is_cut_to_allocation_length_and_edtl)
{
	struct rig_cmd *c = run_in(0, 0, cdb_inquiry(STANDARD_INQUIRY, 36), 96);

	ck_assert_int_eq(c->nin, 36);		/* underflow of 60 */
	ck_assert_int_eq(c->scsi.wanted, 36);
	ck_assert_int_eq(c->in[4], 91);
	c = run_in(0, 0, cdb_inquiry(STANDARD_INQUIRY, 255), 20);
	ck_assert_int_eq(c->nin, 20);		/* overflow of 76 */
	ck_assert_int_eq(c->scsi.wanted, 96);
	ck_assert(rig_good(run(0, 0, cdb_inquiry(STANDARD_INQUIRY, 0))));
	ck_assert(rig_good(run(0, 0, cdb_inquiry(STANDARD_INQUIRY, 96))));
}
END_TEST

START_TEST(test_unit_ready_with_expected_data_is_good_and_moves_none)
{
	struct rig_cmd *c = run_in(0, 0, cdb_tur(), 512);

	ck_assert(rig_good(c));
	ck_assert_int_eq(c->nin, 0);
	ck_assert_int_eq(c->scsi.wanted, 0);
}
END_TEST

START_TEST(compare_and_write_wants_exactly_twice_its_blocks)
{
	static const uint32_t wrong[] = { 0, 512, 1023, 1025, 2048 };
	static const uint8_t data[2048];

	ck_assert(rig_sense(run_out(0, 0, cdb_caw(0, 1), data, wrong[_i]),
			    0x5, 0x24, 0x00));
	ck_assert(rig_untouched(0, 0, 512));
}
END_TEST

START_TEST(compare_and_write_of_no_blocks_wants_no_data)
{
	static const uint8_t data[1024];
	struct rig_cmd *c = run_out(0, 0, cdb_caw(0, 0), data, 1024);

	ck_assert(rig_sense(c, 0x5, 0x24, 0x00));
	ck_assert(points_at(c, 13, 7));
	ck_assert(rig_good(run(0, 0, cdb_caw(0, 0))));
}
END_TEST

START_TEST(a_parameter_list_that_is_too_long_is_5_1a_00)
{
	ck_assert(rig_sense(run_out(0, 0, cdb_with((struct cdb){ { 0x83 } }, 11,
						   0x02), block, 64),
			    0x5, 0x1a, 0x00));
}
END_TEST

START_TEST(data_out_is_fetched_before_the_handler_runs)
{
	struct rig_cmd *c = cdb_new(0, 0, cdb_mode_select6(4));

	c->hold = true;
	rig_submit(c, 4, false);
	ck_assert(!c->done);
	ck_assert_int_eq(c->out_len, 4);
	rig_move(c);
	ck_assert(rig_good(c));
	ck_assert_int_eq(c->scsi.moved, 4);
}
END_TEST

START_TEST(an_abort_while_data_out_is_awaited_ends_at_once)
{
	struct rig_cmd *c = cdb_new(0, 0, cdb_mode_select6(4));

	c->hold = true;
	rig_submit(c, 4, false);
	rig_abort(c);
	ck_assert_int_eq(c->done, 1);
	ck_assert(c->scsi.aborted);
}
END_TEST

START_TEST(commands_are_counted_by_kind_and_result)
{
	struct lu_stats s;

	fake_auto(rig.vol[0], true);
	run_in(0, 0, cdb_read10(0, 2), 1024);
	run_out(1, 0, cdb_write10(0, 1), block, 512);
	run(0, 0, cdb_tur());
	run(0, 0, cdb_with(cdb_tur(), 2, 1));
	run(1, 0, cdb_reserve6());
	run(0, 0, cdb_tur());
	lu_get_stats(rig.lu[0], &s);
	ck_assert_int_eq(s.counter[LU_READS], 1);
	ck_assert_int_eq(s.counter[LU_READ_BYTES], 1024);
	ck_assert_int_eq(s.counter[LU_WRITES], 1);
	ck_assert_int_eq(s.counter[LU_WRITE_BYTES], 512);
	ck_assert_int_eq(s.counter[LU_OTHERS], 4);
	ck_assert_int_eq(s.counter[LU_ERRORS], 1);
	ck_assert_int_eq(s.counter[LU_CONFLICTS], 1);
	ck_assert_int_eq(s.read_latency[0], 1);
}
END_TEST

START_TEST(latency_is_told_in_quarter_octaves)
{
	struct rig_cmd *c = cdb_new(0, 0, cdb_read10(0, 1));
	struct lu_stats s;

	rig_submit(c, 512, true);
	fake_advance(3);		/* 3000 us: 2^(11 + 0.55) */
	fake_complete(rig.vol[0], 0);
	fake_run();
	lu_get_stats(rig.lu[0], &s);
	ck_assert_int_eq(s.read_latency[46], 1);
}
END_TEST

START_TEST(a_switched_off_primitive_never_existed)
{
	static const struct { enum lu_primitive p; uint8_t op; } of[] = {
		{ PRIM_ATS, 0x89 }, { PRIM_CLONE, 0x83 }, { PRIM_CLONE, 0x84 },
		{ PRIM_ZERO, 0x93 }, { PRIM_ZERO, 0x41 }, { PRIM_DELETE, 0x42 },
	};

	lu_set_primitive(rig.lu[0], of[_i].p, false);
	ck_assert(rig_sense(run(0, 0, cdb_tur()), 0x6, 0x3f, 0x03));
	ck_assert(rig_sense(run(0, 0, cdb_with(cdb_tur(), 0, of[_i].op)), 0x5,
			    0x20, 0x00));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("commands");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_test(tc, an_absent_lun_is_5_25_00_but_inquiry_answers);
	tcase_add_test(tc, an_unknown_opcode_is_5_20_00);
	tcase_add_test(tc, an_unknown_service_action_points_at_it);
	tcase_add_test(tc, a_foreign_bit_is_refused_with_its_place);
	tcase_add_test(tc, group_number_dpo_and_fua_are_taken);
	tcase_add_loop_test(tc, blocks_beyond_the_end_are_5_21_00, 0, 7);
	tcase_add_test(tc, zero_blocks_are_good);
	tcase_add_test(tc, more_blocks_than_mtl_are_5_24_00);
	tcase_add_test(tc,
		a_unit_attention_comes_before_a_conflict_but_after_the_cdb);
	tcase_add_test(tc, writes_to_what_is_read_only_are_7_27_00);
	tcase_add_test(tc,
		a_degraded_volume_says_becoming_ready_and_stays_listed);
	tcase_add_test(tc, a_failed_volume_reads_and_does_not_write);
	tcase_add_test(tc, an_answer_is_cut_to_allocation_length_and_edtl);
	tcase_add_test(tc,
		test_unit_ready_with_expected_data_is_good_and_moves_none);
	tcase_add_loop_test(tc,
		compare_and_write_wants_exactly_twice_its_blocks, 0, 5);
	tcase_add_test(tc, compare_and_write_of_no_blocks_wants_no_data);
	tcase_add_test(tc, a_parameter_list_that_is_too_long_is_5_1a_00);
	tcase_add_test(tc, data_out_is_fetched_before_the_handler_runs);
	tcase_add_test(tc, an_abort_while_data_out_is_awaited_ends_at_once);
	tcase_add_test(tc, commands_are_counted_by_kind_and_result);
	tcase_add_test(tc, latency_is_told_in_quarter_octaves);
	tcase_add_loop_test(tc, a_switched_off_primitive_never_existed, 0, 6);
	return unit_run("scsi_cmd", tc);
}
