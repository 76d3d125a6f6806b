/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The gate of a volume: every request enters by volume_submit() and leaves by
 * breq_finish().  Between the two stands the act on the medium, which ends in
 * breq_end(), and for what must be stable the wait for a flush (flush.c).  A
 * READ takes no lock here.
 */

#include "backend/backend_int.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "lib/util.h"

/* A lone write of at most this many bytes to direct I/O is made stable by
 * itself: one round trip to the device in place of two.  With more writes in
 * flight a flush that they share is cheaper. */
#define LONE_WRITE_MAX	(64 * KiB)

bool err_space(int err)
{
	return err == -ENOSPC || err == -EDQUOT;
}

/* Errors of a stable write that say that it never reached the medium; any
 * other may mean that what the device held was lost with it. */
static bool err_refused(int err)
{
	return err_space(err) || err == -EINVAL || err == -EFBIG ||
	       err == -EROFS || err == -EPERM || err == -ENOMEM;
}

struct vslot *volume_slot(struct volume *v, struct engine *e)
{
	size_t at = ((uintptr_t)e >> 6) % VOLUME_SLOTS;
	struct engine *taken;
	struct vslot *s;
	size_t n;

	for (n = 0; n < VOLUME_SLOTS; n++) {
		s = &v->slots[(at + n) % VOLUME_SLOTS];
		taken = atomic_load_explicit(&s->engine, memory_order_acquire);
		if (taken == e)
			return s;
		if (!taken &&
		    atomic_compare_exchange_strong(&s->engine, &taken, e))
			return s;
	}
	abort();			/* more engines than MAX_WORKERS */
}

/* Each engine counts up and down in its own slot, so a slot that reads 0 after
 * the volume was closed stays at 0 but for requests that are refused. */
unsigned volume_in_flight(const struct volume *v)
{
	unsigned n = 0;
	size_t i;

	for (i = 0; i < VOLUME_SLOTS; i++)
		n += atomic_load(&v->slots[i].in_flight);
	return n;
}

static struct volume *copy_src(const struct breq *b)
{
	return b->op == BREQ_COPY && b->src != b->vol ? b->src : NULL;
}

static void breq_finish(struct breq *b, int err)
{
	struct volume *src = copy_src(b);
	struct vslot *slot = b->slot;
	struct vslot *src_slot = src ? volume_slot(src, b->engine) : NULL;

	b->error = err;
	b->done(b);			/* b may be gone now */
	atomic_fetch_sub(&slot->in_flight, 1);
	if (src_slot)
		atomic_fetch_sub(&src_slot->in_flight, 1);
}

static void finish_posted(struct epost *post)
{
	struct breq *b = container_of(post, struct breq, post);

	breq_finish(b, b->error);
}

static void finish_deferred(struct edefer *d)
{
	struct breq *b = container_of(d, struct breq, defer);

	breq_finish(b, b->error);
}

static void end_posted(struct epost *post)
{
	struct breq *b = container_of(post, struct breq, post);

	breq_end(b, b->error);
}

static void end_deferred(struct edefer *d)
{
	struct breq *b = container_of(d, struct breq, defer);

	breq_end(b, b->error);
}

void breq_finish_later(struct breq *b, int err)
{
	b->error = err;
	b->defer.run = finish_deferred;
	b->post.run = finish_posted;
	if (engine_self() == b->engine)
		engine_defer(b->engine, &b->defer);
	else
		engine_post(b->engine, &b->post);
}

void breq_complete(struct breq *b, int err)
{
	assert(err <= 0);
	b->error = err;
	b->defer.run = end_deferred;
	b->post.run = end_posted;
	if (engine_self() == b->engine)
		engine_defer(b->engine, &b->defer);
	else
		engine_post(b->engine, &b->post);
}

static bool must_be_stable(const struct breq *b)
{
	return !b->vol->stable_writes &&
	       (!atomic_load(&b->vol->write_back) || (b->flags & BREQ_FUA));
}

void breq_end(struct breq *b, int err)
{
	struct volume *v = b->vol;

	if (b->own & OWN_URGENT)
		atomic_fetch_sub(&v->urgent, 1);
	if (b->own & OWN_CHILD) {
		b->error = err;
		b->done(b);
		return;
	}
	if (err && breq_wants_sync(b) && !err_refused(err))
		flush_failed(v, err);
	if (err || !breq_changes(b)) {
		breq_finish(b, err);
		return;
	}
	if (b->written)
		b->written(b);
	if (!breq_wants_sync(b) && must_be_stable(b) &&
	    !(b->flags & BREQ_PART)) {
		flush_join(v, b);
		return;
	}
	breq_finish(b, volume_state(v) == VOLUME_FAILED ? -EIO : 0);
}

static int check_source(const struct breq *b)
{
	enum volume_state state = volume_state(b->src);

	if (state != VOLUME_ONLINE && state != VOLUME_FAILED)
		return -ENODEV;
	return range_fits(b->src_off, b->len, volume_size(b->src)) ? 0 : -EIO;
}

