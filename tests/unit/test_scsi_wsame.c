/* SPDX-License-Identifier: GPL-2.0-or-later */

/* WRITE SAME (10, 16). */

#include "scsi/scsi.h"

#include <errno.h>
#include <string.h>

#include "scsi/range.h"
#include "scsi/scsi_int.h"
#include "tests/lib/rig.h"
#include "tests/lib/unit.h"

#define WS10	0x41
#define WS16	0x93
#define ANCHOR	0x10
#define UNMAP	0x08
#define PBDATA	0x04
#define LBDATA	0x02
#define NDOB	0x01

static struct rig_cmd *ws16(uint8_t bits, uint64_t lba, uint32_t n, int byte)
{
	struct rig_cmd *c = rig_16(rig_new(0, 0), WS16, lba, n);

	c->scsi.cdb[1] = bits;
	memset(c->out, byte, 512);
	rig_submit(c, bits & NDOB ? 0 : 512, false);
	return c;
}

START_TEST(zeros_are_asked_of_the_volume)
{
	struct rig_cmd *c = ws16(0, 4, 8, 0);

	ck_assert_int_eq(fake_pending(rig.vol[0])->op, BREQ_ZERO);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
	ck_assert(rig_all(0, 4 * 512, 8 * 512, 0));
	ck_assert(rig_untouched(0, 0, 4 * 512));
	ck_assert(rig_untouched(0, 12 * 512, 512));
	ck_assert(fake_mapped(rig.vol[0], 4 * 512));
}
END_TEST

START_TEST(zeros_with_unmap_give_space_back)
{
	struct rig_cmd *c = ws16(UNMAP, 8, 8, 0);

	ck_assert_int_eq(fake_pending(rig.vol[0])->op, BREQ_UNMAP);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
	ck_assert(rig_all(0, 8 * 512, 8 * 512, 0));
	ck_assert(!fake_mapped(rig.vol[0], 8 * 512));
}
END_TEST

START_TEST(zeros_with_unmap_are_written_where_unmapped_is_not_zero)
{
	struct rig_cmd *c;

	fake_caps(rig.vol[0])->unmap_zeroes = false;
	c = ws16(UNMAP, 8, 8, 0);
	ck_assert_int_eq(fake_pending(rig.vol[0])->op, BREQ_ZERO);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
}
END_TEST

START_TEST(without_a_data_out_buffer_it_is_zeros)
{
	struct rig_cmd *c = ws16(NDOB, 0, 1, 0x11);

	ck_assert_int_eq(fake_pending(rig.vol[0])->op, BREQ_ZERO);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
	ck_assert_uint_eq(c->scsi.wanted, 0);
}
END_TEST

START_TEST(any_pattern_is_written)
{
	struct rig_cmd *c = ws16(UNMAP, 4, 100, 0x77);

	ck_assert_int_eq(fake_pending(rig.vol[0])->op, BREQ_WRITE_SAME);
	ck_assert_uint_eq(fake_pending(rig.vol[0])->pattern, 512);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
	ck_assert(rig_all(0, 4 * 512, 100 * 512, 0x77));
	ck_assert(rig_untouched(0, 104 * 512, 512));
}
END_TEST

START_TEST(a_block_with_one_byte_that_is_not_zero_is_a_pattern)
{
	struct rig_cmd *c = rig_10(rig_new(0, 0), WS10, 0, 2);

	c->out[_i] = 1;
	rig_submit(c, 512, false);
	ck_assert_int_eq(fake_pending(rig.vol[0])->op, BREQ_WRITE_SAME);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
	ck_assert_uint_eq(fake_data(rig.vol[0])[512 + _i], 1);
}
END_TEST

START_TEST(long_ranges_go_in_pieces_that_others_come_between)
{
	struct rig_cmd *c = ws16(0, 0, 5000, 0), *caw;

	ck_assert_uint_eq(fake_pending(rig.vol[0])->len, 1u << 20);
	caw = rig_caw(1, 0, 1, 0xee);		/* in the first piece */
	ck_assert_uint_eq(fake_npending(rig.vol[0]), 1);
	fake_complete(rig.vol[0], 0);
	ck_assert_uint_eq(fake_npending(rig.vol[0]), 2);
	fake_complete_breq(&caw->scsi.breq, 0);
	ck_assert(rig_sense(caw, KEY_MISCOMPARE, 0x1d, 0x00));
	fake_complete(rig.vol[0], 0);
	ck_assert_uint_eq(fake_pending(rig.vol[0])->len, (5000 - 4096) * 512);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
	ck_assert(rig_all(0, 0, 5000 * 512, 0));
	ck_assert(rig_untouched(0, 5000 * 512, 512));
}
END_TEST

START_TEST(a_piece_that_fails_is_the_last)
{
	struct rig_cmd *c;

	fake_fail(rig.vol[0], 2, -ENOSPC);
	c = ws16(0, 0, 5000, 0);
	fake_complete(rig.vol[0], 0);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_sense(c, KEY_DATA_PROTECT, 0x27, 0x07));
	ck_assert_uint_eq(fake_submitted(rig.vol[0]), 2);
	ck_assert(range_set_empty(rig.lu[0]->ranges));
}
END_TEST

