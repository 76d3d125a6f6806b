/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The life of a command: the order of checks, the CDB decoded once, the data
 * that a handler wants before it starts, the end.
 */

#include <assert.h>

#include "lib/buf.h"
#include "scsi/scsi_int.h"

static uint64_t load(const uint8_t *at, unsigned size)
{
	uint64_t v = 0;

	while (size--)
		v = v << 8 | *at++;
	return v;
}

/* The row, or why there is none. */
static enum scsi_result check_op(struct scsi_cmd *cmd)
{
	const struct scsi_op *op = scsi_op_find(cmd->cdb);
	int lun = cmd->lu ? 0 : lun_decode(cmd->lun);

	if (!cmd->lu && !(op && (lun == LUN_REPORT_LUNS ?
				 op->flags & OP_WLUN : op->flags & OP_NO_LU)))
		return lun == LUN_REPORT_LUNS ? SCSI_INVALID_OPCODE :
						SCSI_LUN_NOT_SUPPORTED;
	if (op && scsi_op_offered(op, cmd->lu)) {
		cmd->op = op;
		return SCSI_GOOD;
	}
	if (scsi_opcode_offered(cmd->cdb[0], cmd->lu))
		return bad_field(cmd, 1, 4);	/* the service action */
	return SCSI_INVALID_OPCODE;
}

/* A bit that no field of ours covers is a bit that asks for what we do not do;
 * NACA falls out of it. */
static enum scsi_result check_usage(struct scsi_cmd *cmd)
{
	const struct scsi_op *op = cmd->op;
	unsigned i, foreign;

	for (i = 1; i < op->len; i++) {
		foreign = cmd->cdb[i] & ~(unsigned)op->usage[i];
		if (i == 1 && op->sa >= 0)
			foreign &= ~0x1fu;
		if (foreign)
			return bad_field(cmd, i, 31 - (unsigned)
					 __builtin_clz(foreign));
	}
	return SCSI_GOOD;
}

static enum scsi_result check_attention(struct scsi_cmd *cmd)
{
	if (cmd->op->flags & OP_UA_KEEPS ||
	    !atomic_load_explicit(&cmd->itl->ua, memory_order_relaxed))
		return SCSI_GOOD;
	return ua_report(cmd->itl);
}

static enum scsi_result check_path(struct scsi_cmd *cmd)
{
	unsigned access = atomic_load_explicit(&cmd->itl->access,
					       memory_order_relaxed);

	if (access == ALUA_OPTIMIZED || cmd->op->flags & OP_ANY_PATH)
		return SCSI_GOOD;
	return alua_refusal((enum alua_state)access);
}

/* START STOP UNIT with START=1 and no power condition changes nothing that
 * others see. */
static bool starts_only(const struct scsi_cmd *cmd)
{
	return cmd->op->start == start_stop_start &&
	       (cmd->cdb[4] & 0xf1) == 0x01;
}

static unsigned resv_class(const struct scsi_cmd *cmd)
{
	if (cmd->op->flags & OP_RESV_OK)
		return 0;
	if (cmd->op->flags & OP_PR_OK || starts_only(cmd))
		return RESV_OTHER;
	return cmd->op->flags & OP_PR_READ ? RESV_READ : RESV_WRITE;
}

static enum scsi_result check_reserved(struct scsi_cmd *cmd)
{
	unsigned denied = atomic_load_explicit(&cmd->itl->denied,
					       memory_order_acquire);

	if (!denied || !(denied & resv_class(cmd)))
		return SCSI_GOOD;
	return SCSI_RESERVED_BY_OTHER;
}

static enum scsi_result check_writable(struct scsi_cmd *cmd)
{
	const struct lu *lu = cmd->lu;

	if (!(cmd->op->flags & OP_WRITES))
		return SCSI_GOOD;
	if (cmd->itl->read_only ||
	    atomic_load_explicit(&lu->read_only, memory_order_relaxed))
		return SCSI_WRITE_PROTECTED;
	if (atomic_load_explicit(&lu->swp, memory_order_relaxed))
		return SCSI_SOFTWARE_WRITE_PROTECTED;
	if (atomic_load_explicit(&lu->failed, memory_order_relaxed))
		return SCSI_WRITE_ERROR;
	return SCSI_GOOD;
}

