/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Life and death of a test's daemon.  A guard process, which outlives even a
 * killed test, ends daemons and takes mounts away: it waits for the end of a
 * pipe that only the test holds open.
 */
#include "tests/lib/harness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct daemon *daemons;

static void put(char *buf, size_t size, const char *dir, const char *name)
{
	snprintf(buf, size, "%s/%s", dir, name);
}

static const char *temp_root(void)
{
	const char *t = getenv("TMPDIR");

	return t && *t ? t : "/tmp";
}

/* The pids of all daemons of this folder, one a line, for the guard. */
static void note_pid(struct daemon *d)
{
	char path[160];
	FILE *f;

	put(path, sizeof(path), d->dir, "pids");
	f = fopen(path, "ae");
	if (!f)
		return;
	fprintf(f, "%d\n", (int)d->pid);
	fclose(f);
}

static void guard_main(const char *dir, int fd)
{
	char path[160], c, line[32];
	ssize_t n;
	FILE *f;

	setsid();
	do {
		n = read(fd, &c, 1);
	} while (n < 0 && errno == EINTR);
	if (n == 1)
		_exit(0);		/* the test cleaned up itself */
	put(path, sizeof(path), dir, "pids");
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (atoi(line) > 1)
			kill(atoi(line), SIGKILL);
	}
	usleep(300000);			/* devices are let go */
	fs_cleanup(dir);
	run_program("rm -rf --one-file-system %s", dir);
	_exit(0);
}

static int guard_start(struct daemon *d)
{
	int fds[2], fd;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	pid = fork();
	if (pid < 0)
		return -1;
	if (pid == 0) {
		/* nothing else may be held open from here, least of all the
		 * pipes of other guards and what reads this test's output */
		for (fd = 0; fd < 256; fd++) {
			if (fd != fds[0])
				close(fd);
		}
		guard_main(d->dir, fds[0]);
	}
	close(fds[0]);
	d->guard = fds[1];
	return 0;
}

struct daemon *daemon_new(const char *options)
{
	struct daemon *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	snprintf(d->dir, sizeof(d->dir), "%s/lund-test.XXXXXX", temp_root());
	snprintf(d->options, sizeof(d->options), "%s", options ? options : "");
	if (!mkdtemp(d->dir)) {
		free(d);
		return NULL;
	}
	put(d->config, sizeof(d->config), d->dir, "lund.json");
	put(d->sock, sizeof(d->sock), d->dir, "sock");
	put(d->state, sizeof(d->state), d->dir, "state");
	put(d->log, sizeof(d->log), d->dir, "log");
	if (mkdir(d->state, 0700) || guard_start(d) ||
	    daemon_write_config(d, "{ \"version\": 1 }\n")) {
		perror(d->dir);
		free(d);
		return NULL;
	}
	d->next = daemons;
	daemons = d;
	return d;
}

int daemon_write_config(struct daemon *d, const char *text)
{
	FILE *f = fopen(d->config, "we");

	if (!f)
		return -1;
	fputs(text, f);
	return fclose(f);
}

#define ARGS_MAX 64

