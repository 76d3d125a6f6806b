/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Asynchronous Message, RFC 7143 11.9: the one kind that we send. */

#include "target/session_int.h"

/* Log out within so many seconds. */
void async_logout_request(struct conn *c, unsigned seconds)
{
	struct pdu_out *p = pdu_new(c);

	if (!p)
		return;
	p->bhs.async.opcode = OP_ASYNC;
	p->bhs.async.flags = FLAG_FINAL;
	p->bhs.async.itt = be32_of(TAG_NONE);
	p->bhs.async.event = ASYNC_LOGOUT_REQUEST;
	p->bhs.async.parameter3 = be16_of((uint16_t)seconds);
	p->takes_stat_sn = true;
	conn_send(c, p);
}
