/* SPDX-License-Identifier: GPL-2.0-or-later */

/* READ and WRITE. */

#include "scsi/scsi.h"

#include <errno.h>
#include <string.h>

#include "scsi/range.h"
#include "scsi/scsi_int.h"
#include "tests/lib/rig.h"
#include "tests/lib/unit.h"

#define MIB_BLOCKS 2048u

static bool read_back(const struct rig_cmd *c, uint64_t lba)
{
	uint32_t i;

	for (i = 0; i < c->nin; i++)
		if (c->in[i] != rig_byte(lba * 512 + i))
			return false;
	return true;
}

START_TEST(a_read_is_one_request_and_one_answer)
{
	struct rig_cmd *c = rig_read(0, 5, 8);

	ck_assert_uint_eq(fake_npending(rig.vol[0]), 1);
	ck_assert_uint_eq(fake_pending(rig.vol[0])->off, 5 * 512);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
	ck_assert_uint_eq(c->nin, 8 * 512);
	ck_assert_uint_eq(c->scsi.wanted, 8 * 512);
	ck_assert(read_back(c, 5));
}
END_TEST

START_TEST(a_read_gives_no_more_than_the_initiator_expects)
{
	struct rig_cmd *c = rig_16(rig_new(0, 0), 0x88, 0, 2);

	rig_submit(c, 700, true);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
	ck_assert_uint_eq(c->nin, 700);
	ck_assert_uint_eq(c->scsi.wanted, 1024);
	ck_assert(read_back(c, 0));
}
END_TEST

START_TEST(a_read_of_which_nothing_is_expected_touches_no_medium)
{
	struct rig_cmd *c = rig_16(rig_new(0, 0), 0x88, 0, 1);

	rig_submit(c, 0, true);
	ck_assert(rig_good(c));
	ck_assert_uint_eq(c->scsi.wanted, 512);
	ck_assert_uint_eq(fake_submitted(rig.vol[0]), 0);
}
END_TEST

START_TEST(a_long_read_goes_in_pieces_with_its_range_held)
{
	struct rig_cmd *c = rig_16(rig_new(0, 0), 0x88, 1, 2 * MIB_BLOCKS + 3);
	struct rig_cmd *caw;

	c->hold = true;
	rig_submit(c, (2 * MIB_BLOCKS + 3) * 512, true);
	fake_complete(rig.vol[0], 0);
	ck_assert(c->waits);
	ck_assert_uint_eq(c->nin, 1u << 20);
	caw = rig_caw(1, 2 * MIB_BLOCKS, 1, 0xee);
	ck_assert_ptr_null(fake_pending(rig.vol[0]));
	rig_move(c);
	fake_complete(rig.vol[0], 0);
	rig_move(c);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
	ck_assert_uint_eq(c->nin, (2 * MIB_BLOCKS + 3) * 512);
	ck_assert(read_back(c, 1));
	fake_complete(rig.vol[0], 0);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(caw));
}
END_TEST

START_TEST(a_read_is_repeated_when_a_compare_and_write_came_between)
{
	struct rig_cmd *caw = rig_caw(1, 4, 1, 0xee), *c;

	fake_complete(rig.vol[0], 0);		/* caw has compared */
	c = rig_read(0, 100, 1);		/* waits for nobody */
	ck_assert_uint_eq(fake_npending(rig.vol[0]), 2);
	fake_complete(rig.vol[0], 0);		/* caw has written */
	ck_assert(rig_good(caw));
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));			/* it held its range */

	c = rig_read(0, 4, 1);
	caw = rig_caw(1, 8, 1, 0xee);
	fake_complete_breq(fake_pending(rig.vol[0])->op == BREQ_READ &&
			   fake_pending(rig.vol[0])->off == 8 * 512 ?
			   fake_pending(rig.vol[0]) : &caw->scsi.breq, 0);
	fake_complete_breq(&caw->scsi.breq, 0);
	ck_assert(rig_good(caw));
	fake_complete(rig.vol[0], 0);		/* the read, outdated */
	ck_assert_uint_eq(c->done, 0);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
}
END_TEST

START_TEST(a_read_beside_the_write_half_waits_for_it)
{
	struct rig_cmd *caw = rig_caw(1, 4, 1, 0xee), *c;

	fake_complete(rig.vol[0], 0);
	c = rig_read(0, 4, 1);
	ck_assert_uint_eq(fake_npending(rig.vol[0]), 1);
	fake_complete(rig.vol[0], 0);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(caw) && rig_good(c));
	ck_assert_uint_eq(c->in[0], 0xee);
}
END_TEST

START_TEST(a_read_that_fails_says_so_and_sends_nothing)
{
	struct rig_cmd *c = rig_read(0, 0, 1);

	fake_complete(rig.vol[0], -EIO);
	ck_assert(rig_sense(c, KEY_MEDIUM_ERROR, 0x11, 0x00));
	ck_assert_uint_eq(c->nin, 0);
}
END_TEST

