/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * volume.create, in steps: look at the path and make the file (a blocking
 * thread), record the identity, open the logical unit, commit, answer.  What
 * fails undoes what was done; the configuration is touched last.
 */

#include "target/ctl_int.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/list.h"
#include "lib/log.h"

struct creation {
	struct list	 in_creations;
	struct ctl_call	*call;
	char		 name[CONF_VOLUME_NAME_MAX];
	json_t		*volume;	/* for the document */
	char		*path;		/* absolute */
	struct conf	*conf;		/* of the document with it, checked */
	struct vwork	 work;
	bool		 made;		/* the file is new */
	bool		 recorded;	/* the identity is */
	uint64_t	 size;		/* out: of a file that was there */
	char		 why[FAULT_TEXT];
};

/* Names that are being created, so that two calls do not meet on one file. */
static struct list creations = { &creations, &creations };

static void creation_free(struct creation *n)
{
	list_del(&n->in_creations);
	json_decref(n->volume);
	conf_free(n->conf);
	free(n->path);
	free(n);
}

/* ---- undoing ------------------------------------------------------------ */

static int unmake_run(struct vwork *w)
{
	struct creation *n = container_of(w, struct creation, work);

	return unlink(n->path) ? -errno : 0;
}

static void unmake_done(struct vwork *w)
{
	struct creation *n = container_of(w, struct creation, work);

	if (w->error)
		log_err("cannot remove %s: %s", n->path, strerror(-w->error));
	ctl_fail(n->call, "%s", n->why);
	creation_free(n);
}

static void undo(void *arg)
{
	struct creation *n = arg;

	if (n->recorded)
		identity_remove(n->name);
	if (!n->made) {
		ctl_fail(n->call, "%s", n->why);
		creation_free(n);
		return;
	}
	n->work = (struct vwork){ .run = unmake_run, .done = unmake_done };
	volume_async(NULL, &n->work);
}

/* ---- the steps, from the last to the first ------------------------------ */

static void opened(void *arg, int err)
{
	struct creation *n = arg;
	struct config_error why = { "" };
	json_t *doc;

	if (err) {
		snprintf(n->why, sizeof(n->why), "cannot open %.300s: %s%s",
			 n->path, strerror(-err), err == -EINVAL ?
			 " (its size or block size does not fit)" : "");
		vol_stop(n->name, undo, n);
		return;
	}
	doc = config_copy();
	json_object_set(doc_object(doc, "volumes"), n->name, n->volume);
	err = config_commit(doc, true, &why);
	json_decref(doc);
	if (err) {
		memcpy(n->why, why.text, sizeof(n->why));
		vol_stop(n->name, undo, n);
		return;
	}
	log_info("volume %s created over %s", n->name, n->path);
	ctl_volumes(n->call, json_pack("[s]", n->name), true);
	creation_free(n);
}

/* A new file is a new volume; one that was there may have been served under
 * this name before, and keeps its identity. */
static int identify(struct creation *n, struct conf_volume *v)
{
	struct identity id;
	int err = identity_make(&id);

	if (!err && !n->made && !identity_load(n->name, &v->id))
		id = v->id;
	if (v->naa_len) {
		memset(id.naa, 0, sizeof(id.naa));
		memcpy(id.naa, v->naa, v->naa_len);
		id.naa_len = v->naa_len;
	}
	if (v->serial[0])
		memcpy(id.serial, v->serial, sizeof(id.serial));
	if (!err)
		err = identity_save(n->name, &id);
	v->id = id;
	return err;
}

static struct conf_volume *own_volume(struct creation *n)
{
	return (struct conf_volume *)conf_find_volume(n->conf, n->name);
}

static void made(struct vwork *w)
{
	struct creation *n = container_of(w, struct creation, work);
	struct conf_volume *v = own_volume(n);
	int err = w->error;

	if (err) {
		if (!n->why[0])
			snprintf(n->why, sizeof(n->why), "cannot make %.300s: "
				 "%s", n->path, strerror(-err));
		undo(n);
		return;
	}
	if (n->size) {
		v->size = n->size;
		json_object_set_new(n->volume, "size", size_json(n->size));
	}
	err = identify(n, v);
	n->recorded = !err;
	if (!err)
		err = vol_start(v, opened, n);
	if (err) {
		snprintf(n->why, sizeof(n->why), "cannot start volume %s: %s",
			 n->name, strerror(-err));
		undo(n);
	}
}

/* ---- on a blocking thread ----------------------------------------------- */

static int refuse(struct creation *n, int err, const char *why)
{
	snprintf(n->why, sizeof(n->why), "%.300s %s", n->path, why);
	return err;
}

static int make_file(struct creation *n, const struct conf_volume *v)
{
	struct volume_config config = {
		.name = v->name, .path = n->path, .size = v->size,
		.thick = v->thick, .direct = v->direct,
	};
	int err;

	if (!v->size)
		return refuse(n, -EINVAL, "is not there: a new volume needs a "
			      "size");
	err = volume_make_file(&config);
	if (err == -EOPNOTSUPP && v->thick)
		return refuse(n, err, "cannot be thick: its file system does "
			      "not keep such a promise");
	n->made = !err;
	return err;
}

