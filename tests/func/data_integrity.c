/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was written is what is read: on every kind of volume, in sizes from one
 * block to 8 MiB, aligned or not, one at a time and many at once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/ini.h"

#define IQN	"iqn.2026-11.example.test:data"
#define SIZE	(64u << 20)
#define MOST	(8u << 20)
#define DEPTH	32

static struct daemon *d;

/* LUN n is kind n. */
static const struct kind {
	const char	*name, *args;
	unsigned	 block_size, loop;	/* loop: sector size of one */
} kinds[] = {
	{ "thin", "--size 64M", 512, 0 },
	{ "thick", "--size 64M --thick", 512, 0 },
	{ "write-back", "--size 64M --durability write-back", 512, 0 },
	{ "big-blocks", "--size 64M --block-size 4096", 4096, 0 },
	{ "direct", "--size 64M --block-size 4096 --io direct", 4096, 0 },
	{ "device", "", 512, 512 },
	{ "device-write-back", "--durability write-back", 512, 512 },
};
#define KINDS (int)(sizeof(kinds) / sizeof(kinds[0]))

static bool there[sizeof(kinds) / sizeof(kinds[0])];

static const struct session_kind {
	const char *name;
	bool no_immediate, initial_r2t;
	enum iscsi_header_digest digest;
} sessions[] = {
	{ "immediate and unsolicited data", false, false, 0 },
	{ "no unsolicited data", false, true, 0 },
	{ "solicited data alone", true, true, ISCSI_HEADER_DIGEST_CRC32C },
};

static uint8_t out[MOST], in[MOST];

static void write_read(struct ini *i, int k, uint64_t lba, uint32_t blocks)
{
	uint32_t bs = kinds[k].block_size;
	size_t len = (size_t)blocks * bs;
	struct cmd w = cmd_write(lba, blocks, out, len);
	struct cmd r = cmd_read(lba, blocks, in, len);
	ssize_t at;

	pattern_fill(out, len, lba * (bs / 512), blocks);
	memset(in, 0xa5, len);
	expect_good(i, k, &w);
	ck_assert_int_eq(w.residual, 0);
	expect_good(i, k, &r);
	ck_assert_int_eq(r.residual, 0);
	at = pattern_diff(in, len, lba * (bs / 512), blocks);
	ck_assert_msg(at < 0, "%s: %u blocks at %llu: wrong at byte %zd",
		      kinds[k].name, blocks, (unsigned long long)lba, at);
}

/* Sizes in units of 512 bytes. */
static const uint32_t sizes[] = { 1, 2, 7, 8, 15, 16, 17, 64, 127, 128, 129,
	255, 256, 257, 511, 512, 513, 1024, 2047, 2048, 2049, 4096, 8191,
	16384 };
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

START_TEST(every_size_comes_back_as_it_was_written)
{
	const struct session_kind *s = &sessions[_i % 3];
	int k = _i / 3;
	uint32_t bs = kinds[k].block_size, n, blocks;
	uint64_t end = SIZE / bs;
	struct ini *i;

	if (!there[k]) {
		skip_case("no %s here", kinds[k].name);
		return;
	}
	i = ini_open(d, .target = IQN, .no_immediate = s->no_immediate,
		     .initial_r2t = s->initial_r2t, .digest = s->digest);
	ck_assert_msg(i != NULL, "%s: %s", s->name, ini_error());
	ck_assert_int_eq(ini_settle(i, k), 0);
	for (n = 0; n < SIZES; n++) {
		blocks = sizes[n] * 512 / bs;
		if (blocks == 0)
			continue;
		write_read(i, k, n * 3 + 1, blocks);
		write_read(i, k, end - blocks, blocks);
	}
	ini_logout(i);
}
END_TEST

struct slot {
	struct cmd	 c;
	uint8_t		 buf[64 * 1024];
	uint64_t	 lba, seed;
	uint32_t	 blocks;
	unsigned	 left;		/* rounds */
	bool		 reading, bad;
};

static struct slot slots[DEPTH];

static void slot_next(struct ini *i, int k, struct slot *s)
{
	uint32_t bs = kinds[k].block_size;
	size_t len = (size_t)s->blocks * bs;

	if (s->reading) {
		s->c = cmd_read(s->lba, s->blocks, s->buf, len);
	} else {
		pattern_fill(s->buf, len, s->lba, s->seed);
		s->c = cmd_write(s->lba, s->blocks, s->buf, len);
	}
	s->bad = ini_start(i, k, &s->c) != 0;
}

static void slot_ended(struct ini *i, int k, struct slot *s)
{
	size_t len = (size_t)s->blocks * kinds[k].block_size;

	s->bad = s->c.status != 0;
	if (s->reading)
		s->bad |= pattern_diff(s->buf, len, s->lba, s->seed) >= 0;
	if (s->bad)
		return;
	if (s->reading) {
		s->left--;
		s->seed++;
	}
	s->reading = !s->reading;
	if (s->left)
		slot_next(i, k, s);
}

