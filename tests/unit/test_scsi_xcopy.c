/* SPDX-License-Identifier: GPL-2.0-or-later */

/* EXTENDED COPY(LID1): what it copies, and what stops it. */

#include "scsi/scsi.h"

#include <errno.h>
#include <string.h>

#include "scsi/range.h"
#include "scsi/scsi_int.h"
#include "tests/lib/rig.h"
#include "tests/lib/unit.h"
#include "tests/lib/xcopy.h"

/* Are n bytes at off of LUN lun what is at src at first? */
static bool copied(unsigned lun, uint64_t off, uint64_t src, uint64_t n)
{
	uint64_t i;

	for (i = 0; i < n; i++)
		if (fake_data(rig.vol[lun])[off + i] != rig_byte(src + i))
			return false;
	return true;
}

/* A copy of one segment from LUN 0 to LUN dst, submitted to LUN 0. */
static struct rig_cmd *one(unsigned dst, uint64_t from, uint64_t to, uint16_t n)
{
	struct rig_cmd *c = xcopy_new(0, 0);

	xcopy_cscd(c, 0);
	xcopy_cscd(c, dst);
	xcopy_segment_add(c, 0, 1, n, from, to);
	return xcopy_submit(c);
}

START_TEST(a_segment_is_copied_within_a_logical_unit)
{
	struct rig_cmd *c = one(0, 8, 1000, 16);
	struct breq *b = fake_pending(rig.vol[0]);

	ck_assert_int_eq(b->op, BREQ_COPY);
	ck_assert_ptr_eq(b->src, rig.vol[0]);
	ck_assert_uint_eq(b->src_off, 8 * 512);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
	ck_assert(copied(0, 1000 * 512, 8 * 512, 16 * 512));
	ck_assert(rig_untouched(0, 0, 1000 * 512));
	ck_assert(rig_untouched(0, 1016 * 512, 512));
	ck_assert(rig_idle());
}
END_TEST

START_TEST(a_segment_is_copied_to_another_logical_unit)
{
	struct rig_cmd *c = one(1, 8, 1000, 16);

	ck_assert_uint_eq(fake_npending(rig.vol[0]), 0);
	fake_complete(rig.vol[1], 0);
	ck_assert(rig_good(c));
	ck_assert(copied(1, 1000 * 512, 8 * 512, 16 * 512));
	ck_assert(rig_idle());
}
END_TEST

START_TEST(the_destination_may_receive_the_command)
{
	struct rig_cmd *c = xcopy_new(0, 1);

	xcopy_cscd(c, 0);
	xcopy_cscd(c, 1);
	xcopy_segment_add(c, 0, 1, 1, 5, 6);
	xcopy_submit(c);
	fake_complete(rig.vol[1], 0);
	ck_assert(rig_good(c));
	ck_assert(copied(1, 6 * 512, 5 * 512, 512));
}
END_TEST

START_TEST(one_descriptor_serves_as_source_and_destination)
{
	struct rig_cmd *c = xcopy_new(0, 0);

	xcopy_cscd(c, 0);
	xcopy_segment_add(c, 0, 0, 4, 0, 100);
	xcopy_submit(c);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
	ck_assert(copied(0, 100 * 512, 0, 4 * 512));
}
END_TEST

START_TEST(segments_are_copied_in_order)
{
	struct rig_cmd *c = xcopy_new(0, 0);
	unsigned i;

	xcopy_cscd(c, 0);
	xcopy_cscd(c, 1);
	for (i = 0; i < XCOPY_SEGMENTS; i++)
		xcopy_segment_add(c, 0, 1, (uint16_t)(i != 3), i, 2 * i);
	xcopy_submit(c);
	for (i = 0; i < XCOPY_SEGMENTS; i++) {
		if (i == 3)		/* no blocks, no request */
			continue;
		ck_assert_uint_eq(fake_pending(rig.vol[1])->off, 2 * i * 512);
		fake_complete(rig.vol[1], 0);
	}
	ck_assert(rig_good(c));
	ck_assert(rig_idle());
}
END_TEST

