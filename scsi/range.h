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
 * Who holds a range and asks for a second one (EXTENDED COPY: its destination,
 * then its source) takes the second one shared and with barge set: it waits
 * for exclusive ranges that are held and for none that waits.  Holders of an
 * exclusive range never ask for another, so nobody waits in a circle.
 *
 * A READ takes no range: it asks for the sequence before its I/O and checks
 * after it; when a COMPARE AND WRITE wrote meanwhile, it repeats with its range
 * held shared.
 */

#include "scsi/scsi.h"

struct range_set;

struct range_set *range_set_new(void);
/* Nobody holds or waits.  NULL allowed. */
void range_set_free(struct range_set *s);
bool range_set_empty(struct range_set *s);	/* nobody holds or waits */

/*
 * True: held now.  False: r->granted(r) runs later on r->engine's thread, and
 * until then r->queued is set.  lba, nblocks, exclusive, barge, engine and
 * granted are set by the caller.
 */
bool range_lock(struct range_set *s, struct range *r);
void range_unlock(struct range_set *s, struct range *r);
/* Takes a waiting range off.  False: it is held, or its grant is on the way
 * and granted() will run. */
bool range_cancel(struct range_set *s, struct range *r);

/* COMPARE AND WRITE, around its write. */
void range_seq_begin(struct range_set *s);
void range_seq_end(struct range_set *s);
/* READ: one load before, one after.  Changed is also what is being written. */
uint64_t range_seq(const struct range_set *s);
bool range_seq_changed(const struct range_set *s, uint64_t before);

#endif
