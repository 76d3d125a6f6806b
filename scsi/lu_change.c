/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes of a live logical unit: the new state is published, every I_T_L nexus
 * gets a unit attention, and where commands could still go by the old state a
 * fence waits for them.
 */

#include <errno.h>
#include <stdlib.h>

#include "lib/log.h"
#include "scsi/scsi_int.h"

void lu_set_primitive(struct lu *lu, enum lu_primitive p, bool on)
{
	if (atomic_exchange(&lu->primitive[p], on) != on)
		ua_post(lu, UA_INQUIRY_CHANGED, NULL);
}

void lu_set_read_only(struct lu *lu, bool on)
{
	if (atomic_load(&lu->opened) && volume_caps(lu->volume)->read_only)
		on = true;
	if (atomic_exchange(&lu->read_only, on) != on)
		ua_post(lu, UA_MODE_CHANGED, NULL);
}

void lu_set_online(struct lu *lu)
{
	volume_set_online(lu->volume);
}

/* ---- durability -------------------------------------------------------- */

struct durability {
	struct lu	*lu;
	bool		 on;
	lu_done		*done;
	void		*arg;
};

static void durability_set(void *arg, int err)
{
	struct durability *d = arg;

	if (!err) {
		atomic_store(&d->lu->write_back, d->on);
		ua_post(d->lu, UA_MODE_CHANGED, NULL);
	}
	if (d->done)
		d->done(d->arg, err);
	lu_unref(d->lu);
	free(d);
}

void lu_set_write_back(struct lu *lu, bool on, lu_done *done, void *arg)
{
	struct durability *d = malloc(sizeof(*d));

	if (!d) {
		if (done)
			done(arg, -ENOMEM);
		return;
	}
	*d = (struct durability){ lu_ref(lu), on, done, arg };
	volume_set_write_back(lu->volume, on, durability_set, d);
}

/* MODE SELECT of WCE: to main and back. */
struct wce {
	struct epost	 post;
	struct scsi_cmd	*cmd;
	bool		 on;
	int		 err;
	void		(*done)(struct scsi_cmd *cmd, int err);
};

static void wce_back(struct epost *post)
{
	struct wce *w = container_of(post, struct wce, post);

	w->done(w->cmd, w->err);
	free(w);
}

static void wce_set(void *arg, int err)
{
	struct wce *w = arg;

	w->err = err;
	w->post.run = wce_back;
	engine_post(w->cmd->nexus->engine, &w->post);
}

static void wce_on_main(struct epost *post)
{
	struct wce *w = container_of(post, struct wce, post);

	volume_set_write_back(w->cmd->lu->volume, w->on, wce_set, w);
}

void lu_change_wce(struct scsi_cmd *cmd, bool on,
		   void (*done)(struct scsi_cmd *cmd, int err))
{
	struct wce *w = malloc(sizeof(*w));

	if (!w) {
		done(cmd, -ENOMEM);
		return;
	}
	*w = (struct wce){ .cmd = cmd, .on = on, .done = done,
			   .post.run = wce_on_main };
	engine_post(cmd->lu->host->main, &w->post);
}

/* ---- size -------------------------------------------------------------- */

struct resize {
	struct vwork	 work;
	struct lu	*lu;
	uint64_t	 size, before;	/* bytes; blocks */
	lu_done		*done;
	void		*arg;
};

static int resize_run(struct vwork *w)
{
	struct resize *r = container_of(w, struct resize, work);

	return volume_resize(r->lu->volume, r->size);
}

static void resize_end(struct resize *r, int err)
{
	struct lu *lu = r->lu;
	uint64_t now = r->before;

	if (!err)
		now = volume_size(lu->volume) >> atomic_load(&lu->block_shift);
	atomic_store(&lu->nblocks, now);
	if (now != r->before)
		ua_post(lu, UA_CAPACITY_CHANGED, NULL);
	if (r->done)
		r->done(r->arg, err);
	lu_unref(lu);
	free(r);
}

