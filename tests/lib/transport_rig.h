/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_LIB_TRANSPORT_RIG_H
#define TESTS_LIB_TRANSPORT_RIG_H

/* Over the fakes of transport_fake.h: workers, and initiators that send PDUs
 * and read the answers. */

#include "tests/lib/transport_fake.h"

#ifndef RIG_POOL
#define RIG_POOL (16u << 20)
#endif

static struct engine *engine_make(void)
{
	struct engine *e = calloc(1, sizeof(*e));
	int err;

	ck_assert_ptr_nonnull(e);
	list_init(&e->ready);
	list_init(&e->turn_end);
	list_init(&e->timers);
	list_init(&e->over);
	e->tail = &e->posts;
	e->bufs = bufpool_new(RIG_POOL, RIG_POOL / 4, &err);
	ck_assert_ptr_nonnull(e->bufs);
	return e;
}

/* All but the medium's contents, which take their time. */
static void rig_make(void)
{
	unsigned i;

	for (i = 0; i < 2; i++) {
		struct worker *w = &workers[i];

		w->index = i;
		w->engine = scsi_host.worker[i] = engine_make();
		list_init(&w->conns);
		list_init(&w->buf_waiters);
		list_init(&w->buf_serve.link);
		w->buf_serve.run = buf_serve;
	}
	scsi_host.nworkers = 2;
	scsi_host.main = engine_make();
	self = workers[0].engine;
	keys = (struct params){
		.ImmediateData = 1,
		.MaxRecvDataSegmentLength = 8192,
		.own_recv_dsl = MAX_RECV_DSL,
		.MaxBurstLength = 65536,
		.FirstBurstLength = 65536,
		.MaxOutstandingR2T = 1,
		.MaxConnections = 1,
		.DataPDUInOrder = 1,
		.DataSequenceInOrder = 1,
	};
}

static inline void rig_setup(void)
{
	unsigned i;

	rig_make();
	for (i = 0; i < MEDIUM; i++)
		medium[i] = (uint8_t)(i * 7 + (i >> 8));
}

static void peer_lost(struct peer *p)
{
	struct ereq *r = p->recv;

	if (!r)
		return;
	p->recv = NULL;
	r->result = 0;
	self = p->conn->worker->engine;
	r->done(r);
	turns();
}

static inline void tmf_finish(struct scsi_tmf *t)
{
	tmf_pending = t->priv;
	self = workers[t->nexus->config.worker].engine;
	t->done(t);
	turns();
}

/* Every connection ends, and nothing is left behind. */
static void rig_teardown(void)
{
	unsigned i, round;

	/* one that is about to be moved listens only when it is quiet */
	for (round = 0; round < 5; round++) {
		for (i = 0; i < npeers; i++)
			peer_lost(&peers[i]);
		for (i = 0; i < ncmds; i++)
			if (!cmds[i]->cdb[0] || cmds[i]->aborted) {
				self = scsi_host.worker[
					cmds[i]->nexus->config.worker];
				finish(cmds[i--], STATUS_TASK_ABORTED);
			}
		while (tmf_pending)
			tmf_finish(tmf_pending);
		turns();
	}
	for (i = 0; i < npeers; i++) {
		ck_assert(peers[i].gone);
		close(peers[i].far);
		free(peers[i].out);
	}
	for (i = 0; i < 2; i++) {
		ck_assert(list_empty(&workers[i].conns));
		pdu_pool_fini(&workers[i]);
		ck_assert_uint_eq(bufpool_used(workers[i].engine->bufs), 0);
		bufpool_free(workers[i].engine->bufs);
		free(workers[i].engine);
	}
	bufpool_free(scsi_host.main->bufs);
	free(scsi_host.main);
	npeers = submitted = 0;
	tmf_pending = NULL;
}

/* Gives bytes to the target, at most chunk of them at a time. */
static void feed(struct peer *p, const uint8_t *bytes, size_t n, size_t chunk)
{
	while (n) {
		struct ereq *r = p->recv;
		size_t part = MIN(n, chunk), done = 0;
		int i;

		if (!r)
			return;		/* it does not listen any more */
		for (i = 0; i < r->niov && done < part; i++) {
			size_t m = MIN(part - done, r->iov[i].iov_len);

			memcpy(r->iov[i].iov_base, bytes + done, m);
			done += m;
		}
		bytes += done;
		n -= done;
		p->recv = NULL;
		r->result = (int)done;
		self = p->conn->worker->engine;
		r->done(r);
		turns();
	}
}

/* A whole PDU as bytes, in a buffer that the caller frees. */
static uint8_t *pdu_bytes(const struct peer *p, union bhs *b, const void *data,
			  size_t len, size_t *ret_n)
{
	uint8_t *bytes = calloc(1, BHS_LEN + len + 16);
	size_t n = BHS_LEN, pad = -len & 3;
	be32 digest;

	b->any.data_len = be24_of((uint32_t)len);
	memcpy(bytes, b, BHS_LEN);
	if (p->header_digest) {
		digest = crc32c(bytes, n);
		memcpy(bytes + n, &digest, 4);
		n += 4;
	}
	if (len) {
		memcpy(bytes + n, data, len);
		if (p->data_digest) {
			digest = crc32c(bytes + n, len + pad);
			memcpy(bytes + n + len + pad, &digest, 4);
			n += 4;
		}
		n += len + pad;
	}
	*ret_n = n;
	return bytes;
}

