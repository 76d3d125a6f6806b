/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIB_CUR_H
#define LIB_CUR_H

/*
 * Two cursors over bytes that cannot overrun.
 *
 * struct cur reads: cur_take() gives the next n bytes or NULL.
 * struct out writes: it counts everything that is put and stores what fits, so
 * that a writer needs no checks of its own and a truncated answer still knows
 * how long the whole one is.
 */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/be.h"
#include "lib/util.h"

struct cur {
	const uint8_t *p, *end;
};

static inline struct cur cur_of(const void *p, size_t n)
{
	const uint8_t *at = p ? p : (const uint8_t *)"";	/* NULL: nothing */

	return (struct cur){ at, at + n };
}

static inline size_t cur_left(const struct cur *c)
{
	return (size_t)(c->end - c->p);
}

static inline const void *cur_take(struct cur *c, size_t n)
{
	const void *at = c->p;

	if (n > cur_left(c))
		return NULL;
	c->p += n;
	return at;
}

struct out {
	uint8_t *p;	/* start of the memory */
	size_t	 cap;	/* its size */
	size_t	 len;	/* bytes put so far; may exceed cap */
};

static inline struct out out_of(void *p, size_t cap)
{
	return (struct out){ p, cap, 0 };
}

static inline void out_bytes(struct out *o, const void *src, size_t n)
{
	if (o->len < o->cap)
		memcpy(o->p + o->len, src, MIN(n, o->cap - o->len));
	o->len += n;
}

static inline void out_fill(struct out *o, int byte, size_t n)
{
	if (o->len < o->cap)
		memset(o->p + o->len, byte, MIN(n, o->cap - o->len));
	o->len += n;
}

static inline void out_u8(struct out *o, unsigned x)
{
	uint8_t b = (uint8_t)x;

	out_bytes(o, &b, 1);
}

static inline void out_be16(struct out *o, uint16_t x)
{
	be16 v = be16_of(x);

	out_bytes(o, &v, sizeof(v));
}

static inline void out_be24(struct out *o, uint32_t x)
{
	be24 v = be24_of(x);

	out_bytes(o, &v, sizeof(v));
}

static inline void out_be32(struct out *o, uint32_t x)
{
	be32 v = be32_of(x);

	out_bytes(o, &v, sizeof(v));
}

static inline void out_be64(struct out *o, uint64_t x)
{
	be64 v = be64_of(x);

	out_bytes(o, &v, sizeof(v));
}

/* Overwrites n bytes put earlier at offset at (length fields). */
static inline void out_patch(struct out *o, size_t at, const void *src,
			     size_t n)
{
	if (at < o->cap)
		memcpy(o->p + at, src, MIN(n, o->cap - at));
}

static inline void out_patch_be16(struct out *o, size_t at, uint16_t x)
{
	be16 v = be16_of(x);

	out_patch(o, at, &v, sizeof(v));
}

static inline void out_patch_be32(struct out *o, size_t at, uint32_t x)
{
	be32 v = be32_of(x);

	out_patch(o, at, &v, sizeof(v));
}

#endif
