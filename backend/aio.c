/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The engine on epoll and libaio, for kernels and containers without io_uring:
 * the loop and the table of descriptors.
 */

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backend/aio_int.h"

/* When libaio takes nothing and owes nothing, ask again after this. */
#define RETRY_NS (uint64_t)1000000

static struct aio *aio_of(struct engine *e)
{
	return container_of(e, struct aio, engine);
}

static bool grow_fds(struct aio *a, int fd)
{
	int n = MAX(fd + 1, a->nfds * 2);
	struct aio_fd **fds = reallocarray(a->fds, (size_t)n, sizeof(*fds));

	if (!fds)
		return false;
	memset(fds + a->nfds, 0, (size_t)(n - a->nfds) * sizeof(*fds));
	a->fds = fds;
	a->nfds = n;
	return true;
}

struct aio_fd *aio_fd_of(struct aio *a, int fd)
{
	struct aio_fd *f;

	assert(fd >= 0);
	if (fd >= a->nfds && !grow_fds(a, fd))
		return NULL;
	if (a->fds[fd])
		return a->fds[fd];
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->fd = fd;
	list_init(&f->in);
	list_init(&f->out);
	list_init(&f->idle);
	list_init(&f->blocked);
	list_init(&f->hungry);
	a->fds[fd] = f;
	return f;
}

static void aio_start(struct engine *e)
{
	(void)e;
}

static void aio_end(struct engine *e)
{
	sock_sleep(aio_of(e));
}

static void aio_submit(struct engine *e, struct ereq *r)
{
	if (ereq_is_socket(r))
		sock_submit(aio_of(e), r);
	else
		disk_submit(aio_of(e), r);
}

static void aio_cancel(struct engine *e, struct ereq *r)
{
	if (ereq_is_socket(r))
		sock_cancel(aio_of(e), r);
}

static void aio_flush(struct engine *e)
{
	sock_flush(aio_of(e));
	disk_flush(aio_of(e));
}

static int sleep_on(struct aio *a, uint64_t ns)
{
	struct timespec ts = {
		.tv_sec = (time_t)(ns / 1000000000u),
		.tv_nsec = (long)(ns % 1000000000u),
	};
	uint64_t ms;
	int n;

	if (ns == 0 || ns == WAIT_FOREVER)
		return epoll_wait(a->epfd, a->events, AIO_EVENTS, ns ? -1 : 0);
	n = epoll_pwait2(a->epfd, a->events, AIO_EVENTS, &ts, NULL);
	if (n >= 0 || errno != ENOSYS)
		return n;
	ms = MIN(ns / 1000000 + 1, (uint64_t)1000000);
	return epoll_wait(a->epfd, a->events, AIO_EVENTS, (int)ms);
}

static void aio_wait(struct engine *e, uint64_t ns)
{
	struct aio *a = aio_of(e);
	int n;

	if (disk_sleep(a))
		ns = MIN(ns, RETRY_NS);
	if (!list_empty(&e->ended))
		ns = 0;		/* an io_submit() that failed at once */
	sock_sleep(a);
	n = sleep_on(a, ns);
	a->nevents = MAX(n, 0);
}

static void aio_reap(struct engine *e)
{
	struct aio *a = aio_of(e);

	for (int i = 0; i < a->nevents; i++) {
		void *what = a->events[i].data.ptr;

		if (what == &a->event_fd)
			disk_event(a);
		else if (what != &e->wake_fd)
			sock_event(a, what, a->events[i].events);
	}
	a->nevents = 0;
}

static void aio_close(struct engine *e)
{
	struct aio *a = aio_of(e);

	blocking_free(a->pool);
	disk_fini(a);
	for (int i = 0; i < a->nfds; i++)
		free(a->fds[i]);
	free(a->fds);
	close(a->epfd);
	engine_fini(e);
	free(a);
}

static const struct engine_ops aio_ops = {
	.name	= "aio",
	.start	= aio_start,
	.end	= aio_end,
	.submit	= aio_submit,
	.cancel	= aio_cancel,
	.flush	= aio_flush,
	.wait	= aio_wait,
	.reap	= aio_reap,
	.close	= aio_close,
};

/* Edge-triggered: each write to it is an event, and nobody need read it. */
static int watch_wake(struct aio *a)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET,
				  .data.ptr = &a->engine.wake_fd };

	return epoll_ctl(a->epfd, EPOLL_CTL_ADD, a->engine.wake_fd, &ev) ?
		       -errno : 0;
}

struct engine *aio_new(int *ret_err)
{
	struct aio *a = aligned_alloc(64, round_up(sizeof(*a), 64));
	int err = -ENOMEM;

	if (!a)
		goto fail;
	memset(a, 0, sizeof(*a));
	a->pool = blocking_new(AIO_LANES, "lund-io");
	if (!a->pool)
		goto free_a;
	a->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (a->epfd < 0) {
		err = -errno;
		goto free_pool;
	}
	err = engine_init(&a->engine, &aio_ops);
	if (err)
		goto close_epfd;
	err = watch_wake(a);
	if (err)
		goto fini_engine;
	list_init(&a->idle);
	list_init(&a->tries);
	disk_init(a);
	return &a->engine;

fini_engine:
	engine_fini(&a->engine);
close_epfd:
	close(a->epfd);
free_pool:
	blocking_free(a->pool);
free_a:
	free(a);
fail:
	*ret_err = err;
	return NULL;
}
