/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Volumes: showing, deleting, resizing. */

#include "target/ctl_int.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/log.h"
#include "target/worker.h"

/* ---- showing ------------------------------------------------------------ */

/* How long a listing waits for file systems to tell what is allocated: one that
 * hangs must not hide the others. */
#define SPACE_MS 2000

struct listing {
	struct ctl_call	*call;
	json_t		*result;	/* a list */
	bool		 one;
	unsigned	 pending;
	struct list	 items;
	struct etimer	 late;
};

struct item {
	struct lu_space	 space;
	struct listing	*listing;	/* NULL: it was answered without us */
	struct list	 in_listing;
	json_t		*object;
};

static unsigned count_mappings(const char *volume)
{
	const struct conf *now = config_now();
	unsigned i, k, n = 0;

	for (i = 0; i < now->ntargets; i++)
		for (k = 0; k < now->targets[i].nluns; k++)
			n += !strcmp(now->targets[i].luns[k].volume, volume);
	return n;
}

static json_t *volume_json(const struct conf_volume *conf, struct lu *lu)
{
	struct lu_info i;
	char naa[33];
	json_t *o;

	lu_get_info(lu, &i);
	o = json_pack("{s:s, s:s, s:o, s:s, s:I, s:n, s:i, s:i}",
		"name", conf->name, "path", i.path,
		"kind", text_or_null(i.kind), "state", i.state,
		"size", (json_int_t)(i.size ? i.size : conf->size),
		"allocated", "block_size", (int)i.block_size,
		"physical_block_size", (int)i.physical_block_size);
	if (!o)
		return json_object();
	json_object_update_new(o, json_pack(
		"{s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:b, s:i, s:i}",
		"naa", naa_text(i.naa, i.naa_len, naa), "serial", i.serial,
		"vendor", i.vendor, "product", i.product,
		"durability", i.write_back ? "write-back" : "write-through",
		"io", i.direct ? "direct" : "buffered", "thick", i.thick,
		"read_only", i.read_only, "threshold", (int)i.threshold,
		"mappings", (int)count_mappings(conf->name)));
	if (i.error)
		json_object_set_new(o, "error",
				    json_string(strerror(-i.error)));
	return o;
}

static void listing_answer(struct listing *l)
{
	struct item *item, *next;
	json_t *result = l->result;

	list_for_each_safe(item, next, &l->items, in_listing) {
		list_del(&item->in_listing);
		item->listing = NULL;
	}
	etimer_stop(&l->late);
	if (l->one)
		result = json_incref(json_array_get(l->result, 0));
	ctl_ok(l->call, result);
	if (l->one)
		json_decref(l->result);
	free(l);
}

static void listing_late(struct etimer *t)
{
	listing_answer(container_of(t, struct listing, late));
}

static void space_done(struct lu_space *s)
{
	struct item *item = container_of(s, struct item, space);
	struct listing *l = item->listing;

	if (l && !s->work.error) {
		json_object_set_new(item->object, "allocated", json_integer(
			(json_int_t)s->space.allocated));
		json_object_set_new(item->object, "shared", json_integer(
			(json_int_t)s->shared));
		if (s->space.fs_total)
			json_object_set_new(item->object, "fs_free",
				json_integer((json_int_t)s->space.fs_free));
	}
	list_del(&item->in_listing);
	json_decref(item->object);
	free(item);
	if (l && !--l->pending)
		listing_answer(l);
}

static void listing_add(struct listing *l, const char *name)
{
	const struct conf_volume *conf = conf_find_volume(config_now(), name);
	struct lu *lu = vol_lu(name);
	struct item *item = calloc(1, sizeof(*item));

	if (!conf || !lu || !item) {
		lu_unref(lu);
		free(item);
		return;
	}
	item->listing = l;
	item->object = volume_json(conf, lu);
	json_array_append(l->result, item->object);
	list_add_tail(&l->items, &item->in_listing);
	l->pending++;
	item->space.done = space_done;
	item->space.count_shared = true;
	lu_get_space(lu, &item->space);
	lu_unref(lu);
}

void ctl_volumes(struct ctl_call *c, json_t *names, bool one)
{
	struct listing *l = calloc(1, sizeof(*l));
	json_t *name;
	size_t i;

	if (!l) {
		json_decref(names);
		ctl_fail(c, "no memory");
		return;
	}
	*l = (struct listing){
		.call = c, .result = json_array(), .one = one, .pending = 1,
	};
	list_init(&l->items);
	etimer_init(&l->late, listing_late);
	json_array_foreach(names, i, name)
		listing_add(l, json_string_value(name));
	json_decref(names);
	if (!--l->pending)
		listing_answer(l);
	else
		etimer_start(scsi_host.main, &l->late, SPACE_MS);
}

