/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_LIB_TRANSPORT_FAKE_H
#define TESTS_LIB_TRANSPORT_FAKE_H

/*
 * What the transport of target/ stands on, faked: an engine whose sockets are
 * fed byte by byte, a SCSI layer of three commands, logins that succeed.
 * Included by the one source file of a test program, which then links no
 * library that defines these.
 *
 * CDBs: 00h waits for finish(); 28h reads as many bytes as its bytes 2-5 say;
 * 2Ah writes so many to medium, in pieces of the number in its bytes 6-9.
 * All others are as 00h.
 */

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/buf.h"
#include "lib/crc32c.h"
#include "target/session_int.h"
#include "tests/lib/unit.h"

/* ---- engines ----------------------------------------------------------- */

struct engine {
	struct bufpool	*bufs;
	struct list	 ready, turn_end, timers, over;
	struct epost	*posts, **tail;
};

struct peer {
	int		 fd, far;	/* what the target has, and the other end */
	struct conn	*conn;
	struct ereq	*recv;		/* waits for bytes */
	bool		 gone;		/* conn is freed */
	bool		 header_digest, data_digest;
	uint8_t		*out;		/* what the target sent, unread */
	size_t		 nout, room;
	uint32_t	 cmd_sn, itt;
};

#define PEERS 4

static struct peer peers[PEERS];
static unsigned npeers;
static uint64_t now = 1000000000;
static struct engine *self;
struct scsi_host scsi_host;
struct worker workers[MAX_WORKERS];

struct engine *engine_self(void)
{
	return self;
}

uint64_t engine_now(const struct engine *e)
{
	(void)e;
	return now;
}

struct bufpool *engine_bufs(struct engine *e)
{
	return e->bufs;
}

void engine_post(struct engine *e, struct epost *post)
{
	post->next = NULL;
	*e->tail = post;
	e->tail = &post->next;
}

void engine_defer(struct engine *e, struct edefer *d)
{
	ck_assert_ptr_eq(e, self);
	if (!list_linked(&d->link))
		list_add_tail(&e->ready, &d->link);
}

void engine_turn_end(struct engine *e, struct edefer *d)
{
	ck_assert_ptr_eq(e, self);
	if (!list_linked(&d->link))
		list_add_tail(&e->turn_end, &d->link);
}

void edefer_cancel(struct edefer *d)
{
	list_del(&d->link);
}

void etimer_init(struct etimer *t, void (*fire)(struct etimer *t))
{
	list_init(&t->link);
	t->fire = fire;
}

void etimer_start(struct engine *e, struct etimer *t, uint64_t ms)
{
	list_del(&t->link);
	t->due = now + ms * 1000000;
	list_add_tail(&e->timers, &t->link);
}

void etimer_stop(struct etimer *t)
{
	list_del(&t->link);
}

bool etimer_running(const struct etimer *t)
{
	return list_linked(&t->link);
}

static struct peer *peer_of_fd(int fd)
{
	unsigned i;

	for (i = 0; i < npeers; i++)
		if (peers[i].fd == fd && !peers[i].gone)
			return &peers[i];
	ck_abort_msg("no such descriptor");
}

static void send_all(struct peer *p, const struct ereq *r)
{
	int i;

	for (i = 0; i < r->niov; i++) {
		while (p->nout + r->iov[i].iov_len > p->room) {
			p->room = p->room ? 2 * p->room : 4096;
			p->out = realloc(p->out, p->room);
		}
		memcpy(p->out + p->nout, r->iov[i].iov_base,
		       r->iov[i].iov_len);
		p->nout += r->iov[i].iov_len;
	}
}

void engine_submit(struct engine *e, struct ereq *r)
{
	struct peer *p = peer_of_fd(r->fd);

	ck_assert_ptr_eq(e, self);
	ck_assert(r->niov > 0);
	if (r->op == EREQ_RECV) {
		ck_assert_ptr_null(p->recv);
		p->recv = r;
		return;
	}
	send_all(p, r);
	r->result = 0;
	list_add_tail(&e->over, &r->link);
}

