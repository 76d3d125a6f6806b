/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * WRITE SAME and UNMAP: what reads back, what the storage gets back, and how
 * GET LBA STATUS tells of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/ini.h"

#define IQN	"iqn.2026-11.example.test:zero"
#define MIB	2048u
#define CHUNK	(1u << 20)
#define END	(4096u * MIB)		/* a 4 GiB volume */
#define SAME_MAX (16 * MIB)		/* of one WRITE SAME */

static struct daemon *d;
static struct ini *host;
static uint8_t buf[CHUNK], block[512], zeros[512];
static uint8_t list[8 + 16 * 257];

static void fill(uint64_t lba, unsigned mib, uint64_t seed)
{
	for (; mib; mib--, lba += MIB) {
		struct cmd c = cmd_write(lba, MIB, buf, CHUNK);

		pattern_fill(buf, CHUNK, lba, seed);
		expect_good(host, 0, &c);
	}
}

static void expect_zeros(uint64_t lba, unsigned blocks)
{
	while (blocks) {
		unsigned n = blocks < MIB ? blocks : MIB;
		struct cmd c = cmd_read(lba, n, buf, n * 512);

		expect_good(host, 0, &c);
		ck_assert_int_eq(zero_diff(buf, n * 512), -1);
		lba += n;
		blocks -= n;
	}
}

static void expect_pattern(uint64_t lba, unsigned blocks, uint64_t seed)
{
	struct cmd c = cmd_read(lba, blocks, buf, blocks * 512);

	expect_good(host, 0, &c);
	ck_assert_int_eq(pattern_diff(buf, blocks * 512, lba, seed), -1);
}

static void write_same(uint64_t lba, uint32_t blocks, unsigned flags,
		       const void *out)
{
	uint32_t n;

	for (; blocks; blocks -= n, lba += n) {
		struct cmd c;

		n = blocks < SAME_MAX ? blocks : SAME_MAX;
		c = cmd_write_same(lba, n, flags, out, out ? 512 : 0);
		expect_good(host, 0, &c);
	}
}

START_TEST(write_same_of_zeros_zeroes_exactly_its_range)
{
	fill(0, 4, 1);
	write_same(1000, 3000, 0, zeros);
	expect_pattern(0, 1000, 1);
	expect_zeros(1000, 3000);
	expect_pattern(4000, 1000, 1);
}
END_TEST

START_TEST(write_same_of_a_pattern_repeats_it)
{
	unsigned n;
	struct cmd c;

	fill(0, 2, 2);
	memset(block, 0x5a, sizeof(block));
	block[511] = 1;
	write_same(11, 1501, 0, block);
	c = cmd_read(11, 1501, buf, 1501 * 512);
	expect_good(host, 0, &c);
	for (n = 0; n < 1501; n++)
		ck_assert_mem_eq(buf + n * 512, block, 512);
	expect_pattern(0, 11, 2);
	expect_pattern(1512, 500, 2);
}
END_TEST

START_TEST(write_same_without_data_zeroes)
{
	fill(0, 1, 3);
	write_same(8, 64, WS_NDOB, NULL);
	expect_pattern(0, 8, 3);
	expect_zeros(8, 64);
	expect_pattern(72, 100, 3);
}
END_TEST

START_TEST(write_same_10_works_as_16)
{
	struct cmd c = cmd_raw("41 00 00 00 00 10 00 00 20 00", NULL, 0);

	fill(0, 1, 4);
	c.out = zeros;
	c.out_len = 512;
	expect_good(host, 0, &c);
	expect_pattern(0, 16, 4);
	expect_zeros(16, 32);
	expect_pattern(48, 16, 4);
	c.cdb[1] = WS_UNMAP;
	c.cdb[5] = 0x40;
	expect_good(host, 0, &c);
	expect_zeros(64, 32);
}
END_TEST

