/* SPDX-License-Identifier: GPL-2.0-or-later */

/* CPU time and memory of a process.  schedstat counts the nanoseconds that a
 * thread ran; stat, in ticks, would be too coarse for a second's run. */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/bench/load.h"

static uint64_t run_time(int pid, const char *tid)
{
	char path[320];
	unsigned long long ns = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", pid, tid);
	f = fopen(path, "r");
	if (!f)
		return 0;
	if (fscanf(f, "%llu", &ns) != 1)
		ns = 0;
	fclose(f);
	return ns;
}

static uint64_t resident_kib(int pid)
{
	char path[64], line[128];
	unsigned long long kib = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "r");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "VmRSS: %llu", &kib) == 1)
			break;
	fclose(f);
	return kib;
}

bool proc_read(int pid, struct proc *p)
{
	char path[64];
	struct dirent *d;
	DIR *dir;

	*p = (struct proc){ 0 };
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return false;
	while ((d = readdir(dir)))
		if (d->d_name[0] != '.') {
			p->cpu_ns += run_time(pid, d->d_name);
			p->threads++;
		}
	closedir(dir);
	p->rss_kib = resident_kib(pid);
	return true;
}

uint64_t proc_cpu_ns(const struct proc p[2])
{
	return p[1].cpu_ns > p[0].cpu_ns ? p[1].cpu_ns - p[0].cpu_ns : 0;
}

uint64_t proc_own_cpu_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000 +
		(uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}
