/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_LIB_HARNESS_H
#define TESTS_LIB_HARNESS_H

/*
 * A daemon of a test's own: started in a folder of its own on a free loopback
 * port, driven by lunadm, stopped with its exit status and log looked at.
 * Helpers return values and never end the test; the macros at the end do.
 * Whatever a test leaves behind (sessions, daemons, mounts, loop devices) is
 * taken away after it, by a guard process even when the test was killed.
 */

#include <check.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define DEADLINE_MS	30000	/* for what should come at once */
#define HOST		"iqn.2026-11.example.test:host"

struct daemon {
	char	 dir[128];		/* everything is below it */
	char	 config[160], sock[160], state[160], log[160];
	char	 portal[64];		/* "127.0.0.1:PORT" */
	int	 port;
	char	 options[256];
	pid_t	 pid;			/* 0: not running */
	int	 guard;			/* pipe to the guard process */
	/* of the last adm() */
	char	*out, *err;
	json_t	*json;			/* when out is a JSON document */
	struct daemon *next;
};

/* Makes the folder only; start with daemon_run().  options: more words for the
 * command line, or NULL.  NULL: it could not. */
struct daemon *daemon_new(const char *options);
/* Starts it and waits until it serves.  0, or -1 with the reason printed. */
int daemon_run(struct daemon *d);
/* Both. */
struct daemon *daemon_start(const char *options);
/* SIGTERM.  The exit status (negative: a signal), or 1000 when the log holds a
 * report of a sanitizer. */
int daemon_stop(struct daemon *d);
void daemon_kill9(struct daemon *d);
/* Stops it, checks for status 0 and starts it again on the same state. */
int daemon_restart(struct daemon *d);
/* Stops it and removes its folder.  What daemon_stop() would have returned. */
int daemon_free(struct daemon *d);
/* Is the process there still? */
bool daemon_alive(struct daemon *d);
/* Replaces the configuration file's text. */
int daemon_write_config(struct daemon *d, const char *text);

/* lunadm -s SOCKET with words as printf makes them, split at blanks (no
 * quoting).  Its exit status; d->out, d->err and d->json stay until the next.
 * adm() adds --json. */
int adm(struct daemon *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int adm_text(struct daemon *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* A target that everyone may use. */
int adm_target(struct daemon *d, const char *iqn);
/* A volume (create_args: all after its name) as the target's LUN. */
int adm_lun(struct daemon *d, const char *iqn, int lun, const char *volume,
	    const char *create_args);
/* Of the last answer, or of an element of it: numbers and texts by a path like
 * "0.connections.0.commands"; -1 and "" when there is no such thing. */
int64_t json_number(const json_t *j, const char *path);
const char *json_text(const json_t *j, const char *path);
/* 0, 1, or -1 when there is no such boolean. */
int json_bool(const json_t *j, const char *path);
/* The field of the volume, by `volume show`. */
int64_t volume_number(struct daemon *d, const char *volume, const char *key);

/* Runs a program found on PATH; words split at blanks.  Its exit status. */
int run_program(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same with the first line of what it says. */
int run_output(char *line, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A file system in a file, mounted below the daemon's folder; the mount point,
 * or NULL when this machine cannot. */
const char *fs_mount(struct daemon *d, const char *type, unsigned mib);
/* A loop device over a new sparse file; "/dev/loopN", or NULL. */
const char *loop_attach(struct daemon *d, unsigned mib, unsigned block_size);
/* Undoes all of that. */
void fs_cleanup(const char *dir);

/* 512-byte blocks that know their place: each byte depends on block and seed,
 * so a block that moved, is torn or is of another time is found. */
void pattern_fill(void *buf, size_t len, uint64_t block, uint64_t seed);
/* -1: as filled, else the offset of the first byte that differs. */
ssize_t pattern_diff(const void *buf, size_t len, uint64_t block,
		     uint64_t seed);
/* -1: all zero, else the first offset that is not. */
ssize_t zero_diff(const void *buf, size_t len);

uint64_t now_ms(void);
/* Is the condition true within ms?  Asks each 10 ms. */
bool wait_until(bool (*cond)(void *arg), void *arg, unsigned ms);

/* Says that a case is skipped, and why; the case then returns. */
void skip_case(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* main() of a functional test: runs the case, cleans up, prints the sum that
 * tests/run counts. */
int func_run(const char *name, TCase *tc);
/* Called by func_run() after each case, and after the last one before daemons
 * are stopped (last is true); other helpers add theirs. */
void at_case_end(void (*fn)(bool last));

#define adm_ok(d, ...) do { \
	int adm_rc_ = adm(d, __VA_ARGS__); \
	ck_assert_msg(adm_rc_ == 0, "lunadm ended %d: %s", adm_rc_, (d)->err); \
} while (0)
#define adm_refused(d, ...) do { \
	int adm_rc_ = adm(d, __VA_ARGS__); \
	ck_assert_msg(adm_rc_ == 1 && (d)->err[0], \
		      "lunadm ended %d, not 1: %s%s", adm_rc_, (d)->out, \
		      (d)->err); \
} while (0)

#endif