static void daemon_exec(struct daemon *d)
{
	const char *lund = getenv("LUND"), *engine = getenv("LUND_ENGINE");
	char *args[ARGS_MAX] = {
		(char *)(lund ? lund : "build/lund"),
		"--portal", "127.0.0.1:0", "-c", d->config, "-s", d->sock,
		"-d", d->state, "--workers", "2",
	};
	char *save = NULL, *word;
	int n = 11, fd;

	if (engine && *engine) {
		args[n++] = "--engine";
		args[n++] = (char *)engine;
	}
	for (word = strtok_r(d->options, " ", &save); word && n < ARGS_MAX - 1;
	     word = strtok_r(NULL, " ", &save))
		args[n++] = word;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fd = open(d->log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	dup2(fd, 1);
	dup2(fd, 2);
	for (fd = 3; fd < 256; fd++)
		close(fd);
	execv(args[0], args);
	perror(args[0]);
	_exit(127);
}

bool daemon_alive(struct daemon *d)
{
	siginfo_t info = { .si_pid = 0 };

	if (d->pid == 0)
		return false;
	return waitid(P_PID, (id_t)d->pid, &info,
		      WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

static bool serves(void *arg)
{
	struct daemon *d = arg;

	if (!daemon_alive(d))
		return true;		/* no use in waiting */
	return adm(d, "portal list") == 0 && json_number(d->json, "0.port") > 0;
}

static void show_log(struct daemon *d)
{
	run_program("tail -n 30 %s", d->log);
}

int daemon_run(struct daemon *d)
{
	d->pid = fork();
	if (d->pid < 0)
		return -1;
	if (d->pid == 0)
		daemon_exec(d);
	note_pid(d);
	if (!wait_until(serves, d, DEADLINE_MS) || !daemon_alive(d)) {
		printf("the daemon did not start:\n");
		fflush(stdout);
		show_log(d);
		daemon_kill9(d);
		return -1;
	}
	d->port = (int)json_number(d->json, "0.port");
	snprintf(d->portal, sizeof(d->portal), "127.0.0.1:%d", d->port);
	return 0;
}

struct daemon *daemon_start(const char *options)
{
	struct daemon *d = daemon_new(options);

	if (!d)
		return NULL;
	if (daemon_run(d)) {
		daemon_free(d);
		return NULL;
	}
	return d;
}

/* Waits at most ms for its end; the wait status, or -1. */
static int reap(struct daemon *d, int ms)
{
	struct pollfd p = { .events = POLLIN };
	int status = -1;

	p.fd = (int)syscall(SYS_pidfd_open, d->pid, 0);
	if (p.fd >= 0) {
		if (poll(&p, 1, ms) != 1)
			ms = -1;
		close(p.fd);
	}
	if (ms < 0)
		return -1;
	waitpid(d->pid, &status, 0);
	d->pid = 0;
	return status;
}

static bool sanitizer_spoke(struct daemon *d)
{
	return run_program("grep -qE (ERROR|WARNING):.*Sanitizer|runtime.error:"
			   " %s", d->log) == 0;
}

int daemon_stop(struct daemon *d)
{
	int status;

	if (d->pid == 0)
		return 0;
	kill(d->pid, SIGTERM);
	status = reap(d, DEADLINE_MS);
	if (status == -1) {
		printf("the daemon did not stop\n");
		show_log(d);
		daemon_kill9(d);
		return -SIGKILL;
	}
	if (sanitizer_spoke(d))
		return 1000;
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

void daemon_kill9(struct daemon *d)
{
	if (d->pid == 0)
		return;
	kill(d->pid, SIGKILL);
	reap(d, DEADLINE_MS);
}

int daemon_restart(struct daemon *d)
{
	int rc = daemon_stop(d);

	if (rc) {
		printf("the daemon ended with %d\n", rc);
		return rc;
	}
	return daemon_run(d);
}

int daemon_free(struct daemon *d)
{
	struct daemon **p;
	int rc;

	if (!d)
		return 0;
	rc = daemon_stop(d);
	if (rc)
		show_log(d);
	fs_cleanup(d->dir);
	run_program("rm -rf --one-file-system %s", d->dir);
	if (write(d->guard, "", 1) != 1)
		perror("guard");
	close(d->guard);
	for (p = &daemons; *p && *p != d; p = &(*p)->next)
		;
	if (*p)
		*p = d->next;
	free(d->out);
	free(d->err);
	json_decref(d->json);
	free(d);
	return rc;
}

/* ---- the frame of a test ---- */

#define ENDS_MAX 8
static struct {
	void	(*end[ENDS_MAX])(bool last);
	int	 ends, skipped;
} frame;

void at_case_end(void (*fn)(bool last))
{
	int i;

	for (i = 0; i < frame.ends; i++) {
		if (frame.end[i] == fn)
			return;
	}
	if (frame.ends < ENDS_MAX)
		frame.end[frame.ends++] = fn;
}

static void ends(bool last)
{
	int i;

	for (i = 0; i < frame.ends; i++)
		frame.end[i](last);
}

static void case_end(void)
{
	ends(false);
}

void skip_case(const char *fmt, ...)
{
	va_list ap;

	printf("skipped: ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	frame.skipped++;
}

static void say_failures(SRunner *sr, int failed)
{
	TestResult **r = srunner_failures(sr);
	int i;

	for (i = 0; r && i < failed; i++)
		printf("FAIL %s, %s:%d: %s\n", tr_tcname(r[i]), tr_lfile(r[i]),
		       tr_lno(r[i]), tr_msg(r[i]));
	free(r);
}

int func_run(const char *name, TCase *tc)
{
	Suite *s = suite_create(name);
	SRunner *sr = srunner_create(s);
	int failed, passed, bad = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGPIPE, SIG_IGN);
	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(tc, NULL, case_end);
	/* one process, so that a case may restart the daemon of all; time
	 * limits are the helpers' and tests/run's */
	srunner_set_fork_status(sr, CK_NOFORK);
	srunner_run_all(sr, CK_SILENT);
	failed = srunner_ntests_failed(sr);
	passed = srunner_ntests_run(sr) - failed - frame.skipped;
	say_failures(sr, failed);
	srunner_free(sr);
	ends(true);
	while (daemons) {
		if (failed)
			show_log(daemons);
		if (daemon_free(daemons)) {
			printf("FAIL: a daemon did not end well\n");
			bad++;
		}
	}
	printf("%d passed, %d failed, %d skipped\n", passed, failed + bad,
	       frame.skipped);
	if (failed + bad)
		return EXIT_FAILURE;
	return passed == 0 && frame.skipped ? 77 : EXIT_SUCCESS;
}
