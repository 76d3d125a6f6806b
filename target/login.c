/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Login (RFC 7143 6.3, 11.12, 11.13): the stages and their transitions, text
 * that spans PDUs in either direction, and the end, where a session begins.
 * What the keys mean is in login_keys.c, how it fails in login_refuse.c.
 */

#include "target/login.h"

#include <assert.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/util.h"
#include "target/login_int.h"
#include "target/session.h"

static_assert(LOGIN_PDUS_MAX >= 6, "a host's login takes six requests a stage");

/* From which stage to which, RFC 7143 6.3. */
static const bool transit_ok[4][4] = {
	[STAGE_SECURITY] = {
		[STAGE_OPERATIONAL] = true, [STAGE_FULL_FEATURE] = true,
	},
	[STAGE_OPERATIONAL] = { [STAGE_FULL_FEATURE] = true },
};

static void login_timeout(struct etimer *t)
{
	struct conn *c = container_of(t, struct conn, timer);

	if (c->login && c->login->held_back)
		login_refuse_now(c);
	else if (c->login && !c->login->refused)
		login_refuse(c, NULL, REFUSE_TIMEOUT);
	else
		conn_close(c, "login refused");
}

void login_init(struct conn *c)
{
	struct login *l = malloc(sizeof(*l));

	keys_init(&c->params);
	etimer_init(&c->timer, login_timeout);
	etimer_start(c->worker->engine, &c->timer, LOGIN_SECONDS * 1000);
	c->login = l;
	if (!l)
		return;		/* login_request() closes */
	/* the memory for the answer stays as it is */
	memset(l, 0, offsetof(struct login, reply_mem));
	l->reply.p = l->reply_mem;
	l->reply.room = sizeof(l->reply_mem);
}

void login_free(struct conn *c)
{
	struct login *l = c->login;

	if (!l)
		return;
	etimer_stop(&c->timer);
	OPENSSL_cleanse(&l->chap, sizeof(l->chap));
	free(l->text);
	free(l);
	c->login = NULL;
}

static enum refusal check_first(struct login *l, const struct pdu_in *p)
{
	const struct bhs_login_request *req = &p->bhs->login_request;
	uint8_t stage = (req->flags & LOGIN_CSG) >> LOGIN_CSG_SHIFT;

	l->begun = true;
	l->first = *req;
	if (req->version_min > 0)
		return REFUSE_VERSION;
	if (stage != STAGE_SECURITY && stage != STAGE_OPERATIONAL)
		return REFUSE_STAGE;
	l->stage = stage;
	return REFUSE_NOT;
}

static bool same_login(const struct bhs_login_request *a,
		       const struct bhs_login_request *b)
{
	return !memcmp(a->isid, b->isid, sizeof(a->isid)) &&
	       !memcmp(&a->tsih, &b->tsih, sizeof(a->tsih)) &&
	       !memcmp(&a->itt, &b->itt, sizeof(a->itt)) &&
	       !memcmp(&a->cid, &b->cid, sizeof(a->cid)) &&
	       !memcmp(&a->cmd_sn, &b->cmd_sn, sizeof(a->cmd_sn));
}

static enum refusal check_header(struct login *l, const struct pdu_in *p)
{
	const struct bhs_login_request *req = &p->bhs->login_request;
	uint8_t stage = (req->flags & LOGIN_CSG) >> LOGIN_CSG_SHIFT;
	enum refusal why = l->begun ? REFUSE_NOT : check_first(l, p);

	if (why)
		return why;
	if (!same_login(req, &l->first))
		return REFUSE_CHANGED;
	if (req->ahs_len ||
	    (req->flags & LOGIN_TRANSIT && req->flags & LOGIN_CONTINUE))
		return REFUSE_HEADER;
	if (stage != l->stage)
		return REFUSE_STAGE;
	if (req->flags & LOGIN_TRANSIT &&
	    !transit_ok[stage][req->flags & LOGIN_NSG])
		return REFUSE_STAGE;
	return ++l->pdus > LOGIN_PDUS_MAX ? REFUSE_LOOP : REFUSE_NOT;
}

/* Adds a request's text to that of those before it. */
static enum refusal gather(struct login *l, const struct pdu_in *p)
{
	if (p->data_len > LOGIN_TEXT_MAX - l->text_len)
		return REFUSE_TEXT_SIZE;
	if (!l->text)
		l->text = malloc(LOGIN_TEXT_MAX);
	if (!l->text)
		return REFUSE_RESOURCES;
	memcpy(l->text + l->text_len, p->data, p->data_len);
	l->text_len += p->data_len;
	return REFUSE_NOT;
}

static enum refusal take_text(struct conn *c, char *text, size_t len)
{
	struct text_iter it = { text, text + len };
	struct text_pair pairs[LOGIN_KEYS_MAX];
	unsigned n = 0;
	char *key, *value;
	bool bad;

	while (text_next(&it, &key, &value, &bad)) {
		if (n == LOGIN_KEYS_MAX)
			return REFUSE_TEXT_SIZE;
		pairs[n++] = (struct text_pair){ key, value };
	}
	if (bad)
		return REFUSE_TEXT;
	/* firmware is known to begin with an empty request; names are due with
	 * the first keys */
	if (!n && !c->login->named)
		return REFUSE_NOT;
	return login_keys(c, pairs, n);
}

static enum refusal take_request(struct conn *c, const struct pdu_in *p)
{
	struct login *l = c->login;
	enum refusal why;

