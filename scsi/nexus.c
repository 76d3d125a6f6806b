/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * I_T nexuses and their I_T_L nexuses (SAM-5): which logical unit stands at
 * which LUN, and how a nexus ends, is succeeded and moves.
 */

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "scsi/copyop.h"
#include "scsi/scsi_int.h"

/* Reinstatement: waits on all workers for the commands of the predecessor.
 * It is made with the I_T_L nexus, so that it cannot fail when it is needed,
 * and frees itself; itl is NULL when the I_T_L nexus did not live that long. */
struct gate {
	struct fence	*fence;
	struct itl	*itl;
};

/* ---- LUN fields -------------------------------------------------------- */

int lun_decode(const uint8_t lun[8])
{
	static const uint8_t report_luns[8] = { 0xc1, 0x01 };
	static const uint8_t zero[6];

	if (!memcmp(lun, report_luns, sizeof(report_luns)))
		return LUN_REPORT_LUNS;
	if (memcmp(lun + 2, zero, sizeof(zero)))
		return LUN_NONE;
	switch (lun[0] >> 6) {
	case 0:			/* peripheral device addressing, bus 0 */
		return lun[0] ? LUN_NONE : lun[1];
	case 1:			/* flat space addressing */
		return (lun[0] & 0x3f) << 8 | lun[1];
	default:
		return LUN_NONE;
	}
}

void lun_encode(uint16_t lun, uint8_t out[8])
{
	memset(out, 0, 8);
	if (lun > 255)
		out[0] = (uint8_t)(0x40 | lun >> 8);
	out[1] = (uint8_t)lun;
}

