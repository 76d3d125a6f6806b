/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Stand-ins for operations that a kind of volume declines: zeros and patterns
 * are written, from one buffer, several writes at a time.
 */

#include "backend/backend_int.h"

#include <assert.h>
#include <string.h>

#include "lib/buf.h"
#include "lib/util.h"

#define FILL_DEPTH	4
/* Bytes of one write: larger ones save nothing. */
#define FILL_MAX	((size_t)256 << 10)

struct fill {
	struct breq	*parent;
	void		*data;
	size_t		 size;		/* of data */
	size_t		 unit;		/* bytes of one write */
	uint64_t	 next;		/* bytes begun */
	unsigned	 busy;
	int		 error;
	struct breq	 piece[FILL_DEPTH];
};

_Static_assert(sizeof(struct fill) <= BUF_MIN, "a fill fits into one buffer");

static void fill_done(struct breq *piece);

static void fill_write(struct fill *f, struct breq *piece)
{
	struct breq *b = f->parent;

	piece->op = BREQ_WRITE;
	piece->off = b->off + f->next;
	piece->len = MIN(f->unit, b->len - f->next);
	piece->data = f->data;
	piece->priv = f;
	f->next += piece->len;
	f->busy++;
	breq_child(piece, b, b->vol, fill_done);
	volume_start(b->vol, piece);
}

static void fill_done(struct breq *piece)
{
	struct fill *f = piece->priv;
	struct breq *b = f->parent;
	int err;

	f->busy--;
	if (piece->error && !f->error)
		f->error = piece->error;
	if (!f->error && f->next < b->len)
		fill_write(f, piece);
	if (f->busy)
		return;
	err = f->error;
	bulk_put(b, f->data, f->size);
	bulk_put(b, f, sizeof(*f));
	if (!err)
		bulk_measure(b->vol, b->op, b->len, clock_ns() - b->since);
	breq_end(b, err);
}

static void fill_data(struct fill *f)
{
	struct breq *b = f->parent;
	uint8_t *at = f->data;
	size_t have;

	if (b->op != BREQ_WRITE_SAME) {
		f->unit = f->size;
		memset(at, 0, f->size);
		return;
	}
	assert(b->len % b->pattern == 0 && b->pattern <= f->size);
	f->unit = f->size - f->size % b->pattern;
	memcpy(at, b->data, b->pattern);
	for (have = b->pattern; have < f->unit; have *= 2)
		memcpy(at + have, at, MIN(have, f->unit - have));
}

static void fill_start(struct breq *b)
{
	struct fill *f = bulk_get(b, sizeof(*f));
	unsigned i;

	if (!f) {
		bulk_starve(b, fill_start);
		return;
	}
	f->parent = b;
	f->size = (size_t)MIN(FILL_MAX, MAX(b->len, BUF_MIN));
	f->data = bulk_get(b, f->size);
	if (!f->data) {
		bulk_put(b, f, sizeof(*f));
		bulk_starve(b, fill_start);
		return;
	}
	f->next = 0;
	f->busy = 0;
	f->error = 0;
	b->since = clock_ns();
	fill_data(f);
	for (i = 0; i < FILL_DEPTH && f->next < b->len; i++)
		fill_write(f, &f->piece[i]);
}

void generic_zero(struct volume *v, struct breq *b)
{
	(void)v;
	fill_start(b);
}

void generic_write_same(struct volume *v, struct breq *b)
{
	(void)v;
	fill_start(b);
}

void generic_extent(struct volume *v, struct breq *b)
{
	(void)v;
	b->mapped = true;
	b->run = b->len;
	breq_complete(b, 0);
}
