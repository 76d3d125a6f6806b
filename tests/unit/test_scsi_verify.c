/* SPDX-License-Identifier: GPL-2.0-or-later */

/* VERIFY, WRITE AND VERIFY, SYNCHRONIZE CACHE and PRE-FETCH. */

#include "scsi/scsi.h"

#include <errno.h>
#include <string.h>

#include "scsi/range.h"
#include "scsi/scsi_int.h"
#include "tests/lib/rig.h"
#include "tests/lib/unit.h"

/* ---- VERIFY ------------------------------------------------------------ */

static struct rig_cmd *verify(uint8_t op, uint8_t bytchk, uint32_t lba,
			      uint32_t n, uint32_t edtl, int at)
{
	struct rig_cmd *c = rig_16(rig_new(0, 0), op, lba, n);
	uint32_t i;

	c->scsi.cdb[1] = (uint8_t)(bytchk << 1);
	for (i = 0; i < edtl; i++)
		c->out[i] = rig_byte(lba * 512ull + i);
	if (at >= 0)
		c->out[at] ^= 0x55;
	fake_auto(rig.vol[0], true);
	rig_submit(c, edtl, false);
	return c;
}

START_TEST(verify_without_bytchk_reads_the_medium)
{
	struct rig_cmd *c = verify(0x8f, 0, 0, 2000, 0, -1);

	ck_assert(rig_good(c));
	ck_assert_uint_eq(fake_submitted_op(rig.vol[0], BREQ_READ), 4);
	ck_assert_uint_eq(c->scsi.wanted, 0);
}
END_TEST

START_TEST(verify_without_bytchk_ignores_data_out)
{
	ck_assert(rig_good(verify(0x8f, 0, 0, 1, 512, 5)));
}
END_TEST

START_TEST(verify_compares_block_by_block)
{
	struct rig_cmd *c;

	ck_assert(rig_good(verify(0x8f, 1, 7, 1500, 1500 * 512, -1)));
	c = verify(0x8f, 1, 7, 1500, 1500 * 512, 600000);
	ck_assert(rig_sense(c, KEY_MISCOMPARE, 0x1d, 0x00));
	ck_assert_uint_eq(c->scsi.sense[0], 0xf0);
	ck_assert_uint_eq(c->scsi.sense[4] << 16 | c->scsi.sense[5] << 8 |
			  c->scsi.sense[6], 600000);
}
END_TEST

START_TEST(verify_compares_every_block_with_the_one_sent)
{
	struct rig_cmd *c;

	memset(fake_data(rig.vol[0]), 0x11, 1200 * 512);
	c = rig_16(rig_new(0, 0), 0x8f, 0, 1200);
	c->scsi.cdb[1] = 3 << 1;
	memset(c->out, 0x11, 512);
	fake_auto(rig.vol[0], true);
	rig_submit(c, 512, false);
	ck_assert(rig_good(c));
	ck_assert_uint_eq(c->scsi.wanted, 512);

	fake_data(rig.vol[0])[1100 * 512 + 9] = 0;
	c = rig_16(rig_new(0, 0), 0x8f, 0, 1200);
	c->scsi.cdb[1] = 3 << 1;
	memset(c->out, 0x11, 512);
	rig_submit(c, 512, false);
	ck_assert(rig_sense(c, KEY_MISCOMPARE, 0x1d, 0x00));
}
END_TEST

START_TEST(bytchk_10b_is_refused)
{
	ck_assert(rig_sense(verify(0x8f, 2, 0, 1, 512, -1),
			    KEY_ILLEGAL_REQUEST, 0x24, 0x00));
}
END_TEST

START_TEST(write_and_verify_writes_then_compares)
{
	struct rig_cmd *c = verify(0x8e, 1, 7, 1000, 1000 * 512, 3);

	ck_assert(rig_good(c));
	ck_assert_uint_eq(fake_data(rig.vol[0])[7 * 512 + 3],
			  rig_byte(7 * 512 + 3) ^ 0x55);
	ck_assert_uint_eq(fake_submitted_op(rig.vol[0], BREQ_WRITE), 2);
	ck_assert_uint_eq(fake_submitted_op(rig.vol[0], BREQ_READ), 2);
}
END_TEST

