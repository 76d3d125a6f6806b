/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TARGET_TEXT_INT_H
#define TARGET_TEXT_INT_H

/* Between text.c, which carries text, and discovery.c, which knows targets. */

#include "target/conn.h"
#include "target/keys.h"

/*
 * Appends the answer to SendTargets=value to out (text on the heap).  -EINVAL:
 * not a value that this session may ask for; -ENOSPC: the answer would be
 * longer than TEXT_OUT_MAX, or memory is out.
 */
int discovery_send_targets(const struct conn *c, const char *value,
			   struct text *out);

#endif
