/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Portals, live. */

#include "target/ctl_int.h"

#include <stdio.h>
#include <string.h>

#include "target/portal.h"

static const struct conf_portal *find_portal(const char *address)
{
	const struct conf *now = config_now();
	struct sockaddr_storage a;
	unsigned i;

	if (addr_parse(address, &a))
		return NULL;
	for (i = 0; i < now->nportals; i++)
		if (addr_equal((const void *)&now->portals[i].addr,
			       (const void *)&a))
			return &now->portals[i];
	return NULL;
}

/* The portals that the document means when it names none. */
static json_t *portals_of(json_t *doc)
{
	if (!json_object_get(doc, "portals"))
		json_object_set_new(doc, "portals",
				    json_pack("[s]", "[::]:3260"));
	return json_object_get(doc, "portals");
}

static json_t *portal_doc(struct ctl_call *c)
{
	const char *address = ctl_str(c, "address");
	json_t *o;

	if (!ctl_has(c, "group") && !ctl_bool(c, "no-advertise"))
		return json_string(address);
	o = json_pack("{s:s}", "address", address);
	if (ctl_has(c, "group"))
		json_object_set_new(o, "group",
				    json_integer(ctl_int(c, "group", 1)));
	if (ctl_bool(c, "no-advertise"))
		json_object_set_new(o, "advertise", json_false());
	return o;
}

/* With --portal, what listens is not what the document says: both change. */
static bool commit_portals(struct ctl_call *c, json_t *doc, json_t *override)
{
	struct config_error err = { "" };
	int r = override ? config_commit_portals(doc, override, &err) :
			   config_commit(doc, true, &err);

	json_decref(doc);
	json_decref(override);
	if (r)
		ctl_fail(c, "%s", err.text);
	return !r;
}

void ctl_portal_add(struct ctl_call *c)
{
	const char *address = ctl_str(c, "address");
	json_t *override = json_deep_copy(config_override());
	json_t *doc, *list, *portal;

	if (find_portal(address)) {
		json_decref(override);
		ctl_fail(c, "portal %.64s is there already", address);
		return;
	}
	doc = config_copy();
	portal = portal_doc(c);
	json_array_append(portals_of(doc), portal);
	if (override)
		json_array_append(override, portal);
	json_decref(portal);
	if (!commit_portals(c, doc, override))
		return;
	list = portals_list();
	ctl_ok(c, json_incref(json_array_get(list, json_array_size(list) - 1)));
	json_decref(list);
}

static bool remove_portal(json_t *list, const struct sockaddr *a)
{
	struct sockaddr_storage other;
	const char *text;
	json_t *v;
	size_t i;

	json_array_foreach(list, i, v) {
		text = json_string_value(json_is_string(v) ? v :
					 json_object_get(v, "address"));
		if (!text || addr_parse(text, &other) ||
		    !addr_equal((const void *)&other, a))
			continue;
		json_array_remove(list, i);
		return true;
	}
	return false;
}

void ctl_portal_remove(struct ctl_call *c)
{
	const char *address = ctl_str(c, "address");
	json_t *override = json_deep_copy(config_override());
	json_t *doc = config_copy();
	struct sockaddr_storage a;
	bool found;

	if (addr_parse(address, &a)) {
		ctl_fail(c, "not an address: %.64s", address);
		goto drop;
	}
	found = remove_portal(portals_of(doc), (const void *)&a);
	if (override && remove_portal(override, (const void *)&a))
		found = true;
	if (!found) {
		ctl_fail(c, "no portal %.64s", address);
		goto drop;
	}
	if (commit_portals(c, doc, override))
		ctl_ok(c, json_true());
	return;

drop:
	json_decref(doc);
	json_decref(override);
}

/* Each with the state of its group. */
static json_t *portals_with_state(void)
{
	json_t *list = portals_list(), *o;
	size_t i;

	json_array_foreach(list, i, o) {
		uint16_t tag = (uint16_t)json_integer_value(
			json_object_get(o, "group"));

		json_object_set_new(o, "state", json_string(alua_state_word(
			conf_group_state(config_now(), tag))));
	}
	return list;
}

void ctl_portal_state(struct ctl_call *c)
{
	json_int_t tag = ctl_int(c, "group", 0);
	const char *word = ctl_str(c, "state");
	json_t *doc, *groups;
	enum alua_state state;
	char key[16];

	if (tag < 1 || tag > UINT16_MAX) {
		ctl_fail(c, "a portal group is a number from 1 to %d",
			 UINT16_MAX);
		return;
	}
	if (alua_state_of(word, &state)) {
		ctl_fail(c, "a state is active/optimized, active/"
			 "non-optimized, unavailable or transitioning");
		return;
	}
	doc = config_copy();
	groups = doc_object(doc, "port-groups");
	snprintf(key, sizeof(key), "%d", (int)tag);
	if (state == ALUA_OPTIMIZED)
		json_object_del(groups, key);
	else
		json_object_set_new(groups, key, json_string(word));
	if (ctl_commit(c, doc))
		ctl_ok(c, portals_with_state());
}

void ctl_portal_list(struct ctl_call *c)
{
	ctl_ok(c, portals_with_state());
}