START_TEST(a_verify_gives_everything_back_wherever_it_ends)
{
	unsigned i;

	for (i = 1; i <= 4; i++) {
		struct rig_cmd *c;

		fake_fail(rig.vol[0], i, -EIO);
		c = verify(0x8e, 1, 0, 1000, 1000 * 512, -1);
		ck_assert_uint_eq(c->done, 1);
		ck_assert_uint_eq(c->scsi.status, STATUS_CHECK_CONDITION);
		ck_assert(range_set_empty(rig.lu[0]->ranges));
	}
}
END_TEST

START_TEST(a_verify_can_be_aborted_between_its_steps)
{
	unsigned i, j;

	for (i = 0; i < 4; i++) {
		struct rig_cmd *c;

		fake_auto(rig.vol[0], false);
		c = rig_16(rig_new(0, 0), 0x8e, 0, 1000);
		c->scsi.cdb[1] = 1 << 1;
		rig_submit(c, 1000 * 512, false);
		for (j = 0; j < i; j++)
			fake_complete(rig.vol[0], 0);
		rig_abort(c);
		if (fake_pending(rig.vol[0]))
			fake_complete(rig.vol[0], 0);
		ck_assert_uint_eq(c->done, 1);
		ck_assert_uint_eq(fake_npending(rig.vol[0]), 0);
	}
}
END_TEST

/* ---- SYNCHRONIZE CACHE, PRE-FETCH -------------------------------------- */

START_TEST(synchronize_cache_waits_for_the_flush)
{
	struct rig_cmd *c = rig_10(rig_new(0, 0), 0x35, 0, 0);

	rig_submit(c, 0, false);
	ck_assert_int_eq(fake_pending(rig.vol[0])->op, BREQ_FLUSH);
	ck_assert_uint_eq(c->done, 0);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
}
END_TEST

START_TEST(synchronize_cache_with_immed_does_not_wait)
{
	struct rig_cmd *c = rig_16(rig_new(0, 0), 0x91, 0, 0);

	c->scsi.cdb[1] = 0x02;
	rig_submit(c, 0, false);
	ck_assert(rig_good(c));
	ck_assert_int_eq(fake_pending(rig.vol[0])->op, BREQ_FLUSH);
	fake_complete(rig.vol[0], 0);
}
END_TEST

START_TEST(a_failed_flush_is_a_write_error)
{
	struct rig_cmd *c = rig_10(rig_new(0, 0), 0x35, 0, 0);

	rig_submit(c, 0, false);
	fake_complete(rig.vol[0], -EIO);
	ck_assert(rig_sense(c, KEY_MEDIUM_ERROR, 0x0c, 0x00));
}
END_TEST

START_TEST(pre_fetch_of_zero_blocks_goes_to_the_end)
{
	struct rig_cmd *c = rig_16(rig_new(0, 0), 0x90, 100, 0);

	rig_submit(c, 0, false);
	ck_assert_int_eq(fake_pending(rig.vol[0])->op, BREQ_PREFETCH);
	ck_assert_uint_eq(fake_pending(rig.vol[0])->len,
			  (RIG_BLOCKS - 100) * 512);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("verify");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_test(tc, verify_without_bytchk_reads_the_medium);
	tcase_add_test(tc, verify_without_bytchk_ignores_data_out);
	tcase_add_test(tc, verify_compares_block_by_block);
	tcase_add_test(tc, verify_compares_every_block_with_the_one_sent);
	tcase_add_test(tc, bytchk_10b_is_refused);
	tcase_add_test(tc, write_and_verify_writes_then_compares);
	tcase_add_test(tc, a_verify_gives_everything_back_wherever_it_ends);
	tcase_add_test(tc, a_verify_can_be_aborted_between_its_steps);
	tcase_add_test(tc, synchronize_cache_waits_for_the_flush);
	tcase_add_test(tc, synchronize_cache_with_immed_does_not_wait);
	tcase_add_test(tc, a_failed_flush_is_a_write_error);
	tcase_add_test(tc, pre_fetch_of_zero_blocks_goes_to_the_end);
	return unit_run("verify", tc);
}
