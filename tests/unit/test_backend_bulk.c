/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A kind of volume in memory that completes from a thread of its own, as a
 * cluster's library would, and declines what it can: generic code, the bulk
 * lane and completions from elsewhere, on both engines.
 */

#include "lib/buf.h"
#include "tests/lib/unit.h"
#include "tests/lib/vol.h"

#define ENGINES	2

/* The library's thread and what waits for it. */
static struct {
	pthread_t	 thread;
	pthread_mutex_t	 lock;
	pthread_cond_t	 more;
	struct list	 queue;
	bool		 stop;
	uint8_t		*disk;
} lib;

static void lib_act(struct breq *b)
{
	switch (b->op) {
	case BREQ_READ:
		memcpy(b->data, lib.disk + b->off, b->len);
		break;
	case BREQ_WRITE:
		memcpy(lib.disk + b->off, b->data, b->len);
		break;
	default:
		break;
	}
	breq_complete(b, 0);
}

static void *lib_thread(void *arg)
{
	struct breq *b;

	(void)arg;
	pthread_mutex_lock(&lib.lock);
	for (;;) {
		while (list_empty(&lib.queue) && !lib.stop)
			pthread_cond_wait(&lib.more, &lib.lock);
		if (list_empty(&lib.queue))
			break;
		b = list_first(&lib.queue, struct breq, link);
		list_del(&b->link);
		pthread_mutex_unlock(&lib.lock);
		lib_act(b);
		pthread_mutex_lock(&lib.lock);
	}
	pthread_mutex_unlock(&lib.lock);
	return NULL;
}

static void lib_submit(struct volume *v, struct breq *b)
{
	(void)v;
	pthread_mutex_lock(&lib.lock);
	list_add_tail(&lib.queue, &b->link);
	pthread_cond_signal(&lib.more);
	pthread_mutex_unlock(&lib.lock);
}

static int lib_open(struct volume *v)
{
	v->caps = (struct volume_caps){
		.block_size = 512, .zero = METHOD_WRITE,
		.unmap = METHOD_NONE, .copy = METHOD_READ_WRITE,
	};
	return 0;
}

/* Acts on the lane, for a kind that has some. */
static atomic_int on_lane;
static unsigned acts;
static int lane_error;
static uint64_t act_time;

static int lane_act_here(struct breq *b)
{
	act_time = clock_ns();
	ck_assert_int_eq(atomic_fetch_add(&on_lane, 1), 0);
	acts++;
	memset(lib.disk + b->off, 0xee, b->len);
	atomic_fetch_sub(&on_lane, 1);
	return err_declines(lane_error) ? lane_decline(b) : lane_error;
}

static void lane_declined(struct breq *b)
{
	generic_zero(b->vol, b);
}

static void lane_zero(struct volume *v, struct breq *b)
{
	(void)v;
	lane_submit(b, lane_act_here, lane_declined);
}

static const struct volume_ops plain = {
	.kind = "plain", .open = lib_open, .read = lib_submit,
	.write = lib_submit, .flush = lib_submit,
};
static const struct volume_ops with_lane = {
	.kind = "lane", .open = lib_open, .read = lib_submit,
	.write = lib_submit, .flush = lib_submit, .zero = lane_zero,
};

static struct vol x;

static void start(int engine, const struct volume_ops *ops)
{
	const struct volume_config config = {
		.name = "lib", .path = "lib:", .size = VOL_SIZE,
	};
	const struct volume_events events = {
		.opened = vol_on_opened, .closed = vol_on_closed, .arg = &x,
	};

	ck_assert(env_enter(engine * PLACES + PLACE_TMP));
	pthread_mutex_init(&lib.lock, NULL);
	pthread_cond_init(&lib.more, NULL);
	list_init(&lib.queue);
	lib.disk = calloc(1, VOL_SIZE);
	ck_assert_int_eq(pthread_create(&lib.thread, NULL, lib_thread, NULL),
			 0);
	x.opened = 1;
	x.v = volume_new_ops(&config, &events, env.e, ops, NULL);
	volume_open(x.v);
	while (x.opened == 1)
		engine_run(env.e);
	ck_assert_int_eq(x.opened, 0);
}

static void stop(void)
{
	vol_close(&x);
	pthread_mutex_lock(&lib.lock);
	lib.stop = true;
	pthread_cond_signal(&lib.more);
	pthread_mutex_unlock(&lib.lock);
	pthread_join(lib.thread, NULL);
	free(lib.disk);
	env_leave();
}

