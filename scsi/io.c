/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What the commands that work on the medium share; see io_int.h. */

#include "scsi/io_int.h"

#include <string.h>

static void granted(struct range *r)
{
	struct scsi_cmd *cmd = container_of(r, struct scsi_cmd, range);

	cmd->cancel = NULL;
	cmd->resume(cmd);
}

/* The grant's message carries the abort too: it was not sent, and will come
 * from the loop, where the step function finds no range held. */
static void cancel(struct scsi_cmd *cmd)
{
	struct range *r = &cmd->range;

	cmd->cancel = NULL;
	if (range_cancel(cmd->lu->ranges, r))
		engine_post(r->engine, &r->post);
}

bool cmd_lock(struct scsi_cmd *cmd, uint64_t lba, uint64_t nblocks,
	      bool exclusive)
{
	struct range *r = &cmd->range;

	r->lba = lba;
	r->nblocks = nblocks;
	r->exclusive = exclusive;
	r->barge = false;
	r->engine = cmd->nexus->engine;
	r->granted = granted;
	if (range_lock(cmd->lu->ranges, r))
		return true;
	cmd->cancel = cancel;
	return false;
}

void cmd_unlock(struct scsi_cmd *cmd)
{
	if (cmd->range.held)
		range_unlock(cmd->lu->ranges, &cmd->range);
}

static void done(struct breq *b)
{
	struct scsi_cmd *cmd = container_of(b, struct scsi_cmd, breq);

	cmd->resume(cmd);
}

void cmd_bytes(struct scsi_cmd *cmd, enum breq_op op, uint64_t off,
	       uint64_t len)
{
	struct breq *b = &cmd->breq;

	b->op = op;
	b->flags = 0;
	b->off = off;
	b->len = len;
	b->data = cmd->data;
	b->written = NULL;
	b->done = done;
}

void cmd_submit(struct scsi_cmd *cmd, struct volume *v)
{
	volume_submit(v, &cmd->breq);
}

void cmd_written(struct breq *b)
{
	cmd_unlock(container_of(b, struct scsi_cmd, breq));
}

size_t first_diff(const uint8_t *a, const uint8_t *b, size_t len)
{
	size_t at = 0;

	while (at + 64 <= len && !memcmp(a + at, b + at, 64))
		at += 64;
	while (at < len && a[at] == b[at])
		at++;
	return at;
}
