/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reject, RFC 7143 11.17, and the PDUs that always earn one. */

#include "lib/buf.h"
#include "lib/log.h"
#include "target/session_int.h"

void conn_reject(struct conn *c, const union bhs *bhs, uint8_t reason)
{
	struct pdu_out *p;
	void *data;

	if (conn_closing(c))
		return;
	data = buf_get(engine_bufs(c->worker->engine), BHS_LEN, BUF_RESERVED);
	if (!data) {
		conn_close(c, "no buffer for a Reject");
		return;
	}
	log_peer("PDU %02xh rejected, reason %02xh", bhs_opcode(bhs), reason);
	memcpy(data, bhs, BHS_LEN);
	p = pdu_new(c);
	if (!p) {
		worker_buf_put(c->worker, data, BHS_LEN);
		return;
	}
	p->bhs.reject.opcode = OP_REJECT;
	p->bhs.reject.flags = FLAG_FINAL;
	p->bhs.reject.reason = reason;
	p->bhs.reject.itt = be32_of(TAG_NONE);
	p->data = data;
	p->data_len = p->owned = BHS_LEN;
	p->takes_stat_sn = true;
	conn_send(c, p);
}

/* ErrorRecoveryLevel is 0: nothing is ever sent again. */
void snack_request(struct conn *c, struct pdu_in *p)
{
	conn_reject(c, p->bhs, REJECT_SNACK);
}

void unknown_request(struct conn *c, struct pdu_in *p)
{
	conn_reject(c, p->bhs, REJECT_NOT_SUPPORTED);
}
