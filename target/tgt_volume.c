/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Running volumes: started when the configuration names them, changed live,
 * closed when it does not any more and the last session has let go.
 */

#include "target/tgt_int.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/util.h"
#include "target/state.h"

struct vol *world_vol(struct world *w, const char *name)
{
	struct vol *v;

	list_for_each(v, &w->vols, in_world)
		if (!v->removed && !strcmp(v->name, name))
			return v;
	return NULL;
}

static struct vol *find(const char *name)
{
	struct world *w = world_lock();
	struct vol *v = world_vol(w, name);

	world_unlock(w);
	return v;
}

void vol_put(struct vol *v)
{
	struct world *w = world_lock();

	if (!--v->users && v->removed)
		engine_post(scsi_host.main, &v->idle);
	world_unlock(w);
}

char *vol_path(const char *path)
{
	char *abs;

	if (path[0] == '/' || !strcmp(path, "null:"))
		return strdup(path);
	if (asprintf(&abs, "%s/%s", config_state_dir(), path) < 0)
		return NULL;
	return abs;
}

/* ---- start -------------------------------------------------------------- */

static void lu_opened(struct lu *lu, int err, void *arg)
{
	struct vol *v = arg;
	void (*opened)(void *arg, int err) = v->opened;

	(void)lu;
	if (err)
		log_warn("volume %s is degraded: %s", v->name, strerror(-err));
	v->tried = true;
	v->opened = NULL;
	if (opened)
		opened(v->opened_arg, err);
}

bool vols_opened(void)
{
	struct world *w = world_lock();
	bool all = true;
	struct vol *v;

	list_for_each(v, &w->vols, in_world)
		all = all && v->tried;
	world_unlock(w);
	return all;
}

static void lu_changed(struct lu *lu, enum volume_state s, void *arg)
{
	struct vol *v = arg;
	struct lu_info info;

	lu_get_info(lu, &info);
	if (s == VOLUME_ONLINE)
		log_info("volume %s is online", v->name);
	else if (info.error)
		log_err("volume %s is %s: %s", v->name, info.state,
			strerror(-info.error));
	else
		log_warn("volume %s is %s", v->name, info.state);
}

static int load_reservations(void *arg, void **ret, size_t *ret_len)
{
	return reservations_load(((struct vol *)arg)->name, ret, ret_len);
}

static void aside_reservations(void *arg)
{
	reservations_aside(((struct vol *)arg)->name);
}

static int store_reservations(void *arg, const void *bytes, size_t len)
{
	return reservations_save(((struct vol *)arg)->name, bytes, len);
}

struct closing {
	unsigned left;
	void (*done)(void);
};

static void one_closed(struct closing *c)
{
	if (--c->left)
		return;
	c->done();
	free(c);
}

static void lu_closed(void *arg)
{
	struct vol *v = arg;
	struct world *w = world_lock();

	list_del(&v->in_world);
	world_unlock(w);
	log_debug("volume %s is closed", v->name);
	if (v->closed)
		v->closed(v->closed_arg);
	if (v->closing)
		one_closed(v->closing);
	free(v);
}

static void idle_vol(struct epost *p)
{
	struct vol *v = container_of(p, struct vol, idle);

	lu_close(v->lu, lu_closed, v);
}

static void lu_config_of(const struct conf_volume *c, const char *path,
			 struct lu_config *ret)
{
	unsigned i;

	*ret = (struct lu_config){
		.volume = {
			.name = c->name, .path = path, .size = c->size,
			.thick = c->thick, .direct = c->direct,
			.read_only = c->read_only, .write_back = c->write_back,
		},
		.block_size = c->block_size,
		.physical_block_size = c->physical_block_size,
		.naa_len = c->id.naa_len,
		.threshold = (uint8_t)c->threshold,
	};
	memcpy(ret->naa, c->id.naa, sizeof(ret->naa));
	memcpy(ret->serial, c->id.serial, sizeof(ret->serial));
	memcpy(ret->vendor, c->vendor, sizeof(ret->vendor));
	memcpy(ret->product, c->product, sizeof(ret->product));
	for (i = 0; i < PRIMITIVES; i++)
		ret->primitive[i] = !c->off[i];
}

int vol_start(const struct conf_volume *conf,
		 void (*opened)(void *arg, int err), void *arg)
{
	struct lu_events events = {
		.opened = lu_opened, .changed = lu_changed,
		.pr_load = load_reservations, .pr_aside = aside_reservations,
		.pr_store = store_reservations,
	};
	char *path = vol_path(conf->path);
	struct lu_config config;
	struct world *w;
	struct vol *v;

	if (find(conf->name)) {
		free(path);
		return -EEXIST;
	}
	v = calloc(1, sizeof(*v));
	if (!v || !path)
		goto no_memory;
	snprintf(v->name, sizeof(v->name), "%s", conf->name);
	v->id = conf->id;
	v->idle.run = idle_vol;
	v->opened = opened;
	v->opened_arg = arg;
	events.arg = v;
	lu_config_of(conf, path, &config);
	v->lu = lu_new(&scsi_host, &config, &events);
	if (!v->lu)
		goto no_memory;
	free(path);
	w = world_lock();
	list_add_tail(&w->vols, &v->in_world);
	world_unlock(w);
	lu_open(v->lu);
	return 0;

no_memory:
	free(v);
	free(path);
	return -ENOMEM;
}

