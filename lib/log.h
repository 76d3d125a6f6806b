/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIB_LOG_H
#define LIB_LOG_H

/*
 * Log lines, to stderr, the journal's or syslog.  Thread-safe; a line is
 * written whole.  Four levels: err, the operator must act; warn, odd but
 * handled; info, login, logout, configuration; debug, the rest.  A healthy
 * target under load logs nothing.  errno is saved and restored.
 *
 * What a peer can repeat at will goes through log_peer(): a token bucket per
 * call site and thread, and a line that counts what was dropped.
 */

#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_ERR_, LOG_WARN_, LOG_INFO_, LOG_DEBUG_ };

enum log_dest {
	LOG_TO_STDERR,
	LOG_TO_JOURNAL,	/* stderr with the <N> prefix of sd-daemon(3) */
	LOG_TO_SYSLOG,
};

/* Call before any thread starts. */
void log_init(enum log_dest dest, const char *ident);
void log_set_level(enum log_level level);	/* any thread, any time */
enum log_level log_get_level(void);
/* 0, or -EINVAL for a name that is not error, warning, info, debug. */
int log_level_of(const char *name, enum log_level *ret_level);

void log_at(enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#define log_err(...) log_at(LOG_ERR_, __VA_ARGS__)
#define log_warn(...) log_at(LOG_WARN_, __VA_ARGS__)
#define log_info(...) log_at(LOG_INFO_, __VA_ARGS__)
#define log_debug(...) log_at(LOG_DEBUG_, __VA_ARGS__)

struct log_limit {
	uint64_t second;	/* CLOCK_MONOTONIC second of the bucket */
	unsigned used, dropped;
};

/* May a line be written now?  Logs "N dropped" when a bucket begins anew. */
bool log_allow(struct log_limit *limit, unsigned per_second, const char *site);

#define log_peer(...)							\
	do {								\
		static _Thread_local struct log_limit limit_;		\
									\
		if (log_allow(&limit_, 5, __func__))			\
			log_at(LOG_WARN_, __VA_ARGS__);			\
	} while (0)

#endif
