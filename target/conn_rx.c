/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The receiving half of a connection.  One receive at a time, as large as
 * possible: first the rest of a data segment straight to its place, behind it
 * whatever else has come into the receive buffer, where headers and small
 * segments are parsed by rx_step().  An idle connection waits with a small
 * buffer of its own; a large one comes from the worker's pool while bytes do.
 */

#include <errno.h>
#include <stdlib.h>

#include "lib/buf.h"
#include "target/rx_int.h"

/* A connection without traffic for so long gives its buffer back. */
#define RX_IDLE_MS 1000

static void rx_arm(struct conn_rx *rx);

static void rx_control_ready(struct buf_waiter *w)
{
	rx_run(container_of(w, struct conn_rx, waiter)->conn);
}

int rx_init(struct conn *c)
{
	struct conn_rx *rx = calloc(1, sizeof(*rx));

	if (!rx)
		return -ENOMEM;
	rx->conn = c;
	rx->buf = rx->small;
	rx->cap = RX_SMALL;
	list_init(&rx->in_busy);
	list_init(&rx->waiter.link);
	rx->waiter.ready = rx_control_ready;
	c->rx = rx;
	return 0;
}

/* Back to the small buffer, which has room for what is left. */
static void buf_shrink(struct conn_rx *rx)
{
	uint8_t *old = rx->buf;
	uint32_t n = rx->tail - rx->head;

	assert(rx->kind != RX_BUF_SMALL && n <= RX_SMALL);
	memcpy(rx->small, old + rx->head, n);
	if (rx->kind == RX_BUF_POOL)
		worker_buf_put(rx->conn->worker, old, RX_BUF);
	else
		free(old);
	list_del(&rx->in_busy);
	rx->kind = RX_BUF_SMALL;
	rx->buf = rx->small;
	rx->cap = RX_SMALL;
	rx->head = 0;
	rx->tail = n;
}

static void buf_grow(struct conn_rx *rx)
{
	struct worker *w = rx->conn->worker;
	uint8_t *buf = buf_get(engine_bufs(w->engine), RX_BUF, BUF_NORMAL);
	struct pdu_pool *pool = w->pdus;

	if (!buf)
		return;		/* slower, but it goes on */
	memcpy(buf, rx->buf + rx->head, rx->tail - rx->head);
	rx->tail -= rx->head;
	rx->head = 0;
	rx->kind = RX_BUF_POOL;
	rx->buf = buf;
	rx->cap = RX_BUF - 1;
	list_add_tail(&pool->busy, &rx->in_busy);
	if (!etimer_running(&pool->sweep))
		etimer_start(w->engine, &pool->sweep, RX_IDLE_MS);
}

void rx_fini(struct conn *c)
{
	struct conn_rx *rx = c->rx;

	if (!rx)
		return;
	assert(!rx->in_flight);
	rx_control_put(rx);
	worker_buf_unwait(&rx->waiter);
	rx->head = rx->tail = 0;
	if (rx->kind != RX_BUF_SMALL)
		buf_shrink(rx);
	free(rx);
	c->rx = NULL;
}

void rx_sweep(struct etimer *t)
{
	struct pdu_pool *pool = container_of(t, struct pdu_pool, sweep);
	struct engine *e = pool->worker->engine;
	uint64_t now = engine_now(e);
	struct conn_rx *rx;

	list_for_each(rx, &pool->busy, in_busy) {
		if (now - rx->conn->heard < RX_IDLE_MS * 1000000ull ||
		    rx->cancelled || !rx->in_flight || rx->step != RX_HEADER ||
		    rx->tail - rx->head > RX_SMALL)
			continue;
		rx->shrink = true;
		rx_cancel(rx->conn);
	}
	if (!list_empty(&pool->busy))
		etimer_start(e, t, RX_IDLE_MS);
}

/* The bytes of a receive: the segment's place was filled first. */
static void rx_took(struct conn_rx *rx, uint32_t n)
{
	uint32_t body = rx_direct(rx) ? MIN(n, rx->body_left) : 0;

	if (body)
		rx_body_add(rx, NULL, body);
	rx->tail += n - body;
	assert(rx->tail <= rx->cap);
}