START_TEST(a_segment_with_a_byte_count_is_copied)
{
	struct rig_cmd *c = xcopy_new(0, 0);

	xcopy_cscd(c, 0);
	xcopy_bytes_add(c, 0, 0, 3u << 20, 0, 8192, 512, 1024);
	fake_auto(rig.vol[0], true);
	xcopy_submit(c);
	ck_assert(rig_good(c));
	ck_assert(copied(0, 8192 * 512 + 1024, 512, 3u << 20));
	ck_assert_uint_eq(fake_submitted_op(rig.vol[0], BREQ_COPY), 3);
}
END_TEST

START_TEST(overlapping_ranges_come_out_right_in_both_directions)
{
	static const struct { uint64_t from, to; } t[] = {
		{ 0, 1000 }, { 1000, 0 }, { 0, 2048 }, { 77, 77 }, { 0, 6999 },
	};
	struct rig_cmd *c;

	fake_auto(rig.vol[0], true);
	c = one(0, t[_i].from, t[_i].to, 7000);
	ck_assert(rig_good(c));
	ck_assert(copied(0, t[_i].to * 512, t[_i].from * 512, 7000 * 512));
}
END_TEST

START_TEST(a_piece_holds_its_destination_until_it_is_written)
{
	struct rig_cmd *c = one(0, 0, 8000, 4096);
	struct rig_cmd *caw = rig_caw(1, 8000, 1, 0xee);

	ck_assert_uint_eq(fake_npending(rig.vol[0]), 1);
	fake_written(rig.vol[0]);		/* of the first of two */
	ck_assert_uint_eq(fake_npending(rig.vol[0]), 2);
	fake_complete_breq(&caw->scsi.breq, 0);
	ck_assert(rig_sense(caw, KEY_MISCOMPARE, 0x1d, 0x00));
	fake_complete(rig.vol[0], 0);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
}
END_TEST

START_TEST(a_piece_does_not_read_a_source_half_compared)
{
	struct rig_cmd *caw = rig_caw(1, 4, 1, 0xee), *c;

	fake_complete(rig.vol[0], 0);
	c = one(1, 0, 0, 8);
	ck_assert_uint_eq(fake_npending(rig.vol[1]), 0);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(caw));
	fake_complete(rig.vol[1], 0);
	ck_assert(rig_good(c));
	ck_assert(rig_all(1, 4 * 512, 512, 0xee));
	ck_assert(rig_idle());
}
END_TEST

START_TEST(who_waits_for_one_side_does_not_block_the_other)
{
	struct rig_cmd *w = rig_write(0, 0, 1, 0x11);	/* holds the source */
	struct rig_cmd *caw = rig_caw(1, 0, 1, 0xee);	/* waits for it */
	struct rig_cmd *c = one(0, 0, 64, 8);		/* needs it as well */

	ck_assert_uint_eq(fake_npending(rig.vol[0]), 2);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(w));
	ck_assert_uint_eq(caw->done, 0);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
	fake_complete(rig.vol[0], 0);
	ck_assert_uint_eq(caw->done, 1);
}
END_TEST

START_TEST(it_can_be_aborted_between_its_pieces)
{
	struct rig_cmd *c = one(1, 0, 0, 3 * 2048);
	int i;

	for (i = 0; i < _i; i++)
		fake_complete(rig.vol[1], 0);
	rig_abort(c);
	ck_assert_uint_eq(c->done, 0);
	fake_complete(rig.vol[1], 0);
	ck_assert_uint_eq(c->done, 1);
	ck_assert_uint_eq(fake_submitted(rig.vol[1]), (unsigned)_i + 1);
	ck_assert(rig_idle());
}
END_TEST

START_TEST(aborted_while_it_waits_for_a_side_it_copies_nothing)
{
	struct rig_cmd *caw = rig_caw(1, _i ? 64 : 0, 1, 0xee);
	struct rig_cmd *c = one(0, 0, 64, 8);

	rig_abort(c);
	ck_assert_uint_eq(c->done, 1);
	fake_complete(rig.vol[0], 0);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(caw));
	ck_assert_uint_eq(fake_submitted_op(rig.vol[0], BREQ_COPY), 0);
	ck_assert(rig_idle());
}
END_TEST

