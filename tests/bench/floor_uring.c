/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The floor by io_uring: a turn of the loop submits all receives, disk work and
 * one gathered send per connection, and reaps. */

#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/bench/floor_int.h"

#define IN_SIZE		(256u << 10)
#define RING		1024u

enum act_kind { ACT_ACCEPT, ACT_RECV, ACT_BODY, ACT_DISK, ACT_SEND };

struct act {
	enum act_kind	 kind;
	struct conn	*conn;
};

struct request {
	struct act	 act;
	struct floor_head head;
	uint8_t		*buf;
	struct request	*next;
};

struct conn {
	struct act	 recv, body, send;
	int		 fd;
	bool		 receives, sends, dead;
	unsigned	 busy;		/* acts in the ring */
	uint8_t		*in;
	size_t		 at, have;
	struct request	*request, *free, *done, **done_end, *sent, *filling;
	struct iovec	*iov;
	struct msghdr	 msg;
	struct conn	*next;		/* in this turn */
	bool		 listed;
};

struct ring {
	struct io_uring	 u;
	const struct floor *floor;
	struct conn	*turn;
	struct act	 accept;
};

static struct io_uring_sqe *new_sqe(struct ring *r)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&r->u);

	if (!sqe) {
		io_uring_submit(&r->u);
		sqe = io_uring_get_sqe(&r->u);
	}
	return sqe;
}

/* A prepared entry becomes an act of a connection. */
static void start(struct io_uring_sqe *sqe, struct act *a)
{
	io_uring_sqe_set_data(sqe, a);
	if (a->conn)
		a->conn->busy++;
}

static void start_accept(struct ring *r)
{
	struct io_uring_sqe *sqe = new_sqe(r);

	io_uring_prep_accept(sqe, r->floor->listener, NULL, NULL, 0);
	start(sqe, &r->accept);
}

static void list(struct ring *r, struct conn *c)
{
	if (c->listed)
		return;
	c->listed = true;
	c->next = r->turn;
	r->turn = c;
}

static void request_done(struct ring *r, struct request *q)
{
	struct conn *c = q->act.conn;

	q->head.op |= FLOOR_DONE;
	q->next = NULL;
	*c->done_end = q;
	c->done_end = &q->next;
	list(r, c);
}

static void start_disk(struct ring *r, struct request *q)
{
	struct io_uring_sqe *sqe;

	if (r->floor->file < 0) {
		request_done(r, q);
		return;
	}
	sqe = new_sqe(r);
	if (q->head.op == FLOOR_READ)
		io_uring_prep_read(sqe, 0, q->buf, q->head.len, q->head.off);
	else
		io_uring_prep_write(sqe, 0, q->buf, q->head.len, q->head.off);
	io_uring_sqe_set_flags(sqe, IOSQE_FIXED_FILE);
	start(sqe, &q->act);
}

/* A body comes whole, anything else as it is. */
static void start_recv(struct ring *r, struct act *a, void *to, size_t len)
{
	struct io_uring_sqe *sqe = new_sqe(r);

	io_uring_prep_recv(sqe, a->conn->fd, to, len,
			   a->kind == ACT_BODY ? MSG_WAITALL : 0);
	start(sqe, a);
	a->conn->receives = true;
}

/* One request; false: more has to come, or one has to end. */
static bool next_request(struct ring *r, struct conn *c)
{
	struct request *q = c->free;
	size_t have = c->have - c->at, n;

	if (!q || have < sizeof(q->head))
		return false;
	memcpy(&q->head, c->in + c->at, sizeof(q->head));
	if (q->head.len > r->floor->bs) {
		c->dead = true;
		return false;
	}
	n = q->head.op == FLOOR_WRITE ? q->head.len : 0;
	if (n && n < FLOOR_LARGE && have < sizeof(q->head) + n)
		return false;
	c->free = q->next;
	c->at += sizeof(q->head);
	have -= sizeof(q->head);
	if (n > have) {
		memcpy(q->buf, c->in + c->at, have);
		c->at += have;
		c->filling = q;
		start_recv(r, &c->body, q->buf + have, n - have);
		return false;
	}
	memcpy(q->buf, c->in + c->at, n);
	c->at += n;
	start_disk(r, q);
	return true;
}

static void requests(struct ring *r, struct conn *c)
{
	size_t room = r->floor->bs >= FLOOR_LARGE ? 4096 : IN_SIZE;

	if (c->receives || c->dead)
		return;
	while (next_request(r, c))
		;
	if (c->receives || c->dead)
		return;
	memmove(c->in, c->in + c->at, c->have - c->at);
	c->have -= c->at;
	c->at = 0;
	if (c->have == room || !c->free)
		return;
	start_recv(r, &c->recv, c->in + c->have, room - c->have);
}

