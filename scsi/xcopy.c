/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * EXTENDED COPY(LID1) of SPC-4: what VMware calls Full Copy.  The form of the
 * list is checked (xcopy_desc.c), then its segments are checked and copied in
 * order, piece by piece.  A piece holds its destination and its source shared
 * until the medium has it, so that no COMPARE AND WRITE is copied torn or
 * overtaken.
 */

#include "scsi/io_int.h"

enum xcopy_step {
	XCOPY_DST_LOCKED,
	XCOPY_BOTH_LOCKED,
	XCOPY_COPIED,
};

static void src_granted(struct range *r)
{
	struct scsi_cmd *cmd = container_of(r, struct scsi_cmd,
					    x.xcopy.src_range);

	cmd->cancel = NULL;
	cmd->resume(cmd);
}

static void dst_granted(struct range *r)
{
	struct scsi_cmd *cmd = container_of(r, struct scsi_cmd,
					    x.xcopy.dst_range);

	cmd->cancel = NULL;
	cmd->resume(cmd);
}

/* The grant's message, which was not sent, brings the command back. */
static void cancel(struct scsi_cmd *cmd)
{
	struct xcopy_state *x = &cmd->x.xcopy;
	bool dst = x->dst_range.queued;
	struct range *r = dst ? &x->dst_range : &x->src_range;

	cmd->cancel = NULL;
	if (range_cancel((dst ? x->dst : x->src)->ranges, r))
		engine_post(r->engine, &r->post);
}

/* Locks the piece at off of lu; the source, asked for second, barges. */
static bool lock(struct scsi_cmd *cmd, struct lu *lu, struct range *r,
		 uint64_t off)
{
	uint32_t shift = atomic_load(&lu->block_shift);

	r->lba = off >> shift;
	r->nblocks = cmd->x.xcopy.piece >> shift;
	r->exclusive = false;
	r->barge = r == &cmd->x.xcopy.src_range;
	r->granted = r->barge ? src_granted : dst_granted;
	r->engine = cmd->nexus->engine;
	if (range_lock(lu->ranges, r))
		return true;
	cmd->cancel = cancel;
	return false;
}

static void unlock(struct scsi_cmd *cmd)
{
	struct xcopy_state *x = &cmd->x.xcopy;

	if (x->src_range.held)
		range_unlock(x->src->ranges, &x->src_range);
	if (x->dst_range.held)
		range_unlock(x->dst->ranges, &x->dst_range);
}

static void written(struct breq *b)
{
	unlock(container_of(b, struct scsi_cmd, breq));
}

/* Where the piece is, counted from the start of what remains. */
static uint64_t piece_at(const struct xcopy_state *x)
{
	return x->backward ? x->left - x->piece : 0;
}

static enum scsi_result both_locked(struct scsi_cmd *cmd)
{
	struct xcopy_state *x = &cmd->x.xcopy;

	cmd->step = XCOPY_COPIED;
	cmd_bytes(cmd, BREQ_COPY, x->dst_off + piece_at(x), x->piece);
	cmd->breq.src = x->src->volume;
	cmd->breq.src_off = x->src_off + piece_at(x);
	cmd->breq.written = written;
	if (x->rest)
		cmd->breq.flags |= BREQ_REST;
	x->rest = x->left > x->piece;
	if (x->rest)
		cmd->breq.flags |= BREQ_PART;
	cmd_submit(cmd, x->dst->volume);
	return SCSI_PENDING;
}

static enum scsi_result dst_locked(struct scsi_cmd *cmd)
{
	struct xcopy_state *x = &cmd->x.xcopy;

	cmd->step = XCOPY_BOTH_LOCKED;
	if (!lock(cmd, x->src, &x->src_range, x->src_off + piece_at(x)))
		return SCSI_PENDING;
	return both_locked(cmd);
}

static bool overlaps_ahead(const struct xcopy_state *x)
{
	return x->src == x->dst && x->src_off < x->dst_off &&
	       x->dst_off - x->src_off < x->left;
}

/* Loads the next segment that has bytes; none is left: left stays 0. */
static enum scsi_result next_segment(struct scsi_cmd *cmd)
{
	struct xcopy_state *x = &cmd->x.xcopy;
	struct xcopy_segment s;
	enum scsi_result r;

	for (; !x->left && x->segment < x->nsegment; x->segment++) {
		r = xcopy_check_segment(cmd);
		if (r)
			return r;
		s = xcopy_segment(cmd);
		x->seg_at += s.size;
		x->src = x->cscd[s.src];
		x->dst = x->cscd[s.dst];
		x->src_off = s.src_off;
		x->dst_off = s.dst_off;
		x->left = s.len;
		x->backward = overlaps_ahead(x);
		if (x->left)
			break;
	}
	return SCSI_GOOD;
}

