/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TARGET_CONN_H
#define TARGET_CONN_H

/*
 * A connection: receives PDUs, hands each to its handler, gathers what is to be
 * sent into one send per turn.  Lives on one worker.
 */

#include "target/iscsi_proto.h"
#include "target/keys.h"
#include "target/worker.h"

struct chap;
struct login;
struct session;
struct task;

enum conn_state {		/* RFC 7143 8.1.1, as far as a target sees it */
	CONN_IN_LOGIN,
	CONN_LOGGED_IN,
	CONN_IN_LOGOUT,		/* answer sent, then closed */
	CONN_CLEANUP,		/* no more I/O; waits for what is in flight */
};

/* A PDU that came in, whole.  Valid during the handler only; data is NUL
 * terminated beyond its end, and may be written to.  For SCSI Command and
 * Data-Out it is in the task's buffer already, and data is NULL. */
struct pdu_in {
	const union bhs	*bhs;
	uint8_t		*data;
	uint32_t	 data_len;
	struct task	*task;		/* whose data it is, or NULL */
};

/*
 * A PDU that goes out.  From pdu_new(); conn_send() takes it over and frees it
 * when its last byte is sent, after sent() (may be NULL).  data is not copied
 * and must live until then; with owned set it came from the worker's buffer
 * pool (owned bytes) and is given back then.  StatSN, ExpCmdSN, MaxCmdSN,
 * DataSegmentLength, digests and padding are filled in by conn_send().
 */
struct pdu_out {
	struct list	 link;
	union bhs	 bhs;
	be32		 header_digest;	/* right behind bhs: one piece to send */
	uint8_t		 pad[4];	/* the last tail_len bytes of these two */
	be32		 data_digest;
	uint8_t		 header_len, tail_len;
	bool		 takes_stat_sn;	/* this PDU's StatSN advances it */
	void		*data;
	uint32_t	 data_len;
	uint32_t	 owned;		/* bytes of data's buffer, 0: not ours */
	void		(*sent)(struct pdu_out *p);	/* also when dropped */
	struct task	*task;
	struct conn	*conn;
};

struct conn {
	struct worker	*worker;
	struct list	 in_worker;
	int		 fd;
	enum conn_state	 state;
	struct session	*session;	/* NULL until login succeeded */
	uint16_t	 cid;
	uint16_t	 group;		/* portal group tag it came in by */
	struct sockaddr_storage local, remote;
	struct params	 params;
	bool		 header_digest, data_digest;	/* in force now */
	uint32_t	 stat_sn, exp_stat_sn;
	uint32_t	 login_cmd_sn;	/* of the last Login Request */
	struct login	*login;		/* while in login; login.c */
	void		*text;		/* text.c: an exchange under way */
	struct etimer	 timer;		/* login time, then keep-alive */
	uint32_t	 nop_ttt;	/* of the NOP-In that waits, or TAG_NONE */
	uint64_t	 heard;		/* ns: when bytes came last */
	_Atomic uint64_t read_bytes, write_bytes, commands;
	struct conn_rx	*rx;		/* conn_rx.c */
	struct conn_tx	*tx;		/* conn_tx.c */
	struct list	 tasks;		/* struct task.in_conn */
	struct edefer	 cleanup;	/* conn.c: free what is free to go */
	unsigned	 refs_io;	/* requests of the engine under way */
	const char	*close_reason;
};

/* Takes over an accepted socket, on w's thread.  Closes it on failure. */
void conn_new(struct worker *w, int fd, uint16_t group);
/* Ends the connection: nothing is received or sent any more, its commands are
 * aborted, and it is freed when all are gone.  reason: a literal, for the log.
 * May be called again, and from a handler. */
void conn_close(struct conn *c, const char *reason);
/* Closes when everything queued has been sent; what still comes is dropped. */
void conn_close_after_send(struct conn *c, const char *reason);
/* Full feature phase: login.c calls it after conn_send() of the final Login
 * Response; digests are in force from the next PDU on. */
void conn_logged_in(struct conn *c);
/* "iqn.2026-11.example:host 192.0.2.1:1234", for the log; into buf. */
#define CONN_NAME (ISCSI_NAME_MAX + 64)
const char *conn_name(const struct conn *c, char *buf);

/* With a zeroed BHS.  NULL: no memory, and c is about to be closed. */
struct pdu_out *pdu_new(struct conn *c);
void conn_send(struct conn *c, struct pdu_out *p);
void pdu_free(struct pdu_out *p);	/* one that is not to be sent */

/* The worker's pools of PDUs and tasks; fini when its connections are gone. */
void pdu_pool_init(struct worker *w);
void pdu_pool_fini(struct worker *w);

/* Handlers, by opcode; each in the file named. */
void login_request(struct conn *c, struct pdu_in *p);		/* login.c */
void login_init(struct conn *c);	/* at conn_new(): c->login, timer */
void login_free(struct conn *c);	/* NULL c->login allowed */
void text_request(struct conn *c, struct pdu_in *p);		/* text.c */
void text_free(struct conn *c);
/* text_pdu.c: a PDU with a copy of the next n bytes of text, which *at moves
 * over.  NULL: no memory. */
struct pdu_out *text_pdu(struct conn *c, const struct text *text, size_t *at,
			 size_t n);
void nop_out(struct conn *c, struct pdu_in *p);			/* nop.c */
void logout_request(struct conn *c, struct pdu_in *p);		/* logout.c */
void tmf_request(struct conn *c, struct pdu_in *p);		/* tmf.c */
/* Reject (RFC 7143 11.17) with the header of the PDU refused. */
void conn_reject(struct conn *c, const union bhs *bhs, uint8_t reason);

#endif
