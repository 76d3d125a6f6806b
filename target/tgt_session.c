/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The LUN map of each session: made at its beginning, compared with the
 * configuration whenever that changed, by the session's own worker.
 */

#include "target/tgt_int.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/util.h"

static struct tgt_peer peer_of(const struct session *s)
{
	return (struct tgt_peer){
		.initiator = s->initiator,
		.remote = s->conn ? (const void *)&s->conn->remote : NULL,
		.local = s->conn ? (const void *)&s->conn->local : NULL,
		.group = s->group,
	};
}

static void tgt_free_if_idle(struct tgt *t)
{
	if (!t->session && !t->unmapping && !t->refreshing)
		free(t);
}

static void entry_free(struct map_entry *e)
{
	vol_put(e->vol);
	free(e);
}

/* What the session should see now; with the lock held.  Each entry holds its
 * volume.  False: no memory. */
static bool wanted_map(struct world *w, const struct conf_target *ct,
		       struct tgt *t, struct map_entry **ret)
{
	const struct conf_mapping *m;
	struct map_entry *e;
	unsigned at = 0;
	struct vol *v;

	while ((m = world_mapping(ct, t->session->initiator, &at))) {
		v = world_vol(w, m->volume);
		if (!v)
			continue;
		e = calloc(1, sizeof(*e));
		if (!e)
			return false;
		*e = (struct map_entry){
			.lun = m->lun, .read_only = m->read_only, .vol = v,
			.tgt = t, .next = *ret,
		};
		v->users++;
		*ret = e;
	}
	return true;
}

static void free_map(struct map_entry *e)
{
	struct map_entry *next;

	for (; e; e = next) {
		next = e->next;
		entry_free(e);
	}
}

/* Maps what is in wanted and moves it to the session's map. */
static void map_all(struct tgt *t, struct map_entry *wanted, bool announce)
{
	struct map_entry *next;
	int err;

	for (; wanted; wanted = next) {
		next = wanted->next;
		err = nexus_map(t->session->nexus, wanted->lun,
				wanted->vol->lu, wanted->read_only, announce);
		if (err) {
			log_err("cannot map LUN %u of %s: %s", wanted->lun,
				t->session->target, strerror(-err));
			entry_free(wanted);
			continue;
		}
		wanted->next = t->map;
		t->map = wanted;
	}
}

static void refresh_run(struct epost *p)
{
	struct tgt *t = container_of(p, struct tgt, refresh);
	struct world *w = world_lock();
	struct session *s = t->session;

	/* a session that was moved meanwhile is looked at where it lives */
	if (s && session_post(s, p)) {
		world_unlock(w);
		return;
	}
	t->refreshing = false;
	world_unlock(w);
	if (s)
		tgt_session_refresh(s);
	else
		tgt_free_if_idle(t);
}

enum tgt_verdict tgt_session_begin(struct session *s)
{
	struct tgt_peer peer = peer_of(s);
	struct map_entry *wanted = NULL;
	const struct conf_target *ct;
	struct tgt *t = calloc(1, sizeof(*t));
	enum tgt_verdict verdict;
	struct world *w;

	if (!t)
		return TGT_UNAVAILABLE;
	t->session = s;
	memcpy(t->iqn, s->target, sizeof(t->iqn));
	t->refresh.run = refresh_run;
	list_init(&t->in_world);
	w = world_lock();
	ct = conf_find_target(w->conf, s->target);
	verdict = access_check(ct, &peer, NULL);
	if (verdict == TGT_OK && !wanted_map(w, ct, t, &wanted))
		verdict = TGT_UNAVAILABLE;
	if (verdict == TGT_OK)
		list_add_tail(&w->sessions, &t->in_world);
	world_unlock(w);
	if (verdict != TGT_OK) {
		free_map(wanted);
		free(t);
		return verdict;
	}
	s->tgt = t;
	map_all(t, wanted, false);
	return TGT_OK;
}

void tgt_session_end(struct session *s)
{
	struct tgt *t = s->tgt;
	struct world *w;

	if (!t)
		return;
	w = world_lock();
	list_del(&t->in_world);
	t->session = NULL;
	world_unlock(w);
	s->tgt = NULL;
	free_map(t->map);
	t->map = NULL;
	tgt_free_if_idle(t);
}

static void unmapped(void *arg)
{
	struct map_entry *e = arg;
	struct tgt *t = e->tgt;

	entry_free(e);
	t->unmapping--;
	tgt_free_if_idle(t);
}

/* Takes from wanted what is there already, and marks it in the map. */
static void keep_same(struct tgt *t, struct map_entry **wanted)
{
	struct map_entry *have, *w;

	for (have = t->map; have; have = have->next)
		have->stays = false;
	while ((w = *wanted)) {
		for (have = t->map; have; have = have->next)
			if (have->lun == w->lun && have->vol == w->vol &&
			    have->read_only == w->read_only)
				break;
		if (!have) {
			wanted = &w->next;
			continue;
		}
		have->stays = true;
		*wanted = w->next;
		entry_free(w);
	}
}

