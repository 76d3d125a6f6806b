/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Logout, RFC 7143 11.14 and 11.15.  With one connection in a session, closing
 * the connection and closing the session are the same.  The answer waits for
 * the end of the commands: who logs in again by another way must not meet a
 * late write of this session.
 */

#include "target/session_int.h"

static struct pdu_out *response_new(struct conn *c,
				    const struct bhs_logout_request *b,
				    enum logout_response response)
{
	struct pdu_out *p = pdu_new(c);

	if (!p)
		return NULL;
	p->bhs.logout_response.opcode = OP_LOGOUT_RESPONSE;
	p->bhs.logout_response.flags = FLAG_FINAL;
	p->bhs.logout_response.response = (uint8_t)response;
	p->bhs.logout_response.itt = b->itt;
	p->bhs.logout_response.time2wait =
		be16_of((uint16_t)c->params.DefaultTime2Wait);
	p->takes_stat_sn = true;
	return p;
}

static void refuse(struct conn *c, const struct bhs_logout_request *b,
		   enum logout_response response)
{
	struct pdu_out *p = response_new(c, b, response);

	if (p)
		conn_send(c, p);
}

void logout_finish(struct session *s)
{
	struct pdu_out *p = s->logout;

	s->logout = NULL;
	conn_send(s->conn, p);
	conn_close_after_send(s->conn, "logged out");
}

void logout_request(struct conn *c, struct pdu_in *p)
{
	const struct bhs_logout_request *b = &p->bhs->logout_request;
	unsigned reason = b->flags & LOGOUT_REASON;
	struct session *s = c->session;

	if (reason > LOGOUT_RECOVERY) {
		conn_reject(c, p->bhs, REJECT_INVALID_FIELD);
		return;
	}
	if (reason == LOGOUT_RECOVERY) {
		refuse(c, b, LOGOUT_NO_RECOVERY);
		return;
	}
	if (reason == LOGOUT_CONNECTION && be16_get(b->cid) != c->cid) {
		refuse(c, b, LOGOUT_NO_CID);
		return;
	}
	if (!conn_event(c, EV_LOGOUT))
		return;
	c->rx->draining = true;
	s->logout = response_new(c, b, LOGOUT_CLOSED);
	if (!s->logout)
		return;
	session_lose(s);
	if (s->gone)
		logout_finish(s);
}
