/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The life of a volume: opened and closed on a thread of its own so that a hung
 * file system stalls nobody, tried again while degraded, told about on main's
 * thread.  Requests are submit.c's.
 */

#include "backend/backend_int.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util.h"

/* How often a closing volume looks whether its requests are gone, ms.  They
 * are counted per engine, so nobody knows that he is the last. */
#define CLOSE_POLL_MS	5

const char *volume_method_name(enum volume_method m)
{
	static const char *const names[] = {
		[METHOD_NONE]		 = "none",
		[METHOD_WRITE]		 = "write",
		[METHOD_ZERO_RANGE]	 = "zero-range",
		[METHOD_PUNCH_HOLE]	 = "punch-hole",
		[METHOD_DISCARD]	 = "discard",
		[METHOD_REFLINK]	 = "reflink",
		[METHOD_COPY_FILE_RANGE] = "copy_file_range",
		[METHOD_READ_WRITE]	 = "read-write",
		[METHOD_DISCARDED]	 = "null",
	};

	assert(m < ARRAY_SIZE(names));
	return names[m];
}

const char *volume_state_name(enum volume_state s)
{
	static const char *const names[] = {
		[VOLUME_OPENING]  = "opening",
		[VOLUME_ONLINE]   = "online",
		[VOLUME_DEGRADED] = "degraded",
		[VOLUME_FAILED]	  = "failed",
		[VOLUME_CLOSED]	  = "closed",
	};

	assert(s < ARRAY_SIZE(names));
	return names[s];
}

enum volume_state volume_state(const struct volume *v)
{
	return (enum volume_state)atomic_load(&v->state);
}

int volume_error(const struct volume *v)
{
	return atomic_load(&v->error);
}

uint64_t volume_size(const struct volume *v)
{
	return atomic_load_explicit(&v->size, memory_order_relaxed);
}

const char *volume_path(const struct volume *v)
{
	return v->path;
}

const char *volume_kind(const struct volume *v)
{
	const struct volume_ops *ops = atomic_load(&v->ops);

	return ops ? ops->kind : file_ops.kind;
}

/* Attempts to open fill v->caps on their thread: nobody looks before one has
 * succeeded. */
const struct volume_caps *volume_caps(const struct volume *v)
{
	static const struct volume_caps unknown = {
		.block_size = 512, .physical_block_size = 4096,
	};

	return atomic_load(&v->has_caps) ? &v->caps : &unknown;
}

bool volume_write_back(const struct volume *v)
{
	return atomic_load(&v->write_back);
}

static void changed_run(struct epost *post)
{
	struct volume *v = container_of(post, struct volume, changed);
	int state;

	atomic_store(&v->changed_posted, false);
	state = atomic_load(&v->state);
	if (!v->told || v->closing || state == v->told_state)
		return;
	v->told_state = state;
	if (v->events.changed)
		v->events.changed(v, (enum volume_state)state, v->events.arg);
}

static void tell_changed(struct volume *v)
{
	if (!atomic_exchange(&v->changed_posted, true))
		engine_post(v->main, &v->changed);
}

void volume_set_failed(struct volume *v, int err)
{
	int online = VOLUME_ONLINE;

	if (!atomic_compare_exchange_strong(&v->state, &online, VOLUME_FAILED))
		return;
	atomic_store(&v->error, err);
	tell_changed(v);
}

void volume_set_online(struct volume *v)
{
	int failed = VOLUME_FAILED;

	if (!atomic_compare_exchange_strong(&v->state, &failed, VOLUME_ONLINE))
		return;
	atomic_store(&v->error, 0);
	tell_changed(v);
}

static void life_work(struct volume *v, int (*run)(struct vwork *w),
		      void (*done)(struct vwork *w));
static void opened(struct vwork *w);
static void closed(struct vwork *w);
static void timer_fire(struct etimer *t);