void ctl_volume_list(struct ctl_call *c)
{
	const struct conf *now = config_now();
	json_t *names = json_array();
	unsigned i;

	for (i = 0; i < now->nvolumes; i++)
		json_array_append_new(names,
				      json_string(now->volumes[i].name));
	ctl_volumes(c, names, false);
}

void ctl_volume_show(struct ctl_call *c)
{
	const struct conf_volume *v = ctl_volume(c, "name");

	if (v)
		ctl_volumes(c, json_pack("[s]", v->name), true);
}

/* ---- deleting ----------------------------------------------------------- */

/* A volume whose storage hangs closes when that answers; nobody waits so long:
 * the configuration has it no more. */
#define CLOSE_WAIT_MS 5000

struct deletion {
	struct ctl_call	*call;		/* NULL: it was answered */
	char		*erase;		/* path; NULL: the file stays */
	char		 name[CONF_VOLUME_NAME_MAX];
	struct vwork	 work;
	struct etimer	 late;
};

static void deletion_answer(struct deletion *d)
{
	if (d->call)
		ctl_ok(d->call, json_true());
	d->call = NULL;
}

static void deletion_free(struct deletion *d)
{
	etimer_stop(&d->late);
	free(d->erase);
	free(d);
}

static void deletion_late(struct etimer *t)
{
	struct deletion *d = container_of(t, struct deletion, late);

	log_warn("volume %s is deleted, but its storage hangs: it is closed%s "
		 "when that answers", d->name, d->erase ? " and erased" : "");
	deletion_answer(d);
}

static int erase_run(struct vwork *w)
{
	struct deletion *d = container_of(w, struct deletion, work);
	struct stat st;

	if (lstat(d->erase, &st))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	return unlink(d->erase) ? -errno : 0;
}

static void erase_done(struct vwork *w)
{
	struct deletion *d = container_of(w, struct deletion, work);
	const char *why = w->error == -EINVAL ? "not a regular file" :
						strerror(-w->error);

	if (w->error && !d->call)
		log_err("%s is not erased: %s", d->erase, why);
	else if (w->error)
		ctl_fail(d->call, "the volume is deleted, but %s is not "
			 "erased: %s", d->erase, why);
	else
		deletion_answer(d);
	deletion_free(d);
	control_work_ends();
}

static void deleted(void *arg)
{
	struct deletion *d = arg;

	if (d->erase) {
		d->work = (struct vwork){ .run = erase_run,
					  .done = erase_done };
		control_work_begins();
		volume_async(NULL, &d->work);
		return;
	}
	deletion_answer(d);
	deletion_free(d);
}

/* Takes the volume out of every LUN. */
static void unmap_everywhere(json_t *doc, const char *volume)
{
	const char *iqn, *lun;
	json_t *target, *luns, *m, *v;
	void *next;
	size_t i;

	json_object_foreach(json_object_get(doc, "targets"), iqn, target) {
		luns = json_object_get(target, "luns");
		json_object_foreach_safe(luns, next, lun, v) {
			if (lun[0] == '#')
				continue;
			for (i = json_array_size(v); i--; ) {
				m = json_array_get(v, i);
				if (json_is_object(m))
					m = json_object_get(m, "volume");
				if (!strcmp(json_string_value(m), volume))
					json_array_remove(v, i);
			}
			if (json_is_array(v) ? !json_array_size(v) :
			    !strcmp(json_string_value(v), volume))
				json_object_del(luns, lun);
		}
	}
}

static struct deletion *deletion_new(struct ctl_call *c,
				     const struct conf_volume *v)
{
	struct deletion *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->call = c;
	memcpy(d->name, v->name, sizeof(d->name));
	etimer_init(&d->late, deletion_late);
	if (ctl_bool(c, "erase"))
		d->erase = vol_path(v->path);
	if (ctl_bool(c, "erase") && !d->erase) {
		free(d);
		return NULL;
	}
	return d;
}

static bool may_delete(struct ctl_call *c, const struct conf_volume *v)
{
	unsigned n = count_mappings(v->name);
	struct lu_info info = { 0 };
	struct lu *lu;

	if (n && !ctl_bool(c, "force")) {
		ctl_fail(c, "volume %s is mapped as %u LUN%s; --force unmaps "
			 "it", v->name, n, n == 1 ? "" : "s");
		return false;
	}
	lu = vol_lu(v->name);
	if (lu)
		lu_get_info(lu, &info);
	if (ctl_bool(c, "erase") && info.kind && strcmp(info.kind, "file")) {
		ctl_fail(c, "only a regular file can be erased, and %s is not "
			 "one", v->path);
		lu_unref(lu);
		return false;
	}
	lu_unref(lu);
	return true;
}

