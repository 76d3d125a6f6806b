/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Fake engines: queues that run when the test says so, and a clock that moves
 * when the test says so.
 */

#include "tests/lib/fake_int.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "lib/buf.h"

struct engine {
	struct list	 link;
	struct bufpool	*bufs;
	struct list	 deferred, turn_end, timers;
	struct epost	*posts, **posts_tail;
};

static pthread_mutex_t post_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct list engines = { &engines, &engines };
static struct engine *current;
static uint64_t now;

struct engine *engine_new(const struct engine_config *config, int *ret_err)
{
	struct engine *e = calloc(1, sizeof(*e));

	assert(e);
	list_init(&e->deferred);
	list_init(&e->turn_end);
	list_init(&e->timers);
	e->posts_tail = &e->posts;
	if (config->buf_total) {
		e->bufs = bufpool_new(config->buf_total, config->buf_reserve,
				      ret_err);
		assert(e->bufs);
	}
	list_add_tail(&engines, &e->link);
	if (!current)
		current = e;
	return e;
}

void engine_free(struct engine *e)
{
	if (!e)
		return;
	if (current == e)
		current = NULL;
	list_del(&e->link);
	bufpool_free(e->bufs);
	free(e);
}

void engine_run(struct engine *e)
{
	fake_enter(e);
	fake_run();
}

void engine_stop(struct engine *e)
{
	(void)e;
}

const char *engine_name(const struct engine *e)
{
	(void)e;
	return "fake";
}

struct bufpool *engine_bufs(struct engine *e)
{
	return e->bufs;
}

struct engine *engine_self(void)
{
	return current;
}

void fake_enter(struct engine *e)
{
	current = e;
}

uint64_t engine_now(const struct engine *e)
{
	(void)e;
	return now;
}

void engine_post(struct engine *e, struct epost *post)
{
	pthread_mutex_lock(&post_mutex);
	post->next = NULL;
	*e->posts_tail = post;
	e->posts_tail = &post->next;
	pthread_mutex_unlock(&post_mutex);
}

void engine_defer(struct engine *e, struct edefer *d)
{
	if (!list_linked(&d->link))
		list_add_tail(&e->deferred, &d->link);
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

void etimer_init(struct etimer *t, void (*fire)(struct etimer *t))
{
	list_init(&t->link);
	t->due = 0;
	t->fire = fire;
}

void etimer_start(struct engine *e, struct etimer *t, uint64_t ms)
{
	list_del(&t->link);
	t->due = now + ms * 1000000;
	list_add_tail(&e->timers, &t->link);
}

void etimer_stop(struct etimer *t)
{
	list_del(&t->link);
}

bool etimer_running(const struct etimer *t)
{
	return list_linked(&t->link);
}

/* The SCSI layer asks an engine for timers and messages alone. */
void engine_submit(struct engine *e, struct ereq *r)
{
	(void)e;
	(void)r;
	abort();
}

void engine_cancel(struct engine *e, struct ereq *r)
{
	(void)e;
	(void)r;
	abort();
}

static bool run_post(struct engine *e)
{
	struct epost *p;

	pthread_mutex_lock(&post_mutex);
	p = e->posts;
	if (p) {
		e->posts = p->next;
		if (!e->posts)
			e->posts_tail = &e->posts;
	}
	pthread_mutex_unlock(&post_mutex);
	if (!p)
		return false;
	p->run(p);
	return true;
}

static bool run_defer(struct list *l)
{
	struct edefer *d;

	if (list_empty(l))
		return false;
	d = list_first(l, struct edefer, link);
	list_del(&d->link);
	d->run(d);
	return true;
}

/* The timer that is due first, not later than at; *ret_e is its engine. */
static struct etimer *due_timer(uint64_t at, struct engine **ret_e)
{
	struct etimer *t, *first = NULL;
	struct engine *e;

	list_for_each(e, &engines, link) {
		list_for_each(t, &e->timers, link) {
			if (t->due > at || (first && t->due >= first->due))
				continue;
			first = t;
			*ret_e = e;
		}
	}
	return first;
}

static bool run_timer(void)
{
	struct engine *e;
	struct etimer *t = due_timer(now, &e);

	if (!t)
		return false;
	current = e;
	list_del(&t->link);
	t->fire(t);
	return true;
}

static bool run_one(void)
{
	struct engine *e;

	list_for_each(e, &engines, link) {
		current = e;
		if (run_post(e) || run_defer(&e->deferred))
			return true;
	}
	if (run_timer() || fake_volumes_run())
		return true;
	list_for_each(e, &engines, link) {
		current = e;
		if (run_defer(&e->turn_end))
			return true;
	}
	return false;
}

void fake_run(void)
{
	struct engine *caller = current;

	while (run_one())
		;
	current = caller;
}

void fake_advance(uint64_t ms)
{
	uint64_t until = now + ms * 1000000;
	struct etimer *t;
	struct engine *e;

	fake_run();
	while ((t = due_timer(until, &e))) {
		now = MAX(now, t->due);
		fake_run();
	}
	now = until;
	fake_run();
}

void fake_reset(void)
{
	struct engine *e;

	list_for_each(e, &engines, link) {
		list_init(&e->deferred);
		list_init(&e->turn_end);
		list_init(&e->timers);
		e->posts = NULL;
		e->posts_tail = &e->posts;
	}
	now = 0;
	fake_volumes_reset();
}
