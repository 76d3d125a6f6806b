/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIB_BUF_H
#define LIB_BUF_H

/*
 * A pool of data buffers with a fixed total: a buddy allocator over one region
 * that is allocated and touched once.  A buffer is contiguous, a power of two
 * in size from BUF_MIN to BUF_MAX and aligned to its size up to 4 KiB.
 *
 * One pool belongs to one thread (an engine's); no function may be called from
 * another.  BUF_RESERVED requests (headers, answers, COMPARE AND WRITE) may
 * use the last `reserve` bytes, BUF_NORMAL ones may not, BUF_BULK ones leave
 * half of the pool to the others.
 */

#include <stddef.h>

#define BUF_MIN 4096u
#define BUF_MAX (2u << 20)

enum buf_class { BUF_RESERVED, BUF_NORMAL, BUF_BULK };

struct bufpool;

/* total is rounded up to BUF_MAX.  NULL with *ret_err = -ENOMEM. */
struct bufpool *bufpool_new(size_t total, size_t reserve, int *ret_err);
void bufpool_free(struct bufpool *p);	/* NULL allowed; nothing may be lent */

/* A buffer of at least len bytes (1..BUF_MAX), or NULL: none now. */
void *buf_get(struct bufpool *p, size_t len, enum buf_class cls);
/* Gives back what buf_get(p, len, ...) gave, with the same len. */
void buf_put(struct bufpool *p, void *buf, size_t len);

size_t bufpool_total(const struct bufpool *p);
size_t bufpool_used(const struct bufpool *p);

#endif