static void slots_init(struct volume *v)
{
	struct vslot *s;

	for (s = v->slots; s < v->slots + VOLUME_SLOTS; s++) {
		list_init(&s->queue);
		list_init(&s->starved);
		lane_slot_init(s);
		etimer_init(&s->timer, bulk_retry);
	}
}

struct volume *volume_new_ops(const struct volume_config *config,
			      const struct volume_events *events,
			      struct engine *main, const struct volume_ops *ops,
			      void *priv)
{
	char thread[16];
	void *mem;
	struct volume *v;

	if (posix_memalign(&mem, _Alignof(struct volume), sizeof(*v)))
		return NULL;
	v = memset(mem, 0, sizeof(*v));
	v->main = main;
	if (events)
		v->events = *events;
	v->config = *config;
	v->name = strdup(config->name ? config->name : "");
	v->path = strdup(config->path ? config->path : "");
	v->config.name = v->name;
	v->config.path = v->path;
	v->priv = priv;
	atomic_init(&v->ops, ops);
	atomic_init(&v->state, VOLUME_OPENING);
	atomic_init(&v->size, config->size);
	atomic_init(&v->write_back, config->write_back);
	atomic_init(&v->may_lose, config->write_back);
	v->changed.run = changed_run;
	etimer_init(&v->timer, timer_fire);
	slots_init(v);
	flush_init(&v->flush);
	lane_init(&v->lane);
	snprintf(thread, sizeof(thread), "%s", v->name ? v->name : "");
	v->threads = blocking_new(VOLUME_THREADS, thread);
	if (v->name && v->path && v->threads)
		return v;
	volume_free(v);
	return NULL;
}

struct volume *volume_new(const struct volume_config *config,
			  const struct volume_events *events,
			  struct engine *main)
{
	struct volume *v = volume_new_ops(config, events, main, NULL, NULL);

	if (v)
		v->by_path = true;
	return v;
}

void volume_free(struct volume *v)
{
	if (!v)
		return;
	assert(!v->opening && !v->is_open && !volume_in_flight(v));
	etimer_stop(&v->timer);
	if (v->threads)
		blocking_free(v->threads);
	lane_fini(&v->lane);
	flush_fini(&v->flush);
	free(v->name);
	free(v->path);
	free(v);
}

static const struct volume_ops *ops_of_path(const char *path, int *ret_err)
{
	static const struct volume_ops *const all[] = {
		&file_ops, &block_ops, &null_ops,
	};
	const char *kind = volume_probe_kind(path, ret_err);
	size_t i;

	if (!kind)
		return NULL;
	for (i = 0; strcmp(all[i]->kind, kind); i++)
		assert(i + 1 < ARRAY_SIZE(all));
	return all[i];
}

static int open_run(struct vwork *w)
{
	struct volume *v = w->vol;
	const struct volume_ops *ops = atomic_load(&v->ops);
	int err;

	if (v->by_path) {
		ops = ops_of_path(v->path, &err);
		if (!ops)
			return err;
		atomic_store(&v->ops, ops);
	}
	return ops->open ? ops->open(v) : 0;
}

void volume_open(struct volume *v)
{
	assert(!v->opening && !v->is_open && !v->closing);
	life_work(v, open_run, opened);
}

static void opened(struct vwork *w)
{
	struct volume *v = w->vol;
	int state = w->error ? VOLUME_DEGRADED : VOLUME_ONLINE;

	v->opening = false;
	v->is_open = !w->error;
	if (v->closing)
		return;			/* the timer sees to the rest */
	assert(w->error || (v->caps.block_size && volume_size(v)));
	if (!w->error)
		atomic_store(&v->has_caps, true);
	atomic_store(&v->error, w->error);
	atomic_store(&v->state, state);
	if (w->error)
		etimer_start(v->main, &v->timer, VOLUME_RETRY_MS);
	if (v->told) {
		tell_changed(v);
		return;
	}
	v->told = true;
	v->told_state = state;
	if (v->events.opened)
		v->events.opened(v, w->error, v->events.arg);
}

