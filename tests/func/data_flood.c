/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * More data in flight than the daemon has buffers: every command ends, what got
 * GOOD is there, and a small command beside is answered at once.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/ini.h"
#include "tests/lib/raw.h"

#define IQN	"iqn.2026-11.example.test:flood"
#define HOSTS	6
#define DEPTH	24
#define BLOCKS	2048u
#define BYTES	(BLOCKS * 512)
#define ROUNDS	4
#define FULL	0x28		/* TASK SET FULL */

static struct daemon *d;

struct flooder {
	pthread_t	 thread;
	struct ini	*i;
	int		 number;
	uint8_t		*data;
	struct cmd	 c[DEPTH];
	unsigned	 good, full;
	const char	*fault;
};

static uint64_t lba_of(const struct flooder *f, int n)
{
	return ((uint64_t)f->number * DEPTH + (unsigned)n) * BLOCKS;
}

static void all_end(struct flooder *f)
{
	int n;

	for (n = 0; n < DEPTH; n++) {
		ini_wait(f->i, &f->c[n], DEADLINE_MS);
		if (f->c[n].status == 0)
			f->good++;
		else if (f->c[n].status == FULL)
			f->full++;
		else
			f->fault = "a command did not end well";
	}
}

static void write_all(struct flooder *f, uint64_t seed)
{
	int n;

	for (n = 0; n < DEPTH; n++) {
		uint8_t *p = f->data + (size_t)n * BYTES;

		pattern_fill(p, BYTES, lba_of(f, n), seed);
		f->c[n] = cmd_write(lba_of(f, n), BLOCKS, p, BYTES);
		ini_start(f->i, 0, &f->c[n]);
	}
	all_end(f);
}

static void read_all(struct flooder *f, uint64_t seed)
{
	bool written[DEPTH];
	int n;

	for (n = 0; n < DEPTH; n++) {
		uint8_t *p = f->data + (size_t)n * BYTES;

		written[n] = f->c[n].status == 0;
		memset(p, 0, BYTES);
		f->c[n] = cmd_read(lba_of(f, n), BLOCKS, p, BYTES);
		ini_start(f->i, 0, &f->c[n]);
	}
	all_end(f);
	for (n = 0; n < DEPTH; n++) {
		if (written[n] && f->c[n].status == 0 &&
		    pattern_diff(f->data + (size_t)n * BYTES, BYTES,
				 lba_of(f, n), seed) >= 0)
			f->fault = "what got GOOD is not there";
	}
}

static void *flood(void *arg)
{
	struct flooder *f = arg;
	uint64_t seed;

	for (seed = 1; seed <= ROUNDS && !f->fault; seed++) {
		write_all(f, seed);
		if (!f->fault)
			read_all(f, seed);
	}
	return NULL;
}

START_TEST(more_data_than_buffers_hurts_nobody)
{
	struct flooder *f = calloc(HOSTS, sizeof(*f));
	struct ini *small = ini_open(d, .target = IQN);
	uint64_t slowest = 0;
	unsigned good = 0, full = 0;
	int n;

	ck_assert(f && small);
	ck_assert_int_eq(ini_settle(small, 0), 0);
	for (n = 0; n < HOSTS; n++) {
		f[n].number = n;
		f[n].data = malloc((size_t)DEPTH * BYTES);
		f[n].i = ini_open(d, .target = IQN);
		ck_assert(f[n].data && f[n].i);
		ck_assert_int_eq(ini_settle(f[n].i, 0), 0);
	}
	for (n = 0; n < HOSTS; n++)
		pthread_create(&f[n].thread, NULL, flood, &f[n]);
	for (n = 0; n < 50; n++) {
		struct cmd c = cmd_tur();

		expect_good(small, 0, &c);
		slowest = c.ms > slowest ? c.ms : slowest;
		ini_poll(small, 5);
	}
	for (n = 0; n < HOSTS; n++) {
		pthread_join(f[n].thread, NULL);
		good += f[n].good;
		full += f[n].full;
	}
	for (n = 0; n < HOSTS; n++) {
		ck_assert_msg(!f[n].fault, "host %d: %s", n, f[n].fault);
		ini_logout(f[n].i);
		free(f[n].data);
	}
	printf("%u good, %u task set full; slowest small command %llu ms\n",
	       good, full, (unsigned long long)slowest);
	ck_assert_uint_gt(good, full);
	ck_assert_uint_lt(slowest, 2000);
	ini_logout(small);
	free(f);
}
END_TEST

