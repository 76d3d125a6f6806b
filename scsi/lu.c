/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The logical unit: made over a volume, opened, counted, closed when the last
 * reference is gone.  Live changes are in lu_change.c.
 */

#include <errno.h>
#include <stdlib.h>

#include "lib/log.h"
#include "scsi/range.h"
#include "scsi/scsi_int.h"

const char *const lu_primitive_names[PRIMITIVES] = {
	[PRIM_ATS]	= "ats",
	[PRIM_CLONE]	= "clone",
	[PRIM_ZERO]	= "zero",
	[PRIM_DELETE]	= "delete",
};

const char *const lu_counter_names[LU_COUNTERS] = {
	[LU_READS]		= "reads",
	[LU_READ_BYTES]		= "read_bytes",
	[LU_WRITES]		= "writes",
	[LU_WRITE_BYTES]	= "write_bytes",
	[LU_OTHERS]		= "others",
	[LU_ERRORS]		= "errors",
	[LU_CONFLICTS]		= "conflicts",
	[LU_ABORTS]		= "aborts",
	[LU_ATS]		= "ats",
	[LU_ATS_BYTES]		= "ats_bytes",
	[LU_ATS_MISCOMPARES]	= "ats_miscompares",
	[LU_CLONE]		= "clone",
	[LU_CLONE_BYTES]	= "clone_bytes",
	[LU_ZERO]		= "zero",
	[LU_ZERO_BYTES]		= "zero_bytes",
	[LU_DELETE]		= "delete",
	[LU_DELETE_BYTES]	= "delete_bytes",
	[LU_NO_SPACE]		= "no_space",
	[LU_THRESHOLDS]		= "threshold_crossings",
};

/* ---- limits and geometry ----------------------------------------------- */

#define OPTIMAL_TRANSFER	(1u << 20)	/* bytes */
#define MAX_TRANSFER_BLOCKS	65535u
#define MAX_CAW_BLOCKS		255u
#define MAX_UNMAP_BLOCKS	(1u << 20)
#define MAX_UNMAP_DESCRIPTORS	256u

static void set_limits(struct lu_limits *l, unsigned shift, uint32_t granule,
		       uint32_t unmap_granule)
{
	*l = (struct lu_limits){
		.max_transfer	= MAX_TRANSFER_BLOCKS,
		.opt_transfer	= OPTIMAL_TRANSFER >> shift,
		.opt_granularity = MAX(granule >> shift, 1u),
		.max_caw	= MAX_CAW_BLOCKS,
		.max_unmap_blocks = MAX_UNMAP_BLOCKS,
		.max_unmap_descriptors = MAX_UNMAP_DESCRIPTORS,
		.unmap_granularity = MAX(unmap_granule >> shift, 1u),
		/* Who may zero more at once than write tries to write more,
		 * too; whole MiB, so that nothing is cut off its granule. */
		.max_write_same	= round_down(MAX_TRANSFER_BLOCKS,
					     OPTIMAL_TRANSFER >> shift),
	};
}

/* Blocks of 512 bytes unless the device or the configuration says otherwise. */
static uint32_t block_size_of(const struct lu *lu)
{
	const struct volume_caps *caps = volume_caps(lu->volume);

	if (lu->config.block_size)
		return lu->config.block_size;
	return MAX(caps->block_size, 512u);
}

static unsigned log2_of(uint32_t x)
{
	return 31 - (unsigned)__builtin_clz(x);
}

/* Takes over what the volume turned out to be; -EINVAL: it cannot be served. */
static int adopt(struct lu *lu)
{
	const struct volume_caps *caps = volume_caps(lu->volume);
	uint32_t bs = block_size_of(lu);
	unsigned shift = log2_of(bs);
	uint64_t nblocks = volume_size(lu->volume) >> shift;
	bool again = atomic_load(&lu->opened);

	if (!is_pow2(bs) || bs < caps->block_size || bs < 512 || bs > 4096 ||
	    !nblocks)
		return -EINVAL;
	if (again && shift != atomic_load(&lu->block_shift))
		return -EINVAL;
	if (!again)
		set_limits(&lu->limits, shift,
			   MAX(caps->physical_block_size, 4096u),
			   caps->unmap_granularity);
	atomic_store(&lu->block_shift, shift);
	if (atomic_exchange(&lu->nblocks, nblocks) != nblocks && again)
		ua_post(lu, UA_CAPACITY_CHANGED, NULL);
	if (caps->read_only)
		atomic_store(&lu->read_only, true);
	atomic_store(&lu->opened, true);
	return 0;
}

static int take_state(struct lu *lu, enum volume_state s)
{
	int err = 0;

	if (s == VOLUME_ONLINE)
		err = adopt(lu);
	atomic_store(&lu->failed, s == VOLUME_FAILED);
	atomic_store(&lu->ready, !err && (s == VOLUME_ONLINE ||
					  s == VOLUME_FAILED));
	return err;
}

