/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The parameter list of EXTENDED COPY(LID1): header, CSCD descriptors E4h,
 * segment descriptors 02h and 0Ah.  Types, counts and lengths are checked
 * before a byte is copied; what a segment asks for when its turn comes, so that
 * those before it are copied when it cannot be.
 */

#include <string.h>

#include "scsi/io_int.h"

enum {
	SEG_BLOCK		= 0x02,
	SEG_BLOCK_OFFSET	= 0x0a,
	CSCD_IDENTIFICATION	= 0xe4,
};

struct header {
	uint8_t	list_id;
	uint8_t	flags;		/* STR, LIST ID USAGE, PRIORITY */
	be16	cscd_len;
	uint8_t	rsvd[4];
	be32	segment_len;
	be32	inline_len;
};
_Static_assert(sizeof(struct header) == XCOPY_HEADER, "list header");

struct cscd {
	uint8_t	type;
	uint8_t	flags;		/* LU ID TYPE (ignored), NUL, device type */
	be16	initiator_port;
	uint8_t	code_set;	/* 3-0 */
	uint8_t	designator_type;	/* association 5-4, type 3-0 */
	uint8_t	rsvd;
	uint8_t	designator_len;
	uint8_t	designator[20];
	uint8_t	pad;
	be24	block_len;
};
_Static_assert(sizeof(struct cscd) == XCOPY_CSCD, "CSCD descriptor");

/* 0Ah has bytes for blocks, and byte offsets after the LBAs. */
struct segment {
	uint8_t	type;
	uint8_t	flags;		/* DC, CAT */
	be16	len;
	be16	src, dst;
	be16	nbytes_high;	/* 0Ah: number of bytes begins here */
	be16	nblocks;
	be64	src_lba, dst_lba;
};
_Static_assert(sizeof(struct segment) == 28, "descriptor 02h");

struct segment_offset {
	struct segment block;
	be16	src_off, dst_off;
};
_Static_assert(sizeof(struct segment_offset) == 32, "descriptor 0Ah");

enum {
	CSCD_NUL	= 0x20,
	SEG_DC		= 0x02,
};

static const struct header *header(const struct scsi_cmd *cmd)
{
	return (const struct header *)cmd->data;
}

static const struct segment *segment_at(const struct scsi_cmd *cmd,
					uint32_t at)
{
	return (const struct segment *)(cmd->data + at);
}

/* Bytes of a segment descriptor of that type; 0: not one of ours. */
static uint32_t segment_size(uint8_t type)
{
	switch (type) {
	case SEG_BLOCK:
		return sizeof(struct segment);
	case SEG_BLOCK_OFFSET:
		return sizeof(struct segment_offset);
	}
	return 0;
}

/* ---- the frame --------------------------------------------------------- */

static enum scsi_result check_header(struct scsi_cmd *cmd)
{
	struct xcopy_state *x = &cmd->x.xcopy;
	const struct header *h = header(cmd);

	if (cmd->length < sizeof(*h))
		return SCSI_PARAM_LENGTH_ERROR;
	x->list_id = h->list_id;
	x->list_id_usage = h->flags >> 3 & 3;
	if (x->list_id_usage == USAGE_RESERVED)
		return bad_param(cmd, SCSI_INVALID_FIELD_IN_PARAM, 1);
	if (x->list_id_usage == USAGE_NONE && x->list_id)
		return bad_param(cmd, SCSI_INVALID_FIELD_IN_PARAM, 0);
	if (be32_get(h->inline_len))
		return bad_param(cmd, SCSI_INLINE_DATA_TOO_LONG, 12);
	return SCSI_GOOD;
}

static enum scsi_result check_lengths(struct scsi_cmd *cmd)
{
	const struct header *h = header(cmd);
	uint64_t cscds = be16_get(h->cscd_len);
	uint64_t all = cscds + be32_get(h->segment_len);

	if (cscds % XCOPY_CSCD || all > cmd->length - sizeof(*h) ||
	    all > XCOPY_LIST_MAX)
		return SCSI_PARAM_LENGTH_ERROR;
	if (cscds / XCOPY_CSCD > XCOPY_CSCDS)
		return bad_param(cmd, SCSI_TOO_MANY_CSCDS, 2);
	cmd->x.xcopy.ncscd = (uint16_t)(cscds / XCOPY_CSCD);
	return SCSI_GOOD;
}

