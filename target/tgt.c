/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What logins and discovery ask; see tgt.h. */

#include "target/tgt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util.h"
#include "target/tgt_int.h"

static struct world world = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.vols = { &world.vols, &world.vols },
	.sessions = { &world.sessions, &world.sessions },
};

struct world *world_lock(void)
{
	pthread_mutex_lock(&world.lock);
	return &world;
}

void world_unlock(struct world *w)
{
	pthread_mutex_unlock(&w->lock);
}

const struct conf *config_now(void)
{
	return world.conf;	/* only the main thread changes it */
}

static bool rule_fits(const struct conf_rule *rule, const struct tgt_peer *peer)
{
	if (!pattern_match(rule->initiator, peer->initiator))
		return false;
	if (!rule->address)
		return true;
	return peer->remote && cidr_match(&rule->cidr, peer->remote);
}

enum tgt_verdict access_check(const struct conf_target *t,
			      const struct tgt_peer *peer,
			      const struct conf_rule **ret_rule)
{
	unsigned i;

	if (!t)
		return TGT_NOT_FOUND;
	for (i = 0; i < t->nrules; i++) {
		if (!rule_fits(&t->rules[i], peer))
			continue;
		if (ret_rule)
			*ret_rule = &t->rules[i];
		return t->disabled ? TGT_UNAVAILABLE : TGT_OK;
	}
	return TGT_NOT_ALLOWED;
}

const struct conf_mapping *world_mapping(const struct conf_target *t,
					 const char *initiator, unsigned *at)
{
	const struct conf_mapping *m, *found = NULL;

	while (*at < t->nluns) {
		m = &t->luns[*at];
		if (found && found->lun != m->lun)
			break;
		if (!found && (!m->initiator ||
			       pattern_match(m->initiator, initiator)))
			found = m;
		++*at;
	}
	return found;
}

enum tgt_verdict tgt_check(const char *iqn, const struct tgt_peer *peer)
{
	struct world *w = world_lock();
	enum tgt_verdict verdict;

	verdict = access_check(conf_find_target(w->conf, iqn), peer, NULL);
	world_unlock(w);
	return verdict;
}

static void copy_user(const struct conf_user *user, struct chap_user *ret)
{
	memset(ret, 0, sizeof(*ret));
	snprintf(ret->name, sizeof(ret->name), "%s", user->user);
	memcpy(ret->secret, user->secret, user->secret_len);
	ret->secret_len = user->secret_len;
	if (!user->mutual_user)
		return;
	snprintf(ret->mutual_name, sizeof(ret->mutual_name), "%s",
		 user->mutual_user);
	memcpy(ret->mutual_secret, user->mutual_secret, user->mutual_len);
	ret->mutual_len = user->mutual_len;
}

static int copy_users(const struct conf_user *users, unsigned n,
		      const char *initiator, struct chap_user *ret)
{
	unsigned i;
	int count = 0;

	for (i = 0; i < n; i++) {
		if (users[i].initiator &&
		    !pattern_match(users[i].initiator, initiator))
			continue;
		copy_user(&users[i], &ret[count++]);
	}
	return n && !count ? -ENOENT : count;
}

int tgt_chap_users(const char *iqn, const char *initiator,
		   struct chap_user *users)
{
	struct world *w = world_lock();
	const struct conf_target *t;
	int n = 0;

	if (iqn) {
		t = conf_find_target(w->conf, iqn);
		if (t)
			n = copy_users(t->users, t->nusers, initiator, users);
	} else if (w->conf) {
		n = copy_users(w->conf->discovery, w->conf->ndiscovery,
			       initiator, users);
	}
	world_unlock(w);
	return n;
}

bool tgt_alias(const char *iqn, char *buf)
{
	struct world *w = world_lock();
	const struct conf_target *t = conf_find_target(w->conf, iqn);
	bool known = t && t->alias && t->alias[0];

	if (known)
		snprintf(buf, ALIAS_TEXT, "%s", t->alias);
	world_unlock(w);
	return known;
}

bool tgt_redirect(const char *iqn, char *buf, bool *ret_permanent)
{
	struct world *w = world_lock();
	const struct conf_target *t = conf_find_target(w->conf, iqn);
	struct sockaddr_storage addr;
	bool away = t && t->redirect && !addr_parse(t->redirect, &addr);

	if (away) {
		addr_text((const struct sockaddr *)&addr, buf);
		*ret_permanent = t->redirect_permanent;
	}
	world_unlock(w);
	return away;
}

uint16_t tgt_rtpi(const char *iqn, uint16_t group)
{
	return port_id(iqn, group);
}

/* Names are copied out, so that emit() may ask for portals. */
void tgt_discover(const struct tgt_peer *peer,
		  void (*emit)(void *arg, const char *iqn), void *arg)
{
	struct world *w = world_lock();
	const struct conf *c = w->conf;
	char (*names)[ISCSI_NAME_MAX] = NULL;
	unsigned i, n = 0;

	if (c && c->ntargets)
		names = calloc(c->ntargets, sizeof(*names));
	for (i = 0; names && i < c->ntargets; i++)
		if (access_check(&c->targets[i], peer, NULL) == TGT_OK)
			memcpy(names[n++], c->targets[i].iqn, sizeof(*names));
	world_unlock(w);
	for (i = 0; i < n; i++)
		emit(arg, names[i]);
	free(names);
}

/* Did anything of a target change, but for what its sessions do not see? */
static bool target_differs(const struct conf *old, const struct conf *now,
			   const char *iqn)
{
	return !json_equal(
		json_object_get(json_object_get(old->doc, "targets"), iqn),
		json_object_get(json_object_get(now->doc, "targets"), iqn));
}

static void ask_refresh(struct world *w, const struct conf *old)
{
	struct tgt *t;

	list_for_each(t, &w->sessions, in_world) {
		if (t->refreshing || !target_differs(old, w->conf, t->iqn))
			continue;
		t->refreshing = true;
		session_post(t->session, &t->refresh);
	}
}

void world_set(struct conf *now)
{
	struct world *w = world_lock();
	struct conf *old = w->conf;

	w->conf = now;
	if (old && now)
		ask_refresh(w, old);
	world_unlock(w);
	conf_free(old);
}
