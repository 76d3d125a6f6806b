/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * INQUIRY, standard data (SPC-4); VPD pages are in vpd.c.
 */

#include "scsi/scsi_int.h"
#include "scsi/vpd.h"

/* Peripheral qualifier and device type. */
static uint8_t peripheral(const struct scsi_cmd *cmd)
{
	if (cmd->lu)
		return 0x00;		/* a direct access block device */
	if (lun_decode(cmd->lun) == LUN_REPORT_LUNS)
		return 0x1e;		/* a well known logical unit */
	return 0x7f;			/* none here, none possible */
}

void out_ascii(struct out *o, const char *text, size_t width)
{
	size_t n = MIN(strlen(text), width);

	out_bytes(o, text, n);
	out_fill(o, ' ', width - n);
}

static enum scsi_result standard(struct scsi_cmd *cmd)
{
	/* SAM-5, iSCSI, SPC-4, SBC-3, none claimed to a letter */
	static const uint16_t versions[] = { 0x00a0, 0x0960, 0x0460, 0x04c0 };
	const struct lu *lu = cmd->lu;
	bool copies = lu && atomic_load(&lu->primitive[PRIM_CLONE]);
	struct out o = reply_begin(cmd);
	unsigned i;

	out_u8(&o, peripheral(cmd));
	out_u8(&o, 0);
	out_u8(&o, 0x06);			/* VERSION: SPC-4 */
	out_u8(&o, 0x02);			/* RESPONSE DATA FORMAT */
	out_u8(&o, 96 - 5);
	out_u8(&o, 0x10 | (copies ? 0x08 : 0));	/* TPGS 01b, 3PC */
	out_u8(&o, 0x10);			/* MULTIP */
	out_u8(&o, 0x02);			/* CMDQUE */
	out_ascii(&o, lu ? lu->config.vendor : "LUND", 8);
	out_ascii(&o, lu ? lu->config.product : "VIRTUAL-DISK", 16);
	out_ascii(&o, PRODUCT_REVISION, 4);
	out_fill(&o, 0, 58 - 36);
	for (i = 0; i < ARRAY_SIZE(versions); i++)
		out_be16(&o, versions[i]);
	out_fill(&o, 0, 96 - o.len);
	return reply_end(cmd, &o);
}

enum scsi_result inquiry_start(struct scsi_cmd *cmd)
{
	const struct vpd_page *page;
	struct out o;

	if (!(cmd->cdb[1] & 0x01))
		return cmd->cdb[2] ? bad_field(cmd, 2, 7) : standard(cmd);
	page = vpd_find(cmd->lu, cmd->cdb[2]);
	if (!page)
		return bad_field(cmd, 2, 7);
	o = reply_begin(cmd);
	out_u8(&o, peripheral(cmd));
	out_u8(&o, page->code);
	out_be16(&o, 0);
	page->fill(cmd, &o);
	out_patch_be16(&o, 2, (uint16_t)(o.len - 4));
	return reply_end(cmd, &o);
}
