/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * COMPARE AND WRITE by itself: match, miscompare and where, lengths, ranges,
 * lists that do not fit.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/ini.h"

#define IQN	"iqn.2026-11.example.test:ats"
#define END	((64u << 20) / 512)

static struct daemon *d;
static struct ini *host;
static uint8_t pair[2 * 255 * 512], back[255 * 512];

static void write_blocks(uint64_t lba, uint32_t blocks, uint64_t seed)
{
	struct cmd c = cmd_write(lba, blocks, back, blocks * 512);

	pattern_fill(back, blocks * 512, lba, seed);
	expect_good(host, 0, &c);
}

static ssize_t differs(uint64_t lba, uint32_t blocks, uint64_t seed)
{
	struct cmd c = cmd_read(lba, blocks, back, blocks * 512);

	if (ini_run(host, 0, &c))
		return 0;
	return pattern_diff(back, blocks * 512, lba, seed);
}

/* The compare image of one seed, the write image of another. */
static struct cmd caw(uint64_t lba, uint8_t blocks, uint64_t from, uint64_t to)
{
	size_t half = blocks * 512u;

	pattern_fill(pair, half, lba, from);
	pattern_fill(pair + half, half, lba, to);
	return cmd_caw(lba, blocks, pair, 2 * half);
}

START_TEST(a_match_writes_the_second_half)
{
	struct cmd c;

	write_blocks(10, 1, 1);
	c = caw(10, 1, 1, 2);
	expect_good(host, 0, &c);
	ck_assert_int_eq(c.residual, 0);
	ck_assert_int_eq(differs(10, 1, 2), -1);
}
END_TEST

START_TEST(a_miscompare_writes_nothing)
{
	struct cmd c;

	write_blocks(10, 4, 1);
	c = caw(10, 4, 1, 2);
	pair[4 * 512 - 1] ^= 1;
	expect_sense(host, 0, &c, 0xe, 0x1d00);
	ck_assert_int_eq(differs(10, 4, 1), -1);
}
END_TEST

START_TEST(an_unwritten_block_compares_as_zeros)
{
	struct cmd c = caw(5000, 1, 0, 7);

	memset(pair, 0, 512);
	expect_good(host, 0, &c);
	ck_assert_int_eq(differs(5000, 1, 7), -1);
}
END_TEST

static void offset_is_told(unsigned format)
{
	unsigned off;
	uint64_t info;
	struct cmd c;

	write_blocks(20, 3, 4);
	for (off = 0; off < 3 * 512; off += off < 520 ? 13 : 97) {
		c = caw(20, 3, 4, 5);
		pair[off] ^= 0x80;
		expect_sense(host, 0, &c, 0xe, 0x1d00);
		ck_assert_uint_eq(c.sense[0] & 0x7f, format);
		ck_assert(sense_info(&c, &info));
		ck_assert_uint_eq(info, off);
	}
}

START_TEST(the_offset_of_the_miscompare_is_in_fixed_sense)
{
	offset_is_told(0x70);
}
END_TEST

/* MODE SELECT(6) of the control page as it is, with D_SENSE so. */
static int set_d_sense(bool on)
{
	uint8_t list[16];
	struct cmd c = cmd_raw("1a 08 0a 00 10 00", list, sizeof(list));

	if (ini_run(host, 0, &c))
		return -1;
	list[0] = 0;
	list[2] = 0;
	list[4] &= 0x3f;
	list[6] = (uint8_t)((list[6] & ~4) | (on ? 4 : 0));
	c = cmd_raw("15 10 00 00 10 00", NULL, 0);
	c.out = list;
	c.out_len = sizeof(list);
	return ini_run(host, 0, &c);
}

START_TEST(the_offset_of_the_miscompare_is_in_descriptor_sense)
{
	struct cmd c;

	ck_assert_int_eq(set_d_sense(true), 0);
	offset_is_told(0x72);
	/* other refusals follow the format, too */
	c = cmd_read(END, 1, back, 512);
	expect_sense(host, 0, &c, 0x5, 0x2100);
	ck_assert_uint_eq(c.sense[0], 0x72);
	ck_assert_int_eq(set_d_sense(false), 0);
	c = cmd_read(END, 1, back, 512);
	expect_sense(host, 0, &c, 0x5, 0x2100);
	ck_assert_uint_eq(c.sense[0] & 0x7f, 0x70);
}
END_TEST

