/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * From bytes to PDUs: header with AHS and digest, data segment, padding with
 * digest, then the handler of the PDU's row.  A PDU that cannot be understood
 * ends its connection, since nobody knows where the next one begins.
 */

#include "lib/buf.h"
#include "lib/crc32c.h"
#include "target/login.h"
#include "target/rx_int.h"

static uint32_t tail_len(const struct conn_rx *rx)
{
	if (!rx->data_len)
		return 0;
	return (-rx->data_len & 3) +
	       (rx->conn->data_digest ? DIGEST_LEN : 0);
}

static uint32_t data_limit(const struct conn *c)
{
	if (c->state == CONN_IN_LOGIN)
		return DSL_DEFAULT;
	return c->params.own_recv_dsl;
}

void rx_body_add(struct conn_rx *rx, const uint8_t *src, uint32_t n)
{
	if (rx->body) {
		if (src)
			memcpy(rx->body, src, n);
		if (rx->conn->data_digest)
			rx->crc = crc32c_add(rx->crc, rx->body, n);
		rx->body += n;
	}
	rx->body_left -= n;
}

void rx_control_put(struct conn_rx *rx)
{
	if (rx->control_size)
		worker_buf_put(rx->conn->worker, rx->control,
			       rx->control_size);
	rx->control_size = 0;
	rx->control = NULL;
}

/*
 * AHS are walked for their lengths alone; 0, or why they are refused.  We have
 * no command with a CDB above 16 bytes, and none that moves data both ways.
 */
static int check_ahs(const uint8_t *ahs, uint32_t len)
{
	struct cur cur = cur_of(ahs, len);
	const uint8_t *h;

	while (cur_left(&cur)) {
		h = cur_take(&cur, 4);
		if (!h)
			return REJECT_INVALID_FIELD;
		if (h[2] == AHS_EXTENDED_CDB || h[2] == AHS_BIDI_READ_LENGTH)
			return REJECT_NOT_SUPPORTED;
		/* AHSLength counts what follows its third byte */
		if (!cur_take(&cur, round_up(be16_get(BE_AT(be16, h, 0)) + 3u,
					     4) - 4))
			return REJECT_INVALID_FIELD;
	}
	return 0;
}

static void header_data(struct conn_rx *rx)
{
	struct conn *c = rx->conn;
	const union bhs *b = &rx->bhs;
	int reject = 0;

	rx->op = pdu_op_of(bhs_opcode(b));
	if (rx->ahs_reject)
		reject = rx->ahs_reject;
	else if (!pdu_legal(c, rx->op))
		reject = REJECT_PROTOCOL;
	if (reject) {
		if (c->state == CONN_IN_LOGIN)	/* an AHS we refuse */
			login_refuse_request(c, b);
		else
			conn_reject(c, b, (uint8_t)reject);
		rx->op = NULL;
		rx->sink = SINK_DROP;
		return;
	}
	rx->sink = rx->data_len ? SINK_CONTROL : SINK_NONE;
	if (rx->op->begin)
		rx->op->begin(c, b);
}

/* The header is whole: where does its data go? */
static void header_done(struct conn_rx *rx)
{
	struct conn *c = rx->conn;

	rx->data_len = be24_get(rx->bhs.any.data_len);
	rx->body = NULL;
	rx->body_left = rx->data_len;
	rx->task = NULL;
	rx->crc = crc32c_init();
	rx->sink = SINK_DROP;
	rx->op = NULL;
	rx->step = RX_BODY;
	if (rx->data_len > data_limit(c))
		conn_close(c, "data segment longer than we take");
	else if (!rx->draining)
		header_data(rx);
}

/*
 * Who has not logged in and sends something else is no initiator: what more its
 * header promises is not waited for, and nobody knows where it would end.
 */
static bool is_stranger(struct conn_rx *rx)
{
	struct conn *c = rx->conn;

	if (c->state != CONN_IN_LOGIN ||
	    pdu_legal(c, pdu_op_of(bhs_opcode(&rx->bhs))))
		return false;
	rx->head = rx->tail;
	if (!rx->draining)
		login_refuse_request(c, &rx->bhs);
	return true;
}

