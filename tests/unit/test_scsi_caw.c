/* SPDX-License-Identifier: GPL-2.0-or-later */

/* COMPARE AND WRITE, alone and against everybody else. */

#include "scsi/scsi.h"

#include <errno.h>
#include <string.h>

#include "lib/buf.h"
#include "scsi/range.h"
#include "scsi/scsi_int.h"
#include "tests/lib/rig.h"
#include "tests/lib/unit.h"

static bool nothing_held(void)
{
	return range_set_empty(rig.lu[0]->ranges) &&
	       !bufpool_used(engine_bufs(rig.host.worker[0]));
}

static uint64_t counter(enum lu_counter c)
{
	struct lu_stats s;

	lu_get_stats(rig.lu[0], &s);
	return s.counter[c];
}

static void end(struct rig_cmd *c, int err)
{
	fake_complete_breq(&c->scsi.breq, err);
}

START_TEST(a_match_writes_the_second_half)
{
	struct rig_cmd *c = rig_caw(0, 4, 2, 0xee);

	ck_assert_int_eq(fake_pending(rig.vol[0])->op, BREQ_READ);
	ck_assert_uint_eq(fake_pending(rig.vol[0])->flags, BREQ_URGENT);
	end(c, 0);
	ck_assert_int_eq(fake_pending(rig.vol[0])->op, BREQ_WRITE);
	ck_assert_uint_eq(fake_pending(rig.vol[0])->flags, BREQ_URGENT);
	end(c, 0);
	ck_assert(rig_good(c));
	ck_assert(rig_all(0, 4 * 512, 1024, 0xee));
	ck_assert(rig_untouched(0, 0, 4 * 512));
	ck_assert(rig_untouched(0, 6 * 512, 512));
	ck_assert_uint_eq(counter(LU_ATS), 1);
	ck_assert_uint_eq(counter(LU_ATS_BYTES), 1024);
	ck_assert_uint_eq(counter(LU_ATS_MISCOMPARES), 0);
}
END_TEST

START_TEST(a_miscompare_tells_the_first_byte_and_writes_nothing)
{
	static const uint16_t at[] = { 0, 1, 27, 63, 64, 65, 511, 512, 1023 };
	struct rig_cmd *c = rig_16(rig_new(0, 0), 0x89, 4, 0);

	memcpy(c->out, fake_data(rig.vol[0]) + 4 * 512, 1024);
	c->out[at[_i]] ^= 0x01;
	c->out[1023] ^= 0x01;
	if (at[_i] == 1023)
		c->out[1023] ^= 0x03;
	c->scsi.cdb[13] = 2;
	rig_submit(c, 2048, false);
	end(c, 0);
	ck_assert(rig_sense(c, KEY_MISCOMPARE, 0x1d, 0x00));
	ck_assert_uint_eq(c->scsi.sense[0], 0xf0);
	ck_assert_uint_eq(c->scsi.sense[5] << 8 | c->scsi.sense[6], at[_i]);
	ck_assert_ptr_null(fake_pending(rig.vol[0]));
	ck_assert(rig_untouched(0, 0, RIG_BLOCKS * 512));
	ck_assert_uint_eq(counter(LU_ATS_MISCOMPARES), 1);
	ck_assert_uint_eq(counter(LU_ERRORS), 0);
}
END_TEST

START_TEST(zero_blocks_are_no_error)
{
	struct rig_cmd *c = rig_16(rig_new(0, 0), 0x89, 4, 0);

	rig_submit(c, 0, false);
	ck_assert(rig_good(c));
	ck_assert_uint_eq(fake_submitted(rig.vol[0]), 0);
}
END_TEST

START_TEST(the_last_block_can_be_compared)
{
	struct rig_cmd *c = rig_caw(0, RIG_BLOCKS - 1, 1, 0xee);

	end(c, 0);
	end(c, 0);
	ck_assert(rig_good(c));
}
END_TEST

