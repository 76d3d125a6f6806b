/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The transport among initiators that do whatever comes to their mind: nothing
 * breaks, and nothing is left when they are gone.  CHAOS_FIRST and CHAOS_LAST
 * in the environment choose other histories than the first six.
 */
#include "lib/log.h"
#include "tests/lib/transport_rig.h"

static uint64_t seed;

static uint32_t dice(uint32_t sides)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 33) % sides;
}

#define LAST 32

/* Tags seen lately, to refer to. */
static uint32_t itts[LAST], ttts[LAST];

static uint32_t size(void)
{
	static const uint32_t sizes[] = { 0, 1, 512, 4096, 8192, 65536,
					  100000, 262144 };

	return sizes[dice(ARRAY_SIZE(sizes))];
}

static union bhs random_command(struct peer *p)
{
	static const uint8_t ops[] = { 0x28, 0x2a, 0x2a, 0x00 };
	uint32_t total = size() * (1 + dice(20));
	union bhs b = command(p, ops[dice(4)], total,
			      dice(4) ? total : size());
	be32 piece = be32_of(dice(3) ? PIECE_MAX : 4096u << dice(6)), wire;

	wire = be32_of(MIN(MIN(total, be32_get(b.scsi_command.edtl)),
			   MEDIUM));
	memcpy(b.scsi_command.cdb + 2, &wire, 4);
	memcpy(b.scsi_command.cdb + 6, &piece, 4);
	if (!dice(5))
		b.any.flags &= (uint8_t)~FLAG_FINAL;
	if (!dice(20))
		b.any.opcode |= OPCODE_IMMEDIATE;
	if (!dice(30))
		b.request.cmd_sn = be32_of(be32_get(b.request.cmd_sn) +
					   dice(4) - 1);
	if (!dice(200))
		b.any.itt = be32_of(itts[dice(LAST)]);
	itts[dice(LAST)] = be32_get(b.any.itt);
	return b;
}

static union bhs random_data_out(void)
{
	union bhs b = data_out(itts[dice(LAST)],
			       dice(3) ? ttts[dice(LAST)] : TAG_NONE,
			       dice(3), size());

	b.any.flags = dice(2) ? FLAG_FINAL : 0;
	return b;
}

static union bhs random_tmf(struct peer *p)
{
	union bhs b = request(p, OP_TMF_REQUEST, dice(10));

	b.any.flags = (uint8_t)(FLAG_FINAL | (dice(2) ? TMF_ABORT_TASK :
						       dice(7)));
	b.tmf_request.ref_task_tag = be32_of(itts[dice(LAST)]);
	b.tmf_request.ref_cmd_sn = be32_of(p->cmd_sn + 2 - dice(10));
	return b;
}

/* Answers an R2T as it should be, mostly. */
static void answer_r2t(struct peer *p, const union bhs *r2t)
{
	uint32_t len = be32_get(r2t->r2t.desired_len), at = 0, sn = 0, n;
	uint32_t off = be32_get(r2t->r2t.buffer_offset);
	static uint8_t data[MAX_RECV_DSL];
	union bhs b;

	ttts[dice(LAST)] = be32_get(r2t->r2t.ttt);
	if (!dice(10))
		return;
	while (at < len && !p->gone) {
		n = MIN(len - at, 1 + dice(60000));
		b = data_out(be32_get(r2t->any.itt), be32_get(r2t->r2t.ttt),
			     sn++, off + at);
		at += n;
		b.any.flags = at == len ? FLAG_FINAL : 0;
		if (!dice(100))
			b.data_out.data_sn = be32_of(dice(3));
		say_cut(p, &b, data, n, 1 + dice(40000));
	}
}

static void listen_to(struct peer *p)
{
	union bhs b;
	int op;

	while (!p->gone && (op = hear_any(p, &b)) >= 0)
		if (op == OP_R2T)
			answer_r2t(p, &b);
}

