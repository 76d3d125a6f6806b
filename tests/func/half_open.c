/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many clients that log in half-way and vanish, again and again, while a host
 * writes and reads: its I/O does not fail, others log in within a second, and
 * the daemon's memory stays what it was.  SECONDS=600 makes it last longer.
 */
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/lib/raw.h"

#define IQN	"iqn.2026-11.example.test:half"
#define CLIENTS	64
#define BLOCKS	64u
#define SPAN	16384u		/* blocks that the load is on */
/* KiB: buffers that are touched by and by, and what sanitizers keep. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define GROWTH	(512 << 10)
#define SLOWEST	DEADLINE_MS
#else
#define GROWTH	(16 << 10)
#define SLOWEST	1000		/* ms, of a login */
#endif

static struct daemon *d;
static atomic_bool over;
static atomic_uint vanished;

static int reach(void)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)d->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* How far a client goes before it vanishes: nothing, a part of a header, a
 * header, a part of its text, a stage. */
static void half_a_login(unsigned x)
{
	static const char names[] = "InitiatorName=" HOST "\0TargetName=" IQN;
	struct { struct bhs_login_request b; char text[sizeof(names) + 3]; }
	whole = { .b = {
		.opcode = OP_LOGIN_REQUEST | OPCODE_IMMEDIATE,
		.flags = LOGIN_TRANSIT | 0 << 2 | 1,
		.isid = { 0x80, 0x55, (uint8_t)(x >> 8), (uint8_t)x },
		.data_len = be24_of(sizeof(names)), .itt = be32_of(1),
	} };
	static const size_t lengths[] = {
		0, 20, BHS_LEN, BHS_LEN + 10,
		BHS_LEN + ((sizeof(names) + 3) & ~3u),
	};
	int fd = reach();

	if (fd < 0)
		return;
	memcpy(whole.text, names, sizeof(names));
	send(fd, &whole, lengths[x % 5], MSG_NOSIGNAL);
	usleep((2 + x % 7) * 10000);
	close(fd);
	atomic_fetch_add(&vanished, 1);
}

static void *client(void *arg)
{
	unsigned x = (unsigned)(uintptr_t)arg * 2654435761u;

	while (!atomic_load(&over)) {
		half_a_login(x >> 8);
		x = x * 1103515245 + 12345;
	}
	return NULL;
}

/* KiB */
static long resident(void)
{
	char path[64];
	long pages = 0, skip;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)d->pid);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%ld %ld", &skip, &pages) != 2)
		pages = 0;
	if (f)
		fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Are the blocks at lba, written and read back, what was written? */
static bool write_and_read(struct raw *host, uint64_t n)
{
	static uint8_t out[BLOCKS * 512], in[BLOCKS * 512];
	uint64_t lba = n * BLOCKS % SPAN;

	pattern_fill(out, sizeof(out), lba, n);
	return raw_write(host, 0, lba, out, BLOCKS) == 0 &&
	       raw_read(host, 0, lba, in, BLOCKS) == 0 &&
	       pattern_diff(in, sizeof(in), lba, n) < 0;
}

/* How long it takes until another host is logged in, ms. */
static uint64_t one_login(void)
{
	uint64_t start = now_ms();

	while (now_ms() - start < DEADLINE_MS &&
	       login_status_of(d, .target = IQN, .isid = 99))
		usleep(10000);
	return now_ms() - start;
}

/* false: I/O failed. */
static bool load_for(struct raw *host, uint64_t ms, uint64_t *worst)
{
	uint64_t until = now_ms() + ms, next = 0, n = 0, took;

	while (now_ms() < until) {
		if (!write_and_read(host, n++))
			return false;
		if (now_ms() < next)
			continue;
		next = now_ms() + 100;
		took = one_login();
		if (took > *worst)
			*worst = took;
	}
	return true;
}

START_TEST(clients_that_vanish_hurt_nobody)
{
	const char *seconds = getenv("SECONDS");
	uint64_t ms = seconds ? strtoull(seconds, NULL, 10) * 1000 : 10000;
	struct raw *host = raw_open(d, .target = IQN);
	pthread_t thread[CLIENTS];
	uint64_t worst = 0;
	long before, after;
	bool good;
	uintptr_t i;

	ck_assert(host && host->login_status == 0);
	ck_assert_int_eq(raw_settle(host, 0), 0);
	for (i = 0; i < CLIENTS; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, client,
						(void *)(i + 1)), 0);
	good = load_for(host, ms / 5, &worst);
	before = resident();
	good = good && load_for(host, ms - ms / 5, &worst);
	after = resident();
	atomic_store(&over, true);
	for (i = 0; i < CLIENTS; i++)
		pthread_join(thread[i], NULL);
	raw_close(host);
	printf("%u vanished, memory %ld then %ld KiB, longest login %d ms\n",
	       atomic_load(&vanished), before, after, (int)worst);
	ck_assert_msg(good, "I/O failed");
	ck_assert_uint_gt(atomic_load(&vanished), CLIENTS);
	ck_assert_int_lt(after - before, GROWTH);
	ck_assert_uint_lt(worst, SLOWEST);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("half open");

	d = daemon_start(NULL);
	if (!d || adm_target(d, IQN) ||
	    adm_lun(d, IQN, 0, "vol", "--size 8M --durability write-back"))
		return EXIT_FAILURE;
	tcase_set_timeout(tc, 900);
	tcase_add_test(tc, clients_that_vanish_hurt_nobody);
	return func_run("half_open", tc);
}
