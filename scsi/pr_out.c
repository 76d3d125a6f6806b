/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PERSISTENT RESERVE OUT (SPC-4) on its way: one at a time on a logical unit,
 * from whichever worker, the others wait in the order of their arrival.  It is
 * answered when its change is published, stored before that where APTPL asks
 * for it, and with PREEMPT AND ABORT when the commands of those who were
 * preempted are gone.  Nothing is locked while it waits for the disk.
 */

#include <stdlib.h>

#include "scsi/pr.h"

struct pr_out {
	struct scsi_cmd	*cmd;
	struct pr_request q;
	struct list	 link;		/* lu->pr.waiting, under the mutex */
	struct epost	 post;		/* its turn has come */
	struct vwork	 work;
	struct pr_table	*next;
	void		*image;
	size_t		 image_len;
	/* PREEMPT AND ABORT */
	struct fence	*fence;
	struct pr_registrant *victim;
	unsigned	 nvictims;
};

static void out_free(struct pr_out *p)
{
	fence_free(p->fence);
	free(p->victim);
	free(p->image);
	free(p->next);
	free(p);
}

/* ---- turns --------------------------------------------------------------- */

static bool turn_take(struct pr_out *p)
{
	struct lu *lu = p->cmd->lu;
	bool mine;

	pthread_mutex_lock(&lu->mutex);
	mine = !lu->pr.busy;
	lu->pr.busy = true;
	if (!mine)
		list_add_tail(&lu->pr.waiting, &p->link);
	pthread_mutex_unlock(&lu->mutex);
	return mine;
}

static void turn_pass(struct lu *lu)
{
	struct pr_out *next = NULL;

	pthread_mutex_lock(&lu->mutex);
	lu->pr.busy = !list_empty(&lu->pr.waiting);
	if (lu->pr.busy) {
		next = list_first(&lu->pr.waiting, struct pr_out, link);
		list_del(&next->link);
		engine_post(next->cmd->nexus->engine, &next->post);
	}
	pthread_mutex_unlock(&lu->mutex);
}

/* Where its turn was given already, the message finds it aborted. */
static void cancel(struct scsi_cmd *cmd)
{
	struct pr_out *p = cmd->x.pr.out;
	struct lu *lu = cmd->lu;
	bool waited;

	cmd->cancel = NULL;
	pthread_mutex_lock(&lu->mutex);
	waited = list_linked(&p->link);
	list_del(&p->link);
	pthread_mutex_unlock(&lu->mutex);
	if (!waited)
		return;
	out_free(p);
	scsi_done_later(cmd, SCSI_COMMAND_ABORTED);
}

/* ---- PREEMPT AND ABORT --------------------------------------------------- */

/* A PERSISTENT RESERVE OUT is not waited for: it writes nothing to the medium,
 * has its turn to wait for, and two could wait for each other. */
static bool preempted(const struct fence *f, const struct scsi_cmd *cmd)
{
	const struct pr_out *p = f->arg;
	unsigned i;

	if (cmd->cdb[0] == 0x5f)
		return false;
	for (i = 0; i < p->nvictims; i++)
		if (pr_is(&p->victim[i], &cmd->nexus->config))
			return true;
	return false;
}

static void fenced(struct fence *f)
{
	struct pr_out *p = f->arg;
	struct scsi_cmd *cmd = p->cmd;

	out_free(p);
	scsi_done(cmd, SCSI_GOOD);
}

/* All that it needs, before anything is changed. */
static bool fence_prepare(struct pr_out *p)
{
	unsigned i, n = p->next->n - pr_count(p->next);
	struct fence *f;

	p->victim = calloc(n + 1, sizeof(*p->victim));
	f = fence_new(p->cmd->lu, p->cmd->nexus->engine);
	p->fence = f;
	if (!p->victim || !f)
		return false;
	for (i = 0; i < p->next->n; i++)
		if (p->next->r[i].gone)
			p->victim[p->nvictims++] = p->next->r[i];
	f->match = preempted;
	f->nexus_id = p->cmd->nexus->id;
	f->abort = true;
	f->tas = atomic_load(&p->cmd->lu->tas);
	f->done = fenced;
	f->arg = p;
	return true;
}

