/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BACKEND_BLOCKING_H
#define BACKEND_BLOCKING_H

/*
 * Threads for calls that block: started when a job finds none idle, at most as
 * many as the pool was made for, ended after a few idle seconds.  A pool
 * without work has no threads.
 */

#include "lib/list.h"

struct blocking;

/* The poster's, lent until run() is called, once, on a thread of the pool.
 * run() may free it. */
struct bjob {
	struct list	 link;
	void		(*run)(struct bjob *job);
};

/* name, at most 15 bytes, is the threads'.  NULL: no memory. */
struct blocking *blocking_new(unsigned max_threads, const char *name);
/* Waits until every job has run and every thread has ended.  NULL allowed. */
void blocking_free(struct blocking *b);

/* Any thread.  Jobs begin in the order they were submitted in. */
void blocking_submit(struct blocking *b, struct bjob *job);

void blocking_set_idle_ms(struct blocking *b, unsigned ms);
unsigned blocking_threads(struct blocking *b);	/* now, of this pool */
unsigned blocking_threads_total(void);		/* now, of all pools */

#endif
