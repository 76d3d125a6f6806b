/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The epoll engine's disks.  Direct requests go through libaio, all of a turn
 * in one io_submit().  libaio blocks on buffered files, so those are tried
 * inline where that cannot block for long, and else block on a thread.
 */

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "backend/aio_int.h"

/* The job of a lane, on a thread of the pool. */
static void lane_run(struct bjob *job)
{
	struct aio_lane *l = container_of(job, struct aio_lane, job);

	ereq_block(l->r);
	engine_post(&l->aio->engine, &l->post);
}

static void feed_lanes(struct aio *a)
{
	while (!list_empty(&a->hungry) && !list_empty(&a->free_lanes)) {
		struct aio_fd *f = list_first(&a->hungry, struct aio_fd,
					      hungry);
		struct aio_lane *l = list_first(&a->free_lanes, struct aio_lane,
						free);

		l->f = f;
		l->r = list_first(&f->blocked, struct ereq, link);
		list_del(&l->r->link);
		list_del(&l->free);
		f->lanes++;
		list_del(&f->hungry);
		if (!list_empty(&f->blocked) && f->lanes < AIO_FD_LANES)
			list_add_tail(&a->hungry, &f->hungry);
		blocking_submit(a->pool, &l->job);
	}
}

static void make_hungry(struct aio *a, struct aio_fd *f)
{
	if (!list_empty(&f->blocked) && f->lanes < AIO_FD_LANES &&
	    !list_linked(&f->hungry))
		list_add_tail(&a->hungry, &f->hungry);
	feed_lanes(a);
}

/* A lane's call has ended; on the engine's thread. */
static void lane_done(struct epost *post)
{
	struct aio_lane *l = container_of(post, struct aio_lane, post);
	struct aio *a = l->aio;

	l->f->lanes--;
	list_add_head(&a->free_lanes, &l->free);
	engine_ended(&a->engine, l->r, l->r->result);
	make_hungry(a, l->f);
}

static void to_lane(struct aio *a, struct ereq *r)
{
	struct aio_fd *f = aio_fd_of(a, r->fd);

	if (!f) {
		engine_ended(&a->engine, r, -ENOMEM);
		return;
	}
	list_add_tail(&f->blocked, &r->link);
	make_hungry(a, f);
}

void disk_init(struct aio *a)
{
	list_init(&a->disk);
	list_init(&a->direct);
	list_init(&a->free_lanes);
	list_init(&a->hungry);
	a->ctx = NULL;
	a->ctx_refused = false;
	a->event_fd = -1;
	a->nfree = AIO_DEPTH;
	for (int i = 0; i < AIO_DEPTH; i++)
		a->free_iocbs[i] = &a->iocbs[i];
	for (int i = 0; i < AIO_LANES; i++) {
		struct aio_lane *l = &a->lanes[i];

		l->job.run = lane_run;
		l->post.run = lane_done;
		l->aio = a;
		list_add_tail(&a->free_lanes, &l->free);
	}
}

void disk_fini(struct aio *a)
{
	if (a->ctx)
		io_destroy(a->ctx);
	if (a->event_fd >= 0)
		close(a->event_fd);
}

/* libaio is set up for the first request that wants it. */
static bool ctx_ready(struct aio *a)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET,
				  .data.ptr = &a->event_fd };

	if (a->ctx)
		return true;
	if (a->ctx_refused)
		return false;
	a->ctx_refused = true;
	a->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (a->event_fd < 0 ||
	    epoll_ctl(a->epfd, EPOLL_CTL_ADD, a->event_fd, &ev) ||
	    io_setup(AIO_DEPTH, &a->ctx))
		return false;
	a->ctx_refused = false;
	return true;
}

static void put_iocb(struct aio *a, struct iocb *cb)
{
	a->free_iocbs[a->nfree++] = cb;
}

static struct iocb *get_iocb(struct aio *a, struct ereq *r)
{
	struct iocb *cb = a->free_iocbs[--a->nfree];
	int n = MIN(r->niov, IOV_MAX);
	long long at = (long long)(r->off + r->moved);

	if (r->op == EREQ_READ)
		io_prep_preadv(cb, r->fd, r->iov, n, at);
	else
		io_prep_pwritev(cb, r->fd, r->iov, n, at);
	if (r->op == EREQ_WRITE && r->flags & EREQ_DSYNC)
		cb->aio_rw_flags = RWF_DSYNC;
	io_set_eventfd(cb, a->event_fd);
	cb->data = r;
	return cb;
}

/* Submits n iocbs; returns those that the kernel had no room for. */
static int submit_iocbs(struct aio *a, struct iocb **cbs, int n)
{
	int done = 0;

	while (done < n) {
		int res = io_submit(a->ctx, n - done, cbs + done);

		if (res > 0) {
			done += res;
		} else if (res == -EAGAIN || res == 0) {
			break;
		} else if (res != -EINTR) {
			/* It is about the first one. */
			engine_ended(&a->engine, cbs[done]->data, res);
			put_iocb(a, cbs[done++]);
		}
	}
	return n - done;
}

bool disk_sleep(struct aio *a)
{
	struct iocb *cbs[AIO_DEPTH];
	int n = 0, left;

	while (!list_empty(&a->direct) && a->nfree) {
		struct ereq *r = list_first(&a->direct, struct ereq, link);

		list_del(&r->link);
		cbs[n++] = get_iocb(a, r);
	}
	left = submit_iocbs(a, cbs, n);
	while (left--) {
		struct ereq *r = cbs[n - 1]->data;

		list_add_head(&a->direct, &r->link);
		put_iocb(a, cbs[--n]);
	}
	return !list_empty(&a->direct) && a->nfree == AIO_DEPTH;
}

void disk_event(struct aio *a)
{
	struct io_event events[AIO_DEPTH];
	struct timespec zero = { 0 };
	int n = io_getevents(a->ctx, 0, AIO_DEPTH, events, &zero);

	for (int i = 0; i < n; i++) {
		struct ereq *r = events[i].data;

		put_iocb(a, events[i].obj);
		if (ereq_step(r, (long)events[i].res))
			engine_ended(&a->engine, r, r->result);
		else
			list_add_tail(&a->direct, &r->link);
	}
}

void disk_submit(struct aio *a, struct ereq *r)
{
	if (r->op == EREQ_READ || r->op == EREQ_WRITE)
		list_add_tail(&a->disk, &r->link);
	else
		to_lane(a, r);
}

void disk_flush(struct aio *a)
{
	bool any = false;

	while (!list_empty(&a->disk)) {
		struct ereq *r = list_first(&a->disk, struct ereq, link);

		list_del(&r->link);
		if (r->flags & EREQ_DIRECT && ctx_ready(a))
			list_add_tail(&a->direct, &r->link);
		else if (ereq_inline_ok(r) && !ereq_gate(r) && ereq_try(r))
			engine_ended(&a->engine, r, r->result);
		else
			to_lane(a, r);
		any = true;
	}
	if (any)
		engine_clock(&a->engine);
}