void ctl_volume_delete(struct ctl_call *c)
{
	const struct conf_volume *v = ctl_volume(c, "name");
	char name[CONF_VOLUME_NAME_MAX];
	struct deletion *d;
	json_t *doc;

	if (!v || !may_delete(c, v))
		return;
	d = deletion_new(c, v);
	if (!d) {
		ctl_fail(c, "no memory");
		return;
	}
	memcpy(name, v->name, sizeof(name));
	doc = config_copy();
	unmap_everywhere(doc, name);
	json_object_del(json_object_get(doc, "volumes"), name);
	vol_on_closed(name, deleted, d);
	etimer_start(scsi_host.main, &d->late, CLOSE_WAIT_MS);
	if (ctl_commit(c, doc)) {
		identity_remove(name);
		return;		/* deleted() answers when it is closed */
	}
	vol_on_closed(name, NULL, NULL);
	deletion_free(d);
}

/* ---- resizing ----------------------------------------------------------- */

struct resizing {
	struct ctl_call	*call;
	char		 name[CONF_VOLUME_NAME_MAX];
	uint64_t	 size, before;
};

static bool commit_size(struct resizing *r, uint64_t size)
{
	json_t *doc = config_copy();

	json_object_set_new(doc_volume(doc, r->name), "size", size_json(size));
	return ctl_commit(r->call, doc);
}

/*
 * The file has its size before the configuration says so, and a shrunk one
 * after it: after a crash between the two it is longer than it need be, never
 * shorter.
 */
static void shrunk(void *arg, int err)
{
	struct resizing *r = arg;

	if (err)
		ctl_fail(r->call, "volume %s was not resized: %s; its "
			 "configuration has the new size", r->name,
			 strerror(-err));
	else
		ctl_volumes(r->call, json_pack("[s]", r->name), true);
	free(r);
}

static void shrink(struct resizing *r)
{
	if (commit_size(r, r->size))
		vol_when_settled(r->name, shrunk, r);
	else
		free(r);
}

static void resized(void *arg, int err)
{
	struct resizing *r = arg;
	const struct conf_volume *v = conf_find_volume(config_now(), r->name);
	struct lu *lu;

	if (err || !v) {
		ctl_fail(r->call, "volume %s was not resized: %s", r->name,
			 v ? strerror(-err) : "it was deleted");
		free(r);
		return;
	}
	if (!r->size) {		/* a device says its size itself */
		ctl_volumes(r->call, json_pack("[s]", r->name), true);
		free(r);
		return;
	}
	if (commit_size(r, r->size)) {
		ctl_volumes(r->call, json_pack("[s]", r->name), true);
	} else {
		lu = vol_lu(r->name);
		if (lu)
			lu_resize(lu, r->before, NULL, NULL);
		lu_unref(lu);
	}
	free(r);
}

static bool may_resize(struct ctl_call *c, const struct lu_info *info,
		       uint64_t size)
{
	bool device = info->kind && !strcmp(info->kind, "block");

	if (!size && !device) {
		ctl_fail(c, "a size must be given");
		return false;
	}
	if (size % info->block_size) {
		ctl_fail(c, "the size is not a multiple of %u bytes",
			 info->block_size);
		return false;
	}
	if (size && size < info->size && !ctl_bool(c, "force")) {
		ctl_fail(c, "that is smaller than the volume is; what lies "
			 "behind would be lost: --force does it");
		return false;
	}
	return true;
}

void ctl_volume_resize(struct ctl_call *c)
{
	const struct conf_volume *v = ctl_volume(c, "name");
	uint64_t size = ctl_size(c, "size", 0);
	struct resizing *r;
	struct lu_info info;
	struct lu *lu;

	if (!v)
		return;
	lu = vol_lu(v->name);
	r = calloc(1, sizeof(*r));
	if (!lu || !r) {
		lu_unref(lu);
		free(r);
		ctl_fail(c, "volume %s is not running", v->name);
		return;
	}
	lu_get_info(lu, &info);
	if (!may_resize(c, &info, size)) {
		lu_unref(lu);
		free(r);
		return;
	}
	r->call = c;
	memcpy(r->name, v->name, sizeof(r->name));
	r->size = size;
	r->before = info.size;
	if (size && size < info.size)
		shrink(r);
	else
		lu_resize(lu, size, resized, r);
	lu_unref(lu);
}
