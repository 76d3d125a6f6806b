/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two hosts that count up in the same blocks by COMPARE AND WRITE, a third that
 * writes to other blocks (and now and then over the same ones), a fourth that
 * reads: nothing is lost, nothing is torn.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/ini.h"

#define IQN	"iqn.2026-11.example.test:fight"
#define AT	16u		/* where the counter is */
#define BLOCKS	8u		/* it is in each of them */
#define BYTES	(BLOCKS * 512)
#define ROUNDS	400		/* of each fighter */

static struct daemon *d;

struct player {
	pthread_t	 thread;
	struct ini	*i;
	int		 lun;
	uint64_t	 won, lost, reads;
	const char	*fault;
	atomic_bool	*stop;
};

/* Every word of the blocks is the count, so that tearing shows. */
static void image(uint8_t *buf, uint64_t count)
{
	size_t at;

	for (at = 0; at < BYTES; at += sizeof(count))
		memcpy(buf + at, &count, sizeof(count));
}

/* Its count, or UINT64_MAX when it is torn. */
static uint64_t count_of(const uint8_t *buf)
{
	uint64_t count;

	memcpy(&count, buf, sizeof(count));
	if (memcmp(buf, buf + sizeof(count), BYTES - sizeof(count)))
		return UINT64_MAX;
	return count;
}

static uint64_t read_count(struct player *p, uint8_t *buf)
{
	struct cmd c = cmd_read(AT, BLOCKS, buf, BYTES);
	uint64_t count;

	if (ini_run(p->i, p->lun, &c)) {
		p->fault = "a READ failed";
		return 0;
	}
	count = count_of(buf);
	if (count == UINT64_MAX)
		p->fault = "a READ saw old and new mixed";
	return count;
}

static void *fighter(void *arg)
{
	struct player *p = arg;
	uint8_t buf[2 * BYTES];
	uint64_t count = 0;
	struct cmd c;

	while (p->won < ROUNDS && !p->fault) {
		image(buf, count);
		image(buf + BYTES, count + 1);
		c = cmd_caw(AT, BLOCKS, buf, 2 * BYTES);
		ini_run(p->i, p->lun, &c);
		if (c.status == 0) {
			p->won++;
			count++;
		} else if (c.status == 2 && sense_asc(&c) == 0x1d00) {
			p->lost++;
			count = read_count(p, buf);
		} else {
			p->fault = "a COMPARE AND WRITE failed";
		}
	}
	return NULL;
}

/* Writes around the counter and checks that these blocks are its own. */
static void *neighbour(void *arg)
{
	struct player *p = arg;
	uint8_t buf[16 * 512];
	uint64_t seed = 0;

	while (!atomic_load(p->stop) && !p->fault) {
		uint64_t lba = seed & 1 ? AT + BLOCKS : AT - 16;
		struct cmd c = cmd_write(lba, 16, buf, sizeof(buf));

		pattern_fill(buf, sizeof(buf), lba, ++seed);
		if (ini_run(p->i, p->lun, &c))
			p->fault = "a WRITE beside failed";
		c = cmd_read(lba, 16, buf, sizeof(buf));
		if (ini_run(p->i, p->lun, &c) ||
		    pattern_diff(buf, sizeof(buf), lba, seed) >= 0)
			p->fault = "a WRITE beside was damaged";
		p->won++;
	}
	return NULL;
}

static void *reader(void *arg)
{
	struct player *p = arg;
	uint64_t last = 0, count;
	uint8_t buf[BYTES];

	while (!atomic_load(p->stop) && !p->fault) {
		count = read_count(p, buf);
		if (count < last)
			p->fault = "the count went back";
		last = count;
		p->reads++;
	}
	return NULL;
}

static int enter(struct player *p, int lun, atomic_bool *stop)
{
	*p = (struct player){ .lun = lun, .stop = stop };
	p->i = ini_open(d, .target = IQN);
	return !p->i || ini_settle(p->i, lun);
}

