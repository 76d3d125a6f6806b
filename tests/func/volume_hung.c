/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A volume on storage that does not answer, here a file system that is frozen:
 * it stalls itself and nothing else, whatever hosts and the administrator do.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/ini.h"

#define IQN	"iqn.2026-11.example.test:hung"
#define HUNG	1	/* the LUN of the volume */
#define AT_ONCE	10000	/* ms */

static struct daemon *d;
static const char *dir;
static struct ini *stuck, *other;
static uint8_t data[4096], list[24], answer[4096];
static const char *fault;

static void check(bool ok, const char *what)
{
	if (!ok && !fault)
		fault = what;
}

static void freeze(void)
{
	fault = NULL;
	ck_assert_int_eq(run_program("fsfreeze -f %s", dir), 0);
}

/* Before any assertion: what is frozen cannot be unmounted. */
static void thaw(void)
{
	run_program("fsfreeze -u %s", dir);
	ck_assert_msg(!fault, "%s", fault);
}

static void enter(void)
{
	stuck = ini_open(d, .target = IQN);
	other = ini_open(d, .target = IQN);
	ck_assert(stuck && other);
	ck_assert_int_eq(ini_settle(stuck, HUNG), 0);
	ck_assert_int_eq(ini_settle(other, 0), 0);
}

static struct cmd wrong(int n)
{
	static const struct unmap_range range = { 0, 2048 };

	switch (n) {
	case 0:
		return cmd_write(0, 8, data, 4096);	/* over what is there */
	case 1:
		return cmd_write(9000, 8, data, 4096);	/* into a hole */
	case 2:
		return cmd_caw(0, 1, data, 1024);
	case 3:
		return cmd_write_same(0, 1, 0, data, 512);
	case 4:
		return cmd_unmap(&range, 1, list);
	case 5:
		return cmd_sync();
	default:
		return cmd_read(7000, 8, answer, sizeof(answer));
	}
}
#define WRONGS 7

START_TEST(commands_to_it_stall_no_other_volume_of_the_worker)
{
	struct cmd c[WRONGS], w;
	int n;

	enter();
	w = cmd_write(0, 8, data, 4096);
	expect_good(stuck, HUNG, &w);
	freeze();
	for (n = 0; n < WRONGS; n++) {
		c[n] = wrong(n);
		ini_start(stuck, HUNG, &c[n]);
		ini_poll(stuck, 20);
		w = cmd_write((uint64_t)n, 1, data, 512);
		ini_start(other, 0, &w);
		check(ini_wait(other, &w, AT_ONCE) == 0,
		      "another volume waits");
	}
	check(adm(d, "volume list") == 0, "volume list");
	check(adm(d, "vaai status") == 0, "vaai status");
	run_program("fsfreeze -u %s", dir);
	for (n = 0; n < WRONGS; n++)
		ini_wait(stuck, &c[n], DEADLINE_MS);
	check(c[0].status == 0, "the write was lost");
	ck_assert_msg(!fault, "%s", fault);
	ini_logout(stuck);
	ini_logout(other);
}
END_TEST

START_TEST(its_sessions_end_and_it_is_deleted_while_it_hangs)
{
	struct cmd c = cmd_write(0, 8, data, 4096), w;
	uint64_t start;

	enter();
	adm_ok(d, "session list");
	freeze();
	ini_start(stuck, HUNG, &c);
	ini_poll(stuck, 50);
	start = now_ms();
	check(adm(d, "session end %lld",
		  (long long)json_number(d->json, "0.id")) == 0,
	      "session end");
	check(now_ms() - start < AT_ONCE, "session end waits");
	start = now_ms();
	check(adm(d, "volume delete hung --force --erase") == 0,
	      "volume delete");
	check(now_ms() - start < AT_ONCE, "volume delete waits");
	check(adm(d, "volume show hung") == 1, "it is there still");
	check(ini_settle(other, 0) == 0, "the other session waits");
	w = cmd_write(0, 1, data, 512);
	ini_start(other, 0, &w);
	check(ini_wait(other, &w, AT_ONCE) == 0, "another volume waits");
	thaw();
	ini_drop(stuck);
	ini_logout(other);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("hung");

	d = daemon_start("--workers 1");
	if (!d || adm_target(d, IQN) || adm_lun(d, IQN, 0, "vol", "--size 8M"))
		return EXIT_FAILURE;
	dir = fs_mount(d, "ext4", 64);
	if (!dir || run_program("fsfreeze -f %s", dir) ||
	    run_program("fsfreeze -u %s", dir)) {
		printf("no file system can be frozen here\n");
		return 77;
	}
	if (adm(d, "volume create hung --path %s/hung.img --size 16M", dir) ||
	    adm(d, "lun add %s hung --lun %d", IQN, HUNG))
		return EXIT_FAILURE;
	tcase_add_test(tc, commands_to_it_stall_no_other_volume_of_the_worker);
	tcase_add_test(tc,
		its_sessions_end_and_it_is_deleted_while_it_hangs);
	return func_run("volume_hung", tc);
}
