/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Task management, RFC 7143 11.5 and 11.6.  A request is answered when every
 * task that it concerns is gone or its own answer is queued, so that nothing
 * comes after.  ESXi may abort a WRITE and never send the Data-Out that we
 * asked for: the task is ended at once, and what still comes is dropped.
 */

#include <stdlib.h>

#include "target/session_int.h"

enum tmf_kind { KIND_UNKNOWN, KIND_TASK, KIND_SCSI, KIND_REASSIGN,
		KIND_QUERY_TASK };

static const struct tmf_row {
	enum tmf_kind	 kind;
	bool		 all_luns;	/* else those of one LUN */
	bool		 asks;		/* and ends nothing */
} rows[] = {
	[TMF_ABORT_TASK]		= { KIND_TASK, false, false },
	[TMF_ABORT_TASK_SET]		= { KIND_SCSI, false, false },
	[TMF_CLEAR_ACA]			= { KIND_SCSI, false, true },
	[TMF_CLEAR_TASK_SET]		= { KIND_SCSI, false, false },
	[TMF_LOGICAL_UNIT_RESET]	= { KIND_SCSI, false, false },
	[TMF_TARGET_WARM_RESET]		= { KIND_SCSI, true, false },
	[TMF_TARGET_COLD_RESET]		= { KIND_SCSI, true, false },
	[TMF_TASK_REASSIGN]		= { KIND_REASSIGN, false, false },
	[TMF_QUERY_TASK]		= { KIND_QUERY_TASK, false, true },
	[TMF_QUERY_TASK_SET]		= { KIND_SCSI, false, true },
	[TMF_I_T_NEXUS_RESET]		= { KIND_SCSI, true, false },
	[TMF_QUERY_ASYNC_EVENT]		= { KIND_SCSI, false, true },
};

static const struct tmf_row *row_of(unsigned function)
{
	return function < ARRAY_SIZE(rows) ? &rows[function] : &rows[0];
}

static void cold_reset_sent(struct pdu_out *p)
{
	session_end_target(p->conn->session->target, "TARGET COLD RESET");
}

static struct pdu_out *answer_new(struct conn *c, uint32_t itt,
				  unsigned response)
{
	struct pdu_out *p = pdu_new(c);
	struct bhs_tmf_response *b;

	if (!p)
		return NULL;
	b = &p->bhs.tmf_response;
	b->opcode = OP_TMF_RESPONSE;
	b->flags = FLAG_FINAL;
	b->response = (uint8_t)response;
	b->itt = be32_of(itt);
	p->takes_stat_sn = true;
	return p;
}

static void answer(struct conn *c, uint32_t itt, unsigned response)
{
	struct pdu_out *p = answer_new(c, itt, response);

	if (p)
		conn_send(c, p);
}

static struct tmf_wait *wait_new(struct conn *c, const union bhs *bhs)
{
	const struct bhs_tmf_request *b = &bhs->tmf_request;
	struct tmf_wait *w = calloc(1, sizeof(*w));

	if (!w) {
		conn_reject(c, bhs, REJECT_RESOURCES);
		return NULL;
	}
	w->session = c->session;
	w->itt = be32_get(b->itt);
	w->cmd_sn = be32_get(b->cmd_sn);
	w->scsi.nexus = c->session->nexus;
	memcpy(w->scsi.lun, b->lun, sizeof(w->scsi.lun));
	list_add_tail(&c->session->tmfs, &w->in_session);
	return w;
}

static void wait_free(struct tmf_wait *w)
{
	struct session *s = w->session;

	list_del(&w->in_session);
	free(w);
	if (conn_closing(s->conn))
		conn_cleanup_soon(s->conn);
	else if (s->drain_move)
		session_move_step(s);
}

/* ---- ABORT TASK -------------------------------------------------------- */

void tmf_task_gone(struct tmf_wait *aborts)
{
	struct tmf_wait *next;

	for (; aborts; aborts = next) {
		next = aborts->next;
		if (!conn_closing(aborts->session->conn))
			answer(aborts->session->conn, aborts->itt,
			       TMF_COMPLETE);
		wait_free(aborts);
	}
}

/* 11.6.1 b and c: no such task is here. */
static unsigned abort_unknown(struct session *s,
			      const struct bhs_tmf_request *b)
{
	uint32_t ref = be32_get(b->ref_cmd_sn);

	if (sn_before(ref, s->exp_cmd_sn))
		return s->exp_cmd_sn - ref <= ENDED_CMDSNS ? TMF_COMPLETE :
							     TMF_NO_TASK;
	if (!sn_before(ref, be32_get(b->cmd_sn)) ||
	    cmdsn_check(s, ref) == CMDSN_IGNORE)
		return TMF_NO_TASK;
	cmdsn_skip(s, ref);
	return TMF_COMPLETE;
}