	if (l->reply_sent < l->reply.len)	/* our answer goes on first */
		return p->data_len ? REFUSE_TEXT : REFUSE_NOT;
	l->reply.len = l->reply_sent = 0;
	if (p->bhs->login_request.flags & LOGIN_CONTINUE)
		return gather(l, p);
	if (!l->text_len) {
		if (p->data_len > LOGIN_TEXT_MAX)
			return REFUSE_TEXT_SIZE;
		return take_text(c, (char *)p->data, p->data_len);
	}
	why = gather(l, p);
	if (!why)
		why = take_text(c, l->text, l->text_len);
	l->text_len = 0;
	return why;
}

/* Is the stage done, so that the initiator's wish to go on is granted? */
static enum refusal stage_done(const struct login *l, bool *ret_done)
{
	*ret_done = true;
	if (l->stage != STAGE_SECURITY || !l->auth_needed ||
	    l->auth == AUTH_DONE)
		return REFUSE_NOT;
	*ret_done = false;
	return l->auth == AUTH_START ? REFUSE_NEEDS_CHAP : REFUSE_NOT;
}

/* Is the target to be found elsewhere?  Told to who has been let in alone. */
static enum refusal redirected(struct login *l)
{
	char address[ADDR_TEXT];
	bool permanent;

	if (l->discovery || !tgt_redirect(l->target, address, &permanent))
		return REFUSE_NOT;
	l->reply.len = l->reply_sent = 0;
	text_put(&l->reply, "TargetAddress", address);
	return permanent ? REFUSE_MOVED_FOR_EVER : REFUSE_MOVED;
}

static enum refusal begin_session(struct conn *c)
{
	struct login *l = c->login;
	struct session_request r = {
		.initiator	= l->initiator,
		.target		= l->discovery ? NULL : l->target,
		.chap_user	= l->chap_user,
		.tsih		= be16_get(l->first.tsih),
		.cmd_sn		= be32_get(l->first.cmd_sn),
	};
	enum refusal why;

	if (!l->named)
		return REFUSE_NO_INITIATOR;
	if (!l->auth_needed) {		/* still so? */
		why = auth_need(l);
		if (why || l->auth_needed)
			return why ? why : REFUSE_NEEDS_CHAP;
	}
	if (keys_finish(&c->params, l->seen))
		return REFUSE_BURST;
	why = redirected(l);
	if (why)
		return why;
	memcpy(r.isid, l->first.isid, sizeof(r.isid));
	c->cid = be16_get(l->first.cid);
	return refusal_of_status(session_begin(c, &r));
}

static void send_response(struct conn *c, struct pdu_out *out, uint8_t flags)
{
	const struct login *l = c->login;
	struct bhs_login_response *rsp = &out->bhs.login_response;

	rsp->opcode = OP_LOGIN_RESPONSE;
	rsp->flags = flags;
	memcpy(rsp->isid, l->first.isid, sizeof(rsp->isid));
	rsp->tsih = c->session ? be16_of(c->session->tsih) : l->first.tsih;
	rsp->itt = l->first.itt;
	rsp->status = be16_of(LOGIN_SUCCESS);
	out->takes_stat_sn = true;
	conn_send(c, out);
}

static void enter_full_feature(struct conn *c)
{
	const struct login *l = c->login;
	char address[ADDR_TEXT];

	log_info("%s (%s) logged in to %s", l->initiator,
		 addr_text((const struct sockaddr *)&c->remote, address),
		 l->discovery ? "discovery" : l->target);
	login_free(c);
	conn_logged_in(c);
}

/* Which stage follows this request; the last one begins the session. */
static enum refusal next_stage(struct conn *c, uint8_t flags, uint8_t *ret_next)
{
	enum refusal why;
	bool done;

	if (!(flags & LOGIN_TRANSIT))
		return REFUSE_NOT;
	why = stage_done(c->login, &done);
	if (why || !done)
		return why;
	*ret_next = flags & LOGIN_NSG;
	return *ret_next == STAGE_FULL_FEATURE ? begin_session(c) : REFUSE_NOT;
}

static void enter_stage(struct conn *c, uint8_t stage)
{
	struct login *l = c->login;

	if (stage == STAGE_FULL_FEATURE) {
		enter_full_feature(c);
		return;
	}
	l->stage = stage;
	l->pdus = l->said = 0;
	keys_new_stage(&l->seen);
}

/* The longest part of the answer that an initiator takes during login; the
 * stage ends with the last part. */
static enum refusal answer(struct conn *c, const struct pdu_in *p)
{
	struct login *l = c->login;
	size_t left = l->reply.len - l->reply_sent;
	uint8_t stage = l->stage, next = stage;
	uint8_t flags = (uint8_t)(stage << LOGIN_CSG_SHIFT);
	enum refusal why = REFUSE_NOT;
	struct pdu_out *out;

	if (left > DSL_DEFAULT)
		flags |= LOGIN_CONTINUE;
	else
		why = next_stage(c, p->bhs->login_request.flags, &next);
	if (why)
		return why;
	if (next != stage)
		flags |= LOGIN_TRANSIT | next;
	out = text_pdu(c, &l->reply, &l->reply_sent, MIN(left, DSL_DEFAULT));
	if (!out)
		return REFUSE_RESOURCES;
	send_response(c, out, flags);
	if (next != stage)
		enter_stage(c, next);
	return REFUSE_NOT;
}

void login_request(struct conn *c, struct pdu_in *p)
{
	struct login *l = c->login;
	enum refusal why;

	if (!l && c->session) {
		conn_reject(c, p->bhs, REJECT_PROTOCOL);
		return;
	}
	if (!l) {
		conn_close(c, "out of memory");
		return;
	}
	if (l->refused)
		return;
	c->login_cmd_sn = be32_get(p->bhs->login_request.cmd_sn);
	why = check_header(l, p);
	if (!why)
		why = take_request(c, p);
	if (!why)
		why = answer(c, p);
	if (why)
		login_refuse(c, p->bhs, why);
}
