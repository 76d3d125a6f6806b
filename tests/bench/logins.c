/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Logins by the second, and what sessions that do nothing cost. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/load.h"

#define THREADS_MAX 64u

struct logins {
	const struct options *opt;
	atomic_uint	 isid, count, failed;
	uint64_t	 stop;
};

/* Each session ends by a logout before the thread's next begins. */
static void *log_in_and_out(void *arg)
{
	struct logins *g = arg;
	struct login l;

	while (now_ns() < g->stop) {
		if (!login_iscsi(g->opt, atomic_fetch_add(&g->isid, 1), &l)) {
			atomic_fetch_add(&g->failed, 1);
			break;
		}
		login_end(&l);
		atomic_fetch_add(&g->count, 1);
	}
	return NULL;
}

bool run_logins(struct load *l)
{
	struct logins g = { .opt = &l->opt, .isid = 1 };
	unsigned n = MIN(l->opt.sessions, THREADS_MAX), i;
	pthread_t thread[THREADS_MAX];
	uint64_t start = now_ns(), cpu;
	double s;

	g.stop = start + (uint64_t)(l->opt.seconds * 1e9);
	proc_read(l->opt.pid, &l->proc[0]);
	for (i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, log_in_and_out, &g))
			exit(1);
	for (i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	s = (double)(now_ns() - start) / 1e9;
	proc_read(l->opt.pid, &l->proc[1]);
	cpu = proc_cpu_ns(l->proc);
	printf("op=login ops=%u secs=%.3f rate=%.1f cpu=%.3f errors=%u\n",
	       g.count, s, g.count / s,
	       g.count ? (double)cpu / g.count / 1000 : 0, g.failed);
	return g.count && !g.failed;
}

/* The target's memory before and after, and its CPU time while all sleep. */
bool run_idle(struct load *l)
{
	time_t whole = (time_t)l->opt.seconds;
	struct timespec t = { .tv_sec = whole,
		.tv_nsec = (long)((l->opt.seconds - (double)whole) * 1e9) };
	unsigned n = l->opt.sessions, i, made;
	struct login *login = calloc(n, sizeof(*login));
	struct timespec settle = { .tv_nsec = 300000000 };
	struct proc asleep;
	double kib;

	if (!login || !proc_read(l->opt.pid, &l->proc[0])) {
		fprintf(stderr, "load: idle needs --pid\n");
		free(login);
		return false;
	}
	for (made = 0; made < n; made++)
		if (!login_iscsi(&l->opt, made + 1, &login[made]))
			break;
	nanosleep(&settle, NULL);
	proc_read(l->opt.pid, &l->proc[1]);
	nanosleep(&t, NULL);
	proc_read(l->opt.pid, &asleep);
	kib = (double)l->proc[1].rss_kib - (double)l->proc[0].rss_kib;
	printf("op=idle ops=%u session_kib=%.2f rss=%llu idle_cpu_ms_s=%.3f"
	       " errors=%u\n", made, made ? kib / made : 0,
	       (unsigned long long)l->proc[1].rss_kib,
	       (double)(asleep.cpu_ns - l->proc[1].cpu_ns) / 1e6 /
	       l->opt.seconds, n - made);
	for (i = 0; i < made; i++)
		login_end(&login[i]);
	free(login);
	return made == n;
}