START_TEST(two_hundred_and_fifty_five_blocks_are_one_act)
{
	struct rig_cmd *c = rig_caw(0, 0, 255, 0xee);

	end(c, 0);
	end(c, 0);
	ck_assert(rig_good(c));
	ck_assert(rig_all(0, 0, 255 * 512, 0xee));
}
END_TEST

START_TEST(data_of_the_wrong_length_are_refused)
{
	static const uint32_t edtl[] = { 0, 512, 1023, 1025, 2048 };
	struct rig_cmd *c = rig_16(rig_new(0, 0), 0x89, 4, 0);

	c->scsi.cdb[13] = 1;
	rig_submit(c, edtl[_i], false);
	ck_assert_uint_eq(c->scsi.status, STATUS_CHECK_CONDITION);
	ck_assert_uint_eq(c->scsi.sense[2], KEY_ILLEGAL_REQUEST);
	ck_assert_uint_eq(fake_submitted(rig.vol[0]), 0);
}
END_TEST

START_TEST(more_blocks_than_the_limit_are_refused)
{
	struct rig_cmd *c = rig_16(rig_new(0, 0), 0x89, 0, 0);

	rig.lu[0]->limits.max_caw = 8;
	c->scsi.cdb[13] = 9;
	rig_submit(c, 9 * 1024, false);
	ck_assert(rig_sense(c, KEY_ILLEGAL_REQUEST, 0x24, 0x00));
}
END_TEST

START_TEST(fua_is_passed_to_the_write)
{
	struct rig_cmd *c = rig_16(rig_new(0, 0), 0x89, 0, 0);

	memcpy(c->out, fake_data(rig.vol[0]), 512);
	c->scsi.cdb[1] = 0x08;
	c->scsi.cdb[13] = 1;
	rig_submit(c, 1024, false);
	end(c, 0);
	ck_assert_uint_eq(fake_pending(rig.vol[0])->flags,
			  BREQ_URGENT | BREQ_FUA);
	end(c, 0);
	ck_assert(rig_good(c));
}
END_TEST

START_TEST(of_two_on_one_block_the_second_sees_what_the_first_wrote)
{
	struct rig_cmd *a = rig_caw(0, 4, 1, 0xaa), *b = rig_caw(1, 4, 1, 0xbb);

	ck_assert_uint_eq(fake_npending(rig.vol[0]), 1);
	end(a, 0);
	ck_assert_uint_eq(fake_npending(rig.vol[0]), 1);
	end(a, 0);
	ck_assert(rig_good(a));
	end(b, 0);
	ck_assert(rig_sense(b, KEY_MISCOMPARE, 0x1d, 0x00));
	ck_assert(rig_all(0, 4 * 512, 512, 0xaa));
}
END_TEST

START_TEST(two_on_different_blocks_run_side_by_side)
{
	struct rig_cmd *a = rig_caw(0, 4, 1, 0xaa), *b = rig_caw(1, 5, 1, 0xbb);

	ck_assert_uint_eq(fake_npending(rig.vol[0]), 2);
	end(b, 0);
	end(a, 0);
	end(b, 0);
	end(a, 0);
	ck_assert(rig_good(a) && rig_good(b));
}
END_TEST

START_TEST(a_write_does_not_come_between_the_halves)
{
	struct rig_cmd *c = rig_caw(0, 4, 1, 0xaa), *w = rig_write(1, 3, 3, 1);

	end(c, 0);
	ck_assert_uint_eq(fake_npending(rig.vol[0]), 1);
	end(c, 0);
	end(w, 0);
	ck_assert(rig_good(c) && rig_good(w));
	ck_assert(rig_all(0, 3 * 512, 3 * 512, 1));
}
END_TEST

START_TEST(it_waits_for_a_write_under_way_and_sees_its_data)
{
	struct rig_cmd *w = rig_write(1, 4, 1, 1), *c = rig_caw(0, 4, 1, 0xaa);

	ck_assert_uint_eq(fake_npending(rig.vol[0]), 1);
	end(w, 0);
	end(c, 0);
	ck_assert(rig_sense(c, KEY_MISCOMPARE, 0x1d, 0x00));
	ck_assert(rig_all(0, 4 * 512, 512, 1));
}
END_TEST

