/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * WRITE SAME (10, 16) of SBC-3: what VMware calls Block Zero.  A block of
 * zeros is not written but asked of the volume; with UNMAP=1 its space is given
 * back where unmapped blocks read as zeros, with ANCHOR=1 too it is held.
 */

#include <string.h>

#include "scsi/io_int.h"

enum {
	WS_ANCHOR	= 0x10,
	WS_UNMAP	= 0x08,
	WS_PBDATA	= 0x04,
	WS_LBDATA	= 0x02,
};

#define WRITE_SAME_16 0x93

static bool all_zero(const uint8_t *p, size_t n)
{
	return !p[0] && !memcmp(p, p + 1, n - 1);
}

static enum scsi_result check_bits(struct scsi_cmd *cmd)
{
	static const struct { uint8_t mask, bit; } refused[] = {
		{ WS_PBDATA, 2 }, { WS_LBDATA, 1 },
	};
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(refused); i++)
		if (cmd->cdb[1] & refused[i].mask)
			return bad_field(cmd, 1, refused[i].bit);
	if (cmd->cdb[1] & WS_ANCHOR &&
	    !(cmd->cdb[1] & WS_UNMAP && lu_anchors(cmd->lu)))
		return bad_field(cmd, 1, 4);
	if (cmd->cdb[1] & WS_UNMAP && !lu_thin(cmd->lu))
		return bad_field(cmd, 1, 3);
	return SCSI_GOOD;
}

static enum scsi_result check(struct scsi_cmd *cmd)
{
	enum scsi_result r = check_bits(cmd);

	if (r)
		return r;
	/* WSNZ=1: zero blocks do not stand for all of them */
	if (!cmd->nblocks || cmd->nblocks > cmd->lu->limits.max_write_same)
		return bad_field(cmd, cmd->cdb[0] == WRITE_SAME_16 ? 10 : 7, 7);
	return SCSI_GOOD;
}

/* The command table let pass one block of Data-Out, or none with NDOB. */
enum scsi_result wsame_start(struct scsi_cmd *cmd)
{
	struct bulk_state *b = &cmd->x.bulk;
	enum scsi_result r = check(cmd);

	if (r)
		return r;
	*b = (struct bulk_state){
		.op = BREQ_WRITE_SAME, .lba = cmd->lba, .left = cmd->nblocks,
		.bytes = LU_ZERO_BYTES,
	};
	if (!cmd->length || all_zero(cmd->data, cmd->length))
		b->op = (cmd->cdb[1] & (WS_UNMAP | WS_ANCHOR)) == WS_UNMAP &&
			lu_unmap_zeroes(cmd->lu) ?
			BREQ_UNMAP : BREQ_ZERO;
	lu_count(cmd, LU_ZERO, 1);
	return bulk_start(cmd);
}
