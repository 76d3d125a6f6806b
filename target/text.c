/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Text Requests (RFC 7143 6.4, 11.10, 11.11): one exchange at a time on a
 * connection, of one PDU or of several in either direction.  Its keys are
 * SendTargets (discovery.c) and what may be negotiated after login (keys.c).
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/limits.h"
#include "lib/util.h"
#include "target/session.h"
#include "target/text_int.h"

struct exchange {
	be32		 itt;
	uint32_t	 ttt;
	uint64_t	 seen;		/* keys.h */
	bool		 listed;	/* SendTargets was there */
	struct params	 params;	/* in force when the exchange ends */
	char		*in;		/* requests with C, put together */
	size_t		 in_len;
	struct text	 out;		/* on the heap */
	size_t		 sent;
};

void text_free(struct conn *c)
{
	struct exchange *x = c->text;

	if (!x)
		return;
	free(x->in);
	free(x->out.p);
	free(x);
	c->text = NULL;
}

static struct exchange *exchange_new(struct conn *c,
				     const struct bhs_text_request *req)
{
	struct exchange *x;

	text_free(c);
	x = calloc(1, sizeof(*x));
	if (!x)
		return NULL;
	x->itt = req->itt;
	x->ttt = c->stat_sn & ~(1u << 31);	/* never the reserved tag */
	x->params = c->params;
	c->text = x;
	return x;
}

/* The functions below return 0 or enum reject_reason. */

static int gather(struct exchange *x, const struct pdu_in *p)
{
	if (p->data_len > LOGIN_TEXT_MAX - x->in_len)
		return REJECT_RESOURCES;
	if (!x->in)
		x->in = malloc(LOGIN_TEXT_MAX);
	if (!x->in)
		return REJECT_RESOURCES;
	memcpy(x->in + x->in_len, p->data, p->data_len);
	x->in_len += p->data_len;
	return 0;
}

static int take_pair(struct conn *c, struct exchange *x, const char *key,
		     const char *value)
{
	int r;

	if (!strcmp(key, "SendTargets")) {
		if (x->listed)
			return REJECT_PROTOCOL;
		x->listed = true;
		r = discovery_send_targets(c, value, &x->out);
		if (r == -EINVAL)
			return REJECT_PROTOCOL;
		return r ? REJECT_RESOURCES : 0;
	}
	if (!text_reserve(&x->out, strlen(key) + 32, TEXT_OUT_MAX))
		return REJECT_RESOURCES;
	r = keys_negotiate(&x->params, KEYS_FULL_FEATURE,
			   c->session->discovery, &x->seen, key, value,
			   &x->out);
	if (r == -ENOENT)
		text_put(&x->out, key, "NotUnderstood");
	return r == -EPROTO ? REJECT_PROTOCOL : 0;
}

static int take_text(struct conn *c, struct exchange *x, char *text, size_t len)
{
	struct text_iter it = { text, text + len };
	char *key, *value;
	bool bad;
	int r;

	while (text_next(&it, &key, &value, &bad)) {
		r = take_pair(c, x, key, value);
		if (r)
			return r;
	}
	return bad ? REJECT_PROTOCOL : 0;
}

static int take_request(struct conn *c, struct exchange *x,
			const struct pdu_in *p)
{
	int r;

	if (x->sent < x->out.len)	/* our answer goes on first */
		return p->data_len ? REJECT_PROTOCOL : 0;
	x->out.len = x->sent = 0;
	if (p->bhs->any.flags & TEXT_CONTINUE)
		return gather(x, p);
	if (!x->in_len)
		return take_text(c, x, (char *)p->data, p->data_len);
	r = gather(x, p);
	if (!r)
		r = take_text(c, x, x->in, x->in_len);
	x->in_len = 0;
	return r;
}

/* The next part of the answer.  The exchange ends with the last one, if the
 * initiator wants that too. */
static int answer(struct conn *c, struct exchange *x,
		  const struct bhs_text_request *req)
{
	size_t left = x->out.len - x->sent;
	size_t max = MIN(c->params.MaxRecvDataSegmentLength, MAX_RECV_DSL);
	bool final = left <= max && req->flags & FLAG_FINAL;
	struct pdu_out *out = text_pdu(c, &x->out, &x->sent, MIN(left, max));
	struct bhs_text_response *rsp;

	if (!out)
		return REJECT_RESOURCES;
	rsp = &out->bhs.text_response;
	rsp->opcode = OP_TEXT_RESPONSE;
	rsp->flags = final ? FLAG_FINAL : left > max ? TEXT_CONTINUE : 0;
	memcpy(rsp->lun, req->lun, sizeof(rsp->lun));
	rsp->itt = x->itt;
	rsp->ttt = be32_of(final ? TAG_NONE : x->ttt);
	out->takes_stat_sn = true;
	conn_send(c, out);
	if (final) {
		c->params = x->params;
		text_free(c);
	}
	return 0;
}

void text_request(struct conn *c, struct pdu_in *p)
{
	const struct bhs_text_request *req = &p->bhs->text_request;
	uint32_t ttt = be32_get(req->ttt);
	struct exchange *x = c->text;
	int r = 0;

	if (ttt == TAG_NONE)
		x = exchange_new(c, req);
	else if (x && (x->ttt != ttt || memcmp(&x->itt, &req->itt, 4)))
		r = REJECT_PROTOCOL;
	if (!x)
		r = ttt == TAG_NONE ? REJECT_RESOURCES : REJECT_PROTOCOL;
	if (req->flags & FLAG_FINAL && req->flags & TEXT_CONTINUE)
		r = REJECT_PROTOCOL;
	if (!r)
		r = take_request(c, x, p);
	if (!r)
		r = answer(c, x, req);
	if (r) {
		text_free(c);
		conn_reject(c, p->bhs, (uint8_t)r);
	}
}
