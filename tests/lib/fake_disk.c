/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The requests of fake volumes and what they do to the disk in memory. */

#include "tests/lib/fake_volume.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* While the fake has a request, its priv says whether its act was done. */
static bool acted(const struct breq *b)
{
	return b->priv;
}

static void set_mapped(struct volume *v, uint64_t off, uint64_t len, bool on)
{
	uint64_t i;

	for (i = off / FAKE_UNIT; i * FAKE_UNIT < off + len; i++)
		v->mapped[i] = on;
}

static void do_unmap(struct volume *v, const struct breq *b)
{
	uint64_t g = v->caps.unmap_granularity, first, end;

	assert(g);
	first = round_up(b->off, g);
	end = round_down(b->off + b->len, g);
	if (v->caps.unmap_zeroes)
		memset(v->data + b->off, 0, b->len);
	if (first < end)
		set_mapped(v, first, end - first, false);
}

static void do_write_same(struct volume *v, const struct breq *b)
{
	uint64_t at;

	assert(b->pattern && b->len % b->pattern == 0);
	for (at = 0; at < b->len; at += b->pattern)
		memcpy(v->data + b->off + at, b->data, b->pattern);
	set_mapped(v, b->off, b->len, true);
}

static void do_copy(struct volume *v, const struct breq *b)
{
	assert(range_fits(b->src_off, b->len, b->src->size));
	memmove(v->data + b->off, b->src->data + b->src_off, b->len);
	set_mapped(v, b->off, b->len, true);
}

static void do_extent(struct volume *v, struct breq *b)
{
	uint64_t at = b->off;

	b->mapped = v->mapped[at / FAKE_UNIT];
	while (at < b->off + b->len &&
	       v->mapped[at / FAKE_UNIT] == (uint8_t)b->mapped)
		at = round_down(at, FAKE_UNIT) + FAKE_UNIT;
	b->run = MIN(at - b->off, b->len);
}

static void act(struct volume *v, struct breq *b)
{
	switch (b->op) {
	case BREQ_READ:
		memcpy(b->data, v->data + b->off, b->len);
		break;
	case BREQ_WRITE:
		memcpy(v->data + b->off, b->data, b->len);
		set_mapped(v, b->off, b->len, true);
		break;
	case BREQ_ZERO:
		memset(v->data + b->off, 0, b->len);
		set_mapped(v, b->off, b->len, true);
		break;
	case BREQ_UNMAP:
		do_unmap(v, b);
		break;
	case BREQ_WRITE_SAME:
		do_write_same(v, b);
		break;
	case BREQ_COPY:
		do_copy(v, b);
		break;
	case BREQ_EXTENT:
		do_extent(v, b);
		break;
	case BREQ_FLUSH:
	case BREQ_PREFETCH:
	case BREQ_OPS:
		break;
	}
}

static bool changes(enum breq_op op)
{
	return op == BREQ_WRITE || op == BREQ_ZERO || op == BREQ_UNMAP ||
	       op == BREQ_WRITE_SAME || op == BREQ_COPY;
}

void volume_submit(struct volume *v, struct breq *b)
{
	assert(b->done && b->op < BREQ_OPS && engine_self());
	assert(b->op == BREQ_FLUSH || range_fits(b->off, b->len, v->size));
	b->vol = v;
	b->engine = engine_self();
	b->priv = NULL;
	b->error = 0;
	b->anchored = false;
	list_add_tail(&v->breqs, &b->link);
	v->of_op[b->op]++;
	if (++v->submitted == v->fail_at)
		b->error = v->fail_err;
}

static int state_error(const struct volume *v, const struct breq *b)
{
	switch (v->state) {
	case VOLUME_FAILED:
		return changes(b->op) || b->op == BREQ_FLUSH ? -EIO : 0;
	case VOLUME_DEGRADED:
	case VOLUME_CLOSED:
		return -ENODEV;
	case VOLUME_OPENING:
	case VOLUME_ONLINE:
		break;
	}
	return changes(b->op) && v->caps.read_only ? -EROFS : 0;
}

static int do_act(struct breq *b, int err)
{
	struct volume *v = b->vol;

	if (!err)
		err = b->error;
	if (!err)
		err = state_error(v, b);
	if (err)
		return err;
	act(v, b);
	b->priv = b;
	if (b->written && changes(b->op))
		b->written(b);
	return 0;
}

void fake_end(struct breq *b, int err)
{
	struct engine *caller = engine_self();
	struct volume *v = b->vol;

	fake_enter(b->engine);
	if (!acted(b))
		err = do_act(b, err);
	list_del(&b->link);
	b->error = err;
	b->done(b);
	fake_enter(caller);
	fake_close_if_idle(v);
}

struct breq *fake_pending(struct volume *v)
{
	return list_empty(&v->breqs) ? NULL :
	       list_first(&v->breqs, struct breq, link);
}

struct breq *fake_pending_op(struct volume *v, enum breq_op op)
{
	struct breq *b;

	list_for_each(b, &v->breqs, link)
		if (b->op == op)
			return b;
	return NULL;
}

unsigned fake_npending(const struct volume *v)
{
	const struct list *l;
	unsigned n = 0;

	for (l = v->breqs.next; l != &v->breqs; l = l->next)
		n++;
	return n;
}

void fake_complete_breq(struct breq *b, int err)
{
	fake_run();
	fake_end(b, err);
	fake_run();
}

void fake_complete(struct volume *v, int err)
{
	struct breq *b;

	fake_run();
	b = fake_pending(v);
	assert(b);
	fake_end(b, err);
	fake_run();
}

void fake_end_extent(struct breq *b, bool mapped, uint64_t run)
{
	fake_run();
	assert(b->op == BREQ_EXTENT && !acted(b));
	b->priv = b;
	b->mapped = mapped;
	b->run = MIN(run, b->len);
	fake_end(b, 0);
	fake_run();
}

void fake_written(struct volume *v)
{
	struct engine *caller = engine_self();
	struct breq *b;

	fake_run();
	b = fake_pending(v);
	assert(b && !acted(b));
	fake_enter(b->engine);
	b->error = do_act(b, 0);
	fake_enter(caller);
	fake_run();
}

void fake_auto(struct volume *v, bool on)
{
	v->is_auto = on;
}

void fake_fail(struct volume *v, unsigned n, int err)
{
	v->fail_at = n ? v->submitted + n : 0;
	v->fail_err = err;
}

unsigned fake_submitted(const struct volume *v)
{
	return v->submitted;
}

unsigned fake_submitted_op(const struct volume *v, enum breq_op op)
{
	return v->of_op[op];
}

uint8_t *fake_data(struct volume *v)
{
	return v->data;
}

bool fake_mapped(const struct volume *v, uint64_t off)
{
	return v->mapped[off / FAKE_UNIT];
}

void fake_map_all(struct volume *v)
{
	set_mapped(v, 0, v->size, true);
}

struct volume_caps *fake_caps(struct volume *v)
{
	return &v->caps;
}

void fake_set_space(struct volume *v, const struct volume_space *s)
{
	v->space = *s;
}

void fake_set_piece(struct volume *v, uint64_t bytes)
{
	v->piece = bytes;
}

void fake_open_error(struct volume *v, int err)
{
	v->open_error = err;
}
