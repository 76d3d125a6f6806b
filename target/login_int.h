/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TARGET_LOGIN_INT_H
#define TARGET_LOGIN_INT_H

/*
 * A login under way, shared by the login_*.c files.  Each check returns why the
 * login is refused, or REFUSE_NOT; login.c answers it.
 */

#include "target/chap.h"
#include "target/conn.h"
#include "target/iscsi_proto.h"
#include "target/keys.h"
#include "target/login.h"
#include "target/tgt.h"

/* One value for each way that a login can fail: a row of login_refuse.c. */
enum refusal {
	REFUSE_NOT,
	REFUSE_VERSION,
	REFUSE_HEADER,
	REFUSE_CHANGED,
	REFUSE_STAGE,
	REFUSE_LOOP,
	REFUSE_TEXT,
	REFUSE_TEXT_SIZE,
	REFUSE_ANSWER_SIZE,
	REFUSE_KEY,
	REFUSE_BURST,
	REFUSE_NAME,
	REFUSE_NO_INITIATOR,
	REFUSE_NO_TARGET,
	REFUSE_SESSION_TYPE,
	REFUSE_NOT_FOUND,
	REFUSE_FORBIDDEN,
	REFUSE_UNAVAILABLE,
	REFUSE_NEEDS_CHAP,
	REFUSE_NO_USER,
	REFUSE_NO_SECRET,
	REFUSE_ALGORITHM,
	REFUSE_MUTUAL,
	REFUSE_REFLECTION,
	REFUSE_AUTH_ORDER,
	REFUSE_RESPONSE,
	REFUSE_REQUEST,
	REFUSE_TIMEOUT,
	REFUSE_TOO_MANY_CONNS,
	REFUSE_CANNOT_INCLUDE,
	REFUSE_NO_SESSION,
	REFUSE_RESOURCES,
	REFUSE_TARGET_ERROR,
	REFUSE_MOVED,			/* reply holds TargetAddress */
	REFUSE_MOVED_FOR_EVER,
	REFUSALS,
};

enum auth_state {
	AUTH_START,
	AUTH_CHAP,		/* method chosen, CHAP_A awaited */
	AUTH_CHALLENGED,	/* CHAP_N and CHAP_R awaited */
	AUTH_DONE,
};

struct login {
	/* what must stay the same, from the first request */
	struct bhs_login_request first;
	bool		 begun;
	bool		 refused;	/* answered; the connection closes */
	enum refusal	 held_back;	/* but the answer is due later */
	uint8_t		 stage;		/* enum login_stage */
	unsigned	 pdus;		/* of this stage */

	bool		 named;		/* the keys below are known and checked */
	bool		 discovery;
	char		 initiator[ISCSI_NAME_MAX], target[ISCSI_NAME_MAX];
	unsigned	 said;		/* names said in this stage, a bit each */
	uint64_t	 seen;		/* keys.h */

	bool		 auth_needed;
	enum auth_state	 auth;
	char		 chap_user[CHAP_NAME_MAX];	/* "": none proven */
	struct chap	 chap;

	char		*text;		/* requests with C, put together */
	size_t		 text_len;
	struct text	 reply;
	size_t		 reply_sent;
	char		 reply_mem[LOGIN_TEXT_MAX];
};

struct text_pair {
	const char	*key, *value;
};

/* login_keys.c: works on the pairs of one request (of several, with C). */
enum refusal login_keys(struct conn *c, const struct text_pair *pairs,
			unsigned n);
/* login_auth.c: a security key, or REFUSE_KEY; and the exchange, when all keys
 * of a request are there. */
struct auth_keys {
	const char *method, *algorithms, *name, *response, *id, *challenge;
};

/* false: not one of them.  *ret_why is REFUSE_KEY when it came before. */
bool auth_take(struct auth_keys *k, const struct text_pair *pair,
	       enum refusal *ret_why);
enum refusal auth_step(struct login *l, const struct auth_keys *k);
/* Must this peer authenticate, can it? */
enum refusal auth_need(struct login *l);

/* login_delay.c: counts a wrong secret; how long its answer waits, ms.  Any
 * thread. */
unsigned login_delay(const struct sockaddr *from, const char *initiator,
		     uint64_t now_ms);

/* login_refuse.c: answers with the reason's status, logs and remembers it, and
 * closes the connection.  bhs NULL: without an answer. */
void login_refuse(struct conn *c, const union bhs *bhs, enum refusal why);
/* Sends the answer that was held back. */
void login_refuse_now(struct conn *c);
enum refusal refusal_of_status(uint16_t status);

#endif
