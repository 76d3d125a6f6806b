/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SCSI_COPYOP_H
#define SCSI_COPYOP_H

/*
 * Copy operations (SPC-4, third-party copy commands) that have a list
 * identifier: what runs, and how those that ended went.  The table belongs to
 * an I_T_L nexus, is made with its first such operation and used on the
 * nexus's worker only.  EXTENDED COPY(LID1) has identifiers of one byte, COPY
 * OPERATION ABORT names them by four.
 *
 * An operation runs under the command that began it, which stands in the task
 * set: task management, PREEMPT AND ABORT, nexus loss and the removal of a LUN
 * abort it and wait for it.
 *
 * What ended is forgotten after XCOPY_RESULT_NS, when its place is needed (the
 * oldest first), when its identifier is used again, with the I_T_L nexus, and
 * by I_T nexus and logical unit resets.
 */

#include "scsi/scsi.h"

struct copyop {
	struct scsi_cmd	*cmd;		/* that does it; NULL: it ended */
	bool		 kept;		/* it ended and can be asked for */
	uint32_t	 list_id;
	bool		 discard;	/* at its end */
	bool		 stop;		/* COPY OPERATION ABORT came */
	bool		 told;		/* RECEIVE COPY STATUS(LID1) */
	bool		 failure;	/* kept for failure details (LID1) */
	unsigned	 resets;	/* of the logical unit, at the start */
	uint16_t	 segments;	/* done */
	uint64_t	 bytes;		/* moved */
	enum scsi_result result;	/* these three: when it ended */
	struct sense_detail detail;
	uint64_t	 ended;		/* ns */
	struct list	 stoppers;	/* commands that wait for its end */
};

/* The operation of a list identifier, or NULL. */
struct copyop *copyop_find(struct itl *itl, uint32_t list_id);
/* cmd begins one, which becomes cmd->copyop.  An identifier that is active is
 * refused, with the field pointer at the list's first byte; no room: BUSY. */
enum scsi_result copyop_begin(struct scsi_cmd *cmd, uint32_t list_id);
/* Bytes were moved, segments in all are done.  cmd without an operation: does
 * nothing; the same holds for copyop_end(), which tells how it went. */
void copyop_moved(struct scsi_cmd *cmd, uint64_t bytes, uint16_t segments);
void copyop_end(struct scsi_cmd *cmd, enum scsi_result r);

/* Step functions ask between acts: was it told to stop? */
static inline bool copyop_stopped(const struct scsi_cmd *cmd)
{
	return cmd->copyop && cmd->copyop->stop;
}

/* What ended is forgotten, and what runs will be: I_T nexus reset. */
void copyops_forget(struct itl *itl);
void copyops_free(struct itl *itl);

#endif
