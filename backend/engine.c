/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The turn of the loop and what needs no kernel: posts, deferred work and the
 * choice of the kind.
 */

#include "backend/engine.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "backend/engine_int.h"
#include "lib/buf.h"
#include "lib/iov.h"

/* Deferred work that makes new work for ever must not keep the engine from
 * its sockets. */
#define ROUNDS_MAX 64

static _Thread_local struct engine *self;

static uint64_t clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

int engine_init(struct engine *e, const struct engine_ops *ops)
{
	e->ops = ops;
	e->now = clock_now();
	e->running = false;
	e->busy = 0;
	e->bufs = NULL;
	list_init(&e->ended);
	list_init(&e->ready);
	list_init(&e->turn_end);
	wheel_init(&e->wheel, e->now);
	atomic_init(&e->posts, NULL);
	atomic_init(&e->stop, false);
	/* Blocking: io_uring does not wait on a descriptor that is not. */
	e->wake_fd = eventfd(0, EFD_CLOEXEC);
	return e->wake_fd < 0 ? -errno : 0;
}

void engine_fini(struct engine *e)
{
	if (e->wake_fd >= 0)
		close(e->wake_fd);
}

static struct engine *kind_new(enum engine_kind kind, int *ret_err)
{
	struct engine *e = NULL;

	if (kind != ENGINE_AIO)
		e = uring_new(ret_err);
	if (!e && kind != ENGINE_URING)
		e = aio_new(ret_err);
	return e;
}

struct engine *engine_new(const struct engine_config *config, int *ret_err)
{
	struct engine *e = kind_new(config->kind, ret_err);

	if (!e || !config->buf_total)
		return e;
	e->bufs = bufpool_new(config->buf_total, config->buf_reserve, ret_err);
	if (!e->bufs) {
		e->ops->close(e);
		return NULL;
	}
	return e;
}

void engine_free(struct engine *e)
{
	if (!e)
		return;
	assert(!e->running);
	assert(!e->busy);
	bufpool_free(e->bufs);
	e->ops->close(e);
}

const char *engine_name(const struct engine *e)
{
	return e->ops->name;
}

struct bufpool *engine_bufs(struct engine *e)
{
	return e->bufs;
}

struct engine *engine_self(void)
{
	return self;
}

uint64_t engine_now(const struct engine *e)
{
	return e->running ? e->now : clock_now();
}

