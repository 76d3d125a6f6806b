/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BACKEND_ENGINE_H
#define BACKEND_ENGINE_H

/*
 * An engine is the event loop of one thread: sockets, disks, timers and
 * messages from other threads, on io_uring or on epoll with libaio.  Both kinds
 * behave alike.
 *
 * A turn of the loop: reap all completions and run their callbacks, run what
 * was posted, deferred and due, run the turn-end hooks, submit everything at
 * once, sleep.  A callback never runs from inside the function that asked for
 * it, so nobody recurses and nobody frees under the caller's feet.
 *
 * Unless a function says "any thread", it is called on the engine's own thread.
 */

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "lib/list.h"

struct bufpool;
struct engine;

enum engine_kind { ENGINE_AUTO, ENGINE_URING, ENGINE_AIO };

struct engine_config {
	enum engine_kind kind;	/* AUTO: io_uring where the kernel has it */
	size_t		 buf_total;	/* its lib/buf.h pool; 0: none */
	size_t		 buf_reserve;
};

/*
 * Makes an engine; the thread that calls engine_run() becomes its own.  Before
 * that, requests, timers and posts may be prepared by the thread that made it.
 * NULL with *ret_err = -errno; -ENOSYS when a forced kind is not to be had.
 */
struct engine *engine_new(const struct engine_config *config, int *ret_err);
void engine_run(struct engine *e);	/* returns after engine_stop() */
void engine_stop(struct engine *e);	/* any thread */
/* Not running, no request under way, and every call of engine_post() and
 * engine_stop() has returned.  NULL allowed. */
void engine_free(struct engine *e);

const char *engine_name(const struct engine *e);	/* "io_uring", "aio" */
struct bufpool *engine_bufs(struct engine *e);
/* The engine that runs on the calling thread, or NULL.  Any thread. */
struct engine *engine_self(void);
/* CLOCK_MONOTONIC in nanoseconds, read once a turn and after disk requests that
 * were done in it (anew, where none runs). */
uint64_t engine_now(const struct engine *e);

/*
 * A message to an engine from any thread.  The struct is the poster's and is
 * lent until run() is called, once, on e's thread.  Posts of one thread arrive
 * in order.  A post to the own engine is allowed and runs later in the turn or
 * in the next.
 */
struct epost {
	struct epost	*next;
	void		(*run)(struct epost *post);
};

void engine_post(struct engine *e, struct epost *post);	/* any thread */

/* Work for later in this turn, on the same thread: the ready list. */
struct edefer {
	struct list	 link;		/* list_init() before the first use */
	void		(*run)(struct edefer *d);
};

/* Runs d->run once, soon, after the current callback returned.  Deferring what
 * is deferred already does nothing.  edefer_cancel() takes it off again. */
void engine_defer(struct engine *e, struct edefer *d);
/* The same, but after all completions and deferred work of this turn: the place
 * for what is batched (one gathered send per connection, one shared flush). */
void engine_turn_end(struct engine *e, struct edefer *d);
void edefer_cancel(struct edefer *d);

/* One-shot timers, milliseconds from engine_now(); accurate to the turn. */
struct etimer {
	struct list	 link;
	uint64_t	 due;		/* ns */
	void		(*fire)(struct etimer *t);
};

void etimer_init(struct etimer *t, void (*fire)(struct etimer *t));
/* Starting a running timer sets it anew. */
void etimer_start(struct engine *e, struct etimer *t, uint64_t ms);
void etimer_stop(struct etimer *t);	/* also when not running */
bool etimer_running(const struct etimer *t);