START_TEST(a_piece_that_fails_is_copy_aborted_with_its_segment)
{
	struct rig_cmd *c = xcopy_new(0, 0);
	const uint8_t *s = c->scsi.sense;

	xcopy_cscd(c, 0);
	xcopy_cscd(c, 1);
	xcopy_segment_add(c, 0, 1, 1, 0, 0);
	xcopy_segment_add(c, 0, 1, 4096, 0, 0);
	fake_fail(rig.vol[1], 3, -EIO);
	fake_auto(rig.vol[1], true);
	xcopy_submit(c);
	ck_assert(rig_sense(c, KEY_COPY_ABORTED, 0x0d, 0x01));
	ck_assert_uint_eq(s[10] << 8 | s[11], 1);
	ck_assert_uint_eq(s[8], 0);
	ck_assert_uint_ne(s[9], 0);		/* the destination's sense */
	ck_assert_uint_eq(s[s[9] + 2] & 0xf, KEY_MEDIUM_ERROR);
	ck_assert_uint_eq(s[s[9] + 12], 0x0c);
	ck_assert(rig_idle());
}
END_TEST

START_TEST(a_source_that_is_gone_is_the_source_s_failure)
{
	struct rig_cmd *c = one(1, 0, 0, 8);
	const uint8_t *s = c->scsi.sense;

	fake_set_state(rig.vol[0], VOLUME_DEGRADED, -EIO);
	fake_complete(rig.vol[1], -EIO);
	ck_assert(rig_sense(c, KEY_COPY_ABORTED, 0x0d, 0x01));
	ck_assert_uint_ne(s[8], 0);
	ck_assert_uint_eq(s[s[8] + 12], 0x11);
}
END_TEST

START_TEST(out_of_space_is_told_plainly)
{
	struct rig_cmd *c = one(1, 0, 0, 8);

	fake_complete(rig.vol[1], _i ? -EDQUOT : -ENOSPC);
	ck_assert(rig_sense(c, KEY_DATA_PROTECT, 0x27, 0x07));
	ck_assert(rig_idle());
}
END_TEST

START_TEST(blocks_and_commands_are_counted)
{
	struct lu_stats s;

	fake_auto(rig.vol[0], true);
	ck_assert(rig_good(one(0, 0, 8000, 5000)));
	lu_get_stats(rig.lu[0], &s);
	ck_assert_uint_eq(s.counter[LU_CLONE], 1);
	ck_assert_uint_eq(s.counter[LU_CLONE_BYTES], 5000 * 512);
}
END_TEST

START_TEST(a_reservation_of_either_side_conflicts)
{
	struct rig_cmd *c;

	atomic_store(&rig.lu[1]->reserved_by, nexus_id(rig.nexus[1]));
	c = xcopy_new(0, 0);
	xcopy_cscd(c, 0);
	xcopy_cscd(c, 1);
	xcopy_segment_add(c, (unsigned)_i, !_i, 1, 0, 0);
	xcopy_submit(c);
	ck_assert_uint_eq(c->scsi.status, STATUS_RESERVATION_CONFLICT);
	ck_assert(rig_idle());
	atomic_store(&rig.lu[1]->reserved_by, 0);
}
END_TEST

START_TEST(a_destination_that_may_not_be_written_is_refused)
{
	struct rig_cmd *c;

	if (_i == 0)
		rig.found_ro = true;
	if (_i == 1)
		atomic_store(&rig.lu[1]->read_only, true);
	if (_i == 2)
		atomic_store(&rig.lu[1]->swp, true);
	c = one(1, 0, 0, 1);
	ck_assert(rig_sense(c, KEY_DATA_PROTECT, 0x27, _i == 2 ? 2 : 0));
	ck_assert_uint_eq(fake_submitted(rig.vol[1]), 0);
	ck_assert(rig_idle());
}
END_TEST

START_TEST(what_the_initiator_may_not_see_cannot_be_copied)
{
	struct rig_cmd *c;

	rig.hidden = true;
	c = one(1, 0, 0, 1);
	ck_assert(rig_sense(c, KEY_COPY_ABORTED, 0x0d, 0x02));
	ck_assert(rig_idle());
	fake_auto(rig.vol[0], true);
	ck_assert(rig_good(one(0, 0, 8, 1)));	/* its own it sees */
}
END_TEST

START_TEST(a_unit_that_does_not_answer_is_not_reachable)
{
	if (_i)
		atomic_store(&rig.lu[1]->primitive[PRIM_CLONE], false);
	else
		atomic_store(&rig.lu[1]->stopped, true);
	ck_assert(rig_sense(one(1, 0, 0, 1), KEY_COPY_ABORTED, 0x0d, 0x02));
	ck_assert(rig_idle());
}
END_TEST

