/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BACKEND_BACKEND_INT_H
#define BACKEND_BACKEND_INT_H

/*
 * Inside the backend: what a kind of volume is, and the parts of a volume.
 */

#include <pthread.h>
#include <sys/types.h>

#include "backend/backend.h"
#include "lib/limits.h"

/*
 * A kind of volume: a table of functions that speaks of no descriptor.  The
 * request functions run on the submitter's thread, may not block, and end, now
 * or later and on any thread, in exactly one breq_complete().  One that is NULL
 * is declined and generic code stands in: zero and write_same are written,
 * unmap is not offered, copy reads and writes, everything is one mapped extent,
 * flush and prefetch do nothing.  open(), close(), resize() and space() run on
 * a blocking thread of the volume.
 */
struct volume_ops {
	const char *kind;
	/* fills v->caps and v->size, and v->priv if need be; may be called
	 * again after it failed */
	int (*open)(struct volume *v);
	void (*close)(struct volume *v);
	int (*resize)(struct volume *v, uint64_t size);	/* sets v->size */
	int (*space)(struct volume *v, struct volume_space *ret);
	uint64_t (*shared)(struct volume *v);
	void (*read)(struct volume *v, struct breq *b);
	/* breq_wants_sync(b): stable when complete */
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

/* struct breq.own */
enum breq_own {
	OWN_CHILD	= 1 << 0,	/* part of another request: no flush */
	OWN_SYNC	= 1 << 1,	/* WRITE: the kind makes it stable */
	OWN_URGENT	= 1 << 2,	/* counted in v->urgent */
	OWN_RING	= 1 << 3,	/* counted in slot->ring */
	OWN_DECLINED	= 1 << 4,	/* the lane's method does not serve */
};

/* The part of a volume that belongs to one engine's thread; only in_flight is
 * read by another (main, that waits for the volume to become idle). */
struct vslot {
	_Alignas(64) _Atomic(struct engine *) engine;	/* NULL: not in use */
	atomic_uint	 in_flight;
	unsigned	 ring;		/* requests that may block on the ring */
	struct list	 queue;		/* breqs that wait for room on the ring */
	struct list	 starved;	/* breqs that wait for a buffer */
	struct list	 bulk;		/* breqs of this turn for the lane */
	struct edefer	 bulk_go;	/* at the end of the turn */
	struct etimer	 timer;		/* tries the starved again */
	struct egate	 gate;
};

/* Every worker's engine, main's, and room for tests. */
#define VOLUME_SLOTS	(MAX_WORKERS + 4)

/*
 * Shared flushes (flush.c).  A request whose act has ended waits; the next
 * flush that starts covers all that wait then.
 */
struct flush {
	pthread_mutex_t	 lock;		/* lists and flags, for list work only */
	struct list	 waiting, covered;
	bool		 armed;		/* start is on some engine's turn end */
	atomic_bool	 running;
	atomic_uint	 era;		/* counts failures */
	unsigned	 req_era;	/* at the start of req */
	int		 error;		/* of the last failure */
	struct edefer	 start;
	struct breq	 req;
};

/*
 * The bulk lane (bulk.c): calls that lock a whole file, one at a time, on a
 * blocking thread of the volume.
 */
struct lane {
	pthread_mutex_t	 lock;
	struct list	 queue;
	bool		 active;	/* job is with the threads */
	atomic_uint	 busy;		/* such calls that run now */
	struct bjob	 job;
	_Atomic uint64_t piece[BREQ_OPS];
};

/* Methods that failed from a source: copy.c. */
#define COPY_MEMOS	8
struct copy_memo {
	_Atomic(const struct volume *) src;
	atomic_uint	 refused;	/* 1 << enum volume_method */
};

struct volume {
	/* constant after volume_new() */
	struct engine	*main;
	struct volume_events events;
	char		*name, *path;
	struct volume_config config;	/* strings: the two above */
	struct blocking	*threads;
	bool		 by_path;	/* the path names the kind */

	/* constant while online */
	_Atomic(const struct volume_ops *) ops;
	void		*priv;		/* the kind's own */
	struct volume_caps caps;
	atomic_bool	 has_caps;	/* it was online once */
	bool		 stable_writes;	/* nothing to flush */

	_Atomic uint64_t size;
	atomic_int	 state;		/* enum volume_state */
	atomic_int	 error;
	atomic_bool	 write_back;
	/* something was answered GOOD that was not stable */
	atomic_bool	 may_lose;
	atomic_uint	 urgent;	/* BREQ_URGENT requests in flight */
	atomic_uint	 works;		/* vworks in flight */

	/* main's thread */
	struct vwork	 life;		/* opens and closes */
	bool		 opening, is_open, told, closing;
	int		 told_state;
	unsigned	 changes;	/* of durability, counted */
	struct etimer	 timer;		/* retries; waits for idleness */
	struct epost	 changed;
	atomic_bool	 changed_posted;

