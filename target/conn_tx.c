/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The sending half of a connection.  conn_send() finishes a PDU and queues it;
 * at the end of the turn everything queued leaves in one gathered send, and
 * what was queued meanwhile follows when that is done.
 */

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "lib/crc32c.h"
#include "target/session_int.h"

/* A peer that was told goodbye may take this long to close. */
#define LINGER_MS 2000

static_assert(offsetof(struct pdu_out, header_digest) ==
	      offsetof(struct pdu_out, bhs) + BHS_LEN, "header in one piece");
static_assert(offsetof(struct pdu_out, data_digest) ==
	      offsetof(struct pdu_out, pad) + 4, "tail in one piece");

static void tx_flush(struct edefer *d);

int tx_init(struct conn *c)
{
	struct conn_tx *tx = calloc(1, sizeof(*tx));

	if (!tx)
		return -ENOMEM;
	tx->conn = c;
	list_init(&tx->queue);
	list_init(&tx->sending);
	list_init(&tx->flush.link);
	tx->flush.run = tx_flush;
	c->tx = tx;
	return 0;
}

void tx_fini(struct conn *c)
{
	if (!c->tx)
		return;
	assert(list_empty(&c->tx->queue) && !c->tx->batch);
	edefer_cancel(&c->tx->flush);
	free(c->tx);
	c->tx = NULL;
}

static void stamp_numbers(struct conn *c, struct pdu_out *p)
{
	struct bhs_answer *b = &p->bhs.answer;
	uint32_t exp = c->login_cmd_sn, max = exp;

	if (c->session) {
		max = cmdsn_max(c->session);
		exp = c->session->exp_cmd_sn;
	}
	/* StatSN is reserved in Data-In without status (11.7). */
	if (p->takes_stat_sn || bhs_opcode(&p->bhs) != OP_DATA_IN)
		b->stat_sn = be32_of(c->stat_sn);
	if (p->takes_stat_sn)
		c->stat_sn++;
	b->exp_cmd_sn = be32_of(exp);
	b->max_cmd_sn = be32_of(max);
}

static void stamp_digests(struct conn *c, struct pdu_out *p)
{
	uint32_t pad = -p->data_len & 3, crc;

	p->header_len = BHS_LEN;
	if (c->header_digest) {
		p->header_digest = crc32c(&p->bhs, BHS_LEN);
		p->header_len += DIGEST_LEN;
	}
	p->tail_len = (uint8_t)pad;
	if (!p->data_len || !c->data_digest)
		return;
	crc = crc32c_add(crc32c_init(), p->data, p->data_len);
	crc = crc32c_add(crc, p->pad, pad);
	p->data_digest = crc32c_final(crc);
	p->tail_len += DIGEST_LEN;
}

void conn_send(struct conn *c, struct pdu_out *p)
{
	struct conn_tx *tx = c->tx;

	assert(p->conn == c && !list_linked(&p->link));
	list_add_tail(&tx->queue, &p->link);
	if (c->state == CONN_CLEANUP) {
		conn_cleanup_soon(c);	/* which drops it */
		return;
	}
	p->bhs.any.data_len = be24_of(p->data_len);
	stamp_numbers(c, p);
	stamp_digests(c, p);
	if (!tx->batch)
		engine_turn_end(c->worker->engine, &tx->flush);
}

/* Where the tail of a PDU begins: pad and digest lie side by side, and only
 * one of the two may be there. */
static void *tail_of(struct pdu_out *p)
{
	uint32_t pad = -p->data_len & 3;

	if (p->tail_len == pad)
		return p->pad;		/* no digest */
	return p->pad + sizeof(p->pad) - pad;
}

static int tx_gather(struct conn_tx *tx, struct iovec *iov)
{
	int n = 0;

	while (!list_empty(&tx->queue) && n + 3 <= (int)TX_IOV) {
		struct pdu_out *p = list_first(&tx->queue, struct pdu_out,
					       link);

		list_del(&p->link);
		list_add_tail(&tx->sending, &p->link);
		iov[n++] = (struct iovec){ &p->bhs, p->header_len };
		if (p->data_len)
			iov[n++] = (struct iovec){ p->data, p->data_len };
		if (p->tail_len)
			iov[n++] = (struct iovec){ tail_of(p), p->tail_len };
	}
	return n;
}

static void pdu_sent(struct pdu_out *p)
{
	list_del(&p->link);
	if (p->sent)
		p->sent(p);
	pdu_free(p);
}

static void drop_list(struct list *l)
{
	while (!list_empty(l))
		pdu_sent(list_first(l, struct pdu_out, link));
}

/* Everything is sent: we close our end, and the peer may close his first, for
 * a close with unread bytes would take our last PDU from him. */
static void tx_finish(struct conn *c)
{
	if (c->tx->shut)
		return;
	c->tx->shut = true;
	shutdown(c->fd, SHUT_WR);
	etimer_start(c->worker->engine, &c->timer, LINGER_MS);
}

static void tx_next(struct conn *c);

static void tx_done(struct ereq *r)
{
	struct tx_batch *b = container_of(r, struct tx_batch, req);
	struct conn *c = b->conn;
	struct conn_tx *tx = c->tx;
	struct list sent;

	list_init(&sent);
	list_splice_tail(&sent, &tx->sending);
	tx->batch = NULL;
	if (r->result < 0)
		conn_close(c, "cannot send");
	pool_put(&c->worker->pdus->batches, b);
	drop_list(&sent);
	tx_next(c);
	conn_io_done(c);
}

static void tx_send(struct conn *c, struct tx_batch *b)
{
	struct conn_tx *tx = c->tx;

	b->conn = c;
	b->req = (struct ereq){
		.op	= EREQ_SEND,
		.fd	= c->fd,
		.iov	= b->iov,
		.niov	= tx_gather(tx, b->iov),
		.done	= tx_done,
	};
	tx->batch = b;
	c->refs_io++;
	engine_submit(c->worker->engine, &b->req);
}

static void tx_next(struct conn *c)
{
	struct conn_tx *tx = c->tx;
	struct tx_batch *b;

	if (c->state == CONN_CLEANUP || tx->batch || tx->failed)
		return;
	if (list_empty(&tx->queue)) {
		if (tx->close_reason)
			tx_finish(c);
		if (c->session && c->session->drain_move)
			session_move_step(c->session);
		return;
	}
	b = pool_get(&c->worker->pdus->batches);
	if (!b) {
		conn_close(c, "out of memory");
		return;
	}
	tx_send(c, b);
}

static void tx_flush(struct edefer *d)
{
	tx_next(container_of(d, struct conn_tx, flush)->conn);
}

void conn_close_after_send(struct conn *c, const char *reason)
{
	if (c->state == CONN_CLEANUP || c->tx->close_reason)
		return;
	c->tx->close_reason = reason;
	c->rx->draining = true;
	if (!c->tx->batch)
		engine_turn_end(c->worker->engine, &c->tx->flush);
}

void tx_cancel(struct conn *c)
{
	edefer_cancel(&c->tx->flush);
	if (c->tx->batch)
		engine_cancel(c->worker->engine, &c->tx->batch->req);
}

void tx_drop(struct conn *c)
{
	assert(!c->tx->batch);
	drop_list(&c->tx->queue);
}

bool tx_quiet(const struct conn *c)
{
	return list_empty(&c->tx->queue) && !c->tx->batch && !c->tx->failed;
}