static void say_cut(struct peer *p, union bhs *b, const void *data, size_t len,
		    size_t chunk)
{
	size_t n;
	uint8_t *bytes = pdu_bytes(p, b, data, len, &n);

	feed(p, bytes, n, chunk);
	free(bytes);
}

static void say(struct peer *p, union bhs *b, const void *data, size_t len)
{
	say_cut(p, b, data, len, SIZE_MAX);
}

/* The next PDU of the target: its opcode, or -1. */
static int hear(struct peer *p, union bhs *ret, uint8_t *data, size_t room)
{
	size_t n = BHS_LEN + (p->header_digest ? 4 : 0), len;

	if (p->nout < BHS_LEN)
		return -1;
	memcpy(ret, p->out, BHS_LEN);
	len = be24_get(ret->any.data_len);
	if (data)
		memcpy(data, p->out + n, MIN(len, room));
	n += round_up(len, 4) + (len && p->data_digest ? 4 : 0);
	ck_assert_uint_le(n, p->nout);
	memmove(p->out, p->out + n, p->nout - n);
	p->nout -= n;
	return (int)bhs_opcode(ret);
}

static int hear_any(struct peer *p, union bhs *ret)
{
	return hear(p, ret, NULL, 0);
}

static struct peer *peer_new(void)
{
	struct peer *p = &peers[npeers++];
	int fd[2];

	*p = (struct peer){ .itt = 1, .cmd_sn = 100 };
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	p->fd = fd[0];
	p->far = fd[1];
	conn_new(&workers[0], p->fd, 1);
	p->conn = list_entry(workers[0].conns.prev, struct conn, in_worker);
	ck_assert_int_eq(p->conn->fd, p->fd);
	turns();
	return p;
}

/* Logs in; the status. */
static int login(struct peer *p, uint8_t isid, uint16_t tsih)
{
	union bhs b = { .login_request = {
		.opcode = OP_LOGIN_REQUEST | OPCODE_IMMEDIATE,
		.isid = { 0x80, 0, 0, 0, 0, isid },
		.tsih = be16_of(tsih),
		.cmd_sn = be32_of(p->cmd_sn),
	} }, answer;

	say(p, &b, NULL, 0);
	ck_assert_int_eq(hear_any(p, &answer), OP_LOGIN_RESPONSE);
	p->header_digest = keys.HeaderDigest;
	p->data_digest = keys.DataDigest;
	return be16_get(answer.login_response.status);
}

static inline struct peer *peer_logged_in(void)
{
	struct peer *p = peer_new();

	ck_assert_int_eq(login(p, 1, 0), LOGIN_SUCCESS);
	return p;
}

static union bhs request(struct peer *p, uint8_t opcode, bool immediate)
{
	union bhs b = { .request = {
		.opcode = (uint8_t)(opcode | (immediate ? OPCODE_IMMEDIATE : 0)),
		.flags = FLAG_FINAL,
		.itt = be32_of(p->itt++),
		.cmd_sn = be32_of(p->cmd_sn),
	} };

	if (!immediate)
		p->cmd_sn++;
	return b;
}

/* A SCSI Command of total bytes; edtl as given. */
static inline union bhs command(struct peer *p, uint8_t op, uint32_t total,
			 uint32_t edtl)
{
	union bhs b = request(p, OP_SCSI_COMMAND, false);
	be32 n = be32_of(total), piece = be32_of(PIECE_MAX);

	b.scsi_command.cdb[0] = op;
	memcpy(b.scsi_command.cdb + 2, &n, 4);
	memcpy(b.scsi_command.cdb + 6, &piece, 4);
	b.scsi_command.edtl = be32_of(edtl);
	if (op == 0x28)
		b.scsi_command.flags |= CMD_READ;
	if (op == 0x2a)
		b.scsi_command.flags |= CMD_WRITE;
	return b;
}

static inline union bhs data_out(uint32_t itt, uint32_t ttt, uint32_t sn,
			  uint32_t offset)
{
	return (union bhs){ .data_out = {
		.opcode = OP_DATA_OUT,
		.itt = be32_of(itt),
		.ttt = be32_of(ttt),
		.data_sn = be32_of(sn),
		.buffer_offset = be32_of(offset),
		.lun = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
	} };
}

static inline uint8_t *pattern(size_t n)
{
	uint8_t *p = malloc(n);
	size_t i;

	for (i = 0; i < n; i++)
		p[i] = (uint8_t)(i * 13 + (i >> 9) + 5);
	return p;
}

#endif
