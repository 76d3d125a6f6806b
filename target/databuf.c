/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The data buffer of a task, and waiting: for a buffer when the worker's pool
 * is used up, and for what lets the SCSI layer go on.
 */

#include "lib/buf.h"
#include "target/session_int.h"

/* What the pool would give anyway. */
static uint32_t size_of(uint32_t len)
{
	uint32_t size = BUF_MIN;

	assert(len <= BUF_MAX);
	while (size < len)
		size <<= 1;
	return size;
}

void task_buffer_put(struct task *t)
{
	if (t->room)
		worker_buf_put(t->conn->worker, t->cmd.data, t->room);
	t->room = t->cmd.data_size = 0;
	t->cmd.data = NULL;
}

/*
 * A buffer of at least len bytes, now.  Data-Out that came already moves along.
 * The smallest ones, of which commands in numbers can do little harm, may be of
 * the reserve.
 */
bool task_buffer_try(struct task *t, uint32_t len)
{
	struct worker *w = t->conn->worker;
	uint32_t size = size_of(len);
	uint32_t kept = t->have > t->base ? t->have - t->base : 0;
	bool keep = kept || t->unsolicited.open;
	uint8_t *buf;

	if (t->conn->rx->task == t && t->room)
		return false;	/* the kernel writes to the one it has */
	if (!keep)
		task_buffer_put(t);
	buf = buf_get(engine_bufs(w->engine), size,
		      size == BUF_MIN ? BUF_RESERVED : BUF_NORMAL);
	if (!buf)
		return false;
	if (t->room) {
		memcpy(buf, t->cmd.data, MIN(kept, t->room));
		task_buffer_put(t);
	}
	t->cmd.data = buf;
	t->cmd.data_size = t->room = size;
	return true;
}

static void buffer_ready(struct buf_waiter *w)
{
	struct task *t = container_of(w, struct task, waiter);

	if (t->wait == WAIT_DATA) {
		task_progress(t);
		return;
	}
	if (t->wait != WAIT_BUFFER)
		return;
	if (task_buffer_try(t, t->buf_want))
		task_resume_now(t);
	else
		worker_buf_wait(t->conn->worker, &t->waiter);
}

bool task_get_buffer(struct scsi_cmd *cmd, uint32_t len)
{
	struct task *t = container_of(cmd, struct task, cmd);

	assert(t->where == TASK_SCSI && t->wait == WAIT_NONE);
	if (cmd->data_size >= len)
		return true;
	t->buf_want = len;
	if (task_buffer_try(t, len))
		return true;
	if (cmd->aborted || conn_closing(t->conn)) {
		task_resume_soon(t);
		return false;
	}
	t->wait = WAIT_BUFFER;
	worker_buf_wait(t->conn->worker, &t->waiter);
	return false;
}

void task_resume_now(struct task *t)
{
	t->wait = WAIT_NONE;
	worker_buf_unwait(&t->waiter);
	edefer_cancel(&t->resume);
	t->cmd.resume(&t->cmd);
}

static void resume_run(struct edefer *d)
{
	task_resume_now(container_of(d, struct task, resume));
}

void task_resume_soon(struct task *t)
{
	t->wait = WAIT_RESUME;
	engine_defer(t->conn->worker->engine, &t->resume);
}

void task_waits_init(struct task *t)
{
	list_init(&t->waiter.link);
	t->waiter.ready = buffer_ready;
	list_init(&t->resume.link);
	t->resume.run = resume_run;
}

/* No Data-Out is waited for any more; Data-In under way is sent first, for its
 * buffer is being read. */
void task_cmd_aborted(struct scsi_cmd *cmd)
{
	struct task *t = container_of(cmd, struct task, cmd);

	task_retire(t);
	if (t->wait == WAIT_BUFFER || t->wait == WAIT_DATA)
		task_resume_soon(t);
}
