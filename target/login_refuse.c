/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * How a login fails: one row for each way, with the status that the initiator
 * gets (RFC 7143 11.13.5) and what the administrator is told.  The last ones
 * are kept for "session refused".
 */

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "lib/log.h"
#include "lib/util.h"
#include "target/login_int.h"

struct refusal_row {
	uint16_t	 status;
	const char	*reason, *remedy;
};

#define INITIATOR_FAULT "report it to the initiator's maker"
#define TRY_AGAIN "the initiator tries again by itself"

static const struct refusal_row rows[REFUSALS] = {
	[REFUSE_VERSION] = { LOGIN_BAD_VERSION,
		"no iSCSI version in common",
		"use an initiator that speaks version 0 (RFC 7143)" },
	[REFUSE_HEADER] = { LOGIN_INITIATOR_ERROR,
		"malformed Login Request", INITIATOR_FAULT },
	[REFUSE_CHANGED] = { LOGIN_INITIATOR_ERROR,
		"ISID, TSIH, CID, task tag or CmdSN changed during login",
		INITIATOR_FAULT },
	[REFUSE_STAGE] = { LOGIN_INITIATOR_ERROR,
		"stage of login not allowed here", INITIATOR_FAULT },
	[REFUSE_LOOP] = { LOGIN_INITIATOR_ERROR,
		"too many requests in one stage of login", INITIATOR_FAULT },
	[REFUSE_TEXT] = { LOGIN_INITIATOR_ERROR,
		"malformed text keys", INITIATOR_FAULT },
	[REFUSE_TEXT_SIZE] = { LOGIN_INITIATOR_ERROR,
		"too much text", INITIATOR_FAULT },
	[REFUSE_ANSWER_SIZE] = { LOGIN_NO_RESOURCES,
		"answer to the text keys too long", INITIATOR_FAULT },
	[REFUSE_KEY] = { LOGIN_INITIATOR_ERROR,
		"text key repeated, not allowed here or of bad value",
		INITIATOR_FAULT },
	[REFUSE_BURST] = { LOGIN_INITIATOR_ERROR,
		"FirstBurstLength above MaxBurstLength",
		"lower FirstBurstLength in the initiator's settings" },
	[REFUSE_NAME] = { LOGIN_INITIATOR_ERROR,
		"malformed iSCSI name",
		"correct the name in the initiator's settings" },
	[REFUSE_NO_INITIATOR] = { LOGIN_MISSING_PARAMETER,
		"InitiatorName missing", "give the initiator a name" },
	[REFUSE_NO_TARGET] = { LOGIN_MISSING_PARAMETER,
		"TargetName missing", "name a target, or make it a discovery" },
	[REFUSE_SESSION_TYPE] = { LOGIN_BAD_SESSION_TYPE,
		"unknown SessionType", INITIATOR_FAULT },
	[REFUSE_NOT_FOUND] = { LOGIN_NOT_FOUND,
		"no such target",
		"compare the name with 'lunadm target list'" },
	[REFUSE_FORBIDDEN] = { LOGIN_FORBIDDEN,
		"no rule lets this initiator in",
		"lunadm acl allow TARGET INITIATOR" },
	[REFUSE_UNAVAILABLE] = { LOGIN_UNAVAILABLE,
		"target is disabled or being changed",
		"lunadm target enable TARGET" },
	[REFUSE_NEEDS_CHAP] = { LOGIN_AUTH_FAILED,
		"target needs CHAP and the initiator does not offer it",
		"set CHAP user and secret on the initiator" },
	[REFUSE_NO_USER] = { LOGIN_AUTH_FAILED,
		"target needs CHAP and has no user for this initiator",
		"lunadm chap set TARGET USER --initiator INITIATOR" },
	[REFUSE_NO_SECRET] = { LOGIN_AUTH_FAILED,
		"initiator insists on authentication, target has no CHAP user",
		"lunadm chap set TARGET USER, or CHAP off on the initiator" },
	[REFUSE_ALGORITHM] = { LOGIN_AUTH_FAILED,
		"no CHAP algorithm in common",
		"let the initiator offer MD5, SHA1, SHA-256 or SHA3-256" },
	[REFUSE_MUTUAL] = { LOGIN_AUTH_FAILED,
		"initiator asks for mutual CHAP, which is not set up",
		"turn mutual CHAP off on the initiator" },
	[REFUSE_AUTH_ORDER] = { LOGIN_AUTH_FAILED,
		"CHAP keys out of order", INITIATOR_FAULT },
	[REFUSE_RESPONSE] = { LOGIN_AUTH_FAILED,
		"wrong CHAP user or secret",
		"set the same user and secret on both sides" },
	[REFUSE_REQUEST] = { LOGIN_INVALID_REQUEST,
		"another request than login before login ended",
		INITIATOR_FAULT },
	[REFUSE_TIMEOUT] = { 0,
		"login took too long", "look at the network" },
	[REFUSE_TOO_MANY_CONNS] = { LOGIN_TOO_MANY_CONNS,
		"more than one connection for a session",
		"set MaxConnections to 1 on the initiator" },
	[REFUSE_CANNOT_INCLUDE] = { LOGIN_CANNOT_INCLUDE,
		"session cannot span to this portal",
		"set MaxConnections to 1 on the initiator" },
	[REFUSE_NO_SESSION] = { LOGIN_NO_SESSION,
		"connection for a session that is not there", TRY_AGAIN },
	[REFUSE_RESOURCES] = { LOGIN_NO_RESOURCES,
		"out of memory or sessions", TRY_AGAIN },
	[REFUSE_TARGET_ERROR] = { LOGIN_TARGET_ERROR,
		"internal error", "look at the log" },
};

