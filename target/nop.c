/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * NOP-Out and NOP-In, RFC 7143 11.18 and 11.19: the initiator's ping is
 * answered at once; ours goes out when it was silent for a while, and one that
 * stays without an answer ends the connection.
 */

#include "lib/buf.h"
#include "target/session_int.h"

static void nop_in(struct conn *c, const union bhs *bhs, struct pdu_in *p)
{
	uint32_t n = MIN(p->data_len, c->params.MaxRecvDataSegmentLength);
	struct pdu_out *out = pdu_new(c);

	if (!out)
		return;
	out->bhs.nop_in.opcode = OP_NOP_IN;
	out->bhs.nop_in.flags = FLAG_FINAL;
	memcpy(out->bhs.nop_in.lun, bhs->nop_out.lun, 8);
	out->bhs.nop_in.itt = bhs->nop_out.itt;
	out->bhs.nop_in.ttt = be32_of(TAG_NONE);
	out->takes_stat_sn = true;
	if (n) {
		out->data = buf_get(engine_bufs(c->worker->engine), n,
				    BUF_RESERVED);
		if (!out->data) {
			pdu_free(out);
			conn_reject(c, bhs, REJECT_RESOURCES);
			return;
		}
		memcpy(out->data, p->data, n);
		out->data_len = out->owned = n;
	}
	conn_send(c, out);
}

void nop_out(struct conn *c, struct pdu_in *p)
{
	const struct bhs_nop_out *b = &p->bhs->nop_out;

	if (be32_get(b->itt) != TAG_NONE)
		nop_in(c, p->bhs, p);
	else if (be32_get(b->ttt) == c->nop_ttt)
		c->nop_ttt = TAG_NONE;
}

static void nop_ping(struct conn *c)
{
	struct pdu_out *out = pdu_new(c);

	if (!out)
		return;
	c->nop_ttt = c->session->next_ttt++;
	if (c->nop_ttt == TAG_NONE)
		c->nop_ttt = c->session->next_ttt++;
	out->bhs.nop_in.opcode = OP_NOP_IN;
	out->bhs.nop_in.flags = FLAG_FINAL;
	out->bhs.nop_in.itt = be32_of(TAG_NONE);
	out->bhs.nop_in.ttt = be32_of(c->nop_ttt);
	conn_send(c, out);	/* StatSN is told, not taken */
}

static void nop_timer(struct etimer *t)
{
	struct conn *c = container_of(t, struct conn, timer);
	struct engine *e = c->worker->engine;
	uint64_t silent_ms = (engine_now(e) - c->heard) / 1000000;

	if (c->tx->shut) {
		conn_close(c, "closed");
		return;
	}
	if (data_out_overdue(c, engine_now(e))) {
		conn_close(c, "the initiator does not send the data of a "
			   "WRITE");
		return;
	}
	if (silent_ms < NOP_SILENCE_MS) {
		c->nop_ttt = TAG_NONE;	/* any PDU shows that it lives */
		etimer_start(e, t, NOP_SILENCE_MS - silent_ms);
		return;
	}
	if (c->nop_ttt != TAG_NONE) {
		conn_close(c, "the initiator does not answer NOP-In");
		return;
	}
	nop_ping(c);
	etimer_start(e, t, NOP_ANSWER_MS);
}

void nop_start(struct conn *c)
{
	etimer_stop(&c->timer);
	etimer_init(&c->timer, nop_timer);
	etimer_start(c->worker->engine, &c->timer, NOP_SILENCE_MS);
}