static bool step_header(struct conn_rx *rx)
{
	struct conn *c = rx->conn;
	uint32_t have = rx->tail - rx->head, len, ahs;
	const uint8_t *p = rx->buf + rx->head;

	if (have < BHS_LEN)
		return false;
	memcpy(&rx->bhs, p, BHS_LEN);
	if (is_stranger(rx))
		return false;
	ahs = rx->bhs.any.ahs_len * 4u;
	len = BHS_LEN + ahs;
	if (have < len + (c->header_digest ? DIGEST_LEN : 0))
		return false;
	if (c->header_digest) {
		be32 digest = crc32c(p, len);

		if (memcmp(&digest, p + len, DIGEST_LEN)) {
			/* RFC 7143 7.8: no later PDU can be found */
			conn_close(c, "header digest error");
			return false;
		}
		rx->head += DIGEST_LEN;
	}
	rx->head += len;
	rx->ahs_reject = (uint8_t)check_ahs(p + BHS_LEN, ahs);
	header_done(rx);
	return true;
}

/* Control data must be in one piece: here in the receive buffer, or in a
 * buffer of its own.  false: there is none yet. */
static bool control_place(struct conn_rx *rx)
{
	struct conn *c = rx->conn;
	uint32_t size = rx->data_len + 1;

	if (rx->tail - rx->head >= rx->data_len + tail_len(rx)) {
		rx->control = rx->body = rx->buf + rx->head;
		return true;
	}
	rx->control = buf_get(engine_bufs(c->worker->engine), size,
			      BUF_RESERVED);
	if (!rx->control) {
		rx->waiting = true;
		worker_buf_wait(c->worker, &rx->waiter);
		return false;
	}
	rx->control_size = size;
	rx->body = rx->control;
	return true;
}

static bool step_body(struct conn_rx *rx)
{
	uint32_t n;

	if (rx->sink == SINK_CONTROL && !rx->control && !control_place(rx))
		return false;
	n = MIN(rx->tail - rx->head, rx->body_left);
	if (n) {
		/* In its place already when that is the receive buffer. */
		bool here = rx->body == rx->buf + rx->head;

		rx_body_add(rx, here ? NULL : rx->buf + rx->head, n);
		rx->head += n;
	}
	if (rx->body_left)
		return false;
	rx->step = RX_TAIL;
	return true;
}

static void deliver(struct conn_rx *rx, bool damaged)
{
	struct conn *c = rx->conn;
	const struct pdu_op *op = rx->op;
	struct pdu_in p = {
		.bhs		= &rx->bhs,
		.data		= rx->control,
		.data_len	= rx->data_len,
		.task		= rx->task,
	};

	rx->task = NULL;
	if (damaged) {
		conn_reject(c, &rx->bhs, REJECT_DATA_DIGEST);
		if (p.task)
			task_data_damaged(c, p.task);
	} else if (op->ordered) {
		cmdsn_take(c, op, &p);
	} else {
		op->handle(c, &p);
	}
}

/* A NUL behind the data, for handlers of text: the byte there may be the next
 * PDU's first. */
static void deliver_control(struct conn_rx *rx, bool damaged)
{
	uint8_t *end = rx->control + rx->data_len;
	uint8_t saved = *end;

	*end = '\0';
	deliver(rx, damaged);
	if (rx->control_size)
		rx_control_put(rx);
	else
		*end = saved;
	rx->control = NULL;
}

static bool step_tail(struct conn_rx *rx)
{
	uint32_t len = tail_len(rx), pad = -rx->data_len & 3;
	const uint8_t *p = rx->buf + rx->head;
	bool damaged = false;

	if (rx->tail - rx->head < len)
		return false;
	rx->head += len;
	if (len > pad && rx->body) {
		be32 digest = crc32c_final(crc32c_add(rx->crc, p, pad));

		damaged = memcmp(&digest, p + pad, DIGEST_LEN) != 0;
	}
	rx->step = RX_HEADER;
	if (!rx->op)
		return true;
	if (rx->control)
		deliver_control(rx, damaged);
	else
		deliver(rx, damaged);
	return true;
}

bool rx_step(struct conn_rx *rx)
{
	switch (rx->step) {
	case RX_HEADER:
		return step_header(rx);
	case RX_BODY:
		return step_body(rx);
	case RX_TAIL:
		return step_tail(rx);
	}
	return false;
}

/*
 * While a session is to be moved, its connection stops between two PDUs, unless
 * something waits for a PDU that is still to come, or for the peer's close.
 */
bool rx_should_stop(struct conn_rx *rx)
{
	const struct session *s = rx->conn->session;

	rx->stopped = s && s->drain_move && !rx->draining &&
		      rx->step == RX_HEADER && !s->soliciting &&
		      !rx->conn->text && list_empty(&s->held);
	return rx->stopped;
}
