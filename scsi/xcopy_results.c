/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What an initiator may ask about copies (SPC-4, RECEIVE COPY RESULTS and its
 * service actions): what the copy manager can do, and how the copies with a
 * list identifier went (copyop.h).
 */

#include "scsi/copyop.h"
#include "scsi/scsi_int.h"

/* COPY MANAGER STATUS */
enum copy_status { COPY_RUNS, COPY_DONE, COPY_ERROR };

enum scsi_result copy_status_start(struct scsi_cmd *cmd)
{
	struct copyop *c = copyop_find(cmd->itl, cmd->cdb[2]);
	struct out o = reply_begin(cmd);

	if (!c || c->told)
		return bad_field(cmd, 2, 7);
	out_be32(&o, 8);
	/* HDD=0: no data are held */
	out_u8(&o, c->cmd ? COPY_RUNS : c->result ? COPY_ERROR : COPY_DONE);
	out_be16(&o, c->segments);
	out_u8(&o, 1);			/* the count is in KiB */
	out_be32(&o, (uint32_t)MIN(c->bytes / KiB, UINT32_MAX));
	c->told = !c->cmd;
	return reply_end(cmd, &o);
}

enum scsi_result copy_failed_start(struct scsi_cmd *cmd)
{
	struct copyop *c = copyop_find(cmd->itl, cmd->cdb[2]);
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