static enum scsi_result check_ready(struct scsi_cmd *cmd)
{
	if (cmd->op->flags & OP_NO_MEDIUM)
		return SCSI_GOOD;
	return lu_readiness(cmd->lu);
}

/* Fills lba, nblocks and length; wanted, where the CDB alone tells it. */
static void decode(struct scsi_cmd *cmd)
{
	const uint8_t *cdb = cmd->cdb;
	const struct scsi_op *op = cmd->op;

	switch (op->shape) {
	case SHAPE_NONE:
		break;
	case SHAPE_6:
		cmd->lba = load(cdb + 1, 3) & 0x1fffff;
		cmd->nblocks = cdb[4] ? cdb[4] : 256;
		break;
	case SHAPE_10:
	case SHAPE_WS10:
		cmd->lba = load(cdb + 2, 4);
		cmd->nblocks = load(cdb + 7, 2);
		break;
	case SHAPE_12:
		cmd->lba = load(cdb + 2, 4);
		cmd->nblocks = load(cdb + 6, 4);
		break;
	case SHAPE_16:
	case SHAPE_WS16:
		cmd->lba = load(cdb + 2, 8);
		cmd->nblocks = load(cdb + 10, 4);
		break;
	case SHAPE_CAW:
		cmd->lba = load(cdb + 2, 8);
		cmd->nblocks = cdb[13];
		cmd->wanted = lu_bytes(cmd->lu, 2 * cmd->nblocks);
		break;
	case SHAPE_LBA16:
		cmd->lba = load(cdb + 2, 8);
		break;
	}
	if (op->shape == SHAPE_WS10 ||
	    (op->shape == SHAPE_WS16 && !(cdb[1] & 0x01)))	/* NDOB */
		cmd->wanted = lu_bytes(cmd->lu, 1);
	if (op->length_size)
		cmd->length = (uint32_t)load(cdb + op->length_at,
					     op->length_size);
	else if (op->flags & OP_IN)
		cmd->length = REPLY_MAX;
	if (op->flags & OP_OUT) {
		if (op->length_size)
			cmd->wanted = cmd->length;
		cmd->length = (uint32_t)MIN(cmd->wanted,
					    cmd->dir_out ? cmd->edtl : 0);
	}
}

/* The blocks are there, and not more than one command may move. */
static enum scsi_result check_range(struct scsi_cmd *cmd)
{
	uint64_t size;

	if (!(cmd->op->flags & OP_RANGE))
		return SCSI_GOOD;
	size = atomic_load_explicit(&cmd->lu->nblocks, memory_order_relaxed);
	if (cmd->lba >= size)
		return lba_error(cmd, cmd->lba);
	if (cmd->nblocks > size - cmd->lba)
		return lba_error(cmd, size);
	if (cmd->op->flags & OP_PIECES &&
	    cmd->nblocks > cmd->lu->limits.max_transfer)
		return bad_field(cmd, cmd->op->shape == SHAPE_10 ? 7 :
				 cmd->op->shape == SHAPE_12 ? 6 : 10, 7);
	return SCSI_GOOD;
}

static enum scsi_result check_data(struct scsi_cmd *cmd)
{
	if (!(cmd->op->flags & OP_OUT))
		return SCSI_GOOD;
	if (cmd->op->flags & OP_EXACT) {
		uint64_t edtl = cmd->dir_out ? cmd->edtl : 0;

		if (cmd->wanted == edtl)
			return SCSI_GOOD;
		return cmd->op->shape == SHAPE_CAW ? bad_field(cmd, 13, 7) :
						     SCSI_DATA_LENGTH_ERROR;
	}
	if (cmd->wanted > PARAM_MAX)
		return SCSI_PARAM_LENGTH_ERROR;
	return SCSI_GOOD;
}

static enum scsi_result check(struct scsi_cmd *cmd)
{
	enum scsi_result r;

	r = check_op(cmd);
	if (r)
		return r;
	r = check_usage(cmd);
	if (r)
		return r;
	if (cmd->lu) {
		r = check_attention(cmd);
		if (r)
			return r;
		r = check_path(cmd);
		if (r)
			return r;
		r = check_reserved(cmd);
		if (r)
			return r;
		r = check_writable(cmd);
		if (r)
			return r;
		r = check_ready(cmd);
		if (r)
			return r;
	}
	decode(cmd);
	r = check_range(cmd);
	if (r)
		return r;
	return check_data(cmd);
}

