/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Data-Out, RFC 7143 11.7 and 11.8: what comes unasked behind a command, and
 * what we ask for by R2T, which goes out only when its place is there.  A
 * sequence that breaks its numbers is read to its end and thrown away, and the
 * command ends CHECK CONDITION then (7.8, 7.9, 11.17.1).
 */

#include "target/session_int.h"

static struct data_seq *seq_of(struct task *t, uint32_t ttt)
{
	unsigned i;

	if (ttt == TAG_NONE)
		return t->unsolicited.open ? &t->unsolicited : NULL;
	for (i = 0; i < MAX_OUTSTANDING_R2T; i++)
		if (t->r2t[i].open && t->r2t[i].ttt == ttt)
			return &t->r2t[i];
	return NULL;
}

static struct data_seq *free_seq(struct task *t)
{
	uint32_t n = MIN(t->conn->params.MaxOutstandingR2T,
			 MAX_OUTSTANDING_R2T), i;

	for (i = 0; i < n; i++)
		if (!t->r2t[i].open)
			return &t->r2t[i];
	return NULL;
}

bool task_seqs_open(const struct task *t)
{
	unsigned i;

	for (i = 0; i < MAX_OUTSTANDING_R2T; i++)
		if (t->r2t[i].open)
			return true;
	return t->unsolicited.open;
}

bool data_out_overdue(const struct conn *c, uint64_t now)
{
	const struct task *t;

	list_for_each(t, &c->tasks, in_conn)
		if (task_seqs_open(t) && now - t->asked_at >
					 (uint64_t)DATA_OUT_MS * 1000000)
			return true;
	return false;
}

void task_seqs_changed(struct task *t)
{
	struct session *s = t->conn->session;
	bool open = task_seqs_open(t);
	unsigned i;

	t->have = t->asked;
	if (t->unsolicited.open)
		t->have = t->unsolicited.next;
	for (i = 0; i < MAX_OUTSTANDING_R2T; i++)
		if (t->r2t[i].open)
			t->have = MIN(t->have, t->r2t[i].next);
	if (open == t->solicits)
		return;
	t->solicits = open;
	s->soliciting += open ? 1 : -1;
	if (s->drain_move)
		session_move_step(s);
}

static bool charge(struct task *t)
{
	struct session *s = t->conn->session;
	uint32_t n = t->want - t->base;

	if (s->awaited && s->awaited + n > AWAITED_MAX)
		return false;
	s->awaited += n;
	t->charged = n;
	return true;
}

/* What t was awaited for has come, or will not be: the next ones may ask. */
static void uncharge(struct task *t)
{
	struct worker *w = t->conn->worker;
	struct session *s = t->conn->session;
	struct task *next;

	if (!t->charged)
		return;
	s->awaited -= t->charged;
	t->charged = 0;
	while (!list_empty(&s->may_not_ask)) {
		next = list_first(&s->may_not_ask, struct task, waiter.link);
		if (!charge(next))
			break;
		list_del(&next->waiter.link);
		worker_buf_wait(w, &next->waiter);
		engine_defer(w->engine, &w->buf_serve);
	}
}

void task_retire(struct task *t)
{
	unsigned i;

	uncharge(t);
	t->unsolicited.open = false;
	for (i = 0; i < MAX_OUTSTANDING_R2T; i++)
		t->r2t[i].open = false;
	task_seqs_changed(t);
}

/* ---- asking ------------------------------------------------------------ */

/* May t ask?  In its turn, and while not too much is awaited already. */
static bool may_ask(struct task *t)
{
	struct list *queue = &t->conn->session->may_not_ask;

	if (t->charged || (list_empty(queue) && charge(t)))
		return true;
	if (!list_linked(&t->waiter.link))
		list_add_tail(queue, &t->waiter.link);
	return false;
}

static bool send_r2t(struct task *t, struct data_seq *q, uint32_t len)
{
	struct session *s = t->conn->session;
	struct pdu_out *p = pdu_new(t->conn);
	struct bhs_r2t *b;

	if (!p)
		return false;
	b = &p->bhs.r2t;
	if (s->next_ttt == TAG_NONE)
		s->next_ttt = 0;
	*q = (struct data_seq){
		.ttt	= s->next_ttt++,
		.next	= t->asked,
		.end	= t->asked + len,
		.open	= true,
	};
	t->asked_at = engine_now(t->conn->worker->engine);
	b->opcode = OP_R2T;
	b->flags = FLAG_FINAL;
	memcpy(b->lun, t->cmd.lun, sizeof(b->lun));
	b->itt = be32_of(t->itt);
	b->ttt = be32_of(q->ttt);
	b->r2t_sn = be32_of(t->r2t_sn++);
	b->buffer_offset = be32_of(t->asked);
	b->desired_len = be32_of(len);
	t->asked += len;
	conn_send(t->conn, p);
	return true;
}

static void ask(struct task *t)
{
	struct data_seq *q;

	while (t->asked < t->want && !t->unsolicited.open) {
		q = free_seq(t);
		if (!q || !send_r2t(t, q, MIN(t->want - t->asked,
					t->conn->params.MaxBurstLength)))
			break;
	}
	task_seqs_changed(t);
}

