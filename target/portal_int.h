/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TARGET_PORTAL_INT_H
#define TARGET_PORTAL_INT_H

/* Between listening and announcing. */

#include <pthread.h>

#include "backend/engine.h"
#include "target/config.h"

struct portal {
	struct conf_portal conf;	/* under the lock */
	struct sockaddr_storage bound;	/* with the port that was got */
	struct list	 in_portals;	/* under the lock */
	bool		 fresh;		/* prepared, not applied */
	bool		 leaving;	/* this and fresh: under the lock */
	int		 fd;		/* -1: a wildcard portal takes it */
	struct ereq	 accept;
	bool		 accepting;	/* accept is submitted */
	bool		 replaced;	/* by a fresh one at the same place */
	bool		 suspended;	/* gave its port up for a fresh one */
	struct etimer	 pause;
	unsigned	 waited;	/* for volumes to open, in polls */
};

/* The main thread changes the list and reads it without the lock; other threads
 * hold the lock to read. */
struct portals {
	pthread_mutex_t	 lock;
	struct list	 list;
};

struct portals *portals_lock(void);
void portals_unlock(struct portals *p);

#endif
