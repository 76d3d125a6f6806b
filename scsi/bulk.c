/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Long ranges, piece by piece: WRITE SAME and UNMAP.  A COMPARE AND WRITE that
 * waits goes first between two pieces.
 */

#include "scsi/io_int.h"

enum bulk_step {
	BULK_LOCKED,
	BULK_DONE,
	BULK_FLUSHED,
};

static enum scsi_result bulk_locked(struct scsi_cmd *cmd)
{
	struct bulk_state *b = &cmd->x.bulk;

	cmd->step = BULK_DONE;
	cmd_bytes(cmd, b->op, lu_bytes(cmd->lu, b->lba),
		  lu_bytes(cmd->lu, b->piece));
	cmd->breq.pattern = cmd_block(cmd);
	cmd->breq.written = cmd_written;
	if (b->rest)
		cmd->breq.flags |= BREQ_REST;
	if (b->index < b->count || b->left > b->piece)
		cmd->breq.flags |= BREQ_PART;
	b->rest = cmd->breq.flags & BREQ_PART;
	cmd_submit(cmd, cmd->lu->volume);
	return SCSI_PENDING;
}

/* Parts that nothing came behind: one flush for all of them. */
static enum scsi_result bulk_end(struct scsi_cmd *cmd)
{
	if (!cmd->x.bulk.rest || volume_write_back(cmd->lu->volume))
		return SCSI_GOOD;
	cmd->step = BULK_FLUSHED;
	cmd_bytes(cmd, BREQ_FLUSH, 0, 0);
	cmd->breq.flags = BREQ_REST;
	cmd_submit(cmd, cmd->lu->volume);
	return SCSI_PENDING;
}

static enum scsi_result bulk_piece(struct scsi_cmd *cmd)
{
	struct bulk_state *b = &cmd->x.bulk;
	uint64_t most = volume_bulk_piece(cmd->lu->volume, b->op) /
			cmd_block(cmd);

	if (!b->left && !(b->next && b->next(cmd)))
		return bulk_end(cmd);
	b->piece = MIN(b->left, most);
	cmd->step = BULK_LOCKED;
	if (!cmd_lock(cmd, b->lba, b->piece, false))
		return SCSI_PENDING;
	return bulk_locked(cmd);
}

static enum scsi_result bulk_next(struct scsi_cmd *cmd)
{
	struct bulk_state *b = &cmd->x.bulk;
	enum scsi_result r;

	switch ((enum bulk_step)cmd->step) {
	case BULK_LOCKED:
		return bulk_locked(cmd);
	case BULK_DONE:
		r = result_of_breq(&cmd->breq);
		if (r)
			return r;
		lu_count(cmd, b->bytes, lu_bytes(cmd->lu, b->piece));
		b->lba += b->piece;
		b->left -= b->piece;
		return bulk_piece(cmd);
	case BULK_FLUSHED:
		return result_of_breq(&cmd->breq);
	}
	return SCSI_INTERNAL_FAILURE;
}

static void bulk_resume(struct scsi_cmd *cmd)
{
	enum scsi_result r = SCSI_COMMAND_ABORTED;

	if (!cmd_aborted(cmd))
		r = bulk_next(cmd);
	if (r != SCSI_PENDING)
		cmd_unlock(cmd);
	cmd_end(cmd, r);
}

enum scsi_result bulk_start(struct scsi_cmd *cmd)
{
	cmd->resume = bulk_resume;
	return bulk_piece(cmd);
}
