/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SCSI_COPYOP_H
#define SCSI_COPYOP_H

/*
 * Copy operations (SPC-4, third-party copy commands) that have a list
 * identifier: what runs, and how those that ended went.  The table belongs to
 * an I_T_L nexus, is made with its first such operation and used on the
 * nexus's worker only; identifiers of one byte and of four are the same
 * numbers.
 *
 * An operation runs in the foreground, under the command that began it, or goes
 * on in the background after that command was answered: under a command of the
 * layer's own, which stands in the task set like any other.  So task
 * management, PREEMPT AND ABORT, nexus loss and the removal of a LUN abort it
 * and wait for it.
 *
 * What ended is forgotten after XCOPY_RESULT_NS, when its place is needed (the
 * oldest first), when its identifier is used again, with the I_T_L nexus, and
 * by I_T nexus and logical unit resets.
 */

#include "scsi/scsi.h"

enum copyop_form { COPYOP_LID1, COPYOP_LID4, COPYOP_TOKEN };

struct copyop {
	struct scsi_cmd	*cmd;		/* that does it; NULL: it ended */
	bool		 kept;		/* it ended and can be asked for */
	enum copyop_form form;
	uint8_t		 action;	/* service action of 83h */
	uint32_t	 list_id;
	bool		 background;
	bool		 discard;	/* at its end */
	bool		 stop;		/* COPY OPERATION ABORT came */
	bool		 terminated;	/* ended by it, or with its command */
	bool		 told;		/* RECEIVE COPY STATUS(LID1) */
	bool		 failure;	/* kept for failure details (LID1) */
	unsigned	 resets;	/* of the logical unit, at the start */
	uint16_t	 segments;	/* done */
	uint16_t	 progress;	/* OPERATION COUNTER */
	uint64_t	 bytes;		/* moved */
	enum scsi_result result;	/* these three: when it ended */
	struct sense_detail detail;
	uint64_t	 ended;		/* ns */
	struct list	 stoppers;	/* commands that wait for its end */
};

/* The operation of a list identifier, or NULL. */
struct copyop *copyop_find(struct itl *itl, uint32_t list_id);
/* cmd begins one, which becomes cmd->copyop.  An identifier that is active is
 * refused, with the field pointer at byte field of the list; no room: BUSY. */
enum scsi_result copyop_begin(struct scsi_cmd *cmd, enum copyop_form form,
			      uint32_t list_id, unsigned field);
/* Bytes were moved, segments in all are done.  cmd without an operation: does
 * nothing; the same holds for copyop_end(), which tells how it went. */
void copyop_moved(struct scsi_cmd *cmd, uint64_t bytes, uint16_t segments);
void copyop_end(struct scsi_cmd *cmd, enum scsi_result r);

/*
 * The operation of cmd goes on in the background: a new command gets a copy of
 * the CDB and of the list in cmd->data (length bytes), the state cmd->x,
 * cmd->step and the operation; resume(new) runs soon, also when it was aborted
 * first.  It ends by scsi_done() and must not ask its transport for anything.
 * SCSI_GOOD: cmd has no operation any more and what cmd->x held is no longer
 * cmd's to release.  No range may be held and no request under way.
 */
enum scsi_result copyop_background(struct scsi_cmd *cmd,
				   void (*resume)(struct scsi_cmd *cmd));

/* Step functions ask between acts: was it told to stop? */
static inline bool copyop_stopped(const struct scsi_cmd *cmd)
{
	return cmd->copyop && cmd->copyop->stop;
}

/* What ended is forgotten, and what runs will be: I_T nexus reset. */
void copyops_forget(struct itl *itl);
void copyops_free(struct itl *itl);

#endif
