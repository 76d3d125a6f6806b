/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an administrator changes while hosts are logged in, and how each change
 * is told to them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/copylist.h"

#define IQN	"iqn.2026-11.example.test:live"

static struct daemon *d;
static struct ini *host, *other;
static uint8_t buf[4096];

static void told(struct ini *i, int lun, unsigned asc)
{
	struct cmd c = cmd_tur();

	expect_sense(i, lun, &c, 0x6, asc);
	c = cmd_tur();
	expect_good(i, lun, &c);
}

static uint64_t last_lba(int lun)
{
	uint8_t cap[32];
	struct cmd c = cmd_capacity(cap);

	expect_good(host, lun, &c);
	return be64_get(BE_AT(be64, cap, 0));
}

START_TEST(a_volume_that_grows_tells_every_host_and_is_usable_at_once)
{
	struct cmd c;

	adm_ok(d, "volume resize vol 64M");
	ck_assert_int_eq(volume_number(d, "vol", "size"), 64 << 20);
	told(host, 0, 0x2a09);
	told(other, 0, 0x2a09);
	ck_assert_uint_eq(last_lba(0), (64 << 20) / 512 - 1);
	pattern_fill(buf, sizeof(buf), 1, 1);
	c = cmd_write((64 << 20) / 512 - 8, 8, buf, sizeof(buf));
	expect_good(host, 0, &c);
	memset(buf, 0, sizeof(buf));
	c = cmd_read((64 << 20) / 512 - 8, 8, buf, sizeof(buf));
	expect_good(other, 0, &c);
	ck_assert_int_eq(pattern_diff(buf, sizeof(buf), 1, 1), -1);
	c = cmd_read((48 << 20) / 512, 8, buf, sizeof(buf));
	expect_good(host, 0, &c);
	ck_assert_int_eq(zero_diff(buf, sizeof(buf)), -1);
}
END_TEST

START_TEST(a_volume_shrinks_only_by_force)
{
	struct cmd c;

	adm_refused(d, "volume resize vol 32M");
	adm_ok(d, "volume resize vol 32M --force");
	told(host, 0, 0x2a09);
	told(other, 0, 0x2a09);
	c = cmd_read((32 << 20) / 512, 1, buf, 512);
	expect_sense(host, 0, &c, 0x5, 0x2100);
}
END_TEST

START_TEST(ats_is_switched_off_under_sessions_only_by_force)
{
	struct cmd c = cmd_caw(0, 1, buf, 1024);

	adm_refused(d, "volume set vol vaai.ats=off");
	ck_assert_msg(strstr(d->err, "force"), "%s", d->err);
	adm_ok(d, "volume set vol vaai.ats=off --force");
	told(host, 0, 0x3f03);
	told(other, 0, 0x3f03);
	expect_sense(host, 0, &c, 0x5, 0x2000);
	c = cmd_inquiry(0xb0, buf, 64);
	expect_good(host, 0, &c);
	ck_assert_uint_eq(buf[5], 0);
	adm_ok(d, "vaai status vol");
	ck_assert_int_eq(json_bool(d->json, "0.ats.supported"), 0);
	adm_ok(d, "volume set vol vaai.ats=on");
	told(host, 0, 0x3f03);
	told(other, 0, 0x3f03);
	c = cmd_inquiry(0xb0, buf, 64);
	expect_good(host, 0, &c);
	ck_assert_uint_eq(buf[5], 255);
}
END_TEST

START_TEST(clone_zero_and_delete_are_switched_off_and_on)
{
	struct unmap_range r = { 0, 8 };
	struct copylist l;
	uint8_t naa[16], list[24];
	struct cmd c;

	ck_assert_int_eq(volume_naa(d, "vol", naa), 0);
	copylist_begin(&l);
	copylist_cscd(&l, naa);
	copylist_segment(&l, 0, 0, 0, 100, 8);
	adm_ok(d, "volume set vol vaai.clone=off vaai.zero=off "
	       "vaai.delete=off");
	ini_settle(other, 0);
	ini_settle(host, 0);
	c = copylist_cmd(&l);
	expect_sense(host, 0, &c, 0x5, 0x2000);
	c = cmd_raw("8403 00 00 00 00 00 00 00 00 00 00 02 00 00 00", buf, 512);
	expect_sense(host, 0, &c, 0x5, 0x2000);
	memset(buf, 0, 512);
	c = cmd_write_same(0, 8, 0, buf, 512);
	expect_sense(host, 0, &c, 0x5, 0x2000);
	c = cmd_unmap(&r, 1, list);
	expect_sense(host, 0, &c, 0x5, 0x2000);
	c = cmd_inquiry(-1, buf, 96);
	expect_good(host, 0, &c);
	ck_assert_uint_eq(buf[5] & 0x08, 0);		/* 3PC */
	adm_ok(d, "volume set vol vaai.clone=on vaai.zero=on vaai.delete=on");
	ini_settle(other, 0);
	ini_settle(host, 0);
	c = copylist_cmd(&l);
	expect_good(host, 0, &c);
	memset(buf, 0, 512);
	c = cmd_write_same(0, 8, 0, buf, 512);
	expect_good(host, 0, &c);
	c = cmd_unmap(&r, 1, list);
	expect_good(host, 0, &c);
}
END_TEST

