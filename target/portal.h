/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TARGET_PORTAL_H
#define TARGET_PORTAL_H

/*
 * Listening sockets, on the main thread.  A change is made in two acts, so that
 * an address that cannot be had changes nothing: portals_prepare() binds what
 * is new, then portals_apply() or portals_undo().
 */

#include "target/config.h"

int portals_prepare(const struct conf *now, struct config_error *err);
void portals_apply(const struct conf *now);
void portals_undo(void);
/* Accepts no more; portals_quiet() tells when the engine has let go. */
void portals_stop(void);
bool portals_quiet(void);

/* [{"address", "port", "group"}], as they really listen. */
json_t *portals_list(void);

#endif
