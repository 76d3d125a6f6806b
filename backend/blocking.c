/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A pool of threads for calls that block.
 *
 * A thread that ends joins the one that ended before it and leaves itself to be
 * joined by the next, so nobody has to wait for a thread on an engine and at
 * most one is left for blocking_free().
 */

#include "backend/blocking.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define IDLE_MS 5000
#define STACK_SIZE ((size_t)256 << 10)

struct blocking {
	pthread_mutex_t lock;		/* of all below */
	pthread_cond_t work, ended;
	struct list jobs;
	unsigned queued, threads, idle, max;
	unsigned idle_ms;
	bool closing;
	bool has_dead;
	pthread_t dead;			/* ended, not joined */
	char name[16];
};

static atomic_uint total;

struct blocking *blocking_new(unsigned max_threads, const char *name)
{
	struct blocking *b = calloc(1, sizeof(*b));
	pthread_condattr_t attr;

	if (!b)
		return NULL;
	assert(max_threads > 0);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->work, &attr);
	pthread_cond_init(&b->ended, &attr);
	pthread_condattr_destroy(&attr);
	list_init(&b->jobs);
	b->max = max_threads;
	b->idle_ms = IDLE_MS;
	snprintf(b->name, sizeof(b->name), "%s", name);
	return b;
}

static struct timespec deadline_of(unsigned ms)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	ts.tv_sec += ms / 1000;
	ts.tv_nsec += (long)(ms % 1000) * 1000000;
	if (ts.tv_nsec >= 1000000000) {
		ts.tv_sec++;
		ts.tv_nsec -= 1000000000;
	}
	return ts;
}

/* The next job, or NULL: the thread shall end.  Called and returns locked. */
static struct bjob *next_job(struct blocking *b)
{
	struct timespec until = deadline_of(b->idle_ms);
	struct bjob *job;

	while (list_empty(&b->jobs)) {
		int err;

		if (b->closing)
			return NULL;
		b->idle++;
		err = pthread_cond_timedwait(&b->work, &b->lock, &until);
		b->idle--;
		if (err && list_empty(&b->jobs))
			return NULL;
	}
	job = list_first(&b->jobs, struct bjob, link);
	list_del(&job->link);
	b->queued--;
	return job;
}

static void *thread_main(void *arg)
{
	struct blocking *b = arg;
	struct bjob *job;
	bool had_dead;
	pthread_t dead;

	pthread_setname_np(pthread_self(), b->name);
	pthread_mutex_lock(&b->lock);
	while ((job = next_job(b))) {
		pthread_mutex_unlock(&b->lock);
		job->run(job);
		pthread_mutex_lock(&b->lock);
	}
	had_dead = b->has_dead;
	dead = b->dead;
	b->has_dead = true;
	b->dead = pthread_self();
	b->threads--;
	atomic_fetch_sub(&total, 1);
	/* Under the lock: afterwards b may be gone. */
	pthread_cond_signal(&b->ended);
	pthread_mutex_unlock(&b->lock);
	if (had_dead)
		pthread_join(dead, NULL);
	return NULL;
}

/* Called locked.  0 or an error number. */
static int thread_start(struct blocking *b)
{
	pthread_attr_t attr;
	sigset_t all, old;
	pthread_t id;
	int err;

	/* Signals are the main thread's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	err = pthread_create(&id, &attr, thread_main, b);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err)
		return err;
	b->threads++;
	atomic_fetch_add(&total, 1);
	return 0;
}

void blocking_submit(struct blocking *b, struct bjob *job)
{
	bool here = false;

	assert(job->run);
	pthread_mutex_lock(&b->lock);
	assert(!b->closing);
	list_init(&job->link);
	list_add_tail(&b->jobs, &job->link);
	b->queued++;
	if (b->queued > b->idle && b->threads < b->max && thread_start(b) &&
	    !b->threads) {
		/* No thread is to be had and none runs that would take the job
		 * later: late is better than never. */
		list_del(&job->link);
		b->queued--;
		here = true;
	}
	pthread_cond_signal(&b->work);
	pthread_mutex_unlock(&b->lock);
	if (here)
		job->run(job);
}

void blocking_free(struct blocking *b)
{
	if (!b)
		return;
	pthread_mutex_lock(&b->lock);
	b->closing = true;
	pthread_cond_broadcast(&b->work);
	while (b->threads)
		pthread_cond_wait(&b->ended, &b->lock);
	pthread_mutex_unlock(&b->lock);
	if (b->has_dead)
		pthread_join(b->dead, NULL);
	assert(list_empty(&b->jobs));
	pthread_cond_destroy(&b->ended);
	pthread_cond_destroy(&b->work);
	pthread_mutex_destroy(&b->lock);
	free(b);
}

void blocking_set_idle_ms(struct blocking *b, unsigned ms)
{
	pthread_mutex_lock(&b->lock);
	b->idle_ms = ms;
	pthread_mutex_unlock(&b->lock);
}

unsigned blocking_threads(struct blocking *b)
{
	unsigned n;

	pthread_mutex_lock(&b->lock);
	n = b->threads;
	pthread_mutex_unlock(&b->lock);
	return n;
}

unsigned blocking_threads_total(void)
{
	return atomic_load(&total);
}
