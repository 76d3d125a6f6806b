/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * READ and WRITE (6, 10, 12, 16).  Up to PIECE_MAX bytes go in one request,
 * longer ones piece by piece with the range held throughout.  VERIFY is in
 * verify.c.
 */

#include "scsi/io_int.h"

/* ---- READ -------------------------------------------------------------- */

enum read_step {
	READ_FLUSHED,		/* FUA: the medium is as new as the cache */
	READ_BUFFER,		/* room for a piece is there */
	READ_LOCKED,
	READ_DONE,
	READ_SENT,		/* a piece that is not the last */
};

/* Bytes of the next piece to send; Data-In may end inside a block. */
static uint32_t read_len(const struct scsi_cmd *cmd)
{
	return MIN(cmd->x.rw.total - cmd->moved, PIECE_MAX);
}

static enum scsi_result read_piece(struct scsi_cmd *cmd)
{
	cmd->step = READ_DONE;
	cmd_bytes(cmd, BREQ_READ, lu_bytes(cmd->lu, cmd->lba) + cmd->moved,
		  round_up(read_len(cmd), cmd_block(cmd)));
	cmd_submit(cmd, cmd->lu->volume);
	return SCSI_PENDING;
}

static enum scsi_result read_locked(struct scsi_cmd *cmd)
{
	cmd->step = READ_LOCKED;
	if (!cmd_lock(cmd, cmd->lba, cmd->nblocks, false))
		return SCSI_PENDING;
	return read_piece(cmd);
}

/* The blocks of a COMPARE AND WRITE are seen old or new, never mixed: who reads
 * in pieces, or while one writes, keeps them out from the start. */
static enum scsi_result read_first(struct scsi_cmd *cmd)
{
	cmd->caw_seq = range_seq(cmd->lu->ranges);
	if (cmd->x.rw.total > PIECE_MAX ||
	    range_seq_changed(cmd->lu->ranges, cmd->caw_seq))
		return read_locked(cmd);
	return read_piece(cmd);
}

static enum scsi_result read_buffer(struct scsi_cmd *cmd)
{
	uint32_t len = (uint32_t)round_up(read_len(cmd), cmd_block(cmd));

	cmd->step = READ_BUFFER;
	if (!cmd->transport->get_buffer(cmd, len))
		return SCSI_PENDING;
	return read_first(cmd);
}

static enum scsi_result read_done(struct scsi_cmd *cmd)
{
	enum scsi_result r = result_of_breq(&cmd->breq);
	uint32_t len = read_len(cmd);

	if (r)
		return r;
	if (!cmd->range.held &&
	    range_seq_changed(cmd->lu->ranges, cmd->caw_seq))
		return read_locked(cmd);
	cmd->moved += len;
	if (cmd->moved == cmd->x.rw.total) {
		cmd->data_in_len = len;
		return SCSI_GOOD;
	}
	cmd->step = READ_SENT;
	if (!cmd->transport->data_in(cmd, cmd->moved - len, len))
		return SCSI_PENDING;
	return read_piece(cmd);
}

static enum scsi_result read_next(struct scsi_cmd *cmd)
{
	enum scsi_result r;

	switch ((enum read_step)cmd->step) {
	case READ_FLUSHED:
		r = result_of_breq(&cmd->breq);
		return r ? r : read_buffer(cmd);
	case READ_BUFFER:
		return read_first(cmd);
	case READ_LOCKED:
	case READ_SENT:
		return read_piece(cmd);
	case READ_DONE:
		return read_done(cmd);
	}
	return SCSI_INTERNAL_FAILURE;
}

static void read_resume(struct scsi_cmd *cmd)
{
	enum scsi_result r = SCSI_COMMAND_ABORTED;

	if (!cmd_aborted(cmd))
		r = read_next(cmd);
	if (r != SCSI_PENDING)
		cmd_unlock(cmd);
	cmd_end(cmd, r);
}

