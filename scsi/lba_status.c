/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * GET LBA STATUS of SBC-3: which blocks are mapped.  The volume tells runs of
 * bytes; runs that are alike are told as one.
 */

#include "scsi/io_int.h"

#define DESC_LEN	16u
#define DESCS_MAX	64u		/* one answer's */
#define ACTS_MAX	256u		/* questions to the volume for it */

enum provisioning { MAPPED = 0, DEALLOCATED = 1, ANCHORED = 2 };

/* Puts the descriptor of what was looked at, if anything was. */
static void put(struct lba_status_state *s)
{
	if (!s->run)
		return;
	out_be64(&s->out, s->run_lba);
	out_be32(&s->out, (uint32_t)s->run);
	out_u8(&s->out, s->run_status);
	out_fill(&s->out, 0, 3);
	s->descs++;
	s->run_lba += s->run;
	s->run = 0;
}

static enum scsi_result finish(struct scsi_cmd *cmd)
{
	struct lba_status_state *s = &cmd->x.lba_status;

	put(s);
	out_patch_be32(&s->out, 0, (uint32_t)s->out.len - 4);
	return reply_end(cmd, &s->out);
}

static bool full(const struct scsi_cmd *cmd)
{
	const struct lba_status_state *s = &cmd->x.lba_status;

	return s->descs == DESCS_MAX || s->acts == ACTS_MAX ||
	       8 + (s->descs + 1) * DESC_LEN > MAX(cmd->length, 8 + DESC_LEN);
}

/* A block that is mapped in part is mapped. */
static uint64_t blocks_of_run(const struct scsi_cmd *cmd, uint8_t *status)
{
	uint32_t bs = cmd_block(cmd);

	*status = cmd->breq.anchored ? ANCHORED : DEALLOCATED;
	if (cmd->breq.mapped || cmd->breq.run < bs)
		*status = MAPPED;
	if (*status == MAPPED)
		return MAX(round_up(cmd->breq.run, bs), bs) / bs;
	return cmd->breq.run / bs;
}

static enum scsi_result ask(struct scsi_cmd *cmd)
{
	struct lba_status_state *s = &cmd->x.lba_status;

	s->acts++;
	cmd_bytes(cmd, BREQ_EXTENT, lu_bytes(cmd->lu, s->lba),
		  lu_bytes(cmd->lu, s->left));
	cmd_submit(cmd, cmd->lu->volume);
	return SCSI_PENDING;
}

static enum scsi_result told(struct scsi_cmd *cmd)
{
	struct lba_status_state *s = &cmd->x.lba_status;
	enum scsi_result r = result_of_breq(&cmd->breq);
	uint8_t status;
	uint64_t n;

	if (r)
		return r;
	n = MIN(blocks_of_run(cmd, &status), s->left);
	if (s->run && status != s->run_status) {
		put(s);
		if (full(cmd))
			return finish(cmd);
	}
	s->run_status = status;
	n = MIN(n, UINT32_MAX - s->run);
	s->run += n;
	s->lba += n;
	s->left -= n;
	if (!s->left || s->run == UINT32_MAX || s->acts == ACTS_MAX)
		return finish(cmd);
	return ask(cmd);
}

static void lba_status_resume(struct scsi_cmd *cmd)
{
	cmd_end(cmd, cmd_aborted(cmd) ? SCSI_COMMAND_ABORTED : told(cmd));
}

enum scsi_result lba_status_start(struct scsi_cmd *cmd)
{
	struct lba_status_state *s = &cmd->x.lba_status;
	uint64_t size = atomic_load(&cmd->lu->nblocks);

	if (cmd->lba >= size)
		return lba_error(cmd, cmd->lba);
	*s = (struct lba_status_state){
		.out = reply_begin(cmd),
		.lba = cmd->lba, .run_lba = cmd->lba, .left = size - cmd->lba,
		.run_status = MAPPED,
	};
	out_fill(&s->out, 0, 8);
	if (!lu_thin(cmd->lu)) {	/* fully provisioned: all are mapped */
		s->run = MIN(s->left, UINT32_MAX);
		return finish(cmd);
	}
	cmd->resume = lba_status_resume;
	return ask(cmd);
}
