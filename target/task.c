/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * From a SCSI Command PDU (RFC 7143 11.3) to a command of the SCSI layer, and
 * the end of it.  Where a task is, and who may free it: task.h.
 */

#include "target/task.h"

#include "target/session_int.h"

static void task_done(struct scsi_cmd *cmd);

static const struct scsi_transport transport = {
	.get_buffer	= task_get_buffer,
	.data_out	= task_data_out,
	.data_in	= task_data_in,
	.done		= task_done,
	.aborted	= task_cmd_aborted,
};

static struct task **bucket_of(const struct session *s, uint32_t itt)
{
	uint32_t hash = itt ^ itt >> 6 ^ itt >> 16 ^ itt >> 24;

	return (struct task **)&s->by_itt[hash % ITT_HASH];
}

struct task *task_find(const struct session *s, uint32_t itt)
{
	struct task *t = *bucket_of(s, itt);

	while (t && t->itt != itt)
		t = t->same_hash;
	return t;
}

void task_untag(struct task *t)
{
	struct task **at = bucket_of(t->conn->session, t->itt);

	if (!t->tagged)
		return;
	while (*at != t)
		at = &(*at)->same_hash;
	*at = t->same_hash;
	t->tagged = false;
}

static void fill_cmd(struct task *t, const struct bhs_scsi_command *b)
{
	struct scsi_cmd *cmd = &t->cmd;

	cmd->nexus = t->conn->session->nexus;
	cmd->transport = &transport;
	memcpy(cmd->lun, b->lun, sizeof(cmd->lun));
	memcpy(cmd->cdb, b->cdb, sizeof(cmd->cdb));
	cmd->attr = MIN(b->flags & CMD_ATTR, ATTR_ACA);
	cmd->dir_in = b->flags & CMD_READ;
	cmd->dir_out = b->flags & CMD_WRITE;
	cmd->edtl = cmd->dir_in || cmd->dir_out ? be32_get(b->edtl) : 0;
	cmd->data = NULL;
	cmd->data_size = 0;
	cmd->status = STATUS_GOOD;
	cmd->sense_len = 0;
	cmd->data_in_len = cmd->moved = 0;
	cmd->wanted = 0;
	cmd->aborted = cmd->tas = false;
}

static struct task *task_new(struct conn *c, const struct bhs_scsi_command *b)
{
	struct task *t = pool_get(&c->worker->pdus->tasks), **bucket;

	if (!t)
		return NULL;
	memset((char *)t + offsetof(struct task, conn), 0,
	       sizeof(*t) - offsetof(struct task, conn));
	t->where = TASK_RX;
	t->conn = c;
	t->itt = be32_get(b->itt);
	t->cmd_sn = be32_get(b->cmd_sn);
	list_init(&t->in_old);
	task_waits_init(t);
	fill_cmd(t, b);
	list_add_tail(&c->tasks, &t->in_conn);
	bucket = bucket_of(c->session, t->itt);
	t->same_hash = *bucket;
	*bucket = t;
	t->tagged = true;
	c->session->active++;
	return t;
}

void task_free(struct task *t)
{
	struct conn *c = t->conn;

	assert(c->rx->task != t && t->wait == WAIT_NONE);
	if (t->held)
		cmdsn_forget(c->session, t);
	task_retire(t);
	edefer_cancel(&t->resume);
	list_del(&t->in_old);
	list_del(&t->in_conn);
	task_untag(t);
	task_buffer_put(t);
	pool_put(&c->worker->pdus->tasks, t);
	if (conn_closing(c))
		conn_cleanup_soon(c);
	else if (c->session->drain_move)
		session_move_step(c->session);
}

void task_drop(struct task *t)
{
	struct tmf_wait *aborts = t->aborts;

	assert(t->where != TASK_SCSI);
	if (t->where == TASK_RX)
		t->conn->session->active--;
	task_free(t);
	tmf_task_gone(aborts);
}

void task_doom(struct task *t)
{
	assert(t->where != TASK_SCSI && t->conn->rx->task == t);
	t->cmd.aborted = true;
	t->cmd.tas = false;
	t->fault = FAULT_NONE;
	task_retire(t);
}

/* NULL, or in what the PDU breaks the rules of its session. */
static const char *command_fault(const struct conn *c, const union bhs *b)
{
	const struct bhs_scsi_command *cmd = &b->scsi_command;
	uint32_t len = be24_get(cmd->data_len), edtl = be32_get(cmd->edtl);
	bool out = cmd->flags & CMD_WRITE;

	if (be32_get(cmd->itt) == TAG_NONE)
		return "SCSI Command with the reserved ITT";
	if (task_find(c->session, be32_get(cmd->itt)))
		return "SCSI Command with an ITT in use";
	if (len && !out)
		return "SCSI Command with data, but not to write";
	if (len && !c->params.ImmediateData)
		return "immediate data against ImmediateData=No";
	if (len > MIN(edtl, c->params.FirstBurstLength))
		return "immediate data longer than agreed";
	if (out && !(cmd->flags & FLAG_FINAL) && c->params.InitialR2T)
		return "unsolicited data against InitialR2T=Yes";
	return NULL;
}