static void unmap_rest(struct tgt *t)
{
	struct map_entry **at = &t->map, *e;
	int err;

	while ((e = *at)) {
		if (e->stays) {
			at = &e->next;
			continue;
		}
		*at = e->next;
		t->unmapping++;
		err = nexus_unmap(t->session->nexus, e->lun, unmapped, e);
		assert(!err);
	}
}

void tgt_session_refresh(struct session *s)
{
	struct tgt_peer peer = peer_of(s);
	struct map_entry *wanted = NULL;
	const struct conf_target *ct;
	struct tgt *t = s->tgt;
	enum tgt_verdict verdict;
	struct world *w;
	bool complete = false;

	if (!t || s->closing || !s->conn)
		return;
	w = world_lock();
	ct = conf_find_target(w->conf, s->target);
	verdict = access_check(ct, &peer, NULL);
	/* a disabled target keeps the sessions that it has */
	if (verdict == TGT_OK || verdict == TGT_UNAVAILABLE)
		complete = wanted_map(w, ct, t, &wanted);
	world_unlock(w);
	if (verdict == TGT_NOT_FOUND || verdict == TGT_NOT_ALLOWED) {
		conn_close(s->conn, verdict == TGT_NOT_FOUND ?
			   "its target was removed" :
			   "no rule lets the initiator in any more");
		return;
	}
	if (!complete) {
		free_map(wanted);	/* no memory: the map stays as it was */
		return;
	}
	keep_same(t, &wanted);
	unmap_rest(t);
	map_all(t, wanted, true);
}

/* ---- third-party copy --------------------------------------------------- */

static const struct conf_user *find_user(const struct conf_target *t,
					 const char *user,
					 const char *initiator)
{
	unsigned i;

	for (i = 0; t && i < t->nusers; i++) {
		if (strcmp(t->users[i].user, user))
			continue;
		if (!t->users[i].initiator ||
		    pattern_match(t->users[i].initiator, initiator))
			return &t->users[i];
	}
	return NULL;
}

/* Would what the session proved at its login do at target t as well? */
static bool same_authentication(const struct world *w, const struct session *s,
				const struct conf_target *t)
{
	const struct conf_user *own, *there;

	if (!t->nusers)
		return true;
	if (!s->chap_user)
		return false;
	own = find_user(conf_find_target(w->conf, s->target), s->chap_user,
			s->initiator);
	there = find_user(t, s->chap_user, s->initiator);
	return own && there && own->secret_len == there->secret_len &&
	       !memcmp(own->secret, there->secret, own->secret_len);
}

static const struct conf_mapping *visible_at(const struct conf_target *t,
					     const char *initiator,
					     const struct vol *v)
{
	const struct conf_mapping *m;
	unsigned at = 0;

	while ((m = world_mapping(t, initiator, &at)))
		if (!strcmp(m->volume, v->name))
			return m;
	return NULL;
}

/* The mapping that lets the session see v through any target; one that may be
 * written goes first. */
static const struct conf_mapping *visible(const struct world *w,
					  const struct session *s,
					  const struct vol *v)
{
	const struct conf_mapping *m, *best = NULL;
	struct tgt_peer peer = peer_of(s);
	unsigned i;

	for (i = 0; i < w->conf->ntargets; i++) {
		const struct conf_target *t = &w->conf->targets[i];

		m = visible_at(t, s->initiator, v);
		if (!m || access_check(t, &peer, NULL) != TGT_OK ||
		    !same_authentication(w, s, t))
			continue;
		if (!best || best->read_only)
			best = m;
	}
	return best;
}

static struct vol *vol_by_naa(struct world *w, const uint8_t *naa, size_t len)
{
	struct vol *v;

	list_for_each(v, &w->vols, in_world)
		if (!v->removed && v->id.naa_len == len &&
		    !memcmp(v->id.naa, naa, len))
			return v;
	return NULL;
}

struct lu *tgt_find_lu(void *session, const uint8_t *designator, size_t len,
		       bool *ret_read_only)
{
	const struct session *s = session;
	const struct map_entry *e;
	const struct conf_mapping *m = NULL;
	struct lu *lu = NULL;
	struct world *w;
	struct vol *v;

	w = world_lock();
	v = vol_by_naa(w, designator, len);
	for (e = v && s->tgt ? s->tgt->map : NULL; e; e = e->next)
		if (e->vol == v)
			break;
	if (v && !e && w->conf)
		m = visible(w, s, v);
	if (e || m) {
		*ret_read_only = e ? e->read_only : m->read_only;
		lu = lu_ref(v->lu);
	}
	world_unlock(w);
	return lu;
}
