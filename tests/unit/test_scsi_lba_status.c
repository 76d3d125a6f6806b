/* SPDX-License-Identifier: GPL-2.0-or-later */

/* GET LBA STATUS. */

#include "scsi/scsi.h"

#include <errno.h>
#include <string.h>

#include "lib/be.h"
#include "scsi/scsi_int.h"
#include "tests/lib/rig.h"
#include "tests/lib/unit.h"

static struct rig_cmd *ask(uint64_t lba, uint32_t len)
{
	struct rig_cmd *c = rig_16(rig_new(0, 0), 0x9e, lba, len);

	c->scsi.cdb[1] = 0x12;
	rig_submit(c, len, true);
	return c;
}

/* Unmaps by the fake's own means. */
static void hole(uint64_t lba, uint32_t n)
{
	struct rig_cmd *c = rig_16(rig_new(0, 0), 0x93, lba, n);

	c->scsi.cdb[1] = 0x08;
	rig_submit(c, 512, false);
}

static void desc(const struct rig_cmd *c, unsigned i, uint64_t lba, uint32_t n,
		 unsigned status)
{
	const uint8_t *d = c->in + 8 + 16 * i;

	ck_assert_uint_ge(c->nin, 8 + 16 * (i + 1));
	ck_assert_uint_eq(be64_get(BE_AT(be64, d, 0)), lba);
	ck_assert_uint_eq(be32_get(BE_AT(be32, d, 8)), n);
	ck_assert_uint_eq(d[12], status);
}

static unsigned told(const struct rig_cmd *c)
{
	return (be32_get(BE_AT(be32, c->in, 0)) - 4) / 16;
}

START_TEST(a_full_disk_is_one_mapped_run)
{
	struct rig_cmd *c;

	fake_auto(rig.vol[0], true);
	c = ask(5, 24);
	ck_assert(rig_good(c));
	ck_assert_uint_eq(c->nin, 24);
	desc(c, 0, 5, RIG_BLOCKS - 5, 0);
}
END_TEST

START_TEST(runs_alternate_until_the_end)
{
	struct rig_cmd *c;

	fake_auto(rig.vol[0], true);
	hole(8, 16);
	hole(64, 8);
	c = ask(0, 1024);
	ck_assert(rig_good(c));
	ck_assert_uint_eq(told(c), 5);
	desc(c, 0, 0, 8, 0);
	desc(c, 1, 8, 16, 1);
	desc(c, 2, 24, 40, 0);
	desc(c, 3, 64, 8, 1);
	desc(c, 4, 72, RIG_BLOCKS - 72, 0);
}
END_TEST

START_TEST(an_answer_has_as_many_runs_as_there_is_room_for)
{
	struct rig_cmd *c;

	fake_auto(rig.vol[0], true);
	hole(8, 8);
	c = ask(10, 24);
	ck_assert_uint_eq(told(c), 1);
	desc(c, 0, 10, 6, 1);
	c = ask(0, 40);
	ck_assert_uint_eq(told(c), 2);
	ck_assert_uint_eq(c->nin, 40);
}
END_TEST

START_TEST(a_short_answer_still_says_how_long_it_is)
{
	struct rig_cmd *c;

	fake_auto(rig.vol[0], true);
	c = ask(0, 8);
	ck_assert(rig_good(c));
	ck_assert_uint_eq(c->nin, 8);
	ck_assert_uint_eq(told(c), 1);
	ck_assert(rig_good(ask(0, 0)));
}
END_TEST

START_TEST(runs_that_are_alike_are_merged)
{
	struct rig_cmd *c = ask(0, 1024);
	struct breq *b = &c->scsi.breq;

	/* a volume that tells its extents in parts */
	fake_end_extent(b, true, 4096);
	fake_end_extent(b, true, 4096);
	fake_end_extent(b, false, 8192);
	fake_end_extent(b, true, (RIG_BLOCKS - 32) * 512);
	ck_assert(rig_good(c));
	ck_assert_uint_eq(told(c), 3);
	desc(c, 0, 0, 16, 0);
	desc(c, 1, 16, 16, 1);
	desc(c, 2, 32, RIG_BLOCKS - 32, 0);
}
END_TEST