void volume_close(struct volume *v)
{
	assert(!v->closing);
	v->closing = true;
	atomic_store(&v->state, VOLUME_CLOSED);
	etimer_start(v->main, &v->timer, 0);
}

static int close_run(struct vwork *w)
{
	const struct volume_ops *ops = atomic_load(&w->vol->ops);

	if (ops->close)
		ops->close(w->vol);
	return 0;
}

static void closed(struct vwork *w)
{
	struct volume *v = w->vol;

	v->opening = false;
	v->is_open = false;
	if (v->events.closed)
		v->events.closed(v, v->events.arg);
}

static bool is_idle(struct volume *v)
{
	return !v->opening && !volume_in_flight(v) &&
	       !atomic_load(&v->works) && !atomic_load(&v->changed_posted);
}

static void timer_fire(struct etimer *t)
{
	struct volume *v = container_of(t, struct volume, timer);

	if (!v->closing) {
		if (!v->opening && !v->is_open)
			life_work(v, open_run, opened);
		return;
	}
	if (!is_idle(v))
		etimer_start(v->main, t, CLOSE_POLL_MS);
	else if (v->is_open)
		life_work(v, close_run, closed);
	else if (v->events.closed)
		v->events.closed(v, v->events.arg);
}

static void work_done(struct epost *post)
{
	struct vwork *w = container_of(post, struct vwork, post);
	struct volume *v = w->vol;

	if (w->lone)	/* it may still be waking the engine */
		pthread_join(w->thread, NULL);
	w->done(w);
	if (v && w != &v->life)
		atomic_fetch_sub(&v->works, 1);
}

static void work_run(struct bjob *job)
{
	struct vwork *w = container_of(job, struct vwork, job);

	w->error = w->run(w);
	engine_post(w->engine, &w->post);
}

static void life_work(struct volume *v, int (*run)(struct vwork *w),
		      void (*done)(struct vwork *w))
{
	v->opening = true;
	v->life = (struct vwork){
		.run = run, .done = done, .vol = v, .engine = v->main,
		.job.run = work_run, .post.run = work_done,
	};
	blocking_submit(v->threads, &v->life.job);
}

static void *lone_thread(void *job)
{
	work_run(job);
	return NULL;
}

void volume_async(struct volume *v, struct vwork *w)
{
	int err;

	w->vol = v;
	w->lone = !v;
	w->engine = engine_self();
	if (!w->engine && v)
		w->engine = v->main;
	assert(w->engine);
	w->job.run = work_run;
	w->post.run = work_done;
	if (v) {
		atomic_fetch_add(&v->works, 1);
		blocking_submit(v->threads, &w->job);
		return;
	}
	err = pthread_create(&w->thread, NULL, lone_thread, &w->job);
	if (err) {
		w->lone = false;
		w->error = -err;
		engine_post(w->engine, &w->post);
	}
}

int volume_resize(struct volume *v, uint64_t size)
{
	const struct volume_ops *ops = atomic_load(&v->ops);

	if (volume_state(v) != VOLUME_ONLINE)
		return -ENODEV;
	if (size % v->caps.block_size)
		return -EINVAL;
	return ops->resize ? ops->resize(v, size) : -EOPNOTSUPP;
}

int volume_space(struct volume *v, struct volume_space *ret)
{
	const struct volume_ops *ops = atomic_load(&v->ops);
	enum volume_state state = volume_state(v);

	if (state != VOLUME_ONLINE && state != VOLUME_FAILED)
		return -ENODEV;
	if (ops->space)
		return ops->space(v, ret);
	*ret = (struct volume_space){ .allocated = volume_size(v) };
	return 0;
}

uint64_t volume_shared(struct volume *v)
{
	const struct volume_ops *ops = atomic_load(&v->ops);
	enum volume_state state = volume_state(v);

	if (state != VOLUME_ONLINE && state != VOLUME_FAILED)
		return 0;
	return ops->shared ? ops->shared(v) : 0;
}
