/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TARGET_LOGIN_H
#define TARGET_LOGIN_H

/* The refused logins that the daemon remembers, for the administrator: one
 * entry for each initiator, target, address (but for its port) and reason. */

#include <stdint.h>

#include "lib/limits.h"
#include "target/conn.h"
#include "target/tgt.h"

#define LOGIN_REFUSALS	32	/* the last ones are kept */

struct login_refusal {
	uint64_t	 time;			/* CLOCK_REALTIME seconds */
	char		 initiator[ISCSI_NAME_MAX];	/* "" when not told */
	char		 target[ISCSI_NAME_MAX];	/* "" in discovery */
	char		 address[ADDR_TEXT];	/* the initiator's */
	unsigned	 count;		/* of the same in all */
	uint16_t	 status;		/* enum login_status, 0: none sent */
	const char	*reason, *remedy;
};

/* Calls fn for each, oldest first, under a lock: fn may not call back.  Any
 * thread. */
void login_refusals(void (*fn)(void *arg, const struct login_refusal *r),
		    void *arg);

/* A PDU that is no Login Request came during login: status 020Bh. */
void login_refuse_request(struct conn *c, const union bhs *bhs);

#endif
