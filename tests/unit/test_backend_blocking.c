/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The pool of threads for calls that block. */

#include "backend/blocking.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "lib/util.h"
#include "tests/lib/unit.h"

/* What the jobs of a test share. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	int ran, inside, most;
	int order[1000];
	bool open;	/* jobs that wait at the gate may go on */
	bool signals_masked;
} t = { .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };

struct job {
	struct bjob job;
	int n;
	bool waits;
};

static void run(struct bjob *job)
{
	struct job *j = container_of(job, struct job, job);
	sigset_t set;

	pthread_sigmask(SIG_SETMASK, NULL, &set);
	pthread_mutex_lock(&t.lock);
	t.signals_masked = sigismember(&set, SIGTERM) == 1;
	t.order[t.ran++] = j->n;
	t.inside++;
	t.most = MAX(t.most, t.inside);
	pthread_cond_broadcast(&t.cond);
	while (j->waits && !t.open)
		pthread_cond_wait(&t.cond, &t.lock);
	t.inside--;
	pthread_cond_broadcast(&t.cond);
	pthread_mutex_unlock(&t.lock);
}

static void submit(struct blocking *b, struct job *j, int n, bool waits)
{
	*j = (struct job){ .job.run = run, .n = n, .waits = waits };
	blocking_submit(b, &j->job);
}

static void wait_inside(int n)
{
	pthread_mutex_lock(&t.lock);
	while (t.inside != n)
		pthread_cond_wait(&t.cond, &t.lock);
	pthread_mutex_unlock(&t.lock);
}

static void wait_ran(int n)
{
	pthread_mutex_lock(&t.lock);
	while (t.ran != n || t.inside)
		pthread_cond_wait(&t.cond, &t.lock);
	pthread_mutex_unlock(&t.lock);
}

static void open_gate(void)
{
	pthread_mutex_lock(&t.lock);
	t.open = true;
	pthread_cond_broadcast(&t.cond);
	pthread_mutex_unlock(&t.lock);
}

START_TEST(pool_without_work_has_no_threads)
{
	struct blocking *b = blocking_new(4, "test");

	ck_assert_uint_eq(blocking_threads(b), 0);
	blocking_free(b);
	blocking_free(NULL);
}
END_TEST

START_TEST(jobs_that_block_each_get_a_thread_up_to_the_limit)
{
	struct blocking *b = blocking_new(4, "test");
	struct job j[10];

	for (int i = 0; i < 10; i++)
		submit(b, &j[i], i, true);
	wait_inside(4);
	ck_assert_uint_eq(blocking_threads(b), 4);
	open_gate();
	wait_ran(10);
	ck_assert_int_eq(t.most, 4);
	blocking_free(b);
}
END_TEST

START_TEST(one_thread_runs_its_jobs_in_order)
{
	struct blocking *b = blocking_new(1, "a name that is far too long");
	static struct job j[1000];

	for (int i = 0; i < 1000; i++)
		submit(b, &j[i], i, false);
	blocking_free(b);
	ck_assert_int_eq(t.ran, 1000);
	for (int i = 0; i < 1000; i++)
		ck_assert_int_eq(t.order[i], i);
	ck_assert(t.signals_masked);
}
END_TEST

START_TEST(idle_thread_is_used_again)
{
	struct blocking *b = blocking_new(4, "test");
	struct job j;

	submit(b, &j, 0, false);
	wait_ran(1);
	/* It may be on its way back to the queue yet, so two are possible. */
	for (int i = 1; i < 200; i++) {
		submit(b, &j, i, false);
		wait_ran(i + 1);
	}
	ck_assert_uint_le(blocking_threads(b), 4);
	blocking_free(b);
}
END_TEST

START_TEST(idle_threads_end_and_new_ones_come)
{
	struct blocking *b = blocking_new(4, "test");
	struct job j;

	blocking_set_idle_ms(b, 0);
	for (int i = 0; i < 50; i++) {
		submit(b, &j, i, false);
		wait_ran(i + 1);
		while (blocking_threads(b))
			sched_yield();
	}
	ck_assert_uint_eq(blocking_threads_total(), 0);
	blocking_free(b);
}
END_TEST

START_TEST(free_waits_for_every_job)
{
	struct blocking *b = blocking_new(3, "test");
	static struct job j[500];

	for (int i = 0; i < 500; i++)
		submit(b, &j[i], i, false);
	blocking_free(b);
	ck_assert_int_eq(t.ran, 500);
	ck_assert_uint_eq(blocking_threads_total(), 0);
}
END_TEST

static void freeing(struct bjob *job)
{
	free(container_of(job, struct job, job));
}

START_TEST(job_may_free_itself)
{
	struct blocking *b = blocking_new(2, "test");

	for (int i = 0; i < 100; i++) {
		struct job *j = calloc(1, sizeof(*j));

		j->job.run = freeing;
		blocking_submit(b, &j->job);
	}
	blocking_free(b);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("blocking");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, pool_without_work_has_no_threads);
	tcase_add_test(tc, jobs_that_block_each_get_a_thread_up_to_the_limit);
	tcase_add_test(tc, one_thread_runs_its_jobs_in_order);
	tcase_add_test(tc, idle_thread_is_used_again);
	tcase_add_test(tc, idle_threads_end_and_new_ones_come);
	tcase_add_test(tc, free_waits_for_every_job);
	tcase_add_test(tc, job_may_free_itself);
	return unit_run("backend/blocking", tc);
}
