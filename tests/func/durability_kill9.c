/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon is killed in the middle of write-through writes: every write that
 * got GOOD is there after the restart, whole.  (That the machine's power may
 * fail as well is another test's matter.)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

#include "tests/lib/ini.h"

#define IQN	"iqn.2026-11.example.test:kill"
#define SLOTS	32
#define BLOCKS	16u
#define BYTES	(BLOCKS * 512)
#define ROUNDS	6

static struct daemon *d;

/* Each slot has its blocks, to which it writes one generation after another. */
static struct slot {
	struct cmd	 c;
	uint8_t		 data[BYTES];
	uint64_t	 acked, sent;
} slots[SLOTS];

static uint64_t lba_of(int n)
{
	return (uint64_t)n * 64 + 5;
}

static int send_next(struct ini *i, int n)
{
	struct slot *s = &slots[n];

	s->sent++;
	pattern_fill(s->data, BYTES, lba_of(n), s->sent);
	s->c = cmd_write(lba_of(n), BLOCKS, s->data, BYTES);
	return ini_start(i, 0, &s->c);
}

/* Writes until so many answers came, then kills it; the answers that came. */
static unsigned write_and_kill(struct ini *i, unsigned wanted)
{
	uint64_t end = now_ms() + DEADLINE_MS;
	unsigned answers = 0;
	int n;

	for (n = 0; n < SLOTS; n++)
		send_next(i, n);
	while (answers < wanted && i->up && now_ms() < end) {
		ini_poll(i, 50);
		for (n = 0; n < SLOTS && answers < wanted; n++) {
			struct slot *s = &slots[n];

			if (!s->c.ended || s->c.status != 0)
				continue;
			s->acked = s->sent;
			answers++;
			send_next(i, n);
		}
	}
	daemon_kill9(d);
	/* answers that it sent before its end count as well */
	ini_wait_down(i, 2000);
	for (n = 0; n < SLOTS; n++) {
		if (slots[n].c.ended && slots[n].c.status == 0)
			slots[n].acked = slots[n].sent;
	}
	return answers;
}

/* Is this block of the slot of the acknowledged write, or of the one that got
 * no answer? */
static bool block_right(const struct slot *s, const uint8_t *p, uint64_t lba)
{
	if (pattern_diff(p, 512, lba, s->sent) < 0)
		return true;
	return s->acked ? pattern_diff(p, 512, lba, s->acked) < 0 :
	       zero_diff(p, 512) < 0;
}

/* -1, or the first slot with a block that is neither. */
static int wrong_slot(struct ini *i)
{
	uint8_t buf[BYTES];
	unsigned b;
	int n;

	for (n = 0; n < SLOTS; n++) {
		struct cmd c = cmd_read(lba_of(n), BLOCKS, buf, BYTES);

		if (ini_run(i, 0, &c))
			return n;
		for (b = 0; b < BLOCKS; b++) {
			if (!block_right(&slots[n], buf + b * 512,
					 lba_of(n) + b))
				return n;
		}
	}
	return -1;
}

/* Writes what is known again, so that the next round starts clean. */
static int level(struct ini *i)
{
	int n;

	for (n = 0; n < SLOTS; n++) {
		if (send_next(i, n) ||
		    ini_wait(i, &slots[n].c, DEADLINE_MS))
			return -1;
		slots[n].acked = slots[n].sent;
	}
	return 0;
}

START_TEST(every_write_that_got_good_is_there_after_kill_9)
{
	struct ini *i = ini_open(d, .target = IQN);
	int round;

	ck_assert_msg(i != NULL, "%s", ini_error());
	for (round = 0; round < ROUNDS; round++) {
		ck_assert_int_eq(ini_settle(i, 0), 0);
		ck_assert_uint_gt(write_and_kill(i, 40 + 37 * round), 39);
		ini_drop(i);
		ck_assert_int_eq(daemon_run(d), 0);
		i = ini_open(d, .target = IQN);
		ck_assert_msg(i != NULL, "%s", ini_error());
		ck_assert_int_eq(ini_settle(i, 0), 0);
		ck_assert_int_eq(wrong_slot(i), -1);
		ck_assert_int_eq(level(i), 0);
	}
	ini_logout(i);
}
END_TEST

START_TEST(what_lunadm_said_is_done_survives_kill_9)
{
	char naa[40];

	adm_ok(d, "volume create late --size 8M");
	snprintf(naa, sizeof(naa), "%s", json_text(d->json, "naa"));
	adm_ok(d, "lun add %s late --lun 5", IQN);
	daemon_kill9(d);
	ck_assert_int_eq(daemon_run(d), 0);
	adm_ok(d, "volume show late");
	ck_assert_str_eq(json_text(d->json, "naa"), naa);
	adm_ok(d, "lun list %s", IQN);
	ck_assert(strstr(d->out, "late"));
}
END_TEST

/* Grows and shrinks the volume until the daemon is gone. */
static pid_t resize_for_ever(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	while (!adm(d, "volume resize sized 4M --force") &&
	       !adm(d, "volume resize sized 8M"))
		;
	_exit(0);
}

static bool has_opened(void *arg)
{
	(void)arg;
	return !adm(d, "volume show sized") &&
	       strcmp(json_text(d->json, "state"), "opening");
}

START_TEST(a_volume_being_resized_is_served_after_it)
{
	pid_t pid;
	int n;

	adm_ok(d, "volume create sized --size 8M");
	for (n = 0; n < 8; n++) {
		pid = resize_for_ever();
		usleep(100000 + (unsigned)n * 7000);
		daemon_kill9(d);
		waitpid(pid, NULL, 0);
		ck_assert_int_eq(daemon_run(d), 0);
		ck_assert(wait_until(has_opened, NULL, DEADLINE_MS));
		ck_assert_str_eq(json_text(d->json, "state"), "online");
	}
	adm_ok(d, "volume delete sized --erase");
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("kill -9");

	d = daemon_start(NULL);
	if (!d || adm_target(d, IQN) || adm_lun(d, IQN, 0, "vol",
						"--size 64M"))
		return EXIT_FAILURE;
	tcase_add_test(tc, every_write_that_got_good_is_there_after_kill_9);
	tcase_add_test(tc, what_lunadm_said_is_done_survives_kill_9);
	tcase_add_test(tc, a_volume_being_resized_is_served_after_it);
	return func_run("durability_kill9", tc);
}
