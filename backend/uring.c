/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The engine on io_uring: sockets, disks and the wake-up share one ring, and a
 * turn makes one system call, io_uring_enter().
 *
 * The exceptions are requests for which a plain call costs less than another
 * pass through the ring: a send or a small disk request that is alone in its
 * turn, writes that the ring would hand to a thread, and what others wait for.
 */

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>

#include "backend/engine_int.h"
#include "backend/uring_int.h"
#include "lib/limits.h"

/* user_data of what is not a request */
#define UD_IGNORE	0
#define UD_WAKE		1

struct uring {
	struct engine	 engine;
	struct io_uring	 ring;
	bool		 enabled;
	bool		 wake_armed;
	struct list	 pending;	/* wait for room in the SQ */
	struct list	 cancels;	/* in the kernel, to be cancelled */
	struct list	 sends;		/* SEND of this turn */
	struct list	 disk;		/* READ and WRITE of this turn */
	unsigned	 ndisk;
	struct list	 late;		/* done inline, told with the ring's */
	uint64_t	 inline_left;	/* bytes that may yet go inline */
	uint64_t	 turn;		/* counts; from 1 */
};

static struct uring *uring_of(struct engine *e)
{
	return container_of(e, struct uring, engine);
}

static void prep_transfer(struct io_uring_sqe *sqe, struct ereq *r)
{
	unsigned n = (unsigned)MIN(r->niov, IOV_MAX);
	unsigned len = (unsigned)MIN(r->iov->iov_len, (size_t)INT_MAX);
	uint64_t at = r->off + r->moved;
	void *base = r->iov->iov_base;

	if (r->op == EREQ_READ && n == 1)
		io_uring_prep_read(sqe, r->fd, base, len, at);
	else if (r->op == EREQ_READ)
		io_uring_prep_readv(sqe, r->fd, r->iov, n, at);
	else if (n == 1)
		io_uring_prep_write(sqe, r->fd, base, len, at);
	else
		io_uring_prep_writev(sqe, r->fd, r->iov, n, at);
	if (r->flags & EREQ_DSYNC && r->op == EREQ_WRITE)
		sqe->rw_flags = RWF_DSYNC;
	if (r->state & REQ_ASYNC)
		sqe->flags |= IOSQE_ASYNC;
}

static void prep_message(struct io_uring_sqe *sqe, struct ereq *r)
{
	size_t len = r->iov->iov_len;
	/* WAITALL: the kernel goes on after a short send by itself. */
	int flags = r->op == EREQ_SEND ? MSG_NOSIGNAL | MSG_WAITALL : 0;

	if (r->op == EREQ_RECV && r->niov == 1)
		io_uring_prep_recv(sqe, r->fd, r->iov->iov_base, len, flags);
	else if (r->op == EREQ_RECV)
		io_uring_prep_recvmsg(sqe, r->fd, ereq_msg(r), 0);
	else if (r->niov == 1)
		io_uring_prep_send(sqe, r->fd, r->iov->iov_base, len, flags);
	else
		io_uring_prep_sendmsg(sqe, r->fd, ereq_msg(r), (unsigned)flags);
}

static void prep(struct io_uring_sqe *sqe, struct ereq *r)
{
	unsigned events = r->op == EREQ_SEND ? POLLOUT : POLLIN;

	if (r->state & REQ_POLL) {
		io_uring_prep_poll_add(sqe, r->fd, events);
		io_uring_sqe_set_data(sqe, r);
		return;
	}

	switch (r->op) {
	case EREQ_ACCEPT:
		io_uring_prep_accept(sqe, r->fd, NULL, NULL, SOCK_CLOEXEC);
		break;
	case EREQ_RECV:
	case EREQ_SEND:
		prep_message(sqe, r);
		break;
	case EREQ_POLL_IN:
		io_uring_prep_poll_add(sqe, r->fd, events);
		break;
	case EREQ_READ:
	case EREQ_WRITE:
		prep_transfer(sqe, r);
		break;
	case EREQ_FSYNC:
		io_uring_prep_fsync(sqe, r->fd, IORING_FSYNC_DATASYNC);
		break;
	case EREQ_FALLOCATE:
		io_uring_prep_fallocate(sqe, r->fd, r->mode, (off_t)r->off,
					(off_t)r->len);
		break;
	}
	io_uring_sqe_set_data(sqe, r);
}

/* Hands r to the ring, or keeps it until there is room. */
static void queue(struct uring *u, struct ereq *r)
{
	struct io_uring_sqe *sqe = NULL;

	if (list_empty(&u->pending))
		sqe = io_uring_get_sqe(&u->ring);
	if (sqe) {
		r->state &= ~REQ_QUEUED;
		prep(sqe, r);
	} else {
		r->state |= REQ_QUEUED;
		list_add_tail(&u->pending, &r->link);
	}
}

