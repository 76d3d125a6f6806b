/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * READ, WRITE and VERIFY at the edges: ranges, lengths, residuals, all forms of
 * the commands, volumes that cannot be written.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/ini.h"

#define IQN	"iqn.2026-11.example.test:edges"
#define END	((64u << 20) / 512)	/* blocks of the volume */

static struct daemon *d;
static struct ini *host;
static uint8_t buf[65536], back[65536];

static void good(const char *cdb, const void *out, size_t len)
{
	struct cmd c = cmd_raw(cdb, NULL, 0);

	c.out = out;
	c.out_len = len;
	expect_good(host, 0, &c);
	ck_assert_int_eq(c.residual, 0);
}

static void good_in(const char *cdb, size_t len)
{
	struct cmd c = cmd_raw(cdb, back, len);

	memset(back, 0xee, len);
	expect_good(host, 0, &c);
	ck_assert_int_eq(c.residual, 0);
}

START_TEST(every_form_of_write_is_read_by_every_form_of_read)
{
	static const char *const writes[] = {
		"0a 00 00 40 02 00",
		"2a 00 00 00 00 40 00 00 02 00",
		"aa 00 00 00 00 40 00 00 00 02 00 00",
		"8a 00 00 00 00 00 00 00 00 40 00 00 00 02 00 00",
		"2e 00 00 00 00 40 00 00 02 00",
		"ae 00 00 00 00 40 00 00 00 02 00 00",
		"8e 00 00 00 00 00 00 00 00 40 00 00 00 02 00 00",
		"8a 18 00 00 00 00 00 00 00 40 00 00 00 02 00 00",
	}, *const reads[] = {
		"08 00 00 40 02 00",
		"28 00 00 00 00 40 00 00 02 00",
		"a8 00 00 00 00 40 00 00 00 02 00 00",
		"88 00 00 00 00 00 00 00 00 40 00 00 00 02 00 00",
		"88 18 00 00 00 00 00 00 00 40 00 00 00 02 00 00",
	};
	unsigned w, r;

	for (w = 0; w < sizeof(writes) / sizeof(*writes); w++) {
		pattern_fill(buf, 1024, 0x40, w);
		good(writes[w], buf, 1024);
		for (r = 0; r < sizeof(reads) / sizeof(*reads); r++) {
			good_in(reads[r], 1024);
			ck_assert_mem_eq(back, buf, 1024);
		}
	}
}
END_TEST

START_TEST(six_byte_transfer_length_0_means_256_blocks)
{
	static uint8_t big[256 * 512];
	struct cmd c = cmd_raw("0a 00 01 00 00 00", NULL, 0);

	pattern_fill(big, sizeof(big), 0x100, 9);
	c.out = big;
	c.out_len = sizeof(big);
	expect_good(host, 0, &c);
	c = cmd_raw("08 00 01 00 00 00", big, sizeof(big));
	expect_good(host, 0, &c);
	ck_assert_int_eq(pattern_diff(big, sizeof(big), 0x100, 9), -1);
}
END_TEST

START_TEST(verify_compares_when_it_is_asked_to)
{
	struct cmd c;
	uint64_t info;

	pattern_fill(buf, 2048, 0x40, 1);
	good("8a 00 00 00 00 00 00 00 00 40 00 00 00 04 00 00", buf, 2048);
	good("8f 00 00 00 00 00 00 00 00 40 00 00 00 04 00 00", NULL, 0);
	good("8f 02 00 00 00 00 00 00 00 40 00 00 00 04 00 00", buf, 2048);
	good("2f 02 00 00 00 40 00 00 04 00", buf, 2048);
	good("af 02 00 00 00 40 00 00 00 04 00 00", buf, 2048);
	buf[1500] ^= 1;
	c = cmd_raw("8f 02 00 00 00 00 00 00 00 40 00 00 00 04 00 00", NULL, 0);
	c.out = buf;
	c.out_len = 2048;
	expect_sense(host, 0, &c, 0xe, 0x1d00);
	if (sense_info(&c, &info))
		ck_assert_uint_eq(info, 1500);
}
END_TEST

START_TEST(verify_with_bytchk_3_compares_one_block_with_all)
{
	struct cmd c = cmd_raw(
		"8f 06 00 00 00 00 00 00 00 40 00 00 00 04 00 00", NULL, 0);
	unsigned n;

	for (n = 0; n < 4; n++)
		pattern_fill(buf + n * 512, 512, 5, 5);
	good("8a 00 00 00 00 00 00 00 00 40 00 00 00 04 00 00", buf, 2048);
	c.out = buf;
	c.out_len = 512;
	expect_good(host, 0, &c);
	buf[3] ^= 1;
	expect_sense(host, 0, &c, 0xe, 0x1d00);
}
END_TEST

START_TEST(ranges_beyond_the_end_are_refused_without_overflow)
{
	static const struct {
		uint64_t lba;
		uint32_t blocks;
	} bad[] = {
		{ END, 1 }, { END - 1, 2 }, { UINT64_MAX, 1 },
		{ UINT64_MAX - 7, 8 }, { 1ull << 63, 1 }, { END + 1, 0 },
		{ 1ull << 55, 8 },
	};
	unsigned n;

	for (n = 0; n < sizeof(bad) / sizeof(*bad); n++) {
		size_t len = bad[n].blocks * 512;
		struct cmd r = cmd_read(bad[n].lba, bad[n].blocks, back, len);
		struct cmd w = cmd_write(bad[n].lba, bad[n].blocks, buf, len);

		expect_sense(host, 0, &r, 0x5, 0x2100);
		expect_sense(host, 0, &w, 0x5, 0x2100);
	}
}
END_TEST

