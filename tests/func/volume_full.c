/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thin volume on a file system that runs full: the write that needs space is
 * told so, everything else goes on, and so does the write when there is space.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/copylist.h"

#define IQN	"iqn.2026-11.example.test:full"
#define MIB	2048u
#define CHUNK	(1u << 20)

static struct daemon *d;
static struct ini *host;
static const char *dir;
static uint8_t buf[CHUNK];
static uint64_t mapped;		/* so many MiB were written */

static struct cmd write_mib(uint64_t n, uint64_t seed)
{
	pattern_fill(buf, CHUNK, n * MIB, seed);
	return cmd_write(n * MIB, MIB, buf, CHUNK);
}

static void holds(uint64_t n, uint64_t seed)
{
	struct cmd c = cmd_read(n * MIB, MIB, buf, CHUNK);

	expect_good(host, 0, &c);
	ck_assert_int_eq(pattern_diff(buf, CHUNK, n * MIB, seed), -1);
}

static bool nothing_to_test_with(void)
{
	if (!dir)
		skip_case("no file systems can be mounted here");
	return !dir;
}

START_TEST(the_write_that_finds_no_space_is_told_so)
{
	struct cmd c;

	if (nothing_to_test_with())
		return;
	for (mapped = 0; mapped < 256; mapped++) {
		c = write_mib(mapped, 1);
		if (ini_run(host, 0, &c))
			break;
	}
	ck_assert_uint_gt(mapped, 8);
	ck_assert_uint_lt(mapped, 256);
	check_sense(&c, 0x7, 0x2707);
}
END_TEST

START_TEST(reads_and_overwrites_go_on)
{
	struct cmd c;

	if (nothing_to_test_with())
		return;
	holds(0, 1);
	holds(mapped - 1, 1);
	c = write_mib(0, 2);
	expect_good(host, 0, &c);
	holds(0, 2);
	/* so does the lock of a cluster */
	pattern_fill(buf, 512, 0, 2);
	pattern_fill(buf + 512, 512, 0, 3);
	c = cmd_caw(0, 1, buf, 1024);
	expect_good(host, 0, &c);
	c = cmd_tur();
	expect_good(host, 0, &c);
	c = cmd_sync();
	expect_good(host, 0, &c);
}
END_TEST

START_TEST(a_copy_that_finds_no_space_is_told_so)
{
	struct copylist l;
	uint8_t naa[16];
	struct cmd c;

	if (nothing_to_test_with())
		return;
	ck_assert_int_eq(volume_naa(d, "full", naa), 0);
	copylist_begin(&l);
	copylist_cscd(&l, naa);
	copylist_segment(&l, 0, 0, 0, 400 * MIB, 8 * MIB);
	c = copylist_cmd(&l);
	ini_run(host, 0, &c);
	ck_assert_int_eq(c.status, 2);
	ck_assert_msg(sense_asc(&c) == 0x2707 || sense_key(&c) == 0xa,
		      "sense %x/%04x", sense_key(&c), sense_asc(&c));
}
END_TEST

START_TEST(so_are_the_lock_the_pattern_and_the_anchor)
{
	struct unmap_range r = { 420 * MIB, 64 * MIB };
	uint8_t list[24];
	struct cmd c;

	if (nothing_to_test_with())
		return;
	memset(buf, 0x5a, 512);
	c = cmd_write_same(300 * MIB, 31 * MIB, 0, buf, 512);
	expect_sense(host, 0, &c, 0x7, 0x2707);
	c = cmd_unmap(&r, 1, list);
	c.cdb[1] = 1;					/* ANCHOR */
	expect_sense(host, 0, &c, 0x7, 0x2707);
	memset(buf, 0, 512);
	memset(buf + 512, 0x5a, 512);
	c = cmd_caw(500 * MIB, 1, buf, 1024);
	expect_sense(host, 0, &c, 0x7, 0x2707);
	adm_ok(d, "stats full");
	ck_assert_int_ge(json_number(d->json, "0.no_space"), 4);
}
END_TEST

START_TEST(space_that_comes_is_used_without_any_help)
{
	struct unmap_range r = { 0, 8 * MIB };
	uint8_t list[24];
	struct cmd c;

	if (nothing_to_test_with())
		return;
	c = cmd_unmap(&r, 1, list);
	expect_good(host, 0, &c);
	c = write_mib(mapped + 1, 4);
	expect_good(host, 0, &c);
	holds(mapped + 1, 4);
	ck_assert_int_eq(adm(d, "volume show full"), 0);
	ck_assert_str_eq(json_text(d->json, "state"), "online");
}
END_TEST

START_TEST(a_thick_volume_that_does_not_fit_is_not_made)
{
	char path[300];

	if (nothing_to_test_with())
		return;
	snprintf(path, sizeof(path), "%s/thick", dir);
	adm_refused(d, "volume create thick --size 1G --thick --path %s", path);
	ck_assert_int_ne(access(path, F_OK), 0);
	adm_refused(d, "volume show thick");
}
END_TEST

static int prepare(void)
{
	char args[300];

	dir = fs_mount(d, "ext4", 64);
	if (!dir)
		return 0;
	snprintf(args, sizeof(args), "--size 512M --path %s/full", dir);
	if (adm_target(d, IQN) || adm_lun(d, IQN, 0, "full", args))
		return -1;
	host = ini_open(d, .target = IQN);
	if (!host || ini_settle(host, 0))
		return -1;
	ini_keep(host);
	return 0;
}

int main(void)
{
	TCase *tc = tcase_create("full");

	d = daemon_start(NULL);
	if (!d || prepare())
		return EXIT_FAILURE;
	tcase_add_test(tc, the_write_that_finds_no_space_is_told_so);
	tcase_add_test(tc, reads_and_overwrites_go_on);
	tcase_add_test(tc, a_copy_that_finds_no_space_is_told_so);
	tcase_add_test(tc, so_are_the_lock_the_pattern_and_the_anchor);
	tcase_add_test(tc, space_that_comes_is_used_without_any_help);
	tcase_add_test(tc, a_thick_volume_that_does_not_fit_is_not_made);
	return func_run("volume_full", tc);
}