START_TEST(unmapping_write_same_gives_space_back_and_zeroes_the_edges)
{
	int64_t before, after;

	fill(0, 64, 5);
	before = volume_number(d, "vol", "allocated");
	write_same(100, 60 * MIB, WS_UNMAP, zeros);
	after = volume_number(d, "vol", "allocated");
	expect_pattern(0, 100, 5);
	expect_zeros(100, 60 * MIB);
	expect_pattern(60 * MIB + 100, 1000, 5);
	ck_assert_msg(after <= before - (58 << 20), "allocated: %lld, %lld",
		      (long long)before, (long long)after);
}
END_TEST

START_TEST(unmapping_write_same_of_a_pattern_writes_the_pattern)
{
	struct cmd c;

	memset(block, 0x33, sizeof(block));
	write_same(0, 16, WS_UNMAP, block);
	c = cmd_read(15, 1, buf, 512);
	expect_good(host, 0, &c);
	ck_assert_mem_eq(buf, block, 512);
}
END_TEST

START_TEST(a_gibibyte_is_zeroed_by_mebibytes_without_being_written)
{
	uint64_t start = now_ms();
	unsigned n;

	fill(1024 * MIB, 1, 6);
	fill(2047 * MIB, 1, 6);
	for (n = 0; n < 1024; n++)
		write_same((1024 + n) * MIB, MIB, 0, zeros);
	printf("1 GiB by 1 MiB WRITE SAME: %llu ms\n",
	       (unsigned long long)(now_ms() - start));
	expect_zeros(1024 * MIB, 4 * MIB);
	expect_zeros(2047 * MIB, MIB);
	write_same(1024 * MIB, 1024 * MIB, WS_UNMAP | WS_NDOB, NULL);
}
END_TEST

START_TEST(write_same_checks_its_fields)
{
	struct cmd c = cmd_write_same(0, 0, 0, zeros, 512);

	expect_sense(host, 0, &c, 0x5, 0x2400);		/* WSNZ */
	c = cmd_write_same(END - 1, 2, 0, zeros, 512);
	expect_sense(host, 0, &c, 0x5, 0x2100);
	c = cmd_write_same(UINT64_MAX, 2, 0, zeros, 512);
	expect_sense(host, 0, &c, 0x5, 0x2100);
	c = cmd_write_same(0, 8, WS_ANCHOR, zeros, 512);
	expect_sense(host, 0, &c, 0x5, 0x2400);
	c = cmd_write_same(0, 8, 0x02, zeros, 512);	/* LBDATA */
	expect_sense(host, 0, &c, 0x5, 0x2400);
	c = cmd_write_same(0, 8, 0, buf, 1024);
	ini_run(host, 0, &c);
	ck_assert_int_eq(c.status, 2);
	ck_assert_uint_eq(sense_key(&c), 5);
}
END_TEST

START_TEST(unmap_frees_every_range_of_its_list)
{
	struct unmap_range r[256];
	int64_t before, after;
	struct cmd c;
	unsigned n;

	fill(0, 256, 7);
	before = volume_number(d, "vol", "allocated");
	/* each second half mebibyte */
	for (n = 0; n < 256; n++)
		r[n] = (struct unmap_range){ n * MIB, MIB / 2 };
	c = cmd_unmap(r, 256, list);
	expect_good(host, 0, &c);
	after = volume_number(d, "vol", "allocated");
	for (n = 0; n < 256; n += 51) {
		expect_zeros(n * MIB, MIB / 2);
		expect_pattern(n * MIB + MIB / 2, MIB / 2, 7);
	}
	ck_assert_msg(after <= before - (120 << 20), "allocated: %lld, %lld",
		      (long long)before, (long long)after);
	adm_ok(d, "vaai status vol");
	ck_assert_int_gt(json_number(d->json, "0.delete.used"), 0);
	ck_assert_int_ge(json_number(d->json, "0.delete.bytes"), 128 << 20);
}
END_TEST

START_TEST(unmapped_blocks_read_as_zeros_even_at_odd_edges)
{
	struct unmap_range r = { 3, 2 * MIB - 5 };
	struct cmd c;

	fill(0, 2, 8);
	c = cmd_unmap(&r, 1, list);
	expect_good(host, 0, &c);
	expect_pattern(0, 3, 8);
	expect_zeros(3, 2 * MIB - 5);
	expect_pattern(2 * MIB - 2, 2, 8);
}
END_TEST

