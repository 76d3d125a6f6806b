/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_LIB_XCOPY_H
#define TESTS_LIB_XCOPY_H

/*
 * Parameter lists of EXTENDED COPY: add all CSCD descriptors, then the
 * segments, then submit.  Until then out[] may be changed by hand.
 */

#include "tests/lib/rig.h"

#define XCOPY_CSCD_AT(i)	(16 + 32 * (i))

/* List identifier 0, LIST ID USAGE 11b: nothing is kept. */
struct rig_cmd *xcopy_new(unsigned nexus, unsigned lun);
void xcopy_list_id(struct rig_cmd *c, uint8_t id, unsigned usage);
void xcopy_cscd(struct rig_cmd *c, unsigned lun);
void xcopy_segment_add(struct rig_cmd *c, unsigned src, unsigned dst,
		       uint16_t n, uint64_t from, uint64_t to);
/* Type 0Ah; offsets are byte offsets. */
void xcopy_bytes_add(struct rig_cmd *c, unsigned src, unsigned dst, uint32_t n,
		     uint64_t from, uint64_t to, uint16_t from_off,
		     uint16_t to_off);
uint32_t xcopy_len(const struct rig_cmd *c);	/* of the list so far */
struct rig_cmd *xcopy_submit(struct rig_cmd *c);
/* The same with another PARAMETER LIST LENGTH. */
struct rig_cmd *xcopy_submit_len(struct rig_cmd *c, uint32_t len);

#endif