struct lu_limits lu_get_limits(const struct lu *lu)
{
	struct lu_limits l;

	if (atomic_load(&lu->opened))
		return lu->limits;
	set_limits(&l, atomic_load(&lu->block_shift), 4096, 0);
	return l;
}

unsigned lu_physical_exponent(const struct lu *lu)
{
	unsigned shift = atomic_load(&lu->block_shift);
	uint32_t physical = lu->config.physical_block_size;

	if (!physical && atomic_load(&lu->opened))
		physical = volume_caps(lu->volume)->physical_block_size;
	if (!is_pow2(physical) || physical >> shift < 1)
		return 0;
	return log2_of(physical >> shift);
}

bool lu_rotational(const struct lu *lu)
{
	return atomic_load(&lu->opened) && volume_caps(lu->volume)->rotational;
}

bool lu_thin(const struct lu *lu)
{
	return atomic_load_explicit(&lu->primitive[PRIM_DELETE],
				    memory_order_relaxed) &&
	       atomic_load_explicit(&lu->opened, memory_order_acquire) &&
	       !lu->config.volume.thick &&
	       volume_caps(lu->volume)->unmap != METHOD_NONE;
}

bool lu_unmap_zeroes(const struct lu *lu)
{
	return lu_thin(lu) && volume_caps(lu->volume)->unmap_zeroes;
}

bool lu_anchors(const struct lu *lu)
{
	return lu_thin(lu) && volume_caps(lu->volume)->anchors;
}

enum scsi_result lu_readiness(const struct lu *lu)
{
	if (!atomic_load_explicit(&lu->ready, memory_order_acquire))
		return SCSI_BECOMING_READY;
	if (atomic_load_explicit(&lu->stopped, memory_order_relaxed))
		return SCSI_NOT_READY_START_NEEDED;
	return SCSI_GOOD;
}

/* ---- life -------------------------------------------------------------- */

static void volume_opened(struct volume *v, int err, void *arg)
{
	struct lu *lu = arg;
	int unfit = take_state(lu, volume_state(v));

	if (unfit)
		log_err("volume %s: block size or size is not fit to be served",
			lu->name);
	if (lu->events.opened)
		lu->events.opened(lu, err ? err : unfit, lu->events.arg);
}

static void volume_changed(struct volume *v, enum volume_state s, void *arg)
{
	struct lu *lu = arg;

	(void)v;
	take_state(lu, s);
	if (lu->events.changed)
		lu->events.changed(lu, s, lu->events.arg);
}

static void lu_free(struct lu *lu)
{
	if (!lu)
		return;
	volume_free(lu->volume);
	range_set_free(lu->ranges);
	pthread_mutex_destroy(&lu->mutex);
	free(lu->pr.table);
	free(lu->name);
	free(lu);
}

static void volume_closed(struct volume *v, void *arg)
{
	struct lu *lu = arg;
	void (*closed)(void *arg) = lu->closed;
	void *closed_arg = lu->closed_arg;

	(void)v;
	lu_free(lu);
	if (closed)
		closed(closed_arg);
}

static void last_ref_gone(struct epost *post)
{
	struct lu *lu = container_of(post, struct lu, last_ref);

	lu_threshold_stop(lu);
	volume_close(lu->volume);
}

static void set_strings(struct lu *lu)
{
	struct lu_config *c = &lu->config;

	if (!c->vendor[0])
		memcpy(c->vendor, "LUND", sizeof("LUND"));
	if (!c->product[0])
		memcpy(c->product, "VIRTUAL-DISK", sizeof("VIRTUAL-DISK"));
	c->volume.name = lu->name;
	c->volume.path = volume_path(lu->volume);
}

static struct lu *lu_alloc(unsigned nworkers)
{
	size_t size = sizeof(struct lu) + nworkers * sizeof(struct lu_worker);
	struct lu *lu = aligned_alloc(_Alignof(struct lu), size);
	unsigned i;

	if (!lu)
		return NULL;
	memset(lu, 0, size);
	pthread_mutex_init(&lu->mutex, NULL);
	list_init(&lu->itls);
	list_init(&lu->pr.waiting);
	for (i = 0; i < nworkers; i++) {
		list_init(&lu->worker[i].cmds);
		list_init(&lu->worker[i].fences);
	}
	return lu;
}

