/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TARGET_CONTROL_H
#define TARGET_CONTROL_H

/*
 * The control socket: JSON-RPC 2.0, one document a line, on the main thread.
 */

#include <stdbool.h>

/* Listens; a socket that nobody listens at any more is replaced.  0,
 * -EADDRINUSE: a daemon lives there, or -errno. */
int control_start(const char *path);
/* Removes the socket and drops its clients; control_quiet() tells when nothing
 * of it is under way in the engine any more. */
void control_stop(void);
bool control_quiet(void);

#endif