START_TEST(hosts_that_stop_in_the_middle_give_their_buffers_back)
{
	struct flooder *f = calloc(HOSTS, sizeof(*f));
	struct ini *i;
	int n, k;

	ck_assert(f != NULL);
	for (n = 0; n < HOSTS; n++) {
		f[n].number = n;
		f[n].data = calloc(DEPTH, BYTES);
		f[n].i = ini_open(d, .target = IQN);
		ck_assert(f[n].data && f[n].i);
		ck_assert_int_eq(ini_settle(f[n].i, 0), 0);
		for (k = 0; k < DEPTH; k++) {
			f[n].c[k] = cmd_write(lba_of(&f[n], k), BLOCKS,
				f[n].data + (size_t)k * BYTES, BYTES);
			ini_start(f[n].i, 0, &f[n].c[k]);
		}
		for (k = 0; k < 4; k++)
			ini_poll(f[n].i, 5);
	}
	for (n = 0; n < HOSTS; n++) {
		ini_drop(f[n].i);
		free(f[n].data);
	}
	free(f);
	i = ini_open(d, .target = IQN);
	ck_assert_msg(i != NULL, "%s", ini_error());
	ck_assert_int_eq(ini_settle(i, 0), 0);
	for (n = 0; n < 8; n++) {
		uint8_t *data = calloc(1, BYTES);
		struct cmd c = cmd_write(0, BLOCKS, data, BYTES);

		expect_good(i, 0, &c);
		free(data);
	}
	ini_logout(i);
}
END_TEST

START_TEST(hosts_that_never_send_their_data_leave_buffers_to_others)
{
	const struct raw_cmd w = { .flags = CMD_WRITE, .edtl = 1u << 20,
				   .cdb = { 0x8a, [12] = 8 } };
	struct ini *i = ini_open(d, .target = IQN);
	uint8_t *buf = malloc(BYTES);
	struct raw *r[HOSTS];
	int n, k;

	ck_assert(i && buf);
	ck_assert_int_eq(ini_settle(i, 0), 0);
	for (n = 0; n < HOSTS; n++) {
		r[n] = raw_open(d, .target = IQN);
		ck_assert(r[n] && r[n]->login_status == 0);
		ck_assert_int_eq(raw_settle(r[n], 0), 0);
		for (k = 0; k < 100; k++)
			raw_command(r[n], &w);
		ck_assert_int_eq(raw_recv_opcode(r[n], OP_R2T, DEADLINE_MS),
				 OP_R2T);
	}
	for (n = 0; n < 8; n++) {
		struct cmd c = cmd_write(0, BLOCKS, buf, BYTES);

		pattern_fill(buf, BYTES, 0, (uint64_t)n);
		expect_good(i, 0, &c);
		ck_assert_uint_lt(c.ms, 5000);
		c = cmd_read(0, BLOCKS, buf, BYTES);
		expect_good(i, 0, &c);
		ck_assert_int_eq(pattern_diff(buf, BYTES, 0, (uint64_t)n), -1);
	}
	ck_assert_int_eq(raw_tmf(r[0], 5, 0, TAG_NONE, 0), 0);
	for (n = 0; n < HOSTS; n++)
		raw_close(r[n]);
	ini_logout(i);
	free(buf);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("flood");

	d = daemon_start(NULL);
	if (!d || adm_target(d, IQN) ||
	    adm_lun(d, IQN, 0, "vol", "--size 256M --durability write-back"))
		return EXIT_FAILURE;
	tcase_add_test(tc, more_data_than_buffers_hurts_nobody);
	tcase_add_test(tc,
		hosts_that_stop_in_the_middle_give_their_buffers_back);
	tcase_add_test(tc,
		hosts_that_never_send_their_data_leave_buffers_to_others);
	return func_run("data_flood", tc);
}
