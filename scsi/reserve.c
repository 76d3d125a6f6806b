/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RESERVE and RELEASE as SPC-2 has them, the whole logical unit for the nexus
 * that asks.  Who is refused meanwhile is decided in cmd.c; reset and the loss
 * of the nexus end it.
 */

#include "scsi/scsi_int.h"

/* Where somebody is registered, SPC-2 refuses and SPC-3 makes exceptions. */
enum scsi_result reserve_start(struct scsi_cmd *cmd)
{
	enum scsi_result r = SCSI_RESERVED_BY_OTHER;
	struct lu *lu = cmd->lu;
	uint64_t holder = 0;
	bool exempt;

	pthread_mutex_lock(&lu->mutex);
	if (lu_registered(lu, cmd->nexus, &exempt)) {
		r = exempt ? SCSI_GOOD : r;
	} else if (atomic_compare_exchange_strong(&lu->reserved_by, &holder,
						  cmd->nexus->id) ||
		   holder == cmd->nexus->id) {
		reserved_refresh(lu);
		r = SCSI_GOOD;
	}
	pthread_mutex_unlock(&lu->mutex);
	return r;
}

void lu_release(struct lu *lu, uint64_t nexus)
{
	if (atomic_load(&lu->reserved_by) != nexus)
		return;
	pthread_mutex_lock(&lu->mutex);
	if (atomic_compare_exchange_strong(&lu->reserved_by, &nexus, 0))
		reserved_refresh(lu);
	pthread_mutex_unlock(&lu->mutex);
}

void lu_reset_reserved(struct lu *lu)
{
	pthread_mutex_lock(&lu->mutex);
	if (atomic_exchange(&lu->reserved_by, 0))
		reserved_refresh(lu);
	pthread_mutex_unlock(&lu->mutex);
}

enum scsi_result release_start(struct scsi_cmd *cmd)
{
	bool registered, exempt;

	pthread_mutex_lock(&cmd->lu->mutex);
	registered = lu_registered(cmd->lu, cmd->nexus, &exempt);
	pthread_mutex_unlock(&cmd->lu->mutex);
	if (registered && !exempt)
		return SCSI_RESERVED_BY_OTHER;
	lu_release(cmd->lu, cmd->nexus->id);
	return SCSI_GOOD;	/* from a nexus that holds nothing as well */
}
