/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * READ CAPACITY(10) and (16), SBC-3.
 */

#include "scsi/scsi_int.h"

enum scsi_result read_capacity10_start(struct scsi_cmd *cmd)
{
	uint64_t last = atomic_load(&cmd->lu->nblocks) - 1;
	struct out o = reply_begin(cmd);

	out_be32(&o, (uint32_t)MIN(last, UINT32_MAX));
	out_be32(&o, (uint32_t)lu_bytes(cmd->lu, 1));
	return reply_end(cmd, &o);
}

enum scsi_result read_capacity16_start(struct scsi_cmd *cmd)
{
	const struct lu *lu = cmd->lu;
	struct out o = reply_begin(cmd);

	out_be64(&o, atomic_load(&lu->nblocks) - 1);
	out_be32(&o, (uint32_t)lu_bytes(lu, 1));
	out_u8(&o, 0);				/* no protection information */
	out_u8(&o, lu_physical_exponent(lu));
	out_u8(&o, (lu_thin(lu) ? 0x80 : 0) |	/* LBPME */
		   (lu_unmap_zeroes(lu) ? 0x40 : 0));	/* LBPRZ */
	out_fill(&o, 0, 32 - 15);
	return reply_end(cmd, &o);
}
