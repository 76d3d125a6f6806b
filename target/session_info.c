/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What the control socket and the configuration see of sessions, and may ask
 * of them; any thread. */

#include <errno.h>

#include "target/registry_int.h"

static bool matches(const struct session *s, const char *target)
{
	return s->registered && (!target || !strcmp(s->target, target));
}

static uint64_t count(const _Atomic uint64_t *n)
{
	return atomic_load_explicit(n, memory_order_relaxed);
}

static struct session_info info_of(struct session *s)
{
	const struct conn *c = s->conn;
	struct session_info i = {
		.id		= s->id,
		.tsih		= s->tsih,
		.group		= s->group,
		.cid		= c->cid,
		.discovery	= s->discovery,
		.worker		= s->worker->index,
		.params		= s->params,
		.local		= c->local,
		.remote		= c->remote,
		.read_bytes	= count(&c->read_bytes),
		.write_bytes	= count(&c->write_bytes),
		.commands	= count(&c->commands),
		.since		= s->since,
	};

	memcpy(i.initiator, s->initiator, sizeof(i.initiator));
	memcpy(i.target, s->target, sizeof(i.target));
	memcpy(i.isid, s->isid, sizeof(i.isid));
	return i;
}

void session_each(const char *target,
		  void (*fn)(void *arg, const struct session_info *i),
		  void *arg)
{
	struct registry *r = registry_lock();
	struct session *s;

	list_for_each(s, &r->all, in_registry) {
		struct session_info i;

		if (!matches(s, target))
			continue;
		i = info_of(s);
		fn(arg, &i);
	}
	registry_unlock(r);
}

unsigned session_count(const char *target)
{
	struct registry *r = registry_lock();
	const struct session *s;
	unsigned n = 0;

	list_for_each(s, &r->all, in_registry)
		n += matches(s, target);
	registry_unlock(r);
	return n;
}

static struct session *find(struct registry *r, uint64_t id)
{
	struct session *s;

	list_for_each(s, &r->all, in_registry)
		if (s->registered && s->id == id)
			return s;
	return NULL;
}

int session_end_id(uint64_t id, const char *reason)
{
	struct registry *r = registry_lock();
	struct session *s = find(r, id);

	if (s) {
		s->order.end_reason = reason;
		registry_ask(s, ASK_END);
	}
	registry_unlock(r);
	return s ? 0 : -ENOENT;
}

void session_end_target(const char *target, const char *reason)
{
	struct registry *r = registry_lock();
	struct session *s;

	list_for_each(s, &r->all, in_registry) {
		if (!matches(s, target))
			continue;
		s->order.end_reason = reason;
		registry_ask(s, ASK_END);
	}
	registry_unlock(r);
}

int session_move_id(uint64_t id, unsigned worker)
{
	struct registry *r;
	struct session *s;

	if (worker >= scsi_host.nworkers)
		return -EINVAL;
	r = registry_lock();
	s = find(r, id);
	if (s) {
		s->order.move_to = worker;
		registry_ask(s, ASK_MOVE);
	}
	registry_unlock(r);
	return s ? 0 : -ENOENT;
}
