/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_BENCH_FLOOR_INT_H
#define TESTS_BENCH_FLOOR_INT_H

/* What both kinds of floor share. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/bench/floor.h"

#define FLOOR_CONNS	64
/* From here on a body is received to its place, not through the buffer. */
#define FLOOR_LARGE	(64u << 10)

struct floor {
	int	 listener, file;	/* file -1: no disk work at all */
	unsigned depth;			/* requests of a connection at once */
	uint32_t bs;			/* the longest */
};

/* A prefaulted, aligned buffer; ends the program when there is none. */
void *floor_buffer(size_t len);
int floor_accepted(int fd);		/* its socket options; fd */
void floor_epoll(const struct floor *f);
void floor_uring(const struct floor *f);

#endif
