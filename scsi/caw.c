/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * COMPARE AND WRITE of SBC-3: what VMware calls ATS.  Data-Out is the compare
 * image, then the write image.  The blocks are held exclusively from the read
 * to the write and given back before the wait for stable storage.
 */

#include <assert.h>

#include "lib/buf.h"
#include "scsi/io_int.h"

enum caw_step {
	CAW_LOCKED,
	CAW_READ,
	CAW_WRITTEN,
};

/* The medium holds the new blocks: readers see them from here on. */
static void caw_unlock(struct scsi_cmd *cmd)
{
	if (cmd->x.caw.writes)
		range_seq_end(cmd->lu->ranges);
	cmd->x.caw.writes = false;
	cmd_unlock(cmd);
}

static void caw_written(struct breq *b)
{
	caw_unlock(container_of(b, struct scsi_cmd, breq));
}

static enum scsi_result caw_locked(struct scsi_cmd *cmd)
{
	cmd->step = CAW_READ;
	cmd_bytes(cmd, BREQ_READ, lu_bytes(cmd->lu, cmd->lba),
		  cmd->x.caw.len);
	cmd->breq.flags = BREQ_URGENT;
	cmd->breq.data = cmd->x.caw.medium;
	cmd_submit(cmd, cmd->lu->volume);
	return SCSI_PENDING;
}

static enum scsi_result caw_compare(struct scsi_cmd *cmd)
{
	struct caw_state *c = &cmd->x.caw;
	size_t diff = first_diff(cmd->data, c->medium, c->len);

	lu_count(cmd, LU_ATS, 1);
	if (diff < c->len) {
		lu_count(cmd, LU_ATS_MISCOMPARES, 1);
		return miscompare_at(cmd, diff);
	}
	cmd->step = CAW_WRITTEN;
	cmd_bytes(cmd, BREQ_WRITE, lu_bytes(cmd->lu, cmd->lba), c->len);
	cmd->breq.flags = BREQ_URGENT | (cmd_fua(cmd) ? BREQ_FUA : 0);
	cmd->breq.data = cmd->data + c->len;
	cmd->breq.written = caw_written;
	c->writes = true;
	range_seq_begin(cmd->lu->ranges);
	cmd_submit(cmd, cmd->lu->volume);
	return SCSI_PENDING;
}

static enum scsi_result caw_next(struct scsi_cmd *cmd)
{
	enum scsi_result r;

	switch ((enum caw_step)cmd->step) {
	case CAW_LOCKED:
		return caw_locked(cmd);
	case CAW_READ:
		r = result_of_breq(&cmd->breq);
		return r ? r : caw_compare(cmd);
	case CAW_WRITTEN:
		r = result_of_breq(&cmd->breq);
		if (!r)
			lu_count(cmd, LU_ATS_BYTES, cmd->x.caw.len);
		return r;
	}
	return SCSI_INTERNAL_FAILURE;
}

static void caw_resume(struct scsi_cmd *cmd)
{
	struct caw_state *c = &cmd->x.caw;
	enum scsi_result r = SCSI_COMMAND_ABORTED;

	/* Aborted between its halves it has written nothing and never will. */
	if (!cmd_aborted(cmd))
		r = caw_next(cmd);
	if (r != SCSI_PENDING) {
		caw_unlock(cmd);
		buf_put(cmd_bufs(cmd), c->medium, c->len);
	}
	cmd_end(cmd, r);
}

enum scsi_result caw_start(struct scsi_cmd *cmd)
{
	struct caw_state *c = &cmd->x.caw;

	if (cmd->nblocks > cmd->lu->limits.max_caw)
		return bad_field(cmd, 13, 7);
	c->len = (uint32_t)lu_bytes(cmd->lu, cmd->nblocks);
	assert(cmd->length == 2 * c->len);	/* OP_EXACT */
	if (!cmd->nblocks)
		return SCSI_GOOD;	/* nothing to compare is no error */
	c->medium = buf_get(cmd_bufs(cmd), c->len, BUF_RESERVED);
	if (!c->medium)
		return SCSI_BUSY_RESOURCES;
	c->writes = false;
	cmd->resume = caw_resume;
	cmd->step = CAW_LOCKED;
	if (!cmd_lock(cmd, cmd->lba, cmd->nblocks, true))
		return SCSI_PENDING;
	return caw_locked(cmd);
}