struct lu *lu_new(const struct scsi_host *host, const struct lu_config *config,
		  const struct lu_events *events)
{
	struct lu *lu = lu_alloc(host->nworkers);
	unsigned i;

	if (!lu)
		return NULL;
	lu->host = host;
	lu->config = *config;
	lu->events = *events;
	lu->last_ref.run = last_ref_gone;
	atomic_init(&lu->refs, 1);
	atomic_init(&lu->read_only, config->volume.read_only);
	atomic_init(&lu->write_back, config->volume.write_back);
	atomic_init(&lu->block_shift,
		    is_pow2(config->block_size) ? log2_of(config->block_size) :
						  9);
	for (i = 0; i < PRIMITIVES; i++)
		atomic_init(&lu->primitive[i], config->primitive[i]);
	lu->name = strdup(config->volume.name);
	lu->ranges = range_set_new();
	lu->volume = volume_new(&config->volume, &(struct volume_events){
		.opened = volume_opened, .changed = volume_changed,
		.closed = volume_closed, .arg = lu }, host->main);
	if (!lu->name || !lu->ranges || !lu->volume ||
	    lu_load_reservations(lu)) {
		lu_free(lu);
		return NULL;
	}
	set_strings(lu);
	lu_threshold_init(lu);
	return lu;
}

void lu_open(struct lu *lu)
{
	volume_open(lu->volume);
}

void lu_close(struct lu *lu, void (*done)(void *arg), void *arg)
{
	lu->closed = done;
	lu->closed_arg = arg;
	lu_unref(lu);
}

struct lu *lu_ref(struct lu *lu)
{
	atomic_fetch_add(&lu->refs, 1);
	return lu;
}

void lu_unref(struct lu *lu)
{
	if (lu && atomic_fetch_sub(&lu->refs, 1) == 1)
		engine_post(lu->host->main, &lu->last_ref);
}

/* ---- for people -------------------------------------------------------- */

static void info_of_primitives(struct lu *lu, struct lu_info *ret)
{
	const struct volume_caps *caps = volume_caps(lu->volume);
	bool opened = atomic_load(&lu->opened);
	unsigned i;

	for (i = 0; i < PRIMITIVES; i++) {
		ret->primitive[i] = atomic_load(&lu->primitive[i]);
		ret->supported[i] = ret->primitive[i] &&
				    (i != PRIM_DELETE || lu_thin(lu));
	}
	if (!opened)
		return;
	ret->method[PRIM_ATS] = "range-lock";
	ret->method[PRIM_CLONE] = volume_method_name(
		volume_copy_method(lu->volume, lu->volume));
	ret->method[PRIM_ZERO] = volume_method_name(caps->zero);
	ret->method[PRIM_DELETE] = volume_method_name(caps->unmap);
}

void lu_get_info(struct lu *lu, struct lu_info *ret)
{
	const struct lu_config *c = &lu->config;
	unsigned shift = atomic_load(&lu->block_shift);

	*ret = (struct lu_info){
		.name = lu->name,
		.path = volume_path(lu->volume),
		.kind = volume_kind(lu->volume),
		.state = volume_state_name(volume_state(lu->volume)),
		.vendor = c->vendor, .product = c->product, .serial = c->serial,
		.naa_len = c->naa_len,
		.error = volume_error(lu->volume),
		.size = volume_size(lu->volume),
		.block_size = 1u << shift,
		.physical_block_size = 1u << (shift + lu_physical_exponent(lu)),
		.write_back = volume_write_back(lu->volume),
		.read_only = atomic_load(&lu->read_only),
		.thick = c->volume.thick, .direct = c->volume.direct,
		.threshold = atomic_load(&lu->threshold_percent),
	};
	memcpy(ret->naa, c->naa, sizeof(ret->naa));
	info_of_primitives(lu, ret);
}

void lu_get_stats(struct lu *lu, struct lu_stats *ret)
{
	unsigned i, k;

	memset(ret, 0, sizeof(*ret));
	ret->counter[LU_THRESHOLDS] = atomic_load(&lu->threshold_crossings);
	for (i = 0; i < lu->host->nworkers; i++) {
		struct lu_worker *w = &lu->worker[i];

		for (k = 0; k < LU_COUNTERS; k++)
			ret->counter[k] += atomic_load_explicit(
				&w->counter[k], memory_order_relaxed);
		for (k = 0; k < LU_BUCKETS; k++) {
			ret->read_latency[k] += atomic_load_explicit(
				&w->read_latency[k], memory_order_relaxed);
			ret->write_latency[k] += atomic_load_explicit(
				&w->write_latency[k], memory_order_relaxed);
		}
	}
}

static int space_run(struct vwork *w)
{
	struct lu_space *s = container_of(w, struct lu_space, work);

	if (s->count_shared)
		s->shared = volume_shared(s->lu->volume);
	return volume_space(s->lu->volume, &s->space);
}

static void space_done(struct vwork *w)
{
	struct lu_space *s = container_of(w, struct lu_space, work);

	lu_unref(s->lu);
	s->done(s);
}

void lu_get_space(struct lu *lu, struct lu_space *s)
{
	s->lu = lu_ref(lu);
	s->work.run = space_run;
	s->work.done = space_done;
	volume_async(lu->volume, &s->work);
}