static void nothing_is_lost(int lun)
{
	void *(*roles[5])(void *) = { fighter, fighter, neighbour, reader,
				      reader };
	struct player p[5];
	uint8_t buf[BYTES];
	atomic_bool stop = false;
	struct cmd c;
	int n;

	for (n = 0; n < 5; n++)
		ck_assert_msg(!enter(&p[n], lun, &stop), "%s", ini_error());
	image(buf, 0);
	c = cmd_write(AT, BLOCKS, buf, BYTES);
	expect_good(p[0].i, lun, &c);
	for (n = 0; n < 5; n++)
		ck_assert_int_eq(pthread_create(&p[n].thread, NULL, roles[n],
						&p[n]), 0);
	pthread_join(p[0].thread, NULL);
	pthread_join(p[1].thread, NULL);
	atomic_store(&stop, true);
	for (n = 2; n < 5; n++)
		pthread_join(p[n].thread, NULL);
	for (n = 0; n < 5; n++)
		ck_assert_msg(!p[n].fault, "player %d: %s", n, p[n].fault);
	ck_assert_uint_eq(read_count(&p[0], buf), 2 * ROUNDS);
	ck_assert_uint_gt(p[2].won, 0);
	ck_assert_uint_gt(p[3].reads, 0);
	printf("LUN %d: %d won, %llu lost, %llu reads beside\n", lun,
	       2 * ROUNDS, (unsigned long long)(p[0].lost + p[1].lost),
	       (unsigned long long)(p[3].reads + p[4].reads));
	for (n = 0; n < 5; n++)
		ini_logout(p[n].i);
}

START_TEST(nothing_is_lost_or_torn_on_a_file)
{
	nothing_is_lost(0);
}
END_TEST

START_TEST(nothing_is_lost_or_torn_with_write_back)
{
	nothing_is_lost(1);
}
END_TEST

START_TEST(nothing_is_lost_or_torn_on_a_device)
{
	const char *dev = loop_attach(d, 64, 512);

	if (!dev) {
		skip_case("no loop devices here");
		return;
	}
	adm_ok(d, "volume create device --path %s", dev);
	adm_ok(d, "lun add %s device --lun 2", IQN);
	nothing_is_lost(2);
}
END_TEST

/*
 * Plain WRITEs of whole images against COMPARE AND WRITE on the same blocks.
 * (A READ beside a plain WRITE may see a mix; what stays in the end may not.)
 */
static void *overwriter(void *arg)
{
	struct player *p = arg;
	uint64_t count = 1ull << 40;
	uint8_t buf[BYTES];

	while (!atomic_load(p->stop) && !p->fault) {
		struct cmd c = cmd_write(AT, BLOCKS, buf, BYTES);

		image(buf, count++);
		if (ini_run(p->i, p->lun, &c))
			p->fault = "a WRITE failed";
	}
	return NULL;
}

static void *swapper(void *arg)
{
	struct player *p = arg;
	uint8_t buf[2 * BYTES];
	uint64_t count;
	struct cmd c;
	int n;

	for (n = 0; n < ROUNDS && !p->fault; n++) {
		c = cmd_read(AT, BLOCKS, buf, BYTES);
		if (ini_run(p->i, p->lun, &c))
			p->fault = "a READ failed";
		count = count_of(buf);
		if (count == UINT64_MAX)
			continue;
		image(buf, count);
		image(buf + BYTES, count + (1ull << 50));
		c = cmd_caw(AT, BLOCKS, buf, 2 * BYTES);
		ini_run(p->i, p->lun, &c);
		if (c.status != 0 && sense_asc(&c) != 0x1d00)
			p->fault = "a COMPARE AND WRITE failed";
	}
	return NULL;
}

START_TEST(writes_and_swaps_of_the_same_blocks_never_mix)
{
	struct player p[2];
	uint8_t buf[BYTES];
	atomic_bool stop = false;
	struct cmd c;
	int n;

	for (n = 0; n < 2; n++)
		ck_assert_msg(!enter(&p[n], 0, &stop), "%s", ini_error());
	image(buf, 0);
	c = cmd_write(AT, BLOCKS, buf, BYTES);
	expect_good(p[0].i, 0, &c);
	pthread_create(&p[0].thread, NULL, overwriter, &p[0]);
	pthread_create(&p[1].thread, NULL, swapper, &p[1]);
	pthread_join(p[1].thread, NULL);
	atomic_store(&stop, true);
	pthread_join(p[0].thread, NULL);
	read_count(&p[0], buf);
	for (n = 0; n < 2; n++) {
		ck_assert_msg(!p[n].fault, "player %d: %s", n, p[n].fault);
		ini_logout(p[n].i);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("fight");

	d = daemon_start(NULL);
	if (!d || adm_target(d, IQN) ||
	    adm_lun(d, IQN, 0, "vol", "--size 64M") ||
	    adm_lun(d, IQN, 1, "back", "--size 64M --durability write-back"))
		return EXIT_FAILURE;
	tcase_add_test(tc, nothing_is_lost_or_torn_on_a_file);
	tcase_add_test(tc, nothing_is_lost_or_torn_with_write_back);
	tcase_add_test(tc, nothing_is_lost_or_torn_on_a_device);
	tcase_add_test(tc, writes_and_swaps_of_the_same_blocks_never_mix);
	return func_run("vaai_ats_fight", tc);
}
