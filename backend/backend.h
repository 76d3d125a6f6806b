/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BACKEND_BACKEND_H
#define BACKEND_BACKEND_H

/*
 * The contract of the lower half: a volume is a range of bytes that can be
 * read, written, made stable, zeroed, given back and copied.  It knows nothing
 * of blocks, sense data or connections.
 *
 * A volume is shared by all workers.  Requests may be submitted on any engine's
 * thread; each is answered on the thread that submitted it.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "backend/blocking.h"
#include "backend/engine.h"

struct volume;
struct vslot;

/* What a configuration says of a volume; the strings are copied. */
struct volume_config {
	const char	*name;
	const char	*path;		/* file or block device, or "null:" */
	uint64_t	 size;		/* bytes; 0: as the device or file says */
	bool		 thick;		/* space promised by fallocate */
	bool		 direct;	/* O_DIRECT */
	bool		 read_only;
	bool		 write_back;	/* else write-through: done means stable */
};

/* How zeroing, giving back and copying are served: for people and scripts. */
enum volume_method {
	METHOD_NONE,		/* not offered */
	METHOD_WRITE,		/* "write": zeros or data written */
	METHOD_ZERO_RANGE,	/* "zero-range" */
	METHOD_PUNCH_HOLE,	/* "punch-hole" */
	METHOD_DISCARD,		/* "discard" */
	METHOD_REFLINK,		/* "reflink" */
	METHOD_COPY_FILE_RANGE,	/* "copy_file_range" */
	METHOD_READ_WRITE,	/* "read-write" */
	METHOD_DISCARDED,	/* "null": nothing is stored */
};

const char *volume_method_name(enum volume_method m);

/* What was found when the volume was opened; constant while it is online, but
 * for size.  Bytes throughout. */
struct volume_caps {
	uint32_t	block_size;	/* smallest unit of I/O: 512 or 4096 */
	uint32_t	physical_block_size;
	uint32_t	unmap_granularity;	/* a power of two, 0: no UNMAP */
	bool		unmap_zeroes;	/* unmapped bytes read as zeros */
	bool		anchors;	/* ZERO holds space without writing */
	bool		read_only;	/* the device's own or asked for */
	bool		block_device;
	bool		rotational;
	enum volume_method zero, unmap, copy;	/* copy: within the volume */
};

enum volume_state {
	VOLUME_OPENING,
	VOLUME_ONLINE,
	VOLUME_DEGRADED,	/* absent, short or not to be opened; retried */
	VOLUME_FAILED,		/* a flush failed: writes refused, reads go on */
	VOLUME_CLOSED,
};

const char *volume_state_name(enum volume_state s);

/*
 * Life, on the main thread.  volume_new() only remembers the configuration
 * (NULL: no memory).  volume_open() probes and opens on a thread of the
 * volume's own, so that a hung file system stalls nobody; opened() runs on
 * main's thread with 0 or -errno, and the state is ONLINE or DEGRADED.  A
 * degraded volume is retried every few seconds by itself; changed() tells of
 * every later change of state (main's thread).  -EBUSY says that somebody else
 * holds the file or device, -ENODATA that it is shorter than configured.
 * volume_close() refuses new requests (-ENODEV), waits for those under way,
 * closes, and calls closed() on main's thread; then volume_free() is allowed.
 */
struct volume_events {
	void (*opened)(struct volume *v, int err, void *arg);
	void (*changed)(struct volume *v, enum volume_state s, void *arg);
	void (*closed)(struct volume *v, void *arg);
	void *arg;
};

struct volume *volume_new(const struct volume_config *config,
			  const struct volume_events *events,
			  struct engine *main);
void volume_open(struct volume *v);
void volume_close(struct volume *v);
void volume_free(struct volume *v);

/*
 * Makes the backing file of a new volume: O_EXCL, size, fallocate when thick,
 * fsync of file and folder.  Only `volume create` does this.  Blocks; call it
 * by volume_async().  0 or -errno: -EEXIST, -ENOSPC, -EOPNOTSUPP (thick where
 * the file system cannot keep the promise), -EINVAL.
 */
int volume_make_file(const struct volume_config *config);
/* The kind that path names: "file", "block", "null", or NULL with *ret_err
 * (-ENOENT: would be a new file).  Blocks. */
const char *volume_probe_kind(const char *path, int *ret_err);

/* Any thread. */
enum volume_state volume_state(const struct volume *v);
int volume_error(const struct volume *v);	/* why degraded or failed: -errno */
uint64_t volume_size(const struct volume *v);	/* bytes */
const char *volume_path(const struct volume *v);
const char *volume_kind(const struct volume *v);
/* Says little (blocks of 512 bytes, no methods) before the volume was online
 * for the first time. */
const struct volume_caps *volume_caps(const struct volume *v);
/* How a copy from src to dst would go now. */
enum volume_method volume_copy_method(const struct volume *src,
				      const struct volume *dst);
bool volume_write_back(const struct volume *v);

/*
 * Blocking work on a thread of the volume (at most four, started on demand):
 * run() there, then done() on the thread of the engine that asked.  v may be
 * NULL: a thread for work that belongs to no volume.
 */
struct vwork {
	int		(*run)(struct vwork *w);	/* 0 or -errno */
	void		(*done)(struct vwork *w);
	int		  error;			/* out: what run() returned */

