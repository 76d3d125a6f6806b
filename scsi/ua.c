/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unit attentions (SAM-5): a set of bits per I_T_L nexus, told in the
 * order of enum unit_attention, posted from any thread.
 */

#include "scsi/scsi_int.h"

static const enum scsi_result results[UNIT_ATTENTIONS] = {
	[UA_POWER_ON]		= SCSI_UA_POWER_ON,
	[UA_TARGET_RESET]	= SCSI_UA_TARGET_RESET,
	[UA_LU_RESET]		= SCSI_UA_LU_RESET,
	[UA_NEXUS_LOSS]		= SCSI_UA_NEXUS_LOSS,
	[UA_LUNS_CHANGED]	= SCSI_UA_LUNS_CHANGED,
	[UA_INQUIRY_CHANGED]	= SCSI_UA_INQUIRY_CHANGED,
	[UA_CAPACITY_CHANGED]	= SCSI_UA_CAPACITY_CHANGED,
	[UA_MODE_CHANGED]	= SCSI_UA_MODE_CHANGED,
	[UA_RESV_PREEMPTED]	= SCSI_UA_RESV_PREEMPTED,
	[UA_RESV_RELEASED]	= SCSI_UA_RESV_RELEASED,
	[UA_REGS_PREEMPTED]	= SCSI_UA_REGS_PREEMPTED,
	[UA_COMMANDS_CLEARED]	= SCSI_UA_COMMANDS_CLEARED,
	[UA_ALUA_CHANGED]	= SCSI_UA_ALUA_CHANGED,
	[UA_TIMESTAMP_CHANGED]	= SCSI_UA_TIMESTAMP_CHANGED,
	[UA_SOFT_THRESHOLD]	= SCSI_UA_SOFT_THRESHOLD,
	[UA_PREVIOUS_BUSY]	= SCSI_UA_PREVIOUS_BUSY,
	[UA_PREVIOUS_FULL]	= SCSI_UA_PREVIOUS_FULL,
	[UA_PREVIOUS_CONFLICT]	= SCSI_UA_PREVIOUS_CONFLICT,
};

void ua_post_itl(struct itl *itl, enum unit_attention ua)
{
	atomic_fetch_or(&itl->ua, 1u << ua);
}

void ua_post(struct lu *lu, enum unit_attention ua, const struct nexus *except)
{
	struct itl *itl;

	pthread_mutex_lock(&lu->mutex);
	list_for_each(itl, &lu->itls, in_lu)
		if (itl->nexus != except)
			ua_post_itl(itl, ua);
	pthread_mutex_unlock(&lu->mutex);
}

void ua_clear(struct nexus *n, enum unit_attention ua)
{
	unsigned i;

	for (i = 0; i < n->nitl; i++)
		atomic_fetch_and(&n->itl[i]->ua, ~(1u << ua));
}

enum scsi_result ua_peek(const struct itl *itl)
{
	uint32_t pending = atomic_load(&itl->ua);

	return pending ? results[__builtin_ctz(pending)] : SCSI_GOOD;
}

enum scsi_result ua_report(struct itl *itl)
{
	return atomic_load(&itl->lu->ua_interlock) == UA_CLEARS ?
	       ua_take(itl) : ua_peek(itl);
}

void ua_of_status(struct itl *itl, enum scsi_status status)
{
	if (atomic_load(&itl->lu->ua_interlock) != UA_STAYS_AND_TELLS)
		return;
	if (status == STATUS_BUSY)
		ua_post_itl(itl, UA_PREVIOUS_BUSY);
	else if (status == STATUS_TASK_SET_FULL)
		ua_post_itl(itl, UA_PREVIOUS_FULL);
	else if (status == STATUS_RESERVATION_CONFLICT)
		ua_post_itl(itl, UA_PREVIOUS_CONFLICT);
}

enum scsi_result ua_take(struct itl *itl)
{
	uint32_t pending = atomic_load(&itl->ua);
	enum unit_attention ua;

	if (!pending)
		return SCSI_GOOD;
	ua = (enum unit_attention)__builtin_ctz(pending);
	/* A nexus is told once that its LUNs changed, not on each of them. */
	if (ua == UA_LUNS_CHANGED)
		ua_clear(itl->nexus, ua);
	else
		atomic_fetch_and(&itl->ua, ~(1u << ua));
	return results[ua];
}
