/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_LIB_ENG_H
#define TESTS_LIB_ENG_H

/*
 * For tests of the engines: every test runs on both kinds, as a loop test whose
 * index is the kind.  A test that hangs is ended by check's timeout.
 */

#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "backend/engine.h"

#define ENG_KINDS 2

static inline struct engine *eng_new(int kind)
{
	struct engine_config config = {
		.kind = kind ? ENGINE_AIO : ENGINE_URING,
	};
	int err = 0;
	struct engine *e = engine_new(&config, &err);

	ck_assert_msg(e, "no engine: %s", strerror(-err));
	return e;
}

/* A request that stops the engine when the last of its group has ended. */
struct eng_group {
	struct engine *e;
	int left;
	bool in_call;	/* set around submit and cancel: done() must not run */
};

struct eng_req {
	struct ereq r;
	struct eng_group *group;
	int done;
	int order;	/* the how-manieth of its group that ended */
};

static inline void eng_done(struct ereq *r)
{
	struct eng_req *q = (struct eng_req *)(void *)r;

	ck_assert(!q->group->in_call);
	ck_assert_int_eq(q->done, 0);
	ck_assert_ptr_eq(engine_self(), q->group->e);
	q->done++;
	q->order = q->group->left;
	if (!--q->group->left)
		engine_stop(q->group->e);
}

static inline void eng_submit(struct eng_group *g, struct eng_req *q)
{
	q->group = g;
	q->done = 0;
	q->r.done = eng_done;
	g->left++;
	g->in_call = true;
	engine_submit(g->e, &q->r);
	g->in_call = false;
}

static inline void eng_cancel(struct eng_group *g, struct eng_req *q)
{
	g->in_call = true;
	engine_cancel(g->e, &q->r);
	g->in_call = false;
}

/* Submits one request and runs the engine until it has ended. */
static inline int eng_do(struct engine *e, struct ereq r)
{
	struct eng_group g = { .e = e };
	struct eng_req q = { .r = r };

	eng_submit(&g, &q);
	engine_run(e);
	ck_assert_int_eq(q.done, 1);
	return q.r.result;
}

#endif
