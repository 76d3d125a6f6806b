/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Fake volumes: what a configuration and a state say, and blocking work. */

#include "tests/lib/fake_volume.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct list volumes = { &volumes, &volumes };
static struct list works = { &works, &works };

/* A message to the main engine about a volume. */
struct event {
	struct epost	 post;
	struct volume	*volume;
	enum volume_state state;
	int		 err;
	void		(*answer)(void *arg, int err);
	void		*arg;
};

static void event_post(struct volume *v, void (*run)(struct epost *p), int err)
{
	struct event *ev = calloc(1, sizeof(*ev));

	assert(ev);
	ev->post.run = run;
	ev->volume = v;
	ev->state = v->state;
	ev->err = err;
	engine_post(v->main, &ev->post);
}

struct volume *volume_new(const struct volume_config *config,
			  const struct volume_events *events,
			  struct engine *main)
{
	struct volume *v = calloc(1, sizeof(*v));

	assert(v);
	v->name = strdup(config->name ? config->name : "fake");
	v->path = strdup(config->path ? config->path : "fake:");
	v->size = config->size ? config->size : MiB;
	v->data = calloc(1, v->size);
	v->mapped = calloc(1, v->size / FAKE_UNIT + 1);
	assert(v->name && v->path && v->data && v->mapped);
	if (events)
		v->events = *events;
	v->main = main;
	v->write_back = config->write_back;
	v->piece = MiB;
	v->caps = (struct volume_caps){
		.block_size = 512, .physical_block_size = 4096,
		.unmap_granularity = config->thick ? 0 : 4096,
		.unmap_zeroes = true, .read_only = config->read_only,
		.zero = METHOD_ZERO_RANGE,
		.unmap = config->thick ? METHOD_NONE : METHOD_PUNCH_HOLE,
		.copy = METHOD_READ_WRITE,
	};
	list_init(&v->breqs);
	list_add_tail(&volumes, &v->link);
	return v;
}

static void opened_run(struct epost *p)
{
	struct event *ev = container_of(p, struct event, post);
	struct volume *v = ev->volume;

	v->state = ev->err ? VOLUME_DEGRADED : VOLUME_ONLINE;
	v->error = ev->err;
	if (v->events.opened)
		v->events.opened(v, ev->err, v->events.arg);
	free(ev);
}

void volume_open(struct volume *v)
{
	event_post(v, opened_run, v->open_error);
}

static void closed_run(struct epost *p)
{
	struct event *ev = container_of(p, struct event, post);
	struct volume *v = ev->volume;

	free(ev);
	v->state = VOLUME_CLOSED;
	if (v->events.closed)
		v->events.closed(v, v->events.arg);
}

void volume_close(struct volume *v)
{
	v->closing = true;
	fake_close_if_idle(v);
}

/* Requests under way are waited for: the last one that ends comes here. */
void fake_close_if_idle(struct volume *v)
{
	if (!v->closing || !list_empty(&v->breqs))
		return;
	v->closing = false;
	event_post(v, closed_run, 0);
}

void volume_free(struct volume *v)
{
	if (!v)
		return;
	assert(list_empty(&v->breqs));
	list_del(&v->link);
	free(v->name);
	free(v->path);
	free(v->data);
	free(v->mapped);
	free(v);
}

int volume_make_file(const struct volume_config *config)
{
	(void)config;
	return 0;
}

const char *volume_probe_kind(const char *path, int *ret_err)
{
	(void)path;
	(void)ret_err;
	return "file";
}

enum volume_state volume_state(const struct volume *v)
{
	return v->state;
}

int volume_error(const struct volume *v)
{
	return v->error;
}

uint64_t volume_size(const struct volume *v)
{
	return v->size;
}

const char *volume_path(const struct volume *v)
{
	return v->path;
}

const char *volume_kind(const struct volume *v)
{
	(void)v;
	return "file";
}

const struct volume_caps *volume_caps(const struct volume *v)
{
	return &v->caps;
}

const char *volume_method_name(enum volume_method m)
{
	static const char *const names[] = {
		"none", "write", "zero-range", "punch-hole", "discard",
		"reflink", "copy_file_range", "read-write", "null",
	};

	return names[m];
}

const char *volume_state_name(enum volume_state s)
{
	static const char *const names[] = {
		"opening", "online", "degraded", "failed", "closed",
	};

	return names[s];
}

enum volume_method volume_copy_method(const struct volume *src,
				      const struct volume *dst)
{
	(void)src;
	return dst->caps.copy;
}

bool volume_write_back(const struct volume *v)
{
	return v->write_back;
}

void volume_async(struct volume *v, struct vwork *w)
{
	(void)v;
	w->engine = engine_self();
	list_add_tail(&works, &w->link);
}

int volume_resize(struct volume *v, uint64_t size)
{
	uint8_t *data = calloc(1, size);
	uint8_t *mapped = calloc(1, size / FAKE_UNIT + 1);

	assert(data && mapped);
	memcpy(data, v->data, MIN(size, v->size));
	memcpy(mapped, v->mapped, MIN(size, v->size) / FAKE_UNIT);
	free(v->data);
	free(v->mapped);
	v->data = data;
	v->mapped = mapped;
	v->size = size;
	return 0;
}

int volume_space(struct volume *v, struct volume_space *ret)
{
	*ret = v->space;
	return 0;
}

uint64_t volume_shared(struct volume *v)
{
	(void)v;
	return 0;
}

static void write_back_run(struct epost *p)
{
	struct event *ev = container_of(p, struct event, post);

	if (ev->answer)
		ev->answer(ev->arg, 0);
	free(ev);
}

void volume_set_write_back(struct volume *v, bool on,
			   void (*done)(void *arg, int err), void *arg)
{
	struct event *ev = calloc(1, sizeof(*ev));

	assert(ev);
	v->write_back = on;
	ev->post.run = write_back_run;
	ev->answer = done;
	ev->arg = arg;
	engine_post(v->main, &ev->post);
}

void volume_set_online(struct volume *v)
{
	fake_set_state(v, VOLUME_ONLINE, 0);
}

uint64_t volume_bulk_piece(const struct volume *v, enum breq_op op)
{
	(void)op;
	return v->piece;
}

static void changed_run(struct epost *p)
{
	struct event *ev = container_of(p, struct event, post);
	struct volume *v = ev->volume;

	if (v->events.changed)
		v->events.changed(v, ev->state, v->events.arg);
	free(ev);
}

void fake_set_state(struct volume *v, enum volume_state s, int err)
{
	v->state = s;
	v->error = err;
	event_post(v, changed_run, err);
}

static bool run_work(void)
{
	struct vwork *w;

	if (list_empty(&works))
		return false;
	w = list_first(&works, struct vwork, link);
	list_del(&w->link);
	w->error = w->run(w);
	fake_enter(w->engine);
	w->done(w);
	return true;
}

bool fake_volumes_run(void)
{
	struct volume *v;

	if (run_work())
		return true;
	list_for_each(v, &volumes, link) {
		if (!v->is_auto || list_empty(&v->breqs))
			continue;
		fake_end(fake_pending(v), 0);
		return true;
	}
	return false;
}

void fake_volumes_reset(void)
{
	struct volume *v;

	list_init(&works);
	list_for_each(v, &volumes, link)
		list_init(&v->breqs);
}

unsigned fake_volumes(void)
{
	struct volume *v;
	unsigned n = 0;

	list_for_each(v, &volumes, link)
		n++;
	return n;
}

struct volume *fake_volume(const char *name)
{
	struct volume *v;

	list_for_each(v, &volumes, link)
		if (!strcmp(v->name, name))
			return v;
	return NULL;
}
