/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Task management functions (SAM-5).  Each logical unit concerned gets a
 * fence, which marks the commands on all workers; the function is answered when
 * the last of them is gone.
 */

#include <stdlib.h>
#include <string.h>

#include "scsi/copyop.h"
#include "scsi/scsi_int.h"

static void tmf_end(struct edefer *d)
{
	struct scsi_tmf *t = container_of(d, struct scsi_tmf, defer);

	t->done(t);
}

static void tmf_settle(struct scsi_tmf *t)
{
	if (!--t->pending)
		engine_defer(t->nexus->engine, &t->defer);
}

static void tmf_fenced(struct fence *f)
{
	struct scsi_tmf *t = f->arg;

	fence_free(f);
	tmf_settle(t);
}

/* tas: those of other nexuses end TASK ABORTED and are told nothing else. */
static void tmf_fence(struct scsi_tmf *t, struct lu *lu,
		      bool (*match)(const struct fence *f,
				    const struct scsi_cmd *cmd),
		      enum unit_attention ua, bool tas)
{
	struct fence *f = fence_new(lu, t->nexus->engine);

	if (!f) {
		t->response = TMF_REJECTED;
		return;
	}
	f->match = match;
	f->nexus_id = t->nexus->id;
	f->abort = true;
	f->tas = tas;
	f->ua = ua;
	f->done = tmf_fenced;
	f->arg = t;
	t->pending++;
	lu_fence(f);
}

/* What a reset does to one logical unit.  The nexus that asked is told like all
 * others: it has lost its reservation and its mode pages too. */
static void reset(struct scsi_tmf *t, struct lu *lu, enum unit_attention ua)
{
	bool tas = atomic_load(&lu->tas);	/* until now */

	lu_reset_reserved(lu);
	atomic_fetch_add(&lu->resets, 1);
	lu_reset_modes(lu);
	ua_post(lu, ua, NULL);
	tmf_fence(t, lu, NULL, UNIT_ATTENTIONS, tas);
}

/* What is pending for the nexus: sense key, ASC and ASCQ of the next one. */
static void query_attention(struct scsi_tmf *t, const struct itl *itl)
{
	enum scsi_result r = ua_peek(itl);
	uint8_t sense[SENSE_MAX];

	if (!r)
		return;
	sense_bytes(r, NULL, false, sense);
	t->info[0] = sense[2] & 0x0f;
	t->info[1] = sense[12];
	t->info[2] = sense[13];
	t->response = TMF_SUCCEEDED;
}

/* The nexus alone loses what a lost session would have lost. */
static void nexus_reset(struct scsi_tmf *t, struct itl *itl)
{
	lu_release(itl->lu, t->nexus->id);
	copyops_forget(itl);
	ua_post_itl(itl, UA_NEXUS_LOSS);
	tmf_fence(t, itl->lu, fence_match_nexus, UNIT_ATTENTIONS, false);
}

static void on_lu(struct scsi_tmf *t)
{
	struct itl *itl = nexus_find(t->nexus, lun_decode(t->lun));

	if (!itl) {
		t->response = TMF_NO_LUN;
		return;
	}
	switch (t->function) {
	case TMF_ABORT_TASK_SET:
		tmf_fence(t, itl->lu, fence_match_nexus, UNIT_ATTENTIONS,
			  false);
		break;
	case TMF_CLEAR_TASK_SET:
		tmf_fence(t, itl->lu, NULL, UA_COMMANDS_CLEARED,
			  atomic_load(&itl->lu->tas));
		break;
	case TMF_LOGICAL_UNIT_RESET:
		reset(t, itl->lu, UA_LU_RESET);
		break;
	case TMF_QUERY_TASK_SET:
		if (itl->commands)
			t->response = TMF_SUCCEEDED;
		break;
	case TMF_QUERY_ASYNC_EVENT:
		query_attention(t, itl);
		break;
	case TMF_ABORT_TASK:
	case TMF_CLEAR_ACA:
	case TMF_TARGET_WARM_RESET:
	case TMF_TARGET_COLD_RESET:
	case TMF_I_T_NEXUS_RESET:
		t->response = TMF_NOT_SUPPORTED;
		break;
	}
}

void scsi_task_management(struct scsi_tmf *t)
{
	unsigned i;

	t->response = TMF_COMPLETE;
	memset(t->info, 0, sizeof(t->info));
	t->pending = 1;
	list_init(&t->defer.link);
	t->defer.run = tmf_end;
	if (t->function == TMF_TARGET_WARM_RESET ||
	    t->function == TMF_TARGET_COLD_RESET)
		for (i = 0; i < t->nexus->nitl; i++)
			reset(t, t->nexus->itl[i]->lu, UA_TARGET_RESET);
	else if (t->function == TMF_I_T_NEXUS_RESET)
		for (i = 0; i < t->nexus->nitl; i++)
			nexus_reset(t, t->nexus->itl[i]);
	else
		on_lu(t);
	tmf_settle(t);
}
