/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Access rules, and what an initiator would see. */

#include "target/ctl_int.h"

#include <stdio.h>
#include <string.h>

json_t *rule_json(const struct conf_target *t, const struct conf_rule *r)
{
	return json_pack("{s:s, s:s, s:o}", "target", t->iqn,
			 "initiator", r->initiator,
			 "address", text_or_null(r->address));
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static const struct conf_rule *find_rule(const struct conf_target *t,
					 const char *initiator,
					 const char *address)
{
	unsigned i;

	for (i = 0; i < t->nrules; i++)
		if (same_text(t->rules[i].initiator, initiator) &&
		    same_text(t->rules[i].address, address))
			return &t->rules[i];
	return NULL;
}

void ctl_acl_allow(struct ctl_call *c)
{
	const char *pattern = ctl_str(c, "initiator");
	const char *address = ctl_str(c, "address");
	const struct conf_target *t = ctl_target(c);
	char iqn[ISCSI_NAME_MAX];
	json_t *doc, *rule;

	if (!t)
		return;
	if (find_rule(t, pattern, address)) {
		ctl_ok(c, rule_json(t, find_rule(t, pattern, address)));
		return;
	}
	memcpy(iqn, t->iqn, sizeof(iqn));
	rule = address ? json_pack("{s:s, s:s}", "initiator", pattern,
				   "address", address) : json_string(pattern);
	doc = config_copy();
	json_array_append_new(doc_list(doc_target(doc, iqn), "allow"), rule);
	if (!ctl_commit(c, doc))
		return;
	t = conf_find_target(config_now(), iqn);
	ctl_ok(c, rule_json(t, find_rule(t, pattern, address)));
}

/* Rules with that pattern go; with an address, only those with it as well. */
static unsigned remove_rules(json_t *list, const char *pattern,
			     const char *address)
{
	const char *p, *a;
	unsigned n = 0;
	size_t i = 0;
	json_t *v;

	while (i < json_array_size(list)) {
		v = json_array_get(list, i);
		p = json_string_value(json_is_string(v) ? v :
				      json_object_get(v, "initiator"));
		a = json_string_value(json_object_get(v, "address"));
		if (!same_text(p, pattern) ||
		    (address && !same_text(a, address))) {
			i++;
			continue;
		}
		json_array_remove(list, i);
		n++;
	}
	return n;
}

void ctl_acl_revoke(struct ctl_call *c)
{
	const char *pattern = ctl_str(c, "initiator");
	const struct conf_target *t = ctl_target(c);
	json_t *doc;

	if (!t)
		return;
	doc = config_copy();
	if (!remove_rules(doc_list(doc_target(doc, t->iqn), "allow"), pattern,
			  ctl_str(c, "address"))) {
		json_decref(doc);
		ctl_fail(c, "%s has no such rule for %.223s", t->iqn, pattern);
		return;
	}
	if (ctl_commit(c, doc))
		ctl_ok(c, json_true());
}

static void add_rules(json_t *list, const struct conf_target *t)
{
	unsigned i;

	for (i = 0; i < t->nrules; i++)
		json_array_append_new(list, rule_json(t, &t->rules[i]));
}

void ctl_acl_list(struct ctl_call *c)
{
	ctl_list_targets(c, add_rules);
}

/* ---- check -------------------------------------------------------------- */

static json_t *visible_luns(const struct conf_target *t, const char *initiator)
{
	json_t *list = json_array();
	const struct conf_mapping *m;
	unsigned at = 0;

	while ((m = world_mapping(t, initiator, &at)))
		json_array_append_new(list, json_pack("{s:i, s:s, s:b}",
			"lun", m->lun, "volume", m->volume,
			"read-only", m->read_only));
	return list;
}

static json_t *matching_users(const struct conf_target *t,
			      const char *initiator)
{
	json_t *list = json_array();
	unsigned i;

	for (i = 0; i < t->nusers; i++)
		if (!t->users[i].initiator ||
		    pattern_match(t->users[i].initiator, initiator))
			json_array_append_new(list,
					      json_string(t->users[i].user));
	return list;
}

/* Is there a rule for this initiator that asks for an address as well? */
static bool address_matters(const struct conf_target *t, const char *initiator)
{
	unsigned i;

	for (i = 0; i < t->nrules; i++)
		if (t->rules[i].address &&
		    pattern_match(t->rules[i].initiator, initiator))
			return true;
	return false;
}

static const char *reason_of(enum tgt_verdict verdict,
			     const struct conf_rule *rule, bool no_user,
			     char *buf, size_t room)
{
	switch (verdict) {
	case TGT_OK:
		snprintf(buf, room, "rule %s%s%s lets it in%s", rule->initiator,
			 rule->address ? " from " : "",
			 rule->address ? rule->address : "",
			 no_user ? ", but no CHAP user is for it" : "");
		return buf;
	case TGT_UNAVAILABLE:
		return "the target is disabled";
	case TGT_NOT_ALLOWED:
		return "no rule lets this initiator in";
	case TGT_NOT_FOUND:
		break;
	}
	return "no such target";
}

void ctl_acl_check(struct ctl_call *c)
{
	const char *initiator = ctl_str(c, "initiator");
	const char *address = ctl_str(c, "address");
	const struct conf_target *t = ctl_target(c);
	const struct conf_rule *rule = NULL;
	struct sockaddr_storage addr;
	struct tgt_peer peer = { .initiator = initiator };
	enum tgt_verdict verdict;
	const char *why;
	char reason[640];
	json_t *users;
	bool no_user;

	if (!t)
		return;
	if (address && addr_parse(address, &addr)) {
		ctl_fail(c, "not an address: %.64s", address);
		return;
	}
	peer.remote = address ? (const struct sockaddr *)&addr : NULL;
	verdict = access_check(t, &peer, &rule);
	users = matching_users(t, initiator);
	no_user = t->nusers && !json_array_size(users);
	why = reason_of(verdict, rule, no_user, reason, sizeof(reason));
	if (verdict == TGT_NOT_ALLOWED && address_matters(t, initiator))
		why = address ? "its rules are for other addresses" :
			"its rules are for some addresses: --address tells "
			"where it comes from";
	ctl_ok(c, json_pack("{s:s, s:s, s:b, s:s, s:o, s:o}",
		"target", t->iqn, "initiator", initiator,
		"allowed", verdict == TGT_OK && !no_user, "reason", why,
		"chap", users,
		"luns", verdict == TGT_OK && !no_user ?
			visible_luns(t, initiator) : json_array()));
}
