/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TARGET_VOLUMES_H
#define TARGET_VOLUMES_H

/*
 * The running volumes, by name, each with its logical unit; and the world's
 * changes.  Main thread.
 */

#include "target/config.h"

struct vol;

/* Makes and opens a volume's logical unit; conf->id is set.  opened() (may be
 * NULL) comes once with 0 or -errno.  -EEXIST, -ENOMEM. */
int vol_start(const struct conf_volume *conf,
		 void (*opened)(void *arg, int err), void *arg);
/* Closes it when no session maps it any more; then closed() (may be NULL). */
void vol_stop(const char *name, void (*closed)(void *arg), void *arg);
/* NULL: none.  The reference is the caller's. */
struct lu *vol_lu(const char *name);
/* Mappings of live sessions. */
unsigned vol_users(const char *name);
/* When the changes that the last commit began have ended; 0 or the first -errno
 * of them.  May call back at once. */
void vol_when_settled(const char *name, void (*settled)(void *arg, int err),
		      void *arg);
/* Absolute; free() it. */
char *vol_path(const char *path);

/* Has every volume been opened, or found degraded? */
bool vols_opened(void);
/* Starts what is new.  -errno with err. */
int vols_start(const struct conf *now, struct config_error *err);
/* Makes the differences that can be made live. */
void vols_change(const struct conf *old, const struct conf *now);
/* Stops what the configuration has no more; closed() belongs to the volume that
 * a verb deletes. */
void vols_stop(const struct conf *now);
/* Names the target ports that serve each volume. */
void vols_tell_ports(const struct conf *now);
/* All of them, at the end; done() when they are closed. */
void vols_close(void (*done)(void));
/* Tells when a volume that vols_stop() will stop is closed. */
void vol_on_closed(const char *name, void (*closed)(void *arg), void *arg);

/* Puts a configuration in force and asks the sessions of targets that differ to
 * look at their maps.  The old one is freed. */
void world_set(struct conf *now);

/* How a login of this peer at t (NULL: no such target) would end, and by which
 * rule.  On main, or with the world's lock held, for the rule is t's. */
enum tgt_verdict access_check(const struct conf_target *t,
			      const struct tgt_peer *peer,
			      const struct conf_rule **ret_rule);
/* The mapping of the next LUN that an initiator sees, the first that fits, from
 * *at on; moves *at behind that LUN.  NULL: no more. */
const struct conf_mapping *world_mapping(const struct conf_target *t,
					 const char *initiator, unsigned *at);

#endif
