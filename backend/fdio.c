/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Reads, writes and flushes by descriptor through the engine: what regular
 * files and block devices have in common.
 */

#include "backend/backend_int.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/buf.h"
#include "lib/util.h"

/* Reading ahead is a hint; more than this pushes out what is in use. */
#define PREFETCH_MAX	(32 * MiB)

/* What the page cache reads first when a write covers just a part of it. */
#define PAGE		4096u

struct fdvol *fdvol_new(void)
{
	struct fdvol *f = calloc(1, sizeof(*f));
	void *edge;

	if (!f)
		return NULL;
	if (posix_memalign(&edge, 4096, EDGE_SIZE)) {
		free(f);
		return NULL;
	}
	f->fd = f->sync_fd = f->gate_fd = -1;
	f->edge = edge;
	f->mem_align = 1;
	return f;
}

void fdvol_free(struct fdvol *f)
{
	if (!f)
		return;
	if (f->gate_fd >= 0)
		close(f->gate_fd);
	if (f->sync_fd >= 0)
		close(f->sync_fd);
	if (f->fd >= 0)
		close(f->fd);
	free(f->edge);
	free(f);
}

static int same_file(int a, int b)
{
	struct stat sa, sb;

	if (fstat(a, &sa) < 0 || fstat(b, &sb) < 0)
		return -errno;
	if (sa.st_dev != sb.st_dev || sa.st_ino != sb.st_ino ||
	    sa.st_rdev != sb.st_rdev)
		return -ESTALE;		/* replaced meanwhile */
	return 0;
}

int fdvol_open(struct volume *v, struct fdvol *f, int flags)
{
	flags |= O_CLOEXEC | O_NOCTTY | (v->config.direct ? O_DIRECT : 0);
	if (!v->config.read_only)
		f->fd = open(v->path, flags | O_RDWR);
	/* a device that is read-only itself says EACCES: the kind looks */
	if (f->fd < 0 && (v->config.read_only || errno == EROFS ||
			  (errno == EACCES && (flags & O_EXCL)))) {
		f->fd = open(v->path, flags | O_RDONLY);
		v->caps.read_only = true;
	}
	if (f->fd < 0)
		return -errno;
	if (v->caps.read_only)
		return 0;
	/* O_EXCL is this process's already */
	f->sync_fd = open(v->path, (flags & ~O_EXCL) | O_RDWR);
	if (f->sync_fd < 0)
		return -errno;
	return same_file(f->fd, f->sync_fd);
}

static void ring_submit(struct breq *b)
{
	b->own |= OWN_RING;
	b->slot->ring++;
	engine_submit(b->engine, &b->io);
}

/*
 * A request that cannot be tried without waiting, or that waits by its nature,
 * takes a thread of the ring's; a volume that hangs must not take them all.
 * Urgent ones are few and wait for nobody.
 */
static void io_submit_capped(struct breq *b)
{
	bool may_wait = !(b->io.flags & EREQ_NOWAIT) ||
			(b->io.flags & EREQ_DSYNC);

	if (!may_wait || (b->own & OWN_URGENT))
		engine_submit(b->engine, &b->io);
	else if (b->slot->ring < IOWQ_PER_VOLUME)
		ring_submit(b);
	else
		list_add_tail(&b->slot->queue, &b->link);
}

static void ring_next(struct breq *b)
{
	struct vslot *s = b->slot;
	struct breq *next;

	b->own &= ~(unsigned)OWN_RING;
	s->ring--;
	if (list_empty(&s->queue))
		return;
	next = list_first(&s->queue, struct breq, link);
	list_del(&next->link);
	ring_submit(next);
}

static void io_done(struct ereq *r)
{
	struct breq *b = container_of(r, struct breq, io);

	if (b->own & OWN_RING)
		ring_next(b);
	breq_end(b, r->result);
}

