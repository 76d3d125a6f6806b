/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Moving a session to another worker.  It is parked first: no receive and no
 * send under way, no command in flight, the bytes behind the last whole PDU
 * kept.  Then all that it is stands in struct parked, in plain values, and the
 * other worker goes on from there.
 */

#include <stdlib.h>

#include "target/registry_int.h"

struct parked {
	char		 initiator[ISCSI_NAME_MAX], target[ISCSI_NAME_MAX];
	uint8_t		 isid[6];
	uint16_t	 tsih, cid, group;
	struct params	 params;
	bool		 header_digest, data_digest;
	uint32_t	 exp_cmd_sn, max_cmd_sn, stat_sn, exp_stat_sn;
	uint32_t	 next_ttt, nop_ttt;
	uint64_t	 heard;
};

struct move {
	struct epost	 post;
	struct session	*session;
	struct parked	 parked;
	uint8_t		*bytes;		/* received, not parsed */
	uint32_t	 nbytes;
};

static void pack(const struct session *s, struct parked *p)
{
	const struct conn *c = s->conn;

	*p = (struct parked){
		.tsih		= s->tsih,
		.cid		= c->cid,
		.group		= s->group,
		.params		= c->params,
		.header_digest	= c->header_digest,
		.data_digest	= c->data_digest,
		.exp_cmd_sn	= s->exp_cmd_sn,
		.max_cmd_sn	= s->max_cmd_sn,
		.stat_sn	= c->stat_sn,
		.exp_stat_sn	= c->exp_stat_sn,
		.next_ttt	= s->next_ttt,
		.nop_ttt	= c->nop_ttt,
		.heard		= c->heard,
	};
	memcpy(p->initiator, s->initiator, sizeof(p->initiator));
	memcpy(p->target, s->target, sizeof(p->target));
	memcpy(p->isid, s->isid, sizeof(p->isid));
}

static void unpack(struct session *s, const struct parked *p)
{
	struct registry *r = registry_lock();	/* others look at it */
	struct conn *c = s->conn;

	memcpy(s->initiator, p->initiator, sizeof(s->initiator));
	memcpy(s->target, p->target, sizeof(s->target));
	memcpy(s->isid, p->isid, sizeof(s->isid));
	s->tsih = p->tsih;
	c->cid = p->cid;
	s->group = p->group;
	c->params = p->params;
	c->header_digest = p->header_digest;
	c->data_digest = p->data_digest;
	s->exp_cmd_sn = p->exp_cmd_sn;
	s->max_cmd_sn = p->max_cmd_sn;
	c->stat_sn = p->stat_sn;
	c->exp_stat_sn = p->exp_stat_sn;
	s->next_ttt = p->next_ttt;
	c->nop_ttt = p->nop_ttt;
	c->heard = p->heard;
	registry_unlock(r);
}

/* On the new worker. */
static void arrive(struct epost *post)
{
	struct move *m = container_of(post, struct move, post);
	struct session *s = m->session;
	struct conn *c = s->conn;
	struct worker *w = c->worker;

	pdu_pool_init(w);
	list_add_tail(&w->conns, &c->in_worker);
	atomic_fetch_add_explicit(&w->nconns, 1, memory_order_relaxed);
	rx_give_bytes(c, m->bytes, m->nbytes);
	if (!conn_closing(c)) {
		s->drain_move = false;
		unpack(s, &m->parked);
		nop_start(c);
		rx_run(c);
	}
	free(m);
	conn_io_done(c);	/* of leave() */
}

/* Nothing of the old worker's may be touched after registry_move(). */
static void leave(struct session *s)
{
	struct conn *c = s->conn;
	struct worker *from = c->worker, *to = &workers[s->move_to];
	struct move *m = malloc(sizeof(*m));

	if (m)
		m->bytes = rx_take_bytes(c, &m->nbytes);
	if (!m || !m->bytes) {
		free(m);
		s->drain_move = false;	/* it stays */
		rx_run(c);
		return;
	}
	m->post.run = arrive;
	m->session = s;
	pack(s, &m->parked);
	etimer_stop(&c->timer);
	edefer_cancel(&c->tx->flush);
	edefer_cancel(&c->cleanup);
	list_del(&c->in_worker);
	atomic_fetch_sub_explicit(&from->nconns, 1, memory_order_relaxed);
	if (s->nexus)
		nexus_rehome(s->nexus, to->index);
	c->worker = to;
	c->refs_io++;		/* holds it until it arrives */
	registry_move(s, to, &m->post);
}

static bool quiet(const struct session *s)
{
	const struct conn *c = s->conn;

	return list_empty(&c->tasks) && list_empty(&s->tmfs) &&
	       list_empty(&s->held) && !s->waits_old && !c->text &&
	       tx_quiet(c) && c->rx->step == RX_HEADER && !c->rx->in_run &&
	       (!s->nexus || nexus_settled(s->nexus));
}

static void move_try(struct edefer *d)
{
	struct session *s = container_of(d, struct session, move_try);
	struct conn *c = s->conn;

	if (!s->drain_move || c->state != CONN_LOGGED_IN ||
	    c->tx->close_reason)
		return;
	if (!quiet(s))
		rx_run(c);	/* it may wait for a PDU */
	else if (c->rx->in_flight)
		rx_cancel(c);
	else
		leave(s);
}

void session_move_init(struct session *s)
{
	list_init(&s->move_try.link);
	s->move_try.run = move_try;
}

void session_move_step(struct session *s)
{
	engine_defer(s->conn->worker->engine, &s->move_try);
}

void session_move_start(struct session *s, unsigned worker)
{
	if (s->lost || s->drain_move || worker == s->worker->index)
		return;
	s->move_to = worker;
	s->drain_move = true;
	session_move_step(s);
}
