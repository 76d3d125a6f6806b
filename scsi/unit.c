/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TEST UNIT READY, REQUEST SENSE (SPC-4) and START STOP UNIT (SBC-3).
 */

#include "scsi/scsi_int.h"

enum scsi_result test_unit_ready_start(struct scsi_cmd *cmd)
{
	(void)cmd;
	return SCSI_GOOD;	/* what would say otherwise was checked */
}

/* What there is to tell: it comes as data, with GOOD status. */
static enum scsi_result sense_of(struct scsi_cmd *cmd)
{
	enum scsi_result r;

	if (!cmd->lu)
		return lun_decode(cmd->lun) == LUN_REPORT_LUNS ?
			SCSI_GOOD : SCSI_LUN_NOT_SUPPORTED;
	r = ua_take(cmd->itl);
	return r ? r : lu_readiness(cmd->lu);
}

enum scsi_result request_sense_start(struct scsi_cmd *cmd)
{
	struct out o = reply_begin(cmd);
	uint8_t sense[SENSE_MAX];

	out_bytes(&o, sense, sense_bytes(sense_of(cmd), NULL,
					 cmd->cdb[1] & 0x01, sense));
	return reply_end(cmd, &o);
}

enum { START = 0x01, LOEJ = 0x02, NO_FLUSH = 0x04 };

static void stopped(struct breq *b)
{
	struct scsi_cmd *cmd = container_of(b, struct scsi_cmd, breq);

	if (!b->error)
		atomic_store(&cmd->lu->stopped, true);
	scsi_done(cmd, result_of_breq(b));
}

enum scsi_result start_stop_start(struct scsi_cmd *cmd)
{
	uint8_t how = cmd->cdb[4];
	enum scsi_result r;

	if (how >> 4)
		return bad_field(cmd, 4, 7);	/* no power conditions */
	if (how & LOEJ)
		return bad_field(cmd, 4, 1);	/* the medium stays in */
	if (how & START) {
		atomic_store(&cmd->lu->stopped, false);
		return SCSI_GOOD;
	}
	r = lu_readiness(cmd->lu);
	if (r)
		return r == SCSI_NOT_READY_START_NEEDED ? SCSI_GOOD : r;
	if (how & NO_FLUSH || !volume_write_back(cmd->lu->volume)) {
		atomic_store(&cmd->lu->stopped, true);
		return SCSI_GOOD;
	}
	cmd->breq = (struct breq){ .op = BREQ_FLUSH, .done = stopped };
	volume_submit(cmd->lu->volume, &cmd->breq);
	return SCSI_PENDING;
}