/* ---- the way ------------------------------------------------------------- */

static enum scsi_result finish(struct pr_out *p, enum scsi_result r)
{
	turn_pass(p->cmd->lu);
	out_free(p);
	return r;
}

static enum scsi_result commit(struct pr_out *p)
{
	struct lu *lu = p->cmd->lu;

	pr_publish(lu, p->next);
	p->next = NULL;
	if (!p->fence)
		return finish(p, SCSI_GOOD);
	turn_pass(lu);
	lu_fence(p->fence);
	return SCSI_PENDING;
}

static int store_run(struct vwork *w)
{
	struct pr_out *p = container_of(w, struct pr_out, work);
	const struct lu_events *e = &p->cmd->lu->events;

	return e->pr_store(e->arg, p->image, p->image_len);
}

static void store_done(struct vwork *w)
{
	struct pr_out *p = container_of(w, struct pr_out, work);
	struct scsi_cmd *cmd = p->cmd;
	enum scsi_result r = w->error ? finish(p, SCSI_INTERNAL_FAILURE) :
					commit(p);

	if (r != SCSI_PENDING)
		scsi_done(cmd, r);
}

/* On a thread of its own: a volume that hangs does not keep it. */
static enum scsi_result store(struct pr_out *p)
{
	if (pr_image(p->cmd->lu, p->next, &p->image, &p->image_len))
		return finish(p, SCSI_BUSY_RESOURCES);
	p->work.run = store_run;
	p->work.done = store_done;
	volume_async(NULL, &p->work);
	return SCSI_PENDING;
}

/* It has the turn. */
static enum scsi_result run(struct pr_out *p)
{
	struct scsi_cmd *cmd = p->cmd;
	const struct pr_table *now = pr_now(cmd->lu);
	enum scsi_result r;
	bool changed;

	/* SPC-2: while RESERVE is in force, whoever asks */
	if (atomic_load(&cmd->lu->reserved_by))
		return finish(p, SCSI_RESERVED_BY_OTHER);
	p->next = pr_copy(now, p->q.spec_i_pt ? PR_REGISTRANTS : 1);
	if (!p->next)
		return finish(p, SCSI_BUSY_RESOURCES);
	r = pr_act(cmd, &p->q, p->next, &changed);
	if (r || !changed)
		return finish(p, r);
	if (p->q.sa == PR_PREEMPT_ABORT && !fence_prepare(p))
		return finish(p, SCSI_BUSY_RESOURCES);
	if (p->next->aptpl || now->aptpl)
		return store(p);
	return commit(p);
}

static void turn_came(struct epost *post)
{
	struct pr_out *p = container_of(post, struct pr_out, post);
	struct scsi_cmd *cmd = p->cmd;
	enum scsi_result r;

	cmd->cancel = NULL;
	r = cmd_aborted(cmd) ? finish(p, SCSI_COMMAND_ABORTED) : run(p);
	if (r != SCSI_PENDING)
		scsi_done(cmd, r);
}

enum scsi_result pr_out_start(struct scsi_cmd *cmd)
{
	struct pr_out *p = calloc(1, sizeof(*p));
	enum scsi_result r;

	if (!p)
		return SCSI_BUSY_RESOURCES;
	p->cmd = cmd;
	p->post.run = turn_came;
	list_init(&p->link);
	cmd->x.pr.out = p;
	r = pr_parse(cmd, &p->q);
	if (r) {
		out_free(p);
		return r;
	}
	cmd->cancel = cancel;
	if (!turn_take(p))
		return SCSI_PENDING;
	cmd->cancel = NULL;
	return run(p);
}