START_TEST(every_length_from_1_to_255_blocks_works)
{
	struct cmd c;
	unsigned n;

	for (n = 1; n <= 255; n += n < 16 ? 1 : 17) {
		uint8_t blocks = (uint8_t)(n > 240 ? 255 : n);

		write_blocks(1000, blocks, n);
		c = caw(1000, blocks, n, n + 1);
		expect_good(host, 0, &c);
		ck_assert_int_eq(differs(1000, blocks, n + 1), -1);
	}
}
END_TEST

START_TEST(no_blocks_compare_and_write_nothing)
{
	struct cmd c = cmd_caw(10, 0, NULL, 0);

	expect_good(host, 0, &c);
}
END_TEST

START_TEST(the_last_block_can_be_swapped_and_the_one_after_it_not)
{
	struct cmd c;

	write_blocks(END - 1, 1, 1);
	c = caw(END - 1, 1, 1, 2);
	expect_good(host, 0, &c);
	c = caw(END - 1, 2, 1, 2);
	expect_sense(host, 0, &c, 0x5, 0x2100);
	c = caw(END, 1, 1, 2);
	expect_sense(host, 0, &c, 0x5, 0x2100);
	c = caw(UINT64_MAX, 1, 1, 2);
	expect_sense(host, 0, &c, 0x5, 0x2100);
	ck_assert_int_eq(differs(END - 1, 1, 2), -1);
}
END_TEST

START_TEST(data_of_another_length_than_twice_the_blocks_is_refused)
{
	static const size_t lengths[] = { 512, 1536, 2048 };
	struct cmd c;
	unsigned n;

	write_blocks(10, 1, 1);
	for (n = 0; n < 3; n++) {
		c = caw(10, 1, 1, 2);
		c.out_len = lengths[n];
		ini_run(host, 0, &c);
		ck_assert_int_eq(c.status, 2);
		ck_assert_uint_eq(sense_key(&c), 5);
	}
	ck_assert_int_eq(differs(10, 1, 1), -1);
}
END_TEST

START_TEST(fua_and_dpo_are_taken_and_protection_is_not)
{
	struct cmd c;

	write_blocks(10, 1, 1);
	c = caw(10, 1, 1, 2);
	c.cdb[1] = 0x18;
	expect_good(host, 0, &c);
	c = caw(10, 1, 2, 3);
	c.cdb[1] = 0x20;
	expect_sense(host, 0, &c, 0x5, 0x2400);
}
END_TEST

START_TEST(the_use_of_it_is_counted)
{
	int64_t used, bytes;
	struct cmd c;

	adm_ok(d, "vaai status vol");
	used = json_number(d->json, "0.ats.used");
	bytes = json_number(d->json, "0.ats.bytes");
	ck_assert_int_eq(json_bool(d->json, "0.ats.supported"), 1);
	write_blocks(10, 2, 1);
	c = caw(10, 2, 1, 2);
	expect_good(host, 0, &c);
	adm_ok(d, "vaai status vol");
	ck_assert_int_eq(json_number(d->json, "0.ats.used"), used + 1);
	ck_assert_int_eq(json_number(d->json, "0.ats.bytes"), bytes + 1024);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("ats");

	d = daemon_start(NULL);
	if (!d || adm_target(d, IQN) ||
	    adm_lun(d, IQN, 0, "vol", "--size 64M"))
		return EXIT_FAILURE;
	host = ini_open(d, .target = IQN);
	if (!host || ini_settle(host, 0))
		return EXIT_FAILURE;
	ini_keep(host);
	tcase_add_test(tc, a_match_writes_the_second_half);
	tcase_add_test(tc, a_miscompare_writes_nothing);
	tcase_add_test(tc, an_unwritten_block_compares_as_zeros);
	tcase_add_test(tc, the_offset_of_the_miscompare_is_in_fixed_sense);
	tcase_add_test(tc, the_offset_of_the_miscompare_is_in_descriptor_sense);
	tcase_add_test(tc, every_length_from_1_to_255_blocks_works);
	tcase_add_test(tc, no_blocks_compare_and_write_nothing);
	tcase_add_test(tc,
		the_last_block_can_be_swapped_and_the_one_after_it_not);
	tcase_add_test(tc,
		data_of_another_length_than_twice_the_blocks_is_refused);
	tcase_add_test(tc, fua_and_dpo_are_taken_and_protection_is_not);
	tcase_add_test(tc, the_use_of_it_is_counted);
	return func_run("vaai_ats", tc);
}
