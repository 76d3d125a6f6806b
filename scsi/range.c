/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Range locks of a logical unit: three lists under one mutex.  A shared range
 * only looks at the exclusive ones and at those that wait, and both lists are
 * empty unless a COMPARE AND WRITE runs.
 */

#include "scsi/range.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct range_set {
	pthread_mutex_t	 mutex;
	struct list	 shared, exclusive;	/* held */
	struct list	 waiting;		/* oldest first */
	unsigned	 overtakes;		/* since one had its turn */

	/* Low half: COMPARE AND WRITEs that write now; high half: those that
	 * have begun. */
	_Alignas(64) _Atomic uint64_t seq;
};

#define SEQ_BEGUN ((uint64_t)1 << 32)

/* Waking another thread takes longer than a COMPARE AND WRITE: those that wait
 * on the thread that unlocks go before those of others, so often in a row. */
#define OVERTAKES_MAX 8

struct range_set *range_set_new(void)
{
	struct range_set *s = aligned_alloc(64, sizeof(*s));

	if (!s)
		return NULL;
	pthread_mutex_init(&s->mutex, NULL);
	list_init(&s->shared);
	list_init(&s->exclusive);
	list_init(&s->waiting);
	s->overtakes = 0;
	atomic_init(&s->seq, 0);
	return s;
}

void range_set_free(struct range_set *s)
{
	if (!s)
		return;
	assert(range_set_empty(s));
	pthread_mutex_destroy(&s->mutex);
	free(s);
}

bool range_set_empty(struct range_set *s)
{
	bool empty;

	pthread_mutex_lock(&s->mutex);
	empty = list_empty(&s->shared) && list_empty(&s->exclusive) &&
		list_empty(&s->waiting);
	pthread_mutex_unlock(&s->mutex);
	return empty;
}

static bool overlaps(const struct list *head, const struct range *r)
{
	const struct list *l;
	const struct range *o;

	for (l = head->next; l != head; l = l->next) {
		o = list_entry(l, const struct range, link);
		if (ranges_overlap(r->lba, r->nblocks, o->lba, o->nblocks))
			return true;
	}
	return false;
}

/* Must r let somebody on the list of those that wait go first?  Only those
 * before end count; who overtakes passes the exclusive ones of others. */
static bool behind(const struct range_set *s, const struct range *r,
		   const struct list *end, bool overtakes)
{
	const struct list *l;
	const struct range *o;

	if (r->barge)
		return false;
	for (l = s->waiting.next; l != end; l = l->next) {
		o = list_entry(l, const struct range, link);
		if (overtakes && o->exclusive && o->engine != r->engine)
			continue;
		if ((r->exclusive || o->exclusive) &&
		    ranges_overlap(r->lba, r->nblocks, o->lba, o->nblocks))
			return true;
	}
	return false;
}

static bool grantable(const struct range_set *s, const struct range *r,
		      const struct list *end, bool overtakes)
{
	return !overlaps(&s->exclusive, r) &&
	       !(r->exclusive && overlaps(&s->shared, r)) &&
	       !behind(s, r, end, overtakes);
}

static void hold(struct range_set *s, struct range *r)
{
	r->held = true;
	list_add_tail(r->exclusive ? &s->exclusive : &s->shared, &r->link);
}

static void granted_run(struct epost *post)
{
	struct range *r = container_of(post, struct range, post);

	r->queued = false;
	r->granted(r);
}

static void granted_here(struct edefer *d)
{
	struct range *r = container_of(d, struct range, defer);

	r->queued = false;
	r->granted(r);
}

bool range_lock(struct range_set *s, struct range *r)
{
	bool now;

	assert(!r->queued && r->nblocks && !(r->barge && r->exclusive));
	pthread_mutex_lock(&s->mutex);
	now = grantable(s, r, &s->waiting, false);
	if (now) {
		hold(s, r);
	} else {
		r->held = false;
		r->queued = true;
		r->post.run = granted_run;
		r->defer.run = granted_here;
		list_init(&r->defer.link);
		list_add_tail(&s->waiting, &r->link);
	}
	pthread_mutex_unlock(&s->mutex);
	return now;
}

static void let_in(struct range_set *s, struct range *r)
{
	list_del(&r->link);
	hold(s, r);
	if (r->engine == engine_self())
		engine_defer(r->engine, &r->defer);
	else
		engine_post(r->engine, &r->post);
}

static void overtake(struct range_set *s)
{
	const struct engine *here = engine_self();
	struct range *r, *tmp;

	list_for_each_safe(r, tmp, &s->waiting, link) {
		if (!r->exclusive || r->engine != here ||
		    !grantable(s, r, &r->link, true))
			continue;
		let_in(s, r);
		s->overtakes++;
	}
}

/* Somebody left: lets in all who may go now, in order. */
static void grant(struct range_set *s)
{
	struct range *r, *tmp;

	if (list_empty(&s->waiting))
		return;
	if (s->overtakes < OVERTAKES_MAX)
		overtake(s);
	list_for_each_safe(r, tmp, &s->waiting, link) {
		if (!grantable(s, r, &r->link, false))
			continue;
		let_in(s, r);
		s->overtakes = 0;
	}
}

void range_unlock(struct range_set *s, struct range *r)
{
	pthread_mutex_lock(&s->mutex);
	assert(r->held);
	r->held = false;
	list_del(&r->link);
	grant(s);
	pthread_mutex_unlock(&s->mutex);
}

bool range_cancel(struct range_set *s, struct range *r)
{
	bool waits;

	assert(r->queued);
	pthread_mutex_lock(&s->mutex);
	waits = !r->held;
	if (waits) {
		list_del(&r->link);
		r->queued = false;
		grant(s);
	}
	pthread_mutex_unlock(&s->mutex);
	return waits;
}

void range_seq_begin(struct range_set *s)
{
	atomic_fetch_add(&s->seq, SEQ_BEGUN + 1);
}

void range_seq_end(struct range_set *s)
{
	atomic_fetch_sub(&s->seq, 1);
}

uint64_t range_seq(const struct range_set *s)
{
	return atomic_load(&s->seq);
}

bool range_seq_changed(const struct range_set *s, uint64_t before)
{
	return (uint32_t)before || atomic_load(&s->seq) != before;
}
