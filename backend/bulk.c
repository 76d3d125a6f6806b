/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Bulk work.  The lane runs the calls that lock a whole file (fallocate,
 * FICLONERANGE, copy_file_range) one at a time on a thread of the volume;
 * between them it stands back for urgent requests.  A piece should take about
 * BULK_PIECE_NS, so that what waits for the lock does not wait long: how many
 * bytes that is, is measured.
 */

#include "backend/backend_int.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "lib/buf.h"
#include "lib/util.h"

/* The first piece, before anything was measured. */
#define PIECE_START	(4 * MiB)
/* How long the lane stands back at most, and how often it looks, ns. */
#define YIELD_NS	(BULK_PIECE_NS / 2)
#define YIELD_LOOK_NS	20000
/* Requests that are answered together: one wake-up for all of them. */
#define HELD_MAX	8
#define HELD_NS		200000
/* When there was no buffer, try again after this many milliseconds. */
#define STARVED_MS	5

uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool err_declines(int err)
{
	return err == -EOPNOTSUPP || err == -EXDEV || err == -EINVAL ||
	       err == -ENOTTY || err == -ENOSYS;
}

int lane_init(struct lane *l)
{
	size_t i;

	list_init(&l->queue);
	for (i = 0; i < BREQ_OPS; i++)
		atomic_init(&l->piece[i], PIECE_START);
	return -pthread_mutex_init(&l->lock, NULL);
}

void lane_fini(struct lane *l)
{
	pthread_mutex_destroy(&l->lock);
}

uint64_t volume_bulk_piece(const struct volume *v, enum breq_op op)
{
	return round_down(atomic_load_explicit(&v->lane.piece[op],
					       memory_order_relaxed), MiB);
}

/* Small pieces say little of large ones, since each call has a fixed price: so
 * only those near the present size let it grow, and at most twofold. */
void bulk_measure(struct volume *v, enum breq_op op, uint64_t len, uint64_t ns)
{
	_Atomic uint64_t *piece = &v->lane.piece[op];
	uint64_t now = atomic_load_explicit(piece, memory_order_relaxed);
	uint64_t fit;

	ns = MAX(ns, 1000);
	if (len > BULK_PIECE_MAX)
		return;
	fit = len * (BULK_PIECE_NS / 1000) / (ns / 1000);
	if (fit > now && len < now / 2)
		return;
	fit = MIN(fit, 2 * now);
	/* one slow call is no reason to fall to the bottom */
	fit = MAX(fit, now / 4);
	fit = MIN(MAX(fit, BULK_PIECE_MIN), BULK_PIECE_MAX);
	atomic_store_explicit(piece, fit, memory_order_relaxed);
}

static bool urgent_waits(const struct breq *b)
{
	return atomic_load(&b->vol->urgent) ||
	       (b->op == BREQ_COPY && atomic_load(&b->src->urgent));
}

static void yield_to_urgent(const struct breq *b)
{
	struct timespec look = { .tv_nsec = YIELD_LOOK_NS };
	uint64_t until;

	if (!urgent_waits(b))
		return;
	until = clock_ns() + YIELD_NS;
	while (urgent_waits(b) && clock_ns() < until)
		nanosleep(&look, NULL);
}

static void lane_act(struct lane *l, struct breq *b)
{
	uint64_t start;

	yield_to_urgent(b);
	atomic_fetch_add(&l->busy, 1);
	start = clock_ns();
	b->error = b->act(b);
	if (!b->error && !(b->own & OWN_DECLINED))
		bulk_measure(b->vol, b->op, b->len, clock_ns() - start);
	atomic_fetch_sub(&l->busy, 1);
}

/* One message to each engine: the first of its requests brings the others. */
static void lane_answer(struct list *held)
{
	struct breq *first, *b, *next;
	struct list others;

	while (!list_empty(held)) {
		first = list_first(held, struct breq, link);
		list_del(&first->link);
		list_init(&others);
		list_for_each_safe(b, next, held, link) {
			list_del(&b->link);
			list_add_tail(b->engine == first->engine ?
				      &first->link : &others, &b->link);
		}
		list_splice_tail(held, &others);
		engine_post(first->engine, &first->post);
	}
}

/* The next of the queue, or NULL: the lane ends, and another thread may begin
 * it anew at once. */
