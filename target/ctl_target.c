/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Targets. */

#include "target/ctl_int.h"

#include <string.h>

#include "lib/util.h"
#include "target/addr.h"
#include "target/session.h"

static unsigned count_luns(const struct conf_target *t)
{
	unsigned i, n = 0;

	for (i = 0; i < t->nluns; i++)
		n += !i || t->luns[i].lun != t->luns[i - 1].lun;
	return n;
}

json_t *target_json(const struct conf_target *t)
{
	return json_pack("{s:s, s:o, s:b, s:o, s:b, s:i, s:i}", "name", t->iqn,
			 "alias", text_or_null(t->alias),
			 "enabled", !t->disabled,
			 "redirect", text_or_null(t->redirect),
			 "redirect-permanent", t->redirect_permanent,
			 "luns", (int)count_luns(t),
			 "sessions", (int)session_count(t->iqn));
}

static json_t *target_details(const struct conf_target *t)
{
	json_t *o = target_json(t), *luns = json_array(), *rules = json_array();
	json_t *users = json_array();
	unsigned i;

	for (i = 0; i < t->nluns; i++)
		json_array_append_new(luns, lun_json(t, &t->luns[i]));
	for (i = 0; i < t->nrules; i++)
		json_array_append_new(rules, rule_json(t, &t->rules[i]));
	for (i = 0; i < t->nusers; i++)
		json_array_append_new(users, user_json(t->iqn, &t->users[i]));
	json_object_set_new(o, "luns", luns);
	json_object_set_new(o, "allow", rules);
	json_object_set_new(o, "chap", users);
	json_object_set_new(o, "sessions", sessions_json(t->iqn));
	return o;
}

static void answer_target(struct ctl_call *c, const char *iqn)
{
	ctl_ok(c, target_details(conf_find_target(config_now(), iqn)));
}

void ctl_target_create(struct ctl_call *c)
{
	const char *iqn = ctl_str(c, "target"), *bad = check_iscsi_name(iqn);
	json_t *doc, *t;

	if (bad) {
		ctl_fail(c, "%s", bad);
		return;
	}
	if (conf_find_target(config_now(), iqn)) {
		ctl_fail(c, "target %s is there already", iqn);
		return;
	}
	doc = config_copy();
	t = doc_target(doc, iqn);
	if (ctl_has(c, "alias"))
		json_object_set_new(t, "alias",
				    json_string(ctl_str(c, "alias")));
	if (ctl_commit(c, doc))
		answer_target(c, iqn);
}

void ctl_target_delete(struct ctl_call *c)
{
	const struct conf_target *t = ctl_target(c);
	unsigned n;
	json_t *doc;

	if (!t)
		return;
	n = session_count(t->iqn);
	if (n && !ctl_bool(c, "force")) {
		ctl_fail(c, "target %s has %u session%s; --force ends them",
			 t->iqn, n, n == 1 ? "" : "s");
		return;
	}
	doc = config_copy();
	json_object_del(doc_object(doc, "targets"), t->iqn);
	if (ctl_commit(c, doc))
		ctl_ok(c, json_true());
}

static void add_target(json_t *list, const struct conf_target *t)
{
	json_array_append_new(list, target_json(t));
}

void ctl_target_list(struct ctl_call *c)
{
	ctl_list_targets(c, add_target);
}

void ctl_target_show(struct ctl_call *c)
{
	const struct conf_target *t = ctl_target(c);

	if (t)
		ctl_ok(c, target_details(t));
}

static void set_enabled(struct ctl_call *c, const struct conf_target *t,
			bool on)
{
	char iqn[ISCSI_NAME_MAX];
	json_t *doc = config_copy(), *target = doc_target(doc, t->iqn);

	memcpy(iqn, t->iqn, sizeof(iqn));
	if (on)
		json_object_del(target, "enabled");
	else
		json_object_set_new(target, "enabled", json_false());
	if (!ctl_commit(c, doc))
		return;
	if (!on && ctl_bool(c, "force"))
		session_end_target(iqn, "its target was disabled");
	answer_target(c, iqn);
}

void ctl_target_enable(struct ctl_call *c)
{
	const struct conf_target *t = ctl_target(c);

	if (t)
		set_enabled(c, t, true);
}

void ctl_target_disable(struct ctl_call *c)
{
	const struct conf_target *t = ctl_target(c);

	if (t)
		set_enabled(c, t, false);
}

static const char *set_alias(json_t *target, const char *key, const json_t *v)
{
	if (!json_is_string(v))
		return "alias must be a string";
	if (json_string_length(v))
		json_object_set_new(target, key,
				    json_string(json_string_value(v)));
	else
		json_object_del(target, key);
	return NULL;
}

static const char *set_redirect(json_t *target, const char *key,
				const json_t *v)
{
	struct sockaddr_storage addr;

	if (!json_is_string(v) ||
	    (json_string_length(v) && addr_parse(json_string_value(v), &addr)))
		return "redirect must be ADDRESS[:PORT], or empty";
	return set_alias(target, key, v);
}

static const char *set_switch(json_t *target, const char *key, const json_t *v)
{
	bool on;

	if (ctl_switch(v, &on))
		return "enabled and redirect-permanent must be on or off";
	json_object_set_new(target, key, json_boolean(on));
	return NULL;
}

static const char *set_key(json_t *target, const char *key, const json_t *v)
{
	static const struct {
		const char *key;
		const char *(*set)(json_t *target, const char *key,
				   const json_t *v);
	} keys[] = {
		{ "alias", set_alias },
		{ "enabled", set_switch },
		{ "redirect", set_redirect },
		{ "redirect-permanent", set_switch },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(key, keys[i].key))
			return keys[i].set(target, key, v);
	return "a target has the keys alias, enabled, redirect and "
	       "redirect-permanent";
}

void ctl_target_set(struct ctl_call *c)
{
	const struct conf_target *t = ctl_target(c);
	const char *key, *bad = NULL;
	char iqn[ISCSI_NAME_MAX];
	json_t *doc, *target, *v;

	if (!t)
		return;
	memcpy(iqn, t->iqn, sizeof(iqn));
	doc = config_copy();
	target = doc_target(doc, iqn);
	json_object_foreach(json_object_get(c->params, "set"), key, v) {
		bad = set_key(target, key, v);
		if (bad)
			break;
	}
	if (bad) {
		json_decref(doc);
		ctl_fail(c, "%s", bad);
	} else if (ctl_commit(c, doc)) {
		answer_target(c, iqn);
	}
}
