/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Results: the table, errno, both sense formats. */

#include <errno.h>
#include <string.h>

#include "scsi/scsi_int.h"
#include "tests/lib/cdb.h"
#include "tests/lib/unit.h"

START_TEST(only_check_condition_has_a_sense_key_and_each_has_one)
{
	enum scsi_result r;

	for (r = SCSI_GOOD; r < SCSI_RESULTS; r++) {
		bool check = result_status(r) == STATUS_CHECK_CONDITION;

		ck_assert_msg(check == (result_key(r) != KEY_NO_SENSE), "%s",
			      result_name(r));
	}
}
END_TEST

static const struct { int err; bool write; enum scsi_result r; } errors[] = {
	{ 0, true, SCSI_GOOD },
	{ -ENOSPC, true, SCSI_SPACE_ALLOC_FAILED },
	{ -EDQUOT, true, SCSI_SPACE_ALLOC_FAILED },
	{ -EROFS, true, SCSI_WRITE_PROTECTED },
	{ -ENOMEM, false, SCSI_BUSY_RESOURCES },
	{ -ENODEV, false, SCSI_BECOMING_READY },
	{ -EIO, true, SCSI_WRITE_ERROR },
	{ -EIO, false, SCSI_READ_ERROR },
	{ -EPERM, false, SCSI_READ_ERROR },
};

START_TEST(errno_becomes_a_result)
{
	ck_assert_int_eq(result_of_errno(errors[_i].err, errors[_i].write),
			 errors[_i].r);
}
END_TEST

START_TEST(fixed_sense_of_a_miscompare)
{
	static const uint8_t want[18] = {
		0xf0, 0, 0x0e, 0, 0, 0x02, 0x1b, 0x0a, 0, 0, 0, 0, 0x1d,
	};
	struct sense_detail d = { .info_valid = true, .info = 539 };
	uint8_t s[SENSE_MAX];

	ck_assert_int_eq(sense_bytes(SCSI_MISCOMPARE, &d, false, s), 18);
	ck_assert_mem_eq(s, want, 18);
}
END_TEST

START_TEST(descriptor_sense_of_a_miscompare)
{
	static const uint8_t want[20] = {
		0x72, 0x0e, 0x1d, 0, 0, 0, 0, 0x0c,
		0x00, 0x0a, 0x80, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x1b,
	};
	struct sense_detail d = { .info_valid = true, .info = 539 };
	uint8_t s[SENSE_MAX];

	ck_assert_int_eq(sense_bytes(SCSI_MISCOMPARE, &d, true, s), 20);
	ck_assert_mem_eq(s, want, 20);
}
END_TEST

START_TEST(information_is_valid_only_where_it_fits)
{
	struct sense_detail d = { .info_valid = true, .info = 1ull << 32 };
	uint8_t s[SENSE_MAX];

	sense_bytes(SCSI_LBA_OUT_OF_RANGE, &d, false, s);
	ck_assert_int_eq(s[0], 0x70);
	sense_bytes(SCSI_LBA_OUT_OF_RANGE, &d, true, s);
	ck_assert_int_eq(be64_get(BE_AT(be64, s, 12)), 1ull << 32);
}
END_TEST

/* Fixed: bytes 8 or 9 tell where the forwarded sense begins,
 * bytes 10 and 11 the segment, byte 15 that the pointer counts from it. */
