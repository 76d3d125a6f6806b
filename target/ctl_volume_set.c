/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * volume.set: keys of a live volume.  Most are keys of the document, which
 * config_commit() then makes true; `state` is an act and is not kept.
 */

#include "target/ctl_int.h"

#include <stdlib.h>
#include <string.h>

struct setting {
	struct ctl_call	*call;
	const struct conf_volume *old;
	json_t		*volume;	/* the document's */
	bool		 online;
};

static const char *set_word(struct setting *s, const char *key, const json_t *v)
{
	if (!json_is_string(v))
		return "must be a word";
	json_object_set_new(s->volume, key, json_string(json_string_value(v)));
	return NULL;
}

static const char *set_io(struct setting *s, const char *key, const json_t *v)
{
	const char *now = s->old->direct ? "direct" : "buffered";

	if (!json_is_string(v) || strcmp(json_string_value(v), now))
		return "cannot change while the volume is served; change the "
		       "configuration file and restart the daemon";
	return set_word(s, key, v);
}

static const char *set_state(struct setting *s, const char *key,
			     const json_t *v)
{
	(void)key;
	if (!json_is_string(v) || strcmp(json_string_value(v), "online"))
		return "can only be set to online";
	s->online = true;
	return NULL;
}

static const char *set_read_only(struct setting *s, const char *key,
				 const json_t *v)
{
	bool on;

	if (ctl_switch(v, &on))
		return "must be on or off";
	json_object_set_new(s->volume, key, json_boolean(on));
	return NULL;
}

static const char *set_threshold(struct setting *s, const char *key,
				 const json_t *v)
{
	const char *text = json_string_value(v);
	json_int_t n = json_integer_value(v);
	char *end = NULL;

	if (text && *text >= '0' && *text <= '9')
		n = strtoll(text, &end, 10);
	if (end && *end == '%')
		end++;
	if ((!json_is_integer(v) && (!end || *end)) || n < 0 || n > 100)
		return "must be 0 to 100 percent";
	json_object_set_new(s->volume, key, json_integer(n));
	return NULL;
}

static const char *set_vaai(struct setting *s, const char *key, const json_t *v)
{
	const char *primitive = strchr(key, '.') + 1;
	unsigned users = vol_users(s->old->name);
	bool on;

	if (ctl_switch(v, &on))
		return "must be on or off";
	if (!on && !strcmp(primitive, "ats") && !s->old->off[PRIM_ATS] &&
	    users && !ctl_bool(s->call, "force"))
		return "stays on: sessions use the volume, and a VMFS made for "
		       "ATS alone cannot be mounted without it; --force "
		       "switches it off all the same";
	json_object_set_new(doc_object(s->volume, "vaai"), primitive,
			    json_boolean(on));
	return NULL;
}

static const struct {
	const char *key;
	const char *(*set)(struct setting *s, const char *key, const json_t *v);
} keys[] = {
	{ "durability", set_word },
	{ "io", set_io },
	{ "state", set_state },
	{ "read-only", set_read_only },
	{ "vaai.ats", set_vaai },
	{ "vaai.clone", set_vaai },
	{ "vaai.zero", set_vaai },
	{ "vaai.delete", set_vaai },
	{ "threshold", set_threshold },
};

static const char *set_key(struct setting *s, const char *key, const json_t *v)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(keys[i].key, key))
			return keys[i].set(s, key, v);
	return "is not a key of a volume that can be set";
}

static void settled(void *arg, int err)
{
	struct ctl_call *c = arg;
	const char *name = ctl_str(c, "name");

	if (err)
		ctl_fail(c, "volume %s did not change, and the configuration "
			 "says otherwise now: %s", name, strerror(-err));
	else
		ctl_volumes(c, json_pack("[s]", name), true);
}

void ctl_volume_set(struct ctl_call *c)
{
	const struct conf_volume *v = ctl_volume(c, "name");
	const char *key, *bad = NULL;
	struct setting s = { .call = c, .old = v };
	char name[CONF_VOLUME_NAME_MAX];
	struct lu *lu;
	json_t *doc, *value;

	if (!v)
		return;
	memcpy(name, v->name, sizeof(name));
	doc = config_copy();
	s.volume = doc_volume(doc, name);
	json_object_foreach(json_object_get(c->params, "set"), key, value) {
		bad = set_key(&s, key, value);
		if (bad)
			break;
	}
	if (bad) {
		ctl_fail(c, "%.64s %s", key, bad);
		json_decref(doc);
		return;
	}
	if (!ctl_commit(c, doc))
		return;
	lu = vol_lu(name);
	if (lu && s.online)
		lu_set_online(lu);
	lu_unref(lu);
	vol_when_settled(name, settled, c);
}
