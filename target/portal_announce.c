/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What discovery tells: every explicit portal, and a wildcard portal as the
 * address that the asker reached, for no other is known to be reachable.
 */

#include "target/portal_int.h"

#include <string.h>

#include "lib/util.h"
#include "target/portal.h"

#define ANNOUNCE_MAX 64

struct announce {
	unsigned n;
	struct {
		struct sockaddr_storage addr;
		uint16_t group;
	} at[ANNOUNCE_MAX];
};

static int family_of(const struct sockaddr *a)
{
	struct sockaddr_storage plain;

	addr_unmap(a, &plain);
	return plain.ss_family;
}

/* Does an explicit portal say what is to be said of this address? */
static bool explicit_at(const struct portals *all, const struct sockaddr *a)
{
	const struct portal *p;

	list_for_each(p, &all->list, in_portals)
		if (!p->leaving && !p->fresh &&
		    addr_equal((const void *)&p->bound, a))
			return true;
	return false;
}

static void add(struct announce *l, const struct sockaddr_storage *a,
		uint16_t group)
{
	if (l->n == ANNOUNCE_MAX)
		return;
	l->at[l->n].addr = *a;
	l->at[l->n++].group = group;
}

static void add_portal(struct announce *l, const struct portals *all,
		       const struct portal *p, const struct tgt_peer *peer)
{
	struct sockaddr_storage a;
	int family = family_of(peer->local);

	if (p->leaving || p->fresh || p->conf.hidden)
		return;
	if (!addr_is_wildcard((const void *)&p->bound)) {
		if (family_of((const void *)&p->bound) == family)
			add(l, &p->bound, (uint16_t)p->conf.group);
		return;
	}
	if (p->bound.ss_family == AF_INET && family != AF_INET)
		return;
	addr_unmap(peer->local, &a);
	addr_set_port(&a, addr_port((const void *)&p->bound));
	if (!explicit_at(all, (const void *)&a))
		add(l, &a, (uint16_t)p->conf.group);
}

void portal_announce(const struct tgt_peer *peer,
		     void (*emit)(void *arg, const char *address,
				  uint16_t group),
		     void *arg)
{
	struct announce l = { 0 };
	struct portals *all;
	char text[ADDR_TEXT];
	struct portal *p;
	unsigned i;

	if (!peer->local)
		return;
	all = portals_lock();
	list_for_each(p, &all->list, in_portals)
		add_portal(&l, all, p, peer);
	portals_unlock(all);
	for (i = 0; i < l.n; i++)
		emit(arg, addr_text((void *)&l.at[i].addr, text),
		     l.at[i].group);
}

json_t *portals_list(void)
{
	struct portals *all = portals_lock();
	json_t *list = json_array();
	char host[ADDR_TEXT];
	struct portal *p;

	list_for_each(p, &all->list, in_portals) {
		if (p->leaving || p->fresh)
			continue;
		json_array_append_new(list, json_pack("{s:s, s:i, s:i, s:b}",
			"address", addr_host((void *)&p->bound, host),
			"port", addr_port((void *)&p->bound),
			"group", (int)p->conf.group,
			"advertise", !p->conf.hidden));
	}
	portals_unlock(all);
	return list;
}