/* The provisioning status of the run that begins at lba. */
static unsigned status_of(uint64_t lba)
{
	uint8_t answer[24];
	struct cmd c = cmd_raw("9e120000000000000000000000180000",
			       answer, sizeof(answer));
	be64 at = be64_of(lba);

	memcpy(c.cdb + 2, &at, sizeof(at));
	expect_good(host, 0, &c);
	return answer[8 + 12];
}

START_TEST(anchored_blocks_read_as_zeros_and_hold_their_space)
{
	struct unmap_range r = { 4 * MIB, 4 * MIB };
	uint8_t page[8];
	int64_t before;
	struct cmd c = cmd_inquiry(0xb2, page, sizeof(page));

	expect_good(host, 0, &c);
	fill(0, 16, 9);
	c = cmd_unmap(&r, 1, list);
	c.cdb[1] = 1;					/* ANCHOR */
	if (!(page[5] & 0x02)) {			/* ANC_SUP */
		expect_sense(host, 0, &c, 0x5, 0x2400);
		return;
	}
	before = volume_number(d, "vol", "allocated");
	expect_good(host, 0, &c);
	write_same(8 * MIB, 4 * MIB, WS_UNMAP | WS_ANCHOR | WS_NDOB, NULL);
	ck_assert_int_ge(volume_number(d, "vol", "allocated"),
			 before - (1 << 20));
	/* before they are read: what is in the cache counts as data */
	ck_assert_uint_eq(status_of(4 * MIB), 2);
	ck_assert_uint_eq(status_of(11 * MIB), 2);
	ck_assert_uint_eq(status_of(12 * MIB), 0);
	expect_zeros(4 * MIB, MIB);
	expect_zeros(11 * MIB, MIB);
	expect_pattern(12 * MIB, MIB, 9);
	c = cmd_unmap(&r, 1, list);
	expect_good(host, 0, &c);
	ck_assert_uint_eq(status_of(4 * MIB), 1);
}
END_TEST

START_TEST(unmap_checks_its_list)
{
	struct unmap_range r[257] = { { END - 1, 2 } };
	struct cmd c = cmd_unmap(r, 1, list);

	expect_sense(host, 0, &c, 0x5, 0x2100);
	r[0] = (struct unmap_range){ UINT64_MAX, UINT32_MAX };
	c = cmd_unmap(r, 1, list);
	ini_run(host, 0, &c);
	ck_assert_int_eq(c.status, 2);
	ck_assert_uint_eq(sense_key(&c), 5);
	r[0] = (struct unmap_range){ 0, 8 };
	c = cmd_unmap(r, 257, list);
	expect_sense(host, 0, &c, 0x5, 0x2600);
	c = cmd_unmap(r, 1, list);
	c.cdb[8] = 4;
	c.out_len = 4;
	expect_sense(host, 0, &c, 0x5, 0x1a00);
	/* nothing to do is no error */
	c = cmd_unmap(r, 0, list);
	expect_good(host, 0, &c);
	c = cmd_raw("42 00 00 00 00 00 00 00 00 00", NULL, 0);
	expect_good(host, 0, &c);
	r[0] = (struct unmap_range){ END, 0 };
	c = cmd_unmap(r, 1, list);
	expect_good(host, 0, &c);
}
END_TEST

/* The status of the extent at lba, and its length. */
static unsigned lba_status(uint64_t lba, uint32_t *blocks)
{
	uint8_t answer[8 + 16];
	be64 at = be64_of(lba);
	struct cmd c = cmd_raw(
		"9e 12 00 00 00 00 00 00 00 00 00 00 00 18 00 00", answer,
		sizeof(answer));

	memcpy(c.cdb + 2, &at, sizeof(at));
	expect_good(host, 0, &c);
	ck_assert_uint_ge(be32_get(BE_AT(be32, answer, 0)), 20);
	ck_assert_uint_eq(be64_get(BE_AT(be64, answer, 8)), lba);
	*blocks = be32_get(BE_AT(be32, answer, 16));
	return answer[20] & 15;
}

