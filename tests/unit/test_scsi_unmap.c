/* SPDX-License-Identifier: GPL-2.0-or-later */

/* UNMAP. */

#include "scsi/scsi.h"

#include <errno.h>
#include <string.h>

#include "lib/be.h"
#include "scsi/range.h"
#include "scsi/scsi_int.h"
#include "tests/lib/rig.h"
#include "tests/lib/unit.h"

#define UNMAP 0x42

static void put16(uint8_t *at, uint16_t v)
{
	be16 b = be16_of(v);

	memcpy(at, &b, sizeof(b));
}

static struct rig_cmd *list_of(unsigned n)
{
	struct rig_cmd *c = rig_10(rig_new(0, 0), UNMAP, 0,
				   (uint16_t)(8 + 16 * n));

	put16(c->out, (uint16_t)(6 + 16 * n));
	put16(c->out + 2, (uint16_t)(16 * n));
	return c;
}

static void desc(struct rig_cmd *c, unsigned i, uint64_t lba, uint32_t n)
{
	be64 l = be64_of(lba);
	be32 b = be32_of(n);

	memcpy(c->out + 8 + 16 * i, &l, sizeof(l));
	memcpy(c->out + 16 + 16 * i, &b, sizeof(b));
}

static struct rig_cmd *submit(struct rig_cmd *c)
{
	rig_submit(c, (uint32_t)c->scsi.cdb[7] << 8 | c->scsi.cdb[8], false);
	return c;
}

static struct rig_cmd *one(uint64_t lba, uint32_t n)
{
	struct rig_cmd *c = list_of(1);

	desc(c, 0, lba, n);
	return submit(c);
}

START_TEST(blocks_are_unmapped_and_read_as_zeros)
{
	struct rig_cmd *c = one(8, 16);

	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
	ck_assert(!fake_mapped(rig.vol[0], 8 * 512));
	ck_assert(rig_all(0, 8 * 512, 16 * 512, 0));
	ck_assert(rig_untouched(0, 0, 8 * 512));
	ck_assert(rig_untouched(0, 24 * 512, 512));
}
END_TEST

START_TEST(descriptors_are_done_in_order_and_empty_ones_passed_over)
{
	struct rig_cmd *c = list_of(4);

	desc(c, 0, 100, 0);
	desc(c, 1, 64, 8);
	desc(c, 2, RIG_BLOCKS, 0);
	desc(c, 3, 16, 8);
	submit(c);
	ck_assert_uint_eq(fake_pending(rig.vol[0])->off, 64 * 512);
	fake_complete(rig.vol[0], 0);
	ck_assert_uint_eq(fake_pending(rig.vol[0])->off, 16 * 512);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
}
END_TEST

START_TEST(descriptors_that_follow_each_other_are_one_request)
{
	struct rig_cmd *c = list_of(256);
	unsigned i;

	for (i = 0; i < 256; i++)
		desc(c, i, i, 1);
	submit(c);
	ck_assert_uint_eq(fake_pending(rig.vol[0])->len, 256 * 512);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
}
END_TEST

START_TEST(nothing_to_unmap_is_no_error)
{
	struct rig_cmd *c = rig_10(rig_new(0, 0), UNMAP, 0, 0);

	ck_assert(rig_good(submit(c)));
	ck_assert(rig_good(submit(list_of(0))));
	ck_assert(rig_good(one(0, 0)));
	ck_assert(rig_good(one(RIG_BLOCKS, 0)));
	ck_assert_uint_eq(fake_submitted(rig.vol[0]), 0);
}
END_TEST

START_TEST(a_list_shorter_than_it_says_is_refused)
{
	static const uint16_t len[] = { 1, 7, 8, 23 };
	struct rig_cmd *c = list_of(1);

	desc(c, 0, 0, 8);
	put16(c->scsi.cdb + 7, len[_i]);
	ck_assert(rig_sense(submit(c), KEY_ILLEGAL_REQUEST, 0x1a, 0x00));
}
END_TEST

START_TEST(a_list_of_which_less_was_sent_is_refused)
{
	static const uint32_t edtl[] = { 0, 4, 20 };
	struct rig_cmd *c = list_of(1);

	desc(c, 0, 0, 8);
	rig_submit(c, edtl[_i], false);
	ck_assert(rig_sense(c, KEY_ILLEGAL_REQUEST, 0x1a, 0x00));
}
END_TEST

START_TEST(lengths_that_disagree_are_refused)
{
	struct rig_cmd *c = list_of(1);

	put16(c->out, 21);
	ck_assert(rig_sense(submit(c), KEY_ILLEGAL_REQUEST, 0x26, 0x00));
}
END_TEST

START_TEST(part_of_a_descriptor_is_ignored)
{
	struct rig_cmd *c = list_of(2);

	desc(c, 0, 0, 8);
	desc(c, 1, RIG_BLOCKS, 8);
	put16(c->out + 2, 31);
	submit(c);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
}
END_TEST

START_TEST(one_bad_descriptor_leaves_all_blocks_alone)
{
	static const uint64_t lba[] = { RIG_BLOCKS, RIG_BLOCKS - 7, 1ull << 63,
					UINT64_MAX, UINT64_MAX - 6 };
	struct rig_cmd *c = list_of(2);

	desc(c, 0, 0, 8);
	desc(c, 1, lba[_i], 8);
	ck_assert(rig_sense(submit(c), KEY_ILLEGAL_REQUEST, 0x21, 0x00));
	ck_assert_uint_eq(fake_submitted(rig.vol[0]), 0);
}
END_TEST