/* The ring: one for all workers. */
static struct {
	pthread_mutex_t		lock;
	struct login_refusal	last[LOGIN_REFUSALS];
	unsigned		n;	/* refusals so far */
} refused = { .lock = PTHREAD_MUTEX_INITIALIZER };

enum refusal refusal_of_status(uint16_t status)
{
	switch ((enum login_status)status) {
	case LOGIN_SUCCESS:
		return REFUSE_NOT;
	case LOGIN_FORBIDDEN:
		return REFUSE_FORBIDDEN;
	case LOGIN_NOT_FOUND:
		return REFUSE_NOT_FOUND;
	case LOGIN_UNAVAILABLE:
		return REFUSE_UNAVAILABLE;
	case LOGIN_TOO_MANY_CONNS:
		return REFUSE_TOO_MANY_CONNS;
	case LOGIN_CANNOT_INCLUDE:
		return REFUSE_CANNOT_INCLUDE;
	case LOGIN_NO_SESSION:
		return REFUSE_NO_SESSION;
	case LOGIN_NO_RESOURCES:
		return REFUSE_RESOURCES;
	case LOGIN_BAD_SESSION_TYPE:
		return REFUSE_SESSION_TYPE;
	case LOGIN_INITIATOR_ERROR:
		return REFUSE_HEADER;
	default:
		return REFUSE_TARGET_ERROR;
	}
}

static void remember(const struct login *l, const struct refusal_row *row,
		     const char *address)
{
	struct login_refusal *r;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	pthread_mutex_lock(&refused.lock);
	r = &refused.last[refused.n++ % LOGIN_REFUSALS];
	*r = (struct login_refusal){
		.time	= (uint64_t)now.tv_sec,
		.status	= row->status,
		.reason	= row->reason,
		.remedy	= row->remedy,
	};
	memcpy(r->initiator, l->initiator, sizeof(r->initiator));
	memcpy(r->target, l->target, sizeof(r->target));
	memcpy(r->address, address, strnlen(address, ADDR_TEXT - 1));
	pthread_mutex_unlock(&refused.lock);
}

void login_refusals(void (*fn)(void *arg, const struct login_refusal *r),
		    void *arg)
{
	unsigned i;

	pthread_mutex_lock(&refused.lock);
	i = refused.n > LOGIN_REFUSALS ? refused.n - LOGIN_REFUSALS : 0;
	for (; i < refused.n; i++)
		fn(arg, &refused.last[i % LOGIN_REFUSALS]);
	pthread_mutex_unlock(&refused.lock);
}

static bool send_refusal(struct conn *c, const union bhs *bhs, uint16_t status)
{
	struct pdu_out *out = pdu_new(c);
	struct bhs_login_response *rsp;

	if (!out)
		return false;
	rsp = &out->bhs.login_response;
	rsp->opcode = OP_LOGIN_RESPONSE;
	rsp->itt = bhs->any.itt;
	if (bhs_opcode(bhs) == OP_LOGIN_REQUEST) {
		memcpy(rsp->isid, bhs->login_request.isid, sizeof(rsp->isid));
		rsp->tsih = bhs->login_request.tsih;
	}
	rsp->status = be16_of(status);
	out->takes_stat_sn = true;
	conn_send(c, out);
	return true;
}

void login_refuse(struct conn *c, const union bhs *bhs, enum refusal why)
{
	const struct refusal_row *row = &rows[why];
	struct login *l = c->login;
	char address[ADDR_TEXT];

	l->refused = true;
	addr_text((const struct sockaddr *)&c->remote, address);
	remember(l, row, address);
	log_peer("login of %s (%s) to %s refused, status %04x: %s; %s",
		 l->initiator[0] ? l->initiator : "an unnamed initiator",
		 address, l->target[0] ? l->target : "no target", row->status,
		 row->reason, row->remedy);
	if (bhs && send_refusal(c, bhs, row->status))
		conn_close_after_send(c, row->reason);
	else
		conn_close(c, row->reason);
}

void login_refuse_request(struct conn *c, const union bhs *bhs)
{
	if (!c->login)
		conn_close(c, "request before login");
	else if (!c->login->refused)
		login_refuse(c, bhs, REFUSE_REQUEST);
}