/* Direct I/O into memory that it does not take goes by way of a buffer. */
static void bounced(struct ereq *r)
{
	struct breq *b = container_of(r, struct breq, io);

	if (b->op == BREQ_READ && !r->result)
		memcpy(b->data, b->priv, b->len);
	bulk_put(b, b->priv, b->len);
	io_done(r);
}

static void io_start(struct breq *b);

static bool bounce(struct breq *b)
{
	b->priv = bulk_get(b, b->len);
	if (!b->priv) {
		bulk_starve(b, io_start);
		return false;
	}
	if (b->op == BREQ_WRITE)
		memcpy(b->priv, b->data, b->len);
	b->iov.iov_base = b->priv;
	b->io.done = bounced;
	return true;
}

static void io_start(struct breq *b)
{
	const struct fdvol *f = b->vol->priv;

	b->iov = (struct iovec){ b->data, b->len };
	b->io.off = b->off;
	b->io.len = b->len;
	b->io.iov = &b->iov;
	b->io.niov = 1;
	b->io.done = io_done;
	if (b->own & OWN_URGENT)
		b->io.flags |= EREQ_URGENT;
	if (((uintptr_t)b->data & (f->mem_align - 1)) && !bounce(b))
		return;
	io_submit_capped(b);
}

void fdio_read(struct volume *v, struct breq *b)
{
	const struct fdvol *f = v->priv;

	b->io.op = EREQ_READ;
	b->io.fd = f->fd;
	b->io.flags = f->read_flags;
	io_start(b);
}

static void gate_used(struct egate *g, bool used)
{
	struct vslot *s = container_of(g, struct vslot, gate);

	if (used)
		atomic_fetch_add(&s->in_flight, 1);
	else
		atomic_fetch_sub(&s->in_flight, 1);
}

/* Inline, if nothing holds the file for long now and the page cache need not
 * read first: what is urgent has just been read. */
static bool may_inline(const struct volume *v, const struct breq *b)
{
	const struct fdvol *f = v->priv;

	return f->inline_writes && !atomic_load(&v->flush.running) &&
	       !atomic_load(&v->lane.busy) &&
	       (b->own & OWN_URGENT || !((b->off | b->len) & (PAGE - 1)));
}

void fdio_write(struct volume *v, struct breq *b)
{
	const struct fdvol *f = v->priv;

	b->io.op = EREQ_WRITE;
	b->io.fd = f->fd;
	b->io.flags = f->write_flags;
	if (breq_wants_sync(b)) {
		b->io.fd = f->sync_fd;
		b->io.flags |= EREQ_DSYNC;
	} else if (may_inline(v, b)) {
		b->io.flags |= EREQ_INLINE;
		b->io.gate = NULL;
		if (f->gate_fd >= 0) {
			b->io.gate = &b->slot->gate;
			b->io.gate->fd = f->gate_fd;
			b->io.gate->used = gate_used;
		}
	}
	io_start(b);
}

void fdio_flush(struct volume *v, struct breq *b)
{
	const struct fdvol *f = v->priv;

	b->io.op = EREQ_FSYNC;
	b->io.fd = f->fd;
	b->io.flags = 0;
	b->io.done = io_done;
	engine_submit(b->engine, &b->io);
}

static int prefetch_run(struct vwork *w)
{
	struct breq *b = container_of(w, struct breq, work);
	const struct fdvol *f = b->vol->priv;

	posix_fadvise(f->fd, (off_t)b->off, (off_t)MIN(b->len, PREFETCH_MAX),
		      POSIX_FADV_WILLNEED);
	return 0;
}

static void prefetch_done(struct vwork *w)
{
	breq_end(container_of(w, struct breq, work), w->error);
}

void fdio_prefetch(struct volume *v, struct breq *b)
{
	if (v->config.direct) {
		breq_complete(b, 0);	/* there is no cache */
		return;
	}
	b->work.run = prefetch_run;
	b->work.done = prefetch_done;
	volume_async(v, &b->work);
}
