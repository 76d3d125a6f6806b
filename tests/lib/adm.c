/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Running programs, lunadm above all, and reading what they say.
 */
#include "tests/lib/harness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define WORDS_MAX 64

struct output {
	int	 fd;
	char	*text;
	size_t	 len;
};

static void output_read(struct output *o)
{
	char buf[4096], *text;
	ssize_t n = read(o->fd, buf, sizeof(buf));

	if (n < 0 && errno == EINTR)
		return;
	text = n > 0 ? realloc(o->text, o->len + (size_t)n + 1) : NULL;
	if (!text) {
		close(o->fd);
		o->fd = -1;
		return;
	}
	memcpy(text + o->len, buf, (size_t)n);
	o->len += (size_t)n;
	text[o->len] = '\0';
	o->text = text;
}

static void output_read_both(struct output *out, struct output *err)
{
	while (out->fd >= 0 || err->fd >= 0) {
		struct pollfd p[2] = {
			{ .fd = out->fd, .events = POLLIN },
			{ .fd = err->fd, .events = POLLIN },
		};

		if (poll(p, 2, -1) < 0)
			continue;
		if (p[0].revents)
			output_read(out);
		if (p[1].revents)
			output_read(err);
	}
}

/* Runs argv; out and err get its texts (NULL: it writes where we write). */
static int run_argv(char *const argv[], char **out, char **err)
{
	struct output o = { .fd = -1 }, e = { .fd = -1 };
	posix_spawn_file_actions_t fa;
	int po[2], pe[2], status = 0, rc;
	pid_t pid;

	posix_spawn_file_actions_init(&fa);
	if (out) {
		if (pipe2(po, O_CLOEXEC) || pipe2(pe, O_CLOEXEC))
			return -1;
		posix_spawn_file_actions_adddup2(&fa, po[1], 1);
		posix_spawn_file_actions_adddup2(&fa, pe[1], 2);
	}
	rc = posix_spawnp(&pid, argv[0], &fa, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	if (out) {
		close(po[1]);
		close(pe[1]);
		o.fd = po[0];
		e.fd = pe[0];
		output_read_both(&o, &e);
		*out = o.text ? o.text : calloc(1, 1);
		*err = e.text ? e.text : calloc(1, 1);
	}
	if (rc)
		return 127;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int split(char *line, char **argv, int n)
{
	char *save = NULL, *word;

	for (word = strtok_r(line, " ", &save); word && n < WORDS_MAX - 1;
	     word = strtok_r(NULL, " ", &save))
		argv[n++] = word;
	argv[n] = NULL;
	return n;
}

static int adm_line(struct daemon *d, bool json, const char *fmt, va_list ap)
{
	const char *lunadm = getenv("LUNADM");
	char line[2048], *argv[WORDS_MAX] = {
		(char *)(lunadm ? lunadm : "build/lunadm"), "-s", d->sock,
		"--json",
	};
	json_error_t e;
	int rc;

	vsnprintf(line, sizeof(line), fmt, ap);
	split(line, argv, json ? 4 : 3);
	free(d->out);
	free(d->err);
	json_decref(d->json);
	d->out = d->err = NULL;
	d->json = NULL;
	rc = run_argv(argv, &d->out, &d->err);
	if (d->out && (d->out[0] == '{' || d->out[0] == '['))
		d->json = json_loads(d->out, 0, &e);
	return rc;
}

int adm(struct daemon *d, const char *fmt, ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = adm_line(d, true, fmt, ap);
	va_end(ap);
	return rc;
}

int adm_text(struct daemon *d, const char *fmt, ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = adm_line(d, false, fmt, ap);
	va_end(ap);
	return rc;
}

static int say(struct daemon *d, int rc, const char *what)
{
	if (rc)
		printf("%s: lunadm ended %d: %s", what, rc, d->err);
	return rc;
}

int adm_target(struct daemon *d, const char *iqn)
{
	int rc = adm(d, "target create %s", iqn);

	if (!rc)
		rc = adm(d, "acl allow %s *", iqn);
	return say(d, rc, iqn);
}

int adm_lun(struct daemon *d, const char *iqn, int lun, const char *volume,
	    const char *create_args)
{
	int rc = adm(d, "volume create %s %s", volume, create_args);

	if (!rc)
		rc = adm(d, "lun add %s %s --lun %d", iqn, volume, lun);
	return say(d, rc, volume);
}

static const json_t *json_at(const json_t *j, const char *path)
{
	char key[128];
	size_t n;

	while (j && *path) {
		n = strcspn(path, ".");
		if (n >= sizeof(key))
			return NULL;
		memcpy(key, path, n);
		key[n] = '\0';
		path += n + (path[n] == '.');
		if (json_is_array(j))
			j = json_array_get(j, (size_t)atoi(key));
		else
			j = json_object_get(j, key);
	}
	return j;
}

int64_t json_number(const json_t *j, const char *path)
{
	j = json_at(j, path);
	return json_is_integer(j) ? json_integer_value(j) : -1;
}

const char *json_text(const json_t *j, const char *path)
{
	j = json_at(j, path);
	return json_is_string(j) ? json_string_value(j) : "";
}

int json_bool(const json_t *j, const char *path)
{
	j = json_at(j, path);
	return json_is_boolean(j) ? json_boolean_value(j) : -1;
}

int64_t volume_number(struct daemon *d, const char *volume, const char *key)
{
	if (adm(d, "volume show %s", volume))
		return -1;
	return json_number(d->json, key);
}

int run_output(char *line, size_t size, const char *fmt, ...)
{
	char words[1024], *argv[WORDS_MAX], *out = NULL, *err = NULL;
	va_list ap;
	int rc;

	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	split(words, argv, 0);
	rc = run_argv(argv, &out, &err);
	if (out)
		snprintf(line, size, "%.*s", (int)strcspn(out, "\n"), out);
	free(out);
	free(err);
	return rc;
}

int run_program(const char *fmt, ...)
{
	char words[1024], *argv[WORDS_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	split(words, argv, 0);
	return run_argv(argv, NULL, NULL);
}