START_TEST(a_lun_that_is_added_is_told_and_works_in_running_sessions)
{
	struct cmd c = cmd_tur();

	expect_sense(host, 3, &c, 0x5, 0x2500);
	adm_ok(d, "volume create more --size 8M");
	adm_ok(d, "lun add %s more --lun 3", IQN);
	told(host, 0, 0x3f0e);
	told(other, 0, 0x3f0e);
	ck_assert_int_eq(ini_settle(host, 3), 0);
	c = cmd_raw("a0 00 00 00 00 00 00 00 01 00 00 00", buf, 256);
	expect_good(host, 0, &c);
	ck_assert_uint_eq(be32_get(BE_AT(be32, buf, 0)), 16);
	ck_assert_uint_eq(buf[16 + 1], 3);
}
END_TEST

START_TEST(a_lun_that_is_removed_is_not_supported_any_more)
{
	struct cmd c;

	adm_ok(d, "lun remove %s 3", IQN);
	c = cmd_read(0, 1, buf, 512);
	expect_sense(host, 3, &c, 0x5, 0x2500);
	ini_settle(host, 0);
	ini_settle(other, 0);
	c = cmd_raw("a0 00 00 00 00 00 00 00 01 00 00 00", buf, 256);
	expect_good(host, 0, &c);
	ck_assert_uint_eq(be32_get(BE_AT(be32, buf, 0)), 8);
	adm_ok(d, "volume delete more --erase");
}
END_TEST

START_TEST(a_volume_in_use_is_not_deleted)
{
	adm_refused(d, "volume delete vol");
	adm_refused(d, "target delete %s", IQN);
}
END_TEST

START_TEST(durability_changes_the_caching_page_and_is_told)
{
	struct cmd c;

	adm_ok(d, "volume set vol durability=write-back");
	told(host, 0, 0x2a01);
	told(other, 0, 0x2a01);
	c = cmd_raw("1a 08 08 00 ff 00", buf, 255);
	expect_good(host, 0, &c);
	ck_assert_uint_eq(buf[6] & 0x04, 0x04);
	adm_ok(d, "volume set vol durability=write-through");
	told(host, 0, 0x2a01);
	told(other, 0, 0x2a01);
	c = cmd_raw("1a 08 08 00 ff 00", buf, 255);
	expect_good(host, 0, &c);
	ck_assert_uint_eq(buf[6] & 0x04, 0);
}
END_TEST

START_TEST(a_rule_taken_away_keeps_hosts_out)
{
	struct ini *late;

	adm_ok(d, "acl allow %s iqn.2026-11.example.test:late", IQN);
	late = ini_open(d, .target = IQN,
			.initiator = "iqn.2026-11.example.test:late");
	ck_assert_msg(late != NULL, "%s", ini_error());
	adm_ok(d, "acl revoke %s *", IQN);
	adm_ok(d, "acl check %s --initiator %s", IQN, HOST);
	ck_assert(ini_wait_down(host, DEADLINE_MS));
	ck_assert(!ini_open(d, .target = IQN));
	ck_assert_int_eq(ini_settle(late, 0), 0);
	adm_ok(d, "acl allow %s *", IQN);
	ini_logout(late);
}
END_TEST

static unsigned ports_told(void)
{
	struct cmd c = cmd_raw("a30a00000000000010000000", buf, 4096);

	expect_good(host, 0, &c);
	return buf[4 + 7];
}

START_TEST(a_second_target_is_a_second_port_on_every_path)
{
	ck_assert_uint_eq(ports_told(), 1);
	adm_ok(d, "target create " IQN "2");
	adm_ok(d, "lun add " IQN "2 vol");
	ck_assert_uint_eq(ports_told(), 2);
	adm_ok(d, "target delete " IQN "2");
	ck_assert_uint_eq(ports_told(), 1);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("live changes");

	d = daemon_start(NULL);
	if (!d || adm_target(d, IQN) ||
	    adm_lun(d, IQN, 0, "vol", "--size 32M"))
		return EXIT_FAILURE;
	host = ini_open(d, .target = IQN);
	other = ini_open(d, .target = IQN);
	if (!host || !other || ini_settle(host, 0) || ini_settle(other, 0))
		return EXIT_FAILURE;
	ini_keep(host);
	ini_keep(other);
	tcase_add_test(tc,
		a_volume_that_grows_tells_every_host_and_is_usable_at_once);
	tcase_add_test(tc, a_second_target_is_a_second_port_on_every_path);
	tcase_add_test(tc, a_volume_shrinks_only_by_force);
	tcase_add_test(tc, ats_is_switched_off_under_sessions_only_by_force);
	tcase_add_test(tc, clone_zero_and_delete_are_switched_off_and_on);
	tcase_add_test(tc,
		a_lun_that_is_added_is_told_and_works_in_running_sessions);
	tcase_add_test(tc, a_lun_that_is_removed_is_not_supported_any_more);
	tcase_add_test(tc, a_volume_in_use_is_not_deleted);
	tcase_add_test(tc, durability_changes_the_caching_page_and_is_told);
	tcase_add_test(tc, a_rule_taken_away_keeps_hosts_out);
	return func_run("live_changes", tc);
}
