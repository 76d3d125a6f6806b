/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SCSI_IO_INT_H
#define SCSI_IO_INT_H

/*
 * What the commands that work on the medium share: one range, one request and
 * two functions each.
 *
 * x_next() is one switch over cmd->step, cases in order of time.  A case
 * starts one asynchronous act and returns SCSI_PENDING, the next step being
 * stored before; the act's completion calls cmd->resume().
 * x_step() calls x_next() unless the command was aborted, and is the only way
 * out: it gives back what is held.
 */

#include "scsi/copyop.h"
#include "scsi/range.h"
#include "scsi/scsi_int.h"

/* Asks for [lba, lba + nblocks) of cmd->lu in cmd->range.  True: held now;
 * else cmd->resume() runs when it is held, or when the command was aborted
 * first: then it is not. */
bool cmd_lock(struct scsi_cmd *cmd, uint64_t lba, uint64_t nblocks,
	      bool exclusive);
/* Gives cmd->range back, if it is held. */
void cmd_unlock(struct scsi_cmd *cmd);

/* Starts an act on a range of bytes of cmd->lu; cmd->resume() runs after it.
 * cmd_bytes() only fills the request, for those who have more to say. */
void cmd_bytes(struct scsi_cmd *cmd, enum breq_op op, uint64_t off,
	       uint64_t len);
void cmd_submit(struct scsi_cmd *cmd, struct volume *v);
/* breq.written of those who hold their range until the medium has the data. */
void cmd_written(struct breq *b);

/* FUA of the CDB, where the command has it. */
static inline bool cmd_fua(const struct scsi_cmd *cmd)
{
	return cmd->op->flags & OP_FUA_DPO && cmd->cdb[1] & 0x08;
}

static inline uint32_t cmd_block(const struct scsi_cmd *cmd)
{
	return (uint32_t)lu_bytes(cmd->lu, 1);
}

/* Says what the CDB wants to move; the answer is what the initiator lets it
 * move of that. */
static inline uint32_t cmd_want(struct scsi_cmd *cmd, uint64_t bytes, bool dir)
{
	cmd->wanted = bytes;
	return (uint32_t)MIN(bytes, dir ? cmd->edtl : 0);
}

/* The pool of the command's worker: for a buffer beside cmd->data. */
static inline struct bufpool *cmd_bufs(const struct scsi_cmd *cmd)
{
	return engine_bufs(cmd->nexus->engine);
}

/* The end of every cmd->resume(): what its step function answered. */
static inline void cmd_end(struct scsi_cmd *cmd, enum scsi_result r)
{
	if (r != SCSI_PENDING)
		scsi_done(cmd, r);
}

/* Offset of the first byte that differs, or len.  Blocks are long: by words. */
size_t first_diff(const uint8_t *a, const uint8_t *b, size_t len);

/* ---- bulk.c: long ranges, piece by piece ------------------------------- */

/*
 * Does cmd->x.bulk.op on [lba, lba + left) and, when next is set, on all that
 * next() loads into lba and left after it (false: that was the last).  Each
 * piece holds its range shared until the medium has it; pieces are as long as
 * volume_bulk_piece() says.  cmd->data is the pattern of BREQ_WRITE_SAME.
 */
enum scsi_result bulk_start(struct scsi_cmd *cmd);

/* ---- xcopy_desc.c ------------------------------------------------------ */

/* EXTENDED COPY(LID1) parameter list, bytes: header, CSCD descriptor */
#define XCOPY_HEADER	16u
#define XCOPY_CSCD	32u

/* LIST ID USAGE: without an identifier nothing is kept. */
enum { USAGE_KEEP, USAGE_RESERVED, USAGE_DISCARD, USAGE_NONE };

/* A block to block segment, in bytes. */
struct xcopy_segment {
	unsigned	 src, dst;		/* CSCD descriptors */
	uint64_t	 src_off, dst_off, len;
	unsigned	 size;			/* of the descriptor */
};

/* Checks types, counts and lengths of the parameter list in cmd->data and
 * resolves its CSCD descriptors; SCSI_GOOD: cmd->x.xcopy is filled, its
 * references are to be released by xcopy_release(), whatever the answer. */
enum scsi_result xcopy_parse(struct scsi_cmd *cmd);
void xcopy_release(struct scsi_cmd *cmd);
/* Can the segment at x.xcopy.seg_at be copied now? */
enum scsi_result xcopy_check_segment(struct scsi_cmd *cmd);
/* What it asks for; it was found good. */
struct xcopy_segment xcopy_segment(const struct scsi_cmd *cmd);

#endif
