/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Self-test, echo buffer, timestamp, defect lists. */

#include <errno.h>
#include <string.h>
#include <time.h>

#include "scsi/scsi_int.h"
#include "tests/lib/cdb.h"
#include "tests/lib/unit.h"

#define ECHO		0x0a
#define ECHO_DESCRIPTOR	0x0b

static struct cdb diagnostic(uint8_t how)
{
	return (struct cdb){ { 0x1d, how } };
}

static struct cdb buffer(uint8_t op, uint8_t mode, uint16_t len)
{
	return (struct cdb){ { op, mode, [7] = (uint8_t)(len >> 8),
			       [8] = (uint8_t)len } };
}

START_TEST(the_self_test_reads_the_medium)
{
	static const uint8_t good[] = { 0x04, 5 << 5, 6 << 5 };
	struct rig_cmd *c;
	unsigned i;

	for (i = 0; i < sizeof(good); i++) {
		c = run(0, 0, diagnostic(good[i]));
		ck_assert_uint_eq(c->done, 0);
		ck_assert_int_eq(fake_pending(rig.vol[0])->op, BREQ_READ);
		fake_complete(rig.vol[0], 0);
		ck_assert(rig_good(c));
	}
	c = run(0, 0, diagnostic(0x04));
	fake_complete(rig.vol[0], -EIO);
	ck_assert(rig_sense(c, KEY_HARDWARE_ERROR, 0x3e, 0x03));
}
END_TEST

START_TEST(other_tests_are_refused)
{
	static const uint8_t list[4] = { 0x40 };

	ck_assert(rig_good(run(0, 0, diagnostic(0))));
	ck_assert(rig_sense(run(0, 0, diagnostic(1 << 5)), 0x5, 0x24, 0));
	ck_assert(rig_sense(run(0, 0, diagnostic(4 << 5)), 0x5, 0x24, 0));
	ck_assert(rig_sense(run(0, 0, diagnostic(5 << 5 | 4)), 0x5, 0x24, 0));
	ck_assert(rig_sense(run(0, 0, diagnostic(0x02)), 0x5, 0x24, 0));
	ck_assert(rig_sense(run_out(0, 0, cdb_with(diagnostic(0x10), 4, 4),
				    list, 4), 0x5, 0x24, 0));
}
END_TEST

START_TEST(the_echo_buffer_gives_back_what_its_nexus_wrote)
{
	uint8_t data[300];
	struct rig_cmd *c;
	unsigned i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7);
	ck_assert(rig_sense(run_in(0, 0, buffer(0x3c, ECHO, 300), 300), 0x5,
			    0x2c, 0));
	ck_assert(rig_good(run_out(0, 0, buffer(0x3b, ECHO, 300), data, 300)));
	c = run_in(0, 0, buffer(0x3c, ECHO, 1000), 1000);
	ck_assert_int_eq(c->nin, 300);
	ck_assert_mem_eq(c->in, data, 300);
	ck_assert(rig_sense(run_in(1, 0, buffer(0x3c, ECHO, 300), 300), 0x5,
			    0x2c, 0));
	ck_assert(rig_good(run_out(1, 0, buffer(0x3b, ECHO, 4), data, 4)));
	c = run_in(0, 0, buffer(0x3c, ECHO, 1000), 1000);
	ck_assert_int_eq(c->nin, 300);
}
END_TEST

START_TEST(the_echo_buffer_tells_its_size_and_takes_no_more)
{
	static const uint8_t data[4100];
	struct rig_cmd *c = run_in(0, 0, buffer(0x3c, ECHO_DESCRIPTOR, 4), 4);

	ck_assert_int_eq(c->nin, 4);
	ck_assert_int_eq(in16(c, 2), 4096);
	ck_assert(rig_good(run_out(0, 0, buffer(0x3b, ECHO, 4096), data,
				   4096)));
	ck_assert(rig_sense(run_out(0, 0, buffer(0x3b, ECHO, 4100), data,
				    4100), 0x5, 0x24, 0));
}
END_TEST

