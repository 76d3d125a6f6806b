/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Copy operations: the table, and COPY OPERATION ABORT (SPC-4); see copyop.h.
 */

#include "scsi/copyop.h"

#include <stdlib.h>

#include "scsi/scsi_int.h"

/* ---- the table --------------------------------------------------------- */

static void forget(struct copyop *c)
{
	*c = (struct copyop){ .cmd = NULL };
	list_init(&c->stoppers);
}

static bool expired(const struct itl *itl, const struct copyop *c)
{
	return engine_now(itl->nexus->engine) - c->ended >= XCOPY_RESULT_NS ||
	       c->resets != atomic_load(&itl->lu->resets);
}

struct copyop *copyop_find(struct itl *itl, uint32_t list_id)
{
	struct copyop *c = itl->copyops, *found = NULL;
	unsigned i;

	for (i = 0; c && i < XCOPY_CONCURRENT; i++, c++) {
		if (c->kept && expired(itl, c))
			forget(c);
		if ((c->cmd || c->kept) && c->list_id == list_id)
			found = c;
	}
	return found;
}

static struct copyop *table(struct itl *itl)
{
	unsigned i;

	if (itl->copyops)
		return itl->copyops;
	itl->copyops = malloc(XCOPY_CONCURRENT * sizeof(*itl->copyops));
	for (i = 0; itl->copyops && i < XCOPY_CONCURRENT; i++)
		forget(&itl->copyops[i]);
	return itl->copyops;
}

/* An entry that is free, or else the oldest of those that ended. */
static struct copyop *room(struct itl *itl)
{
	struct copyop *c = table(itl), *oldest = NULL;
	unsigned i;

	for (i = 0; c && i < XCOPY_CONCURRENT; i++, c++) {
		if (!c->cmd && !c->kept)
			return c;
		if (!c->cmd && (!oldest || c->ended < oldest->ended))
			oldest = c;
	}
	return oldest;
}

void copyops_forget(struct itl *itl)
{
	struct copyop *c = itl->copyops;
	unsigned i;

	for (i = 0; c && i < XCOPY_CONCURRENT; i++, c++)
		if (c->cmd)
			c->discard = true;
		else
			forget(c);
}

void copyops_free(struct itl *itl)
{
	free(itl->copyops);
	itl->copyops = NULL;
}

/* ---- an operation ------------------------------------------------------ */

enum scsi_result copyop_begin(struct scsi_cmd *cmd, uint32_t list_id)
{
	struct copyop *c = copyop_find(cmd->itl, list_id);

	if (c && c->cmd)
		return bad_param(cmd, SCSI_OPERATION_IN_PROGRESS, 0);
	if (!c)
		c = room(cmd->itl);
	if (!c)
		return SCSI_BUSY_RESOURCES;
	forget(c);
	c->cmd = cmd;
	c->list_id = list_id;
	c->resets = atomic_load(&cmd->lu->resets);
	cmd->copyop = c;
	return SCSI_GOOD;
}

void copyop_moved(struct scsi_cmd *cmd, uint64_t bytes, uint16_t segments)
{
	struct copyop *c = cmd->copyop;

	if (!c)
		return;
	c->bytes += bytes;
	c->segments = segments;
}

static void answer_stoppers(struct copyop *c)
{
	struct scsi_cmd *cmd, *tmp;

	list_for_each_safe(cmd, tmp, &c->stoppers, in_wait) {
		list_del(&cmd->in_wait);
		scsi_done_later(cmd, SCSI_GOOD);
	}
}

void copyop_end(struct scsi_cmd *cmd, enum scsi_result r)
{
	struct copyop *c = cmd->copyop;

	if (!c)
		return;
	cmd->copyop = NULL;
	c->cmd = NULL;
	answer_stoppers(c);
	if (c->discard || c->resets != atomic_load(&cmd->lu->resets)) {
		forget(c);
		return;
	}
	c->kept = true;
	c->failure = result_key(r) == KEY_COPY_ABORTED;
	c->result = r;
	c->detail = cmd->detail;
	c->ended = engine_now(cmd->nexus->engine);
}

/* ---- COPY OPERATION ABORT ---------------------------------------------- */

/* GOOD comes when nothing of the operation is under way any more.  When this
 * command is aborted first, the operation stops nevertheless. */
enum scsi_result copy_abort_start(struct scsi_cmd *cmd)
{
	uint32_t list_id = be32_get(BE_AT(be32, cmd->cdb, 2));
	struct copyop *c = copyop_find(cmd->itl, list_id);

	if (!c || !c->cmd)
		return bad_field(cmd, 2, 7);
	list_add_tail(&c->stoppers, &cmd->in_wait);
	c->stop = true;
	if (c->cmd->cancel)	/* it waits: its step function looks again */
		c->cmd->cancel(c->cmd);
	return SCSI_PENDING;
}