/* Walks the segment descriptors: known types of the right length. */
static enum scsi_result check_segments(struct scsi_cmd *cmd)
{
	struct xcopy_state *x = &cmd->x.xcopy;
	uint32_t at = XCOPY_HEADER + x->ncscd * XCOPY_CSCD, size;
	uint32_t end = at + be32_get(header(cmd)->segment_len);

	for (x->seg_at = at; at < end; at += size) {
		size = segment_size(cmd->data[at]);
		if (!size)
			return bad_param(cmd, SCSI_BAD_SEGMENT_TYPE, at);
		if (x->nsegment++ == XCOPY_SEGMENTS)
			return bad_param(cmd, SCSI_TOO_MANY_SEGMENTS, 8);
		if (size > end - at)
			return SCSI_PARAM_LENGTH_ERROR;
		if (be16_get(segment_at(cmd, at)->len) != size - 4)
			return bad_param(cmd, SCSI_INVALID_FIELD_IN_PARAM,
					 at + 2);
	}
	return SCSI_GOOD;
}

/* ---- CSCD descriptors -------------------------------------------------- */

/* Only what this initiator may see: its own logical unit, and those that the
 * transport finds for it.  NULL: none, whatever exists on this machine. */
static struct lu *resolve(struct scsi_cmd *cmd, const struct cscd *c, bool *ro)
{
	const struct nexus_config *n = &cmd->nexus->config;
	const struct lu_config *own = &cmd->lu->config;
	uint8_t len = c->designator_len;

	if (c->flags & CSCD_NUL || (c->code_set & 0xf) != 1 ||
	    (c->designator_type & 0x3f) != 0x03 || (len != 8 && len != 16))
		return NULL;
	if (len == own->naa_len && !memcmp(c->designator, own->naa, len)) {
		*ro = cmd->itl->read_only;
		return lu_ref(cmd->lu);
	}
	return n->find_lu ? n->find_lu(n->arg, c->designator, len, ro) : NULL;
}

static bool reachable(const struct lu *lu)
{
	return atomic_load(&lu->primitive[PRIM_CLONE]) && !lu_readiness(lu);
}

static enum scsi_result check_cscd(struct scsi_cmd *cmd, unsigned i)
{
	struct xcopy_state *x = &cmd->x.xcopy;
	unsigned at = XCOPY_HEADER + i * XCOPY_CSCD;
	const struct cscd *c = (const struct cscd *)(cmd->data + at);
	struct lu *lu;

	if (c->type != CSCD_IDENTIFICATION)
		return bad_param(cmd, SCSI_BAD_CSCD_TYPE, at);
	if (c->flags & 0x1f)		/* not a block device */
		return bad_param(cmd, SCSI_INVALID_FIELD_IN_PARAM, at + 1);
	lu = resolve(cmd, c, &x->cscd_ro[i]);
	x->cscd[i] = lu;
	if (lu && reachable(lu) &&
	    be24_get(c->block_len) != lu_bytes(lu, 1))
		return bad_param(cmd, SCSI_INVALID_FIELD_IN_PARAM, at + 29);
	return SCSI_GOOD;
}

void xcopy_release(struct scsi_cmd *cmd)
{
	unsigned i;

	for (i = 0; i < XCOPY_CSCDS; i++) {
		lu_unref(cmd->x.xcopy.cscd[i]);
		cmd->x.xcopy.cscd[i] = NULL;
	}
}

/* ---- segments ---------------------------------------------------------- */

/* A segment that cannot be copied: its number, and the field in it. */
static enum scsi_result bad_segment(struct scsi_cmd *cmd, enum scsi_result r,
				    unsigned field)
{
	cmd->detail.segment_valid = true;
	cmd->detail.segment = cmd->x.xcopy.segment;
	return bad_param(cmd, r, field);
}

struct xcopy_segment xcopy_segment(const struct scsi_cmd *cmd)
{
	const struct xcopy_state *x = &cmd->x.xcopy;
	const struct segment *d = segment_at(cmd, x->seg_at);
	const struct segment_offset *o = (const struct segment_offset *)d;
	struct xcopy_segment s = {
		.src = be16_get(d->src), .dst = be16_get(d->dst),
		.size = segment_size(d->type),
	};
	const struct lu *src = x->cscd[s.src], *dst = x->cscd[s.dst];

