/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thin volume whose file reaches a quota (EDQUOT): every command that needs
 * space is told so, reads go on, and all heals when the quota is lifted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/ini.h"

#define IQN	"iqn.2026-11.example.test:quota"
#define MIB	2048u
#define CHUNK	(1u << 20)
#define FAR	(300u * MIB)	/* never written: an LBA */

static struct daemon *d;
static struct ini *host;
static const char *dir;
static uint8_t buf[CHUNK];
static uint64_t mapped;		/* so many MiB were written */

static struct cmd write_mib(uint64_t n)
{
	pattern_fill(buf, CHUNK, n * MIB, 1);
	return cmd_write(n * MIB, MIB, buf, CHUNK);
}

static void holds(uint64_t n)
{
	struct cmd c = cmd_read(n * MIB, MIB, buf, CHUNK);

	expect_good(host, 0, &c);
	ck_assert_int_eq(pattern_diff(buf, CHUNK, n * MIB, 1), -1);
}

static bool nothing_to_test_with(void)
{
	if (!dir)
		skip_case("no file system with quotas can be had here");
	return !dir;
}

START_TEST(the_write_beyond_the_quota_is_told_so)
{
	struct cmd c;

	if (nothing_to_test_with())
		return;
	for (mapped = 0; mapped < 128; mapped++) {
		c = write_mib(mapped);
		if (ini_run(host, 0, &c))
			break;
	}
	ck_assert_uint_gt(mapped, 4);
	check_sense(&c, 0x7, 0x2707);
}
END_TEST

START_TEST(so_is_every_other_command_that_needs_space)
{
	struct unmap_range r = { FAR + 8 * MIB, 64 * MIB };
	uint8_t list[24];
	struct cmd c;

	if (nothing_to_test_with())
		return;
	memset(buf, 0x5a, 4096);
	c = cmd_write_same(FAR, 31 * MIB, 0, buf, 512);
	expect_sense(host, 0, &c, 0x7, 0x2707);
	c = cmd_unmap(&r, 1, list);
	c.cdb[1] = 1;					/* ANCHOR */
	expect_sense(host, 0, &c, 0x7, 0x2707);
	c = cmd_tur();
	expect_good(host, 0, &c);
	holds(0);
	holds(mapped - 1);
}
END_TEST

START_TEST(all_heals_when_the_quota_is_lifted)
{
	struct unmap_range r = { FAR + 8 * MIB, 64 * MIB };
	uint8_t list[24];
	struct cmd c;

	if (nothing_to_test_with())
		return;
	ck_assert_int_eq(run_program("btrfs qgroup limit none %s/sub", dir), 0);
	c = write_mib(mapped);
	expect_good(host, 0, &c);
	c = cmd_unmap(&r, 1, list);
	c.cdb[1] = 1;
	expect_good(host, 0, &c);
	holds(0);
	holds(mapped - 1);
	holds(mapped);
	ck_assert_int_eq(adm(d, "volume show quota"), 0);
	ck_assert_str_eq(json_text(d->json, "state"), "online");
}
END_TEST

static const char *make_dir(void)
{
	const char *fs = fs_mount(d, "btrfs", 512);
	char said[300];

	if (!fs || run_program("btrfs quota enable %s", fs) ||
	    run_output(said, sizeof(said), "btrfs subvolume create %s/sub",
		       fs) ||
	    run_program("btrfs qgroup limit 32M %s/sub", fs))
		return NULL;
	return fs;
}

int main(void)
{
	TCase *tc = tcase_create("quota");
	char args[300];

	d = daemon_start(NULL);
	if (!d)
		return EXIT_FAILURE;
	dir = make_dir();
	if (dir) {
		snprintf(args, sizeof(args), "--size 512M --path %s/sub/quota",
			 dir);
		if (adm_target(d, IQN) || adm_lun(d, IQN, 0, "quota", args))
			return EXIT_FAILURE;
		host = ini_open(d, .target = IQN);
		if (!host || ini_settle(host, 0))
			return EXIT_FAILURE;
		ini_keep(host);
	}
	tcase_add_test(tc, the_write_beyond_the_quota_is_told_so);
	tcase_add_test(tc, so_is_every_other_command_that_needs_space);
	tcase_add_test(tc, all_heals_when_the_quota_is_lifted);
	return func_run("volume_quota", tc);
}