/* A file that is there is never changed: it is as long as it is. */
static int adopt_file(struct creation *n, const struct conf_volume *v)
{
	uint32_t bs = v->block_size ? v->block_size : 512;
	struct stat st;

	if (stat(n->path, &st))
		return -errno;
	if (v->size && (uint64_t)st.st_size < v->size)
		return refuse(n, -EINVAL, "is there already and shorter than "
			      "the size given");
	if (!v->size && st.st_size % bs)
		return refuse(n, -EINVAL, "has a size that is no multiple of "
			      "the block size");
	if (!v->size && !st.st_size)
		return refuse(n, -EINVAL, "is there already and empty");
	if (!v->size)
		n->size = (uint64_t)st.st_size;
	return 0;
}

static int make_run(struct vwork *w)
{
	struct creation *n = container_of(w, struct creation, work);
	const struct conf_volume *v = own_volume(n);
	const char *kind;
	int err = 0;

	kind = volume_probe_kind(n->path, &err);
	if (!kind && err == -ENOENT)
		return make_file(n, v);
	if (!kind)
		return err;
	return strcmp(kind, "file") ? 0 : adopt_file(n, v);
}

/* ---- the call ----------------------------------------------------------- */

static bool being_created(const char *name, const char *path)
{
	struct creation *n;

	list_for_each(n, &creations, in_creations)
		if (!strcmp(n->name, name) ||
		    (strcmp(path, "null:") && !strcmp(n->path, path)))
			return true;
	return false;
}

static json_t *volume_doc(struct ctl_call *c)
{
	static const char *const texts[] = {
		"durability", "io", "naa", "serial", "vendor", "product",
	};
	const char *path = ctl_str(c, "path");
	json_t *o = json_object();
	size_t i;

	if (path)
		json_object_set_new(o, "path", json_string(path));
	else
		json_object_set_new(o, "path", json_sprintf("%s.img",
						ctl_str(c, "name")));
	if (ctl_has(c, "size"))
		json_object_set_new(o, "size",
				    size_json(ctl_size(c, "size", 0)));
	if (ctl_bool(c, "thick"))
		json_object_set_new(o, "thick", json_true());
	if (ctl_bool(c, "read-only"))
		json_object_set_new(o, "read-only", json_true());
	if (ctl_has(c, "block-size"))
		json_object_set_new(o, "block-size", json_integer((json_int_t)
			ctl_size(c, "block-size", 0)));
	if (ctl_has(c, "physical-block-size"))
		json_object_set_new(o, "physical-block-size",
			json_integer((json_int_t)
				     ctl_size(c, "physical-block-size", 0)));
	for (i = 0; i < ARRAY_SIZE(texts); i++)
		if (ctl_has(c, texts[i]))
			json_object_set(o, texts[i],
				json_object_get(c->params, texts[i]));
	return o;
}

/* Would the document be right with this volume in it? */
static struct conf *check_doc(struct ctl_call *c, const char *name,
			      json_t *volume)
{
	struct config_error err = { "" };
	json_t *doc = config_copy();
	struct conf *conf;

	json_object_set(doc_object(doc, "volumes"), name, volume);
	conf = config_read(doc, &err);
	json_decref(doc);
	if (!conf)
		ctl_fail(c, "%s", err.text);
	return conf;
}

static void create(struct ctl_call *c, const char *name, json_t *volume,
		   struct conf *conf)
{
	struct creation *n = calloc(1, sizeof(*n));
	char *path;

	path = vol_path(conf_find_volume(conf, name)->path);
	if (!n || !path || being_created(name, path)) {
		ctl_fail(c, n && path ? "volume %s is being created already" :
			 "no memory for volume %s", name);
		json_decref(volume);
		conf_free(conf);
		free(path);
		free(n);
		return;
	}
	list_add_tail(&creations, &n->in_creations);
	snprintf(n->name, sizeof(n->name), "%s", name);
	n->call = c;
	n->volume = volume;
	n->conf = conf;
	n->path = path;
	n->work = (struct vwork){ .run = make_run, .done = made };
	volume_async(NULL, &n->work);
}

void ctl_volume_create(struct ctl_call *c)
{
	const char *name = ctl_str(c, "name"), *bad = check_volume_name(name);
	struct conf *conf;
	json_t *volume;

	if (bad) {
		ctl_fail(c, "%s", bad);
		return;
	}
	if (conf_find_volume(config_now(), name)) {
		ctl_fail(c, "volume %s is there already", name);
		return;
	}
	volume = volume_doc(c);
	conf = check_doc(c, name, volume);
	if (conf)
		create(c, name, volume, conf);
	else
		json_decref(volume);
}