void engine_cancel(struct engine *e, struct ereq *r)
{
	struct peer *p = peer_of_fd(r->fd);

	if (p->recv != r)
		return;		/* a send: it has ended already */
	p->recv = NULL;
	r->result = -ECANCELED;
	list_add_tail(&e->over, &r->link);
}

/* One thing that there is to do on e. */
static bool one_turn(struct engine *e)
{
	struct epost *post = e->posts;
	struct list *l;

	self = e;
	if (!list_empty(&e->over)) {
		l = e->over.next;
		list_del(l);
		list_entry(l, struct ereq, link)->done(
			list_entry(l, struct ereq, link));
	} else if (post) {
		e->posts = post->next;
		if (!e->posts)
			e->tail = &e->posts;
		post->run(post);
	} else if (!list_empty(&e->ready) || !list_empty(&e->turn_end)) {
		l = list_empty(&e->ready) ? e->turn_end.next : e->ready.next;
		list_del(l);
		list_entry(l, struct edefer, link)->run(
			list_entry(l, struct edefer, link));
	} else {
		return false;
	}
	return true;
}

static void turns(void)
{
	unsigned i = 0;

	while (i < scsi_host.nworkers) {
		if (one_turn(workers[i].engine))
			i = 0;
		else
			i++;
	}
	if (scsi_host.main && one_turn(scsi_host.main))
		turns();
	self = workers[0].engine;
}

/* Lets time pass; timers fire. */
static inline void pass(uint64_t ms)
{
	struct etimer *t, *next;
	unsigned i;

	now += ms * 1000000;
	for (i = 0; i < scsi_host.nworkers; i++) {
		struct list due;

		self = workers[i].engine;
		list_init(&due);
		list_for_each_safe(t, next, &self->timers, link) {
			if (t->due > now)
				continue;
			list_del(&t->link);
			list_add_tail(&due, &t->link);
		}
		while (!list_empty(&due)) {
			t = list_first(&due, struct etimer, link);
			list_del(&t->link);
			t->fire(t);
		}
	}
	turns();
}

/* ---- worker.c ---------------------------------------------------------- */

void worker_buf_wait(struct worker *w, struct buf_waiter *b)
{
	list_add_tail(&w->buf_waiters, &b->link);
}

void worker_buf_unwait(struct buf_waiter *b)
{
	list_del(&b->link);
}

static void buf_serve(struct edefer *d)
{
	struct worker *w = container_of(d, struct worker, buf_serve);
	struct list all;

	list_init(&all);
	list_splice_tail(&all, &w->buf_waiters);
	while (!list_empty(&all)) {
		struct buf_waiter *b = list_first(&all, struct buf_waiter,
						  link);

		list_del(&b->link);
		b->ready(b);
	}
}

void worker_buf_put(struct worker *w, void *buf, size_t len)
{
	buf_put(w->engine->bufs, buf, len);
	if (!list_empty(&w->buf_waiters))
		engine_defer(w->engine, &w->buf_serve);
}

/* ---- the SCSI layer ---------------------------------------------------- */

struct nexus {
	struct nexus_config config;
	uint64_t	 id;
	bool		 lost;
	void		(*gone)(void *arg);
	void		*arg;
	struct edefer	 report;
};

#define MEDIUM (4u << 20)
#define FAKE_CMDS 1024

static uint8_t medium[MEDIUM];
static struct scsi_cmd *cmds[FAKE_CMDS];	/* in the layer, by arrival */
static unsigned ncmds, submitted;
static uint64_t last_nexus, succeeded;
static struct scsi_tmf *tmf_pending;	/* the last, priv: one before */

static inline uint32_t cdb_total(const struct scsi_cmd *cmd)
{
	return MIN(be32_get(BE_AT(be32, cmd->cdb, 2)), MEDIUM);
}

