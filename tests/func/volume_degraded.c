/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A volume whose file is absent or short at start: it is listed, its LUN stays
 * and says that it becomes ready, and it heals when the file comes.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/ini.h"

#define IQN	"iqn.2026-11.example.test:degraded"

static struct daemon *d;
static char file[300], aside[320];

static const char *state_of(const char *volume)
{
	if (adm(d, "volume show %s", volume))
		return "";
	return json_text(d->json, "state");
}

static bool is_online(void *arg)
{
	return !strcmp(state_of(arg), "online");
}

static bool is_degraded(void *arg)
{
	return !strcmp(state_of(arg), "degraded");
}

static struct ini *host_of_both(void)
{
	struct ini *i = ini_open(d, .target = IQN);

	ck_assert_msg(i != NULL, "%s", ini_error());
	ck_assert_int_eq(ini_settle(i, 1), 0);
	return i;
}

/* LUN 0 answers 2/04/01 and lives, LUN 1 works. */
static void lun_0_becomes_ready(struct ini *i)
{
	uint8_t buf[512];
	struct cmd c;

	ini_settle(i, 0);
	c = cmd_tur();
	expect_sense(i, 0, &c, 0x2, 0x0401);
	c = cmd_read(0, 1, buf, sizeof(buf));
	expect_sense(i, 0, &c, 0x2, 0x0401);
	c = cmd_inquiry(-1, buf, 96);
	expect_good(i, 0, &c);
	ck_assert_uint_eq(buf[0], 0);
	c = cmd_raw("a0 00 00 00 00 00 00 00 01 00 00 00", buf, 256);
	expect_good(i, 0, &c);
	ck_assert_uint_eq(be32_get(BE_AT(be32, buf, 0)), 16);
	c = cmd_read(0, 1, buf, sizeof(buf));
	expect_good(i, 1, &c);
}

START_TEST(an_absent_file_degrades_its_volume_until_it_is_back)
{
	uint8_t buf[4096];
	struct ini *i = host_of_both();
	struct cmd c = cmd_write(8, 8, buf, sizeof(buf));

	ck_assert_int_eq(ini_settle(i, 0), 0);
	pattern_fill(buf, sizeof(buf), 8, 1);
	expect_good(i, 0, &c);
	ini_logout(i);

	ck_assert_int_eq(daemon_stop(d), 0);
	ck_assert_int_eq(rename(file, aside), 0);
	ck_assert_int_eq(daemon_run(d), 0);
	ck_assert(wait_until(is_degraded, "gone", DEADLINE_MS));
	ck_assert_int_ne(access(file, F_OK), 0);	/* not made anew */
	adm_ok(d, "volume list");
	ck_assert_uint_eq(json_array_size(d->json), 2);
	i = host_of_both();
	lun_0_becomes_ready(i);

	ck_assert_int_eq(rename(aside, file), 0);
	ck_assert(wait_until(is_online, (void *)"gone", DEADLINE_MS));
	ck_assert_int_eq(ini_settle(i, 0), 0);
	memset(buf, 0, sizeof(buf));
	c = cmd_read(8, 8, buf, sizeof(buf));
	expect_good(i, 0, &c);
	ck_assert_int_eq(pattern_diff(buf, sizeof(buf), 8, 1), -1);
	ini_logout(i);
}
END_TEST

START_TEST(a_short_file_degrades_its_volume_until_it_is_long_enough)
{
	struct ini *i;

	ck_assert_int_eq(daemon_stop(d), 0);
	ck_assert_int_eq(truncate(file, 1 << 20), 0);
	ck_assert_int_eq(daemon_run(d), 0);
	ck_assert(wait_until(is_degraded, (void *)"gone", DEADLINE_MS));
	i = host_of_both();
	lun_0_becomes_ready(i);
	ck_assert_int_eq(truncate(file, 16 << 20), 0);
	ck_assert(wait_until(is_online, (void *)"gone", DEADLINE_MS));
	ck_assert_int_eq(ini_settle(i, 0), 0);
	ini_logout(i);
}
END_TEST

START_TEST(identities_survive_it)
{
	char naa[40];
	struct ini *i;

	adm_ok(d, "volume show gone");
	snprintf(naa, sizeof(naa), "%s", json_text(d->json, "naa"));
	ck_assert_uint_eq(strlen(naa), 32);
	ck_assert_int_eq(daemon_stop(d), 0);
	ck_assert_int_eq(rename(file, aside), 0);
	ck_assert_int_eq(daemon_run(d), 0);
	adm_ok(d, "volume show gone");
	ck_assert_str_eq(json_text(d->json, "naa"), naa);
	ck_assert_int_eq(rename(aside, file), 0);
	ck_assert(wait_until(is_online, (void *)"gone", DEADLINE_MS));
	adm_ok(d, "volume show gone");
	ck_assert_str_eq(json_text(d->json, "naa"), naa);
	i = host_of_both();
	ck_assert_int_eq(ini_settle(i, 0), 0);
	ini_logout(i);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("degraded");
	char args[340];

	d = daemon_start(NULL);
	if (!d)
		return EXIT_FAILURE;
	snprintf(file, sizeof(file), "%s/gone.img", d->dir);
	snprintf(aside, sizeof(aside), "%s.aside", file);
	snprintf(args, sizeof(args), "--size 16M --path %s", file);
	if (adm_target(d, IQN) || adm_lun(d, IQN, 0, "gone", args) ||
	    adm_lun(d, IQN, 1, "fine", "--size 16M"))
		return EXIT_FAILURE;
	tcase_add_test(tc,
		an_absent_file_degrades_its_volume_until_it_is_back);
	tcase_add_test(tc,
		a_short_file_degrades_its_volume_until_it_is_long_enough);
	tcase_add_test(tc, identities_survive_it);
	return func_run("volume_degraded", tc);
}
