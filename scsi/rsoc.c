/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * REPORT SUPPORTED OPERATION CODES and REPORT SUPPORTED TASK MANAGEMENT
 * FUNCTIONS (SPC-4), printed from the table that dispatches.
 */

#include "scsi/scsi_int.h"

enum reporting_options { ALL_COMMANDS, ONE_OPCODE, ONE_ACTION, ONE_COMMAND };

#define TIMEOUT_SECONDS		30u	/* recommended */
#define BULK_TIMEOUT_SECONDS	120u

static void timeouts(const struct scsi_op *op, struct out *o)
{
	out_be16(o, 0x000a);
	out_fill(o, 0, 2);
	out_be32(o, 0);			/* nominal: none indicated */
	out_be32(o, op->flags & OP_BULK ? BULK_TIMEOUT_SECONDS :
					  TIMEOUT_SECONDS);
}

static enum scsi_result all_commands(struct scsi_cmd *cmd, bool rctd)
{
	struct out o = reply_begin(cmd);
	const struct scsi_op *op;

	out_be32(&o, 0);
	for (op = scsi_ops; op < scsi_ops + scsi_nops; op++) {
		if (!scsi_op_offered(op, cmd->lu))
			continue;
		out_u8(&o, op->opcode);
		out_u8(&o, 0);
		out_be16(&o, op->sa < 0 ? 0 : (uint16_t)op->sa);
		out_u8(&o, 0);
		out_u8(&o, (rctd ? 0x02 : 0) | (op->sa < 0 ? 0 : 0x01));
		out_be16(&o, op->len);
		if (rctd)
			timeouts(op, &o);
	}
	out_patch_be32(&o, 0, (uint32_t)(o.len - 4));
	return reply_end(cmd, &o);
}

static enum scsi_result one_command(struct scsi_cmd *cmd,
				    const struct scsi_op *op, bool rctd)
{
	struct out o = reply_begin(cmd);

	out_u8(&o, 0);
	if (!op) {
		out_u8(&o, 0x01);		/* SUPPORT: not supported */
		out_be16(&o, 0);
		return reply_end(cmd, &o);
	}
	out_u8(&o, 0x03 | (rctd ? 0x80 : 0));	/* in conformance; CTDP */
	out_be16(&o, op->len);
	out_bytes(&o, op->usage, op->len);
	if (rctd)
		timeouts(op, &o);
	return reply_end(cmd, &o);
}

static const struct scsi_op *find(const struct lu *lu, uint8_t opcode,
				  uint16_t sa)
{
	const struct scsi_op *op;

	for (op = scsi_ops; op < scsi_ops + scsi_nops; op++)
		if (op->opcode == opcode && scsi_op_offered(op, lu) &&
		    (op->sa < 0 ? sa == 0 : sa == op->sa))
			return op;
	return NULL;
}

enum scsi_result rsoc_start(struct scsi_cmd *cmd)
{
	bool rctd = cmd->cdb[2] & 0x80;
	uint8_t opcode = cmd->cdb[3];
	uint16_t sa = be16_get(BE_AT(be16, cmd->cdb, 4));
	const struct scsi_op *first = scsi_opcode_offered(opcode, cmd->lu);
	bool has_actions = first && first->sa >= 0;

	switch (cmd->cdb[2] & 0x07) {
	case ALL_COMMANDS:
		return all_commands(cmd, rctd);
	case ONE_OPCODE:
		if (has_actions)
			return bad_field(cmd, 2, 2);
		return one_command(cmd, first, rctd);
	case ONE_ACTION:
		if (first && !has_actions)
			return bad_field(cmd, 2, 2);
		return one_command(cmd, find(cmd->lu, opcode, sa), rctd);
	case ONE_COMMAND:
		return one_command(cmd, find(cmd->lu, opcode, sa), rctd);
	default:
		return bad_field(cmd, 2, 2);
	}
}

enum scsi_result rstmf_start(struct scsi_cmd *cmd)
{
	bool extended = cmd->cdb[2] & 0x80;	/* REPD */
	struct out o;

	if (cmd->length < 4)
		return bad_field(cmd, 6, 7);
	o = reply_begin(cmd);
	/* ABORT TASK, ABORT TASK SET, CLEAR TASK SET, LOGICAL UNIT RESET,
	 * QUERY TASK, TARGET RESET; QUERY ASYNCHRONOUS EVENT, QUERY TASK SET,
	 * I_T NEXUS RESET */
	out_u8(&o, 0x80 | 0x40 | 0x10 | 0x08 | 0x04 | 0x02);
	out_u8(&o, 0x04 | 0x02 | 0x01);
	out_u8(&o, 0);
	out_u8(&o, extended ? 0x0c : 0);
	if (extended) {
		out_fill(&o, 0, 4);
		out_be32(&o, TIMEOUT_SECONDS * 10);	/* in 100 ms */
		out_be32(&o, TIMEOUT_SECONDS * 10);
	}
	return reply_end(cmd, &o);
}