START_TEST(other_buffers_are_refused)
{
	static const uint8_t data[8];

	ck_assert(rig_sense(run_out(0, 0, buffer(0x3b, 0x02, 8), data, 8), 0x5,
			    0x24, 0));
	ck_assert(rig_sense(run_out(0, 0, buffer(0x3b, 0x05, 8), data, 8), 0x5,
			    0x24, 0));	/* microcode */
	ck_assert(rig_sense(run_in(0, 0, buffer(0x3c, 0x02, 8), 8), 0x5, 0x24,
			    0));
	ck_assert(rig_sense(run_in(0, 0, cdb_with(buffer(0x3c, ECHO, 8), 2, 1),
				   8), 0x5, 0x24, 0));
}
END_TEST

static uint64_t timestamp(const struct rig_cmd *c)
{
	return (uint64_t)in16(c, 4) << 32 | in32(c, 6);
}

START_TEST(the_timestamp_is_the_clocks_until_a_host_sets_it)
{
	static const struct cdb report = { { 0xa3, 0x0f, [9] = 12 } };
	static const struct cdb set = { { 0xa4, 0x0f, [9] = 12 } };
	static const uint8_t list[12] = { [5] = 1 };	/* 2^32 ms */
	struct rig_cmd *c = run_in(0, 0, report, 12);
	uint64_t now = (uint64_t)time(NULL) * 1000;

	ck_assert_int_eq(in16(c, 0), 10);
	ck_assert_int_eq(c->in[2], 3);
	ck_assert_uint_ge(timestamp(c) + 5000, now);
	ck_assert_uint_le(timestamp(c), now + 5000);
	ck_assert(rig_good(run_out(0, 0, set, list, 12)));
	ck_assert(rig_sense(run(1, 0, cdb_tur()), 0x6, 0x2a, 0x10));
	c = run_in(0, 0, report, 12);
	ck_assert_int_eq(c->in[2], 2);
	ck_assert_uint_ge(timestamp(c), 1ull << 32);
	ck_assert_uint_lt(timestamp(c), (1ull << 32) + 60000);
	ck_assert(rig_sense(run_out(0, 0, cdb_with(set, 9, 11), list, 11), 0x5,
			    0x1a, 0));
}
END_TEST

START_TEST(the_defect_lists_are_empty)
{
	static const struct cdb ten = { { 0x37, 0, 0x1d, [8] = 32 } };
	static const struct cdb twelve = { { 0xb7, 0x0d, [9] = 32 } };
	static const uint8_t want[8] = { 0, 0x1d };
	struct rig_cmd *c = run_in(0, 0, ten, 32);

	ck_assert_int_eq(c->nin, 4);
	ck_assert_mem_eq(c->in, want, 4);
	c = run_in(0, 0, twelve, 32);
	ck_assert_int_eq(c->nin, 8);
	ck_assert_int_eq(c->in[1], 0x0d);
	ck_assert_int_eq(in32(c, 4), 0);
}
END_TEST

START_TEST(a_units_text_is_its_volumes_name)
{
	static const struct cdb c = { { 0xa3, 0x05, [9] = 255 } };
	struct rig_cmd *r = run_in(0, 0, cdb_with(c, 10, 2 << 1), 255);

	ck_assert_int_eq(in16(r, 2), strlen(rig.lu[0]->name) + 1);
	ck_assert_str_eq((const char *)r->in + 4, rig.lu[0]->name);
	r = run_in(0, 0, cdb_with(c, 10, 0xfe), 255);
	ck_assert_int_eq(r->nin, 8);
	ck_assert_int_eq(r->in[4], 2 << 1);
	ck_assert_int_eq(in16(r, 6), 256);
	ck_assert(rig_sense(run_in(0, 0, cdb_with(c, 10, 5 << 1), 255), 0x5,
			    0x24, 0));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("diag");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_test(tc, the_self_test_reads_the_medium);
	tcase_add_test(tc, other_tests_are_refused);
	tcase_add_test(tc, the_echo_buffer_gives_back_what_its_nexus_wrote);
	tcase_add_test(tc, the_echo_buffer_tells_its_size_and_takes_no_more);
	tcase_add_test(tc, other_buffers_are_refused);
	tcase_add_test(tc, the_timestamp_is_the_clocks_until_a_host_sets_it);
	tcase_add_test(tc, the_defect_lists_are_empty);
	tcase_add_test(tc, a_units_text_is_its_volumes_name);
	return unit_run("scsi_diag", tc);
}
