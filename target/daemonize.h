/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TARGET_DAEMONIZE_H
#define TARGET_DAEMONIZE_H

/*
 * Going to the background: the parent stays until the child is ready or has
 * failed, so that a script knows.  Without daemonize() the others do nothing.
 */

void daemonize(void);		/* returns in the child */
void daemon_ready(void);
void daemon_failed(const char *why);

#endif