enum {
	BAD_END, BAD_INDEX, BAD_NULL, BAD_LENGTH, BAD_STOPPED, BAD_LOCKED, BADS,
};

/* A segment that fails, by the rules of the moment, from LUN 0 to LUN 1. */
static void bad_segment(struct rig_cmd *c, int how)
{
	uint64_t to = how == BAD_END ? RIG_BLOCKS : 64;

	if (how == BAD_LENGTH)
		xcopy_bytes_add(c, 0, 1, 100, 0, to, 0, 0);
	else
		xcopy_segment_add(c, 0, how == BAD_INDEX ? 7 : 1, 1, 0, to);
	if (how == BAD_NULL)
		c->out[XCOPY_CSCD_AT(1) + 1] = 0x20;
	if (how == BAD_STOPPED)
		atomic_store(&rig.lu[1]->stopped, true);
	if (how == BAD_LOCKED)
		atomic_store(&rig.lu[1]->read_only, true);
}

START_TEST(segments_before_one_that_fails_are_copied)
{
	struct rig_cmd *c = xcopy_new(0, 0);
	const uint8_t *s = c->scsi.sense;

	fake_auto(rig.vol[0], true);
	xcopy_cscd(c, 0);
	xcopy_cscd(c, 1);
	xcopy_segment_add(c, 0, 0, 4, 8, 1000);
	bad_segment(c, _i);
	xcopy_segment_add(c, 0, 0, 4, 8, 2000);
	xcopy_submit(c);
	ck_assert(copied(0, 1000 * 512, 8 * 512, 4 * 512));
	ck_assert(rig_untouched(0, 2000 * 512, 4 * 512));
	ck_assert_uint_eq(fake_submitted(rig.vol[1]), 0);
	ck_assert_uint_eq(c->scsi.status, STATUS_CHECK_CONDITION);
	if (_i != BAD_LOCKED) {
		ck_assert_uint_eq(s[2] & 0xf, KEY_COPY_ABORTED);
		ck_assert_uint_eq(s[10] << 8 | s[11], 1);
	}
	ck_assert(rig_idle());
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, segments_before_one_that_fails_are_copied,
			    0, BADS);
	tcase_add_test(tc, a_segment_is_copied_within_a_logical_unit);
	tcase_add_test(tc, a_segment_is_copied_to_another_logical_unit);
	tcase_add_test(tc, the_destination_may_receive_the_command);
	tcase_add_test(tc, one_descriptor_serves_as_source_and_destination);
	tcase_add_test(tc, segments_are_copied_in_order);
	tcase_add_test(tc, a_segment_with_a_byte_count_is_copied);
	tcase_add_loop_test(tc,
		overlapping_ranges_come_out_right_in_both_directions, 0, 5);
	tcase_add_test(tc,
		a_piece_holds_its_destination_until_it_is_written);
	tcase_add_test(tc, a_piece_does_not_read_a_source_half_compared);
	tcase_add_test(tc, who_waits_for_one_side_does_not_block_the_other);
	tcase_add_loop_test(tc, it_can_be_aborted_between_its_pieces, 0, 3);
	tcase_add_loop_test(tc,
		aborted_while_it_waits_for_a_side_it_copies_nothing, 0, 2);
}

int main(void)
{
	TCase *tc = tcase_create("xcopy");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	add(tc);
	tcase_add_test(tc, a_piece_that_fails_is_copy_aborted_with_its_segment);
	tcase_add_test(tc, a_source_that_is_gone_is_the_source_s_failure);
	tcase_add_loop_test(tc, out_of_space_is_told_plainly, 0, 2);
	tcase_add_test(tc, blocks_and_commands_are_counted);
	tcase_add_loop_test(tc, a_reservation_of_either_side_conflicts, 0, 2);
	tcase_add_loop_test(tc,
		a_destination_that_may_not_be_written_is_refused, 0, 3);
	tcase_add_test(tc, what_the_initiator_may_not_see_cannot_be_copied);
	tcase_add_loop_test(tc, a_unit_that_does_not_answer_is_not_reachable,
			    0, 2);
	return unit_run("xcopy", tc);
}
