/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What the handlers share; see ctl_int.h. */

#include "target/ctl_int.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct conf_target *ctl_target(struct ctl_call *c)
{
	const char *iqn = ctl_str(c, "target");
	const struct conf_target *t = conf_find_target(config_now(), iqn);

	if (!t)
		ctl_fail(c, "no target %.223s", iqn);
	return t;
}

const struct conf_volume *ctl_volume(struct ctl_call *c, const char *param)
{
	const char *name = ctl_str(c, param);
	const struct conf_volume *v = conf_find_volume(config_now(), name);

	if (!v)
		ctl_fail(c, "no volume %.64s", name);
	return v;
}

void ctl_list_targets(struct ctl_call *c,
		      void (*add)(json_t *list, const struct conf_target *t))
{
	const struct conf *now = config_now();
	const struct conf_target *only = NULL;
	json_t *list;
	unsigned i;

	if (ctl_has(c, "target")) {
		only = ctl_target(c);
		if (!only)
			return;
	}
	list = json_array();
	for (i = 0; i < now->ntargets; i++)
		if (!only || only == &now->targets[i])
			add(list, &now->targets[i]);
	ctl_ok(c, list);
}

json_t *doc_object(json_t *parent, const char *key)
{
	json_t *o = json_object_get(parent, key);

	if (o)
		return o;
	o = json_object();
	json_object_set_new(parent, key, o);
	return o;
}

json_t *doc_target(json_t *doc, const char *iqn)
{
	return doc_object(doc_object(doc, "targets"), iqn);
}

json_t *doc_volume(json_t *doc, const char *name)
{
	return doc_object(doc_object(doc, "volumes"), name);
}

json_t *doc_list(json_t *parent, const char *key)
{
	json_t *v = json_object_get(parent, key), *list;

	if (json_is_array(v))
		return v;
	list = json_array();
	if (v)
		json_array_append(list, v);
	json_object_set_new(parent, key, list);
	return list;
}

bool ctl_commit(struct ctl_call *c, json_t *doc)
{
	struct config_error err = { "" };
	int r = config_commit(doc, true, &err);

	json_decref(doc);
	if (r)
		ctl_fail(c, "%s", err.text);
	return !r;
}

int ctl_switch(const json_t *v, bool *ret)
{
	static const char *const on[] = { "on", "yes", "true", "1" };
	static const char *const off[] = { "off", "no", "false", "0" };
	const char *s = json_string_value(v);
	size_t i;

	if (json_is_boolean(v)) {
		*ret = json_is_true(v);
		return 0;
	}
	for (i = 0; s && i < ARRAY_SIZE(on); i++) {
		if (strcmp(s, on[i]) && strcmp(s, off[i]))
			continue;
		*ret = !strcmp(s, on[i]);
		return 0;
	}
	return -EINVAL;
}

/* As people write it, where that is exact. */
json_t *size_json(uint64_t bytes)
{
	static const char units[] = "TGM";
	unsigned i;

	for (i = 0; units[i]; i++) {
		unsigned shift = 40 - 10 * i;

		if (bytes && !(bytes & (((uint64_t)1 << shift) - 1)))
			return json_sprintf("%llu%c",
				(unsigned long long)(bytes >> shift), units[i]);
	}
	return json_integer((json_int_t)bytes);
}

json_t *text_or_null(const char *s)
{
	return s ? json_string(s) : json_null();
}

json_t *peer_text(const char *s)
{
	json_t *text = json_string(s);
	char plain[ISCSI_NAME_MAX];
	size_t i;

	if (text)
		return text;
	snprintf(plain, sizeof(plain), "%s", s);
	for (i = 0; plain[i]; i++)
		if ((unsigned char)plain[i] >= 0x80)
			plain[i] = '?';
	return json_string(plain);
}
