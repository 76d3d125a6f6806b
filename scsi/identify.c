/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * REPORT IDENTIFYING INFORMATION (SPC-4): the text is the volume's name, which
 * the administrator gave it.  Hosts set nothing.
 */

#include "scsi/scsi_int.h"

enum { TEXT = 0x02, SUPPORTED = 0x7f };

#define TEXT_MAX 256

enum scsi_result report_identity_start(struct scsi_cmd *cmd)
{
	unsigned type = cmd->cdb[10] >> 1;
	struct out o = reply_begin(cmd);

	out_be16(&o, 0);
	out_be16(&o, 0);
	switch (type) {
	case TEXT:
		out_bytes(&o, cmd->lu->name, strlen(cmd->lu->name) + 1);
		break;
	case SUPPORTED:
		out_u8(&o, TEXT << 1);
		out_u8(&o, 0);
		out_be16(&o, TEXT_MAX);
		break;
	default:
		return bad_field(cmd, 10, 7);
	}
	out_patch_be16(&o, 2, (uint16_t)(o.len - 4));
	return reply_end(cmd, &o);
}