enum start_step { START_DATA, START_HANDLER };

/* Gets what the handler wants, then calls it. */
static enum scsi_result prepare(struct scsi_cmd *cmd)
{
	const struct scsi_op *op = cmd->op;
	uint32_t room = MIN(cmd->length, op->flags & OP_IN ? REPLY_MAX :
							     BUF_MAX);

	if (cmd->step == START_DATA && room) {
		cmd->step = START_HANDLER;
		if (op->flags & OP_IN && !cmd->transport->get_buffer(cmd, room))
			return SCSI_PENDING;
		if (op->flags & OP_OUT &&
		    !cmd->transport->data_out(cmd, 0, room))
			return SCSI_PENDING;
	}
	if (cmd_aborted(cmd))
		return SCSI_COMMAND_ABORTED;
	cmd->step = 0;
	cmd->resume = NULL;
	if (op->flags & OP_OUT)
		cmd->moved = cmd->length;
	return op->start(cmd);
}

static void resume(struct scsi_cmd *cmd)
{
	enum scsi_result r = cmd_aborted(cmd) ? SCSI_COMMAND_ABORTED :
						prepare(cmd);

	if (r != SCSI_PENDING)
		scsi_done(cmd, r);
}

void scsi_start(struct scsi_cmd *cmd)
{
	enum scsi_result r = check(cmd);

	if (!r) {
		cmd->step = START_DATA;
		cmd->resume = resume;
		r = prepare(cmd);
	}
	if (r != SCSI_PENDING)
		scsi_done(cmd, r);
}

static void deferred_end(struct edefer *d);

void scsi_submit(struct scsi_cmd *cmd)
{
	assert(cmd->nexus && cmd->transport);
	cmd->status = STATUS_GOOD;
	cmd->sense_len = 0;
	cmd->data_in_len = cmd->moved = cmd->length = 0;
	cmd->wanted = 0;
	cmd->aborted = cmd->tas = cmd->ended = false;
	cmd->itl = nexus_find(cmd->nexus, lun_decode(cmd->lun));
	cmd->lu = cmd->itl ? cmd->itl->lu : NULL;
	cmd->op = NULL;
	cmd->resume = NULL;
	cmd->cancel = NULL;
	cmd->lba = cmd->nblocks = 0;
	cmd->started = engine_now(cmd->nexus->engine);
	cmd->result = SCSI_PENDING;
	memset(&cmd->detail, 0, sizeof(cmd->detail));
	cmd->range.held = cmd->range.queued = false;
	cmd->step = 0;
	cmd->done_bytes = cmd->caw_seq = 0;
	cmd->copyop = NULL;
	list_init(&cmd->in_wait);
	list_init(&cmd->defer.link);
	cmd->defer.run = deferred_end;

	cmd->submitting = true;
	taskset_add(cmd);
	if (taskset_enter(cmd))
		scsi_start(cmd);
	cmd->submitting = false;
}

void scsi_abort(struct scsi_cmd *cmd)
{
	taskset_abort(cmd, false);
}

void scsi_full(struct scsi_cmd *cmd)
{
	struct itl *itl = nexus_find(cmd->nexus, lun_decode(cmd->lun));

	cmd->status = STATUS_TASK_SET_FULL;
	cmd->sense_len = 0;
	cmd->data_in_len = 0;
	if (itl)
		ua_of_status(itl, STATUS_TASK_SET_FULL);
}

struct out reply_begin(struct scsi_cmd *cmd)
{
	return out_of(cmd->data, MIN(cmd->length, REPLY_MAX));
}

enum scsi_result reply_end(struct scsi_cmd *cmd, const struct out *o)
{
	cmd->wanted = MIN(o->len, cmd->length);
	cmd->data_in_len = (uint32_t)MIN(MIN(cmd->wanted, REPLY_MAX),
					 cmd->dir_in ? cmd->edtl : 0);
	cmd->moved = cmd->data_in_len;
	return SCSI_GOOD;
}

