/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BACKEND_URING_INT_H
#define BACKEND_URING_INT_H

/* The ring of the io_uring engine. */

#include <liburing.h>
#include <stdbool.h>
#include <stdint.h>

struct egate;
struct engine;

/* 0 or -errno; -ENOSYS: the kernel lacks what the engine needs. */
int uring_open(struct io_uring *ring);

/* Does a write to g's file go on without waiting?  Asked once a turn. */
bool uring_gate_open(struct engine *e, struct io_uring *ring, struct egate *g,
		     uint64_t turn);
/* An inline write has ended that began at engine_now(). */
void uring_gate_took(struct engine *e, struct egate *g);

#endif
