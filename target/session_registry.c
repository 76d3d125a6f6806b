/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * All sessions of the daemon, under one lock that the path of a command never
 * takes.  Sessions that end stay listed until they are freed, since one that
 * comes back must wait for them; other threads see the registered ones alone.
 */

#include <errno.h>
#include <stdlib.h>

#include "lib/log.h"
#include "target/registry_int.h"

static struct registry registry = {
	.mutex	= PTHREAD_MUTEX_INITIALIZER,
	.all	= { &registry.all, &registry.all },
};

struct registry *registry_lock(void)
{
	pthread_mutex_lock(&registry.mutex);
	return &registry;
}

void registry_unlock(struct registry *r)
{
	pthread_mutex_unlock(&r->mutex);
}

/* ---- messages to a session --------------------------------------------- */

static void message_run(struct epost *post)
{
	struct session *s = container_of(post, struct session, post);
	struct registry *r = registry_lock();
	struct worker *w = s->worker;
	struct session_order order;

	if (w->engine != engine_self()) {
		engine_post(w->engine, post);	/* it moved meanwhile */
		registry_unlock(r);
		return;
	}
	order = s->order;
	s->order.asked = 0;
	s->posted = false;
	registry_unlock(r);
	session_message(s, &order);
}

bool session_post(struct session *s, struct epost *post)
{
	struct registry *r = registry_lock();
	struct engine *there = s->worker->engine;
	bool elsewhere = there != engine_self();

	if (elsewhere)
		engine_post(there, post);
	registry_unlock(r);
	return elsewhere;
}

void registry_ask(struct session *s, unsigned ask)
{
	s->order.asked |= ask;
	if (s->posted)
		return;
	s->posted = true;
	s->post.run = message_run;
	engine_post(s->worker->engine, &s->post);
}

bool registry_quiet(struct session *s)
{
	struct registry *r = registry_lock();
	bool quiet = !s->posted;

	registry_unlock(r);
	return quiet;
}

/* ---- one nexus, one session -------------------------------------------- */

static bool same_nexus(const struct session *a, const struct session *b)
{
	return a != b && !a->discovery && !b->discovery &&
	       a->group == b->group &&
	       !memcmp(a->isid, b->isid, sizeof(a->isid)) &&
	       !strcmp(a->initiator, b->initiator) &&
	       !strcmp(a->target, b->target);
}

static void succession_run(struct epost *post)
{
	struct succession *n = container_of(post, struct succession, post);
	struct conn *c;

	list_for_each(c, &n->worker->conns, in_worker) {
		if (!c->session || c->session->id != n->session)
			continue;
		session_old_gone(c->session, n->old_nexus);
		break;
	}
	free(n);
}

static void tell(struct session *s, uint64_t old_nexus)
{
	struct succession *n = s->successor;

	if (!n)
		return;
	s->successor = NULL;
	n->old_nexus = old_nexus;
	n->post.run = succession_run;
	engine_post(n->worker->engine, &n->post);
}

void registry_tell_successor(struct session *s, uint64_t old_nexus)
{
	struct registry *r = registry_lock();

	tell(s, old_nexus);
	registry_unlock(r);
}

/*
 * Makes s the successor of old.  One that lives is asked to end and says when
 * its commands are aborted; one that ends already says when it is freed, for s
 * must wait for all that came before.
 */
static bool succeed(struct session *s, struct session *old)
{
	if (!old->successor)
		old->successor = malloc(sizeof(*old->successor));
	if (!old->successor)
		return false;
	old->successor->worker = s->worker;
	old->successor->session = s->id;
	s->waits_old++;
	if (old->registered) {
		old->order.end_reason = "the initiator logged in anew";
		registry_ask(old, ASK_END | ASK_SUCCESSOR);
	}
	return true;
}

static bool tsih_used(const struct registry *r, uint16_t tsih)
{
	const struct session *s;

	list_for_each(s, &r->all, in_registry)
		if (s->tsih == tsih)
			return true;
	return false;
}

static uint16_t add(struct registry *r, struct session *s)
{
	struct session *old;

	if (r->closed)
		return LOGIN_UNAVAILABLE;
	if (r->nsessions >= MAX_SESSIONS)
		return LOGIN_NO_RESOURCES;
	s->id = ++r->last_id;
	do
		r->last_tsih++;
	while (!r->last_tsih || tsih_used(r, r->last_tsih));
	s->tsih = r->last_tsih;
	list_for_each(old, &r->all, in_registry)
		if (same_nexus(s, old) && !succeed(s, old))
			return LOGIN_NO_RESOURCES;
	s->registered = true;
	r->nsessions++;
	list_add_tail(&r->all, &s->in_registry);
	return LOGIN_SUCCESS;
}

uint16_t registry_add(struct session *s)
{
	struct registry *r = registry_lock();
	uint16_t status = add(r, s);

	registry_unlock(r);
	return status;
}

/* With one connection in a session, a second has no place in it; the first is
 * replaced by a login with TSIH 0. */
uint16_t registry_check_tsih(const struct session_request *rq,
			     const struct conn *c)
{
	uint16_t status = LOGIN_NO_SESSION;
	struct registry *r = registry_lock();
	const struct session *s;

	list_for_each(s, &r->all, in_registry) {
		if (!s->registered || s->tsih != rq->tsih ||
		    s->group != c->group || !rq->target ||
		    memcmp(s->isid, rq->isid, sizeof(s->isid)) ||
		    strcmp(s->initiator, rq->initiator) ||
		    strcmp(s->target, rq->target))
			continue;
		if (s->conn->cid != c->cid)
			status = LOGIN_TOO_MANY_CONNS;
	}
	registry_unlock(r);
	return status;
}

void registry_remove(struct session *s)
{
	struct registry *r = registry_lock();

	if (s->registered) {
		s->registered = false;
		r->nsessions--;
	}
	registry_unlock(r);
}

void registry_forget(struct session *s)
{
	struct registry *r = registry_lock();

	tell(s, 0);
	list_del(&s->in_registry);
	registry_unlock(r);
}

void registry_move(struct session *s, struct worker *to, struct epost *post)
{
	struct registry *r = registry_lock();

	s->worker = to;
	engine_post(to->engine, post);
	registry_unlock(r);
}
