/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Shared flushes.  A request whose act has ended joins those that wait; a
 * flush covers the ones that wait when it starts, and no other: who joins while
 * it runs is covered by the next.  So each request is answered after a flush
 * that started when its act was over, and any number of them share one.
 *
 * A flush starts at the end of a turn of the engine that found none running, so
 * that all acts that end in the turn share it.
 *
 * After a failed flush the kernel has forgotten what it could not write: the
 * next one would succeed and mean nothing.  So a failure begins a new era;
 * whatever began its act in an old one can never become stable.
 */

#include "backend/backend_int.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/util.h"

static void flush_start(struct edefer *d);

int flush_init(struct flush *f)
{
	list_init(&f->waiting);
	list_init(&f->covered);
	list_init(&f->start.link);
	f->start.run = flush_start;
	return -pthread_mutex_init(&f->lock, NULL);
}

void flush_fini(struct flush *f)
{
	pthread_mutex_destroy(&f->lock);
}

void flush_join(struct volume *v, struct breq *b)
{
	struct flush *f = &v->flush;
	bool arm = false;
	int err = 0;

	pthread_mutex_lock(&f->lock);
	if (b->era != atomic_load(&f->era)) {
		err = f->error;
	} else {
		list_add_tail(&f->waiting, &b->link);
		arm = !f->armed && !atomic_load(&f->running);
		f->armed = f->armed || arm;
	}
	pthread_mutex_unlock(&f->lock);
	if (err)
		breq_finish_later(b, err);
	else if (arm)
		engine_turn_end(b->engine, &f->start);
}

static void finish_all(struct list *breqs, int err)
{
	struct breq *b, *next;

	list_for_each_safe(b, next, breqs, link) {
		list_del(&b->link);
		breq_finish_later(b, err);
	}
}

/*
 * No space is an answer of its own as long as nothing is lost by it that was
 * called stable: in write-through mode the requests that wait are all that can
 * be lost, and each is told.  In write-back mode the volume has failed.
 */
void flush_failed(struct volume *v, int err)
{
	struct flush *f = &v->flush;
	bool told = err_space(err) && !atomic_load(&v->may_lose);
	struct list waiting;

	list_init(&waiting);
	if (!told) {
		volume_set_failed(v, err);
		err = -EIO;
	}
	pthread_mutex_lock(&f->lock);
	f->error = err;
	atomic_fetch_add(&f->era, 1);
	list_splice_tail(&waiting, &f->waiting);
	pthread_mutex_unlock(&f->lock);
	finish_all(&waiting, err);
}

static void flush_ended(struct breq *req)
{
	struct flush *f = container_of(req, struct flush, req);
	int err = req->error;
	struct list covered;
	bool arm;

	list_init(&covered);
	if (err)
		flush_failed(req->vol, err);
	pthread_mutex_lock(&f->lock);
	/* also when a stable write failed meanwhile */
	err = f->req_era != atomic_load(&f->era) ? f->error : 0;
	list_splice_tail(&covered, &f->covered);
	atomic_store(&f->running, false);
	arm = !list_empty(&f->waiting);
	f->armed = arm;
	pthread_mutex_unlock(&f->lock);
	if (arm)
		engine_turn_end(req->engine, &f->start);
	/* the volume may be gone with the last of them */
	finish_all(&covered, err);
}

static void flush_start(struct edefer *d)
{
	struct flush *f = container_of(d, struct flush, start);
	struct volume *v = container_of(f, struct volume, flush);
	bool any;

	pthread_mutex_lock(&f->lock);
	f->armed = false;
	any = !list_empty(&f->waiting);
	list_splice_tail(&f->covered, &f->waiting);
	f->req_era = atomic_load(&f->era);
	atomic_store(&f->running, any);
	pthread_mutex_unlock(&f->lock);
	if (!any)
		return;			/* they failed before it started */
	f->req.op = BREQ_FLUSH;
	f->req.engine = engine_self();
	breq_child(&f->req, &f->req, v, flush_ended);
	volume_start(v, &f->req);
}

/* Changing durability. */
struct durability {
	struct breq	 flush;
	void		(*done)(void *arg, int err);
	void		*arg;
	bool		 on;
	unsigned	 change;
};

static void durability_done(struct breq *b)
{
	struct durability *d = container_of(b, struct durability, flush);
	struct volume *v = b->vol;
	int err = b->error == -ENODEV ? 0 : b->error;	/* nothing to flush */

	if (!d->on && d->change == v->changes) {
		if (err)
			atomic_store(&v->write_back, true);
		else
			atomic_store(&v->may_lose, false);
	}
	if (d->done)
		d->done(d->arg, d->on ? 0 : err);
	free(d);
}

/* The new mode comes first, so that what is not yet answered waits for a flush
 * by itself, and what was answered is covered by this one. */
void volume_set_write_back(struct volume *v, bool on,
			   void (*done)(void *arg, int err), void *arg)
{
	struct durability *d = calloc(1, sizeof(*d));

	if (!d) {
		if (done)
			done(arg, -ENOMEM);
		return;
	}
	d->done = done;
	d->arg = arg;
	d->on = on;
	d->change = ++v->changes;
	d->flush.op = BREQ_FLUSH;
	d->flush.done = durability_done;
	if (on)
		atomic_store(&v->may_lose, true);
	atomic_store(&v->write_back, on);
	volume_submit(v, &d->flush);
}
