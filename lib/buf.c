/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The buddy allocator.  A block of order n is 2^n units of BUF_MIN bytes and
 * stands at a multiple of its size, so its buddy's number differs in one bit.
 * What is known of a block is kept beside the region, in the struct of its
 * first unit: buffers hold data alone.  Free lists are last in, first out, and
 * a split gives the lower half, so a buffer given back is the next one lent
 * while the caches still know it.
 */

#include "lib/buf.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/list.h"
#include "lib/util.h"

#define ORDERS 10	/* BUF_MIN << (ORDERS - 1) == BUF_MAX */

_Static_assert(BUF_MIN << (ORDERS - 1) == BUF_MAX, "orders span the sizes");

enum unit_state { UNIT_INSIDE, UNIT_FREE, UNIT_LENT };

struct unit {
	struct list in_free;
	uint8_t order;
	uint8_t state;		/* enum unit_state */
	uint8_t cls;		/* enum buf_class of a lent block */
};

struct bufpool {
	uint8_t *mem;
	size_t total, reserve;
	size_t used, bulk;	/* bulk: the part lent as BUF_BULK */
	struct unit *units;
	struct list free[ORDERS];
	unsigned nonempty;	/* bit n: free[n] has a block */
};

static void free_push(struct bufpool *p, size_t at, unsigned order)
{
	struct unit *u = &p->units[at];

	u->state = UNIT_FREE;
	u->order = (uint8_t)order;
	list_add_head(&p->free[order], &u->in_free);
	p->nonempty |= 1u << order;
}

static void free_remove(struct bufpool *p, size_t at)
{
	struct unit *u = &p->units[at];

	list_del(&u->in_free);
	u->state = UNIT_INSIDE;
	if (list_empty(&p->free[u->order]))
		p->nonempty &= ~(1u << u->order);
}

/* Anonymous memory at a multiple of BUF_MAX, so that huge pages fit. */
static uint8_t *map_aligned(size_t total)
{
	size_t head, len = total + BUF_MAX;
	uint8_t *raw, *mem;

	raw = mmap(NULL, len, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (raw == MAP_FAILED)
		return NULL;
	head = (BUF_MAX - (uintptr_t)raw % BUF_MAX) % BUF_MAX;
	mem = raw + head;
	if (head)
		munmap(raw, head);
	munmap(mem + total, len - head - total);
	return mem;
}

/* The first touch of a page costs more than an operation: all of it now. */
static int touch(uint8_t *mem, size_t total)
{
	size_t at, page = (size_t)sysconf(_SC_PAGESIZE);

	madvise(mem, total, MADV_HUGEPAGE);
	madvise(mem, total, MADV_DONTDUMP);	/* hosts' data */
#ifdef MADV_POPULATE_WRITE
	if (!madvise(mem, total, MADV_POPULATE_WRITE))
		return 0;
	if (errno != EINVAL)
		return -ENOMEM;
#endif
	for (at = 0; at < total; at += page)
		*(volatile uint8_t *)(mem + at) = 0;
	return 0;
}

struct bufpool *bufpool_new(size_t total, size_t reserve, int *ret_err)
{
	struct bufpool *p = calloc(1, sizeof(*p));
	size_t at, last;
	int i;

	if (!p)
		goto fail;
	assert(total && reserve <= total);
	p->total = round_up(total, BUF_MAX);
	p->reserve = reserve;
	p->units = calloc(p->total / BUF_MIN, sizeof(*p->units));
	if (!p->units)
		goto free_pool;
	p->mem = map_aligned(p->total);
	if (!p->mem)
		goto free_units;
	if (touch(p->mem, p->total))
		goto unmap;
	for (i = 0; i < ORDERS; i++)
		list_init(&p->free[i]);
	last = p->total / BUF_MIN;
	for (at = last; at; at -= BUF_MAX / BUF_MIN)
		free_push(p, at - BUF_MAX / BUF_MIN, ORDERS - 1);
	return p;

unmap:
	munmap(p->mem, p->total);
free_units:
	free(p->units);
free_pool:
	free(p);
fail:
	*ret_err = -ENOMEM;
	return NULL;
}

void bufpool_free(struct bufpool *p)
{
	if (!p)
		return;
	assert(!p->used);
	munmap(p->mem, p->total);
	free(p->units);
	free(p);
}

static unsigned order_of(size_t len)
{
	size_t n = (len - 1) / BUF_MIN;

	assert(len && len <= BUF_MAX);
	return n ? 64 - (unsigned)__builtin_clzll(n) : 0;
}

static bool class_allows(const struct bufpool *p, size_t size,
			 enum buf_class cls)
{
	size_t room = p->total - p->used;

	if (cls == BUF_RESERVED)
		return room >= size;
	if (cls == BUF_BULK && p->bulk + size > p->total / 2)
		return false;
	return room >= size && room - size >= p->reserve;
}

/* Takes a free block of the order, splitting a larger one; -1: none. */
static long take(struct bufpool *p, unsigned order)
{
	unsigned have = p->nonempty & (~0u << order);
	struct unit *u;
	size_t at;

	if (!have)
		return -1;
	have = (unsigned)__builtin_ctz(have);
	u = list_first(&p->free[have], struct unit, in_free);
	at = (size_t)(u - p->units);
	free_remove(p, at);
	while (have > order) {
		have--;
		free_push(p, at + ((size_t)1 << have), have);
	}
	return (long)at;
}

void *buf_get(struct bufpool *p, size_t len, enum buf_class cls)
{
	unsigned order = order_of(len);
	size_t size = (size_t)BUF_MIN << order;
	long at;

	if (!class_allows(p, size, cls))
		return NULL;
	at = take(p, order);
	if (at < 0)
		return NULL;
	p->units[at].state = UNIT_LENT;
	p->units[at].order = (uint8_t)order;
	p->units[at].cls = (uint8_t)cls;
	p->used += size;
	if (cls == BUF_BULK)
		p->bulk += size;
	return p->mem + (size_t)at * BUF_MIN;
}

void buf_put(struct bufpool *p, void *buf, size_t len)
{
	size_t buddy, at = (size_t)((uint8_t *)buf - p->mem) / BUF_MIN;
	unsigned order = order_of(len);
	size_t size = (size_t)BUF_MIN << order;

	assert((uint8_t *)buf >= p->mem && at < p->total / BUF_MIN);
	assert(p->units[at].state == UNIT_LENT);
	assert(p->units[at].order == order);
	p->used -= size;
	if (p->units[at].cls == BUF_BULK)
		p->bulk -= size;
	p->units[at].state = UNIT_INSIDE;
	for (; order < ORDERS - 1; order++) {
		buddy = at ^ (size_t)1 << order;
		if (p->units[buddy].state != UNIT_FREE ||
		    p->units[buddy].order != order)
			break;
		free_remove(p, buddy);
		at = MIN(at, buddy);
	}
	free_push(p, at, order);
}

size_t bufpool_total(const struct bufpool *p)
{
	return p->total;
}

size_t bufpool_used(const struct bufpool *p)
{
	return p->used;
}