START_TEST(no_blocks_are_no_error)
{
	good("88 00 00 00 00 00 00 00 00 40 00 00 00 00 00 00", NULL, 0);
	good("8a 00 00 00 00 00 00 00 00 40 00 00 00 00 00 00", NULL, 0);
	good("28 00 00 00 00 40 00 00 00 00", NULL, 0);
}
END_TEST

START_TEST(more_than_the_maximum_transfer_length_is_refused)
{
	struct cmd c = cmd_read(0, 65536, back, sizeof(back));

	expect_sense(host, 0, &c, 0x5, 0x2400);
}
END_TEST

START_TEST(the_longest_transfer_works)
{
	size_t len = 65535u * 512;
	uint8_t *big = calloc(1, len);
	struct cmd c = cmd_write(1, 65535, big, len);

	ck_assert(big != NULL);
	pattern_fill(big, len, 1, 3);
	expect_good(host, 0, &c);
	memset(big, 0, len);
	c = cmd_read(1, 65535, big, len);
	expect_good(host, 0, &c);
	ck_assert_int_eq(pattern_diff(big, len, 1, 3), -1);
	free(big);
}
END_TEST

START_TEST(residuals_tell_what_did_not_fit)
{
	struct cmd c = cmd_read(0, 2, back, 4096);

	expect_good(host, 0, &c);
	ck_assert_int_eq(c.residual, 4096 - 1024);
	c = cmd_read(0, 8, back, 1024);
	ini_run(host, 0, &c);
	ck_assert_int_eq(c.residual, -(4096 - 1024));
}
END_TEST

START_TEST(protection_bits_are_refused_without_protection)
{
	struct cmd c = cmd_read(0, 1, back, 512);

	c.cdb[1] = 0x20;
	expect_sense(host, 0, &c, 0x5, 0x2400);
	c = cmd_write(0, 1, buf, 512);
	c.cdb[1] = 0x20;
	expect_sense(host, 0, &c, 0x5, 0x2400);
}
END_TEST

/* A volume that cannot be written may lack what frees and zeroes. */
static bool protects(const struct cmd *c)
{
	return c->status == 2 && (sense_asc(c) == 0x2700 ||
				  sense_asc(c) == 0x2000);
}

START_TEST(a_read_only_volume_reads_and_says_that_it_is_protected)
{
	struct ini *i = ini_open(d, .target = IQN);
	struct cmd c;
	uint8_t list[24];
	struct unmap_range range = { 0, 8 };

	ck_assert(i != NULL);
	ck_assert_int_eq(ini_settle(i, 1), 0);
	c = cmd_read(0, 1, back, 512);
	expect_good(i, 1, &c);
	c = cmd_raw("1a 08 0a 00 10 00", back, 16);
	expect_good(i, 1, &c);
	ck_assert_uint_eq(back[2] & 0x80, 0x80);
	c = cmd_write(0, 1, buf, 512);
	expect_sense(i, 1, &c, 0x7, 0x2700);
	c = cmd_caw(0, 1, buf, 1024);
	expect_sense(i, 1, &c, 0x7, 0x2700);
	c = cmd_write_same(0, 8, 0, buf, 512);
	ini_run(i, 1, &c);
	ck_assert(protects(&c));
	c = cmd_unmap(&range, 1, list);
	ini_run(i, 1, &c);
	ck_assert(protects(&c));
	ini_logout(i);
}
END_TEST

START_TEST(synchronize_cache_and_prefetch_check_their_range)
{
	struct cmd c = cmd_sync();

	expect_good(host, 0, &c);
	good("35 00 00 00 00 00 00 00 00 00", NULL, 0);
	good("90 00 00 00 00 00 00 00 00 00 00 00 00 08 00 00", NULL, 0);
	c = cmd_raw("91 00 ff ff ff ff ff ff ff ff 00 00 00 01 00 00", NULL, 0);
	expect_sense(host, 0, &c, 0x5, 0x2100);
	c = cmd_raw("90 00 ff ff ff ff ff ff ff ff 00 00 00 01 00 00", NULL, 0);
	expect_sense(host, 0, &c, 0x5, 0x2100);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("edges");

	d = daemon_start(NULL);
	if (!d || adm_target(d, IQN) ||
	    adm_lun(d, IQN, 0, "vol", "--size 64M") ||
	    adm_lun(d, IQN, 1, "fixed", "--size 8M --read-only"))
		return EXIT_FAILURE;
	host = ini_open(d, .target = IQN);
	if (!host || ini_settle(host, 0))
		return EXIT_FAILURE;
	ini_keep(host);
	tcase_add_test(tc,
		every_form_of_write_is_read_by_every_form_of_read);
	tcase_add_test(tc, six_byte_transfer_length_0_means_256_blocks);
	tcase_add_test(tc, verify_compares_when_it_is_asked_to);
	tcase_add_test(tc, verify_with_bytchk_3_compares_one_block_with_all);
	tcase_add_test(tc,
		ranges_beyond_the_end_are_refused_without_overflow);
	tcase_add_test(tc, no_blocks_are_no_error);
	tcase_add_test(tc, more_than_the_maximum_transfer_length_is_refused);
	tcase_add_test(tc, the_longest_transfer_works);
	tcase_add_test(tc, residuals_tell_what_did_not_fit);
	tcase_add_test(tc, protection_bits_are_refused_without_protection);
	tcase_add_test(tc,
		a_read_only_volume_reads_and_says_that_it_is_protected);
	tcase_add_test(tc, synchronize_cache_and_prefetch_check_their_range);
	return func_run("data_edges", tc);
}
