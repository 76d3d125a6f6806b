/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_LIB_ACTS_H
#define TESTS_LIB_ACTS_H

/*
 * A volume of a kind whose acts end when the test says so, on two engines whose
 * turns the test makes.
 */

#include <check.h>
#include <errno.h>

#include "backend/backend_int.h"
#include "tests/lib/manual_engine.h"

static struct engine *e1, *e2;
static struct volume *v;
static struct list acts;		/* requests that the kind has got */
static int open_error;
static unsigned opens, closes, changes;
static enum volume_state told;
static bool is_closed;

/* One request and what became of it. */
struct req {
	struct breq	b;
	bool		written, done;
	int		error;
	char		data[512];
};

static inline void act(struct volume *vol, struct breq *b)
{
	ck_assert_ptr_eq(vol, v);
	list_add_tail(&acts, &b->link);
}

static inline int kind_open(struct volume *vol)
{
	opens++;
	vol->caps = (struct volume_caps){
		.block_size = 512, .unmap = METHOD_PUNCH_HOLE,
		.unmap_granularity = 4096, .unmap_zeroes = true,
	};
	return open_error;
}

static inline void kind_close(struct volume *vol)
{
	(void)vol;
	closes++;
}

static const struct volume_ops kind = {
	.kind = "fake", .open = kind_open, .close = kind_close,
	.read = act, .write = act, .flush = act, .zero = act, .unmap = act,
	.write_same = act, .copy = act,
};

static inline void on_changed(struct volume *vol, enum volume_state s,
			      void *arg)
{
	(void)vol;
	(void)arg;
	changes++;
	told = s;
}

static inline void on_closed(struct volume *vol, void *arg)
{
	(void)vol;
	(void)arg;
	is_closed = true;
}

static inline void make(const struct volume_config *config)
{
	const struct volume_events events = {
		.changed = on_changed, .closed = on_closed,
	};

	v = volume_new_ops(config, &events, e1, &kind, NULL);
	ck_assert_ptr_nonnull(v);
	manual_enter(e1);
	volume_open(v);
	manual_wait(e1);
}

static const struct volume_config through = {
	.name = "v", .path = "fake:", .size = 1 << 20,
};
static const struct volume_config direct = {
	.name = "v", .path = "fake:", .size = 1 << 20, .direct = true,
};
static const struct volume_config back = {
	.name = "v", .path = "fake:", .size = 1 << 20, .write_back = true,
};

static inline void setup(void)
{
	e1 = engine_new(NULL, NULL);
	e2 = engine_new(NULL, NULL);
	list_init(&acts);
	open_error = 0;
	opens = closes = changes = 0;
	is_closed = false;
	make(&through);
}

static inline void drop(void)
{
	manual_enter(e1);
	volume_close(v);
	manual_advance(e1, 1);
	while (!is_closed)
		manual_wait(e1);
	volume_free(v);
	is_closed = false;
}

static inline void remake(const struct volume_config *config)
{
	drop();
	make(config);
}

static inline void teardown(void)
{
	ck_assert(list_empty(&acts));
	drop();
	engine_free(e1);
	engine_free(e2);
}

static inline void on_written(struct breq *b)
{
	struct req *r = container_of(b, struct req, b);

	ck_assert(!r->written && !r->done);
	r->written = true;
}

static inline void on_done(struct breq *b)
{
	struct req *r = container_of(b, struct req, b);

	ck_assert(!r->done);
	ck_assert_ptr_eq(engine_self(), b->engine);
	r->done = true;
	r->error = b->error;
}

static inline void submit(struct req *r, struct engine *e, enum breq_op op,
			  unsigned flags)
{
	*r = (struct req){
		.b = {
			.op = op, .flags = flags, .off = 0, .len = 512,
			.data = r->data, .pattern = 512, .src = v,
			.written = on_written, .done = on_done,
		},
	};
	manual_enter(e);
	volume_submit(v, &r->b);
	ck_assert(!r->done);
}

/* Goes on with the same struct after a part. */
static inline void submit_rest(struct req *r, struct engine *e, unsigned flags)
{
	ck_assert(r->done);
	r->written = r->done = false;
	r->b.flags = BREQ_REST | flags;
	manual_enter(e);
	volume_submit(v, &r->b);
}

/* Is the kind at work on an operation, and how often? */
static inline unsigned at_work(enum breq_op op)
{
	struct breq *b;
	unsigned n = 0;

	list_for_each(b, &acts, link)
		n += b->op == op;
	return n;
}

static inline struct breq *oldest(enum breq_op op)
{
	struct breq *b;

	list_for_each(b, &acts, link)
		if (b->op == op)
			return b;
	ck_abort_msg("no act of that kind");
}

static inline void act_ends(struct breq *b, int err)
{
	list_del(&b->link);
	manual_enter(b->engine);
	breq_complete(b, err);
}

static inline void flush_ends(int err)
{
	struct breq *b = oldest(BREQ_FLUSH);

	act_ends(b, err);
	manual_turn(b->engine);
	manual_turn(e1);
	manual_turn(e2);
}

static const enum breq_op changing[] = {
	BREQ_WRITE, BREQ_ZERO, BREQ_UNMAP, BREQ_WRITE_SAME, BREQ_COPY,
};

#define NCHANGING ((int)(sizeof(changing) / sizeof(changing[0])))

/* A flush fails that covers r[0]; r[1] ended while it ran, r[2] is still with
 * the kind. */
static inline void fail_flush(struct req *r, int err)
{
	int i;

	for (i = 0; i < 3; i++)
		submit(&r[i], i == 1 ? e2 : e1, BREQ_WRITE, 0);
	act_ends(&r[0].b, 0);
	manual_turn(e1);
	act_ends(&r[1].b, 0);
	manual_turn(e2);
	flush_ends(err);
}

#endif
