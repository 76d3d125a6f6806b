/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BACKEND_AIO_INT_H
#define BACKEND_AIO_INT_H

/*
 * The parts of the engine on epoll and libaio: aio.c is the loop, aio_sock.c
 * what waits on descriptors, aio_disk.c reads, writes and the rest.
 */

#include <libaio.h>
#include <sys/epoll.h>

#include "backend/blocking.h"
#include "backend/engine_int.h"

#define AIO_EVENTS	256	/* epoll events of a turn */
#define AIO_DEPTH	256	/* direct requests in the kernel */
#define AIO_LANES	64	/* blocking calls at a time */
#define AIO_FD_LANES	4	/* of one descriptor: a hung one hangs alone */

/* What is known of a descriptor; kept for each number ever used here. */
struct aio_fd {
	int		 fd;
	/* epoll watches it and was not told otherwise by a close */
	bool		 watched;
	/* no call has said EAGAIN since the last event */
	bool		 readable, writable;
	/* the peer has hung up: it stays readable */
	bool		 hung_up;
	struct list	 in, out;	/* requests that wait for an event */
	unsigned	 waiting;	/* sockets: requests not ended */
	struct list	 idle;		/* in aio.idle */

	struct list	 blocked;	/* disk requests that wait for a lane */
	struct list	 hungry;	/* in aio.hungry */
	unsigned	 lanes;		/* taken */
};

/* One blocking call. */
struct aio_lane {
	struct bjob	 job;
	struct epost	 post;
	struct aio	*aio;
	struct aio_fd	*f;
	struct ereq	*r;
	struct list	 free;
};

struct aio {
	struct engine	 engine;
	int		 epfd;
	struct aio_fd	**fds;		/* by number */
	int		 nfds;
	struct list	 idle;		/* aio_fds that may have gone idle */
	struct list	 tries;		/* socket requests to try */
	struct epoll_event events[AIO_EVENTS];
	int		 nevents;

	struct list	 disk;		/* READ and WRITE of this turn */
	io_context_t	 ctx;		/* NULL: not needed yet, or not had */
	bool		 ctx_refused;
	int		 event_fd;	/* libaio's completions */
	struct list	 direct;	/* wait for an iocb */
	struct iocb	 iocbs[AIO_DEPTH];
	struct iocb	*free_iocbs[AIO_DEPTH];
	int		 nfree;

	struct blocking	*pool;
	struct aio_lane	 lanes[AIO_LANES];
	struct list	 free_lanes;
	struct list	 hungry;	/* aio_fds whose requests want a lane */
};

/* aio.c: NULL: no memory. */
struct aio_fd *aio_fd_of(struct aio *a, int fd);

/* aio_sock.c */
void sock_submit(struct aio *a, struct ereq *r);
void sock_cancel(struct aio *a, struct ereq *r);
void sock_flush(struct aio *a);
void sock_event(struct aio *a, struct aio_fd *f, uint32_t events);
/* Before sleeping: what may be closed by now is not trusted any more. */
void sock_sleep(struct aio *a);

/* aio_disk.c */
void disk_init(struct aio *a);
void disk_fini(struct aio *a);
void disk_submit(struct aio *a, struct ereq *r);
void disk_flush(struct aio *a);
/* Hands the direct ones over.  True: the kernel refused all of them for now, so
 * none that ends will wake the engine. */
bool disk_sleep(struct aio *a);
void disk_event(struct aio *a);		/* some direct ones have ended */

#endif