/* ---- the end ----------------------------------------------------------- */

/* Quarter powers of two, in 1/65536: the borders inside an octave. */
static unsigned bucket_of(uint64_t ns)
{
	static const uint32_t quarter[] = { 77936, 92682, 110218 };
	uint64_t us = ns / 1000;
	unsigned octave, q;
	uint64_t frac;

	if (us <= 1)
		return 0;
	octave = 63 - (unsigned)__builtin_clzll(us);
	if (octave >= LU_BUCKETS / 4)
		return LU_BUCKETS - 1;
	frac = (us << 16) >> octave;
	for (q = 0; q < 3 && frac >= quarter[q]; q++)
		;
	return octave * 4 + q;
}

static void count_latency(struct scsi_cmd *cmd, bool write)
{
	struct lu_worker *w = &cmd->lu->worker[cmd->nexus->config.worker];
	uint64_t ns = engine_now(cmd->nexus->engine) - cmd->started;
	_Atomic uint64_t *p = write ? &w->write_latency[bucket_of(ns)] :
				      &w->read_latency[bucket_of(ns)];

	atomic_store_explicit(p, atomic_load_explicit(p, memory_order_relaxed) +
			      1, memory_order_relaxed);
}

/* What every command has in common; the primitives count themselves. */
static void count(struct scsi_cmd *cmd)
{
	const uint32_t flags = cmd->op ? cmd->op->flags : 0;
	bool write = flags & OP_WRITES;

	if (cmd->aborted) {
		lu_count(cmd, LU_ABORTS, 1);
		return;
	}
	if (!(flags & OP_PIECES)) {
		lu_count(cmd, LU_OTHERS, 1);
	} else if (cmd->status == STATUS_GOOD) {
		lu_count(cmd, write ? LU_WRITES : LU_READS, 1);
		lu_count(cmd, write ? LU_WRITE_BYTES : LU_READ_BYTES,
			 cmd->moved);
		count_latency(cmd, write);
	}
	if (cmd->status == STATUS_RESERVATION_CONFLICT)
		lu_count(cmd, LU_CONFLICTS, 1);
	if (cmd->status == STATUS_CHECK_CONDITION &&
	    result_key(cmd->result) != KEY_UNIT_ATTENTION &&
	    result_key(cmd->result) != KEY_MISCOMPARE)
		lu_count(cmd, LU_ERRORS, 1);
	if (cmd->result == SCSI_SPACE_ALLOC_FAILED)
		lu_count(cmd, LU_NO_SPACE, 1);
}

static void end(struct scsi_cmd *cmd)
{
	taskset_remove(cmd);
	if (cmd->status == STATUS_CHECK_CONDITION)
		taskset_qerr(cmd);
	cmd->transport->done(cmd);
}

static void deferred_end(struct edefer *d)
{
	end(container_of(d, struct scsi_cmd, defer));
}

static void not_good(struct scsi_cmd *cmd)
{
	if (cmd->status == STATUS_CHECK_CONDITION)
		build_sense(cmd, cmd->lu &&
			    atomic_load_explicit(&cmd->lu->d_sense,
						 memory_order_relaxed));
	else if (cmd->itl)
		ua_of_status(cmd->itl, (enum scsi_status)cmd->status);
	cmd->data_in_len = 0;
}

static void settle(struct scsi_cmd *cmd, enum scsi_result r)
{
	assert(r < SCSI_RESULTS && !cmd->ended && !cmd->range.held);
	cmd->ended = true;
	if (cmd->aborted)
		r = SCSI_ABORTED_BY_OTHER;	/* told only when TAS is set */
	cmd->result = r;
	cmd->status = result_status(r);
	if (cmd->status != STATUS_GOOD)
		not_good(cmd);
	if (cmd->lu)
		count(cmd);
}

void scsi_done(struct scsi_cmd *cmd, enum scsi_result r)
{
	settle(cmd, r);
	if (cmd->submitting)
		engine_defer(cmd->nexus->engine, &cmd->defer);
	else
		end(cmd);
}

void scsi_done_later(struct scsi_cmd *cmd, enum scsi_result r)
{
	settle(cmd, r);
	engine_defer(cmd->nexus->engine, &cmd->defer);
}
