/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BACKEND_ENGINE_INT_H
#define BACKEND_ENGINE_INT_H

/*
 * What both kinds of engine share: lists, posts, timers and the bookkeeping of
 * a request.  A kind embeds struct engine as its first member and gives a table
 * of functions.
 *
 * All lists belong to the engine's thread.  The only words that other threads
 * touch are `posts` and `stop`.
 */

#include <stdatomic.h>

#include "backend/engine.h"

struct engine_ops {
	const char *name;
	/* The engine's own thread begins and ends engine_run(). */
	void (*start)(struct engine *e);
	void (*end)(struct engine *e);
	/* Takes a request; the call may neither block nor call done(). */
	void (*submit)(struct engine *e, struct ereq *r);
	void (*cancel)(struct engine *e, struct ereq *r);
	/* All callbacks of the turn have run: try what may end without a sleep
	 * (it goes to e->ended), prepare the rest for the kernel. */
	void (*flush)(struct engine *e);
	/* Submit everything and sleep, at most ns. */
	void (*wait)(struct engine *e, uint64_t ns);
	/* Handle what wait() brought. */
	void (*reap)(struct engine *e);
	void (*close)(struct engine *e);	/* frees e */
};

#define WAIT_FOREVER UINT64_MAX

/* Timers: slots of 2^20 ns (about 1 ms), and 64 of a level make one of the
 * next; eight levels hold every 64 bit nanosecond. */
#define WHEEL_LEVELS	8
#define WHEEL_SLOTS	64

struct wheel {
	uint64_t	tick;			/* nothing is kept before it */
	uint64_t	used[WHEEL_LEVELS];	/* slots that may hold timers */
	struct list	slots[WHEEL_LEVELS][WHEEL_SLOTS];
	struct list	expired;
};

struct engine {
	const struct engine_ops *ops;
	uint64_t	 now;
	bool		 running;
	unsigned	 busy;	/* requests that have not ended */
	int		 wake_fd;	/* eventfd */
	struct list	 ended;		/* requests whose done() is due */
	struct list	 ready;		/* struct edefer */
	struct list	 turn_end;
	struct bufpool	*bufs;
	struct wheel	 wheel;

	/*
	 * A stack of posts, newest first.  Who goes to sleep puts `asleep` on
	 * the empty stack; who posts on top of that must wake the engine.
	 */
	_Alignas(64) _Atomic(struct epost *) posts;
	atomic_bool	 stop;
	struct epost	 asleep;
};

/* The kinds; NULL with *ret_err = -errno. */
struct engine *uring_new(int *ret_err);
struct engine *aio_new(int *ret_err);

/* engine.c */
int engine_init(struct engine *e, const struct engine_ops *ops);
void engine_fini(struct engine *e);
/* r has ended; its done() runs soon. */
void engine_ended(struct engine *e, struct ereq *r, int result);
/* Reads the clock anew: time went by inside of the turn. */
void engine_clock(struct engine *e);

/* engine_timer.c */
void wheel_init(struct wheel *w, uint64_t now);
void wheel_run(struct wheel *w, uint64_t now);
/* When the wheel must be run next, or WAIT_FOREVER. */
uint64_t wheel_next(struct wheel *w);

/* engine_req.c: what a request has moved, and moving it by plain calls. */

/* ereq.state, private to the kinds */
enum {
	REQ_CANCELED	= 1 << 0,	/* asked for, not seen yet */
	REQ_POLL	= 1 << 1,	/* waits for the descriptor first */
	REQ_ASYNC	= 1 << 2,	/* io-wq shall do it */
	REQ_QUEUED	= 1 << 3,	/* on our list, not in the kernel */
	REQ_ENDED	= 1 << 4,	/* on engine.ended */
};

/* Bytes of a turn that are moved on the engine's own thread: more keep the
 * other connections waiting for the copying. */
#define INLINE_MAX (256u << 10)

bool ereq_is_socket(const struct ereq *r);
/* One call for r returned res (bytes, or -errno).  True: r has ended and
 * r->result is set; false: it must go on. */
bool ereq_step(struct ereq *r, int64_t res);
/* May r be done on the engine's thread, judged by its flags? */
bool ereq_inline_ok(const struct ereq *r);
/* Must r's gate be open for that? */
static inline bool ereq_gate(const struct ereq *r)
{
	return (r->flags & (EREQ_NOWAIT | EREQ_INLINE)) == EREQ_INLINE &&
	       r->gate;
}
/* Tries r, a disk request or a SEND, without blocking.  True: it has ended. */
bool ereq_try(struct ereq *r);
/* Does a disk request to its end; blocks. */
void ereq_block(struct ereq *r);
/* A send that does not wait: bytes, or -errno. */
int64_t ereq_send(struct ereq *r);
/* The gathered form of r's socket call, at most IOV_MAX entries. */
struct msghdr *ereq_msg(struct ereq *r);

#endif
