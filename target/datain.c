/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Data-In and the end of a command, RFC 7143 11.4 and 11.7: sequences of at
 * most MaxBurstLength in PDUs of at most the initiator's
 * MaxRecvDataSegmentLength; GOOD status travels in the last of them, any other
 * in a SCSI Response with the sense data.
 */

#include "target/session_int.h"

/*
 * Builds the Data-In PDUs of cmd.data[0, len), which is byte off of the whole,
 * and queues all but the last, which is returned.  end: nothing comes after.
 * NULL: conn_fail().
 */
static struct pdu_out *data_in_pdus(struct task *t, uint32_t off, uint32_t len,
				    bool end)
{
	const struct params *k = &t->conn->params;
	uint8_t *data = t->cmd.data;
	struct pdu_out *p = NULL;

	while (len) {
		uint32_t n = MIN(MIN(len, k->MaxRecvDataSegmentLength),
				 k->MaxBurstLength - t->burst);
		struct bhs_data_in *b;

		if (p)
			conn_send(t->conn, p);
		p = pdu_new(t->conn);
		if (!p)
			break;
		b = &p->bhs.data_in;
		b->opcode = OP_DATA_IN;
		b->itt = be32_of(t->itt);
		b->ttt = be32_of(TAG_NONE);
		b->data_sn = be32_of(t->data_sn++);
		b->buffer_offset = be32_of(off);
		p->data = data;
		p->data_len = n;
		off += n;
		data += n;
		len -= n;
		t->burst += n;
		if (t->burst == k->MaxBurstLength || (end && !len)) {
			b->flags = FLAG_FINAL;
			t->burst = 0;
		}
	}
	return p;
}

static void piece_sent(struct pdu_out *p)
{
	task_resume_soon(p->task);
}

bool task_data_in(struct scsi_cmd *cmd, uint32_t off, uint32_t len)
{
	struct task *t = container_of(cmd, struct task, cmd);
	struct pdu_out *p;

	assert(t->where == TASK_SCSI && t->wait == WAIT_NONE);
	assert(len && len <= cmd->data_size);
	if (conn_closing(t->conn)) {
		task_resume_soon(t);
		return false;
	}
	count_up(&t->conn->read_bytes, len);
	p = data_in_pdus(t, off, len, false);
	if (!p) {
		task_resume_soon(t);
		return false;
	}
	p->task = t;
	p->sent = piece_sent;
	t->wait = WAIT_SENT;
	conn_send(t->conn, p);
	return false;
}

/* RFC 7143 11.4.5: against what the initiator expected. */
static uint32_t residual(const struct scsi_cmd *cmd, uint8_t *ret_flag)
{
	uint64_t over = cmd->wanted > cmd->edtl ? cmd->wanted - cmd->edtl : 0;

	if (over) {
		*ret_flag = RSP_OVERFLOW;
		return (uint32_t)MIN(over, UINT32_MAX);
	}
	if (cmd->moved < cmd->edtl) {
		*ret_flag = RSP_UNDERFLOW;
		return cmd->edtl - cmd->moved;
	}
	*ret_flag = 0;
	return 0;
}

static void answer_sent(struct pdu_out *p)
{
	task_free(p->task);
}

static struct pdu_out *last_data_in(struct task *t)
{
	const struct scsi_cmd *cmd = &t->cmd;
	struct pdu_out *p;
	uint8_t flag;

	assert(cmd->moved >= cmd->data_in_len);
	count_up(&t->conn->read_bytes, cmd->data_in_len);
	p = data_in_pdus(t, cmd->moved - cmd->data_in_len, cmd->data_in_len,
			 true);
	if (!p)
		return NULL;
	p->bhs.data_in.residual = be32_of(residual(cmd, &flag));
	p->bhs.data_in.flags |= DATA_IN_STATUS | flag;
	p->bhs.data_in.status = cmd->status;
	return p;
}

/* Sense of the transport's own, RFC 7143 11.4.7.2, in fixed format. */
static void fault_sense(struct task *t)
{
	static const uint8_t codes[][2] = {
		[FAULT_NONE]	= { 0, 0 },
		[FAULT_FULL]	= { 0, 0 },
		[FAULT_CRC]	= { 0x47, 0x05 },
		[FAULT_AMOUNT]	= { 0x0c, 0x0d },
	};
	struct scsi_cmd *cmd = &t->cmd;

	if (t->fault == FAULT_FULL) {
		scsi_full(cmd);
		return;
	}
	cmd->data_in_len = 0;
	cmd->status = STATUS_CHECK_CONDITION;
	memset(cmd->sense, 0, 18);
	cmd->sense[0] = 0x70;
	cmd->sense[2] = KEY_ABORTED_COMMAND;
	cmd->sense[7] = 18 - 8;
	cmd->sense[12] = codes[t->fault][0];
	cmd->sense[13] = codes[t->fault][1];
	cmd->sense_len = 18;
}

static struct pdu_out *response(struct task *t)
{
	const struct scsi_cmd *cmd = &t->cmd;
	struct pdu_out *p = pdu_new(t->conn);
	struct bhs_scsi_response *b;
	be16 len = be16_of(cmd->sense_len);
	uint8_t flag;

	if (!p)
		return NULL;
	b = &p->bhs.scsi_response;
	b->opcode = OP_SCSI_RESPONSE;
	b->response = RESPONSE_COMPLETED;
	b->status = cmd->status;
	b->itt = be32_of(t->itt);
	b->residual = be32_of(residual(cmd, &flag));
	b->flags = FLAG_FINAL | flag;
	b->exp_data_sn = be32_of(cmd->dir_in ? t->data_sn : t->r2t_sn);
	if (cmd->sense_len) {
		memcpy(t->sense, &len, sizeof(len));
		memcpy(t->sense + sizeof(len), cmd->sense, cmd->sense_len);
		p->data = t->sense;
		p->data_len = sizeof(len) + cmd->sense_len;
	}
	return p;
}

/* The tag is given back before the answer leaves: the initiator may have read
 * it while what was gathered behind it is still being sent. */
void task_send_answer(struct task *t)
{
	struct scsi_cmd *cmd = &t->cmd;
	struct pdu_out *p;

	task_untag(t);
	if (t->fault) {
		fault_sense(t);
	} else if (cmd->aborted) {
		cmd->status = STATUS_TASK_ABORTED;
		cmd->data_in_len = cmd->sense_len = 0;
	}
	if (cmd->status == STATUS_GOOD && cmd->data_in_len)
		p = last_data_in(t);
	else
		p = response(t);
	if (!p)
		return;		/* the connection ends, and t with it */
	p->takes_stat_sn = true;
	p->task = t;
	p->sent = answer_sent;
	conn_send(t->conn, p);
}