	/* the backend's own */
	struct list	  link;
	struct bjob	  job;
	struct epost	  post;
	struct engine	 *engine;
	struct volume	 *vol;
	pthread_t	  thread;	/* when lone: without a volume */
	bool		  lone;
};

void volume_async(struct volume *v, struct vwork *w);

/* Blocks: only in vwork.run().  Sets the size (files: ftruncate or fallocate;
 * devices: reads it anew, size 0).  0 or -errno: -ENODEV when not online,
 * -EINVAL for a size that is no multiple of the block size. */
int volume_resize(struct volume *v, uint64_t size);
struct volume_space {
	uint64_t allocated;	/* bytes that the volume holds on the medium */
	uint64_t fs_total, fs_free;	/* of the file system; 0 for devices */
};
int volume_space(struct volume *v, struct volume_space *ret);	/* blocks */
/* Bytes of it that other files hold as well.  Blocks, and walks over all of the
 * volume's extents. */
uint64_t volume_shared(struct volume *v);

/* Changes durability; to write-back takes effect at once, to write-through
 * after a flush, then done() (main's thread) with 0 or -errno. */
void volume_set_write_back(struct volume *v, bool on,
			   void (*done)(void *arg, int err), void *arg);
/* A failed volume is trusted again: the operator said so. */
void volume_set_online(struct volume *v);

/*
 * Requests.
 *
 * READ		[off, off + len) into data
 * WRITE	data to [off, off + len)
 * FLUSH	all that was done before is stable
 * ZERO		reads as zeros and keeps its space
 * UNMAP	gives space back, whole granules; edges that are left out are
 *		zeroed when caps.unmap_zeroes
 * WRITE_SAME	data (pattern bytes) again and again over [off, off + len)
 * COPY		[src_off, src_off + len) of src to [off, off + len); holes stay
 *		holes; ranges may overlap
 * EXTENT	out: mapped, else anchored when space is held there, and run =
 *		bytes from off that are alike (at most len)
 * PREFETCH	brings [off, off + len) into the cache if that is cheap
 *
 * A volume in write-through mode answers each changing request when it is
 * stable; in write-back mode only those with BREQ_FUA.  written(), where set,
 * runs on the submitter's thread when the medium holds the new data, before
 * done() and before the wait for the flush: the place to release a range.  It
 * does not run when the act itself failed; done() runs always, and its error
 * may still say that the flush failed.
 */
enum breq_op {
	BREQ_READ,
	BREQ_WRITE,
	BREQ_FLUSH,
	BREQ_ZERO,
	BREQ_UNMAP,
	BREQ_WRITE_SAME,
	BREQ_COPY,
	BREQ_EXTENT,
	BREQ_PREFETCH,
	BREQ_OPS,
};

enum breq_flag {
	BREQ_FUA	= 1 << 0,	/* stable before done() */
	/* must not wait behind a shared flush or bulk work: COMPARE AND WRITE */
	BREQ_URGENT	= 1 << 1,
	/* a part of what will be answered as a whole: done() waits for no
	 * flush, the caller goes on with BREQ_REST */
	BREQ_PART	= 1 << 2,
	/* goes on after BREQ_PART in the same struct and volume: what makes
	 * this one stable covers the parts, or fails if they were lost */
	BREQ_REST	= 1 << 3,
};

/*
 * One request.  The caller owns the struct and the memory, and lends both from
 * volume_submit() until done(), which is called exactly once, on the thread
 * that submitted and never from inside volume_submit().  All of it is done or
 * error says why not: 0 or -errno, never a short count.  -EIO also for a
 * volume that has failed, -ENODEV for one that is degraded or closed, -EROFS,
 * -ENOSPC, -EDQUOT as the medium says.
 */
struct breq {
	enum breq_op	 op;
	unsigned	 flags;		/* enum breq_flag */
	uint64_t	 off, len;	/* bytes */
	void		*data;
	uint32_t	 pattern;	/* WRITE_SAME: bytes at data */
	struct volume	*src;		/* COPY */
	uint64_t	 src_off;
	bool		 mapped, anchored;	/* EXTENT, out */
	uint64_t	 run;
	int		 error;		/* out */
	void		(*written)(struct breq *b);	/* may be NULL */
	void		(*done)(struct breq *b);

	/* the backend's own */
	struct volume	*vol;
	struct engine	*engine;	/* of the submitter */
	struct epost	 post;
	struct edefer	 defer;
	struct list	 link;
	struct ereq	 io;
	struct iovec	 iov;
	struct vwork	 work;
	struct vslot	*slot;		/* the engine's part of vol */
	unsigned	 own;		/* enum breq_own */
	unsigned	 era;		/* of vol's flushes, at the start */
	uint64_t	 pos;		/* bytes done by a method that gave up */
	uint64_t	 since;		/* ns, start of bulk work */
	int		(*act)(struct breq *b);		/* on the bulk lane */
	void		(*again)(struct breq *b);	/* another way, another time */
	void		*priv;
};

void volume_submit(struct volume *v, struct breq *b);

/*
 * How many bytes of bulk work (ZERO, UNMAP, WRITE_SAME, COPY) the next piece
 * should have: adapts to about 10 ms each and is a multiple of 1 MiB; between
 * pieces urgent requests go first.  The caller cuts.
 */
uint64_t volume_bulk_piece(const struct volume *v, enum breq_op op);

#endif
