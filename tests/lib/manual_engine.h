/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_LIB_MANUAL_ENGINE_H
#define TESTS_LIB_MANUAL_ENGINE_H

/*
 * Engines whose turns a test makes one by one, in place of the real ones: the
 * program that includes this file defines all of backend/engine.h.  They know no
 * requests on descriptors.  Posts may come from any thread; manual_wait() sleeps
 * until one does.
 */

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "backend/engine.h"

struct engine {
	pthread_mutex_t	 lock;
	pthread_cond_t	 posted;
	struct epost	*posts, **tail;
	struct list	 ready, turn_end, timers;
	uint64_t	 now;
};

static struct engine *manual_self;

struct engine *engine_new(const struct engine_config *config, int *ret_err)
{
	struct engine *e = calloc(1, sizeof(*e));

	(void)config;
	(void)ret_err;
	assert(e);
	pthread_mutex_init(&e->lock, NULL);
	pthread_cond_init(&e->posted, NULL);
	e->tail = &e->posts;
	list_init(&e->ready);
	list_init(&e->turn_end);
	list_init(&e->timers);
	return e;
}

void engine_free(struct engine *e)
{
	assert(!e->posts && list_empty(&e->ready) && list_empty(&e->turn_end));
	free(e);
}

/* The test's thread; others ask too, and are on no engine. */
static pthread_t manual_thread;

struct engine *engine_self(void)
{
	return pthread_equal(manual_thread, pthread_self()) ? manual_self :
							      NULL;
}

static inline void manual_enter(struct engine *e)
{
	manual_thread = pthread_self();
	manual_self = e;
}

uint64_t engine_now(const struct engine *e)
{
	return e->now;
}

struct bufpool *engine_bufs(struct engine *e)
{
	(void)e;
	return NULL;
}

const char *engine_name(const struct engine *e)
{
	(void)e;
	return "manual";
}

void engine_post(struct engine *e, struct epost *post)
{
	pthread_mutex_lock(&e->lock);
	post->next = NULL;
	*e->tail = post;
	e->tail = &post->next;
	pthread_cond_signal(&e->posted);
	pthread_mutex_unlock(&e->lock);
}

void engine_defer(struct engine *e, struct edefer *d)
{
	assert(e == engine_self());
	if (!list_linked(&d->link))
		list_add_tail(&e->ready, &d->link);
}

void engine_turn_end(struct engine *e, struct edefer *d)
{
	assert(e == engine_self());
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
	t->fire = fire;
}

void etimer_start(struct engine *e, struct etimer *t, uint64_t ms)
{
	list_del(&t->link);
	t->due = e->now + ms * 1000000;
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

void engine_run(struct engine *e)
{
	(void)e;
	abort();
}

void engine_stop(struct engine *e)
{
	(void)e;
	abort();
}

static inline void manual_posts(struct engine *e)
{
	struct epost *p;

	for (;;) {
		pthread_mutex_lock(&e->lock);
		p = e->posts;
		if (p)
			e->posts = p->next;
		if (!e->posts)
			e->tail = &e->posts;
		pthread_mutex_unlock(&e->lock);
		if (!p)
			return;
		p->run(p);
	}
}

static inline void manual_deferred(struct list *l)
{
	struct edefer *d;

	while (!list_empty(l)) {
		d = list_first(l, struct edefer, link);
		list_del(&d->link);
		d->run(d);
	}
}

/* One turn: what was posted, what was deferred, then what was left to the end
 * of the turn. */
static inline void manual_turn(struct engine *e)
{
	manual_enter(e);
	manual_posts(e);
	manual_deferred(&e->ready);
	manual_deferred(&e->turn_end);
	manual_deferred(&e->ready);
}

/* A turn that begins when something was posted. */
static inline void manual_wait(struct engine *e)
{
	pthread_mutex_lock(&e->lock);
	while (!e->posts)
		pthread_cond_wait(&e->posted, &e->lock);
	pthread_mutex_unlock(&e->lock);
	manual_turn(e);
}

/* The clock moves on; timers that became due fire once. */
static inline void manual_advance(struct engine *e, uint64_t ms)
{
	struct list due;
	struct etimer *t, *next;

	list_init(&due);
	e->now += ms * 1000000;
	list_for_each_safe(t, next, &e->timers, link) {
		if (t->due > e->now)
			continue;
		list_del(&t->link);
		list_add_tail(&due, &t->link);
	}
	manual_enter(e);
	while (!list_empty(&due)) {
		t = list_first(&due, struct etimer, link);
		list_del(&t->link);
		t->fire(t);
	}
	manual_turn(e);
}

#endif