static int check_request(struct volume *v, const struct breq *b)
{
	enum volume_state state = volume_state(v);

	if (state != VOLUME_ONLINE && state != VOLUME_FAILED)
		return -ENODEV;
	if (b->op == BREQ_FLUSH)
		return state == VOLUME_FAILED ? -EIO : 0;
	/* not an assert: the volume may just have become smaller */
	if (!range_fits(b->off, b->len, volume_size(v)))
		return -EIO;
	if (!breq_changes(b))
		return 0;
	if (state == VOLUME_FAILED)
		return -EIO;
	if (v->caps.read_only)
		return -EROFS;
	if (b->op == BREQ_UNMAP && v->caps.unmap == METHOD_NONE)
		return -EOPNOTSUPP;
	return b->op == BREQ_COPY ? check_source(b) : 0;
}

/*
 * Does the write itself make its data stable?  An urgent one must not wait for
 * the shared flush.  In write-back mode a flush would write out all that
 * others left in the cache.  The rest goes like the parts before it, whatever
 * the mode is now.
 */
static bool write_is_sync(const struct volume *v, const struct breq *b)
{
	if (b->flags & BREQ_REST)
		return breq_wants_sync(b);
	if (b->op != BREQ_WRITE || !must_be_stable(b))
		return false;
	if ((b->flags & BREQ_URGENT) || atomic_load(&v->write_back))
		return true;
	return v->config.direct && !(b->flags & BREQ_PART) &&
	       b->len <= LONE_WRITE_MAX &&
	       !atomic_load(&v->flush.running) &&
	       atomic_load(&b->slot->in_flight) == 1;
}

static void breq_prepare(struct volume *v, struct breq *b)
{
	assert(b->op < BREQ_OPS && b->done && !(b->flags >> 4));
	assert(b->op != BREQ_WRITE_SAME || (b->pattern && b->data));
	assert(b->op != BREQ_COPY || b->src);
	b->vol = v;
	/* before it runs, an engine may be given work by who made it */
	b->engine = engine_self();
	if (!b->engine)
		b->engine = v->main;
	b->error = 0;
	b->anchored = false;
	b->own = b->flags & BREQ_REST ? b->own & OWN_SYNC : 0;
	b->pos = 0;
	b->slot = volume_slot(v, b->engine);
	list_init(&b->link);
	list_init(&b->defer.link);
}

void volume_submit(struct volume *v, struct breq *b)
{
	struct volume *src;
	int err;

	breq_prepare(v, b);
	atomic_fetch_add(&b->slot->in_flight, 1);
	src = copy_src(b);
	if (src)
		atomic_fetch_add(&volume_slot(src, b->engine)->in_flight, 1);
	/* before the state, as flush_failed() sets them the other way round:
	 * who sees the new era sees that the volume has failed */
	if (!(b->flags & BREQ_REST))
		b->era = atomic_load(&v->flush.era);
	err = check_request(v, b);
	if (err) {
		breq_finish_later(b, err);
		return;
	}
	if (b->op == BREQ_FLUSH) {
		flush_join(v, b);
		return;
	}
	if (!b->len) {
		breq_finish_later(b, 0);
		return;
	}
	if (b->flags & BREQ_URGENT) {
		b->own |= OWN_URGENT;
		atomic_fetch_add(&v->urgent, 1);
	}
	if (write_is_sync(v, b))
		b->own |= OWN_SYNC;
	volume_start(v, b);
}

void breq_child(struct breq *child, const struct breq *parent,
		struct volume *v, void (*done)(struct breq *b))
{
	child->flags = 0;
	child->vol = v;
	child->engine = parent->engine;
	child->slot = volume_slot(v, parent->engine);
	child->own = OWN_CHILD;
	child->pos = 0;
	child->error = 0;
	child->written = NULL;
	child->done = done;
	list_init(&child->link);
	list_init(&child->defer.link);
}

static void no_op(struct volume *v, struct breq *b)
{
	(void)v;
	breq_complete(b, 0);
}

void volume_start(struct volume *v, struct breq *b)
{
	const struct volume_ops *ops;
	void (*start)(struct volume *v, struct breq *b) = no_op;

	ops = atomic_load_explicit(&v->ops, memory_order_acquire);
	switch (b->op) {
	case BREQ_READ:
		start = ops->read;
		break;
	case BREQ_WRITE:
		start = ops->write;
		break;
	case BREQ_FLUSH:
		start = ops->flush ? ops->flush : no_op;
		break;
	case BREQ_ZERO:
		start = ops->zero ? ops->zero : generic_zero;
		break;
	case BREQ_UNMAP:
		assert(ops->unmap);
		start = ops->unmap;
		break;
	case BREQ_WRITE_SAME:
		start = ops->write_same ? ops->write_same : generic_write_same;
		break;
	case BREQ_COPY:
		start = ops->copy ? ops->copy : generic_copy;
		break;
	case BREQ_EXTENT:
		start = ops->extent ? ops->extent : generic_extent;
		break;
	case BREQ_PREFETCH:
		start = ops->prefetch ? ops->prefetch : no_op;
		break;
	case BREQ_OPS:
		abort();
	}
	start(v, b);
}