static void resize_done(struct vwork *w)
{
	resize_end(container_of(w, struct resize, work), w->error);
}

static void resize_fenced(struct fence *f)
{
	struct resize *r = f->arg;

	volume_async(r->lu->volume, &r->work);
	fence_free(f);
}

/* No command may still be at blocks that go away. */
static int resize_shrink(struct resize *r, uint64_t nblocks)
{
	struct fence *f = fence_new(r->lu, r->lu->host->main);

	if (!f)
		return -ENOMEM;
	atomic_store(&r->lu->nblocks, nblocks);
	f->done = resize_fenced;
	f->arg = r;
	lu_fence(f);
	return 0;
}

void lu_resize(struct lu *lu, uint64_t size, lu_done *done, void *arg)
{
	unsigned shift = atomic_load(&lu->block_shift);
	uint64_t nblocks = atomic_load(&lu->nblocks);
	struct resize *r = malloc(sizeof(*r));
	int err = 0;

	if (!r) {
		if (done)
			done(arg, -ENOMEM);
		return;
	}
	*r = (struct resize){ .lu = lu_ref(lu), .size = size,
			      .before = nblocks, .done = done, .arg = arg,
			      .work.run = resize_run,
			      .work.done = resize_done };
	if (!atomic_load(&lu->ready))
		err = -ENODEV;
	else if (size & ((1u << shift) - 1))
		err = -EINVAL;
	else if (size && size >> shift < nblocks)
		err = resize_shrink(r, size >> shift);
	else
		volume_async(lu->volume, &r->work);
	if (err)
		resize_end(r, err);
}

/* ---- soft threshold ---------------------------------------------------- */

/* How late a crossing may be told. */
#define THRESHOLD_MS 2000
#define SET_SHIFT 20		/* of a threshold set, in bytes */

unsigned lu_threshold_exponent(const struct lu *lu)
{
	return lu_thin(lu) ? SET_SHIFT - atomic_load(&lu->block_shift) : 0;
}

uint32_t threshold_sets(uint64_t bytes)
{
	return (uint32_t)MIN(bytes >> SET_SHIFT, UINT32_MAX);
}

static void threshold_space(struct lu_space *s)
{
	struct lu_threshold *t = container_of(s, struct lu_threshold, space);
	struct lu *lu = container_of(t, struct lu, threshold);
	unsigned percent = atomic_load(&lu->threshold_percent);
	uint64_t size = volume_size(lu->volume);
	bool reached;

	t->running = false;
	if (s->work.error || !size)
		return;
	reached = percent && s->space.allocated / size * 100 +
		  s->space.allocated % size * 100 / size >= percent;
	if (atomic_exchange(&lu->threshold_reached, reached) || !reached)
		return;
	log_warn("volume %s: %u percent of it are allocated", lu->name,
		 percent);
	atomic_fetch_add(&lu->threshold_crossings, 1);
	ua_post(lu, UA_SOFT_THRESHOLD, NULL);
}

static void threshold_tick(struct etimer *timer)
{
	struct lu_threshold *t = container_of(timer, struct lu_threshold,
					      timer);
	struct lu *lu = container_of(t, struct lu, threshold);

	etimer_start(lu->host->main, &t->timer, THRESHOLD_MS);
	if (t->running || !atomic_load(&lu->ready))
		return;
	t->running = true;
	t->space.done = threshold_space;
	lu_get_space(lu, &t->space);
}

void lu_threshold_init(struct lu *lu)
{
	etimer_init(&lu->threshold.timer, threshold_tick);
	lu_set_threshold(lu, lu->config.threshold);
}

void lu_threshold_stop(struct lu *lu)
{
	etimer_stop(&lu->threshold.timer);
}

void lu_set_threshold(struct lu *lu, unsigned percent)
{
	atomic_store(&lu->threshold_percent, percent);
	atomic_store(&lu->threshold_reached, false);
	if (percent)
		etimer_start(lu->host->main, &lu->threshold.timer, 0);
	else
		etimer_stop(&lu->threshold.timer);
}