static void nexus_check(struct nexus *n)
{
	unsigned i;

	for (i = 0; i < ncmds; i++)
		if (cmds[i]->nexus == n)
			return;
	if (n->lost)
		engine_defer(workers[n->config.worker].engine, &n->report);
}

static void finish(struct scsi_cmd *cmd, enum scsi_status status)
{
	struct nexus *n = cmd->nexus;
	unsigned i;

	for (i = 0; cmds[i] != cmd; i++)
		ck_assert_uint_lt(i, ncmds);
	memmove(&cmds[i], &cmds[i + 1], (--ncmds - i) * sizeof(cmds[0]));
	cmd->status = status;
	list_del(&cmd->defer.link);
	cmd->transport->done(cmd);
	nexus_check(n);
}

static void step_read(struct scsi_cmd *cmd)
{
	uint32_t left = cmd->edtl < cdb_total(cmd) ? cmd->edtl :
						     cdb_total(cmd);
	uint32_t n = MIN(left - cmd->moved, PIECE_MAX);

	cmd->wanted = cdb_total(cmd);
	if (!n) {
		finish(cmd, STATUS_GOOD);
		return;
	}
	if (!cmd->transport->get_buffer(cmd, n))
		return;
	memcpy(cmd->data, medium + cmd->moved, n);
	cmd->moved += n;
	if (cmd->moved == left) {
		cmd->data_in_len = n;
		finish(cmd, STATUS_GOOD);
		return;
	}
	cmd->step = 1;
	if (cmd->transport->data_in(cmd, cmd->moved - n, n))
		engine_defer(self, &cmd->defer);
}

static void step_write(struct scsi_cmd *cmd)
{
	uint32_t piece = MIN(be32_get(BE_AT(be32, cmd->cdb, 6)), BUF_MAX);
	uint32_t total = MIN(cdb_total(cmd), cmd->edtl);
	uint32_t n = MIN(total - cmd->moved, piece);

	cmd->wanted = cdb_total(cmd);
	while (n) {
		if (cmd->step == 0) {
			cmd->step = 1;
			if (!cmd->transport->get_buffer(cmd, n))
				return;
		}
		if (cmd->step == 1) {
			cmd->step = 2;
			if (!cmd->transport->data_out(cmd, cmd->moved, n))
				return;
		}
		memcpy(medium + cmd->moved, cmd->data, n);
		cmd->moved += n;
		n = MIN(total - cmd->moved, piece);
		cmd->step = 0;
	}
	finish(cmd, STATUS_GOOD);
}

static void fake_resume(struct scsi_cmd *cmd)
{
	if (cmd->aborted)
		finish(cmd, STATUS_TASK_ABORTED);
	else if (cmd->cdb[0] == 0x28)
		step_read(cmd);
	else if (cmd->cdb[0] == 0x2a)
		step_write(cmd);
}

static void fake_defer(struct edefer *d)
{
	fake_resume(container_of(d, struct scsi_cmd, defer));
}

void scsi_submit(struct scsi_cmd *cmd)
{
	ck_assert_uint_lt(ncmds, FAKE_CMDS);
	submitted++;
	cmds[ncmds++] = cmd;
	if (cmd->cdb[0] != 0x28 && cmd->cdb[0] != 0x2a)
		cmd->cdb[0] = 0;
	cmd->resume = fake_resume;
	cmd->step = 0;
	list_init(&cmd->defer.link);
	cmd->defer.run = fake_defer;
	if (cmd->cdb[0])
		engine_defer(self, &cmd->defer);
}

void scsi_abort(struct scsi_cmd *cmd)
{
	if (cmd->aborted)
		return;
	cmd->aborted = true;
	if (!cmd->cdb[0])
		engine_defer(self, &cmd->defer);
	cmd->transport->aborted(cmd);
}

void scsi_full(struct scsi_cmd *cmd)
{
	cmd->status = STATUS_TASK_SET_FULL;
	cmd->sense_len = 0;
	cmd->data_in_len = 0;
}

void scsi_task_management(struct scsi_tmf *t)
{
	t->priv = tmf_pending;
	tmf_pending = t;
}

