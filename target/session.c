/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A session's life: begun by its login, ended with its connection.  A session
 * that reinstates another logs in at once; its commands wait here until the old
 * one's are being aborted, and in the SCSI layer until they are gone.
 */

#include "target/session.h"

#include <stdlib.h>
#include <time.h>

#include "target/session_int.h"

static struct session *session_new(struct conn *c,
				   const struct session_request *r)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	if (r->chap_user && r->chap_user[0]) {
		s->chap_user = strdup(r->chap_user);
		if (!s->chap_user) {
			free(s);
			return NULL;
		}
	}
	s->worker = c->worker;
	s->conn = c;
	s->discovery = !r->target;
	snprintf(s->initiator, sizeof(s->initiator), "%s", r->initiator);
	snprintf(s->target, sizeof(s->target), "%s",
		 r->target ? r->target : "");
	memcpy(s->isid, r->isid, sizeof(s->isid));
	s->group = c->group;
	s->params = c->params;
	s->exp_cmd_sn = r->cmd_sn;
	s->max_cmd_sn = r->cmd_sn + CMDSN_WINDOW - 1;
	s->since = (uint64_t)time(NULL);
	s->gone = s->discovery;
	list_init(&s->held);
	list_init(&s->waiting_old);
	list_init(&s->may_not_ask);
	list_init(&s->tmfs);
	list_init(&s->in_registry);
	session_move_init(s);
	return s;
}

static uint16_t status_of(enum tgt_verdict verdict)
{
	switch (verdict) {
	case TGT_OK:
		return LOGIN_SUCCESS;
	case TGT_NOT_FOUND:
		return LOGIN_NOT_FOUND;
	case TGT_NOT_ALLOWED:
		return LOGIN_FORBIDDEN;
	case TGT_UNAVAILABLE:
		break;
	}
	return LOGIN_UNAVAILABLE;
}

static uint16_t nexus_begin(struct session *s)
{
	struct nexus_config config = {
		.tpgt		= s->group,
		.rtpi		= tgt_rtpi(s->target, s->group),
		.worker		= s->worker->index,
		.find_lu	= tgt_find_lu,
		.arg		= s,
	};
	uint16_t status;

	memcpy(config.initiator, s->initiator, sizeof(config.initiator));
	memcpy(config.target, s->target, sizeof(config.target));
	memcpy(config.isid, s->isid, sizeof(config.isid));
	s->nexus = nexus_new(&scsi_host, &config);
	if (!s->nexus)
		return LOGIN_NO_RESOURCES;
	status = status_of(tgt_session_begin(s));
	if (status)
		nexus_free(s->nexus);
	return status;
}

uint16_t session_begin(struct conn *c, const struct session_request *r)
{
	struct session *s;
	uint16_t status = 0;

	assert(!c->session);
	if (r->tsih)
		return registry_check_tsih(r, c);
	s = session_new(c, r);
	if (!s)
		return LOGIN_NO_RESOURCES;
	if (!s->discovery)
		status = nexus_begin(s);
	if (status)
		goto free_session;
	status = registry_add(s);
	if (status)
		goto end_nexus;
	c->session = s;
	return LOGIN_SUCCESS;

end_nexus:
	if (!s->discovery) {
		tgt_session_end(s);
		nexus_free(s->nexus);
	}
free_session:
	free(s->chap_user);
	free(s);
	return status;
}

static void session_gone(void *arg)
{
	struct session *s = arg;

	s->gone = true;
	if (conn_closing(s->conn))
		conn_cleanup_soon(s->conn);
	else if (s->logout)
		logout_finish(s);
}

void session_lose(struct session *s)
{
	if (s->lost)
		return;
	s->lost = true;
	registry_remove(s);
	if (s->discovery)
		return;
	tgt_session_end(s);
	nexus_lose(s->nexus, session_gone, s);
}

void session_end(struct session *s)
{
	s->closing = true;
	session_lose(s);
}

void session_free(struct session *s)
{
	assert(s->gone && list_empty(&s->held) && list_empty(&s->tmfs));
	edefer_cancel(&s->move_try);
	if (s->logout)
		pdu_free(s->logout);
	nexus_free(s->nexus);
	registry_forget(s);
	free(s->chap_user);
	free(s);
}

void session_message(struct session *s, const struct session_order *o)
{
	struct conn *c = s->conn;

	if (o->asked & ASK_END)
		conn_close(c, o->end_reason);
	if (o->asked & ASK_SUCCESSOR)
		registry_tell_successor(s, s->nexus ? nexus_id(s->nexus) : 0);
	if (conn_closing(c)) {
		conn_cleanup_soon(c);
		return;
	}
	if (o->asked & ASK_LOGOUT && c->state == CONN_LOGGED_IN)
		async_logout_request(c, o->logout_seconds);
	if (o->asked & ASK_MOVE)
		session_move_start(s, o->move_to);
}

void session_old_gone(struct session *s, uint64_t old_nexus)
{
	struct task *t;

	assert(s->waits_old);
	if (old_nexus)
		s->old_nexus = old_nexus;
	if (--s->waits_old || s->lost)
		return;
	if (s->old_nexus)
		nexus_succeed(s->nexus, s->old_nexus);
	while (!list_empty(&s->waiting_old)) {
		t = list_first(&s->waiting_old, struct task, in_old);
		list_del(&t->in_old);
		task_submit(t);
	}
}
