/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What an initiator may ask about copies (SPC-4, RECEIVE COPY RESULTS and its
 * service actions): what the copy manager can do, and how the copies with a
 * list identifier went.  An I_T nexus' table is made with its first such copy;
 * an entry goes when it was read, after a minute, or when its place is needed.
 */

#include <stdlib.h>

#include "scsi/io_int.h"

/* COPY MANAGER STATUS */
enum copy_status { COPY_RUNS, COPY_DONE, COPY_ERROR };

struct copy_result {
	const struct scsi_cmd *cmd;	/* that runs, or NULL */
	bool		 status, failure;	/* kept for these answers */
	uint8_t		 list_id;
	uint16_t	 segments;
	uint64_t	 copied;		/* bytes */
	enum scsi_result result;
	struct sense_detail detail;
	uint64_t	 ended;			/* ns */
};

static bool kept(const struct copy_result *c)
{
	return c->cmd || c->status || c->failure;
}

static void forget(struct copy_result *c)
{
	*c = (struct copy_result){ .cmd = NULL };
}

/* The entry of a list identifier, or NULL.  What is too old goes. */
static struct copy_result *find(struct nexus *n, uint8_t list_id)
{
	struct copy_result *c = n->copy_results, *found = NULL;
	uint64_t now = engine_now(n->engine);
	unsigned i;

	for (i = 0; c && i < XCOPY_CONCURRENT; i++, c++) {
		if (!c->cmd && kept(c) && now - c->ended >= XCOPY_RESULT_NS)
			forget(c);
		if (kept(c) && c->list_id == list_id)
			found = c;
	}
	return found;
}

/* An entry that is free, or else the oldest of those that ended. */
static struct copy_result *room(struct nexus *n)
{
	struct copy_result *c, *oldest = NULL;
	unsigned i;

	if (!n->copy_results)
		n->copy_results = calloc(XCOPY_CONCURRENT, sizeof(*c));
	c = n->copy_results;
	for (i = 0; c && i < XCOPY_CONCURRENT; i++, c++) {
		if (!kept(c))
			return c;
		if (!c->cmd && (!oldest || c->ended < oldest->ended))
			oldest = c;
	}
	return oldest;
}

void copy_results_free(struct nexus *n)
{
	free(n->copy_results);
	n->copy_results = NULL;
}

enum scsi_result copy_result_begin(struct scsi_cmd *cmd)
{
	struct xcopy_state *x = &cmd->x.xcopy;
	struct copy_result *c;

	if (x->list_id_usage == USAGE_NONE)
		return SCSI_GOOD;
	c = find(cmd->nexus, x->list_id);
	if (c && c->cmd)
		return bad_param(cmd, SCSI_OPERATION_IN_PROGRESS, 0);
	if (!c)
		c = room(cmd->nexus);
	if (!c)
		return SCSI_BUSY_RESOURCES;
	forget(c);
	c->list_id = x->list_id;
	c->cmd = cmd;
	x->listed = true;
	return SCSI_GOOD;
}

void copy_result_end(struct scsi_cmd *cmd, enum scsi_result r)
{
	const struct xcopy_state *x = &cmd->x.xcopy;
	struct copy_result *c;

	if (!x->listed)
		return;
	c = find(cmd->nexus, x->list_id);
	if (x->list_id_usage == USAGE_DISCARD) {
		forget(c);
		return;
	}
	c->cmd = NULL;
	c->status = true;
	c->failure = result_key(r) == KEY_COPY_ABORTED;
	c->segments = x->segment;
	c->copied = x->copied;
	c->result = r;
	c->detail = cmd->detail;
	c->ended = engine_now(cmd->nexus->engine);
}

/* ---- the answers ------------------------------------------------------- */

enum scsi_result copy_status_start(struct scsi_cmd *cmd)
{
	struct copy_result *c = find(cmd->nexus, cmd->cdb[2]);
	const struct xcopy_state *x;
	struct out o = reply_begin(cmd);

	if (!c || !(c->cmd || c->status))
		return bad_field(cmd, 2, 7);
	x = c->cmd ? &c->cmd->x.xcopy : NULL;
	out_be32(&o, 8);
	/* HDD=0: no data are held */
	out_u8(&o, x ? COPY_RUNS : c->result ? COPY_ERROR : COPY_DONE);
	out_be16(&o, x ? x->segment : c->segments);
	out_u8(&o, 1);			/* the count is in KiB */
	out_be32(&o, (uint32_t)((x ? x->copied : c->copied) / KiB));
	c->status = false;
	return reply_end(cmd, &o);
}

enum scsi_result copy_failed_start(struct scsi_cmd *cmd)
{
	struct copy_result *c = find(cmd->nexus, cmd->cdb[2]);
	struct out o = reply_begin(cmd);
	uint8_t sense[SENSE_MAX];
	unsigned len;

	if (!c || !c->failure)
		return bad_field(cmd, 2, 7);
	len = sense_bytes(c->result, &c->detail, false, sense);
	out_be32(&o, 56 + len);
	out_fill(&o, 0, 52);
	out_u8(&o, result_status(c->result));
	out_u8(&o, 0);
	out_be16(&o, (uint16_t)len);
	out_bytes(&o, sense, len);
	c->failure = false;
	return reply_end(cmd, &o);
}

enum scsi_result copy_params_start(struct scsi_cmd *cmd)
{
	static const uint8_t types[] = { 0x02, 0x0a, 0xe4 };
	uint8_t shift = (uint8_t)atomic_load(&cmd->lu->block_shift);
	struct out o = reply_begin(cmd);

	out_be32(&o, 40 + sizeof(types));
	out_u8(&o, 0x01);		/* SNLID: a list needs no identifier */
	out_fill(&o, 0, 3);
	out_be16(&o, XCOPY_CSCDS);
	out_be16(&o, XCOPY_SEGMENTS);
	out_be32(&o, XCOPY_LIST_MAX);
	out_be32(&o, XCOPY_SEGMENT_MAX);
	out_fill(&o, 0, 12);		/* no inline, held or stream data */
	out_fill(&o, 0, 2);
	out_be16(&o, XCOPY_CONCURRENT);
	out_u8(&o, XCOPY_CONCURRENT);
	out_u8(&o, shift);		/* granularities, powers of two */
	out_u8(&o, 0);
	out_u8(&o, 0);
	out_fill(&o, 0, 3);
	out_u8(&o, sizeof(types));
	out_bytes(&o, types, sizeof(types));
	return reply_end(cmd, &o);
}
