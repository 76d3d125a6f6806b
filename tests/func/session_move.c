/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sessions are moved between workers while they carry load in both directions:
 * no command is lost, no byte is wrong, no host notices.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/ini.h"

#define IQN	"iqn.2026-11.example.test:move"
#define MOVES	80
#define DEPTH	16
#define BYTES	(64u * 1024)
#define BLOCKS	(BYTES / 512)

static struct daemon *d;

struct slot {
	struct cmd	c;
	uint8_t		data[BYTES];
	uint64_t	seed;
	bool		reading;
};

struct load {
	pthread_t	 thread;
	struct ini	*i;
	uint64_t	 base;		/* its first block */
	struct slot	 slots[DEPTH];
	uint64_t	 rounds;
	atomic_bool	 stop;
	const char	*fault;
	int		 status;
	unsigned	 sense;
};

static int slot_start(struct load *l, int n)
{
	struct slot *s = &l->slots[n];
	uint64_t lba = l->base + (uint64_t)n * BLOCKS;

	if (s->reading) {
		s->c = cmd_read(lba, BLOCKS, s->data, BYTES);
	} else {
		pattern_fill(s->data, BYTES, lba, s->seed);
		s->c = cmd_write(lba, BLOCKS, s->data, BYTES);
	}
	return ini_start(l->i, 0, &s->c);
}

static void slot_turn(struct load *l, int n)
{
	struct slot *s = &l->slots[n];
	uint64_t lba = l->base + (uint64_t)n * BLOCKS;

	if (s->c.status != 0) {
		l->fault = "a command failed";
		l->status = s->c.status;
		l->sense = sense_key(&s->c) << 16 | sense_asc(&s->c);
		return;
	}
	if (s->reading) {
		if (pattern_diff(s->data, BYTES, lba, s->seed) >= 0)
			l->fault = "a READ is wrong";
		s->seed++;
		l->rounds++;
	}
	s->reading = !s->reading;
	if (slot_start(l, n))
		l->fault = "a command could not be sent";
}

static void *load_main(void *arg)
{
	struct load *l = arg;
	int n;

	for (n = 0; n < DEPTH; n++) {
		if (slot_start(l, n))
			l->fault = "a command could not be sent";
	}
	while (!atomic_load(&l->stop) && !l->fault) {
		ini_poll(l->i, 100);
		if (!l->i->up)
			l->fault = "the connection is gone";
		for (n = 0; n < DEPTH && !l->fault; n++) {
			if (l->slots[n].c.ended)
				slot_turn(l, n);
		}
	}
	for (n = 0; n < DEPTH && !l->fault; n++) {
		if (ini_wait(l->i, &l->slots[n].c, DEADLINE_MS))
			l->fault = "a command did not end";
	}
	return NULL;
}

static struct load *load_start(int k)
{
	struct load *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->base = (uint64_t)k * DEPTH * BLOCKS;
	l->i = ini_open(d, .target = IQN, .no_immediate = k & 1,
			.digest = k & 1 ? ISCSI_HEADER_DIGEST_CRC32C : 0);
	if (!l->i || ini_settle(l->i, 0) ||
	    pthread_create(&l->thread, NULL, load_main, l)) {
		free(l);
		return NULL;
	}
	return l;
}

START_TEST(sessions_move_under_load_and_nothing_is_lost)
{
	struct load *l[2];
	int id[2], n, k;

	for (k = 0; k < 2; k++) {
		l[k] = load_start(k);
		ck_assert(l[k] != NULL);
	}
	adm_ok(d, "session list");
	ck_assert_uint_eq(json_array_size(d->json), 2);
	id[0] = (int)json_number(d->json, "0.id");
	id[1] = (int)json_number(d->json, "1.id");
	for (n = 0; n < MOVES && !l[0]->fault && !l[1]->fault; n++)
		adm_ok(d, "session move %d %d", id[n & 1], n / 2 & 1);
	for (k = 0; k < 2; k++) {
		atomic_store(&l[k]->stop, true);
		pthread_join(l[k]->thread, NULL);
	}
	for (k = 0; k < 2; k++) {
		ck_assert_msg(!l[k]->fault, "%s (status %d, sense %06x)",
			      l[k]->fault, l[k]->status, l[k]->sense);
		ck_assert_uint_gt(l[k]->rounds, 0);
		printf("session %d: %llu rounds\n", k,
		       (unsigned long long)l[k]->rounds);
		ck_assert_int_eq(ini_settle(l[k]->i, 0), 0);
		ini_logout(l[k]->i);
		free(l[k]);
	}
}
END_TEST

struct place {
	int	id, worker;
};

static bool is_on(void *arg)
{
	struct place *p = arg;

	return adm(d, "session show %d", p->id) == 0 &&
	       json_number(d->json, "worker") == p->worker;
}

START_TEST(an_idle_session_moves_and_keeps_its_unit_attentions)
{
	struct ini *i = ini_open(d, .target = IQN);
	struct cmd c = cmd_tur();
	int id, n;

	ck_assert(i != NULL);
	adm_ok(d, "session list");
	id = (int)json_number(d->json, "0.id");
	for (n = 0; n < 5; n++) {
		adm_ok(d, "session move %d %d", id, n & 1);
		ck_assert(wait_until(is_on, &(struct place){ id, n & 1 },
				     DEADLINE_MS));
	}
	expect_sense(i, 0, &c, 0x6, 0x2900);
	c = cmd_tur();
	expect_good(i, 0, &c);
	ck_assert_int_eq(ini_logout(i), 0);
}
END_TEST

START_TEST(a_move_to_nowhere_or_of_nobody_is_refused)
{
	struct ini *i = ini_open(d, .target = IQN);

	ck_assert(i != NULL);
	adm_refused(d, "session move 99999 0");
	adm_ok(d, "session list");
	adm_refused(d, "session move %d 64",
		    (int)json_number(d->json, "0.id"));
	ck_assert_int_eq(ini_settle(i, 0), 0);
	ini_logout(i);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("move");

	d = daemon_start(NULL);
	if (!d || adm_target(d, IQN) ||
	    adm_lun(d, IQN, 0, "vol", "--size 64M --durability write-back"))
		return EXIT_FAILURE;
	tcase_add_test(tc, sessions_move_under_load_and_nothing_is_lost);
	tcase_add_test(tc,
		an_idle_session_moves_and_keeps_its_unit_attentions);
	tcase_add_test(tc, a_move_to_nowhere_or_of_nobody_is_refused);
	return func_run("session_move", tc);
}