START_TEST(an_unmap_does_not_come_between_the_halves)
{
	struct rig_cmd *c = rig_caw(0, 4, 1, 0xaa);
	struct rig_cmd *u = rig_10(rig_new(1, 0), 0x42, 0, 24);

	u->out[1] = 22;
	u->out[3] = 16;
	u->out[8 + 11] = 64;
	rig_submit(u, 24, false);
	ck_assert_uint_eq(fake_npending(rig.vol[0]), 1);
	end(c, 0);
	end(c, 0);
	ck_assert(rig_good(c));
	ck_assert_int_eq(fake_pending(rig.vol[0])->op, BREQ_UNMAP);
	end(u, 0);
	ck_assert(rig_good(u));
	ck_assert(rig_all(0, 0, 64 * 512, 0));
}
END_TEST

START_TEST(a_write_that_came_later_does_not_overtake_it)
{
	struct rig_cmd *a = rig_write(1, 4, 1, 1), *c = rig_caw(0, 4, 1, 0xaa),
		       *b = rig_write(1, 4, 1, 2);

	ck_assert_uint_eq(fake_npending(rig.vol[0]), 1);
	end(a, 0);
	ck_assert_ptr_eq(fake_pending(rig.vol[0]), &c->scsi.breq);
	end(c, 0);
	end(b, 0);
	ck_assert(rig_sense(c, KEY_MISCOMPARE, 0x1d, 0x00));
	ck_assert(rig_good(b));
}
END_TEST

START_TEST(its_range_goes_back_before_the_wait_for_stable_storage)
{
	struct rig_cmd *a = rig_caw(0, 4, 1, 0xaa), *b;

	end(a, 0);
	fake_written(rig.vol[0]);
	ck_assert_uint_eq(a->done, 0);
	ck_assert(range_set_empty(rig.lu[0]->ranges));
	b = rig_caw(1, 4, 1, 0xbb);
	end(b, 0);
	end(b, 0);
	ck_assert(rig_good(b));
	end(a, 0);
	ck_assert(rig_good(a));
	ck_assert(rig_all(0, 4 * 512, 512, 0xbb));
}
END_TEST

START_TEST(a_request_that_fails_ends_it_with_nothing_held)
{
	struct rig_cmd *c = rig_caw(0, 4, 1, 0xaa);

	if (_i)
		end(c, 0);
	end(c, -EIO);
	ck_assert(rig_sense(c, KEY_MEDIUM_ERROR, _i ? 0x0c : 0x11, 0x00));
	ck_assert(nothing_held());
	ck_assert(rig_untouched(0, 0, 8192));
	ck_assert(!range_seq_changed(rig.lu[0]->ranges,
				     range_seq(rig.lu[0]->ranges)));
}
END_TEST

START_TEST(a_failed_flush_after_the_write_is_an_error)
{
	struct rig_cmd *c = rig_caw(0, 4, 1, 0xaa);

	end(c, 0);
	fake_written(rig.vol[0]);
	end(c, -EIO);
	ck_assert(rig_sense(c, KEY_MEDIUM_ERROR, 0x0c, 0x00));
	ck_assert(nothing_held());
}
END_TEST

START_TEST(aborted_while_it_waits_it_never_starts)
{
	struct rig_cmd *a = rig_caw(1, 4, 1, 0xaa), *c = rig_caw(0, 4, 1, 0xbb);

	rig_abort(c);
	ck_assert_uint_eq(c->done, 1);
	end(a, 0);
	end(a, 0);
	ck_assert(rig_good(a));
	ck_assert(nothing_held());
	ck_assert(rig_all(0, 4 * 512, 512, 0xaa));
}
END_TEST

