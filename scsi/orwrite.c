/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * ORWRITE(16) of SBC-3: Data-Out is merged into the medium by OR.  Piece by
 * piece; a piece's blocks are held exclusively from the read to the write, so
 * that no other write is lost between the two.
 */

#include "lib/buf.h"
#include "scsi/io_int.h"

/* Two buffers are needed, so pieces are short. */
#define ORWRITE_PIECE	(256u << 10)

enum orwrite_step {
	ORWRITE_FETCHED,
	ORWRITE_LOCKED,
	ORWRITE_READ,
	ORWRITE_WRITTEN,
};

static uint32_t orwrite_len(const struct scsi_cmd *cmd)
{
	return MIN(cmd->x.orwrite.total - cmd->moved, ORWRITE_PIECE);
}

static enum scsi_result orwrite_io(struct scsi_cmd *cmd, enum breq_op op)
{
	cmd->step = op == BREQ_READ ? ORWRITE_READ : ORWRITE_WRITTEN;
	cmd_bytes(cmd, op, lu_bytes(cmd->lu, cmd->lba) + cmd->moved,
		  orwrite_len(cmd));
	cmd->breq.data = cmd->x.orwrite.medium;
	if (op == BREQ_WRITE) {
		cmd->breq.flags = cmd_fua(cmd) ? BREQ_FUA : 0;
		cmd->breq.written = cmd_written;
	}
	cmd_submit(cmd, cmd->lu->volume);
	return SCSI_PENDING;
}

static enum scsi_result orwrite_fetched(struct scsi_cmd *cmd)
{
	uint32_t bs = cmd_block(cmd);

	cmd->step = ORWRITE_LOCKED;
	if (!cmd_lock(cmd, cmd->lba + cmd->moved / bs, orwrite_len(cmd) / bs,
		      true))
		return SCSI_PENDING;
	return orwrite_io(cmd, BREQ_READ);
}

static enum scsi_result orwrite_fetch(struct scsi_cmd *cmd)
{
	cmd->step = ORWRITE_FETCHED;
	if (!cmd->transport->data_out(cmd, cmd->moved, orwrite_len(cmd)))
		return SCSI_PENDING;
	return orwrite_fetched(cmd);
}

static enum scsi_result orwrite_merge(struct scsi_cmd *cmd)
{
	uint8_t *medium = cmd->x.orwrite.medium;
	uint32_t len = orwrite_len(cmd), i;

	for (i = 0; i < len; i++)
		medium[i] |= cmd->data[i];
	return orwrite_io(cmd, BREQ_WRITE);
}

static enum scsi_result orwrite_next(struct scsi_cmd *cmd)
{
	enum scsi_result r;

	switch ((enum orwrite_step)cmd->step) {
	case ORWRITE_FETCHED:
		return orwrite_fetched(cmd);
	case ORWRITE_LOCKED:
		return orwrite_io(cmd, BREQ_READ);
	case ORWRITE_READ:
		r = result_of_breq(&cmd->breq);
		return r ? r : orwrite_merge(cmd);
	case ORWRITE_WRITTEN:
		r = result_of_breq(&cmd->breq);
		if (r)
			return r;
		cmd->moved += orwrite_len(cmd);
		if (cmd->moved == cmd->x.orwrite.total)
			return SCSI_GOOD;
		return orwrite_fetch(cmd);
	}
	return SCSI_INTERNAL_FAILURE;
}

static void orwrite_resume(struct scsi_cmd *cmd)
{
	struct orwrite_state *o = &cmd->x.orwrite;
	enum scsi_result r = SCSI_COMMAND_ABORTED;

	if (!cmd_aborted(cmd))
		r = orwrite_next(cmd);
	if (r != SCSI_PENDING) {
		cmd_unlock(cmd);
		buf_put(cmd_bufs(cmd), o->medium, o->room);
	}
	cmd_end(cmd, r);
}

enum scsi_result orwrite_start(struct scsi_cmd *cmd)
{
	struct orwrite_state *o = &cmd->x.orwrite;

	o->total = cmd_want(cmd, lu_bytes(cmd->lu, cmd->nblocks),
			    cmd->dir_out);
	if (o->total % cmd_block(cmd))
		return SCSI_DATA_LENGTH_ERROR;
	if (!o->total)
		return SCSI_GOOD;
	o->room = orwrite_len(cmd);
	o->medium = buf_get(cmd_bufs(cmd), o->room, BUF_NORMAL);
	if (!o->medium)
		return SCSI_BUSY_RESOURCES;
	cmd->resume = orwrite_resume;
	return orwrite_fetch(cmd);
}