START_TEST(an_aborted_read_ends_when_its_request_does)
{
	struct rig_cmd *c = rig_read(0, 0, 1);

	rig_abort(c);
	ck_assert_uint_eq(c->done, 0);
	fake_complete(rig.vol[0], 0);
	ck_assert_uint_eq(c->done, 1);
	ck_assert_uint_eq(c->nin, 0);
}
END_TEST

START_TEST(a_read_aborted_while_it_sends_gives_its_range_back)
{
	struct rig_cmd *c = rig_16(rig_new(0, 0), 0x88, 0, 2 * MIB_BLOCKS);

	c->hold = true;
	rig_submit(c, 2u << 20, true);
	fake_complete(rig.vol[0], 0);
	rig_abort(c);
	ck_assert_uint_eq(c->done, 1);
	ck_assert(range_set_empty(rig.lu[0]->ranges));
}
END_TEST

START_TEST(a_write_reaches_the_medium)
{
	struct rig_cmd *c = rig_write(0, 3, 2, 0xaa);

	ck_assert(!(fake_pending(rig.vol[0])->flags & BREQ_FUA));
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
	ck_assert(rig_all(0, 3 * 512, 1024, 0xaa));
	ck_assert(rig_untouched(0, 0, 3 * 512));
	ck_assert(rig_untouched(0, 5 * 512, 512));
	ck_assert_uint_eq(c->scsi.moved, 1024);
}
END_TEST

START_TEST(fua_of_a_write_is_passed_on)
{
	struct rig_cmd *c = rig_10(rig_new(0, 0), 0x2a, 0, 1);

	c->scsi.cdb[1] = 0x08;
	rig_submit(c, 512, false);
	ck_assert(fake_pending(rig.vol[0])->flags & BREQ_FUA);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
}
END_TEST

START_TEST(fua_of_a_read_flushes_a_write_back_volume_first)
{
	struct rig_cmd *c = rig_10(rig_new(0, 0), 0x28, 0, 1);

	volume_set_write_back(rig.vol[0], true, NULL, NULL);
	c->scsi.cdb[1] = 0x08;
	rig_submit(c, 512, true);
	ck_assert_int_eq(fake_pending(rig.vol[0])->op, BREQ_FLUSH);
	fake_complete(rig.vol[0], 0);
	ck_assert_int_eq(fake_pending(rig.vol[0])->op, BREQ_READ);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
}
END_TEST

START_TEST(a_write_takes_only_the_blocks_that_the_initiator_sends)
{
	struct rig_cmd *c = rig_16(rig_new(0, 0), 0x8a, 0, 2);

	memset(c->out, 0xbb, 1024);
	rig_submit(c, 512, false);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
	ck_assert(rig_all(0, 0, 512, 0xbb));
	ck_assert(rig_untouched(0, 512, 512));
	ck_assert_uint_eq(c->scsi.wanted, 1024);
}
END_TEST

START_TEST(a_write_takes_only_the_blocks_that_the_cdb_names)
{
	struct rig_cmd *c = rig_16(rig_new(0, 0), 0x8a, 0, 1);

	memset(c->out, 0xbb, 1024);
	rig_submit(c, 1024, false);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
	ck_assert(rig_untouched(0, 512, 512));
}
END_TEST

START_TEST(data_that_end_inside_a_block_are_not_written)
{
	struct rig_cmd *c = rig_16(rig_new(0, 0), 0x8a, 0, 1);

	rig_submit(c, 200, false);
	ck_assert(rig_sense(c, KEY_ILLEGAL_REQUEST, 0x0e, 0x03));
	ck_assert_uint_eq(fake_submitted(rig.vol[0]), 0);
	ck_assert_uint_eq(c->scsi.wanted, 512);
}
END_TEST

START_TEST(a_long_write_goes_in_pieces)
{
	struct rig_cmd *c = rig_write(0, 0, 2 * MIB_BLOCKS + 1, 0xcd);

	fake_complete(rig.vol[0], 0);
	fake_complete(rig.vol[0], 0);
	ck_assert_uint_eq(c->done, 0);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
	ck_assert(rig_all(0, 0, (2 * MIB_BLOCKS + 1) * 512, 0xcd));
}
END_TEST

START_TEST(pieces_of_a_write_say_that_they_are_parts)
{
	const struct breq *b;

	rig_write(0, 0, 2 * MIB_BLOCKS + 1, 0xcd);
	b = fake_pending(rig.vol[0]);
	ck_assert_uint_eq(b->flags, BREQ_PART);
	fake_complete(rig.vol[0], 0);
	b = fake_pending(rig.vol[0]);
	ck_assert_uint_eq(b->flags, BREQ_REST | BREQ_PART);
	fake_complete(rig.vol[0], 0);
	b = fake_pending(rig.vol[0]);
	ck_assert_uint_eq(b->flags, BREQ_REST);
	fake_complete(rig.vol[0], 0);
}
END_TEST

