/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Command numbering, RFC 7143 4.2.2.1: PDUs with a CmdSN run in its order; what
 * comes early is held until its turn, what lies outside the window or comes
 * twice is dropped without a word.  MaxCmdSN is our back-pressure: it stands
 * still while buffers are short or the session has its full share of commands.
 */

#include <stdlib.h>

#include "target/session_int.h"

/* A PDU before its turn.  op NULL: its number passes and nothing is done. */
struct held {
	struct list	 link;
	uint32_t	 cmd_sn;
	const struct pdu_op *op;
	struct task	*task;
	union bhs	 bhs;
	uint32_t	 data_len;
	uint8_t		 data[];
};

static struct held *held_of(const struct session *s, uint32_t cmd_sn)
{
	struct held *h;

	list_for_each(h, &s->held, link)
		if (h->cmd_sn == cmd_sn)
			return h;
	return NULL;
}

enum cmdsn_verdict cmdsn_check(const struct session *s, uint32_t cmd_sn)
{
	if (sn_before(cmd_sn, s->exp_cmd_sn) ||
	    sn_before(s->max_cmd_sn, cmd_sn))
		return CMDSN_IGNORE;
	if (cmd_sn == s->exp_cmd_sn)
		return CMDSN_NOW;
	return held_of(s, cmd_sn) ? CMDSN_IGNORE : CMDSN_EARLY;
}

uint32_t cmdsn_max(struct session *s)
{
	bool brake = s->drain_move || !list_empty(&s->worker->buf_waiters);
	uint32_t max;

	/* With no command under way the window opens in any case: there would
	 * be no answer to tell of it later. */
	if (s->active && brake)
		return s->max_cmd_sn;
	max = s->exp_cmd_sn + CMDSN_WINDOW - 1 - MIN(s->active, CMDSN_WINDOW);
	if (sn_before(s->max_cmd_sn, max))
		s->max_cmd_sn = max;	/* it never shrinks */
	return s->max_cmd_sn;
}

static void held_insert(struct session *s, struct held *h)
{
	struct held *at;

	list_for_each(at, &s->held, link)
		if (sn_before(h->cmd_sn, at->cmd_sn))
			break;
	list_insert_before(&at->link, &h->link);
}

static struct held *held_new(uint32_t cmd_sn, const struct pdu_in *p)
{
	uint32_t n = p && p->data ? p->data_len : 0;
	struct held *h = malloc(sizeof(*h) + n + 1);

	if (!h)
		return NULL;
	*h = (struct held){ .cmd_sn = cmd_sn };
	list_init(&h->link);
	if (!p)
		return h;
	h->bhs = *p->bhs;
	h->task = p->task;
	h->data_len = n;
	if (n)
		memcpy(h->data, p->data, n);
	h->data[n] = '\0';
	return h;
}

static void hold(struct conn *c, const struct pdu_op *op, struct pdu_in *p)
{
	struct session *s = c->session;
	uint32_t n = p->data ? p->data_len : 0;
	struct held *h = NULL;

	if (n <= CMDSN_HELD_MAX - s->held_bytes)
		h = held_new(be32_get(p->bhs->request.cmd_sn), p);
	if (!h) {
		conn_close(c, "too much before its turn");
		return;
	}
	s->held_bytes += n;
	h->op = op;
	if (h->task)
		h->task->held = true;
	held_insert(s, h);
}

void cmdsn_take(struct conn *c, const struct pdu_op *op, struct pdu_in *p)
{
	struct session *s = c->session;
	uint32_t cmd_sn = be32_get(p->bhs->request.cmd_sn);

	c->exp_stat_sn = be32_get(p->bhs->request.exp_stat_sn);
	if (bhs_immediate(p->bhs)) {
		op->handle(c, p);
		return;
	}
	switch (cmdsn_check(s, cmd_sn)) {
	case CMDSN_NOW:
		s->exp_cmd_sn++;
		op->handle(c, p);
		cmdsn_run(s);
		break;
	case CMDSN_EARLY:
		hold(c, op, p);
		break;
	case CMDSN_IGNORE:
		if (p->task)
			task_drop(p->task);
		break;
	}
}

static void held_run(struct conn *c, struct held *h)
{
	struct pdu_in p = {
		.bhs		= &h->bhs,
		.data		= h->data,
		.data_len	= h->data_len,
		.task		= h->task,
	};

	if (h->task)
		h->task->held = false;
	if (h->op)
		h->op->handle(c, &p);
	free(h);
}

void cmdsn_run(struct session *s)
{
	struct conn *c = s->conn;

	while (!list_empty(&s->held) && !conn_closing(c)) {
		struct held *h = list_first(&s->held, struct held, link);

		if (h->cmd_sn != s->exp_cmd_sn)
			break;
		list_del(&h->link);
		s->held_bytes -= h->data_len;
		s->exp_cmd_sn++;
		held_run(c, h);
	}
}

void cmdsn_skip(struct session *s, uint32_t cmd_sn)
{
	struct held *h = held_new(cmd_sn, NULL);

	if (!h) {
		conn_close(s->conn, "out of memory");
		return;
	}
	held_insert(s, h);
	cmdsn_run(s);
}

void cmdsn_forget(struct session *s, struct task *t)
{
	struct held *h;

	list_for_each(h, &s->held, link) {
		if (h->task != t)
			continue;
		h->op = NULL;
		h->task = NULL;
		t->held = false;
		return;
	}
}

void cmdsn_drop_all(struct session *s)
{
	while (!list_empty(&s->held)) {
		struct held *h = list_first(&s->held, struct held, link);

		list_del(&h->link);
		if (h->task)
			h->task->held = false;
		free(h);
	}
	s->held_bytes = 0;
}