START_TEST(anchored_blocks_are_runs_of_their_own)
{
	struct rig_cmd *c = ask(RIG_BLOCKS - 24, 1024);
	struct breq *b = &c->scsi.breq;

	fake_end_extent(b, false, 4096);
	b->anchored = true;
	fake_end_extent(b, false, 4096);
	fake_end_extent(b, true, 4096);
	ck_assert(rig_good(c));
	ck_assert_uint_eq(told(c), 3);
	desc(c, 0, RIG_BLOCKS - 24, 8, 1);
	desc(c, 1, RIG_BLOCKS - 16, 8, 2);
	desc(c, 2, RIG_BLOCKS - 8, 8, 0);
}
END_TEST

START_TEST(a_block_that_is_mapped_in_part_is_mapped)
{
	struct rig_cmd *c = ask(RIG_BLOCKS - 4, 1024);
	struct breq *b = &c->scsi.breq;

	fake_end_extent(b, false, 700);		/* one block and a part */
	fake_end_extent(b, false, 188);		/* the part */
	fake_end_extent(b, true, 100);
	fake_end_extent(b, false, 512);
	ck_assert(rig_good(c));
	ck_assert_uint_eq(told(c), 3);
	desc(c, 0, RIG_BLOCKS - 4, 1, 1);
	desc(c, 1, RIG_BLOCKS - 3, 2, 0);
	desc(c, 2, RIG_BLOCKS - 1, 1, 1);
}
END_TEST

START_TEST(a_thick_unit_is_mapped_without_a_look)
{
	struct rig_cmd *c;

	fake_caps(rig.vol[0])->unmap = METHOD_NONE;
	c = ask(0, 24);
	ck_assert(rig_good(c));
	desc(c, 0, 0, RIG_BLOCKS, 0);
	ck_assert_uint_eq(fake_submitted(rig.vol[0]), 0);
}
END_TEST

START_TEST(blocks_behind_the_end_are_refused)
{
	static const uint64_t lba[] = { RIG_BLOCKS, RIG_BLOCKS + 1, 1ull << 63,
					UINT64_MAX };

	ck_assert(rig_sense(ask(lba[_i], 24), KEY_ILLEGAL_REQUEST, 0x21, 0x00));
}
END_TEST

START_TEST(a_volume_that_fails_is_a_read_error)
{
	struct rig_cmd *c = ask(0, 24);

	fake_complete(rig.vol[0], -EIO);
	ck_assert(rig_sense(c, KEY_MEDIUM_ERROR, 0x11, 0x00));
}
END_TEST

START_TEST(it_can_be_aborted_between_its_questions)
{
	struct rig_cmd *c = ask(0, 1024);

	fake_end_extent(&c->scsi.breq, true, 4096);
	rig_abort(c);
	ck_assert_uint_eq(c->done, 0);
	fake_end_extent(&c->scsi.breq, false, 4096);
	ck_assert_uint_eq(c->done, 1);
	ck_assert_uint_eq(c->nin, 0);
}
END_TEST

START_TEST(questions_and_runs_are_bounded)
{
	struct rig_cmd *c = ask(0, 65536);
	unsigned i, n;

	for (i = 0; !c->done; i++)
		fake_end_extent(&c->scsi.breq, i & 1, 512);
	ck_assert_uint_eq(told(c), 64);
	c = ask(0, 65536);
	for (n = 0; !c->done; n++)
		fake_end_extent(&c->scsi.breq, true, 512);
	ck_assert_uint_le(n, 256);
	ck_assert_uint_eq(told(c), 1);
	desc(c, 0, 0, n, 0);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("lba status");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_test(tc, a_full_disk_is_one_mapped_run);
	tcase_add_test(tc, runs_alternate_until_the_end);
	tcase_add_test(tc, an_answer_has_as_many_runs_as_there_is_room_for);
	tcase_add_test(tc, a_short_answer_still_says_how_long_it_is);
	tcase_add_test(tc, runs_that_are_alike_are_merged);
	tcase_add_test(tc, anchored_blocks_are_runs_of_their_own);
	tcase_add_test(tc, a_block_that_is_mapped_in_part_is_mapped);
	tcase_add_test(tc, a_thick_unit_is_mapped_without_a_look);
	tcase_add_loop_test(tc, blocks_behind_the_end_are_refused, 0, 4);
	tcase_add_test(tc, a_volume_that_fails_is_a_read_error);
	tcase_add_test(tc, it_can_be_aborted_between_its_questions);
	tcase_add_test(tc, questions_and_runs_are_bounded);
	return unit_run("lba status", tc);
}