static struct breq *lane_next(struct lane *l)
{
	struct breq *b = NULL;

	pthread_mutex_lock(&l->lock);
	if (list_empty(&l->queue)) {
		l->active = false;
	} else {
		b = list_first(&l->queue, struct breq, link);
		list_del(&b->link);
	}
	pthread_mutex_unlock(&l->lock);
	return b;
}

/* The volume may go as soon as its last request is answered, so the lane ends
 * first and answers then. */
static void lane_run(struct bjob *job)
{
	struct lane *l = container_of(job, struct lane, job);
	uint64_t since = clock_ns();
	struct list held;
	unsigned n = 0;
	struct breq *b;

	list_init(&held);
	while ((b = lane_next(l))) {
		if (n >= HELD_MAX || clock_ns() - since > HELD_NS) {
			lane_answer(&held);
			since = clock_ns();
			n = 0;
		}
		lane_act(l, b);
		list_add_tail(&held, &b->link);
		n++;
	}
	lane_answer(&held);
}

static void lane_ended(struct breq *b)
{
	if (!(b->own & OWN_DECLINED)) {
		breq_end(b, b->error);
		return;
	}
	b->own &= ~(unsigned)OWN_DECLINED;
	b->error = 0;
	b->again(b);
}

static void lane_done(struct epost *post)
{
	struct breq *b, *first = container_of(post, struct breq, post);
	struct list others;

	list_init(&others);
	list_splice_tail(&others, &first->link);
	lane_ended(first);
	while (!list_empty(&others)) {
		b = list_first(&others, struct breq, link);
		list_del(&b->link);
		lane_ended(b);
	}
}

int lane_decline(struct breq *b)
{
	b->own |= OWN_DECLINED;
	return 0;
}

/* All that a turn brought goes to the lane at once: one wake-up. */
static void lane_go(struct edefer *d)
{
	struct vslot *s = container_of(d, struct vslot, bulk_go);
	struct volume *v = list_first(&s->bulk, struct breq, link)->vol;
	struct lane *l = &v->lane;
	bool start;

	pthread_mutex_lock(&l->lock);
	list_splice_tail(&l->queue, &s->bulk);
	start = !l->active;
	l->active = true;
	pthread_mutex_unlock(&l->lock);
	if (!start)
		return;
	l->job.run = lane_run;
	blocking_submit(v->threads, &l->job);
}

void lane_slot_init(struct vslot *s)
{
	list_init(&s->bulk);
	list_init(&s->bulk_go.link);
	s->bulk_go.run = lane_go;
}

void lane_submit(struct breq *b, int (*act)(struct breq *b),
		 void (*declined)(struct breq *b))
{
	b->act = act;
	b->again = declined;
	b->post.run = lane_done;
	list_add_tail(&b->slot->bulk, &b->link);
	engine_turn_end(b->engine, &b->slot->bulk_go);
}

/* An engine without a pool (main's) does bulk work of the operator's.  A READ
 * or WRITE that comes here holds a buffer already; only the reserve is sure to
 * be given back by others. */
void *bulk_get(struct breq *b, size_t len)
{
	struct bufpool *pool = engine_bufs(b->engine);
	bool moves = b->op == BREQ_READ || b->op == BREQ_WRITE;
	void *mem;

	if (pool)
		return buf_get(pool, len, moves ? BUF_RESERVED : BUF_BULK);
	return posix_memalign(&mem, BUF_MIN, len) ? NULL : mem;
}

void bulk_put(struct breq *b, void *buf, size_t len)
{
	struct bufpool *pool = engine_bufs(b->engine);

	if (pool)
		buf_put(pool, buf, len);
	else
		free(buf);
}

void bulk_starve(struct breq *b, void (*again)(struct breq *b))
{
	struct vslot *s = b->slot;

	b->again = again;
	list_add_tail(&s->starved, &b->link);
	if (!etimer_running(&s->timer))
		etimer_start(b->engine, &s->timer, STARVED_MS);
}

void bulk_retry(struct etimer *t)
{
	struct vslot *s = container_of(t, struct vslot, timer);
	struct list starved;
	struct breq *b;

	list_init(&starved);
	list_splice_tail(&starved, &s->starved);
	while (!list_empty(&starved)) {
		b = list_first(&starved, struct breq, link);
		list_del(&b->link);
		b->again(b);
	}
}