static void nexus_report(struct edefer *d)
{
	struct nexus *n = container_of(d, struct nexus, report);

	n->gone(n->arg);
}

struct nexus *nexus_new(const struct scsi_host *host,
			const struct nexus_config *config)
{
	struct nexus *n = calloc(1, sizeof(*n));

	(void)host;
	ck_assert_ptr_nonnull(n);
	n->config = *config;
	n->id = ++last_nexus;
	list_init(&n->report.link);
	n->report.run = nexus_report;
	return n;
}

void nexus_free(struct nexus *n)
{
	free(n);
}

void nexus_lose(struct nexus *n, void (*done)(void *arg), void *arg)
{
	unsigned i;

	ck_assert(!n->lost);
	n->lost = true;
	n->gone = done;
	n->arg = arg;
	for (i = 0; i < ncmds; i++)
		if (cmds[i]->nexus == n)
			scsi_abort(cmds[i]);
	nexus_check(n);
}

void nexus_succeed(struct nexus *n, uint64_t old_id)
{
	(void)n;
	succeeded = old_id;
}

uint64_t nexus_id(const struct nexus *n)
{
	return n->id;
}

void nexus_rehome(struct nexus *n, unsigned worker)
{
	n->config.worker = worker;
}

bool nexus_settled(const struct nexus *n)
{
	unsigned i;

	for (i = 0; i < ncmds; i++)
		if (cmds[i]->nexus == n)
			return false;
	return true;
}

/* ---- the configured world ---------------------------------------------- */

static struct params keys;	/* what logins agree on */

enum tgt_verdict tgt_session_begin(struct session *s)
{
	(void)s;
	return TGT_OK;
}

void tgt_session_end(struct session *s)
{
	(void)s;
}

uint16_t tgt_rtpi(const char *iqn, uint16_t group)
{
	(void)iqn;
	return group;
}

struct lu *tgt_find_lu(void *session, const uint8_t *designator, size_t len,
		       bool *ret_read_only)
{
	(void)session;
	(void)designator;
	(void)len;
	(void)ret_read_only;
	return NULL;
}

const char *addr_text(const struct sockaddr *a, char *buf)
{
	(void)a;
	memcpy(buf, "peer", 5);
	return buf;
}

static void login_timer(struct etimer *t)
{
	conn_close(container_of(t, struct conn, timer), "login took too long");
}

void login_init(struct conn *c)
{
	etimer_init(&c->timer, login_timer);
	etimer_start(c->worker->engine, &c->timer, 30000);
}

/* A Login Request: its ISID, TSIH and CmdSN count. */
void login_request(struct conn *c, struct pdu_in *p)
{
	const struct bhs_login_request *b = &p->bhs->login_request;
	struct pdu_out *out = pdu_new(c);
	struct session_request r = {
		.initiator = "iqn.2026-11.test:host",
		.target = "iqn.2026-11.test:target",
		.tsih = be16_get(b->tsih),
		.cmd_sn = be32_get(b->cmd_sn),
	};
	uint16_t status;

	memcpy(r.isid, b->isid, sizeof(r.isid));
	c->params = keys;
	status = session_begin(c, &r);
	out->bhs.login_response.opcode = OP_LOGIN_RESPONSE;
	out->bhs.login_response.itt = b->itt;
	out->bhs.login_response.status = be16_of(status);
	out->takes_stat_sn = true;
	conn_send(c, out);
	if (status)
		conn_close_after_send(c, "login refused");
	else
		conn_logged_in(c);
}

void login_free(struct conn *c)
{
	unsigned i;

	for (i = 0; i < npeers; i++)
		if (peers[i].conn == c)
			peers[i].gone = true;
}

void text_request(struct conn *c, struct pdu_in *p)
{
	conn_reject(c, p->bhs, REJECT_NOT_SUPPORTED);
}

void text_free(struct conn *c)
{
	(void)c;
}

void keys_init(struct params *p)
{
	*p = keys;
}

#endif