static void talk(struct peer *p)
{
	static uint8_t data[MAX_RECV_DSL];
	union bhs b;
	uint32_t n = 0;

	switch (dice(12)) {
	case 0:
		b = random_tmf(p);
		break;
	case 1:
	case 2:
		b = random_data_out();
		n = size();
		break;
	case 3:
		b = request(p, OP_NOP_OUT, dice(2));
		n = size();
		break;
	case 4:
		b = request(p, (uint8_t)(dice(4) ? OP_SNACK : dice(64)),
			    dice(2));
		if (bhs_opcode(&b) == OP_LOGOUT_REQUEST && dice(5))
			return;
		break;
	default:
		b = random_command(p);
		if (b.any.flags & CMD_WRITE && dice(2))
			n = MIN(size(), be32_get(b.scsi_command.edtl));
		n = MIN(n, keys.FirstBurstLength);
		break;
	}
	if (dice(40))
		say_cut(p, &b, data, n, 1 + dice(50000));
	else
		feed(p, b.bytes, dice(BHS_LEN), SIZE_MAX);	/* and lost */
}

/* The SCSI layer's turn: commands end, or are aborted by others. */
static void scsi_acts(void)
{
	struct scsi_cmd *cmd;

	if (tmf_pending && dice(3))
		tmf_finish(tmf_pending);
	if (ncmds) {
		cmd = cmds[dice(ncmds)];
		self = workers[cmd->nexus->config.worker].engine;
		if (!dice(10)) {
			cmd->tas = dice(2);
			scsi_abort(cmd);
		} else if (!cmd->cdb[0] && !cmd->aborted) {
			finish(cmd, dice(2) ? STATUS_GOOD : STATUS_BUSY);
		}
	}
	turns();
}

static void start_over(unsigned i)
{
	struct peer *p = &peers[i];
	int fd[2];

	if (!p->gone)
		return;
	close(p->far);
	free(p->out);
	*p = (struct peer){ .itt = 1 + dice(1u << 30), .cmd_sn = dice(~0u) };
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	p->fd = fd[0];
	p->far = fd[1];
	self = workers[0].engine;
	conn_new(&workers[0], p->fd, 1);
	p->conn = list_entry(workers[0].conns.prev, struct conn, in_worker);
	turns();
	login(p, (uint8_t)dice(2), 0);
}

static void step(void)
{
	struct peer *p = &peers[dice(npeers)];

	switch (dice(16)) {
	case 0:
		scsi_acts();
		break;
	case 1:
		pass(dice(2000));
		break;
	case 2:
		if (!dice(8))
			peer_lost(p);
		break;
	case 3:
		if (!p->gone && p->conn->session && !dice(3))
			session_move_id(p->conn->session->id, dice(2));
		turns();
		break;
	case 4:
		start_over((unsigned)(p - peers));
		break;
	case 5:
	case 6:
		listen_to(p);
		break;
	default:
		if (!p->gone)
			talk(p);
		break;
	}
}

START_TEST(nothing_breaks_and_nothing_is_left)
{
	unsigned i;

	keys.HeaderDigest = _i & 1;
	keys.DataDigest = _i >> 1 & 1;
	keys.MaxOutstandingR2T = 1 + (_i & 3);
	seed = 88172645463325252ull + (uint64_t)_i * 7919;
	for (i = 0; i < 3; i++) {
		peer_new();
		login(&peers[i], (uint8_t)i, 0);
	}
	for (i = 0; i < 3000; i++)
		step();
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("chaos");
	const char *first = getenv("CHAOS_FIRST"), *last = getenv("CHAOS_LAST");

	log_set_level(LOG_ERR_);
	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_loop_test(tc, nothing_breaks_and_nothing_is_left,
			    first ? (int)strtoul(first, NULL, 10) : 0,
			    last ? (int)strtoul(last, NULL, 10) : 6);
	return unit_run("chaos", tc);
}
