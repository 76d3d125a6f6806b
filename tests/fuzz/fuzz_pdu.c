/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What comes over connections, before login and after it: the input is a list
 * of acts of two initiators, of the SCSI layer and of the clock.  At the end
 * all connections close, and nothing may be left of them.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/log.h"

#define RIG_POOL (4u << 20)	/* less to make anew for each input */
#include "tests/lib/transport_rig.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The checks of the fakes: a test program's, made to end this one. */
void _mark_point(const char *file, int line)
{
	(void)file;
	(void)line;
}

void _ck_assert_failed(const char *file, int line, const char *expr,
		       const char *msg, ...)
{
	fprintf(stderr, "%s:%d: Assertion '%s' failed %s\n", file, line, expr,
		msg ? msg : "");
	abort();
}

enum act {
	ACT_PDU,		/* 48 bytes of header; its length made true */
	ACT_LIE,		/* the same with the length as it stands */
	ACT_BYTES,
	ACT_COMMAND,
	ACT_DATA_OUT,
	ACT_LOGIN,
	ACT_FINISH,		/* the SCSI layer ends a command */
	ACT_TMF_END,
	ACT_MOVE,
	ACT_TIME,
	ACT_LOST,
	ACTS,
};

struct input {
	const uint8_t *p, *end;
};

static uint8_t payload[MAX_RECV_DSL];

static uint32_t number(struct input *in, unsigned bytes)
{
	uint32_t x = 0;

	while (bytes-- && in->p < in->end)
		x = x << 8 | *in->p++;
	return x;
}

/* Small numbers as they are, large ones in steps. */
static uint32_t length(struct input *in)
{
	uint32_t x = number(in, 1);

	return x < 128 ? x : (x - 127) * 2048;
}

static void header(struct input *in, union bhs *b)
{
	size_t n = MIN((size_t)(in->end - in->p), BHS_LEN);

	memset(b, 0, sizeof(*b));
	memcpy(b->bytes, in->p, n);
	in->p += n;
}

/* The sequence number that the target waits for makes a PDU worth something. */
static void number_it(struct peer *p, union bhs *b)
{
	if (bhs_opcode(b) == OP_DATA_OUT || b->request.cmd_sn.b[0])
		return;
	b->request.cmd_sn = be32_of(p->cmd_sn + b->request.cmd_sn.b[3]);
	if (!(b->any.opcode & OPCODE_IMMEDIATE))
		p->cmd_sn++;
}

static void act_pdu(struct peer *p, struct input *in)
{
	size_t len = length(in);
	union bhs b;

	header(in, &b);
	number_it(p, &b);
	b.any.ahs_len = 0;
	say_cut(p, &b, payload, MIN(len, sizeof(payload)), 1 + length(in));
}

static void act_lie(struct peer *p, struct input *in)
{
	size_t n = length(in);
	union bhs b;

	header(in, &b);
	number_it(p, &b);
	feed(p, b.bytes, BHS_LEN, SIZE_MAX);
	feed(p, payload, MIN(n, sizeof(payload)), SIZE_MAX);
}

static void act_bytes(struct peer *p, struct input *in)
{
	size_t n = length(in), chunk = 1 + length(in);

	n = MIN(n, (size_t)(in->end - in->p));
	feed(p, in->p, n, chunk);
	in->p += n;
}

static void act_command(struct peer *p, struct input *in)
{
	uint32_t how = number(in, 1), total = length(in), edtl = length(in);
	static const uint8_t ops[] = { 0x00, 0x28, 0x2a, 0x2a };
	union bhs b = command(p, ops[how & 3], total, edtl);
	be32 piece = be32_of(4096u << (how >> 2 & 7));
	uint32_t len = how & 0x40 ? length(in) : 0;

	memcpy(b.scsi_command.cdb + 6, &piece, 4);
	if (how & 0x20)
		b.any.flags &= (uint8_t)~FLAG_FINAL;
	if (how & 0x80)
		b.any.opcode |= OPCODE_IMMEDIATE;
	len = MIN(len, edtl);
	say(p, &b, payload, MIN(len, keys.FirstBurstLength));
}

/* For a tag used lately; its TTT is the input's. */
static void act_data_out(struct peer *p, struct input *in)
{
	uint32_t how = number(in, 1);
	union bhs b = data_out(p->itt - 1 - (how & 15),
			       how & 0x10 ? TAG_NONE : number(in, 1),
			       how >> 5 & 3, length(in));
	size_t len = length(in);

	b.any.flags = how & 0x80 ? FLAG_FINAL : 0;
	say(p, &b, payload, MIN(len, sizeof(payload)));
}

static void act_login(struct peer *p, struct input *in)
{
	uint32_t how = number(in, 1);
	union bhs b = { .login_request = {
		.opcode = OP_LOGIN_REQUEST | OPCODE_IMMEDIATE,
		.isid = { 0x80, 0, 0, 0, 0, how & 1 },
		.tsih = be16_of(how >> 1 & 3),
		.cmd_sn = be32_of(p->cmd_sn),
	} };

	say(p, &b, NULL, 0);
	p->header_digest = keys.HeaderDigest;
	p->data_digest = keys.DataDigest;
}

static void act_finish(struct input *in)
{
	uint32_t how = number(in, 1);
	struct scsi_cmd *cmd;

	if (!ncmds)
		return;
	cmd = cmds[how % ncmds];
	self = workers[cmd->nexus->config.worker].engine;
	if (how & 0x80) {
		cmd->tas = how & 0x40;
		scsi_abort(cmd);
	} else if (!cmd->cdb[0] && !cmd->aborted) {
		finish(cmd, STATUS_GOOD);
	}
	turns();
}

static void act_move(struct peer *p, struct input *in)
{
	if (p->conn->session)
		session_move_id(p->conn->session->id, number(in, 1) & 1);
	turns();
}

/* What an initiator does; none that is gone does anything. */
static void act(struct peer *p, enum act what, struct input *in)
{
	static void (*const acts[])(struct peer *, struct input *) = {
		[ACT_PDU] = act_pdu, [ACT_LIE] = act_lie,
		[ACT_BYTES] = act_bytes, [ACT_COMMAND] = act_command,
		[ACT_DATA_OUT] = act_data_out, [ACT_LOGIN] = act_login,
		[ACT_MOVE] = act_move,
	};

	if (what == ACT_FINISH)
		act_finish(in);
	else if (what == ACT_TMF_END && tmf_pending)
		tmf_finish(tmf_pending);
	else if (what == ACT_TIME)
		pass(number(in, 2));
	else if (what == ACT_LOST && !p->gone)
		peer_lost(p);
	else if (what < ARRAY_SIZE(acts) && acts[what] && !p->gone)
		acts[what](p, in);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	log_set_level(LOG_ERR_);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, data + size };
	uint32_t how = number(&in, 1), what;

	rig_make();
	keys.HeaderDigest = how & 1;
	keys.DataDigest = how >> 1 & 1;
	keys.MaxOutstandingR2T = 1 + (how >> 2 & 3);
	peer_new();
	peer_new();
	if (how & 0x10)
		login(&peers[0], 0, 0);
	if (how & 0x20)
		login(&peers[1], how >> 6 & 1, 0);
	while (in.p < in.end) {
		what = number(&in, 1);
		act(&peers[what >> 7], (enum act)(what % 0x80 % ACTS), &in);
		peers[0].nout = peers[1].nout = 0;
	}
	rig_teardown();
	return 0;
}
