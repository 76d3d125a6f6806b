/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_LIB_COPYLIST_H
#define TESTS_LIB_COPYLIST_H

/*
 * Parameter lists of EXTENDED COPY (LID1), made piece by piece so that a test
 * may make any of them wrong.
 */

#include "tests/lib/ini.h"

struct copylist {
	uint8_t		bytes[8192];
	uint16_t	cscds, segments;
	size_t		len;
};

/* List identifier 0, usage 11b, as ESXi sends it. */
void copylist_begin(struct copylist *l);
/* An identification descriptor with these 16 bytes of NAA; its index.  All of
 * them go before the first segment. */
int copylist_cscd(struct copylist *l, const uint8_t naa[16]);
/* A block to block segment; the descriptor, to change it. */
uint8_t *copylist_segment(struct copylist *l, int src, uint64_t src_lba,
			  int dst, uint64_t dst_lba, uint16_t blocks);
struct cmd copylist_cmd(struct copylist *l);
/* The NAA of a volume, of lunadm. */
int volume_naa(struct daemon *d, const char *volume, uint8_t naa[16]);

#endif
