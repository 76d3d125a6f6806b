/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands in flight (SAM-5).  Each worker keeps the commands of a logical
 * unit that came by its nexuses in the order of their arrival; task attributes
 * are kept per I_T_L nexus, since across nexuses no order can be observed.
 *
 * Here too: aborting one command, and the fence that waits until marked
 * commands on all workers are gone.
 */

#include <assert.h>
#include <stdlib.h>

#include "scsi/scsi_int.h"

static struct lu_worker *worker_of(const struct scsi_cmd *cmd)
{
	return &cmd->lu->worker[cmd->nexus->config.worker];
}

void taskset_add(struct scsi_cmd *cmd)
{
	cmd->executing = false;
	cmd->nexus->commands++;
	if (!cmd->itl) {
		list_add_tail(&cmd->nexus->no_lu, &cmd->in_lu);
		return;
	}
	cmd->seq = worker_of(cmd)->next_seq++;
	list_add_tail(&worker_of(cmd)->cmds, &cmd->in_lu);
	cmd->itl->commands++;
}

/* May it run now, if it is first in line? */
static bool may_run(const struct itl *itl, const struct scsi_cmd *cmd)
{
	if (itl->gated)
		return false;
	if (cmd->attr == ATTR_HEAD)
		return true;
	if (itl->ordered)
		return false;
	return cmd->attr != ATTR_ORDERED || !itl->running;
}

static void execute(struct scsi_cmd *cmd)
{
	cmd->executing = true;
	cmd->itl->running++;
	if (cmd->attr == ATTR_ORDERED)
		cmd->itl->ordered = true;
}

bool taskset_enter(struct scsi_cmd *cmd)
{
	struct itl *itl = cmd->itl;

	if (!itl)
		return true;
	if (itl->gate_late) {
		scsi_done(cmd, SCSI_BUSY_RESOURCES);
		return false;
	}
	if (may_run(itl, cmd) &&
	    (list_empty(&itl->waiting) || cmd->attr == ATTR_HEAD)) {
		execute(cmd);
		return true;
	}
	list_add_tail(&itl->waiting, &cmd->in_wait);
	return false;
}

void taskset_drain(struct edefer *drain)
{
	struct itl *itl = container_of(drain, struct itl, drain);
	struct scsi_cmd *cmd;
	bool last;

	do {
		if (list_empty(&itl->waiting))
			return;
		cmd = list_first(&itl->waiting, struct scsi_cmd, in_wait);
		if (!may_run(itl, cmd))
			return;
		list_del(&cmd->in_wait);
		last = list_empty(&itl->waiting);
		execute(cmd);
		scsi_start(cmd);
		/* After the last one the I_T_L nexus may be gone. */
	} while (!last);
}

void taskset_busy(struct itl *itl)
{
	struct scsi_cmd *cmd;

	while (!list_empty(&itl->waiting)) {
		cmd = list_first(&itl->waiting, struct scsi_cmd, in_wait);
		list_del(&cmd->in_wait);
		scsi_done_later(cmd, SCSI_BUSY_RESOURCES);
	}
}

static void fences_settle(struct scsi_cmd *cmd);

void taskset_remove(struct scsi_cmd *cmd)
{
	struct nexus *n = cmd->nexus;
	struct itl *itl = cmd->itl;

	assert(cmd->ended && !list_linked(&cmd->in_wait));
	list_del(&cmd->in_lu);
	n->commands--;
	if (itl) {
		itl->commands--;
		if (cmd->executing) {
			itl->running--;
			if (cmd->attr == ATTR_ORDERED)
				itl->ordered = false;
		}
		if (!list_empty(&itl->waiting))
			engine_defer(n->engine, &itl->drain);
		if (!itl->commands && (n->losing || itl->unmapped))
			itl_idle(itl);
		if (!list_empty(&worker_of(cmd)->fences))
			fences_settle(cmd);
	}
	if (n->losing && !n->commands)
		engine_defer(n->engine, &n->lost_defer);
}

void taskset_abort(struct scsi_cmd *cmd, bool tas)
{
	if (cmd->aborted)
		return;
	cmd->aborted = true;
	cmd->tas = tas;
	if (cmd->ended) {
		/* Its end is on the way and only its answer changes. */
		cmd->status = STATUS_TASK_ABORTED;
		cmd->sense_len = 0;
		cmd->data_in_len = 0;
	} else if (list_linked(&cmd->in_wait)) {
		list_del(&cmd->in_wait);
		scsi_done_later(cmd, SCSI_COMMAND_ABORTED);
	} else if (cmd->cancel) {
		cmd->cancel(cmd);
	} else if (cmd->transport->aborted) {
		cmd->transport->aborted(cmd);
	}
}