START_TEST(fixed_sense_of_an_aborted_copy)
{
	struct sense_detail d = {
		.segment_valid = true, .segment = 3, .field_valid = true,
		.field = 6, .forwarded = SCSI_SPACE_ALLOC_FAILED,
		.forwarded_dst = true,
	};
	uint8_t s[SENSE_MAX];

	ck_assert_int_eq(sense_bytes(SCSI_COPY_TARGET_ERROR, &d, false, s), 36);
	ck_assert_int_eq(s[2], KEY_COPY_ABORTED);
	ck_assert_int_eq(s[7], 28);
	ck_assert_int_eq(s[8], 0);
	ck_assert_int_eq(s[9], 18);
	ck_assert_int_eq(be16_get(BE_AT(be16, s, 10)), 3);
	ck_assert_int_eq(s[12], 0x0d);
	ck_assert_int_eq(s[13], 0x01);
	ck_assert_int_eq(s[15], 0xa0);
	ck_assert_int_eq(be16_get(BE_AT(be16, s, 16)), 6);
	ck_assert_int_eq(s[18], 0x70);
	ck_assert_int_eq(s[20], KEY_DATA_PROTECT);
	ck_assert_int_eq(s[30], 0x27);
	ck_assert_int_eq(s[31], 0x07);
}
END_TEST

START_TEST(descriptor_sense_of_an_aborted_copy)
{
	struct sense_detail d = {
		.segment_valid = true, .segment = 3, .field_valid = true,
		.field = 6, .forwarded = SCSI_READ_ERROR,
	};
	uint8_t s[SENSE_MAX];
	unsigned len = sense_bytes(SCSI_COPY_TARGET_ERROR, &d, true, s);

	ck_assert_int_eq(len, 8 + 12 + 8 + 4 + 18);
	ck_assert_int_eq(s[7], len - 8);
	ck_assert_int_eq(s[8], 0x01);
	ck_assert_int_eq(be16_get(BE_AT(be16, s, 14)), 3);
	ck_assert_int_eq(s[20], 0x02);
	ck_assert_int_eq(s[24], 0xa0);
	ck_assert_int_eq(be16_get(BE_AT(be16, s, 25)), 6);
	ck_assert_int_eq(s[28], 0x0c);
	ck_assert_int_eq(s[30], 1);			/* of the source */
	ck_assert_int_eq(s[31], STATUS_CHECK_CONDITION);
	ck_assert_int_eq(s[32], 0x70);
	ck_assert_int_eq(s[34], KEY_MEDIUM_ERROR);
}
END_TEST

START_TEST(the_longest_sense_fits)
{
	struct sense_detail d = {
		.info_valid = true, .info = UINT64_MAX, .segment_valid = true,
		.field_valid = true, .forwarded = SCSI_READ_ERROR,
	};
	uint8_t s[SENSE_MAX];
	enum scsi_result r;

	for (r = SCSI_GOOD; r < SCSI_RESULTS; r++) {
		ck_assert_int_le(sense_bytes(r, &d, true, s), SENSE_MAX);
		ck_assert_int_le(sense_bytes(r, &d, false, s), SENSE_MAX);
	}
}
END_TEST

START_TEST(d_sense_chooses_the_format_of_a_command)
{
	struct rig_cmd *c;

	rig_setup();
	atomic_store(&rig.lu[0]->d_sense, true);
	c = run_in(0, 0, cdb_read16(UINT64_MAX, 1), 512);
	ck_assert_int_eq(c->scsi.sense[0], 0x72);
	ck_assert_int_eq(c->scsi.sense[1], 0x5);
	ck_assert_int_eq(be64_get(BE_AT(be64, c->scsi.sense, 12)), UINT64_MAX);
	rig_teardown();
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("results");

	tcase_add_test(tc,
		only_check_condition_has_a_sense_key_and_each_has_one);
	tcase_add_loop_test(tc, errno_becomes_a_result, 0, 9);
	tcase_add_test(tc, fixed_sense_of_a_miscompare);
	tcase_add_test(tc, descriptor_sense_of_a_miscompare);
	tcase_add_test(tc, information_is_valid_only_where_it_fits);
	tcase_add_test(tc, fixed_sense_of_an_aborted_copy);
	tcase_add_test(tc, descriptor_sense_of_an_aborted_copy);
	tcase_add_test(tc, the_longest_sense_fits);
	tcase_add_test(tc, d_sense_chooses_the_format_of_a_command);
	return unit_run("scsi_result", tc);
}