	s.src_off = lu_bytes(src, be64_get(d->src_lba));
	s.dst_off = lu_bytes(dst, be64_get(d->dst_lba));
	if (d->type == SEG_BLOCK) {
		s.len = lu_bytes(d->flags & SEG_DC ? dst : src,
				 be16_get(d->nblocks));
	} else {
		s.len = (uint32_t)be16_get(d->nbytes_high) << 16 |
			be16_get(d->nblocks);
		s.src_off += be16_get(o->src_off);
		s.dst_off += be16_get(o->dst_off);
	}
	return s;
}

static enum scsi_result check_side(struct scsi_cmd *cmd, be16 index, be64 lba,
				   bool dst)
{
	const struct xcopy_state *x = &cmd->x.xcopy;
	unsigned i = be16_get(index);

	if (i >= x->ncscd)
		return bad_segment(cmd, SCSI_COPY_FAILED, dst ? 6 : 4);
	if (!x->cscd[i] || !reachable(x->cscd[i]))
		return bad_segment(cmd, SCSI_COPY_NOT_REACHABLE, dst ? 6 : 4);
	if (lu_conflicts(x->cscd[i], cmd->nexus, dst ? RESV_WRITE : RESV_READ))
		return SCSI_RESERVED_BY_OTHER;
	/* so that bytes cannot overflow */
	if (be64_get(lba) > atomic_load(&x->cscd[i]->nblocks))
		return bad_segment(cmd, SCSI_COPY_FAILED, dst ? 20 : 12);
	return SCSI_GOOD;
}

static enum scsi_result check_writable(struct scsi_cmd *cmd, unsigned i)
{
	const struct lu *lu = cmd->x.xcopy.cscd[i];

	if (cmd->x.xcopy.cscd_ro[i] || atomic_load(&lu->read_only))
		return SCSI_WRITE_PROTECTED;
	if (atomic_load(&lu->swp))
		return SCSI_SOFTWARE_WRITE_PROTECTED;
	return SCSI_GOOD;
}

static enum scsi_result check_bounds(struct scsi_cmd *cmd,
				     const struct xcopy_segment *s)
{
	const struct lu *src = cmd->x.xcopy.cscd[s->src];
	const struct lu *dst = cmd->x.xcopy.cscd[s->dst];
	uint64_t unit = MAX(lu_bytes(src, 1), lu_bytes(dst, 1));

	if (s->len > XCOPY_SEGMENT_MAX)
		return bad_segment(cmd, SCSI_COPY_FAILED, 8);
	if (s->src_off % lu_bytes(src, 1) || s->dst_off % lu_bytes(dst, 1) ||
	    s->len % unit)
		return bad_segment(cmd, SCSI_COPY_WRONG_LENGTH, 8);
	if (!range_fits(s->src_off, s->len,
			lu_bytes(src, atomic_load(&src->nblocks))))
		return bad_segment(cmd, SCSI_COPY_FAILED, 12);
	if (!range_fits(s->dst_off, s->len,
			lu_bytes(dst, atomic_load(&dst->nblocks))))
		return bad_segment(cmd, SCSI_COPY_FAILED, 20);
	return SCSI_GOOD;
}

enum scsi_result xcopy_check_segment(struct scsi_cmd *cmd)
{
	const struct segment *d = segment_at(cmd, cmd->x.xcopy.seg_at);
	enum scsi_result r = check_side(cmd, d->src, d->src_lba, false);
	struct xcopy_segment s;

	if (!r)
		r = check_side(cmd, d->dst, d->dst_lba, true);
	if (r)
		return r;
	s = xcopy_segment(cmd);
	r = check_bounds(cmd, &s);
	return r ? r : check_writable(cmd, s.dst);
}

enum scsi_result xcopy_parse(struct scsi_cmd *cmd)
{
	struct xcopy_state *x = &cmd->x.xcopy;
	enum scsi_result r = check_header(cmd);
	unsigned i;

	if (!r)
		r = check_lengths(cmd);
	if (!r)
		r = check_segments(cmd);
	for (i = 0; !r && i < x->ncscd; i++)
		r = check_cscd(cmd, i);
	return r;
}
