/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Persistent reservations as clusters use them: hosts on sessions of their own,
 * which come and go, and a daemon that does.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/ini.h"

#define IQN	"iqn.2026-11.example.test:cluster"
#define OTHER	"iqn.2026-11.example.test:cluster2"
#define HOST_A	"iqn.2026-11.example.test:a"
#define HOST_B	"iqn.2026-11.example.test:b"
#define DEPTH	128
#define BYTES	4096u

enum {
	REGISTER, RESERVE, RELEASE, CLEAR, PREEMPT, PREEMPT_ABORT,
	REGISTER_IGNORE,
};
enum { WE = 1, WE_RO = 5, EA_RO = 6, WE_AR = 7 };
enum { APTPL = 1 };
enum { CONFLICT = 0x18 };

static struct daemon *d;
static uint8_t data[DEPTH][BYTES];

static struct ini *host(const char *name, uint32_t isid)
{
	struct ini *i = ini_open(d, .target = IQN, .initiator = name,
				 .isid = isid);

	ck_assert_msg(i != NULL, "%s", ini_error());
	while (ini_settle(i, 0))
		;
	return i;
}

static int pr_out(struct ini *i, int sa, int type, uint64_t key,
		  uint64_t sa_key, uint8_t flags, struct cmd *ret)
{
	uint8_t list[24] = { 0 };
	struct cmd c = { .cdb = { 0x5f, (uint8_t)sa, (uint8_t)type, 0, 0, 0,
				  0, 0, sizeof(list) },
			 .cdb_len = 10, .out = list,
			 .out_len = sizeof(list) };
	be64 k = be64_of(key), s = be64_of(sa_key);

	memcpy(list, &k, sizeof(k));
	memcpy(list + 8, &s, sizeof(s));
	list[20] = flags;
	ini_run(i, 0, &c);
	if (ret)
		*ret = c;
	return c.status;
}

static int reg(struct ini *i, uint64_t key, uint8_t flags)
{
	return pr_out(i, REGISTER_IGNORE, 0, 0, key, flags, NULL);
}

static int reserve(struct ini *i, uint64_t key, int type)
{
	return pr_out(i, RESERVE, type, key, 0, 0, NULL);
}

/* The answer of PERSISTENT RESERVE IN. */
static size_t pr_in(struct ini *i, int sa, uint8_t buf[4096])
{
	struct cmd c = { .cdb = { 0x5e, (uint8_t)sa, 0, 0, 0, 0, 0, 0x10, 0 },
			 .cdb_len = 10, .in = buf, .in_len = 4096 };

	expect_good(i, 0, &c);
	return c.got;
}

static unsigned nkeys(struct ini *i)
{
	uint8_t buf[4096];

	pr_in(i, 0, buf);
	return be32_get(BE_AT(be32, buf, 4)) / 8;
}

static int held_type(struct ini *i)
{
	uint8_t buf[4096];

	return pr_in(i, 1, buf) < 24 ? 0 : buf[21];
}

static int write_block(struct ini *i)
{
	static const uint8_t block[512];
	struct cmd c = cmd_write(0, 1, block, sizeof(block));

	return ini_run(i, 0, &c);
}

static unsigned attention(struct ini *i)
{
	struct cmd c = cmd_tur();

	if (ini_run(i, 0, &c) != 2 || sense_key(&c) != 6)
		return 0;
	return sense_asc(&c);
}

static bool runs(void *arg)
{
	return daemon_run(arg) == 0;
}

/* The kernel lets go of a killed one's sockets a little later. */
static void kill_and_run(void)
{
	daemon_kill9(d);
	ck_assert(wait_until(runs, d, 5000));
}

/* Each case begins with nobody registered. */
static void clear(void)
{
	struct ini *i = host(HOST_A, 0x77);

	ck_assert_int_eq(reg(i, 0x77, 0), 0);
	ck_assert_int_eq(pr_out(i, CLEAR, 0, 0x77, 0, 0, NULL), 0);
	ini_logout(i);
}

