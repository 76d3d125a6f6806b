/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TARGET_SESSION_INT_H
#define TARGET_SESSION_INT_H

/*
 * Inside the transport: the CmdSN window, the registry of sessions, and what
 * other threads may ask of one.
 */

#include "target/conn_int.h"

/* ---- CmdSN: cmdsn.c ---------------------------------------------------- */

/* RFC 7143 4.2.2.1, in the serial arithmetic of RFC 1982. */
static inline bool sn_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

enum cmdsn_verdict { CMDSN_NOW, CMDSN_EARLY, CMDSN_IGNORE };

/* Where a CmdSN that came stands; changes nothing. */
enum cmdsn_verdict cmdsn_check(const struct session *s, uint32_t cmd_sn);
/* Brings max_cmd_sn up to date and returns it. */
uint32_t cmdsn_max(struct session *s);
/* A PDU with a CmdSN has come whole: runs its handler now, when its turn comes,
 * or never. */
void cmdsn_take(struct conn *c, const struct pdu_op *op, struct pdu_in *p);
/* Counts a CmdSN as received that has not come (ABORT TASK). */
void cmdsn_skip(struct session *s, uint32_t cmd_sn);
/* A task that is held is aborted: its CmdSN passes without it. */
void cmdsn_forget(struct session *s, struct task *t);
/* Runs what is held and may run now. */
void cmdsn_run(struct session *s);
void cmdsn_drop_all(struct session *s);

/* ---- the registry: session_registry.c ---------------------------------- */

enum session_ask {
	ASK_END		= 1 << 0,
	ASK_LOGOUT	= 1 << 1,	/* async event 1 */
	ASK_MOVE	= 1 << 2,
	ASK_SUCCESSOR	= 1 << 3,	/* tell who reinstated it */
};

/* From a session to the one that reinstated it: you may go on as far as I am
 * concerned. */
struct succession {
	struct epost	 post;
	struct worker	*worker;	/* of the new session */
	uint64_t	 session;	/* its id */
	uint64_t	 old_nexus;	/* what nexus_succeed() wants, or 0 */
};

/* Gives s an id and a TSIH, and takes the place of older sessions of the same
 * nexus, which are asked to end; s waits for so many.  A login status. */
uint16_t registry_add(struct session *s);
/* Tells the successor, if there is one. */
void registry_tell_successor(struct session *s, uint64_t old_nexus);
/* No more is asked of s by other threads. */
void registry_remove(struct session *s);
/* May s be freed?  No while a message to it is under way. */
bool registry_quiet(struct session *s);
void registry_forget(struct session *s);
/* A Login Request with a TSIH; a login status. */
uint16_t registry_check_tsih(const struct session_request *r,
			     const struct conn *c);
/* s belongs to another worker from now on, which gets post first. */
void registry_move(struct session *s, struct worker *to, struct epost *post);
/* conn_count.c: a connection is there; false: there are too many of them, or
 * the daemon shuts down. */
bool registry_conn_begin(const struct sockaddr *remote);
/* It logged in, or was closed before. */
void registry_conn_logged_in(const struct sockaddr *remote);
void registry_conn_end(const struct sockaddr *remote);

/* ---- session.c --------------------------------------------------------- */

void session_message(struct session *s, const struct session_order *o);
/* A session that s reinstated is out of its way. */
void session_old_gone(struct session *s, uint64_t old_nexus);
/* Loses the nexus; session_gone() follows when its commands are gone. */
void session_lose(struct session *s);
void session_free(struct session *s);
/* session_move.c: soon looks whether s may be parked. */
void session_move_step(struct session *s);
void session_move_start(struct session *s, unsigned worker);
void session_move_init(struct session *s);

/* ---- task management: tmf.c -------------------------------------------- */

/* One request under way. */
struct tmf_wait {
	struct list	 in_session;	/* session.tmfs */
	struct session	*session;
	uint32_t	 itt, cmd_sn;
	struct tmf_wait	*next;		/* task.aborts */
	struct scsi_tmf	 scsi;
};

/* ---- the rest ---------------------------------------------------------- */

void nop_start(struct conn *c);				/* nop.c */
void async_logout_request(struct conn *c, unsigned seconds);	/* async.c */
void logout_finish(struct session *s);			/* logout.c */
void snack_request(struct conn *c, struct pdu_in *p);	/* reject.c */
void unknown_request(struct conn *c, struct pdu_in *p);

#endif
