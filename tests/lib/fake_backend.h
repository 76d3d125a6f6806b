/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_LIB_FAKE_BACKEND_H
#define TESTS_LIB_FAKE_BACKEND_H

/*
 * Stands in for the whole backend in tests of the SCSI layer: volumes are disks
 * in memory whose requests end when the test says so, engines are queues that
 * run when the test says so, and the clock moves when the test says so.
 *
 * Requests of a volume wait in order of their submission.  fake_complete() ends
 * the first one; a volume set to fake_auto() ends its requests by itself inside
 * fake_run().  Posts may come from any thread, all else from one.
 */

#include "backend/backend.h"

/* Forgets all engines' queues, all faults and the clock: for fixtures. */
void fake_reset(void);
/* Further calls of the test come from this engine's thread: engine_self(). */
void fake_enter(struct engine *e);

/* Runs posts, deferred and turn-end work, blocking work and the requests of
 * fake_auto() volumes, of all engines, until nothing is left.  Timers that are
 * due fire; the clock stands. */
void fake_run(void);
/* Moves the clock on, fires what became due in order, and runs. */
void fake_advance(uint64_t ms);

/* The oldest request that has not ended, or NULL. */
struct breq *fake_pending(struct volume *v);
/* That of an operation, or NULL. */
struct breq *fake_pending_op(struct volume *v, enum breq_op op);
unsigned fake_npending(const struct volume *v);
/* Ends the oldest request: with err 0 its act is done on the disk, written()
 * runs when it is set and did not run yet, then done().  fake_run() follows. */
void fake_complete(struct volume *v, int err);
void fake_complete_breq(struct breq *b, int err);
/* Ends an EXTENT with an answer of the test's own. */
void fake_end_extent(struct breq *b, bool mapped, uint64_t run);
/* Only the act and written(): the request waits on for its flush. */
void fake_written(struct volume *v);
/* Requests end by themselves. */
void fake_auto(struct volume *v, bool on);
/* The n-th request from now (1: the next) ends with err, even when it is
 * completed with 0.  n 0 takes that back. */
void fake_fail(struct volume *v, unsigned n, int err);
/* Requests submitted so far, since the volume was made or of an operation. */
unsigned fake_submitted(const struct volume *v);
unsigned fake_submitted_op(const struct volume *v, enum breq_op op);

/* The disk itself, and whether the byte at off is mapped. */
uint8_t *fake_data(struct volume *v);
bool fake_mapped(const struct volume *v, uint64_t off);
void fake_map_all(struct volume *v);
/* What the volume says of itself; set it before volume_open() or after. */
struct volume_caps *fake_caps(struct volume *v);
void fake_set_space(struct volume *v, const struct volume_space *s);
void fake_set_piece(struct volume *v, uint64_t bytes);	/* bulk piece */
/* volume_open() ends so; 0 again by default. */
void fake_open_error(struct volume *v, int err);
/* changed() is posted to the main engine. */
void fake_set_state(struct volume *v, enum volume_state s, int err);
/* Volumes that exist, to find leaks. */
unsigned fake_volumes(void);
/* The volume with that name, or NULL. */
struct volume *fake_volume(const char *name);

#endif