START_TEST(many_commands_at_once_do_not_touch_each_other)
{
	struct ini *i = ini_open(d, .target = IQN);
	int k = _i, n, busy;
	uint64_t end = now_ms() + DEADLINE_MS;

	if (!there[k]) {
		skip_case("no %s here", kinds[k].name);
		return;
	}
	ck_assert_msg(i != NULL, "%s", ini_error());
	ck_assert_int_eq(ini_settle(i, k), 0);
	for (n = 0; n < DEPTH; n++) {
		slots[n] = (struct slot){
			.lba = (uint64_t)n * 16, .seed = (uint64_t)n,
			.blocks = kinds[k].block_size == 512 ?
				  1 + (uint32_t)n % 16 : 1 + (uint32_t)n % 8,
			.left = 8,
		};
		slot_next(i, k, &slots[n]);
	}
	do {
		ini_poll(i, 100);
		busy = 0;
		for (n = 0; n < DEPTH; n++) {
			struct slot *s = &slots[n];

			if (s->left && s->c.ended)
				slot_ended(i, k, s);
			ck_assert_msg(!s->bad, "%s: slot %d, %s, status %d",
				      kinds[k].name, n,
				      s->reading ? "read" : "write",
				      s->c.status);
			busy += s->left != 0;
		}
	} while (busy && now_ms() < end);
	ck_assert_int_eq(busy, 0);
	ini_logout(i);
}
END_TEST

START_TEST(a_restart_loses_nothing)
{
	struct ini *i = ini_open(d, .target = IQN);
	int k;

	ck_assert_msg(i != NULL, "%s", ini_error());
	for (k = 0; k < KINDS; k++) {
		if (!there[k])
			continue;
		ck_assert_int_eq(ini_settle(i, k), 0);
		write_read(i, k, 100, 64);
	}
	ini_logout(i);
	ck_assert_int_eq(daemon_restart(d), 0);
	i = ini_open(d, .target = IQN);
	ck_assert_msg(i != NULL, "%s", ini_error());
	for (k = 0; k < KINDS; k++) {
		uint32_t bs = kinds[k].block_size;
		struct cmd r = cmd_read(100, 64, in, 64 * bs);

		if (!there[k])
			continue;
		ck_assert_int_eq(ini_settle(i, k), 0);
		expect_good(i, k, &r);
		ck_assert_int_eq(pattern_diff(in, 64 * bs, 100 * (bs / 512),
					      64), -1);
	}
	ini_logout(i);
}
END_TEST

START_TEST(a_null_volume_takes_everything_and_needs_a_size)
{
	struct ini *i;
	struct cmd c;

	adm_refused(d, "volume create nothing --path null:");
	adm_ok(d, "volume create nothing --path null: --size 1G");
	adm_ok(d, "lun add %s nothing --lun 20", IQN);
	i = ini_open(d, .target = IQN);
	ck_assert(i != NULL);
	ck_assert_int_eq(ini_settle(i, 20), 0);
	c = cmd_write(0, MOST / 512, out, MOST);
	expect_good(i, 20, &c);
	c = cmd_read(0, MOST / 512, in, MOST);
	expect_good(i, 20, &c);
	ini_logout(i);
	adm_ok(d, "lun remove %s 20", IQN);
	adm_ok(d, "volume delete nothing");
}
END_TEST

static int prepare(void)
{
	char args[256];
	int k;

	if (adm_target(d, IQN))
		return -1;
	for (k = 0; k < KINDS; k++) {
		const char *dev = kinds[k].loop ?
			loop_attach(d, SIZE >> 20, kinds[k].loop) : NULL;

		if (kinds[k].loop && !dev)
			continue;
		snprintf(args, sizeof(args), "%s%s %s", dev ? "--path " : "",
			 dev ? dev : "", kinds[k].args);
		if (adm_lun(d, IQN, k, kinds[k].name, args))
			return -1;
		there[k] = true;
	}
	return 0;
}

int main(void)
{
	TCase *tc = tcase_create("data");

	d = daemon_start(NULL);
	if (!d || prepare())
		return EXIT_FAILURE;
	tcase_add_loop_test(tc, every_size_comes_back_as_it_was_written, 0,
			    KINDS * 3);
	tcase_add_loop_test(tc, many_commands_at_once_do_not_touch_each_other,
			    0, KINDS);
	tcase_add_test(tc, a_restart_loses_nothing);
	tcase_add_test(tc, a_null_volume_takes_everything_and_needs_a_size);
	return func_run("data_integrity", tc);
}