/* Both directions at once, or immediate commands without end. */
static int command_reject(const struct conn *c, const union bhs *b)
{
	uint8_t both = CMD_READ | CMD_WRITE;

	if ((b->scsi_command.flags & both) == both)
		return REJECT_NOT_SUPPORTED;
	if (bhs_immediate(b) && c->session->active >= 2 * CMDSN_WINDOW)
		return REJECT_IMMEDIATE;
	return 0;
}

/* What will come unasked, and a place for it. */
static void expect_unsolicited(struct task *t, const union bhs *b)
{
	struct conn *c = t->conn;
	uint32_t len = be24_get(b->any.data_len);
	bool final = b->any.flags & FLAG_FINAL;

	t->asked = len;
	if (!final && t->cmd.dir_out) {
		t->unsolicited = (struct data_seq){
			.ttt	= TAG_NONE,
			.next	= len,
			.end	= MIN(t->cmd.edtl, c->params.FirstBurstLength),
			.open	= true,
		};
		t->asked = t->unsolicited.end;
		t->asked_at = engine_now(c->worker->engine);
	}
	if ((len || t->unsolicited.open) &&
	    !task_buffer_try(t, MIN(t->cmd.edtl, PIECE_MAX)))
		t->fault = FAULT_FULL;
	task_seqs_changed(t);
}

void task_begin(struct conn *c, const union bhs *b)
{
	struct conn_rx *rx = c->rx;
	const char *why;
	int reject;
	struct task *t;

	rx->sink = rx->data_len ? SINK_DROP : SINK_NONE;
	if (!bhs_immediate(b) &&
	    cmdsn_check(c->session, be32_get(b->request.cmd_sn)) ==
	    CMDSN_IGNORE)
		return;
	reject = command_reject(c, b);
	if (reject) {
		conn_reject(c, b, (uint8_t)reject);
		rx->op = NULL;
		return;
	}
	why = command_fault(c, b);
	if (why) {
		conn_close(c, why);
		return;
	}
	t = task_new(c, &b->scsi_command);
	if (!t) {
		conn_close(c, "out of memory");
		return;
	}
	expect_unsolicited(t, b);
	rx->task = t;
	if (rx->data_len && !t->fault) {
		rx->sink = SINK_TASK;
		rx->body = t->cmd.data;
	}
}

void task_command(struct conn *c, struct pdu_in *p)
{
	uint32_t len = be24_get(p->bhs->any.data_len);

	if (!p->task)
		return;		/* its CmdSN was not for us */
	count_up(&c->commands, 1);
	count_up(&c->write_bytes, len);
	task_submit(p->task);
}

/* Immediate data does not make the PDU a data PDU (RFC 7143 7.8): the command
 * has never come, and the initiator may send it again with its CmdSN. */
void task_data_damaged(struct conn *c, struct task *t)
{
	if (bhs_opcode(&c->rx->bhs) == OP_SCSI_COMMAND)
		task_drop(t);
	else
		data_out_damaged(t);
}

void task_submit(struct task *t)
{
	struct session *s = t->conn->session;

	assert(t->where == TASK_RX && !t->held);
	if (t->cmd.aborted) {
		task_drop(t);
		return;
	}
	if (s->waits_old) {
		if (!list_linked(&t->in_old))
			list_add_tail(&s->waiting_old, &t->in_old);
		return;
	}
	list_del(&t->in_old);
	t->where = TASK_SCSI;
	if (t->fault)
		task_done(&t->cmd);
	else
		scsi_submit(&t->cmd);
}

static void task_done(struct scsi_cmd *cmd)
{
	struct task *t = container_of(cmd, struct task, cmd);

	assert(t->where == TASK_SCSI && t->wait == WAIT_NONE);
	t->where = TASK_TX;
	t->conn->session->active--;
	task_finish(t);
}

/* A command that was aborted stays silent, unless its end is our own doing or
 * TAS asks for TASK ABORTED. */
static bool silent(const struct task *t)
{
	if (t->aborts)
		return true;
	return t->cmd.aborted && !t->cmd.tas && !t->fault;
}

void task_finish(struct task *t)
{
	struct conn *c = t->conn;
	struct tmf_wait *aborts;

	t->ended = true;
	if (t->cmd.aborted)
		task_retire(t);
	if (conn_closing(c)) {
		conn_cleanup_soon(c);
		return;
	}
	if (c->rx->task == t)
		return;		/* data_out_pdu() comes back here */
	if (silent(t)) {
		task_drop(t);
		return;
	}
	if (task_seqs_open(t))
		return;		/* so does it with the last Data-Out PDU */
	aborts = t->aborts;
	t->aborts = NULL;
	t->ended = false;
	task_send_answer(t);
	tmf_task_gone(aborts);
}

bool task_abort(struct task *t, struct tmf_wait *w)
{
	switch (t->where) {
	case TASK_RX:
		task_drop(t);
		return true;
	case TASK_SCSI:
		w->next = t->aborts;
		t->aborts = w;
		task_retire(t);
		scsi_abort(&t->cmd);
		return false;
	case TASK_TX:
		if (t->ended)
			task_drop(t);	/* it waits for Data-Out alone */
		return true;
	}
	return true;
}

void task_fail(struct task *t, enum task_fault fault)
{
	if (!t->fault)
		t->fault = fault;
}
