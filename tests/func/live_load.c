/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Primitives that are switched off and on while a host uses them: each command
 * is done or refused as one that does not exist, nothing else goes wrong, and
 * what hosts are told follows at once.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/ini.h"

#define IQN	"iqn.2026-11.example.test:load"
#define ROUNDS	4
#define BLOCKS	64u
#define BYTES	(BLOCKS * 512)

static struct daemon *d;
static struct ini *host, *busy;
static atomic_bool stop;

struct load {
	pthread_t thread;
	unsigned  good, told, refused, wrong;
	char	  why[80];
};

/* Is it to be sent again? */
static bool account(struct load *l, const struct cmd *c, bool may_go)
{
	unsigned key = sense_key(c), asc = sense_asc(c);

	if (c->status == 0) {
		l->good++;
	} else if (c->status == 2 && key == 0x6 && asc == 0x3f03) {
		l->told++;
		return true;
	} else if (may_go && c->status == 2 && key == 0x5 && asc == 0x2000) {
		l->refused++;
	} else {
		l->wrong++;
		snprintf(l->why, sizeof(l->why), "%02x: status %d, %x/%04x",
			 c->cdb[0], c->status, key, asc);
	}
	return false;
}

static void use(struct load *l, struct cmd c, bool may_go)
{
	struct cmd again = c;

	do {
		again = c;
		ini_run(busy, 0, &again);
	} while (account(l, &again, may_go));
}

static void *load(void *arg)
{
	static uint8_t out[BYTES], in[BYTES], zeros[512];
	struct unmap_range r = { 2 * BLOCKS, BLOCKS };
	struct load *l = arg;
	uint64_t seed = 0;
	uint8_t list[24];

	while (!atomic_load(&stop)) {
		pattern_fill(out, BYTES, 0, ++seed);
		use(l, cmd_write(0, BLOCKS, out, BYTES), false);
		use(l, cmd_unmap(&r, 1, list), true);
		use(l, cmd_write_same(BLOCKS, BLOCKS, 0, zeros, 512), true);
		use(l, cmd_read(0, BLOCKS, in, BYTES), false);
		if (memcmp(in, out, BYTES)) {
			l->wrong++;
			snprintf(l->why, sizeof(l->why), "other data");
		}
	}
	return NULL;
}

/* REPORT SUPPORTED OPERATION CODES: 1 not supported, 3 supported. */
static unsigned support(const char *opcode)
{
	uint8_t answer[64];
	char cdb[64];
	struct cmd c;

	snprintf(cdb, sizeof(cdb), "a3 0c 01 %s 00 00 00 00 00 40 00 00",
		 opcode);
	c = cmd_raw(cdb, answer, sizeof(answer));
	expect_good(host, 0, &c);
	return answer[1] & 7;
}

static void switch_to(const char *word, bool on)
{
	uint8_t page[8];
	struct cmd c = cmd_inquiry(0xb2, page, sizeof(page));

	adm_ok(d, "volume set vol vaai.zero=%s vaai.delete=%s", word, word);
	ini_settle(host, 0);
	ck_assert_uint_eq(support("42"), on ? 3 : 1);
	ck_assert_uint_eq(support("93"), on ? 3 : 1);
	expect_good(host, 0, &c);
	ck_assert_uint_eq(page[5] & 0xe0, on ? 0xe0 : 0);
}

START_TEST(primitives_are_switched_off_and_on_under_load)
{
	struct load l = { .good = 0 };
	int i;

	atomic_store(&stop, false);
	ck_assert(!pthread_create(&l.thread, NULL, load, &l));
	for (i = 0; i < ROUNDS; i++) {
		switch_to("off", false);
		switch_to("on", true);
	}
	atomic_store(&stop, true);
	pthread_join(l.thread, NULL);
	ck_assert_msg(!l.wrong, "%u, the last %s", l.wrong, l.why);
	ck_assert_uint_gt(l.good, 0);
	ck_assert_uint_gt(l.told, 0);
}
END_TEST

/* One that asks nothing meanwhile is told when it does. */
START_TEST(an_idle_host_is_told_of_a_new_size_once)
{
	struct cmd c = cmd_tur();

	ini_settle(host, 0);
	adm_ok(d, "volume resize vol 24M");
	adm_ok(d, "volume resize vol 32M");
	expect_sense(host, 0, &c, 0x6, 0x2a09);
	c = cmd_tur();
	expect_good(host, 0, &c);
}
END_TEST

START_TEST(a_volume_is_made_read_only_and_writable_again)
{
	static uint8_t block[512];
	struct cmd c = cmd_write(0, 1, block, 512);

	ini_settle(host, 0);
	adm_ok(d, "volume set vol read-only=on");
	expect_sense(host, 0, &c, 0x6, 0x2a01);
	c = cmd_write(0, 1, block, 512);
	expect_sense(host, 0, &c, 0x7, 0x2700);
	c = cmd_read(0, 1, block, 512);
	expect_good(host, 0, &c);
	adm_ok(d, "volume set vol read-only=off");
	ini_settle(host, 0);
	c = cmd_write(0, 1, block, 512);
	expect_good(host, 0, &c);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("live load");

	d = daemon_start(NULL);
	if (!d || adm_target(d, IQN) ||
	    adm_lun(d, IQN, 0, "vol", "--size 16M"))
		return EXIT_FAILURE;
	host = ini_open(d, .target = IQN);
	busy = ini_open(d, .target = IQN);
	if (!host || !busy || ini_settle(host, 0) || ini_settle(busy, 0))
		return EXIT_FAILURE;
	ini_keep(host);
	ini_keep(busy);
	tcase_add_test(tc, primitives_are_switched_off_and_on_under_load);
	tcase_add_test(tc, an_idle_host_is_told_of_a_new_size_once);
	tcase_add_test(tc, a_volume_is_made_read_only_and_writable_again);
	return func_run("live_load", tc);
}