static void engine_wake(struct engine *e)
{
	uint64_t one = 1;

	while (write(e->wake_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

void engine_post(struct engine *e, struct epost *post)
{
	struct epost *top;

	assert(post->run);
	top = atomic_load_explicit(&e->posts, memory_order_relaxed);
	do {
		post->next = top;
	} while (!atomic_compare_exchange_weak_explicit(
		&e->posts, &top, post, memory_order_release,
		memory_order_relaxed));
	if (top == &e->asleep)
		engine_wake(e);
}

/* Takes all posts off, oldest first, and the mark of a sleeper. */
static struct epost *take_posts(struct engine *e)
{
	struct epost *p, *next, *oldest = NULL;

	p = atomic_exchange_explicit(&e->posts, NULL, memory_order_acquire);
	for (; p && p != &e->asleep; p = next) {
		next = p->next;
		p->next = oldest;
		oldest = p;
	}
	return oldest;
}

static void run_posts(struct epost *p)
{
	while (p) {
		struct epost *next = p->next;	/* run() may free p */

		p->run(p);
		p = next;
	}
}

void engine_defer(struct engine *e, struct edefer *d)
{
	if (!list_linked(&d->link))
		list_add_tail(&e->ready, &d->link);
}

void engine_turn_end(struct engine *e, struct edefer *d)
{
	if (!list_linked(&d->link))
		list_add_tail(&e->turn_end, &d->link);
}

void edefer_cancel(struct edefer *d)
{
	list_del(&d->link);
}

/* Runs what is on the list now; what that adds waits for the next round. */
static bool run_deferred(struct list *from)
{
	struct list batch;

	if (list_empty(from))
		return false;
	list_init(&batch);
	list_splice_tail(&batch, from);
	while (!list_empty(&batch)) {
		struct edefer *d = list_first(&batch, struct edefer, link);

		list_del(&d->link);
		d->run(d);
	}
	return true;
}

static bool run_ended(struct engine *e)
{
	struct list batch;

	if (list_empty(&e->ended))
		return false;
	list_init(&batch);
	list_splice_tail(&batch, &e->ended);
	while (!list_empty(&batch)) {
		struct ereq *r = list_first(&batch, struct ereq, link);

		list_del(&r->link);
		e->busy--;
		r->done(r);
	}
	return true;
}

void engine_clock(struct engine *e)
{
	e->now = clock_now();
}

void engine_ended(struct engine *e, struct ereq *r, int result)
{
	r->result = result;
	r->state = REQ_ENDED;
	list_add_tail(&e->ended, &r->link);
}

/* False: the turn has nothing left to do but to sleep. */
static bool run_round(struct engine *e)
{
	bool any = run_ended(e);

	if (run_deferred(&e->ready) || any)
		return true;
	if (run_deferred(&e->turn_end))
		return true;
	e->ops->flush(e);
	return !list_empty(&e->ended);
}

static void run_rounds(struct engine *e)
{
	int rounds = 0;

	while (run_round(e))
		if (++rounds == ROUNDS_MAX) {
			e->ops->flush(e);
			break;
		}
}

/* How long nothing is to be done, in ns, unless the kernel says otherwise.
 * Marks the engine as asleep if that is not 0. */
static uint64_t sleep_time(struct engine *e)
{
	struct epost *none = NULL;
	uint64_t due = wheel_next(&e->wheel);

	if (due <= e->now || !list_empty(&e->ended) || !list_empty(&e->ready) ||
	    !list_empty(&e->turn_end))
		return 0;
	if (!atomic_compare_exchange_strong_explicit(
		    &e->posts, &none, &e->asleep, memory_order_relaxed,
		    memory_order_relaxed))
		return 0;
	return due == WAIT_FOREVER ? WAIT_FOREVER : due - e->now;
}

static void run_turn(struct engine *e)
{
	struct epost *posts;

	e->ops->wait(e, sleep_time(e));
	e->now = clock_now();
	/* Taken before any callback of this turn runs: aio_sock.c counts on it
	 * when a descriptor's number is used anew. */
	posts = take_posts(e);
	e->ops->reap(e);
	run_posts(posts);
	wheel_run(&e->wheel, e->now);
	run_rounds(e);
}

void engine_run(struct engine *e)
{
	struct engine *outer = self;

	assert(!e->running);
	e->running = true;
	self = e;
	e->ops->start(e);
	e->now = clock_now();
	run_rounds(e);
	while (!atomic_load_explicit(&e->stop, memory_order_acquire))
		run_turn(e);
	atomic_store_explicit(&e->stop, false, memory_order_relaxed);
	e->ops->end(e);
	self = outer;
	e->running = false;
}

void engine_stop(struct engine *e)
{
	atomic_store_explicit(&e->stop, true, memory_order_release);
	engine_wake(e);
}

void engine_submit(struct engine *e, struct ereq *r)
{
	assert(r->done);
	assert(self == e || !e->running);
	list_init(&r->link);
	r->moved = 0;
	r->state = 0;
	e->busy++;

	switch (r->op) {
	case EREQ_SEND:
		r->len = iov_len(r->iov, r->niov);
		break;
	case EREQ_READ:
	case EREQ_WRITE:
		assert(iov_len(r->iov, r->niov) == r->len);
		break;
	case EREQ_ACCEPT:
	case EREQ_RECV:
	case EREQ_POLL_IN:
	case EREQ_FSYNC:
	case EREQ_FALLOCATE:
		e->ops->submit(e, r);
		return;
	}
	if (!r->len)
		engine_ended(e, r, 0);
	else
		e->ops->submit(e, r);
}

void engine_cancel(struct engine *e, struct ereq *r)
{
	assert(self == e || !e->running);
	if (!(r->state & REQ_ENDED))
		e->ops->cancel(e, r);
}
