/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * SendTargets (RFC 7143 Appendix C): the targets that an initiator may use,
 * each with the portals that it can reach.  A normal session hears of its own
 * target only.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/limits.h"
#include "target/session.h"
#include "target/text_int.h"
#include "target/tgt.h"

struct answer {
	struct text	*out;
	struct text	 portals;	/* the same for every target */
	const char	*only;		/* this target, or NULL: all */
	bool		 failed;
};

static void put(struct answer *a, struct text *t, const char *key,
		const char *value)
{
	if (text_reserve(t, strlen(key) + strlen(value) + 2, TEXT_OUT_MAX))
		text_put(t, key, value);
	else
		a->failed = true;
}

static void put_portal(void *arg, const char *address, uint16_t group)
{
	struct answer *a = arg;
	char value[128];

	snprintf(value, sizeof(value), "%s,%u", address, group);
	put(a, &a->portals, "TargetAddress", value);
}

static void put_target(void *arg, const char *iqn)
{
	struct answer *a = arg;
	const struct text *portals = &a->portals;

	if (a->failed || (a->only && strcmp(a->only, iqn)))
		return;
	put(a, a->out, "TargetName", iqn);
	if (!text_reserve(a->out, portals->len, TEXT_OUT_MAX)) {
		a->failed = true;
		return;
	}
	if (portals->len)
		memcpy(a->out->p + a->out->len, portals->p, portals->len);
	a->out->len += portals->len;
}

/* RFC 7143 4.2.7: the three kinds of iSCSI names. */
static bool is_iscsi_name(const char *s)
{
	return strlen(s) < ISCSI_NAME_MAX &&
	       (!strncmp(s, "iqn.", 4) || !strncmp(s, "eui.", 4) ||
		!strncmp(s, "naa.", 4));
}

/* May this session ask for that?  A normal session that asks for All is told
 * what it may know, its own target, as if it had named none (RFC 7143 C). */
static bool may_ask(const struct session *s, const char *value)
{
	bool all = !strcmp(value, "All");

	if (s->discovery)
		return all || is_iscsi_name(value);
	return all || !value[0] || !strcmp(value, s->target);
}

int discovery_send_targets(const struct conn *c, const char *value,
			   struct text *out)
{
	const struct session *s = c->session;
	const struct tgt_peer peer = {
		.initiator	= s->initiator,
		.remote		= (const struct sockaddr *)&c->remote,
		.local		= (const struct sockaddr *)&c->local,
		.group		= c->group,
	};
	struct answer a = { .out = out };

	if (!may_ask(s, value))
		return -EINVAL;
	portal_announce(&peer, put_portal, &a);
	if (s->discovery && strcmp(value, "All"))
		a.only = value;
	if (s->discovery)
		tgt_discover(&peer, put_target, &a);
	else
		put_target(&a, s->target);
	free(a.portals.p);
	return a.failed ? -ENOSPC : 0;
}