static enum scsi_result piece(struct scsi_cmd *cmd)
{
	struct xcopy_state *x = &cmd->x.xcopy;
	enum scsi_result r = next_segment(cmd);

	if (r || !x->left)
		return r;
	if (copyop_stopped(cmd))
		return SCSI_COPY_TERMINATED;
	x->piece = MIN(x->left,
		       volume_bulk_piece(x->dst->volume, BREQ_COPY));
	cmd->step = XCOPY_DST_LOCKED;
	if (!lock(cmd, x->dst, &x->dst_range, x->dst_off + piece_at(x)))
		return SCSI_PENDING;
	return dst_locked(cmd);
}

/*
 * A host that gets COPY ABORTED, or ILLEGAL REQUEST, copies by itself; NOT
 * READY would have it wait.  Out of space is told plainly, not as the reason of
 * a failed copy: ESXi stuns the virtual machine on 7/27/07 in the first place
 * that it looks at, and its own copy would fail likewise.
 */
static enum scsi_result failed(struct scsi_cmd *cmd, enum scsi_result r)
{
	const struct xcopy_state *x = &cmd->x.xcopy;
	enum volume_state s = volume_state(x->src->volume);

	if (r == SCSI_SPACE_ALLOC_FAILED)
		return r;
	cmd->detail.segment_valid = true;
	cmd->detail.segment = x->segment;
	cmd->detail.forwarded_dst = s == VOLUME_ONLINE || s == VOLUME_FAILED;
	cmd->detail.forwarded = cmd->detail.forwarded_dst ? r :
							    SCSI_READ_ERROR;
	return SCSI_COPY_TARGET_ERROR;
}

static enum scsi_result copied(struct scsi_cmd *cmd)
{
	struct xcopy_state *x = &cmd->x.xcopy;
	enum scsi_result r = result_of_breq(&cmd->breq);

	if (r)
		return failed(cmd, r);
	lu_count(cmd, LU_CLONE_BYTES, x->piece);
	x->left -= x->piece;
	if (!x->backward) {
		x->src_off += x->piece;
		x->dst_off += x->piece;
	}
	if (!x->left)
		x->segment++;
	copyop_moved(cmd, x->piece, x->segment);
	return piece(cmd);
}

static enum scsi_result xcopy_next(struct scsi_cmd *cmd)
{
	switch ((enum xcopy_step)cmd->step) {
	case XCOPY_DST_LOCKED:
		return dst_locked(cmd);
	case XCOPY_BOTH_LOCKED:
		return both_locked(cmd);
	case XCOPY_COPIED:
		return copied(cmd);
	}
	return SCSI_INTERNAL_FAILURE;
}

/* The one way out, from the start or later. */
static enum scsi_result bottom(struct scsi_cmd *cmd, enum scsi_result r)
{
	if (r == SCSI_PENDING)
		return r;
	unlock(cmd);
	copyop_end(cmd, r);
	xcopy_release(cmd);
	return r;
}

static void xcopy_resume(struct scsi_cmd *cmd)
{
	enum scsi_result r = SCSI_COMMAND_ABORTED;

	if (!cmd_aborted(cmd))
		r = copyop_stopped(cmd) && cmd->step != XCOPY_COPIED ?
			SCSI_COPY_TERMINATED : xcopy_next(cmd);
	cmd_end(cmd, bottom(cmd, r));
}

static enum scsi_result begin(struct scsi_cmd *cmd)
{
	const struct xcopy_state *x = &cmd->x.xcopy;
	enum scsi_result r;

	if (x->list_id_usage == USAGE_NONE)
		return SCSI_GOOD;
	r = copyop_begin(cmd, x->list_id);
	if (!r)
		cmd->copyop->discard = x->list_id_usage == USAGE_DISCARD;
	return r;
}

enum scsi_result xcopy_start(struct scsi_cmd *cmd)
{
	enum scsi_result r;

	if (!cmd->wanted)
		return SCSI_GOOD;	/* no list is no error */
	cmd->x.xcopy = (struct xcopy_state){ .nsegment = 0 };
	r = xcopy_parse(cmd);
	if (!r)
		r = begin(cmd);
	if (!r) {
		lu_count(cmd, LU_CLONE, 1);
		cmd->resume = xcopy_resume;
		r = piece(cmd);
	}
	return bottom(cmd, r);
}
