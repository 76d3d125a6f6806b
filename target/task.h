/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TARGET_TASK_H
#define TARGET_TASK_H

/*
 * A task: one SCSI Command PDU, its data and its answer.
 *
 *	task_new()	scsi_submit()	  done()	  last byte sent
 *	  TASK_RX	-> TASK_SCSI	-> TASK_TX	-> task_free()
 *
 * Its owner is where: the connection while data comes or CmdSN is awaited, the
 * SCSI layer, the connection again.  It changes in task_new(), task_submit()
 * and task_done() and nowhere else.  A task whose buffer the kernel fills
 * (conn_rx.task) is not freed before that ends.
 */

#include "target/session.h"

enum task_where { TASK_RX, TASK_SCSI, TASK_TX };

/* Why SCSI waits for us: cmd->resume() is due when it is over. */
enum task_wait { WAIT_NONE, WAIT_BUFFER, WAIT_DATA, WAIT_SENT, WAIT_RESUME };

/* What ends a command without the SCSI layer's consent. */
enum task_fault {
	FAULT_NONE,
	FAULT_FULL,		/* no buffer for unsolicited data */
	FAULT_CRC,		/* a Data-Out PDU damaged or missing */
	FAULT_AMOUNT,		/* more or less data than was asked for */
};

/* A sequence of Data-Out PDUs, RFC 7143 11.7. */
struct data_seq {
	uint32_t	 ttt;		/* TAG_NONE: unsolicited */
	uint32_t	 next, end;	/* offsets: next byte, the last one's next */
	uint32_t	 data_sn;
	bool		 open;		/* F has not come */
};

struct task {
	struct scsi_cmd	 cmd;
	struct conn	*conn;
	struct list	 in_conn;
	struct task	*same_hash;	/* session.by_itt */
	enum task_where	 where;
	enum task_wait	 wait;
	enum task_fault	 fault;
	uint32_t	 itt;
	bool		 held;		/* awaits its CmdSN's turn */
	bool		 ended;		/* done, but kept by what follows */

	/* Data-Out: cmd.data holds bytes [base, have) of it. */
	uint32_t	 room;		/* bytes of the buffer; 0: none */
	uint32_t	 base, have;
	uint32_t	 want;		/* SCSI waits for bytes below it */
	uint32_t	 buf_want;	/* and for a buffer of so many */
	uint32_t	 asked;		/* R2Ts went out up to here */
	uint32_t	 r2t_sn;
	struct data_seq	 unsolicited, r2t[MAX_OUTSTANDING_R2T];

	uint32_t	 data_sn;	/* Data-In: next DataSN */
	uint32_t	 burst;		/* bytes in the current sequence */

	struct buf_waiter waiter;
	struct edefer	 resume;
	struct tmf_wait	*aborts;	/* ABORT TASKs that wait for its end */
	uint8_t		 sense_len[2];	/* in front of sense in the PDU */
	uint8_t		 sense[SENSE_MAX];
};

/* The table's functions for SCSI Command (task.c) and Data-Out (dataout.c). */
void task_begin(struct conn *c, const union bhs *bhs);
void task_command(struct conn *c, struct pdu_in *p);
void data_out_begin(struct conn *c, const union bhs *bhs);
void data_out_pdu(struct conn *c, struct pdu_in *p);
/* The data segment that just came for t was damaged. */
void task_data_damaged(struct conn *c, struct task *t);

struct task *task_find(struct session *s, uint32_t itt);
/* The CmdSN's turn has come. */
void task_submit(struct task *t);
/* Ends a task that no SCSI layer knows (TASK_RX, TASK_TX): no answer. */
void task_drop(struct task *t);
void task_free(struct task *t);
/* ABORT TASK: w (may be NULL) is told when it is gone. */
void task_abort(struct task *t, struct tmf_wait *w);
/* conn_rx.c no longer writes to t's buffer: what waited for that goes on. */
void task_rx_over(struct task *t);

/* dataout.c */
bool task_get_buffer(struct scsi_cmd *cmd, uint32_t len);
bool task_data_out(struct scsi_cmd *cmd, uint32_t off, uint32_t len);
bool task_room(struct task *t, uint32_t len);	/* a first buffer, now */
void task_release_buffer(struct task *t);
bool task_seqs_open(const struct task *t);
void task_retire(struct task *t);	/* late Data-Out is dropped from now on */
void task_resume_soon(struct task *t);
/* datain.c */
bool task_data_in(struct scsi_cmd *cmd, uint32_t off, uint32_t len);
void task_send_answer(struct task *t);

#endif
