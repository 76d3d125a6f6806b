/* SPDX-License-Identifier: GPL-2.0-or-later */

/* iSCSI as the lean client speaks it, RFC 7143: commands with as much immediate
 * data as the target takes, the rest by R2T. */

#include <stdio.h>
#include <string.h>

#include "lib/crc32c.h"
#include "tests/bench/lean.h"

#define WINDOW_OPEN(c) \
	((int32_t)((c)->login.max_cmd_sn - (c)->login.cmd_sn) >= 0)

static void put_nop(struct lean *c, struct slot *s)
{
	struct lean_pdu *p = &c->cmd[s->tag].request;
	union bhs *b = (union bhs *)p->head;

	memset(b, 0, sizeof(*b));
	b->any.opcode = OP_NOP_OUT | OPCODE_IMMEDIATE;
	b->any.flags = FLAG_FINAL;
	b->any.itt = be32_of(s->tag);
	b->request.b20 = be32_of(TAG_NONE);
	b->request.cmd_sn = be32_of(c->login.cmd_sn);
	b->request.exp_stat_sn = be32_of(c->login.exp_stat_sn);
	lean_put(c, p, NULL, 0);
}

static void iscsi_request(struct lean *c, struct slot *s)
{
	struct lean_pdu *p = &c->cmd[s->tag].request;
	struct bhs_scsi_command *b = (struct bhs_scsi_command *)p->head;
	uint32_t now = 0;

	if (s->work == WORK_NOP) {
		put_nop(c, s);
		return;
	}
	if (!WINDOW_OPEN(c)) {
		c->waiting[c->nwaiting++] = s;
		return;
	}
	if (s->dir == DATA_OUT && c->login.immediate_data)
		now = MIN(s->len, MIN(c->login.mrdsl, c->login.first_burst));
	*b = (struct bhs_scsi_command){
		.opcode = OP_SCSI_COMMAND,
		.flags = FLAG_FINAL | 1 |
			 (s->dir == DATA_IN ? CMD_READ : 0) |
			 (s->dir == DATA_OUT ? CMD_WRITE : 0),
		.data_len = be24_of(now),
		.lun = { 0, (uint8_t)s->lun },
		.itt = be32_of(s->tag),
		.edtl = be32_of(s->len),
		.cmd_sn = be32_of(c->login.cmd_sn++),
		.exp_stat_sn = be32_of(c->login.exp_stat_sn),
	};
	memcpy(b->cdb, s->cdb, sizeof(b->cdb));
	lean_put(c, p, s->out, now);
}

static bool put_data_out(struct lean *c)
{
	struct lean_cmd *cmd = &c->cmd[c->slot->tag];
	uint32_t off = be32_get(c->bhs.r2t.buffer_offset), n, i;
	uint32_t end = off + be32_get(c->bhs.r2t.desired_len);

	if (end > c->slot->len || end < off)
		return false;
	for (i = 0; off < end && i < OUT_MAX; i++, off += n) {
		n = MIN(end - off, c->login.mrdsl);
		*(struct bhs_data_out *)cmd->out[i].head =
			(struct bhs_data_out){
			.opcode = OP_DATA_OUT,
			.flags = off + n == end ? FLAG_FINAL : 0,
			.data_len = be24_of(n),
			.lun = { 0, (uint8_t)c->slot->lun },
			.itt = c->bhs.r2t.itt, .ttt = c->bhs.r2t.ttt,
			.exp_stat_sn = be32_of(c->login.exp_stat_sn),
			.data_sn = be32_of(i), .buffer_offset = be32_of(off),
		};
		lean_put(c, &cmd->out[i], c->slot->out + off, n);
	}
	return off == end;
}