START_TEST(the_two_of_a_cluster_fence_each_other)
{
	struct ini *a = host(HOST_A, 1), *b = host(HOST_B, 1);
	uint8_t buf[4096];

	ck_assert_int_eq(reg(a, 0xa, 0), 0);
	ck_assert_int_eq(reserve(a, 0xa, WE_RO), 0);
	ck_assert_int_eq(write_block(b), CONFLICT);
	ck_assert_int_eq(reg(b, 0xb, 0), 0);
	ck_assert_int_eq(write_block(b), 0);
	ck_assert_uint_eq(pr_in(a, 3, buf),
			  8 + be32_get(BE_AT(be32, buf, 4)));
	ck_assert_int_eq(pr_out(b, PREEMPT, WE_RO, 0xb, 0xa, 0, NULL), 0);
	ck_assert_uint_eq(attention(a), 0x2a05);
	ck_assert_uint_eq(attention(a), 0);
	ck_assert_int_eq(write_block(a), CONFLICT);
	ck_assert_int_eq(write_block(b), 0);
	ck_assert_int_eq(reg(a, 0xa, 0), 0);
	ck_assert_int_eq(write_block(a), 0);
	ck_assert_int_eq(pr_out(b, RELEASE, WE_RO, 0xb, 0, 0, NULL), 0);
	ck_assert_uint_eq(attention(a), 0x2a04);
	ck_assert_uint_eq(attention(a), 0);
	ck_assert_int_eq(pr_out(a, CLEAR, 0, 0xa, 0, 0, NULL), 0);
	ck_assert_uint_eq(attention(b), 0x2a03);
	ck_assert_uint_eq(attention(b), 0);
}
END_TEST

START_TEST(a_registrant_survives_relogin_and_another_isid_is_another)
{
	struct ini *a = host(HOST_A, 1), *b = host(HOST_B, 1);

	ck_assert_int_eq(reg(a, 0xa, 0), 0);
	ck_assert_int_eq(reserve(a, 0xa, WE_RO), 0);
	ini_logout(a);
	ck_assert_int_eq(write_block(b), CONFLICT);
	a = host(HOST_A, 1);
	ck_assert_int_eq(write_block(a), 0);
	ini_drop(a);
	a = host(HOST_A, 2);
	ck_assert_int_eq(write_block(a), CONFLICT);
	ck_assert_uint_eq(nkeys(a), 1);
}
END_TEST

START_TEST(it_is_of_the_volume_through_every_target)
{
	struct ini *a = host(HOST_A, 1), *b;

	ck_assert_int_eq(reg(a, 0xa, 0), 0);
	ck_assert_int_eq(reserve(a, 0xa, WE), 0);
	/* the same host by another target port is another nexus */
	b = ini_open(d, .target = OTHER, .initiator = HOST_A, .isid = 1);
	ck_assert(b != NULL);
	while (ini_settle(b, 0))
		;
	ck_assert_int_eq(write_block(b), CONFLICT);
	ck_assert_uint_eq(nkeys(b), 1);
}
END_TEST

START_TEST(with_aptpl_it_survives_kill_9)
{
	struct ini *a = host(HOST_A, 1), *b = host(HOST_B, 1);
	int round;

	ck_assert_int_eq(reg(a, 0xa, APTPL), 0);
	ck_assert_int_eq(reserve(a, 0xa, WE_AR), 0);
	for (round = 0; round < 2; round++) {
		ini_drop(a);
		ini_drop(b);
		kill_and_run();
		b = host(HOST_B, 1);
		ck_assert_int_eq(write_block(b), CONFLICT);
		ck_assert_int_eq(held_type(b), WE_AR);
		a = host(HOST_A, 1);
		ck_assert_int_eq(write_block(a), 0);
	}
	/* and is as gone as it was cleared */
	ck_assert_int_eq(pr_out(a, CLEAR, 0, 0xa, 0, 0, NULL), 0);
	ini_drop(a);
	ini_drop(b);
	kill_and_run();
	b = host(HOST_B, 1);
	ck_assert_uint_eq(nkeys(b), 0);
	ck_assert_int_eq(write_block(b), 0);
}
END_TEST

START_TEST(without_aptpl_a_restart_forgets_it)
{
	struct ini *a = host(HOST_A, 1);

	ck_assert_int_eq(reg(a, 0xa, 0), 0);
	ck_assert_int_eq(reserve(a, 0xa, WE), 0);
	ini_drop(a);
	ck_assert_int_eq(daemon_restart(d), 0);
	a = host(HOST_B, 1);
	ck_assert_uint_eq(nkeys(a), 0);
	ck_assert_int_eq(write_block(a), 0);
}
END_TEST

static bool said(const char *text)
{
	char line[512];
	FILE *f = fopen(d->log, "r");
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, text);
	if (f)
		fclose(f);
	return found;
}