START_TEST(completions_of_another_thread_end_on_the_submitters)
{
	enum { N = 500 };
	struct vol_req *r = calloc(N, sizeof(*r));
	uint8_t *buf = vol_buf(N * 512);
	unsigned i, left = N;

	start(_i, &plain);
	vol_fill(buf, N * 512, 2);
	for (i = 0; i < N; i++) {
		r[i].left = &left;
		r[i].b = (struct breq){ .op = BREQ_WRITE, .off = i * 512,
					.len = 512, .data = buf + i * 512 };
		vol_queue(x.v, &r[i]);
	}
	while (left)
		engine_run(env.e);	/* vol_on_done() looks at the thread */
	ck_assert_mem_eq(lib.disk, buf, N * 512);
	stop();
	free(r);
	free(buf);
}
END_TEST

START_TEST(declined_zero_and_write_same_are_written)
{
	uint8_t *buf = vol_buf(512);
	uint64_t i;
	bool same = true;

	start(_i, &plain);
	memset(lib.disk, 0x55, VOL_SIZE);
	vol_fill(buf, 512, 7);
	ck_assert_int_eq(vol_io(&x, BREQ_WRITE_SAME, 512, 3 * MiB, buf), 0);
	ck_assert_int_eq(vol_io(&x, BREQ_ZERO, MiB, MiB + 512, NULL), 0);
	ck_assert_uint_eq(lib.disk[511], 0x55);
	for (i = 512; i < 3 * MiB + 512; i += 512)
		if (i < MiB || i >= 2 * MiB + 512)
			same = same && !memcmp(lib.disk + i, buf, 512);
	ck_assert(same);
	ck_assert_uint_eq(lib.disk[3 * MiB + 512], 0x55);
	ck_assert(is_filled(lib.disk + MiB, MiB + 512, 0));
	stop();
	free(buf);
}
END_TEST

START_TEST(declined_unmap_is_refused_and_all_is_mapped)
{
	uint64_t run;

	start(_i, &plain);
	ck_assert_int_eq(vol_io(&x, BREQ_UNMAP, 0, MiB, NULL), -EOPNOTSUPP);
	ck_assert_int_eq(vol_io(&x, BREQ_PREFETCH, 0, MiB, NULL), 0);
	ck_assert(vol_extent(&x, 0, &run));
	ck_assert_uint_eq(run, VOL_SIZE);
	stop();
}
END_TEST

static const struct { uint64_t to, from, len; } copies[] = {
	{ 8 * MiB, 0, 3 * MiB + 512 },
	{ 0, 8 * MiB + 512, 3 * MiB },
	{ 512, 0, 4 * MiB },			/* overlap, upwards */
	{ 0, 512, 4 * MiB },			/* downwards */
	{ 2 * MiB, 0, 5 * MiB },
	{ 0, 2 * MiB, 5 * MiB },
	{ 4096, 4096, MiB },			/* onto itself */
};

START_TEST(declined_copy_reads_and_writes_as_if_read_whole_first)
{
	int i = _i / ENGINES;
	uint8_t *want = vol_buf(VOL_SIZE);

	start(_i % ENGINES, &plain);
	vol_fill(lib.disk, VOL_SIZE, 11);
	memcpy(want, lib.disk, VOL_SIZE);
	memmove(want + copies[i].to, want + copies[i].from, copies[i].len);
	ck_assert_int_eq(vol_copy(&x, copies[i].to, &x, copies[i].from,
				  copies[i].len), 0);
	ck_assert_mem_eq(lib.disk, want, VOL_SIZE);
	stop();
	free(want);
}
END_TEST

static void *taken[64];

static void give_back(struct etimer *t)
{
	int i;

	(void)t;
	for (i = 0; i < 64 && taken[i]; i++)
		buf_put(engine_bufs(env.e), taken[i], MiB);
}

START_TEST(bulk_work_waits_for_buffers_and_never_fails_for_them)
{
	struct etimer t;
	int i;

	start(_i, &plain);
	for (i = 0; i < 64; i++) {
		taken[i] = buf_get(engine_bufs(env.e), MiB, BUF_RESERVED);
		if (!taken[i])
			break;
	}
	ck_assert_int_gt(i, 0);
	etimer_init(&t, give_back);
	etimer_start(env.e, &t, 20);
	memset(lib.disk, 1, VOL_SIZE);
	ck_assert_int_eq(vol_io(&x, BREQ_ZERO, 0, MiB, NULL), 0);
	ck_assert_uint_eq(lib.disk[0], 0);
	ck_assert_int_eq(vol_copy(&x, 0, &x, MiB, MiB), 0);
	ck_assert_uint_eq(lib.disk[0], 1);
	ck_assert_uint_eq(bufpool_used(engine_bufs(env.e)), 0);
	stop();
}
END_TEST

