/* SPDX-License-Identifier: GPL-2.0-or-later */

/* ORWRITE: scsi/orwrite.c. */

#include "scsi/scsi.h"

#include <errno.h>
#include <string.h>

#include "scsi/range.h"
#include "scsi/scsi_int.h"
#include "tests/lib/rig.h"
#include "tests/lib/unit.h"

static struct rig_cmd *orwrite(unsigned nexus, uint64_t lba, uint32_t n,
			       int byte)
{
	struct rig_cmd *c = rig_16(rig_new(nexus, 0), 0x8b, lba, n);

	memset(c->out, byte, n * 512);
	rig_submit(c, n * 512, false);
	return c;
}

START_TEST(data_is_merged_into_the_medium)
{
	uint8_t *medium = fake_data(rig.vol[0]);
	uint32_t i;

	fake_auto(rig.vol[0], true);
	ck_assert(rig_good(orwrite(0, 7, 1300, 0x5a)));
	for (i = 7 * 512; i < 1307 * 512; i++)
		ck_assert_uint_eq(medium[i], rig_byte(i) | 0x5a);
	ck_assert(rig_untouched(0, 0, 7 * 512));
	ck_assert(rig_untouched(0, 1307 * 512, 512));
}
END_TEST

START_TEST(zero_blocks_are_no_error)
{
	ck_assert(rig_good(orwrite(0, 7, 0, 0xff)));
	ck_assert(rig_untouched(0, 0, RIG_BLOCKS * 512));
}
END_TEST

START_TEST(what_lies_beyond_the_end_is_refused)
{
	ck_assert(rig_sense(orwrite(0, RIG_BLOCKS - 1, 2, 0xff),
			    KEY_ILLEGAL_REQUEST, 0x21, 0x00));
	ck_assert(rig_untouched(0, 0, RIG_BLOCKS * 512));
}
END_TEST

START_TEST(data_that_ends_inside_a_block_changes_nothing)
{
	struct rig_cmd *c = rig_16(rig_new(0, 0), 0x8b, 7, 2);

	memset(c->out, 0xff, 1024);
	rig_submit(c, 1000, false);
	ck_assert_uint_eq(c->scsi.status, STATUS_CHECK_CONDITION);
	ck_assert(rig_untouched(0, 0, RIG_BLOCKS * 512));
}
END_TEST

START_TEST(a_write_waits_for_it_and_is_not_lost)
{
	struct rig_cmd *or = orwrite(0, 7, 2, 0x0f), *write;

	write = rig_write(0, 8, 1, 0x30);
	ck_assert_uint_eq(fake_npending(rig.vol[0]), 1);
	ck_assert_int_eq(fake_pending(rig.vol[0])->op, BREQ_READ);
	fake_complete(rig.vol[0], 0);
	ck_assert_uint_eq(fake_npending(rig.vol[0]), 1);
	fake_auto(rig.vol[0], true);
	fake_run();
	ck_assert(rig_good(or));
	ck_assert(rig_good(write));
	ck_assert(rig_all(0, 8 * 512, 512, 0x30));
}
END_TEST

START_TEST(two_of_them_both_count)
{
	struct rig_cmd *a, *b;

	memset(fake_data(rig.vol[0]), 0, 4096);
	a = orwrite(0, 0, 8, 0x0f);
	b = orwrite(0, 0, 8, 0xf0);
	fake_auto(rig.vol[0], true);
	fake_run();
	ck_assert(rig_good(a));
	ck_assert(rig_good(b));
	ck_assert(rig_all(0, 0, 4096, 0xff));
}
END_TEST

START_TEST(fua_is_passed_on)
{
	struct rig_cmd *c = rig_16(rig_new(0, 0), 0x8b, 7, 1);

	c->scsi.cdb[1] = 0x08;
	rig_submit(c, 512, false);
	fake_complete(rig.vol[0], 0);
	ck_assert_int_eq(fake_pending(rig.vol[0])->op, BREQ_WRITE);
	ck_assert_uint_eq(fake_pending(rig.vol[0])->flags & BREQ_FUA, BREQ_FUA);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
}
END_TEST

START_TEST(everything_is_given_back_wherever_it_fails)
{
	unsigned i;

	fake_auto(rig.vol[0], true);
	for (i = 1; i <= 4; i++) {
		struct rig_cmd *c;

		fake_fail(rig.vol[0], i, -EIO);
		c = orwrite(0, 0, 1000, 0xff);
		ck_assert_uint_eq(c->done, 1);
		ck_assert_uint_eq(c->scsi.status, STATUS_CHECK_CONDITION);
		ck_assert(range_set_empty(rig.lu[0]->ranges));
	}
}
END_TEST

START_TEST(aborted_between_its_halves_it_has_written_nothing)
{
	struct rig_cmd *c = orwrite(0, 7, 8, 0xff);

	rig_abort(c);
	fake_complete(rig.vol[0], 0);
	ck_assert_uint_eq(c->done, 1);
	ck_assert_uint_eq(fake_npending(rig.vol[0]), 0);
	ck_assert(rig_untouched(0, 0, RIG_BLOCKS * 512));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("orwrite");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_test(tc, data_is_merged_into_the_medium);
	tcase_add_test(tc, zero_blocks_are_no_error);
	tcase_add_test(tc, what_lies_beyond_the_end_is_refused);
	tcase_add_test(tc, data_that_ends_inside_a_block_changes_nothing);
	tcase_add_test(tc, a_write_waits_for_it_and_is_not_lost);
	tcase_add_test(tc, two_of_them_both_count);
	tcase_add_test(tc, fua_is_passed_on);
	tcase_add_test(tc, everything_is_given_back_wherever_it_fails);
	tcase_add_test(tc, aborted_between_its_halves_it_has_written_nothing);
	return unit_run("orwrite", tc);
}
