/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * VERIFY and WRITE AND VERIFY (10, 12, 16).  BYTCHK 00b only reads the medium,
 * 01b compares it with Data-Out block by block, 11b compares every block with
 * the one block of Data-Out.  Piece by piece; a piece's blocks are held from
 * its write, or its read, until it was compared.
 */

#include "lib/buf.h"
#include "scsi/io_int.h"

/* Two buffers are needed, so pieces are short. */
#define VERIFY_PIECE (256u << 10)

enum verify_step {
	VERIFY_FETCHED,		/* Data-Out for a piece, if any, is there */
	VERIFY_LOCKED,
	VERIFY_WRITTEN,		/* WRITE AND VERIFY */
	VERIFY_READ,
};

enum { BYTCHK_NONE = 0, BYTCHK_BLOCKS = 1, BYTCHK_SAME = 3 };

static uint32_t verify_len(const struct scsi_cmd *cmd)
{
	const struct verify_state *v = &cmd->x.verify;

	return (uint32_t)MIN(v->total - cmd->done_bytes,
			     (uint64_t)VERIFY_PIECE);
}

static uint64_t verify_off(const struct scsi_cmd *cmd)
{
	return lu_bytes(cmd->lu, cmd->lba) + cmd->done_bytes;
}

static enum scsi_result verify_read(struct scsi_cmd *cmd)
{
	cmd->step = VERIFY_READ;
	cmd_bytes(cmd, BREQ_READ, verify_off(cmd), verify_len(cmd));
	cmd->breq.data = cmd->x.verify.medium;
	cmd_submit(cmd, cmd->lu->volume);
	return SCSI_PENDING;
}

static enum scsi_result verify_locked(struct scsi_cmd *cmd)
{
	if (!cmd->x.verify.writes)
		return verify_read(cmd);
	cmd->step = VERIFY_WRITTEN;
	cmd_bytes(cmd, BREQ_WRITE, verify_off(cmd), verify_len(cmd));
	/* What is verified shall be on the medium, not in a cache. */
	cmd->breq.flags |= BREQ_FUA;
	cmd_submit(cmd, cmd->lu->volume);
	return SCSI_PENDING;
}

static enum scsi_result verify_fetched(struct scsi_cmd *cmd)
{
	uint32_t bs = cmd_block(cmd);

	cmd->step = VERIFY_LOCKED;
	if (!cmd_lock(cmd, cmd->lba + cmd->done_bytes / bs,
		      verify_len(cmd) / bs, false))
		return SCSI_PENDING;
	return verify_locked(cmd);
}

static enum scsi_result verify_fetch(struct scsi_cmd *cmd)
{
	struct verify_state *v = &cmd->x.verify;
	uint32_t len = v->bytchk == BYTCHK_SAME ? cmd_block(cmd) :
		       verify_len(cmd);

	cmd->step = VERIFY_FETCHED;
	if (v->fetches) {
		v->fetches = v->bytchk != BYTCHK_SAME;	/* once */
		if (!cmd->transport->data_out(cmd, cmd->moved, len))
			return SCSI_PENDING;
	}
	return verify_fetched(cmd);
}

/* Offset of the first byte of the piece that differs, or its length. */
static size_t verify_diff(const struct scsi_cmd *cmd)
{
	const struct verify_state *v = &cmd->x.verify;
	uint32_t bs = cmd_block(cmd), len = verify_len(cmd);
	size_t at, diff;

	if (v->bytchk == BYTCHK_NONE)
		return len;
	if (v->bytchk == BYTCHK_BLOCKS)
		return first_diff(cmd->data, v->medium, len);
	for (at = 0; at < len; at += bs) {
		diff = first_diff(cmd->data, v->medium + at, bs);
		if (diff < bs)
			return at + diff;
	}
	return len;
}

