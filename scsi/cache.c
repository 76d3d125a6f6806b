/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * SYNCHRONIZE CACHE (10, 16) and PRE-FETCH (10, 16).  With IMMED the answer
 * goes out at once and the act goes on without the command.
 */

#include <stdlib.h>

#include "scsi/io_int.h"

#define IMMED 0x02		/* byte 1 of both */

/* An act whose command was answered already. */
struct detached {
	struct breq	 breq;
	struct lu	*lu;
};

static void detached_done(struct breq *b)
{
	struct detached *d = container_of(b, struct detached, breq);

	lu_unref(d->lu);
	free(d);
}

/* False: no memory, the command has to wait. */
static bool detach(struct scsi_cmd *cmd)
{
	struct detached *d = calloc(1, sizeof(*d));

	if (!d)
		return false;
	d->lu = lu_ref(cmd->lu);
	d->breq.op = cmd->breq.op;
	d->breq.off = cmd->breq.off;
	d->breq.len = cmd->breq.len;
	d->breq.done = detached_done;
	volume_submit(cmd->lu->volume, &d->breq);
	return true;
}

static void cache_resume(struct scsi_cmd *cmd)
{
	scsi_done(cmd, cmd_aborted(cmd) ? SCSI_COMMAND_ABORTED :
		  result_of_breq(&cmd->breq));
}

/* Zero blocks are all blocks from LBA to the last. */
static enum scsi_result start(struct scsi_cmd *cmd, enum breq_op op)
{
	uint64_t end = atomic_load(&cmd->lu->nblocks);
	uint64_t n = cmd->nblocks ? cmd->nblocks : end - MIN(cmd->lba, end);

	cmd->resume = cache_resume;
	cmd_bytes(cmd, op, lu_bytes(cmd->lu, cmd->lba), lu_bytes(cmd->lu, n));
	if (cmd->cdb[1] & IMMED && detach(cmd))
		return SCSI_GOOD;
	cmd_submit(cmd, cmd->lu->volume);
	return SCSI_PENDING;
}

enum scsi_result sync_cache_start(struct scsi_cmd *cmd)
{
	return start(cmd, BREQ_FLUSH);
}

/* Whether all of it stays in the cache is the kernel's business, so we never
 * promise it: GOOD, not CONDITION MET. */
enum scsi_result prefetch_start(struct scsi_cmd *cmd)
{
	return start(cmd, BREQ_PREFETCH);
}
