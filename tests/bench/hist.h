/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_BENCH_HIST_H
#define TESTS_BENCH_HIST_H

/*
 * A log-linear histogram of nanoseconds: 64 equal buckets for each power of
 * two, so that a percentile read from it is at most 1.6 % off, whatever its
 * size.
 */

#include <stdint.h>

#define HIST_SUB_BITS	6
#define HIST_SUB	(1u << HIST_SUB_BITS)
#define HIST_BUCKETS	((64 - HIST_SUB_BITS + 1) * HIST_SUB)

struct hist {
	uint64_t	count, max;
	uint64_t	bucket[HIST_BUCKETS];
};

static inline unsigned hist_index(uint64_t ns)
{
	unsigned shift;

	if (ns < HIST_SUB)
		return (unsigned)ns;
	shift = 63 - (unsigned)__builtin_clzll(ns) - HIST_SUB_BITS;
	return (shift + 1) * HIST_SUB + (unsigned)(ns >> shift) - HIST_SUB;
}

/* The middle of a bucket. */
static inline uint64_t hist_value(unsigned i)
{
	unsigned shift;

	if (i < 2 * HIST_SUB)
		return i;
	shift = i / HIST_SUB - 1;
	return ((uint64_t)(i % HIST_SUB + HIST_SUB) << shift) +
		((uint64_t)1 << shift) / 2;
}

static inline void hist_add(struct hist *h, uint64_t ns)
{
	h->bucket[hist_index(ns)]++;
	h->count++;
	if (ns > h->max)
		h->max = ns;
}

/* The value that a fraction q of all stays at or below, in microseconds. */
static inline double hist_us(const struct hist *h, double q)
{
	uint64_t want = (uint64_t)(q * (double)h->count + 0.999999), n = 0;
	unsigned i;

	if (!h->count)
		return 0;
	for (i = 0; i < HIST_BUCKETS; i++) {
		n += h->bucket[i];
		if (n >= want)
			break;
	}
	if (i == HIST_BUCKETS || hist_value(i) > h->max)
		return (double)h->max / 1000;
	return (double)hist_value(i) / 1000;
}

#endif
