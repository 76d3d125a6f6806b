/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RESERVE and RELEASE as SPC-2 has them, the whole logical unit for the nexus
 * that asks.  Who is refused meanwhile is decided in cmd.c; reset and the loss
 * of the nexus end it.
 */

#include "scsi/scsi_int.h"

enum scsi_result reserve_start(struct scsi_cmd *cmd)
{
	uint64_t holder = 0;

	if (atomic_compare_exchange_strong(&cmd->lu->reserved_by, &holder,
					   cmd->nexus->id) ||
	    holder == cmd->nexus->id)
		return SCSI_GOOD;
	return SCSI_RESERVED_BY_OTHER;
}

void lu_release(struct lu *lu, uint64_t nexus)
{
	atomic_compare_exchange_strong(&lu->reserved_by, &nexus, 0);
}

enum scsi_result release_start(struct scsi_cmd *cmd)
{
	lu_release(cmd->lu, cmd->nexus->id);
	return SCSI_GOOD;	/* from a nexus that holds nothing as well */
}
