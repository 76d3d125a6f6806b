/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TARGET_REGISTRY_INT_H
#define TARGET_REGISTRY_INT_H

/* Between session_registry.c, conn_count.c, session_info.c and shutdown.c. */

#include <pthread.h>

#include "target/session_int.h"

#define HOST_BUCKETS 256

struct host;

struct registry {
	pthread_mutex_t	 mutex;
	struct list	 all;		/* struct session.in_registry */
	unsigned	 nsessions;	/* registered ones */
	unsigned	 nconns, half_open;
	struct host	*hosts[HOST_BUCKETS];	/* conn_count.c's */
	uint64_t	 last_id;
	uint16_t	 last_tsih;
	bool		 closed;	/* shutting down */
	void		(*on_empty)(void);	/* main is to be told so */
	struct epost	 empty_post;
	struct etimer	 grace;
};

struct registry *registry_lock(void);
void registry_unlock(struct registry *r);
/* Under the lock: a message to s, which its worker reads. */
void registry_ask(struct session *s, unsigned ask);
/* Under the lock: is a shutdown complete? */
void shutdown_check(struct registry *r);

#endif
