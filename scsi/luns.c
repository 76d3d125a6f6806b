/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * REPORT LUNS (SPC-4).  It is answered whatever LUN it is sent to, since a
 * target without a LUN 0 is scanned by it too.
 */

#include "scsi/scsi_int.h"

enum select_report {
	ALL_BUT_WELL_KNOWN	= 0x00,
	WELL_KNOWN		= 0x01,
	ALL			= 0x02,
	ADMINISTRATIVE		= 0x10,		/* and those that follow */
	TOP_LEVEL		= 0x11,
	OF_ADMINISTRATIVE	= 0x12,
};

/* Does the list that was asked for hold ordinary logical units? */
static bool list_of(uint8_t report, bool *ret_ordinary)
{
	switch ((enum select_report)report) {
	case ALL_BUT_WELL_KNOWN:
	case ALL:
	case TOP_LEVEL:
		*ret_ordinary = true;
		return true;
	case WELL_KNOWN:
	case ADMINISTRATIVE:
	case OF_ADMINISTRATIVE:
		*ret_ordinary = false;
		return true;
	}
	return false;
}

enum scsi_result report_luns_start(struct scsi_cmd *cmd)
{
	struct nexus *n = cmd->nexus;
	struct out o = reply_begin(cmd);
	uint8_t field[8];
	bool ordinary;
	unsigned i;

	if (!list_of(cmd->cdb[2], &ordinary))
		return bad_field(cmd, 2, 7);
	out_be32(&o, ordinary ? n->nitl * 8 : 0);
	out_fill(&o, 0, 4);
	for (i = 0; ordinary && i < n->nitl; i++) {
		lun_encode(n->itl[i]->lun, field);
		out_bytes(&o, field, sizeof(field));
	}
	ua_clear(n, UA_LUNS_CHANGED);
	return reply_end(cmd, &o);
}
