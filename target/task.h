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

struct tmf_wait;

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
	bool		 tagged;	/* found there by its ITT */
	enum task_where	 where;
	enum task_wait	 wait;
	enum task_fault	 fault;
	uint32_t	 itt, cmd_sn;
	bool		 held;		/* awaits its CmdSN's turn */
	bool		 ended;		/* done; answered when Data-Out is over */
	bool		 solicits;	/* counted in session.soliciting */
	uint64_t	 asked_at;	/* ns: the last sequence was opened */
	struct list	 in_old;	/* session.waiting_old */

	/* Data-Out: cmd.data holds bytes [base, have) of it. */
	uint32_t	 room;		/* bytes of the buffer; 0: none */
	uint32_t	 base, have;
	uint32_t	 off, want;	/* SCSI waits for these bytes */
	uint32_t	 buf_want;	/* and for a buffer of so many */
	uint32_t	 asked;		/* R2Ts went out up to here */
	uint32_t	 charged;	/* of session.awaited; 0: it may not ask */
	uint32_t	 r2t_sn;
	struct data_seq	 unsolicited, r2t[MAX_OUTSTANDING_R2T];

	uint32_t	 data_sn;	/* Data-In: next DataSN */
	uint32_t	 burst;		/* bytes in the current sequence */

	struct buf_waiter waiter;
	struct edefer	 resume;
	struct tmf_wait	*aborts;	/* ABORT TASKs that wait for its end */
	uint8_t		 sense[2 + SENSE_MAX];	/* as the PDU has it */
};

/* The table's functions for SCSI Command (task.c) and Data-Out (dataout.c). */
void task_begin(struct conn *c, const union bhs *bhs);
void task_command(struct conn *c, struct pdu_in *p);
void data_out_begin(struct conn *c, const union bhs *bhs);
void data_out_pdu(struct conn *c, struct pdu_in *p);
/* The data segment that just came for t was damaged. */
void task_data_damaged(struct conn *c, struct task *t);
void data_out_damaged(struct task *t);

struct task *task_find(const struct session *s, uint32_t itt);
/* Its ITT is the initiator's to use again; once more does nothing. */
void task_untag(struct task *t);
/* The CmdSN's turn has come. */
void task_submit(struct task *t);
/* Ends a task that no SCSI layer knows (TASK_RX, TASK_TX): no answer. */
void task_drop(struct task *t);
/* The same for one whose buffer is being filled: when that PDU is over. */
void task_doom(struct task *t);
void task_free(struct task *t);
/* ABORT TASK.  true: it is gone, or its answer is queued; otherwise w is told
 * when that is so. */
bool task_abort(struct task *t, struct tmf_wait *w);
/* SCSI is done with it: answers, unless Data-Out is still to come. */
void task_finish(struct task *t);
/* The next act of whatever waits for Data-Out or a buffer. */
void task_progress(struct task *t);
/* Data-Out went wrong: the command ends so when its last PDU has come. */
void task_fail(struct task *t, enum task_fault fault);

/* dataout.c, databuf.c */
bool task_get_buffer(struct scsi_cmd *cmd, uint32_t len);
bool task_data_out(struct scsi_cmd *cmd, uint32_t off, uint32_t len);
void task_cmd_aborted(struct scsi_cmd *cmd);
bool task_buffer_try(struct task *t, uint32_t len);
void task_buffer_put(struct task *t);
void task_waits_init(struct task *t);
bool task_seqs_open(const struct task *t);
/* Has a sequence of c been open for longer than DATA_OUT_MS? */
bool data_out_overdue(const struct conn *c, uint64_t now);
/* Recounts what Data-Out brought, and whether more is due. */
void task_seqs_changed(struct task *t);
void task_retire(struct task *t);	/* late Data-Out is dropped from now on */
void task_resume_now(struct task *t);
void task_resume_soon(struct task *t);
/* datain.c */
bool task_data_in(struct scsi_cmd *cmd, uint32_t off, uint32_t len);
void task_send_answer(struct task *t);
/* tmf.c: those that waited for the task's end. */
void tmf_task_gone(struct tmf_wait *aborts);

#endif
