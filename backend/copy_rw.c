/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Copies by reading and writing, between volumes of any kind: a few pieces at a
 * time, holes kept.  Ranges that overlap go piece by piece in the direction in
 * which nothing is overwritten before it was read.
 */

#include "backend/backend_int.h"

#include "lib/buf.h"
#include "lib/util.h"

#define COPY_DEPTH	4
/* Bytes of one read or write: larger ones save nothing. */
#define COPY_MAX	((size_t)256 << 10)

struct copy_piece {
	struct breq	 io;
	struct copy	*copy;
	void		*buf;		/* COPY_MAX bytes */
	bool		 busy;
	uint64_t	 at, len;
};

struct copy {
	struct breq	*parent;
	uint64_t	 next;		/* bytes begun, from where it starts */
	uint64_t	 known;		/* end of the data around next */
	bool		 backward;	/* and no look at holes: see below */
	bool		 serial;
	unsigned	 depth, busy;
	int		 error;
	bool		 asking;	/* extent is in use */
	struct breq	 extent;	/* asks for holes, makes holes */
	struct copy_piece piece[COPY_DEPTH];
};

_Static_assert(sizeof(struct copy) <= 2 * BUF_MIN, "a copy fits its buffer");

static void copy_go(struct copy *c);

static void copy_end(struct copy *c)
{
	struct breq *b = c->parent;
	int err = c->error;

	while (c->depth)
		bulk_put(b, c->piece[--c->depth].buf, COPY_MAX);
	bulk_put(b, c, sizeof(*c));
	if (!err)
		bulk_measure(b->vol, b->op, b->len, clock_ns() - b->since);
	breq_end(b, err);
}

static void copy_one_less(struct copy *c, int err)
{
	c->busy--;
	if (err && !c->error)
		c->error = err;
	copy_go(c);
}

static void piece_written(struct breq *io)
{
	struct copy_piece *p = container_of(io, struct copy_piece, io);

	p->busy = false;
	copy_one_less(p->copy, io->error);
}

static void piece_read(struct breq *io)
{
	struct copy_piece *p = container_of(io, struct copy_piece, io);
	struct breq *b = p->copy->parent;

	if (io->error) {
		piece_written(io);
		return;
	}
	io->op = BREQ_WRITE;
	io->off = b->off + p->at;
	breq_child(io, b, b->vol, piece_written);
	volume_start(b->vol, io);
}

static void piece_start(struct copy *c, struct copy_piece *p)
{
	struct breq *b = c->parent;
	uint64_t end = c->backward ? b->len : c->known;

	p->busy = true;
	p->len = MIN(COPY_MAX, end - c->next);
	p->at = c->backward ? b->len - c->next - p->len : c->next;
	c->next += p->len;
	c->busy++;
	p->io.op = BREQ_READ;
	p->io.off = b->src_off + p->at;
	p->io.len = p->len;
	p->io.data = p->buf;
	breq_child(&p->io, b, b->src, piece_read);
	volume_start(b->src, &p->io);
}

static void hole_made(struct breq *extent)
{
	struct copy *c = container_of(extent, struct copy, extent);

	c->asking = false;
	copy_one_less(c, extent->error);
}

static void hole_start(struct copy *c, uint64_t len)
{
	struct breq *b = c->parent, *x = &c->extent;
	const struct volume_caps *caps = &b->vol->caps;
	bool unmap = caps->unmap != METHOD_NONE && caps->unmap_zeroes;

	x->op = unmap ? BREQ_UNMAP : BREQ_ZERO;
	x->off = b->off + c->next;
	x->len = len;
	c->next += len;
	c->known = c->next;
	breq_child(x, b, b->vol, hole_made);
	volume_start(b->vol, x);
}

static void asked(struct breq *extent)
{
	struct copy *c = container_of(extent, struct copy, extent);

	if (!extent->error && !extent->mapped) {
		hole_start(c, extent->run);
		return;
	}
	if (!extent->error)
		c->known = c->next + extent->run;
	hole_made(extent);
}

static void ask(struct copy *c)
{
	struct breq *b = c->parent, *x = &c->extent;

	c->asking = true;
	c->busy++;
	x->op = BREQ_EXTENT;
	x->off = b->src_off + c->next;
	x->len = b->len - c->next;
	breq_child(x, b, b->src, asked);
	volume_start(b->src, x);
}

static struct copy_piece *idle_piece(struct copy *c)
{
	unsigned i;

	if (c->serial && c->busy)
		return NULL;
	for (i = 0; i < c->depth; i++)
		if (!c->piece[i].busy)
			return &c->piece[i];
	return NULL;
}

static void copy_go(struct copy *c)
{
	struct copy_piece *p;

	while (!c->error && c->next < c->known && (p = idle_piece(c)))
		piece_start(c, p);
	if (!c->error && c->next == c->known && c->known < c->parent->len &&
	    !c->asking && !(c->serial && c->busy))
		ask(c);
	if (!c->busy)
		copy_end(c);
}

/* To a higher place that overlaps: from the end on.  Extents are found from the
 * front, so holes are not looked for there. */
static void copy_order(struct copy *c)
{
	const struct breq *b = c->parent;

	c->serial = b->src == b->vol &&
		    ranges_overlap(b->off, b->len, b->src_off, b->len);
	c->backward = c->serial && b->off > b->src_off;
	c->next = b->pos;
	c->known = c->backward ? b->len : b->pos;
}

static void copy_start(struct breq *b)
{
	struct copy *c = bulk_get(b, sizeof(*c));
	unsigned want = (unsigned)MIN(COPY_DEPTH,
				      (b->len + COPY_MAX - 1) / COPY_MAX);

	if (!c) {
		bulk_starve(b, copy_start);
		return;
	}
	*c = (struct copy){ .parent = b };
	for (; c->depth < want; c->depth++) {
		c->piece[c->depth].copy = c;
		c->piece[c->depth].buf = bulk_get(b, COPY_MAX);
		if (!c->piece[c->depth].buf)
			break;
	}
	if (!c->depth) {
		bulk_put(b, c, sizeof(*c));
		bulk_starve(b, copy_start);
		return;
	}
	copy_order(c);
	b->since = clock_ns();
	copy_go(c);
}

void generic_copy(struct volume *v, struct breq *b)
{
	(void)v;
	copy_start(b);
}
