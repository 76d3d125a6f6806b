/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TARGET_USER_H
#define TARGET_USER_H

/*
 * Dropping root: the daemon becomes another user for good, with that user's
 * groups and without any capability.  Called before there is a second thread.
 * From then on all that it opens is opened as that user.
 */

#include "target/config.h"

/* What the daemon will need; each folder is made when it is absent and belongs
 * to the user then.  NULL ends the list. */
int user_become(const char *name, const char *const *folders,
		struct config_error *err);

#endif