static void abort_task(struct conn *c, const union bhs *bhs)
{
	const struct bhs_tmf_request *b = &bhs->tmf_request;
	struct session *s = c->session;
	struct task *t = task_find(s, be32_get(b->ref_task_tag));
	uint32_t itt = be32_get(b->itt);
	struct tmf_wait *w;

	if (!t) {
		answer(c, itt, abort_unknown(s, b));
		return;
	}
	w = wait_new(c, bhs);
	if (!w || !task_abort(t, w))
		return;
	wait_free(w);
	answer(c, itt, TMF_COMPLETE);
}

/* ---- the others -------------------------------------------------------- */

/* Tasks that the SCSI layer does not know: those that have not reached it, and
 * those that wait for the last Data-Out before their answer. */
static void drop_others(struct session *s, const struct tmf_wait *w)
{
	const struct tmf_row *row = row_of(w->scsi.function);
	struct task *t, *next;

	list_for_each_safe(t, next, &s->conn->tasks, in_conn) {
		if (t->where == TASK_SCSI || (t->where == TASK_TX && !t->ended))
			continue;
		if (!sn_before(t->cmd_sn, w->cmd_sn))
			continue;
		if (!row->all_luns && memcmp(t->cmd.lun, w->scsi.lun,
					     sizeof(t->cmd.lun)))
			continue;
		if (t == s->conn->rx->task)
			task_doom(t);
		else
			task_drop(t);
	}
}

/* Has the session tasks there that have not ended, whoever has them? */
static bool tasks_at(const struct session *s, const uint8_t lun[8])
{
	const struct task *t;

	list_for_each(t, &s->conn->tasks, in_conn)
		if (t->where != TASK_TX && !memcmp(t->cmd.lun, lun, 8))
			return true;
	return false;
}

static void query_task(struct conn *c, const struct bhs_tmf_request *b)
{
	const struct task *t = task_find(c->session,
					 be32_get(b->ref_task_tag));
	bool there = t && t->where != TASK_TX &&
		     !memcmp(t->cmd.lun, b->lun, sizeof(b->lun));

	answer(c, be32_get(b->itt), there ? TMF_SUCCEEDED : TMF_COMPLETE);
}

static void scsi_answer(struct conn *c, const struct tmf_wait *w)
{
	struct pdu_out *p = answer_new(c, w->itt, w->scsi.response);

	if (!p)
		return;
	memcpy(p->bhs.tmf_response.info, w->scsi.info, sizeof(w->scsi.info));
	if (w->scsi.function == TMF_TARGET_COLD_RESET)
		p->sent = cold_reset_sent;
	conn_send(c, p);
}

static void scsi_tmf_done(struct scsi_tmf *scsi)
{
	struct tmf_wait *w = container_of(scsi, struct tmf_wait, scsi);
	struct session *s = w->session;
	struct conn *c = s->conn;

	if (!conn_closing(c)) {
		if (scsi->response == TMF_COMPLETE &&
		    !row_of(scsi->function)->asks)
			drop_others(s, w);
		if (scsi->function == TMF_QUERY_TASK_SET &&
		    scsi->response == TMF_COMPLETE && tasks_at(s, scsi->lun))
			scsi->response = TMF_SUCCEEDED;
		scsi_answer(c, w);
	}
	wait_free(w);
}

static void scsi_function(struct conn *c, const union bhs *bhs,
			  unsigned function)
{
	struct tmf_wait *w = wait_new(c, bhs);

	if (!w)
		return;
	w->scsi.function = (enum tmf)function;
	w->scsi.done = scsi_tmf_done;
	scsi_task_management(&w->scsi);
}

void tmf_request(struct conn *c, struct pdu_in *p)
{
	const struct bhs_tmf_request *b = &p->bhs->tmf_request;
	unsigned function = b->flags & TMF_FUNCTION;
	uint32_t itt = be32_get(b->itt);

	switch (row_of(function)->kind) {
	case KIND_TASK:
		abort_task(c, p->bhs);
		break;
	case KIND_SCSI:
		scsi_function(c, p->bhs, function);
		break;
	case KIND_QUERY_TASK:
		query_task(c, b);
		break;
	case KIND_REASSIGN:
		answer(c, itt, TMF_NO_REASSIGN);
		break;
	case KIND_UNKNOWN:
		answer(c, itt, TMF_NOT_SUPPORTED);
		break;
	}
}