/* Makes cmd.data begin at byte off of the Data-Out: what came unasked beyond
 * the piece before is kept. */
static void shift(struct task *t, uint32_t off)
{
	uint32_t by = off - t->base;

	assert(off >= t->base);
	if (by && t->have > off)
		memmove(t->cmd.data, t->cmd.data + by, t->have - off);
	t->base = off;
}

/* A place for all that the SCSI layer asked for, before any R2T goes out; what
 * came already moves along.  false: task_progress() will try again. */
static bool make_room(struct task *t)
{
	if (t->want - t->base > t->room &&
	    !task_buffer_try(t, t->want - t->base)) {
		if (!list_linked(&t->waiter.link))
			worker_buf_wait(t->conn->worker, &t->waiter);
		return false;
	}
	worker_buf_unwait(&t->waiter);
	return true;
}

/* Is what the SCSI layer asked for there? */
static bool data_there(struct task *t)
{
	if (t->conn->rx->task == t)
		return false;	/* the kernel writes behind what is there */
	shift(t, t->off);
	if (t->have >= t->want) {
		uncharge(t);
		return true;
	}
	if (!t->fault && may_ask(t) && make_room(t))
		ask(t);
	return false;
}

bool task_data_out(struct scsi_cmd *cmd, uint32_t off, uint32_t len)
{
	struct task *t = container_of(cmd, struct task, cmd);

	assert(t->where == TASK_SCSI && t->wait == WAIT_NONE);
	assert(range_fits(off, len, cmd->edtl));
	t->off = off;
	t->want = off + len;
	if (cmd->aborted || conn_closing(t->conn)) {
		task_resume_soon(t);
		return false;
	}
	if (!t->fault && data_there(t))
		return true;
	t->wait = WAIT_DATA;
	return false;
}

void task_progress(struct task *t)
{
	if (t->ended) {
		task_finish(t);
	} else if (t->fault) {
		if (t->where == TASK_SCSI && !task_seqs_open(t) &&
		    !t->cmd.aborted)
			scsi_abort(&t->cmd);
	} else if (t->wait == WAIT_DATA) {
		if (data_there(t))
			task_resume_now(t);
	} else if (t->wait == WAIT_BUFFER) {
		if (task_buffer_try(t, t->buf_want))
			task_resume_now(t);
	}
}

/* ---- receiving --------------------------------------------------------- */

static enum task_fault pdu_fault(const struct data_seq *q,
				 const struct bhs_data_out *b)
{
	if (be32_get(b->data_sn) != q->data_sn)
		return FAULT_CRC;	/* 7.9: one before it was lost */
	if (be32_get(b->buffer_offset) != q->next ||
	    be24_get(b->data_len) > q->end - q->next)
		return FAULT_AMOUNT;
	return FAULT_NONE;
}

/*
 * The task is found by its tags alone: initiators put anything into the LUN
 * field.  What belongs to nothing is late data of a command that was aborted.
 */
void data_out_begin(struct conn *c, const union bhs *bhs)
{
	const struct bhs_data_out *b = &bhs->data_out;
	struct conn_rx *rx = c->rx;
	struct task *t = task_find(c->session, be32_get(b->itt));
	struct data_seq *q = t ? seq_of(t, be32_get(b->ttt)) : NULL;
	uint32_t at;

	rx->sink = rx->data_len ? SINK_DROP : SINK_NONE;
	if (!q || c->state != CONN_LOGGED_IN)
		return;
	rx->task = t;
	task_fail(t, pdu_fault(q, b));
	if (t->fault || t->ended || !rx->data_len)
		return;
	at = q->next - t->base;
	if (q->next < t->base || !range_fits(at, rx->data_len, t->room)) {
		task_fail(t, FAULT_FULL);
		return;
	}
	rx->sink = SINK_TASK;
	rx->body = t->cmd.data + at;
}

static void seq_took(struct task *t, struct data_seq *q,
		     const struct bhs_data_out *b)
{
	q->data_sn++;
	if (!t->fault)
		q->next += be24_get(b->data_len);
	if (!(b->flags & FLAG_FINAL) && (t->fault || q->next < q->end))
		return;
	q->open = false;
	if (q == &t->unsolicited)
		t->asked = q->next;
	else if (q->next < q->end)
		task_fail(t, FAULT_AMOUNT);
}

void data_out_pdu(struct conn *c, struct pdu_in *p)
{
	const struct bhs_data_out *b = &p->bhs->data_out;
	struct task *t = p->task;
	struct data_seq *q;

	if (!t)
		return;
	count_up(&c->write_bytes, be24_get(b->data_len));
	q = seq_of(t, be32_get(b->ttt));
	if (q)		/* no: it was aborted while this came */
		seq_took(t, q, b);
	task_seqs_changed(t);
	task_progress(t);
}

void data_out_damaged(struct task *t)
{
	const struct bhs_data_out *b = &t->conn->rx->bhs.data_out;
	struct data_seq *q = seq_of(t, be32_get(b->ttt));

	if (q) {
		task_fail(t, FAULT_CRC);
		seq_took(t, q, b);
	}
	task_seqs_changed(t);
	task_progress(t);
}
