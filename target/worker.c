/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The workers: a thread and an engine each.  Engines are made by the main
 * thread, so that it can post to them before their threads run.
 */

#include "target/worker.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "lib/buf.h"
#include "lib/log.h"
#include "target/conn_int.h"

struct scsi_host scsi_host;
struct worker workers[MAX_WORKERS];

static void buf_serve(struct edefer *d)
{
	struct worker *w = container_of(d, struct worker, buf_serve);
	struct buf_waiter *b;

	while (!list_empty(&w->buf_waiters)) {
		b = list_first(&w->buf_waiters, struct buf_waiter, link);
		list_del(&b->link);
		b->ready(b);
		if (!list_linked(&b->link))
			continue;
		/* in vain: it keeps its place, and nobody behind it tries */
		list_del(&b->link);
		list_add_head(&w->buf_waiters, &b->link);
		return;
	}
}

void worker_buf_wait(struct worker *w, struct buf_waiter *b)
{
	list_add_tail(&w->buf_waiters, &b->link);
}

void worker_buf_unwait(struct buf_waiter *b)
{
	list_del(&b->link);
}

void worker_buf_put(struct worker *w, void *buf, size_t len)
{
	buf_put(engine_bufs(w->engine), buf, len);
	if (!list_empty(&w->buf_waiters))
		engine_defer(w->engine, &w->buf_serve);
}

static void *worker_thread(void *arg)
{
	struct worker *w = arg;
	char name[16];

	snprintf(name, sizeof(name), "lund/%u", w->index);
	pthread_setname_np(pthread_self(), name);
	engine_run(w->engine);
	return NULL;
}

static int worker_init(struct worker *w, const struct engine_config *config)
{
	int err = 0;

	list_init(&w->conns);
	list_init(&w->buf_waiters);
	list_init(&w->buf_serve.link);
	w->buf_serve.run = buf_serve;
	w->engine = engine_new(config, &err);
	return w->engine ? 0 : err;
}

/* scsi_host holds the engines of the first n workers. */
static int start_threads(unsigned n)
{
	unsigned i;
	int err;

	for (i = 0; i < n; i++) {
		err = pthread_create(&workers[i].thread, NULL, worker_thread,
				     &workers[i]);
		if (err)
			return -err;
		workers[i].running = true;
	}
	return 0;
}

int workers_start(unsigned n, const struct engine_config *config)
{
	unsigned i;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		workers[i].index = i;
		err = worker_init(&workers[i], config);
		scsi_host.worker[i] = workers[i].engine;
	}
	scsi_host.nworkers = n;
	if (!err)
		err = start_threads(n);
	if (err) {
		workers_stop();
		return err;
	}
	log_info("%u worker%s, engine %s", n, n == 1 ? "" : "s",
		 engine_name(workers[0].engine));
	return 0;
}

void workers_stop(void)
{
	unsigned i;

	for (i = 0; i < scsi_host.nworkers; i++)
		if (workers[i].running)
			engine_stop(workers[i].engine);
	for (i = 0; i < scsi_host.nworkers; i++)
		if (workers[i].running)
			pthread_join(workers[i].thread, NULL);
	for (i = 0; i < scsi_host.nworkers; i++) {
		pdu_pool_fini(&workers[i]);
		engine_free(workers[i].engine);
		workers[i] = (struct worker){ .index = i };
	}
	scsi_host.nworkers = 0;
}

struct worker *worker_pick(void)
{
	struct worker *best = &workers[0];
	unsigned i, n, least = UINT_MAX;

	for (i = 0; i < scsi_host.nworkers; i++) {
		n = atomic_load_explicit(&workers[i].nconns,
					 memory_order_relaxed);
		if (n >= least)
			continue;
		least = n;
		best = &workers[i];
	}
	return best;
}