static void start_send(struct ring *r, struct conn *c)
{
	struct request *q;
	struct io_uring_sqe *sqe;
	unsigned n = 0;

	if (c->sends || !c->done || c->dead)
		return;
	for (q = c->done; q; q = q->next) {
		c->iov[n++] = (struct iovec){ &q->head, sizeof(q->head) };
		if (q->head.op == (FLOOR_READ | FLOOR_DONE))
			c->iov[n++] = (struct iovec){ q->buf, q->head.len };
	}
	c->msg = (struct msghdr){ .msg_iov = c->iov, .msg_iovlen = n };
	c->sent = c->done;
	c->done = NULL;
	c->done_end = &c->done;
	c->sends = true;
	sqe = new_sqe(r);
	io_uring_prep_sendmsg(sqe, c->fd, &c->msg, MSG_WAITALL | MSG_NOSIGNAL);
	start(sqe, &c->send);
}

static void sent(struct conn *c)
{
	struct request *q;

	c->sends = false;
	while ((q = c->sent)) {
		c->sent = q->next;
		q->next = c->free;
		c->free = q;
	}
}

static void conn_new(struct ring *r, int fd)
{
	struct conn *c = calloc(1, sizeof(*c));
	unsigned i, n = r->floor->depth;

	if (!c || !(c->request = calloc(n, sizeof(*c->request))) ||
	    !(c->iov = calloc(2 * (size_t)n, sizeof(*c->iov))))
		exit(1);
	c->fd = floor_accepted(fd);
	c->recv = (struct act){ ACT_RECV, c };
	c->body = (struct act){ ACT_BODY, c };
	c->send = (struct act){ ACT_SEND, c };
	c->in = floor_buffer(IN_SIZE);
	c->done_end = &c->done;
	for (i = 0; i < n; i++) {
		c->request[i].act = (struct act){ ACT_DISK, c };
		c->request[i].buf = floor_buffer(r->floor->bs);
		c->request[i].next = c->free;
		c->free = &c->request[i];
	}
	list(r, c);
}

static void conn_end(struct floor *f, struct conn *c)
{
	unsigned i;

	close(c->fd);
	for (i = 0; i < f->depth; i++)
		free(c->request[i].buf);
	free(c->request);
	free(c->iov);
	free(c->in);
	free(c);
}

static void done(struct ring *r, struct act *a, int res)
{
	struct conn *c = a->conn;

	if (a->kind == ACT_ACCEPT) {
		if (res >= 0)
			conn_new(r, res);
		start_accept(r);
		return;
	}
	c->busy--;
	list(r, c);
	c->dead |= res <= 0;
	switch (a->kind) {
	case ACT_RECV:
		c->receives = false;
		c->have += c->dead ? 0 : (size_t)res;
		return;
	case ACT_BODY:
		c->receives = false;
		if (!c->dead)
			start_disk(r, c->filling);
		return;
	case ACT_DISK:
		if (!c->dead)
			request_done(r, (struct request *)(void *)a);
		return;
	default:
		sent(c);
		return;
	}
}

static void end_of_turn(struct ring *r)
{
	struct conn *c;

	while ((c = r->turn)) {
		r->turn = c->next;
		c->listed = false;
		requests(r, c);
		start_send(r, c);
		if (c->dead && !c->busy)
			conn_end((struct floor *)r->floor, c);
		else if (c->dead)
			shutdown(c->fd, SHUT_RDWR);
	}
}

void floor_uring(const struct floor *f)
{
	struct io_uring_params p = {
		.flags = IORING_SETUP_SINGLE_ISSUER |
			 IORING_SETUP_DEFER_TASKRUN,
	};
	struct ring r = { .floor = f };
	struct io_uring_cqe *cqe;
	unsigned head, n;

	if (io_uring_queue_init_params(RING, &r.u, &p) ||
	    (f->file >= 0 && io_uring_register_files(&r.u, &f->file, 1))) {
		fprintf(stderr, "floor: no io_uring here\n");
		exit(1);
	}
	start_accept(&r);
	for (;;) {
		io_uring_submit_and_wait(&r.u, 1);
		n = 0;
		io_uring_for_each_cqe(&r.u, head, cqe) {
			done(&r, io_uring_cqe_get_data(cqe), cqe->res);
			n++;
		}
		io_uring_cq_advance(&r.u, n);
		end_of_turn(&r);
	}
}