int vols_start(const struct conf *now, struct config_error *err)
{
	unsigned i;
	int r;

	for (i = 0; i < now->nvolumes; i++) {
		r = vol_start(&now->volumes[i], NULL, NULL);
		if (!r || r == -EEXIST)
			continue;
		snprintf(err->text, sizeof(err->text), "volumes.%s: %s",
			 now->volumes[i].name, strerror(-r));
		return r;
	}
	return 0;
}

/* ---- live changes ------------------------------------------------------- */

static void settle(struct vol *v)
{
	void (*settled)(void *arg, int err) = v->settled;
	int err = v->change_err;

	if (v->changing)
		return;
	v->change_err = 0;
	v->settled = NULL;
	if (settled)
		settled(v->settled_arg, err);
}

/* The logical unit is referenced until this was called, and v with it. */
static void changed(void *arg, int err)
{
	struct vol *v = arg;

	if (err) {
		log_err("volume %s did not change: %s", v->name,
			strerror(-err));
		v->change_err = v->change_err ? v->change_err : err;
	}
	v->changing--;
	settle(v);
}

void vol_when_settled(const char *name, void (*settled)(void *arg, int err),
		      void *arg)
{
	struct vol *v = find(name);

	if (!v) {
		settled(arg, 0);
		return;
	}
	/* the one that waits already hears no more than it knows */
	if (v->settled)
		v->settled(v->settled_arg, 0);
	v->settled = settled;
	v->settled_arg = arg;
	settle(v);
}

static void change_size(const struct conf_volume *now, struct vol *v)
{
	struct lu_info info;

	lu_get_info(v->lu, &info);
	/* a verb resized it already, or it is not there: its retry will see */
	if (!now->size || info.size == now->size)
		return;
	v->changing++;
	lu_resize(v->lu, now->size, changed, v);
}

static void change_volume(const struct conf_volume *old,
			  const struct conf_volume *now, struct vol *v)
{
	struct lu *lu = v->lu;
	unsigned i;

	if (old->write_back != now->write_back) {
		v->changing++;
		lu_set_write_back(lu, now->write_back, changed, v);
	}
	if (old->read_only != now->read_only)
		lu_set_read_only(lu, now->read_only);
	if (old->threshold != now->threshold)
		lu_set_threshold(lu, now->threshold);
	for (i = 0; i < PRIMITIVES; i++)
		if (old->off[i] != now->off[i])
			lu_set_primitive(lu, (enum lu_primitive)i,
					 !now->off[i]);
	if (old->size != now->size)
		change_size(now, v);
}

void vols_change(const struct conf *old, const struct conf *now)
{
	const struct conf_volume *was;
	struct vol *v;
	unsigned i;

	for (i = 0; old && i < now->nvolumes; i++) {
		was = conf_find_volume(old, now->volumes[i].name);
		v = was ? find(was->name) : NULL;
		if (v)
			change_volume(was, &now->volumes[i], v);
	}
}

/* ---- stop --------------------------------------------------------------- */

static void stop_vol(struct vol *v)
{
	struct world *w = world_lock();
	bool idle = !v->removed && !v->users;

	v->removed = true;
	world_unlock(w);
	if (idle)
		lu_close(v->lu, lu_closed, v);
}

void vol_stop(const char *name, void (*closed)(void *arg), void *arg)
{
	struct vol *v = find(name);

	if (!v)
		return;
	v->closed = closed;
	v->closed_arg = arg;
	stop_vol(v);
}

void vol_on_closed(const char *name, void (*closed)(void *arg), void *arg)
{
	struct vol *v = find(name);

	if (!v)
		return;
	v->closed = closed;
	v->closed_arg = arg;
}

/* The first volume that is to stop: lu_close() may call back at once, so the
 * list is looked at anew each time. */
static struct vol *first_extra(const struct conf *now)
{
	struct world *w = world_lock();
	struct vol *v, *found = NULL;

	list_for_each(v, &w->vols, in_world) {
		/* what a verb is creating is not in the configuration yet */
		if (v->removed || v->opened ||
		    conf_find_volume(now, v->name))
			continue;
		found = v;
		break;
	}
	world_unlock(w);
	return found;
}

void vols_stop(const struct conf *now)
{
	struct vol *v;

	while ((v = first_extra(now)))
		stop_vol(v);
}

static unsigned take_all(struct closing *c, struct vol ***ret)
{
	struct world *w = world_lock();
	unsigned n = 0;
	struct vol *v;

	list_for_each(v, &w->vols, in_world)
		n++;
	*ret = calloc(n + 1, sizeof(**ret));
	n = 0;
	list_for_each(v, &w->vols, in_world) {
		if (!*ret)
			break;
		v->closing = c;
		(*ret)[n++] = v;
	}
	world_unlock(w);
	return n;
}

void vols_close(void (*done)(void))
{
	struct closing *c = calloc(1, sizeof(*c));
	struct vol **all = NULL;
	unsigned i, n;

	if (!c) {
		done();
		return;
	}
	n = take_all(c, &all);
	*c = (struct closing){ n + 1, done };
	for (i = 0; i < n; i++)
		stop_vol(all[i]);
	free(all);
	one_closed(c);
}

/* ---- questions ---------------------------------------------------------- */

struct lu *vol_lu(const char *name)
{
	struct world *w = world_lock();
	struct vol *v = world_vol(w, name);
	struct lu *lu = v ? lu_ref(v->lu) : NULL;

	world_unlock(w);
	return lu;
}

unsigned vol_users(const char *name)
{
	struct world *w = world_lock();
	struct vol *v = world_vol(w, name);
	unsigned n = v ? v->users : 0;

	world_unlock(w);
	return n;
}
