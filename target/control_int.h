/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TARGET_CONTROL_INT_H
#define TARGET_CONTROL_INT_H

/*
 * Methods of the control socket.  control.c reads lines, control_rpc.c turns
 * one into a call, control_table.c lists the methods, ctl_*.c do the work.
 *
 * Everything here runs on the main thread.  A handler answers its call exactly
 * once, by ctl_ok() or ctl_fail(), now or later: the call lives until then,
 * also when its client has gone.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/util.h"

struct ctl_call {
	const struct ctl_method *method;
	json_t	*params;	/* an object, checked by the method's row */
	json_t	*id;		/* NULL: a notification, nobody hears */
	/* The answer: a line without its end, to be freed; NULL: none. */
	void	(*answer)(struct ctl_call *c, char *line);
	void	*client;	/* answer()'s; NULL: it has gone */
	void	*priv;		/* the handler's */
};

enum ctl_type {
	CTL_STRING,
	CTL_BOOL,
	CTL_INT,	/* an integer, or its digits as a string */
	CTL_SIZE,	/* bytes: an integer, or a string with K, M, G, T */
	CTL_OBJECT,
};

struct ctl_param {
	const char	*name;
	enum ctl_type	 type;
	bool		 required;
};

#define CTL_PARAMS_MAX 18

struct ctl_method {
	const char	*name;		/* NOUN.VERB */
	struct ctl_param params[CTL_PARAMS_MAX];
	void		(*handler)(struct ctl_call *c);
	const char	*help;
};

const struct ctl_method *ctl_find(const char *name);
const struct ctl_method *ctl_methods(size_t *ret_n);

/* result is taken over; NULL stands for null. */
void ctl_ok(struct ctl_call *c, json_t *result);
/* The daemon refuses: one line for people. */
void ctl_fail(struct ctl_call *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Parameters; absent ones give NULL, false or fallback. */
const char *ctl_str(struct ctl_call *c, const char *name);
bool ctl_bool(struct ctl_call *c, const char *name);
int64_t ctl_int(struct ctl_call *c, const char *name, int64_t fallback);
uint64_t ctl_size(struct ctl_call *c, const char *name, uint64_t fallback);
bool ctl_has(struct ctl_call *c, const char *name);

/* Around work on a thread of its own that may outlast its call: the main engine
 * stays until it has ended. */
void control_work_begins(void);
void control_work_ends(void);

/* Handles one line with c, whose answer and client are set: c->answer() is
 * called, now or later, and c freed after it. */
void ctl_line(struct ctl_call *c, const char *line, size_t len);
/* Answers for a line that was too long to be read. */
void ctl_too_long(struct ctl_call *c);

#define CTL_HANDLER(name) void name(struct ctl_call *c)

CTL_HANDLER(ctl_target_create);		/* ctl_target.c */
CTL_HANDLER(ctl_target_delete);
CTL_HANDLER(ctl_target_list);
CTL_HANDLER(ctl_target_show);
CTL_HANDLER(ctl_target_set);
CTL_HANDLER(ctl_target_enable);
CTL_HANDLER(ctl_target_disable);
CTL_HANDLER(ctl_volume_create);		/* ctl_volume_create.c */
CTL_HANDLER(ctl_volume_delete);		/* ctl_volume.c */
CTL_HANDLER(ctl_volume_list);
CTL_HANDLER(ctl_volume_show);
CTL_HANDLER(ctl_volume_resize);
CTL_HANDLER(ctl_volume_set);		/* ctl_volume_set.c */
CTL_HANDLER(ctl_lun_add);		/* ctl_lun.c */
CTL_HANDLER(ctl_lun_remove);
CTL_HANDLER(ctl_lun_list);
CTL_HANDLER(ctl_acl_allow);		/* ctl_acl.c */
CTL_HANDLER(ctl_acl_revoke);
CTL_HANDLER(ctl_acl_list);
CTL_HANDLER(ctl_acl_check);
CTL_HANDLER(ctl_chap_set);		/* ctl_chap.c */
CTL_HANDLER(ctl_chap_clear);
CTL_HANDLER(ctl_chap_list);
CTL_HANDLER(ctl_portal_add);		/* ctl_portal.c */
CTL_HANDLER(ctl_portal_remove);
CTL_HANDLER(ctl_portal_state);
CTL_HANDLER(ctl_portal_list);
CTL_HANDLER(ctl_session_list);		/* ctl_session.c */
CTL_HANDLER(ctl_session_show);
CTL_HANDLER(ctl_session_end);
CTL_HANDLER(ctl_session_refused);
CTL_HANDLER(ctl_session_move);
CTL_HANDLER(ctl_vaai_status);		/* ctl_stats.c */
CTL_HANDLER(ctl_stats);
CTL_HANDLER(ctl_config_show);		/* ctl_config.c */
CTL_HANDLER(ctl_config_save);
CTL_HANDLER(ctl_config_load);
CTL_HANDLER(ctl_config_check);
CTL_HANDLER(ctl_daemon_version);
CTL_HANDLER(ctl_daemon_ping);
CTL_HANDLER(ctl_daemon_limits);		/* ctl_limits.c */
CTL_HANDLER(ctl_daemon_methods);

#endif
