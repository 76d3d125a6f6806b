/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TARGET_SESSION_H
#define TARGET_SESSION_H

/*
 * A session: one I_T nexus, its CmdSN window, its connection (MaxConnections is
 * 1).  Lives on one worker.  The registry of all sessions is under one lock and
 * holds plain values for the control socket.
 */

#include "target/conn.h"
#include "target/tgt.h"

#define ITT_HASH 32

/* What other threads asked of a session. */
struct session_order {
	unsigned	 asked;		/* enum session_ask */
	const char	*end_reason;
	unsigned	 move_to, logout_seconds;
};

struct session {
	uint64_t	 id;		/* for people; never used twice */
	struct worker	*_Atomic worker;
	bool		 discovery;
	char		 initiator[ISCSI_NAME_MAX];
	char		 target[ISCSI_NAME_MAX];	/* "" in discovery */
	char		*chap_user;	/* NULL: none asked for */
	uint8_t		 isid[6];
	uint16_t	 tsih, group;
	struct params	 params;	/* as negotiated at login; not changed */
	struct conn	*conn;
	struct nexus	*nexus;		/* NULL in discovery */
	uint32_t	 exp_cmd_sn, max_cmd_sn;
	struct list	 held;		/* PDUs before their CmdSN's turn */
	uint32_t	 held_bytes;	/* of their data */
	struct list	 in_registry;
	struct tgt	*tgt;		/* tgt_session.c's */
	bool		 closing;

	struct task	*by_itt[ITT_HASH];
	unsigned	 active;	/* tasks without an answer */
	unsigned	 soliciting;	/* tasks that Data-Out is due for */
	uint32_t	 awaited;	/* bytes asked for, or about to be */
	struct list	 may_not_ask;	/* tasks, until those have come */
	uint32_t	 next_ttt;
	unsigned	 waits_old;	/* sessions that it reinstated */
	uint64_t	 old_nexus;	/* for nexus_succeed(); 0: none */
	struct list	 waiting_old;	/* tasks that wait for it */
	bool		 lost;		/* nexus_lose() was called */
	bool		 gone;		/* and has reported */
	bool		 drain_move;	/* to worker move_to, when quiet */
	unsigned	 move_to;
	struct edefer	 move_try;
	struct list	 tmfs;		/* task management under way, tmf.c */
	struct pdu_out	*logout;	/* sent when the commands are gone */

	/* Messages from other threads, under the registry's lock. */
	bool		 registered;	/* live: not lost yet */
	struct epost	 post;
	bool		 posted;
	struct session_order order;
	struct succession *successor;	/* the session that reinstated this */
	uint64_t	 since;
};

/*
 * The end of a successful login on c: makes the session (TSIH, nexus, CmdSN
 * from the Login Request), reinstates an old one with the same initiator, ISID,
 * target and portal group: the old one's connection is dropped, its commands
 * aborted, and nexus_succeed() makes ours wait for them.  A login status
 * (enum login_status of iscsi_proto.h), 0 when it worked.
 */
struct session_request {
	const char	*initiator, *target;	/* target NULL: discovery */
	const char	*chap_user;	/* authenticated as; NULL: not */
	uint8_t		 isid[6];
	uint16_t	 tsih;			/* 0: a new session */
	uint32_t	 cmd_sn;
};

uint16_t session_begin(struct conn *c, const struct session_request *r);
/* The connection of s is gone: ends the session; frees it when its commands
 * are. */
void session_end(struct session *s);

/* Registry: any thread. */
struct session_info {
	uint64_t	 id;
	char		 initiator[ISCSI_NAME_MAX], target[ISCSI_NAME_MAX];
	uint8_t		 isid[6];
	uint16_t	 tsih, group, cid;
	bool		 discovery;
	unsigned	 worker;
	struct params	 params;
	struct sockaddr_storage local, remote;
	uint64_t	 read_bytes, write_bytes, commands;
	uint64_t	 since;		/* CLOCK_REALTIME seconds */
};

/* Calls fn for each session (target NULL: of all), under the lock: fn may not
 * call back. */
void session_each(const char *target,
		  void (*fn)(void *arg, const struct session_info *i),
		  void *arg);
/* Asks the session's worker to end it (target NULL: by id only).  -ENOENT. */
int session_end_id(uint64_t id, const char *reason);
void session_end_target(const char *target, const char *reason);
unsigned session_count(const char *target);	/* NULL: all */
/* Posts to the worker where s lives, which may have changed since one looked.
 * False: that is the caller's own, and nothing is posted. */
bool session_post(struct session *s, struct epost *post);
/* Moves a live session to another worker: receive stops, what is in flight ends
 * and is sent, then the connection goes on there.  -ENOENT. */
int session_move_id(uint64_t id, unsigned worker);
/* Asks every initiator to log out (async event 1), then after grace ms drops
 * the rest; done() on main when none is left. */
void sessions_shutdown(unsigned grace_ms, void (*done)(void));

#endif