START_TEST(a_damaged_file_is_reported_and_put_aside)
{
	struct ini *a = host(HOST_A, 1);
	char path[256], damaged[280];
	uint8_t byte = 0;
	int fd;

	ck_assert_int_eq(reg(a, 0xa, APTPL), 0);
	ini_drop(a);
	ck_assert_int_eq(daemon_stop(d), 0);
	snprintf(path, sizeof(path), "%s/reservations/vol", d->state);
	snprintf(damaged, sizeof(damaged), "%s,damaged", path);
	fd = open(path, O_RDWR);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pread(fd, &byte, 1, 40), 1);
	byte ^= 1;
	ck_assert_int_eq(pwrite(fd, &byte, 1, 40), 1);
	close(fd);
	ck_assert_int_eq(daemon_run(d), 0);
	ck_assert(said("its persistent reservations are damaged"));
	ck_assert_int_eq(access(damaged, F_OK), 0);
	ck_assert_int_ne(access(path, F_OK), 0);
	a = host(HOST_A, 1);
	ck_assert_uint_eq(nkeys(a), 0);
	ck_assert_int_eq(reg(a, 0xa, APTPL), 0);
	ck_assert_int_eq(access(path, F_OK), 0);
}
END_TEST

START_TEST(a_deleted_volume_leaves_no_reservation)
{
	struct ini *a;
	char path[256];

	ck_assert_int_eq(adm_lun(d, IQN, 5, "short", "--size 8M"), 0);
	a = host(HOST_A, 1);
	ini_logout(a);
	snprintf(path, sizeof(path), "%s/reservations/short", d->state);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	ck_assert_int_eq(access(path, F_OK), 0);
	adm_ok(d, "lun remove %s 5", IQN);
	adm_ok(d, "volume delete short --erase");
	ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

/* Host A writes at full depth, again and again, until it is told off; B
 * preempts and aborts, then writes the same blocks itself. */
START_TEST(preempt_and_abort_of_a_busy_host_is_quick_and_no_write_is_late)
{
	static struct cmd c[DEPTH];
	static uint8_t mine[BYTES], found[BYTES];
	struct ini *a = host(HOST_A, 1), *b = host(HOST_B, 1);
	uint64_t start;
	unsigned n, round;
	struct cmd r;

	ck_assert_int_eq(reg(a, 0xa, 0), 0);
	ck_assert_int_eq(reg(b, 0xb, 0), 0);
	ck_assert_int_eq(reserve(a, 0xa, WE_RO), 0);
	memset(data, 0xaa, sizeof(data));
	memset(mine, 0xbb, sizeof(mine));
	for (n = 0; n < DEPTH; n++) {
		c[n] = cmd_write(n * 8, 8, data[n], BYTES);
		ck_assert_int_eq(ini_start(a, 0, &c[n]), 0);
	}
	for (round = 0; round < 3; round++)
		ini_poll(a, 5);
	start = now_ms();
	ck_assert_int_eq(pr_out(b, PREEMPT_ABORT, WE_RO, 0xb, 0xa, 0, &r), 0);
	ck_assert_uint_lt(now_ms() - start, 2000);
	for (n = 0; n < DEPTH; n++) {
		r = cmd_write(n * 8, 8, mine, BYTES);
		expect_good(b, 0, &r);
	}
	/* A's rest goes on to come */
	for (round = 0; round < 20; round++)
		ini_poll(a, 20);
	for (n = 0; n < DEPTH; n++) {
		r = cmd_read(n * 8, 8, found, BYTES);
		expect_good(b, 0, &r);
		ck_assert_msg(!memcmp(found, mine, BYTES),
			      "a late write at %u", n);
	}
	ini_drop(a);
	a = host(HOST_A, 1);
	ck_assert_int_eq(write_block(a), CONFLICT);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("reservations");

	d = daemon_start(NULL);
	if (!d || adm_target(d, IQN) || adm_target(d, OTHER) ||
	    adm_lun(d, IQN, 0, "vol", "--size 64M") ||
	    adm(d, "lun add %s vol --lun 0", OTHER))
		return EXIT_FAILURE;
	tcase_add_checked_fixture(tc, clear, NULL);
	tcase_add_test(tc, the_two_of_a_cluster_fence_each_other);
	tcase_add_test(tc,
		a_registrant_survives_relogin_and_another_isid_is_another);
	tcase_add_test(tc, it_is_of_the_volume_through_every_target);
	tcase_add_test(tc, with_aptpl_it_survives_kill_9);
	tcase_add_test(tc, without_aptpl_a_restart_forgets_it);
	tcase_add_test(tc, a_damaged_file_is_reported_and_put_aside);
	tcase_add_test(tc, a_deleted_volume_leaves_no_reservation);
	tcase_add_test(tc,
		preempt_and_abort_of_a_busy_host_is_quick_and_no_write_is_late);
	return func_run("reservations", tc);
}
