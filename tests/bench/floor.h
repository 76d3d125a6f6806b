/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_BENCH_FLOOR_H
#define TESTS_BENCH_FLOOR_H

/*
 * What the floor speaks: a header of the same 48 bytes as an iSCSI PDU's, in
 * the machine's own byte order, and nothing negotiated.  A write's data follows
 * its request, a read's its answer.  The answer is the request with FLOOR_DONE.
 */

#include <stdint.h>

enum floor_op { FLOOR_READ = 1, FLOOR_WRITE = 2, FLOOR_DONE = 0x80 };

#define FLOOR_SIZE_MAX (1u << 20)

struct floor_head {
	uint32_t	op, len;
	uint64_t	off;
	uint32_t	tag;
	uint8_t		rest[28];
};

_Static_assert(sizeof(struct floor_head) == 48, "as long as a BHS");

#endif
