/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A host whose connection died comes back while its old writes are still under
 * way: none of them may land after a write of the new session.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/ini.h"

#define IQN	"iqn.2026-11.example.test:again"
#define ROUNDS	15
#define WRITES	24
#define BLOCKS	128u			/* of one write */
#define BYTES	(BLOCKS * 512)

static struct daemon *d;
static uint8_t old_data[WRITES][BYTES], new_data[WRITES][BYTES];
static struct cmd old_cmd[WRITES], new_cmd[WRITES];

/* Starts writes of this seed, each to its place. */
static int start_writes(struct ini *i, struct cmd *c, uint8_t (*data)[BYTES],
			uint64_t seed)
{
	int n;

	for (n = 0; n < WRITES; n++) {
		uint64_t lba = (uint64_t)n * BLOCKS;

		pattern_fill(data[n], BYTES, lba, seed);
		c[n] = cmd_write(lba, BLOCKS, data[n], BYTES);
		if (ini_start(i, 0, &c[n]))
			return -1;
	}
	return 0;
}

/* Where the medium is not as written with this seed; -1: nowhere. */
static ssize_t wrong_at(struct ini *i, uint64_t seed)
{
	static uint8_t buf[BYTES];
	ssize_t at;
	int n;

	for (n = 0; n < WRITES; n++) {
		uint64_t lba = (uint64_t)n * BLOCKS;
		struct cmd c = cmd_read(lba, BLOCKS, buf, BYTES);

		if (ini_run(i, 0, &c))
			return 0;
		at = pattern_diff(buf, BYTES, lba, seed);
		if (at >= 0)
			return (ssize_t)lba * 512 + at;
	}
	return -1;
}

static struct ini *come_back(uint32_t isid)
{
	struct ini *i = ini_open(d, .target = IQN, .isid = isid);

	if (i && ini_settle(i, 0)) {
		ini_drop(i);
		return NULL;
	}
	return i;
}

START_TEST(no_old_write_lands_after_a_new_one)
{
	struct ini *old, *new = come_back(5);
	uint64_t seed = 0;
	int round, n;

	ck_assert_msg(new != NULL, "%s", ini_error());
	for (round = 0; round < ROUNDS; round++) {
		old = new;
		ck_assert_int_eq(start_writes(old, old_cmd, old_data, ++seed),
				 0);
		/* let a part of them reach the target, more each round */
		for (n = 0; n < 2 + round * 2; n++)
			ini_poll(old, 1);
		new = come_back(5);
		ck_assert_msg(new != NULL, "round %d: %s", round, ini_error());
		ck_assert_int_eq(start_writes(new, new_cmd, new_data, ++seed),
				 0);
		for (n = 0; n < WRITES; n++)
			ck_assert_int_eq(ini_wait(new, &new_cmd[n],
						  DEADLINE_MS), 0);
		ck_assert_int_eq(wrong_at(new, seed), -1);
		ini_drop(old);
		/* and none comes later */
		poll(NULL, 0, 20);
		ck_assert_int_eq(wrong_at(new, seed), -1);
	}
	ini_logout(new);
}
END_TEST

START_TEST(a_session_that_comes_back_is_told_of_the_nexus_loss_or_reset)
{
	struct ini *old = ini_open(d, .target = IQN, .isid = 6), *new;
	struct cmd c = cmd_tur();

	ck_assert(old != NULL);
	ck_assert_int_eq(ini_settle(old, 0), 0);
	new = ini_open(d, .target = IQN, .isid = 6);
	ck_assert(new != NULL);
	ini_run(new, 0, &c);
	ck_assert_int_eq(c.status, 2);
	ck_assert_uint_eq(sense_key(&c), 6);
	ck_assert_uint_eq(sense_asc(&c) >> 8, 0x29);
	ini_drop(old);
	ini_logout(new);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("reinstatement");

	d = daemon_start(NULL);
	if (!d || adm_target(d, IQN) || adm_lun(d, IQN, 0, "vol",
						"--size 64M"))
		return EXIT_FAILURE;
	tcase_add_test(tc, no_old_write_lands_after_a_new_one);
	tcase_add_test(tc,
		a_session_that_comes_back_is_told_of_the_nexus_loss_or_reset);
	return func_run("target_reinstate", tc);
}