static void rx_done(struct ereq *r)
{
	struct conn_rx *rx = container_of(r, struct conn_rx, req);
	struct conn *c = rx->conn;
	int n = r->result;

	rx->in_flight = rx->cancelled = false;
	if (n > 0) {
		c->heard = engine_now(c->worker->engine);
		rx_took(rx, (uint32_t)n);
		rx->shrink = false;
		rx_run(c);
	} else if (n == -ECANCELED && c->state != CONN_CLEANUP) {
		if (rx->shrink && rx->kind == RX_BUF_POOL)
			buf_shrink(rx);
		rx->shrink = rx->busy = false;
		rx_run(c);
	} else {
		conn_close(c, n ? "cannot receive" : "closed by the peer");
	}
	if (c->session && c->session->drain_move)
		session_move_step(c->session);
	conn_io_done(c);
}

/* Makes room in the buffer for the rest of a header or tail. */
static void rx_compact(struct conn_rx *rx)
{
	uint32_t n = rx->tail - rx->head;

	if (rx->kind == RX_BUF_HEAP && n <= RX_SMALL) {
		buf_shrink(rx);
		return;
	}
	if (rx->head && (!n || rx->cap - rx->tail < RX_SMALL)) {
		memmove(rx->buf, rx->buf + rx->head, n);
		rx->head = 0;
		rx->tail = n;
	}
}

static void rx_arm(struct conn_rx *rx)
{
	struct conn *c = rx->conn;
	uint32_t room;
	int n = 0;

	if (rx->in_flight || rx->stopped || rx->waiting ||
	    c->state == CONN_CLEANUP)
		return;
	rx_compact(rx);
	if (rx->kind == RX_BUF_SMALL && rx->busy)
		buf_grow(rx);
	room = rx->cap - rx->tail;
	if (rx_direct(rx)) {
		rx->iov[n++] = (struct iovec){ rx->body, rx->body_left };
		if (rx->body_left >= RX_DIRECT)
			room = MIN(room, RX_SMALL);
	}
	assert(room || n);
	if (room)
		rx->iov[n++] = (struct iovec){ rx->buf + rx->tail, room };
	rx->req = (struct ereq){
		.op	= EREQ_RECV,
		.fd	= c->fd,
		.iov	= rx->iov,
		.niov	= n,
		.done	= rx_done,
	};
	rx->in_flight = true;
	rx->busy = true;
	c->refs_io++;
	engine_submit(c->worker->engine, &rx->req);
}

void rx_run(struct conn *c)
{
	struct conn_rx *rx = c->rx;

	if (c->state == CONN_CLEANUP)
		return;
	if (rx->in_run)
		return;		/* a handler made us go on: so we do */
	rx->in_run = true;
	rx->waiting = false;
	while (c->state != CONN_CLEANUP && !rx->waiting &&
	       !rx_should_stop(rx) && rx_step(rx))
		;
	rx->in_run = false;
	rx_arm(rx);
}

void rx_cancel(struct conn *c)
{
	struct conn_rx *rx = c->rx;

	if (!rx->in_flight || rx->cancelled)
		return;
	rx->cancelled = true;
	engine_cancel(c->worker->engine, &rx->req);
}

uint8_t *rx_take_bytes(struct conn *c, uint32_t *ret_n)
{
	struct conn_rx *rx = c->rx;
	uint32_t n = rx->tail - rx->head;
	uint8_t *bytes = malloc(n + 1);

	if (!bytes)
		return NULL;
	memcpy(bytes, rx->buf + rx->head, n);
	*ret_n = n;
	rx->head = rx->tail = 0;
	if (rx->kind != RX_BUF_SMALL)
		buf_shrink(rx);
	return bytes;
}

void rx_give_bytes(struct conn *c, uint8_t *bytes, uint32_t n)
{
	struct conn_rx *rx = c->rx;

	assert(rx->kind == RX_BUF_SMALL && rx->head == rx->tail);
	rx->kind = RX_BUF_HEAP;
	rx->buf = bytes;
	rx->cap = n;
	rx->head = 0;
	rx->tail = n;
}