START_TEST(get_lba_status_tells_mapped_from_deallocated)
{
	struct unmap_range r = { 512 * MIB, 8 * MIB };
	uint32_t n;
	struct cmd c;

	fill(512 * MIB, 8, 9);
	ck_assert_uint_eq(lba_status(512 * MIB, &n), 0);
	ck_assert_uint_gt(n, 0);
	c = cmd_unmap(&r, 1, list);
	expect_good(host, 0, &c);
	ck_assert_uint_eq(lba_status(512 * MIB, &n), 1);
	ck_assert_uint_ge(n, 8 * MIB);
	c = cmd_raw("9e 12 ff ff ff ff ff ff ff ff 00 00 00 18 00 00", buf, 24);
	expect_sense(host, 0, &c, 0x5, 0x2100);
}
END_TEST

/* The same data, not the same ways: a device punches or discards. */
START_TEST(a_device_zeroes_and_unmaps_as_it_promises)
{
	const char *dev = loop_attach(d, 64, 512);
	struct unmap_range r = { MIB, 4 * MIB };
	uint8_t cap[32];
	struct cmd c;

	if (!dev) {
		skip_case("no loop devices here");
		return;
	}
	adm_ok(d, "volume create device --path %s", dev);
	adm_ok(d, "lun add %s device --lun 1", IQN);
	ck_assert_int_eq(ini_settle(host, 1), 0);
	pattern_fill(buf, CHUNK, 0, 10);
	c = cmd_write(0, MIB, buf, CHUNK);
	expect_good(host, 1, &c);
	c = cmd_write_same(3, 1000, 0, zeros, 512);
	expect_good(host, 1, &c);
	c = cmd_read(0, 1100, buf, 1100 * 512);
	expect_good(host, 1, &c);
	ck_assert_int_eq(pattern_diff(buf, 3 * 512, 0, 10), -1);
	ck_assert_int_eq(zero_diff(buf + 3 * 512, 1000 * 512), -1);
	ck_assert_int_eq(pattern_diff(buf + 1003 * 512, 97 * 512, 1003, 10),
			 -1);
	c = cmd_unmap(&r, 1, list);
	expect_good(host, 1, &c);
	c = cmd_capacity(cap);
	expect_good(host, 1, &c);
	if (cap[14] & 0x40) {			/* LBPRZ */
		c = cmd_read(MIB, MIB, buf, CHUNK);
		expect_good(host, 1, &c);
		ck_assert_int_eq(zero_diff(buf, CHUNK), -1);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("zero and unmap");

	d = daemon_start(NULL);
	if (!d || adm_target(d, IQN) || adm_lun(d, IQN, 0, "vol", "--size 4G"))
		return EXIT_FAILURE;
	host = ini_open(d, .target = IQN);
	if (!host || ini_settle(host, 0))
		return EXIT_FAILURE;
	ini_keep(host);
	tcase_add_test(tc, write_same_of_zeros_zeroes_exactly_its_range);
	tcase_add_test(tc, write_same_of_a_pattern_repeats_it);
	tcase_add_test(tc, write_same_without_data_zeroes);
	tcase_add_test(tc, write_same_10_works_as_16);
	tcase_add_test(tc,
		unmapping_write_same_gives_space_back_and_zeroes_the_edges);
	tcase_add_test(tc,
		unmapping_write_same_of_a_pattern_writes_the_pattern);
	tcase_add_test(tc,
		a_gibibyte_is_zeroed_by_mebibytes_without_being_written);
	tcase_add_test(tc, write_same_checks_its_fields);
	tcase_add_test(tc, unmap_frees_every_range_of_its_list);
	tcase_add_test(tc, unmapped_blocks_read_as_zeros_even_at_odd_edges);
	tcase_add_test(tc,
		anchored_blocks_read_as_zeros_and_hold_their_space);
	tcase_add_test(tc, unmap_checks_its_list);
	tcase_add_test(tc, get_lba_status_tells_mapped_from_deallocated);
	tcase_add_test(tc, a_device_zeroes_and_unmaps_as_it_promises);
	return func_run("vaai_zero_unmap", tc);
}