/*
 * Requests on descriptors.
 *
 * EREQ_ACCEPT	one connection of a listening socket; result = the descriptor
 *		(close-on-exec; O_NONBLOCK is neither set nor needed)
 * EREQ_CONNECT	is not there: a target does not connect
 * EREQ_RECV	whatever has come, at least one byte, into iov; result = bytes,
 *		0 at the end of the stream
 * EREQ_SEND	all of iov, gathered, in order; result = 0.  One at a time per
 *		socket.  No SIGPIPE.
 * EREQ_POLL_IN	the descriptor is readable (signalfd, a library's socket);
 *		result = 0; one-shot
 * EREQ_READ	[off, off + len) into iov, all of it; result = 0.  A read at or
 *		over the end of a file ends in -EIO.
 * EREQ_WRITE	all of iov to [off, off + len); result = 0
 * EREQ_FSYNC	fdatasync; result = 0
 * EREQ_FALLOCATE	fallocate(mode, off, len); result = 0
 */
enum ereq_op {
	EREQ_ACCEPT,
	EREQ_RECV,
	EREQ_SEND,
	EREQ_POLL_IN,
	EREQ_READ,
	EREQ_WRITE,
	EREQ_FSYNC,
	EREQ_FALLOCATE,
};

enum ereq_flag {
	/* WRITE: stable before it completes (RWF_DSYNC) */
	EREQ_DSYNC	= 1 << 0,
	/* READ, WRITE: this descriptor takes RWF_NOWAIT (probed) */
	EREQ_NOWAIT	= 1 << 1,
	/* WRITE: without RWF_NOWAIT, may still be done inline: nothing that
	 * holds the file's lock for long runs now, and gate, if any, is open */
	EREQ_INLINE	= 1 << 2,
	/* READ, WRITE: opened with O_DIRECT (aio.c: by libaio) */
	EREQ_DIRECT	= 1 << 3,
	/* READ, WRITE: others wait for it */
	EREQ_URGENT	= 1 << 4,
};

/*
 * One request.  The caller owns the struct, the iov array and the memory that
 * it points to, and lends all of them from engine_submit() until done(): the
 * engine may change the array, iov and niov (and len, for SEND).  A descriptor
 * is closed only after the done() of its last request.
 *
 * done() is called exactly once, on the engine's thread, never from inside
 * engine_submit() or engine_cancel().  Short transfers, EINTR and EAGAIN end
 * inside the engine.
 */
struct ereq {
	enum ereq_op	 op;
	int		 fd;
	unsigned	 flags;		/* enum ereq_flag */
	int		 mode;		/* FALLOCATE */
	uint64_t	 off, len;	/* bytes */
	struct iovec	*iov;
	int		 niov;
	struct egate	*gate;		/* EREQ_INLINE; NULL: none needed */
	int		 result;	/* out: as above, or -errno */
	void		(*done)(struct ereq *r);

	/* the engine's own */
	struct list	 link;
	struct msghdr	 msg;
	uint64_t	 moved;
	int		 state;
	void		*priv;
};

/*
 * Would a write to a file wait?  A file system that is frozen makes pwritev2()
 * wait whatever RWF_NOWAIT says, and the engine with all its connections would
 * wait, too.  So before the first inline write of a turn the kernel is asked,
 * by a write of no bytes past the page cache, which the ring tries without
 * waiting: io_uring alone can do that; elsewhere a gate is never open.  After an
 * inline write that took long, it is shut for a while.
 *
 * One an engine and file; zeroed but for fd and used.  The owner keeps it while
 * it is used: used(g, true) comes before the kernel has it and used(g, false)
 * after, both on the engine's thread, at any time.
 */
struct egate {
	int		 fd;		/* the file, opened with O_DIRECT */
	void		(*used)(struct egate *g, bool used);

	/* the engine's own */
	struct ereq	 ask;
	bool		 asked, open;
	uint64_t	 turn, shut_until;
};

void engine_submit(struct engine *e, struct ereq *r);
/* Asks a request to end early; done() still comes, with -ECANCELED unless it
 * ended otherwise first.  The kernel owns the memory until then.  Meant for
 * ACCEPT, RECV, SEND and POLL_IN; disk requests just run on. */
void engine_cancel(struct engine *e, struct ereq *r);

#endif