enum scsi_result read_start(struct scsi_cmd *cmd)
{
	cmd->x.rw.total = cmd_want(cmd, lu_bytes(cmd->lu, cmd->nblocks),
				   cmd->dir_in);
	if (!cmd->x.rw.total)
		return SCSI_GOOD;
	cmd->resume = read_resume;
	if (cmd_fua(cmd) && volume_write_back(cmd->lu->volume)) {
		cmd->step = READ_FLUSHED;
		cmd_bytes(cmd, BREQ_FLUSH, 0, 0);
		cmd_submit(cmd, cmd->lu->volume);
		return SCSI_PENDING;
	}
	return read_buffer(cmd);
}

/* ---- WRITE ------------------------------------------------------------- */

enum write_step {
	WRITE_FETCHED,		/* a piece of Data-Out is there */
	WRITE_LOCKED,
	WRITE_DONE,
};

static uint32_t write_len(const struct scsi_cmd *cmd)
{
	return MIN(cmd->x.rw.total - cmd->moved, PIECE_MAX);
}

static enum scsi_result write_piece(struct scsi_cmd *cmd)
{
	uint32_t len = write_len(cmd);

	cmd->step = WRITE_DONE;
	cmd_bytes(cmd, BREQ_WRITE, lu_bytes(cmd->lu, cmd->lba) + cmd->moved,
		  len);
	if (cmd_fua(cmd))
		cmd->breq.flags |= BREQ_FUA;
	if (cmd->moved)
		cmd->breq.flags |= BREQ_REST;
	if (cmd->moved + len == cmd->x.rw.total)
		cmd->breq.written = cmd_written;
	else
		cmd->breq.flags |= BREQ_PART;
	cmd_submit(cmd, cmd->lu->volume);
	return SCSI_PENDING;
}

/* The range is taken when the first piece is there: an initiator that is slow
 * to send it keeps nobody waiting. */
static enum scsi_result write_fetched(struct scsi_cmd *cmd)
{
	cmd->step = WRITE_LOCKED;
	if (!cmd->range.held &&
	    !cmd_lock(cmd, cmd->lba, cmd->x.rw.total / cmd_block(cmd), false))
		return SCSI_PENDING;
	return write_piece(cmd);
}

static enum scsi_result write_fetch(struct scsi_cmd *cmd)
{
	cmd->step = WRITE_FETCHED;
	if (!cmd->transport->data_out(cmd, cmd->moved, write_len(cmd)))
		return SCSI_PENDING;
	return write_fetched(cmd);
}

static enum scsi_result write_next(struct scsi_cmd *cmd)
{
	enum scsi_result r;

	switch ((enum write_step)cmd->step) {
	case WRITE_FETCHED:
		return write_fetched(cmd);
	case WRITE_LOCKED:
		return write_piece(cmd);
	case WRITE_DONE:
		r = result_of_breq(&cmd->breq);
		if (r)
			return r;
		cmd->moved += write_len(cmd);
		if (cmd->moved == cmd->x.rw.total)
			return SCSI_GOOD;
		return write_fetch(cmd);
	}
	return SCSI_INTERNAL_FAILURE;
}

static void write_resume(struct scsi_cmd *cmd)
{
	enum scsi_result r = SCSI_COMMAND_ABORTED;

	if (!cmd_aborted(cmd))
		r = write_next(cmd);
	if (r != SCSI_PENDING)
		cmd_unlock(cmd);
	cmd_end(cmd, r);
}

/* Data-Out that ends inside a block is refused before anything is written. */
enum scsi_result write_start(struct scsi_cmd *cmd)
{
	cmd->x.rw.total = cmd_want(cmd, lu_bytes(cmd->lu, cmd->nblocks),
				   cmd->dir_out);
	if (cmd->x.rw.total % cmd_block(cmd))
		return SCSI_DATA_LENGTH_ERROR;
	if (!cmd->x.rw.total)
		return SCSI_GOOD;
	cmd->resume = write_resume;
	return write_fetch(cmd);
}