static void uring_submit(struct engine *e, struct ereq *r)
{
	struct uring *u = uring_of(e);

	switch (r->op) {
	case EREQ_READ:
	case EREQ_WRITE:
		list_add_tail(&u->disk, &r->link);
		u->ndisk++;
		break;
	case EREQ_SEND:
		r->state |= REQ_QUEUED;
		list_add_tail(&u->sends, &r->link);
		break;
	default:
		queue(u, r);
	}
}

/* Disk requests that were done inline have ended. */
static void tell_late(struct uring *u)
{
	if (list_empty(&u->late))
		return;
	engine_clock(&u->engine);
	while (!list_empty(&u->late)) {
		struct ereq *r = list_first(&u->late, struct ereq, link);

		list_del(&r->link);
		engine_ended(&u->engine, r, r->result);
	}
}

static void uring_cancel(struct engine *e, struct ereq *r)
{
	struct uring *u = uring_of(e);

	if (!ereq_is_socket(r) || r->state & REQ_CANCELED)
		return;
	if (r->state & REQ_QUEUED) {
		list_del(&r->link);
		engine_ended(e, r, -ECANCELED);
		return;
	}
	r->state |= REQ_CANCELED;
	list_add_tail(&u->cancels, &r->link);
}

/*
 * Is r better done here than by the ring?  Alone in its turn it is: the ring
 * would want a second pass.  So is a write to a file that refuses RWF_NOWAIT,
 * since the ring would hand it to another thread, and what is urgent.
 */
static bool wants_inline(struct uring *u, const struct ereq *r)
{
	if (r->len > u->inline_left || !ereq_inline_ok(r))
		return false;
	if (ereq_gate(r))
		return uring_gate_open(&u->engine, &u->ring, r->gate, u->turn);
	return u->ndisk == 1 || !(r->flags & EREQ_NOWAIT) ||
	       r->flags & EREQ_URGENT;
}

/* The kernel does it at once, inside of the call that submits it. */
static bool ends_at_submit(const struct ereq *r)
{
	return (r->flags & (EREQ_NOWAIT | EREQ_DIRECT)) == EREQ_NOWAIT;
}

/*
 * Decides how the disk requests of the turn go.  What is done inline beside
 * reads of the ring's is told together with them: one send carries the answers
 * to all.
 */
static void flush_disk(struct uring *u)
{
	bool ring = false;

	while (!list_empty(&u->disk)) {
		struct ereq *r = list_first(&u->disk, struct ereq, link);

		list_del(&r->link);
		if (!wants_inline(u, r)) {
			ring = ring || ends_at_submit(r);
			queue(u, r);
			continue;
		}
		u->inline_left -= r->len;
		if (ereq_try(r))
			list_add_tail(&u->late, &r->link);
		else
			queue(u, r);
		if (ereq_gate(r))
			uring_gate_took(&u->engine, r->gate);
	}
	u->ndisk = 0;
	if (!ring)
		tell_late(u);
}

/* A lone send; what the socket does not take at once goes by the ring. */
static void flush_sends(struct uring *u)
{
	bool alone = u->sends.next == u->sends.prev;

	while (!list_empty(&u->sends)) {
		struct ereq *r = list_first(&u->sends, struct ereq, link);

		list_del(&r->link);
		r->state &= ~REQ_QUEUED;
		if (alone && ereq_try(r))
			engine_ended(&u->engine, r, r->result);
		else
			queue(u, r);
	}
}

static void uring_flush(struct engine *e)
{
	struct uring *u = uring_of(e);

	u->turn++;
	flush_sends(u);
	flush_disk(u);
}

static void arm_wake(struct uring *u)
{
	struct io_uring_sqe *sqe;

	if (u->wake_armed)
		return;
	sqe = io_uring_get_sqe(&u->ring);
	if (!sqe)
		return;
	/* Each write to the eventfd is an event, so nobody need read it. */
	io_uring_prep_poll_multishot(sqe, u->engine.wake_fd, POLLIN);
	io_uring_sqe_set_data64(sqe, UD_WAKE);
	u->wake_armed = true;
}

/* Fills the SQ with what waits.  False: something still does. */
static bool fill_sq(struct uring *u)
{
	struct io_uring_sqe *sqe;

	arm_wake(u);
	while (!list_empty(&u->cancels)) {
		struct ereq *r = list_first(&u->cancels, struct ereq, link);

		sqe = io_uring_get_sqe(&u->ring);
		if (!sqe)
			return false;
		list_del(&r->link);
		io_uring_prep_cancel64(sqe, (uint64_t)(uintptr_t)r, 0);
		io_uring_sqe_set_data64(sqe, UD_IGNORE);
	}
	while (!list_empty(&u->pending)) {
		struct ereq *r = list_first(&u->pending, struct ereq, link);

		sqe = io_uring_get_sqe(&u->ring);
		if (!sqe)
			return false;
		list_del(&r->link);
		r->state &= ~REQ_QUEUED;
		prep(sqe, r);
	}
	return u->wake_armed;
}