START_TEST(it_can_be_aborted_between_its_pieces)
{
	struct rig_cmd *c = ws16(0, 0, 5000, 0);
	int i;

	for (i = 0; i < _i; i++)
		fake_complete(rig.vol[0], 0);
	rig_abort(c);
	ck_assert_uint_eq(c->done, 0);
	fake_complete(rig.vol[0], 0);
	ck_assert_uint_eq(c->done, 1);
	ck_assert_uint_eq(fake_submitted(rig.vol[0]), (unsigned)_i + 1);
	ck_assert(range_set_empty(rig.lu[0]->ranges));
}
END_TEST

START_TEST(aborted_while_it_waits_for_a_piece_it_zeroes_no_more)
{
	struct rig_cmd *caw = rig_caw(1, 4, 1, 0xee), *c = ws16(0, 0, 8, 0);

	rig_abort(c);
	ck_assert_uint_eq(c->done, 1);
	fake_complete(rig.vol[0], 0);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(caw));
	ck_assert(rig_untouched(0, 0, 4 * 512));
}
END_TEST

START_TEST(zeros_with_anchor_hold_their_space)
{
	struct rig_cmd *c;

	fake_caps(rig.vol[0])->anchors = true;
	c = ws16(UNMAP | ANCHOR, 8, 8, 0);
	ck_assert_int_eq(fake_pending(rig.vol[0])->op, BREQ_ZERO);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
	ck_assert(fake_mapped(rig.vol[0], 8 * 512));
	ck_assert(rig_sense(ws16(ANCHOR, 0, 1, 0), KEY_ILLEGAL_REQUEST, 0x24,
			    0x00));
}
END_TEST

START_TEST(what_we_do_not_do_is_refused)
{
	static const uint8_t bits[] = { ANCHOR | UNMAP, ANCHOR, PBDATA, LBDATA,
					0x20 };

	ck_assert(rig_sense(ws16(bits[_i], 0, 1, 0), KEY_ILLEGAL_REQUEST, 0x24,
			    0x00));
	ck_assert_uint_eq(fake_submitted(rig.vol[0]), 0);
}
END_TEST

START_TEST(unmap_is_refused_where_nothing_is_thin)
{
	fake_caps(rig.vol[0])->unmap = METHOD_NONE;
	ck_assert(rig_sense(ws16(UNMAP, 0, 1, 0), KEY_ILLEGAL_REQUEST, 0x24,
			    0x00));
}
END_TEST

START_TEST(zero_blocks_are_refused)
{
	struct rig_cmd *c = rig_10(rig_new(0, 0), WS10, 0, 0);

	ck_assert(rig_sense(ws16(0, 0, 0, 0), KEY_ILLEGAL_REQUEST, 0x24, 0x00));
	rig_submit(c, 512, false);
	ck_assert(rig_sense(c, KEY_ILLEGAL_REQUEST, 0x24, 0x00));
}
END_TEST

START_TEST(more_blocks_than_the_limit_are_refused)
{
	rig.lu[0]->limits.max_write_same = 64;
	ck_assert(rig_sense(ws16(0, 0, 65, 0), KEY_ILLEGAL_REQUEST, 0x24,
			    0x00));
}
END_TEST

START_TEST(blocks_behind_the_end_are_refused)
{
	static const uint64_t lba[] = { RIG_BLOCKS, RIG_BLOCKS - 1,
					1ull << 63, UINT64_MAX };

	ck_assert(rig_sense(ws16(0, lba[_i], 2, 0), KEY_ILLEGAL_REQUEST, 0x21,
			    0x00));
}
END_TEST

START_TEST(data_that_are_not_one_block_are_refused)
{
	static const uint32_t edtl[] = { 0, 256, 1024 };
	struct rig_cmd *c = rig_16(rig_new(0, 0), WS16, 0, 1);

	rig_submit(c, edtl[_i], false);
	ck_assert_uint_eq(c->scsi.sense[2], KEY_ILLEGAL_REQUEST);
	ck_assert_uint_eq(fake_submitted(rig.vol[0]), 0);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("wsame");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_test(tc, zeros_are_asked_of_the_volume);
	tcase_add_test(tc, zeros_with_unmap_give_space_back);
	tcase_add_test(tc,
		zeros_with_unmap_are_written_where_unmapped_is_not_zero);
	tcase_add_test(tc, without_a_data_out_buffer_it_is_zeros);
	tcase_add_test(tc, any_pattern_is_written);
	tcase_add_loop_test(tc,
		a_block_with_one_byte_that_is_not_zero_is_a_pattern, 0, 3);
	tcase_add_loop_test(tc,
		a_block_with_one_byte_that_is_not_zero_is_a_pattern, 511, 512);
	tcase_add_test(tc, long_ranges_go_in_pieces_that_others_come_between);
	tcase_add_test(tc, a_piece_that_fails_is_the_last);
	tcase_add_loop_test(tc, it_can_be_aborted_between_its_pieces, 0, 3);
	tcase_add_test(tc,
		aborted_while_it_waits_for_a_piece_it_zeroes_no_more);
	tcase_add_test(tc, zeros_with_anchor_hold_their_space);
	tcase_add_loop_test(tc, what_we_do_not_do_is_refused, 0, 5);
	tcase_add_test(tc, unmap_is_refused_where_nothing_is_thin);
	tcase_add_test(tc, zero_blocks_are_refused);
	tcase_add_test(tc, more_blocks_than_the_limit_are_refused);
	tcase_add_loop_test(tc, blocks_behind_the_end_are_refused, 0, 4);
	tcase_add_loop_test(tc, data_that_are_not_one_block_are_refused, 0, 3);
	return unit_run("wsame", tc);
}
