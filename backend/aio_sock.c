/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The epoll engine's sockets.  A call is tried first and epoll asked only after
 * it said EAGAIN.  Events are edge-triggered and a descriptor is told to epoll
 * once, so a connection at work costs no epoll_ctl().
 *
 * Nobody tells the engine that a descriptor was closed.  So one without
 * requests at the end of a turn is not trusted any longer: its next user tells
 * epoll anew.  Within a turn its number cannot come back unseen: connections
 * of this engine's own ACCEPT are marked as new, and those that another thread
 * accepted come by a post that was taken before this turn's callbacks ran.
 * ACCEPT and POLL_IN, which may come from anywhere, never trust.
 */

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

#include "backend/aio_int.h"
#include "lib/iov.h"

static void end(struct aio *a, struct aio_fd *f, struct ereq *r, int result)
{
	assert(f->waiting);
	if (!--f->waiting && !list_linked(&f->idle))
		list_add_tail(&a->idle, &f->idle);
	engine_ended(&a->engine, r, result);
}

/* Tells epoll; it then reports what the descriptor is ready for now. */
static int watch(struct aio *a, struct aio_fd *f)
{
	struct epoll_event ev = {
		.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
		.data.ptr = f,
	};

	f->hung_up = false;
	if (epoll_ctl(a->epfd, EPOLL_CTL_ADD, f->fd, &ev) &&
	    (errno != EEXIST ||
	     epoll_ctl(a->epfd, EPOLL_CTL_MOD, f->fd, &ev)))
		return -errno;
	f->watched = true;
	return 0;
}

/* r waits for an event. */
static void park(struct aio *a, struct aio_fd *f, struct ereq *r)
{
	int err = f->watched ? 0 : watch(a, f);

	if (err == -EPERM && r->op == EREQ_POLL_IN)
		end(a, f, r, 0);	/* files are always readable */
	else if (err)
		end(a, f, r, err);
	else
		list_add_tail(r->op == EREQ_SEND ? &f->out : &f->in, &r->link);
}

static int64_t call(struct ereq *r)
{
	struct iovec *v = r->iov;
	ssize_t res;

	if (r->op == EREQ_ACCEPT)
		res = accept4(r->fd, NULL, NULL, SOCK_CLOEXEC);
	else if (r->op == EREQ_RECV && r->niov == 1)
		res = recv(r->fd, v->iov_base, v->iov_len, MSG_DONTWAIT);
	else if (r->op == EREQ_RECV)
		res = recvmsg(r->fd, ereq_msg(r), MSG_DONTWAIT);
	else
		return ereq_send(r);
	return res < 0 ? -errno : res;
}

static void accepted(struct aio *a, const struct ereq *r)
{
	struct aio_fd *f = r->result >= 0 ? aio_fd_of(a, r->result) : NULL;

	if (f)
		f->watched = false;
}

/* Calls until r has ended or must wait. */
static void try(struct aio *a, struct aio_fd *f, struct ereq *r)
{
	bool *ready = r->op == EREQ_SEND ? &f->writable : &f->readable;

	while (*ready) {
		int64_t res = call(r);

		if (res == -EAGAIN) {
			*ready = false;
			break;
		}
		if (!ereq_step(r, res))
			continue;
		if (r->op == EREQ_ACCEPT)
			accepted(a, r);
		/* Fewer bytes than there was room for: the next event will
		 * tell of more, and no call need find out. */
		if (r->op == EREQ_RECV && f->watched && !f->hung_up &&
		    res > 0 && (size_t)res < iov_len(r->iov, r->niov))
			f->readable = false;
		end(a, f, r, r->result);
		return;
	}
	park(a, f, r);
}

void sock_submit(struct aio *a, struct ereq *r)
{
	struct aio_fd *f = aio_fd_of(a, r->fd);

	if (!f) {
		engine_ended(&a->engine, r, -ENOMEM);
		return;
	}
	r->priv = f;
	f->waiting++;
	list_del(&f->idle);
	if (r->op == EREQ_ACCEPT)
		/* Another process may take the connection that we were told
		 * of. */
		fcntl(f->fd, F_SETFL, fcntl(f->fd, F_GETFL) | O_NONBLOCK);
	if (r->op == EREQ_ACCEPT || r->op == EREQ_POLL_IN)
		f->watched = false;
	if (!f->watched)
		f->readable = f->writable = true;
	list_add_tail(&a->tries, &r->link);
}

void sock_cancel(struct aio *a, struct ereq *r)
{
	/* It is on a list of ours: nothing waits inside the kernel. */
	list_del(&r->link);
	end(a, r->priv, r, -ECANCELED);
}

void sock_flush(struct aio *a)
{
	while (!list_empty(&a->tries)) {
		struct ereq *r = list_first(&a->tries, struct ereq, link);

		list_del(&r->link);
		if (r->op == EREQ_POLL_IN)
			park(a, r->priv, r);
		else
			try(a, r->priv, r);
	}
}

/* All that wait on the list are tried; those that must wait on join it again,
 * so only those that are there now are looked at. */
static void wake_list(struct aio *a, struct aio_fd *f, struct list *waiting)
{
	struct list batch;

	list_init(&batch);
	list_splice_tail(&batch, waiting);
	while (!list_empty(&batch)) {
		struct ereq *r = list_first(&batch, struct ereq, link);

		list_del(&r->link);
		if (r->op == EREQ_POLL_IN)
			end(a, f, r, 0);
		else
			try(a, f, r);
	}
}

void sock_event(struct aio *a, struct aio_fd *f, uint32_t events)
{
	if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
		f->hung_up = true;
	if (events & EPOLLIN || f->hung_up) {
		f->readable = true;
		wake_list(a, f, &f->in);
	}
	if (events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) {
		f->writable = true;
		wake_list(a, f, &f->out);
	}
}

void sock_sleep(struct aio *a)
{
	while (!list_empty(&a->idle)) {
		struct aio_fd *f = list_first(&a->idle, struct aio_fd, idle);

		list_del(&f->idle);
		f->watched = false;
	}
}