/* ---- fences ------------------------------------------------------------ */

struct fence *fence_new(struct lu *lu, struct engine *engine)
{
	unsigned n = lu->host->nworkers;
	struct fence *f = calloc(1, sizeof(*f) + n * sizeof(f->part[0]));

	if (!f)
		return NULL;
	f->lu = lu_ref(lu);
	f->engine = engine;
	f->ua = UNIT_ATTENTIONS;
	return f;
}

void fence_free(struct fence *f)
{
	if (!f)
		return;
	lu_unref(f->lu);
	free(f);
}

bool fence_match_nexus(const struct fence *f, const struct scsi_cmd *cmd)
{
	return cmd->nexus->id == f->nexus_id;
}

static bool fence_matches(const struct fence *f, const struct scsi_cmd *cmd)
{
	return !f->match || f->match(f, cmd);
}

static void fence_done(struct epost *post)
{
	struct fence *f = container_of(post, struct fence, post);

	f->done(f);
}

static void part_done(struct fence_part *p)
{
	struct fence *f = p->fence;

	list_del(&p->link);
	if (atomic_fetch_sub(&f->pending, 1) == 1)
		engine_post(f->engine, &f->post);
}

/* A command has gone that fences may have waited for. */
static void fences_settle(struct scsi_cmd *cmd)
{
	struct fence_part *p, *tmp;

	list_for_each_safe(p, tmp, &worker_of(cmd)->fences, link) {
		if (cmd->seq >= p->seq || !fence_matches(p->fence, cmd))
			continue;
		assert(p->left);
		if (!--p->left)
			part_done(p);
	}
}

static void part_abort(struct fence *f, struct scsi_cmd *cmd)
{
	bool other = cmd->nexus->id != f->nexus_id;

	if (other && !f->tas && f->ua != UNIT_ATTENTIONS)
		ua_post_itl(cmd->itl, f->ua);
	taskset_abort(cmd, f->tas && other);
}

/* Aborting never removes a command from inside, so the list holds still. */
static void part_run(struct epost *post)
{
	struct fence_part *p = container_of(post, struct fence_part, post);
	struct fence *f = p->fence;
	struct lu_worker *w = &f->lu->worker[p - f->part];
	struct scsi_cmd *cmd;

	p->seq = w->next_seq;
	list_add_tail(&w->fences, &p->link);
	list_for_each(cmd, &w->cmds, in_lu) {
		if (!fence_matches(f, cmd))
			continue;
		p->left++;
		if (f->abort)
			part_abort(f, cmd);
	}
	if (!p->left)
		part_done(p);
}

void lu_fence(struct fence *f)
{
	const struct scsi_host *host = f->lu->host;
	unsigned i;

	f->post.run = fence_done;
	atomic_init(&f->pending, host->nworkers);
	for (i = 0; i < host->nworkers; i++) {
		f->part[i].fence = f;
		f->part[i].post.run = part_run;
		list_init(&f->part[i].link);
	}
	for (i = 0; i < host->nworkers; i++)
		if (host->worker[i] == f->engine)
			part_run(&f->part[i].post);
		else
			engine_post(host->worker[i], &f->part[i].post);
}

/* ---- QERR ---------------------------------------------------------------- */

/* Nobody waits for it.  Without memory the others go on, as with QERR 00b. */
void taskset_qerr(const struct scsi_cmd *cmd)
{
	struct lu *lu = cmd->lu;
	enum qerr qerr = lu ? (enum qerr)atomic_load(&lu->qerr) : QERR_NONE;
	struct fence *f;

	if (qerr == QERR_NONE)
		return;
	f = fence_new(lu, cmd->nexus->engine);
	if (!f)
		return;
	f->match = qerr == QERR_NEXUS ? fence_match_nexus : NULL;
	f->nexus_id = cmd->nexus->id;
	f->abort = true;
	f->tas = atomic_load(&lu->tas);
	f->ua = UA_COMMANDS_CLEARED;
	f->done = fence_free;
	lu_fence(f);
}