	struct flush	 flush;
	struct lane	 lane;
	struct copy_memo memos[COPY_MEMOS];
	struct vslot	 slots[VOLUME_SLOTS];
};

/* Tests and later cluster kinds: a volume over ops of the caller's. */
struct volume *volume_new_ops(const struct volume_config *config,
			      const struct volume_events *events,
			      struct engine *main, const struct volume_ops *ops,
			      void *priv);

/* submit.c */

/* The end of a request's act on the medium; any thread.  Posts to the
 * submitter when that is another thread, defers otherwise. */
void breq_complete(struct breq *b, int err);
/* The same for who is on the submitter's thread and not inside of a submit. */
void breq_end(struct breq *b, int err);
/* The last step, done(), on the submitter's thread, soon; any thread. */
void breq_finish_later(struct breq *b, int err);
/* Gives a request to the kind or to generic code, past the gate. */
void volume_start(struct volume *v, struct breq *b);
/* A part of parent, on the same thread: fills in all but what the operation
 * needs.  It passes no gate and is not flushed. */
void breq_child(struct breq *child, const struct breq *parent,
		struct volume *v, void (*done)(struct breq *b));
struct vslot *volume_slot(struct volume *v, struct engine *e);
unsigned volume_in_flight(const struct volume *v);

static inline bool breq_wants_sync(const struct breq *b)
{
	return b->own & OWN_SYNC;
}

static inline bool breq_changes(const struct breq *b)
{
	return b->op == BREQ_WRITE || b->op == BREQ_ZERO ||
	       b->op == BREQ_UNMAP || b->op == BREQ_WRITE_SAME ||
	       b->op == BREQ_COPY;
}

/* volume.c */

/* The volume has failed; any thread.  changed() follows. */
void volume_set_failed(struct volume *v, int err);

/* flush.c */

int flush_init(struct flush *f);
void flush_fini(struct flush *f);
/* Finishes b after a flush that starts later than now. */
void flush_join(struct volume *v, struct breq *b);
/* A flush or a stable write failed: whatever waits is not stable. */
void flush_failed(struct volume *v, int err);

/* bulk.c */

int lane_init(struct lane *l);
void lane_fini(struct lane *l);
void lane_slot_init(struct vslot *s);
/*
 * Runs act(b) on the lane and completes b with what it returns.  act() that
 * finds that its method does not serve returns lane_decline(b), having done
 * b->pos bytes; declined() then goes on, on the submitter's thread.
 */
void lane_submit(struct breq *b, int (*act)(struct breq *b),
		 void (*declined)(struct breq *b));
int lane_decline(struct breq *b);
/* Does errno say that a call is not to be had here? */
bool err_declines(int err);
/* Is it a matter of space and not of the medium? */
bool err_space(int err);
void bulk_measure(struct volume *v, enum breq_op op, uint64_t len, uint64_t ns);
uint64_t clock_ns(void);
/* Buffers of bulk work: NULL means that there is none now; bulk_starve() runs
 * again(b) when trying is worth while. */
void *bulk_get(struct breq *b, size_t len);
void bulk_put(struct breq *b, void *buf, size_t len);
void bulk_starve(struct breq *b, void (*again)(struct breq *b));
void bulk_retry(struct etimer *t);

/* generic.c */

void generic_zero(struct volume *v, struct breq *b);
void generic_write_same(struct volume *v, struct breq *b);
void generic_extent(struct volume *v, struct breq *b);
/* copy_rw.c */
void generic_copy(struct volume *v, struct breq *b);

/* copy.c: between files */

void file_copy(struct volume *v, struct breq *b);
enum volume_method file_copy_method(const struct volume *src,
				    const struct volume *dst);

/* fdio.c: what files and block devices share; v->priv is a struct fdvol */

struct fdvol {
	int		 fd;		/* reads, writes, flushes */
	/* Stable writes have an open file of their own: the kernel reports a
	 * lost page once per open file, so neither they nor the shared flush
	 * can take an error away from the other. */
	int		 sync_fd;
	unsigned	 read_flags, write_flags;	/* enum ereq_flag */
	bool		 inline_writes;	/* writes know no RWF_NOWAIT */
	int		 gate_fd;	/* struct egate's, or -1: none needed */
	uint32_t	 mem_align;	/* of buffers, 1: any */
	uint32_t	 granule;	/* block of the file system */
	dev_t		 dev;		/* of the file system */
	bool		 reflink;	/* the file system shares extents */
	void		*edge;		/* lane's buffer, EDGE_SIZE bytes */
};

#define EDGE_SIZE	((size_t)64 << 10)

struct fdvol *fdvol_new(void);
void fdvol_free(struct fdvol *f);	/* closes; NULL allowed */
/* Opens path for v as O_RDWR, or read-only where that is all there is. */
int fdvol_open(struct volume *v, struct fdvol *f, int flags);
void fdio_read(struct volume *v, struct breq *b);
void fdio_write(struct volume *v, struct breq *b);
void fdio_flush(struct volume *v, struct breq *b);
void fdio_prefetch(struct volume *v, struct breq *b);

/* fdsync.c: calls on descriptors that block, for the volume's threads */

int full_pread(int fd, void *buf, size_t len, uint64_t off);
int full_pwrite(int fd, const void *buf, size_t len, uint64_t off);
int full_fallocate(int fd, int mode, uint64_t off, uint64_t len);
int write_zeros(int fd, uint64_t off, uint64_t len);
/* How many bytes from off are alike, at most len, and whether they are data. */
int seek_extent(int fd, uint64_t off, uint64_t len, bool *ret_mapped,
		uint64_t *ret_run);
/* The same of [off, off + len) without data: is space held there? */
int held_extent(int fd, uint64_t off, uint64_t len, bool *ret_held,
		uint64_t *ret_run);

/* shared.c: bytes of a file that it shares with others, or 0. */
uint64_t shared_bytes(int fd);

/* probe.c: what descriptors and file systems can do */

struct fs_caps {
	bool punch_hole, zero_range, allocate, reflink;
	bool nowait_read;
	bool inline_write;	/* through a gate */
	uint32_t granule;
};

/* fd is path's.  Tries things out on unnamed files in the same folder. */
int probe_fs(const char *path, int fd, struct fs_caps *ret);
/* What direct I/O demands of offsets and of memory. */
int probe_direct(int fd, uint32_t *ret_block, uint32_t *ret_mem);
bool probe_nowait_read(int fd);

#endif
