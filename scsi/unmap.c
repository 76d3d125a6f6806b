/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * UNMAP of SBC-3: what VMware calls Delete.  The whole list is checked
 * before the first block is unmapped.  Anchored blocks read as zeros and hold
 * their space.
 */

#include "scsi/io_int.h"

#define UNMAP_HEADER 8u

/* UNMAP block descriptor */
struct unmap_desc {
	be64	lba;
	be32	nblocks;
	uint8_t	rsvd[4];
};
_Static_assert(sizeof(struct unmap_desc) == 16, "a descriptor is 16 bytes");

static const struct unmap_desc *desc(const struct scsi_cmd *cmd, unsigned i)
{
	return (const struct unmap_desc *)(cmd->data + UNMAP_HEADER) + i;
}

/* Loads the next descriptor that has blocks, with those that go on where it
 * ends: what was torn into descriptors is unmapped in one go. */
static bool next(struct scsi_cmd *cmd)
{
	struct bulk_state *b = &cmd->x.bulk;
	const struct unmap_desc *d;

	for (; b->index < b->count; b->index++) {
		d = desc(cmd, b->index);
		if (!b->left)
			b->lba = be64_get(d->lba);
		else if (be64_get(d->lba) != b->lba + b->left)
			break;
		b->left += be32_get(d->nblocks);
	}
	return b->left;
}

/* The header: how many descriptors, or why not. */
static enum scsi_result check_lengths(struct scsi_cmd *cmd, unsigned *ret_count)
{
	uint32_t list = cmd->length, data, descs;

	if (list < UNMAP_HEADER)
		return SCSI_PARAM_LENGTH_ERROR;
	data = be16_get(BE_AT(be16, cmd->data, 0));
	descs = be16_get(BE_AT(be16, cmd->data, 2));
	if (descs > list - UNMAP_HEADER)
		return SCSI_PARAM_LENGTH_ERROR;
	if (data < descs + 6)		/* the rest of the header, and they */
		return bad_param(cmd, SCSI_INVALID_FIELD_IN_PARAM, 0);
	/* A part of a descriptor at the end is ignored. */
	*ret_count = descs / sizeof(struct unmap_desc);
	if (*ret_count > cmd->lu->limits.max_unmap_descriptors)
		return bad_param(cmd, SCSI_INVALID_FIELD_IN_PARAM, 2);
	return SCSI_GOOD;
}

static enum scsi_result check_descs(struct scsi_cmd *cmd, unsigned count)
{
	uint64_t size = atomic_load(&cmd->lu->nblocks), sum = 0, lba;
	const struct unmap_desc *d;
	unsigned i;

	for (i = 0; i < count; i++) {
		d = desc(cmd, i);
		lba = be64_get(d->lba);
		if (!range_fits(lba, be32_get(d->nblocks), size))
			return lba_error(cmd, lba);
		sum += be32_get(d->nblocks);
		if (sum > cmd->lu->limits.max_unmap_blocks)
			return bad_param(cmd, SCSI_INVALID_FIELD_IN_PARAM,
					 UNMAP_HEADER + 16 * i + 8);
	}
	return SCSI_GOOD;
}

enum scsi_result unmap_start(struct scsi_cmd *cmd)
{
	struct bulk_state *b = &cmd->x.bulk;
	bool anchor = cmd->cdb[1] & 0x01;
	enum scsi_result r;
	unsigned count = 0;

	if (anchor && !lu_anchors(cmd->lu))	/* ANC_SUP=0 */
		return bad_field(cmd, 1, 0);
	if (!cmd->wanted)
		return SCSI_GOOD;
	r = check_lengths(cmd, &count);
	if (!r)
		r = check_descs(cmd, count);
	if (r)
		return r;
	*b = (struct bulk_state){
		.op = anchor ? BREQ_ZERO : BREQ_UNMAP,
		.next = next, .count = (uint16_t)count,
		.bytes = LU_DELETE_BYTES,
	};
	lu_count(cmd, LU_DELETE, 1);
	return bulk_start(cmd);
}