START_TEST(lane_runs_one_act_at_a_time_and_all_of_them)
{
	enum { N = 100 };
	struct vol_req *r = calloc(N, sizeof(*r));
	unsigned i, left = N;

	start(_i, &with_lane);
	acts = 0;
	for (i = 0; i < N; i++) {
		r[i].left = &left;
		r[i].b = (struct breq){ .op = BREQ_ZERO, .off = i * 4096,
					.len = 4096 };
		vol_queue(x.v, &r[i]);
	}
	while (left)
		engine_run(env.e);
	ck_assert_uint_eq(acts, N);
	for (i = 0; i < N; i++)
		ck_assert_int_eq(r[i].b.error, 0);
	stop();
	free(r);
}
END_TEST

START_TEST(method_that_declines_leaves_the_work_to_the_next)
{
	start(_i, &with_lane);
	lane_error = -EOPNOTSUPP;
	memset(lib.disk, 1, VOL_SIZE);
	ck_assert_int_eq(vol_io(&x, BREQ_ZERO, 0, MiB, NULL), 0);
	ck_assert_uint_eq(lib.disk[MiB - 1], 0);
	ck_assert_uint_eq(lib.disk[MiB], 1);
	lane_error = -ENOSPC;
	ck_assert_int_eq(vol_io(&x, BREQ_ZERO, 0, MiB, NULL), -ENOSPC);
	lane_error = 0;
	stop();
}
END_TEST

START_TEST(lane_stands_back_for_urgent_requests_but_not_for_ever)
{
	uint64_t since;

	start(_i, &with_lane);
	atomic_fetch_add(&x.v->urgent, 1);	/* one that hangs */
	since = clock_ns();
	ck_assert_int_eq(vol_io(&x, BREQ_ZERO, 0, MiB, NULL), 0);
	ck_assert_uint_ge(act_time - since, BULK_PIECE_NS / 2);
	atomic_fetch_sub(&x.v->urgent, 1);
	stop();
}
END_TEST

START_TEST(pieces_adapt_to_their_time)
{
	const uint64_t ms = 1000000;
	uint64_t piece;
	int i;

	start(_i, &plain);
	for (i = 0; i < 20; i++) {
		piece = volume_bulk_piece(x.v, BREQ_ZERO);
		ck_assert_uint_eq(piece % MiB, 0);
		bulk_measure(x.v, BREQ_ZERO, piece, 5000);
	}
	ck_assert_uint_eq(volume_bulk_piece(x.v, BREQ_ZERO), BULK_PIECE_MAX);
	bulk_measure(x.v, BREQ_ZERO, 4096, ms / 2);	/* says little */
	ck_assert_uint_ge(volume_bulk_piece(x.v, BREQ_ZERO),
			  BULK_PIECE_MAX / 4);
	for (i = 0; i < 20; i++) {
		piece = volume_bulk_piece(x.v, BREQ_ZERO);
		bulk_measure(x.v, BREQ_ZERO, piece, piece / MiB * 5 * ms / 2);
	}
	ck_assert_uint_eq(volume_bulk_piece(x.v, BREQ_ZERO), 4 * MiB);
	for (i = 0; i < 20; i++)
		bulk_measure(x.v, BREQ_ZERO, MiB, 1000 * ms);
	ck_assert_uint_eq(volume_bulk_piece(x.v, BREQ_ZERO), BULK_PIECE_MIN);
	stop();
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("bulk");

	tcase_add_unchecked_fixture(tc, root_make, places_remove);
	tcase_add_loop_test(tc,
		completions_of_another_thread_end_on_the_submitters, 0,
		ENGINES);
	tcase_add_loop_test(tc, declined_zero_and_write_same_are_written, 0,
			    ENGINES);
	tcase_add_loop_test(tc, declined_unmap_is_refused_and_all_is_mapped, 0,
			    ENGINES);
	tcase_add_loop_test(tc,
		declined_copy_reads_and_writes_as_if_read_whole_first, 0,
		ENGINES * (int)ARRAY_SIZE(copies));
	tcase_add_loop_test(tc,
		bulk_work_waits_for_buffers_and_never_fails_for_them, 0,
		ENGINES);
	tcase_add_loop_test(tc, lane_runs_one_act_at_a_time_and_all_of_them, 0,
			    ENGINES);
	tcase_add_loop_test(tc,
		method_that_declines_leaves_the_work_to_the_next, 0, ENGINES);
	tcase_add_loop_test(tc,
		lane_stands_back_for_urgent_requests_but_not_for_ever, 0,
		ENGINES);
	tcase_add_loop_test(tc, pieces_adapt_to_their_time, 0, ENGINES);
	return unit_run("backend_bulk", tc);
}