/* Errors of the waits are passing ones (a signal, the timeout, no memory, a
 * full CQ): reaping and the next turn are the answer to each. */
static void uring_wait(struct engine *e, uint64_t ns)
{
	struct uring *u = uring_of(e);
	struct __kernel_timespec ts;
	struct io_uring_cqe *cqe;

	u->inline_left = INLINE_MAX;
	if (!list_empty(&u->late))
		ns = 0;
	while (!fill_sq(u))
		if (io_uring_submit(&u->ring) <= 0) {
			ns = 0;
			break;
		}
	if (ns == 0) {
		io_uring_submit_and_get_events(&u->ring);
	} else if (ns == WAIT_FOREVER) {
		io_uring_submit_and_wait(&u->ring, 1);
	} else {
		ts.tv_sec = (long long)(ns / 1000000000u);
		ts.tv_nsec = (long long)(ns % 1000000000u);
		io_uring_submit_and_wait_timeout(&u->ring, &cqe, 1, &ts, NULL);
	}
}

/* Does r go on after one of its calls gave res?  Sets r->result if not. */
static bool goes_on(struct ereq *r, int res)
{
	if (r->state & REQ_POLL) {
		r->state &= ~REQ_POLL;
		if (res < 0 && ereq_step(r, res))
			return false;
	} else {
		if (ereq_step(r, res))
			return false;
		/* A socket that does not block must be waited for, a disk
		 * that would not wait is told to. */
		if (res == -EAGAIN)
			r->state |= ereq_is_socket(r) ? REQ_POLL : REQ_ASYNC;
	}
	if (r->state & REQ_CANCELED) {
		r->result = -ECANCELED;
		return false;
	}
	return true;
}

static void complete(struct uring *u, struct ereq *r, int res)
{
	list_del(&r->link);	/* from u->cancels, if it is there */
	if (goes_on(r, res)) {
		queue(u, r);
		return;
	}
	u->engine.busy--;
	r->done(r);
}

static void uring_reap(struct engine *e)
{
	struct uring *u = uring_of(e);
	struct io_uring_cqe *cqe;
	unsigned head, n = 0;

	tell_late(u);
	io_uring_for_each_cqe(&u->ring, head, cqe) {
		uint64_t ud = cqe->user_data;

		n++;
		if (ud == UD_WAKE)
			u->wake_armed = cqe->flags & IORING_CQE_F_MORE;
		else if (ud != UD_IGNORE)
			complete(u, (struct ereq *)(uintptr_t)ud, cqe->res);
	}
	io_uring_cq_advance(&u->ring, n);
}

static void uring_start(struct engine *e)
{
	struct uring *u = uring_of(e);
	unsigned workers[2] = { IOWQ_WORKERS, IOWQ_WORKERS };

	if (!u->enabled) {
		/* liburing 2.3 declares io_uring_enable_rings() without
		 * exporting it. */
		int err = io_uring_register((unsigned)u->ring.ring_fd,
					    IORING_REGISTER_ENABLE_RINGS, NULL,
					    0);

		assert(!err);
		u->enabled = true;
	}
	/* Both only help: without them calls cost a little more, and the
	 * kernel's own bound on workers holds. */
	io_uring_register_ring_fd(&u->ring);
	io_uring_register_iowq_max_workers(&u->ring, workers);
}

static void uring_end(struct engine *e)
{
	/* The registration is this thread's, who may not be the one to close
	 * the ring. */
	io_uring_unregister_ring_fd(&uring_of(e)->ring);
}

static void uring_close(struct engine *e)
{
	struct uring *u = uring_of(e);

	io_uring_queue_exit(&u->ring);
	engine_fini(e);
	free(u);
}

static const struct engine_ops uring_ops = {
	.name	= "io_uring",
	.start	= uring_start,
	.end	= uring_end,
	.submit	= uring_submit,
	.cancel	= uring_cancel,
	.flush	= uring_flush,
	.wait	= uring_wait,
	.reap	= uring_reap,
	.close	= uring_close,
};

struct engine *uring_new(int *ret_err)
{
	struct uring *u = aligned_alloc(64, round_up(sizeof(*u), 64));
	int err = -ENOMEM;

	if (!u)
		goto fail;
	err = uring_open(&u->ring);
	if (err)
		goto free_u;
	err = engine_init(&u->engine, &uring_ops);
	if (err)
		goto close_ring;
	u->enabled = false;
	u->wake_armed = false;
	u->ndisk = 0;
	u->inline_left = INLINE_MAX;
	u->turn = 0;
	list_init(&u->pending);
	list_init(&u->cancels);
	list_init(&u->sends);
	list_init(&u->disk);
	list_init(&u->late);
	return &u->engine;

close_ring:
	io_uring_queue_exit(&u->ring);
free_u:
	free(u);
fail:
	*ret_err = err;
	return NULL;
}
