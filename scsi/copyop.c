/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Copy operations: the table, background operations and COPY OPERATION ABORT
 * (SPC-4); see copyop.h.
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

enum scsi_result copyop_begin(struct scsi_cmd *cmd, enum copyop_form form,
			      uint32_t list_id, unsigned field)
{
	struct copyop *c = copyop_find(cmd->itl, list_id);

	if (c && c->cmd)
		return bad_param(cmd, SCSI_OPERATION_IN_PROGRESS, field);
	if (!c)
		c = room(cmd->itl);
	if (!c)
		return SCSI_BUSY_RESOURCES;
	forget(c);
	c->cmd = cmd;
	c->form = form;
	c->action = cmd->cdb[1] & 0x1f;
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
	c->progress++;
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
	c->terminated = cmd_aborted(cmd) || c->stop;
	c->failure = result_key(r) == KEY_COPY_ABORTED;
	c->result = r;
	c->detail = cmd->detail;
	c->ended = engine_now(cmd->nexus->engine);
}

/* ---- in the background ------------------------------------------------- */

struct background {
	struct scsi_cmd	 cmd;
	struct edefer	 begin;
	uint8_t		 list[];	/* cmd.data */
};

static void background_done(struct scsi_cmd *cmd)
{
	struct background *b = container_of(cmd, struct background, cmd);

	cmd->itl->background--;
	free(b);
}

static const struct scsi_transport background_transport = {
	.done = background_done,
};

static void background_begin(struct edefer *d)
{
	struct background *b = container_of(d, struct background, begin);

	b->cmd.resume(&b->cmd);
}

static void adopt(struct scsi_cmd *to, const struct scsi_cmd *from)
{
	to->nexus = from->nexus;
	to->itl = from->itl;
	to->lu = from->lu;
	to->op = from->op;
	memcpy(to->lun, from->lun, sizeof(to->lun));
	memcpy(to->cdb, from->cdb, sizeof(to->cdb));
	memcpy(to->data, from->data, from->length);
	to->data_size = to->length = from->length;
	to->attr = ATTR_SIMPLE;
	to->started = from->started;
	to->step = from->step;
	to->x = from->x;
	to->copyop = from->copyop;
}

enum scsi_result copyop_background(struct scsi_cmd *cmd,
				   void (*resume)(struct scsi_cmd *cmd))
{
	struct background *b = calloc(1, sizeof(*b) + cmd->length);

	if (!b)
		return SCSI_BUSY_RESOURCES;
	b->cmd.data = b->list;
	adopt(&b->cmd, cmd);
	b->cmd.transport = &background_transport;
	b->cmd.resume = resume;
	scsi_cmd_init(&b->cmd);
	taskset_add(&b->cmd);
	b->cmd.copyop->cmd = &b->cmd;
	b->cmd.copyop->background = true;
	cmd->itl->background++;
	cmd->copyop = NULL;
	list_init(&b->begin.link);
	b->begin.run = background_begin;
	engine_defer(cmd->nexus->engine, &b->begin);
	return SCSI_GOOD;
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
