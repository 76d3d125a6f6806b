/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A line is made in one piece of memory and written by one call, so lines of
 * several threads do not mix.  What a peer chose may be in it, so bytes that
 * could end a line or steer a terminal are replaced.
 */

#include "lib/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "lib/util.h"

#define LINE_MAX_ 1024

struct level {
	const char *name;
	int priority;		/* syslog(3), sd-daemon(3) */
};

static const struct level levels[] = {
	[LOG_ERR_] = { "error", LOG_ERR },
	[LOG_WARN_] = { "warning", LOG_WARNING },
	[LOG_INFO_] = { "info", LOG_INFO },
	[LOG_DEBUG_] = { "debug", LOG_DEBUG },
};

static struct {
	atomic_int level;
	enum log_dest dest;
	const char *ident;
} state = {
	.level = LOG_INFO_,
	.dest = LOG_TO_STDERR,
	.ident = "lund",
};

void log_init(enum log_dest dest, const char *ident)
{
	state.dest = dest;
	state.ident = ident;
	if (dest == LOG_TO_SYSLOG)
		openlog(ident, LOG_PID | LOG_NDELAY, LOG_DAEMON);
}

void log_set_level(enum log_level level)
{
	atomic_store_explicit(&state.level, (int)level, memory_order_relaxed);
}

enum log_level log_get_level(void)
{
	return (enum log_level)atomic_load_explicit(&state.level,
						    memory_order_relaxed);
}

int log_level_of(const char *name, enum log_level *ret_level)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(levels); i++) {
		if (!strcmp(name, levels[i].name)) {
			*ret_level = (enum log_level)i;
			return 0;
		}
	}
	return -EINVAL;
}

static void make_printable(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			*s = '?';
}

/* Returns the length of what snprintf() could store. */
static size_t stored(int n, size_t cap)
{
	if (n < 0)
		return 0;
	return MIN((size_t)n, cap - 1);
}

static size_t put_prefix(char *line, size_t cap, enum log_level level)
{
	int n;

	switch (state.dest) {
	case LOG_TO_STDERR:
		n = snprintf(line, cap, "%s: %s: ", state.ident,
			     levels[level].name);
		return stored(n, cap);
	case LOG_TO_JOURNAL:
		n = snprintf(line, cap, "<%d>", levels[level].priority);
		return stored(n, cap);
	case LOG_TO_SYSLOG:
		break;
	}
	return 0;
}

static void write_line(const char *line, size_t len)
{
	ssize_t n;

	do
		n = write(STDERR_FILENO, line, len);
	while (n < 0 && errno == EINTR);
}

void log_at(enum log_level level, const char *fmt, ...)
{
	char line[LINE_MAX_];
	int saved = errno;
	size_t start, len;
	va_list ap;

	if (level > log_get_level())
		return;
	start = put_prefix(line, sizeof(line) - 1, level);
	va_start(ap, fmt);
	errno = saved;		/* %m */
	len = start + stored(vsnprintf(line + start, sizeof(line) - 1 - start,
				       fmt, ap), sizeof(line) - 1 - start);
	va_end(ap);
	line[len] = '\0';
	make_printable(line + start);
	if (state.dest == LOG_TO_SYSLOG) {
		syslog(levels[level].priority, "%s", line);
	} else {
		line[len] = '\n';
		write_line(line, len + 1);
	}
	errno = saved;
}

bool log_allow(struct log_limit *limit, unsigned per_second, const char *site)
{
	unsigned dropped = limit->dropped;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	if (limit->second != (uint64_t)now.tv_sec) {
		*limit = (struct log_limit){ .second = (uint64_t)now.tv_sec };
		if (dropped)
			log_warn("%s: %u lines dropped", site, dropped);
	}
	if (limit->used < per_second) {
		limit->used++;
		return true;
	}
	limit->dropped++;
	return false;
}
