/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Portals of the document: "ADDR:PORT", or an object with group and
 * advertise. */

#include "target/config_int.h"

#include <stdio.h>
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
