/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BACKEND_BACKEND_INT_H
#define BACKEND_BACKEND_INT_H

/*
 * Inside the backend: what a kind of volume is, and the parts of a volume.
 */

#include <pthread.h>

#include "backend/backend.h"
#include "lib/limits.h"

/*
 * A kind of volume: a table of functions that speaks of no descriptor.  The
 * request functions run on the submitter's thread, may not block, and end, now
 * or later and on any thread, in exactly one breq_complete().  One that is NULL
 * is declined and generic code stands in: zero and write_same are written,
 * unmap is not offered, copy reads and writes, everything is one mapped extent,
 * prefetch does nothing.  open(), close(), resize() and space() run on a
 * blocking thread of the volume.
 */
struct volume_ops {
	const char *kind;
	int (*open)(struct volume *v);		/* fills v->caps, v->size */
	void (*close)(struct volume *v);
	int (*resize)(struct volume *v, uint64_t size);
	int (*space)(struct volume *v, struct volume_space *ret);
	void (*read)(struct volume *v, struct breq *b);
	/* b->flags & BREQ_FUA: stable when complete */
	void (*write)(struct volume *v, struct breq *b);
	void (*flush)(struct volume *v, struct breq *b);
	void (*zero)(struct volume *v, struct breq *b);
	void (*unmap)(struct volume *v, struct breq *b);
	void (*write_same)(struct volume *v, struct breq *b);
	void (*copy)(struct volume *v, struct breq *b);
	void (*extent)(struct volume *v, struct breq *b);
	void (*prefetch)(struct volume *v, struct breq *b);
};

extern const struct volume_ops file_ops, block_ops, null_ops;

/* Tests and later cluster kinds: a volume over ops of the caller's. */
struct volume *volume_new_ops(const struct volume_config *config,
			      const struct volume_events *events,
			      struct engine *main, const struct volume_ops *ops,
			      void *priv);

/* The end of a request's act on the medium; any thread.  Posts to the
 * submitter when that is another thread, defers otherwise. */
void breq_complete(struct breq *b, int err);

#endif