START_TEST(more_than_the_limits_say_is_refused)
{
	struct rig_cmd *c = list_of(257);

	ck_assert(rig_sense(submit(c), KEY_ILLEGAL_REQUEST, 0x26, 0x00));
	rig.lu[0]->limits.max_unmap_blocks = 15;
	c = list_of(2);
	desc(c, 0, 0, 8);
	desc(c, 1, 8, 8);
	ck_assert(rig_sense(submit(c), KEY_ILLEGAL_REQUEST, 0x26, 0x00));
	ck_assert_uint_eq(fake_submitted(rig.vol[0]), 0);
}
END_TEST

START_TEST(anchored_blocks_are_zeroed_and_hold_their_space)
{
	struct rig_cmd *c = list_of(1);

	fake_caps(rig.vol[0])->anchors = true;
	desc(c, 0, 8, 16);
	c->scsi.cdb[1] = 1;
	submit(c);
	ck_assert_int_eq(fake_pending(rig.vol[0])->op, BREQ_ZERO);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
	ck_assert(rig_all(0, 8 * 512, 16 * 512, 0));
	ck_assert(fake_mapped(rig.vol[0], 8 * 512));
}
END_TEST

START_TEST(anchoring_that_finds_no_space_is_told_so)
{
	struct rig_cmd *c = list_of(1);

	fake_caps(rig.vol[0])->anchors = true;
	desc(c, 0, 8, 16);
	c->scsi.cdb[1] = 1;
	submit(c);
	fake_complete(rig.vol[0], _i ? -EDQUOT : -ENOSPC);
	ck_assert(rig_sense(c, KEY_DATA_PROTECT, 0x27, 0x07));
}
END_TEST

START_TEST(anchor_is_refused_where_no_space_is_held)
{
	struct rig_cmd *c = list_of(0);

	c->scsi.cdb[1] = 1;
	ck_assert(rig_sense(submit(c), KEY_ILLEGAL_REQUEST, 0x24, 0x00));
}
END_TEST

START_TEST(the_nth_request_that_fails_is_the_last)
{
	struct rig_cmd *c = list_of(3);
	int i;

	for (i = 0; i < 3; i++)
		desc(c, (unsigned)i, 64 * (unsigned)i, 8);
	fake_fail(rig.vol[0], (unsigned)_i, -EIO);
	submit(c);
	for (i = 0; i < _i; i++)
		fake_complete(rig.vol[0], 0);
	ck_assert(rig_sense(c, KEY_MEDIUM_ERROR, 0x0c, 0x00));
	ck_assert_uint_eq(fake_submitted(rig.vol[0]), (unsigned)_i);
	ck_assert(range_set_empty(rig.lu[0]->ranges));
}
END_TEST

START_TEST(it_can_be_aborted_between_its_descriptors)
{
	struct rig_cmd *c = list_of(3);
	int i;

	for (i = 0; i < 3; i++)
		desc(c, (unsigned)i, 64 * (unsigned)i, 8);
	submit(c);
	for (i = 0; i < _i; i++)
		fake_complete(rig.vol[0], 0);
	rig_abort(c);
	fake_complete(rig.vol[0], 0);
	ck_assert_uint_eq(c->done, 1);
	ck_assert_uint_eq(fake_submitted(rig.vol[0]), (unsigned)_i + 1);
}
END_TEST

START_TEST(a_long_descriptor_goes_in_pieces)
{
	struct rig_cmd *c = one(0, 5000);

	ck_assert_uint_eq(fake_pending(rig.vol[0])->len, 1u << 20);
	fake_complete(rig.vol[0], 0);
	fake_complete(rig.vol[0], 0);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
	ck_assert(rig_all(0, 0, 5000 * 512, 0));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("unmap");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_test(tc, blocks_are_unmapped_and_read_as_zeros);
	tcase_add_test(tc,
		descriptors_are_done_in_order_and_empty_ones_passed_over);
	tcase_add_test(tc, descriptors_that_follow_each_other_are_one_request);
	tcase_add_test(tc, nothing_to_unmap_is_no_error);
	tcase_add_loop_test(tc, a_list_shorter_than_it_says_is_refused, 0, 4);
	tcase_add_loop_test(tc, a_list_of_which_less_was_sent_is_refused, 0, 3);
	tcase_add_test(tc, lengths_that_disagree_are_refused);
	tcase_add_test(tc, part_of_a_descriptor_is_ignored);
	tcase_add_loop_test(tc, one_bad_descriptor_leaves_all_blocks_alone,
			    0, 5);
	tcase_add_test(tc, more_than_the_limits_say_is_refused);
	tcase_add_test(tc, anchored_blocks_are_zeroed_and_hold_their_space);
	tcase_add_loop_test(tc, anchoring_that_finds_no_space_is_told_so, 0, 2);
	tcase_add_test(tc, anchor_is_refused_where_no_space_is_held);
	tcase_add_loop_test(tc, the_nth_request_that_fails_is_the_last, 1, 4);
	tcase_add_loop_test(tc, it_can_be_aborted_between_its_descriptors,
			    0, 3);
	tcase_add_test(tc, a_long_descriptor_goes_in_pieces);
	return unit_run("unmap", tc);
}