START_TEST(aborted_between_compare_and_write_it_writes_nothing)
{
	struct rig_cmd *c = rig_caw(0, 4, 1, 0xbb);

	rig_abort(c);
	ck_assert_uint_eq(c->done, 0);
	end(c, 0);
	ck_assert_uint_eq(c->done, 1);
	ck_assert_uint_eq(fake_submitted(rig.vol[0]), 1);
	ck_assert(rig_untouched(0, 0, 8192));
	ck_assert(nothing_held());
}
END_TEST

START_TEST(aborted_during_its_write_it_is_over_when_that_is)
{
	struct rig_cmd *c = rig_caw(0, 4, 1, 0xbb);

	end(c, 0);
	rig_abort(c);
	ck_assert_uint_eq(c->done, 0);
	end(c, 0);
	ck_assert_uint_eq(c->done, 1);
	ck_assert(rig_all(0, 4 * 512, 512, 0xbb));
	ck_assert(nothing_held());
}
END_TEST

START_TEST(granted_and_aborted_at_once_it_gives_its_range_back)
{
	struct rig_cmd *a = rig_caw(1, 4, 1, 0xaa), *c = rig_caw(0, 4, 1, 0xbb);

	end(a, 0);
	/* a's end grants the range; the abort comes before c heard of it */
	scsi_abort(&c->scsi);
	end(a, 0);
	ck_assert_uint_eq(c->done, 1);
	ck_assert(nothing_held());
}
END_TEST

START_TEST(without_a_buffer_it_is_busy)
{
	struct bufpool *p = engine_bufs(rig.host.worker[0]);
	void *all[16];
	unsigned n = 0;
	struct rig_cmd *c;

	while (n < 16 && (all[n] = buf_get(p, BUF_MAX, BUF_RESERVED)))
		n++;
	c = rig_caw(0, 4, 1, 0xbb);
	ck_assert_uint_eq(c->scsi.status, STATUS_BUSY);
	while (n)
		buf_put(p, all[--n], BUF_MAX);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_test(tc, a_match_writes_the_second_half);
	tcase_add_loop_test(tc,
		a_miscompare_tells_the_first_byte_and_writes_nothing,
		0, 9);
	tcase_add_test(tc, zero_blocks_are_no_error);
	tcase_add_test(tc, the_last_block_can_be_compared);
	tcase_add_test(tc, two_hundred_and_fifty_five_blocks_are_one_act);
	tcase_add_loop_test(tc, data_of_the_wrong_length_are_refused, 0, 5);
	tcase_add_test(tc, more_blocks_than_the_limit_are_refused);
	tcase_add_test(tc, fua_is_passed_to_the_write);
	tcase_add_test(tc,
		of_two_on_one_block_the_second_sees_what_the_first_wrote);
	tcase_add_test(tc, two_on_different_blocks_run_side_by_side);
	tcase_add_test(tc, a_write_does_not_come_between_the_halves);
	tcase_add_test(tc, it_waits_for_a_write_under_way_and_sees_its_data);
	tcase_add_test(tc, an_unmap_does_not_come_between_the_halves);
	tcase_add_test(tc, a_write_that_came_later_does_not_overtake_it);
}

int main(void)
{
	TCase *tc = tcase_create("caw");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	add(tc);
	tcase_add_test(tc,
		its_range_goes_back_before_the_wait_for_stable_storage);
	tcase_add_loop_test(tc,
		a_request_that_fails_ends_it_with_nothing_held, 0, 2);
	tcase_add_test(tc, a_failed_flush_after_the_write_is_an_error);
	tcase_add_test(tc, aborted_while_it_waits_it_never_starts);
	tcase_add_test(tc, aborted_between_compare_and_write_it_writes_nothing);
	tcase_add_test(tc, aborted_during_its_write_it_is_over_when_that_is);
	tcase_add_test(tc, granted_and_aborted_at_once_it_gives_its_range_back);
	tcase_add_test(tc, without_a_buffer_it_is_busy);
	return unit_run("caw", tc);
}