/* A NOP-In that wants an answer. */
static void put_pong(struct lean *c)
{
	union bhs *b = (union bhs *)c->pong.head;

	memset(b, 0, sizeof(*b));
	b->any.opcode = OP_NOP_OUT | OPCODE_IMMEDIATE;
	b->any.flags = FLAG_FINAL;
	memcpy(b->any.lun, c->bhs.any.lun, sizeof(b->any.lun));
	b->any.itt = be32_of(TAG_NONE);
	b->request.b20 = c->bhs.answer.b20;
	b->request.cmd_sn = be32_of(c->login.cmd_sn);
	b->request.exp_stat_sn = be32_of(c->login.exp_stat_sn);
	lean_put(c, &c->pong, NULL, 0);
}

static bool find_slot(struct lean *c)
{
	uint32_t tag = be32_get(c->bhs.any.itt);

	if (tag >= c->session->depth) {
		fprintf(stderr, "load: answer to no command\n");
		return false;
	}
	c->slot = &c->session->slot[tag];
	return true;
}

static bool has_status(const union bhs *b)
{
	return b->any.opcode != OP_R2T &&
		(b->any.opcode != OP_DATA_IN ||
		 (b->any.flags & DATA_IN_STATUS));
}

static bool iscsi_head(struct lean *c, const void *head)
{
	uint32_t off;
	be32 digest;

	memcpy(&c->bhs, head, BHS_LEN);
	digest = c->login.header_digest ? crc32c(head, BHS_LEN) : be32_of(0);
	if (c->login.header_digest &&
	    memcmp(&digest, (const uint8_t *)head + BHS_LEN, DIGEST_LEN)) {
		fprintf(stderr, "load: wrong header digest\n");
		return false;
	}
	c->left = be24_get(c->bhs.any.data_len);
	c->login.max_cmd_sn = be32_get(c->bhs.answer.max_cmd_sn);
	if (has_status(&c->bhs))
		c->login.exp_stat_sn = be32_get(c->bhs.answer.stat_sn) + 1;
	switch (c->bhs.any.opcode) {
	case OP_DATA_IN:
		if (!find_slot(c))
			return false;
		off = be32_get(c->bhs.data_in.buffer_offset);
		if (!range_fits(off, c->left, c->slot->len))
			return false;
		c->into = c->slot->in ? c->slot->in + off : NULL;
		c->slot->moved += c->left;
		return true;
	case OP_SCSI_RESPONSE:
		c->into = c->left <= sizeof(c->sense) ? c->sense : NULL;
		return find_slot(c);
	case OP_R2T:
		return find_slot(c);
	case OP_NOP_IN:
		return be32_get(c->bhs.any.itt) == TAG_NONE || find_slot(c);
	default:
		fprintf(stderr, "load: PDU %02xh came\n", c->bhs.any.opcode);
		return false;
	}
}

/* Fixed format; two bytes of length come before it. */
static void take_sense(struct lean *c, struct slot *s)
{
	if (be24_get(c->bhs.any.data_len) < 16 || !c->into)
		return;
	s->sense_key = c->sense[2 + 2] & 0xf;
	s->asc = c->sense[2 + 12];
	s->ascq = c->sense[2 + 13];
}

static bool iscsi_end(struct lean *c)
{
	struct slot *s = c->slot;

	if (c->nwaiting && WINDOW_OPEN(c))
		lean_drain_waiting(c);
	switch (c->bhs.any.opcode) {
	case OP_R2T:
		return put_data_out(c);
	case OP_NOP_IN:
		if (!s) {
			put_pong(c);
			return true;
		}
		s->status = 0;
		break;
	case OP_DATA_IN:
		if (!(c->bhs.any.flags & DATA_IN_STATUS))
			return true;
		s->status = c->bhs.data_in.status;
		break;
	case OP_SCSI_RESPONSE:
		s->status = c->bhs.scsi_response.response ? -1 :
			c->bhs.scsi_response.status;
		take_sense(c, s);
		break;
	}
	slot_done(s);
	return true;
}

const struct framing iscsi_framing = {
	.head_len = BHS_LEN,
	.request = iscsi_request, .head = iscsi_head, .end = iscsi_end,
};
