/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * READ DEFECT DATA (10, 12) of SBC-3: the lists of a disk that replaces no
 * blocks are empty, in whatever format they are asked for.
 */

#include "scsi/scsi_int.h"

#define WHICH	0x1f		/* REQ_PLIST, REQ_GLIST, format */

enum scsi_result read_defects10_start(struct scsi_cmd *cmd)
{
	struct out o = reply_begin(cmd);

	out_u8(&o, 0);
	out_u8(&o, cmd->cdb[2] & WHICH);
	out_be16(&o, 0);			/* defect list length */
	return reply_end(cmd, &o);
}

enum scsi_result read_defects12_start(struct scsi_cmd *cmd)
{
	struct out o = reply_begin(cmd);

	out_u8(&o, 0);
	out_u8(&o, cmd->cdb[1] & WHICH);
	out_be16(&o, 0);			/* generation code */
	out_be32(&o, 0);			/* defect list length */
	return reply_end(cmd, &o);
}
