/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Portals of the document: "ADDR:PORT", or an object with group and
 * advertise; and the ALUA states of their groups. */

#include "target/config_int.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util.h"

static void portal_address(struct reader *r, const json_t *v, void *obj)
{
	const char *s = json_string_value(v);
	struct conf_portal *p = obj;

	if (!s || strlen(s) >= sizeof(p->text) || addr_parse(s, &p->addr))
		read_fault(r, "must be an address such as 192.0.2.1:3260 or "
			   "[2001:db8::1]:3260");
	else
		snprintf(p->text, sizeof(p->text), "%s", s);
}

static void portal_advertise(struct reader *r, const json_t *v, void *obj)
{
	if (!json_is_boolean(v))
		read_fault(r, "must be true or false");
	else
		((struct conf_portal *)obj)->hidden = json_is_false(v);
}

static const struct key portal_keys[] = {
	{ "address", KEY_CUSTOM, .read = portal_address, .required = true },
	{ "group", KEY_U32, FIELD(conf_portal, group), RANGE(1, UINT16_MAX) },
	{ "advertise", KEY_CUSTOM, .read = portal_advertise },
	{ 0 },
};

void read_portals(struct reader *r, const json_t *v, void *obj)
{
	struct conf *c = obj;
	struct conf_portal *p;
	const json_t *one;
	size_t i, old;

	if (!json_is_array(v)) {
		read_fault(r, "must be a list");
		return;
	}
	c->portals = read_array(r, json_array_size(v), sizeof(*c->portals));
	if (!c->portals)
		return;
	json_array_foreach(v, i, one) {
		p = &c->portals[c->nportals++];
		p->group = 1;
		old = read_enter_index(r, i);
		if (json_is_string(one))
			portal_address(r, one, p);
		else
			read_object(r, one, portal_keys, p);
		read_leave(r, old);
	}
}

static const struct { const char *word; enum alua_state state; } states[] = {
	{ "active/optimized", ALUA_OPTIMIZED },
	{ "active/non-optimized", ALUA_NON_OPTIMIZED },
	{ "unavailable", ALUA_UNAVAILABLE },
	{ "transitioning", ALUA_TRANSITIONING },
};

int alua_state_of(const char *word, enum alua_state *ret)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(states); i++) {
		if (strcmp(word, states[i].word))
			continue;
		*ret = states[i].state;
		return 0;
	}
	return -EINVAL;
}

const char *alua_state_word(enum alua_state state)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(states); i++)
		if (states[i].state == state)
			return states[i].word;
	return "";
}

enum alua_state conf_group_state(const struct conf *c, uint16_t tag)
{
	unsigned i;

	for (i = 0; i < c->ngroups; i++)
		if (c->groups[i].tag == tag)
			return c->groups[i].state;
	return ALUA_OPTIMIZED;
}

static int tag_of_key(const char *key, uint16_t *ret)
{
	unsigned long n;
	char *end;

	if (*key < '1' || *key > '9')
		return -EINVAL;
	n = strtoul(key, &end, 10);
	if (*end || n > UINT16_MAX)
		return -EINVAL;
	*ret = (uint16_t)n;
	return 0;
}

void read_groups(struct reader *r, const json_t *v, void *obj)
{
	struct conf *c = obj;
	struct conf_group *g;
	const char *key;
	json_t *member;
	size_t old;

	if (!json_is_object(v)) {
		read_fault(r, "must be an object");
		return;
	}
	c->groups = read_array(r, count_members(v), sizeof(*c->groups));
	if (!c->groups)
		return;
	json_object_foreach((json_t *)v, key, member) {
		if (is_comment(key))
			continue;
		g = &c->groups[c->ngroups++];
		old = read_enter(r, key);
		if (tag_of_key(key, &g->tag))
			read_fault(r, "must be a group, 1 to 65535");
		else if (!json_is_string(member) ||
			 alua_state_of(json_string_value(member), &g->state))
			read_fault(r, "must be active/optimized, active/"
				   "non-optimized, unavailable or "
				   "transitioning");
		read_leave(r, old);
	}
}
