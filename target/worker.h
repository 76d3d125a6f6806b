/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TARGET_WORKER_H
#define TARGET_WORKER_H

/*
 * A worker: a thread with an engine that serves its sessions.  What a worker
 * owns is touched by its thread only; the acceptor reads nconns.
 */

#include <pthread.h>
#include <stdatomic.h>

#include "backend/engine.h"
#include "scsi/scsi.h"

struct pdu_pool;

struct worker {
	unsigned	 index;
	struct engine	*engine;
	pthread_t	 thread;
	struct list	 conns;		/* struct conn.in_worker */
	atomic_uint	 nconns;	/* load, for the acceptor */
	struct list	 buf_waiters;	/* struct buf_waiter.link */
	struct pdu_pool	*pdus;		/* outgoing PDUs, task structs: pools */
	struct edefer	 buf_serve;
	bool		 running;	/* its thread was started */
	bool		 stopping;
};

extern struct scsi_host scsi_host;	/* the worker array, and main's engine */
extern struct worker workers[MAX_WORKERS];

/* Starts n workers; 0 or -errno, and then none runs. */
int workers_start(unsigned n, const struct engine_config *config);
void workers_stop(void);
/* The one with the fewest connections. */
struct worker *worker_pick(void);

/* Waiting for a data buffer, first come first served; ready() runs from the
 * loop when a try may succeed. */
struct buf_waiter {
	struct list	 link;
	void		(*ready)(struct buf_waiter *w);
};

void worker_buf_wait(struct worker *w, struct buf_waiter *b);
void worker_buf_unwait(struct buf_waiter *b);
/* Gives a buffer of the worker's pool back and serves those who wait. */
void worker_buf_put(struct worker *w, void *buf, size_t len);

#endif