START_TEST(a_long_write_stops_at_its_first_error)
{
	struct rig_cmd *c;

	fake_fail(rig.vol[0], 2, -EIO);
	c = rig_write(0, 0, 3 * MIB_BLOCKS, 0xcd);
	fake_complete(rig.vol[0], 0);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_sense(c, KEY_MEDIUM_ERROR, 0x0c, 0x00));
	ck_assert_uint_eq(fake_submitted(rig.vol[0]), 2);
}
END_TEST

START_TEST(out_of_space_is_data_protect)
{
	struct rig_cmd *c = rig_write(0, 0, 1, 0);

	fake_complete(rig.vol[0], -ENOSPC);
	ck_assert(rig_sense(c, KEY_DATA_PROTECT, 0x27, 0x07));
}
END_TEST

START_TEST(a_write_gives_its_range_back_before_it_is_stable)
{
	struct rig_cmd *c = rig_write(0, 4, 1, 0xaa), *caw;

	fake_written(rig.vol[0]);
	ck_assert(range_set_empty(rig.lu[0]->ranges));
	ck_assert_uint_eq(c->done, 0);
	caw = rig_caw(1, 4, 1, 0xbb);
	fake_complete_breq(&caw->scsi.breq, 0);
	fake_complete_breq(&caw->scsi.breq, 0);
	ck_assert(rig_good(caw));
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
	ck_assert(rig_all(0, 4 * 512, 512, 0xbb));
}
END_TEST

START_TEST(a_write_whose_data_are_late_keeps_nobody_waiting)
{
	struct rig_cmd *c = rig_16(rig_new(0, 0), 0x8a, 0, 8), *caw;

	c->hold = true;
	rig_submit(c, 8 * 512, false);
	caw = rig_caw(1, 0, 1, 0xbb);
	fake_complete(rig.vol[0], 0);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(caw));
	rig_move(c);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
}
END_TEST

START_TEST(a_write_aborted_while_it_waits_for_data_writes_nothing)
{
	struct rig_cmd *c = rig_16(rig_new(0, 0), 0x8a, 0, 8);

	c->hold = true;
	rig_submit(c, 8 * 512, false);
	rig_abort(c);
	ck_assert_uint_eq(c->done, 1);
	ck_assert_uint_eq(fake_submitted(rig.vol[0]), 0);
}
END_TEST

START_TEST(a_write_aborted_while_it_waits_for_its_range_writes_nothing)
{
	struct rig_cmd *caw = rig_caw(1, 0, 1, 0xbb);
	struct rig_cmd *c = rig_write(0, 0, 2, 1);

	rig_abort(c);
	ck_assert_uint_eq(c->done, 1);
	fake_complete(rig.vol[0], 0);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(caw));
	ck_assert(rig_untouched(0, 512, 512));
}
END_TEST

START_TEST(an_aborted_write_is_not_over_before_its_request_is)
{
	struct rig_cmd *c = rig_write(0, 0, 1, 1);

	rig_abort(c);
	ck_assert_uint_eq(c->done, 0);
	fake_complete(rig.vol[0], 0);
	ck_assert_uint_eq(c->done, 1);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("rw");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_test(tc, a_read_is_one_request_and_one_answer);
	tcase_add_test(tc, a_read_gives_no_more_than_the_initiator_expects);
	tcase_add_test(tc,
		a_read_of_which_nothing_is_expected_touches_no_medium);
	tcase_add_test(tc, a_long_read_goes_in_pieces_with_its_range_held);
	tcase_add_test(tc,
		a_read_is_repeated_when_a_compare_and_write_came_between);
	tcase_add_test(tc, a_read_beside_the_write_half_waits_for_it);
	tcase_add_test(tc, a_read_that_fails_says_so_and_sends_nothing);
	tcase_add_test(tc, an_aborted_read_ends_when_its_request_does);
	tcase_add_test(tc, a_read_aborted_while_it_sends_gives_its_range_back);
	tcase_add_test(tc, a_write_reaches_the_medium);
	tcase_add_test(tc, fua_of_a_write_is_passed_on);
	tcase_add_test(tc, fua_of_a_read_flushes_a_write_back_volume_first);
	tcase_add_test(tc,
		a_write_takes_only_the_blocks_that_the_initiator_sends);
	tcase_add_test(tc, a_write_takes_only_the_blocks_that_the_cdb_names);
	tcase_add_test(tc, data_that_end_inside_a_block_are_not_written);
	tcase_add_test(tc, a_long_write_goes_in_pieces);
	tcase_add_test(tc, pieces_of_a_write_say_that_they_are_parts);
	tcase_add_test(tc, a_long_write_stops_at_its_first_error);
	tcase_add_test(tc, out_of_space_is_data_protect);
	tcase_add_test(tc, a_write_gives_its_range_back_before_it_is_stable);
	tcase_add_test(tc, a_write_whose_data_are_late_keeps_nobody_waiting);
	tcase_add_test(tc,
		a_write_aborted_while_it_waits_for_data_writes_nothing);
	tcase_add_test(tc,
		a_write_aborted_while_it_waits_for_its_range_writes_nothing);
	tcase_add_test(tc, an_aborted_write_is_not_over_before_its_request_is);
	return unit_run("rw", tc);
}