/* The place of lun in the sorted array. */
static unsigned place_of(const struct nexus *n, int lun)
{
	unsigned lo = 0, hi = n->nitl;

	while (lo < hi) {
		unsigned mid = (lo + hi) / 2;

		if (n->itl[mid]->lun < lun)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct itl *nexus_find(const struct nexus *n, int lun)
{
	unsigned at;

	if (lun < 0)
		return NULL;
	at = place_of(n, lun);
	return at < n->nitl && n->itl[at]->lun == lun ? n->itl[at] : NULL;
}

/* ---- life -------------------------------------------------------------- */

static uint64_t next_id(void)
{
	static _Atomic uint64_t last;	/* unique in the process, 0 is none */

	return atomic_fetch_add(&last, 1) + 1;
}

static void nexus_lost(struct edefer *d);

struct nexus *nexus_new(const struct scsi_host *host,
			const struct nexus_config *config)
{
	struct nexus *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	assert(config->worker < host->nworkers);
	n->host = host;
	n->config = *config;
	n->id = next_id();
	n->engine = host->worker[config->worker];
	list_init(&n->no_lu);
	list_init(&n->lost_defer.link);
	n->lost_defer.run = nexus_lost;
	return n;
}

uint64_t nexus_id(const struct nexus *n)
{
	return n->id;
}

static void gate_free(struct gate *g)
{
	if (!g)
		return;
	fence_free(g->fence);
	free(g);
}

static struct gate *gate_new(struct lu *lu, struct engine *engine)
{
	struct gate *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->fence = fence_new(lu, engine);
	if (!g->fence) {
		free(g);
		return NULL;
	}
	return g;
}

static void unlink_from_lu(struct itl *itl)
{
	pthread_mutex_lock(&itl->lu->mutex);
	list_del(&itl->in_lu);
	pthread_mutex_unlock(&itl->lu->mutex);
}

static void itl_free(struct itl *itl)
{
	assert(!itl->commands);
	unlink_from_lu(itl);
	copyops_free(itl);
	lu_release(itl->lu, itl->nexus->id);
	etimer_stop(&itl->gate_timer);
	edefer_cancel(&itl->drain);
	edefer_cancel(&itl->gone_defer);
	if (itl->gated)
		itl->gate->itl = NULL;	/* its fence runs: it frees itself */
	else
		gate_free(itl->gate);
	lu_unref(itl->lu);
	free(itl);
}

void nexus_free(struct nexus *n)
{
	unsigned i;

	if (!n)
		return;
	assert(!n->commands);
	edefer_cancel(&n->lost_defer);
	echo_free(n);
	for (i = 0; i < n->nitl; i++)
		itl_free(n->itl[i]);
	free(n->itl);
	free(n);
}

/* ---- mapping ----------------------------------------------------------- */

static void itl_gone(struct edefer *d)
{
	struct itl *itl = container_of(d, struct itl, gone_defer);
	struct nexus *n = itl->nexus;
	void (*gone)(void *arg) = itl->gone;
	void *arg = itl->gone_arg;

	itl_free(itl);
	n->commands--;
	if (n->losing && !n->commands)
		engine_defer(n->engine, &n->lost_defer);
	if (gone)
		gone(arg);
}

static void gate_late(struct etimer *t)
{
	struct itl *itl = container_of(t, struct itl, gate_timer);

	itl->gate_late = true;
	taskset_busy(itl);
}

static struct itl *itl_new(struct nexus *n, uint16_t lun, struct lu *lu,
			   bool read_only)
{
	struct itl *itl = calloc(1, sizeof(*itl));

	if (!itl)
		return NULL;
	itl->gate = gate_new(lu, n->engine);
	if (!itl->gate) {
		free(itl);
		return NULL;
	}
	itl->gate->itl = itl;
	itl->nexus = n;
	itl->lu = lu_ref(lu);
	itl->lun = lun;
	itl->read_only = read_only;
	atomic_init(&itl->ua, 1u << UA_POWER_ON);
	list_init(&itl->in_lu);
	list_init(&itl->waiting);
	list_init(&itl->drain.link);
	itl->drain.run = taskset_drain;
	list_init(&itl->gone_defer.link);
	itl->gone_defer.run = itl_gone;
	etimer_init(&itl->gate_timer, gate_late);
	return itl;
}

static void announce_luns(struct nexus *n, const struct itl *except)
{
	unsigned i;

	for (i = 0; i < n->nitl; i++)
		if (n->itl[i] != except)
			ua_post_itl(n->itl[i], UA_LUNS_CHANGED);
}

int nexus_map(struct nexus *n, uint16_t lun, struct lu *lu, bool read_only,
	      bool announce)
{
	unsigned at = place_of(n, lun);
	struct itl *itl;

	if (nexus_find(n, lun))
		return -EEXIST;
	if (n->nitl == n->itl_room) {
		unsigned room = n->itl_room ? 2 * n->itl_room : 4;
		struct itl **p = realloc(n->itl, room * sizeof(struct itl *));

		if (!p)
			return -ENOMEM;
		n->itl = p;
		n->itl_room = room;
	}
	itl = itl_new(n, lun, lu, read_only);
	if (!itl)
		return -ENOMEM;
	memmove(n->itl + at + 1, n->itl + at,
		(n->nitl - at) * sizeof(struct itl *));
	n->itl[at] = itl;
	n->nitl++;
	pthread_mutex_lock(&lu->mutex);
	list_add_tail(&lu->itls, &itl->in_lu);
	atomic_store(&itl->access, alua_state(lu, n->config.tpgt));
	reserved_refresh_itl(itl);
	pthread_mutex_unlock(&lu->mutex);
	if (announce)
		announce_luns(n, itl);
	return 0;
}

/* Marks the commands of one I_T_L nexus; none of them goes away in here. */
static void abort_all(struct itl *itl)
{
	struct list *cmds = &itl->lu->worker[itl->nexus->config.worker].cmds;
	struct scsi_cmd *cmd;

	list_for_each(cmd, cmds, in_lu)
		if (cmd->itl == itl)
			taskset_abort(cmd, false);
}

int nexus_unmap(struct nexus *n, uint16_t lun, void (*done)(void *arg),
		void *arg)
{
	struct itl *itl = nexus_find(n, lun);
	unsigned at;

	if (!itl)
		return -ENOENT;
	at = place_of(n, lun);
	n->nitl--;
	memmove(n->itl + at, n->itl + at + 1,
		(n->nitl - at) * sizeof(struct itl *));
	announce_luns(n, NULL);
	unlink_from_lu(itl);
	itl->unmapped = true;
	n->commands++;		/* as long as the I_T_L nexus is there */
	itl->gone = done;
	itl->gone_arg = arg;
	abort_all(itl);
	if (!itl->commands)
		itl_idle(itl);
	return 0;
}

void itl_idle(struct itl *itl)
{
	/* Not before: no write of the old holder lands under a new one. */
	lu_release(itl->lu, itl->nexus->id);
	if (itl->unmapped)
		engine_defer(itl->nexus->engine, &itl->gone_defer);
}

/* ---- loss -------------------------------------------------------------- */

static void nexus_lost(struct edefer *d)
{
	struct nexus *n = container_of(d, struct nexus, lost_defer);
	void (*lost)(void *arg) = n->lost;

	n->losing = false;
	n->lost = NULL;
	if (lost)
		lost(n->lost_arg);
}

void nexus_lose(struct nexus *n, void (*done)(void *arg), void *arg)
{
	struct scsi_cmd *cmd;
	unsigned i;

	assert(!n->losing);
	n->losing = true;
	n->lost = done;
	n->lost_arg = arg;
	list_for_each(cmd, &n->no_lu, in_lu)
		taskset_abort(cmd, false);
	for (i = 0; i < n->nitl; i++) {
		abort_all(n->itl[i]);
		if (!n->itl[i]->commands)
			itl_idle(n->itl[i]);
	}
	if (!n->commands)
		engine_defer(n->engine, &n->lost_defer);
}

/* ---- succession -------------------------------------------------------- */

static void gate_open(struct fence *f)
{
	struct gate *g = f->arg;
	struct itl *itl = g->itl;

	gate_free(g);
	if (!itl)
		return;
	itl->gate = NULL;
	itl->gated = itl->gate_late = false;
	etimer_stop(&itl->gate_timer);
	if (!list_empty(&itl->waiting))
		engine_defer(itl->nexus->engine, &itl->drain);
}

void nexus_succeed(struct nexus *n, uint64_t old_id)
{
	unsigned i;

	for (i = 0; i < n->nitl; i++) {
		struct itl *itl = n->itl[i];
		struct fence *f;

		assert(itl->gate && !itl->gated && !itl->commands);
		itl->gated = true;
		etimer_start(n->engine, &itl->gate_timer, REINSTATE_MS);
		f = itl->gate->fence;
		f->engine = n->engine;
		f->match = fence_match_nexus;
		f->nexus_id = old_id;
		f->done = gate_open;
		f->arg = itl->gate;
		lu_fence(f);
	}
}

bool nexus_settled(const struct nexus *n)
{
	unsigned i;

	for (i = 0; i < n->nitl; i++)
		if (n->itl[i]->gated)
			return false;
	return !n->commands && !n->losing;
}

void nexus_rehome(struct nexus *n, unsigned worker)
{
	assert(nexus_settled(n) && worker < n->host->nworkers);
	n->config.worker = worker;
	n->engine = n->host->worker[worker];
}
