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
		"lunadm chap set TARGET USER --mutual NAME, or mutual CHAP "
		"off on the initiator" },
	[REFUSE_REFLECTION] = { LOGIN_AUTH_FAILED,
		"initiator sent our own CHAP challenge back",
		"find out who that is: it does not know the secret" },
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
	[REFUSE_MOVED] = { LOGIN_MOVED_TEMPORARILY,
		"redirected", "lunadm target set TARGET redirect= ends that" },
	[REFUSE_MOVED_FOR_EVER] = { LOGIN_MOVED_PERMANENTLY,
		"redirected for good",
		"lunadm target set TARGET redirect= ends that" },
};

/* One list for all workers; the latest is the last. */
static struct {
	pthread_mutex_t		lock;
	struct login_refusal	last[LOGIN_REFUSALS];
	unsigned		n;
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

static size_t host_len(const char *address)
{
	const char *port = strrchr(address, ':');

	return port ? (size_t)(port - address) : strlen(address);
}

static bool same_refusal(const struct login_refusal *a,
			 const struct login_refusal *b)
{
	size_t n = host_len(a->address);

	return a->reason == b->reason && n == host_len(b->address) &&
	       !memcmp(a->address, b->address, n) &&
	       !strcmp(a->initiator, b->initiator) &&
	       !strcmp(a->target, b->target);
}

/* How often the same was refused. */
static unsigned remember(const struct login *l, const struct refusal_row *row,
			 const char *address)
{
	struct login_refusal now = {
		.status	= row->status,
		.reason	= row->reason,
		.remedy	= row->remedy,
		.count	= 1,
	};
	unsigned i;

	now.time = (uint64_t)time(NULL);
	memcpy(now.initiator, l->initiator, sizeof(now.initiator));
	memcpy(now.target, l->target, sizeof(now.target));
	memcpy(now.address, address, strnlen(address, ADDR_TEXT - 1));
	pthread_mutex_lock(&refused.lock);
	for (i = 0; i < refused.n && !same_refusal(&refused.last[i], &now); )
		i++;
	if (i < refused.n)
		now.count += refused.last[i].count;
	else if (refused.n < LOGIN_REFUSALS)
		refused.n++;
	else
		i = 0;
	/* the latest is the last one */
	memmove(&refused.last[i], &refused.last[i + 1],
		(refused.n - 1 - i) * sizeof(refused.last[0]));
	refused.last[refused.n - 1] = now;
	pthread_mutex_unlock(&refused.lock);
	return now.count;
}

void login_refusals(void (*fn)(void *arg, const struct login_refusal *r),
		    void *arg)
{
	unsigned i;

	pthread_mutex_lock(&refused.lock);
	for (i = 0; i < refused.n; i++)
		fn(arg, &refused.last[i]);
	pthread_mutex_unlock(&refused.lock);
}

/* A class of status that comes with text, TargetAddress. */
static bool is_redirection(uint16_t status)
{
	return status >> 8 == 1;
}

static bool send_refusal(struct conn *c, const union bhs *bhs, uint16_t status)
{
	struct login *l = c->login;
	struct bhs_login_response *rsp;
	struct pdu_out *out;

	out = is_redirection(status) ?
		text_pdu(c, &l->reply, &l->reply_sent, l->reply.len) :
		pdu_new(c);

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

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* What is repeated is told each time that its number has doubled. */
static void tell(const struct login *l, const struct refusal_row *row,
		 const char *address)
{
	unsigned count = remember(l, row, address);

	if (count & (count - 1))
		return;
	log_peer("login of %s (%s) to %s refused (%u), status %04x: %s; %s",
		 l->initiator[0] ? l->initiator : "an unnamed initiator",
		 address, l->target[0] ? l->target : "no target", count,
		 row->status, row->reason, row->remedy);
}

void login_refuse(struct conn *c, const union bhs *bhs, enum refusal why)
{
	const struct sockaddr *from = (const struct sockaddr *)&c->remote;
	const struct refusal_row *row = &rows[why];
	struct login *l = c->login;
	char address[ADDR_TEXT];

	l->refused = true;
	tell(l, row, addr_text(from, address));
	if (why == REFUSE_RESPONSE || why == REFUSE_REFLECTION) {
		l->held_back = why;
		etimer_start(c->worker->engine, &c->timer,
			     login_delay(from, l->initiator, now_ms()));
	} else if (bhs && send_refusal(c, bhs, row->status)) {
		conn_close_after_send(c, row->reason);
	} else {
		conn_close(c, row->reason);
	}
}

void login_refuse_now(struct conn *c)
{
	union bhs bhs = { .login_request = c->login->first };
	const struct refusal_row *row = &rows[c->login->held_back];

	c->login->held_back = REFUSE_NOT;
	etimer_start(c->worker->engine, &c->timer, LOGIN_SECONDS * 1000);
	if (send_refusal(c, &bhs, row->status))
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