static enum scsi_result verify_compare(struct scsi_cmd *cmd)
{
	struct verify_state *v = &cmd->x.verify;
	uint32_t len = verify_len(cmd);
	size_t diff = verify_diff(cmd);

	if (diff < len)
		return miscompare_at(cmd, cmd->done_bytes + diff);
	cmd_unlock(cmd);
	cmd->done_bytes += len;
	if (v->bytchk == BYTCHK_SAME)
		cmd->moved = cmd_block(cmd);
	else if (v->fetches)
		cmd->moved += len;
	if (cmd->done_bytes == v->total)
		return SCSI_GOOD;
	return verify_fetch(cmd);
}

static enum scsi_result verify_next(struct scsi_cmd *cmd)
{
	enum scsi_result r;

	switch ((enum verify_step)cmd->step) {
	case VERIFY_FETCHED:
		return verify_fetched(cmd);
	case VERIFY_LOCKED:
		return verify_locked(cmd);
	case VERIFY_WRITTEN:
		r = result_of_breq(&cmd->breq);
		return r ? r : verify_read(cmd);
	case VERIFY_READ:
		r = result_of_breq(&cmd->breq);
		return r ? r : verify_compare(cmd);
	}
	return SCSI_INTERNAL_FAILURE;
}

static void verify_resume(struct scsi_cmd *cmd)
{
	struct verify_state *v = &cmd->x.verify;
	enum scsi_result r = SCSI_COMMAND_ABORTED;

	if (!cmd_aborted(cmd))
		r = verify_next(cmd);
	if (r != SCSI_PENDING) {
		cmd_unlock(cmd);
		buf_put(cmd_bufs(cmd), v->medium, v->room);
	}
	cmd_end(cmd, r);
}

/* total bytes of the medium are verified, with or without Data-Out. */
static enum scsi_result start(struct scsi_cmd *cmd, uint64_t total)
{
	struct verify_state *v = &cmd->x.verify;

	v->total = total;
	if (!total)
		return SCSI_GOOD;
	v->room = verify_len(cmd);
	v->medium = buf_get(cmd_bufs(cmd), v->room, BUF_NORMAL);
	if (!v->medium)
		return SCSI_BUSY_RESOURCES;
	cmd->resume = verify_resume;
	return verify_fetch(cmd);
}

enum scsi_result verify_start(struct scsi_cmd *cmd)
{
	struct verify_state *v = &cmd->x.verify;
	uint64_t all = lu_bytes(cmd->lu, cmd->nblocks);
	uint32_t bs = cmd_block(cmd), total;

	v->writes = false;
	v->bytchk = cmd->cdb[1] >> 1 & 3;
	v->fetches = v->bytchk != BYTCHK_NONE;
	switch (v->bytchk) {
	case BYTCHK_NONE:
		return start(cmd, all);
	case BYTCHK_BLOCKS:
		total = cmd_want(cmd, all, cmd->dir_out);
		if (total % bs)
			return SCSI_DATA_LENGTH_ERROR;
		return start(cmd, total);
	case BYTCHK_SAME:
		if (all && cmd_want(cmd, bs, cmd->dir_out) < bs)
			return SCSI_DATA_LENGTH_ERROR;
		return start(cmd, all);
	}
	return bad_field(cmd, 1, 2);
}

/* SBC-3 reserves 1xb here: what was written is what is compared. */
enum scsi_result write_verify_start(struct scsi_cmd *cmd)
{
	struct verify_state *v = &cmd->x.verify;
	uint32_t total = cmd_want(cmd, lu_bytes(cmd->lu, cmd->nblocks),
				  cmd->dir_out);

	v->writes = v->fetches = true;
	v->bytchk = cmd->cdb[1] >> 1 & 3;
	if (v->bytchk > BYTCHK_BLOCKS)
		return bad_field(cmd, 1, 2);
	if (total % cmd_block(cmd))
		return SCSI_DATA_LENGTH_ERROR;
	return start(cmd, total);
}
