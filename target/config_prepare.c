/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What is done with a configuration before it is saved: identities are looked
 * up and recorded, relative port identifiers given, and what cannot change
 * while a volume is served is refused.
 */

#include "target/config_int.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/util.h"

static void say(struct config_error *err, const char *volume, const char *what,
		const char *why)
{
	snprintf(err->text, sizeof(err->text), "volumes.%s%s: %s", volume, what,
		 why);
}

/* ---- changes ------------------------------------------------------------ */

static const char *fixed_difference(const struct conf_volume *a,
				    const struct conf_volume *b)
{
	if (strcmp(a->path, b->path))
		return ".path";
	if (a->thick != b->thick)
		return ".thick";
	if (a->direct != b->direct)
		return ".io";
	if (a->block_size != b->block_size)
		return ".block-size";
	if (a->physical_block_size != b->physical_block_size)
		return ".physical-block-size";
	if (strcmp(a->vendor, b->vendor))
		return ".vendor";
	if (strcmp(a->product, b->product))
		return ".product";
	return NULL;
}

int conf_check_change(const struct conf *old, const struct conf *now,
		      struct config_error *err)
{
	const struct conf_volume *was;
	const char *what;
	unsigned i;

	for (i = 0; old && i < now->nvolumes; i++) {
		was = conf_find_volume(old, now->volumes[i].name);
		what = was ? fixed_difference(was, &now->volumes[i]) : NULL;
		if (!what)
			continue;
		say(err, was->name, what, "cannot change while the volume is "
		    "served; change the file and restart the daemon");
		return -EBUSY;
	}
	return 0;
}

/* ---- identities --------------------------------------------------------- */

/* What a volume without a record gets: what the document says, the rest new. */
static int make_identity(struct conf_volume *v)
{
	struct identity id;
	int err = identity_make(&id);

	if (err)
		return err;
	if (v->naa_len) {
		memcpy(id.naa, v->naa, sizeof(id.naa));
		id.naa_len = v->naa_len;
	}
	if (v->serial[0])
		memcpy(id.serial, v->serial, sizeof(id.serial));
	v->id = id;
	return identity_save(v->name, &id);
}

/* Is the record what the document says, where it says anything? */
static int compare_identity(const struct conf_volume *v,
			    struct config_error *err)
{
	char text[128], naa[33];

	if (v->naa_len && (v->naa_len != v->id.naa_len ||
			   memcmp(v->naa, v->id.naa, v->naa_len))) {
		snprintf(text, sizeof(text), "is not the recorded one, %s",
			 naa_text(v->id.naa, v->id.naa_len, naa));
		say(err, v->name, ".naa", text);
		return -EINVAL;
	}
	if (v->serial[0] && strcmp(v->serial, v->id.serial)) {
		snprintf(text, sizeof(text), "is not the recorded one, %s",
			 v->id.serial);
		say(err, v->name, ".serial", text);
		return -EINVAL;
	}
	return 0;
}

int conf_check_identity(struct conf_volume *v, struct config_error *err)
{
	int r = identity_load(v->name, &v->id);

	if (r == -ENOENT)
		return r;
	if (r) {
		say(err, v->name, ": its identity in the state folder cannot "
		    "be read", strerror(-r));
		return r;
	}
	return compare_identity(v, err);
}

static int find_identity(struct conf_volume *v, struct config_error *err)
{
	int r = conf_check_identity(v, err);

	if (r != -ENOENT)
		return r;
	r = make_identity(v);
	if (r)
		say(err, v->name, ": cannot record its identity",
		    strerror(-r));
	return r;
}

static int check_twins(const struct conf *now, struct config_error *err)
{
	const struct conf_volume *a, *b;
	char text[128];
	unsigned i, k;

	for (i = 1; i < now->nvolumes; i++) {
		for (k = 0; k < i; k++) {
			a = &now->volumes[k];
			b = &now->volumes[i];
			if (memcmp(&a->id.naa, &b->id.naa, sizeof(a->id.naa)))
				continue;
			snprintf(text, sizeof(text),
				 "has the identity of volumes.%s", a->name);
			say(err, b->name, "", text);
			return -EINVAL;
		}
	}
	return 0;
}

int conf_identify(struct conf *now, struct config_error *err)
{
	unsigned i;
	int r;

	for (i = 0; i < now->nvolumes; i++) {
		r = find_identity(&now->volumes[i], err);
		if (r)
			return r;
	}
	return check_twins(now, err);
}

int conf_give_ports(const struct conf *now, struct config_error *err)
{
	unsigned i, k;

	for (i = 0; i < now->ntargets; i++) {
		for (k = 0; k < now->nportals; k++) {
			if (port_id(now->targets[i].iqn,
				    (uint16_t)now->portals[k].group))
				continue;
			snprintf(err->text, sizeof(err->text),
				 "targets.%s: no relative target port "
				 "identifier can be recorded",
				 now->targets[i].iqn);
			return -EIO;
		}
	}
	return 0;
}
