/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SCSI_RANGE_H
#define SCSI_RANGE_H

/*
 * Who may touch which blocks of a logical unit (struct range in scsi.h).
 * COMPARE AND WRITE holds its blocks exclusively, every other writing command
 * holds its blocks shared; waiting is first come, first served among ranges
 * that overlap.  Without an exclusive range anywhere, taking and giving back
 * costs one short mutex.
 *
 * A READ takes no range: it asks for the sequence before its I/O and checks
 * after it; when a COMPARE AND WRITE wrote meanwhile, it repeats with its range
 * held shared.
 */

#include "scsi/scsi.h"

struct range_set;

struct range_set *range_set_new(void);
void range_set_free(struct range_set *s);

/* True: held now.  False: r->granted(r) runs later on r->engine's thread.
 * lba, nblocks, exclusive, engine and granted are set by the caller. */
bool range_lock(struct range_set *s, struct range *r);
void range_unlock(struct range_set *s, struct range *r);
/* Takes a waiting range off.  False: it is held, or its grant is on the way
 * and granted() will run. */
bool range_cancel(struct range_set *s, struct range *r);

/* COMPARE AND WRITE, around its write. */
void range_seq_begin(struct range_set *s);
void range_seq_end(struct range_set *s);
/* READ: one load before, one after. */
uint64_t range_seq(const struct range_set *s);
bool range_seq_changed(const struct range_set *s, uint64_t before);

#endif
