/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TARGET_TGT_INT_H
#define TARGET_TGT_INT_H

/*
 * The configured world: the configuration in force, the running volumes, and
 * for each session of a target the LUNs that were mapped for it.  One lock; the
 * main thread writes, workers read for a moment.  Never held across a call into
 * the SCSI layer other than taking a reference; the lock of the registry of
 * sessions may be taken inside it.
 */

#include <pthread.h>

#include "target/config.h"
#include "target/session.h"
#include "target/volumes.h"

struct vol {
	char		 name[CONF_VOLUME_NAME_MAX];
	struct lu	*lu;
	struct identity	 id;
	struct list	 in_world;
	unsigned	 users;		/* mappings of live sessions, lock */
	bool		 removed;	/* closes when users gets 0, lock */
	struct epost	 idle;		/* "users is 0", to main */
	/* main's */
	bool		 tried;		/* the first opening has ended, somehow */
	void		(*opened)(void *arg, int err);
	void		*opened_arg;
	void		(*closed)(void *arg);
	void		*closed_arg;
	struct closing	*closing;	/* of all volumes, at the end */
	unsigned	 changing;	/* live changes under way */
	int		 change_err;	/* of the first that failed */
	void		(*settled)(void *arg, int err);
	void		*settled_arg;
};

struct map_entry {
	uint16_t	 lun;
	bool		 read_only, stays;
	struct vol	*vol;		/* counted in its users */
	struct tgt	*tgt;
	struct map_entry *next;
};

/* A session's place in the world. */
struct tgt {
	struct list	 in_world;
	struct session	*session;	/* NULL: ended */
	char		 iqn[ISCSI_NAME_MAX];
	struct map_entry *map;		/* its worker's */
	unsigned	 unmapping;	/* entries that leave, its worker's */
	struct epost	 refresh;
	bool		 refreshing;	/* the post is under way, lock */
};

struct world {
	pthread_mutex_t	 lock;
	struct conf	*conf;
	struct list	 vols, sessions;
};

struct world *world_lock(void);
void world_unlock(struct world *w);

/* With the lock held. */
struct vol *world_vol(struct world *w, const char *name);
void vol_put(struct vol *v);

#endif
