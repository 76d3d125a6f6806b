/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIB_UTIL_H
#define LIB_UTIL_H

/* Small things that C lacks. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define container_of(ptr, type, member) \
	((type *)(void *)((char *)(ptr) - offsetof(type, member)))

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

#define KiB ((uint64_t)1 << 10)
#define MiB ((uint64_t)1 << 20)
#define GiB ((uint64_t)1 << 30)

static inline bool is_pow2(uint64_t x)
{
	return x && !(x & (x - 1));
}

/* a must be a power of two */
static inline uint64_t round_down(uint64_t x, uint64_t a)
{
	return x & ~(a - 1);
}

static inline uint64_t round_up(uint64_t x, uint64_t a)
{
	return (x + a - 1) & ~(a - 1);
}

/* Is [off, off + len) inside [0, size)?  Cannot overflow. */
static inline bool range_fits(uint64_t off, uint64_t len, uint64_t size)
{
	return off <= size && len <= size - off;
}

static inline bool ranges_overlap(uint64_t a, uint64_t alen, uint64_t b,
				  uint64_t blen)
{
	return a < b ? b - a < alen : a - b < blen;
}

#endif
