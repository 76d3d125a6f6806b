/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * LOG SENSE (SPC-4): the pages that hosts poll, and no more.
 */

#include "scsi/scsi_int.h"

#define NO_TEMPERATURE	0xff	/* the sensor gives no value */

static void parameter(struct out *o, uint16_t code, uint8_t len)
{
	out_be16(o, code);
	out_u8(o, 0x03);		/* FORMAT AND LINKING: a binary list */
	out_u8(o, len);
}

static void supported(const struct lu *lu, struct out *o);

static void temperature(const struct lu *lu, struct out *o)
{
	(void)lu;
	parameter(o, 0x0000, 2);
	out_u8(o, 0);
	out_u8(o, NO_TEMPERATURE);
}

/* The soft threshold stands here while it is exceeded. */
static void exceptions(const struct lu *lu, struct out *o)
{
	bool reached = atomic_load(&lu->threshold_reached);

	parameter(o, 0x0000, 4);
	out_u8(o, reached ? 0x38 : 0);		/* ASC, ASCQ */
	out_u8(o, reached ? 0x07 : 0);
	out_u8(o, NO_TEMPERATURE);
	out_u8(o, 0);
}

static const struct log_page {
	uint8_t code;
	void	(*fill)(const struct lu *lu, struct out *o);
} pages[] = {
	{ 0x00, supported },
	{ 0x0d, temperature },
	{ 0x2f, exceptions },
};

static void supported(const struct lu *lu, struct out *o)
{
	unsigned i;

	(void)lu;
	for (i = 0; i < ARRAY_SIZE(pages); i++)
		out_u8(o, pages[i].code);
}

enum scsi_result log_sense_start(struct scsi_cmd *cmd)
{
	uint8_t code = cmd->cdb[2] & 0x3f;
	struct out o;
	unsigned i;

	if (cmd->cdb[3])
		return bad_field(cmd, 3, 7);	/* no subpages */
	for (i = 0; i < ARRAY_SIZE(pages); i++)
		if (pages[i].code == code)
			break;
	if (i == ARRAY_SIZE(pages))
		return bad_field(cmd, 2, 5);
	o = reply_begin(cmd);
	out_u8(&o, code);
	out_u8(&o, 0);
	out_be16(&o, 0);
	pages[i].fill(cmd->lu, &o);
	out_patch_be16(&o, 2, (uint16_t)(o.len - 4));
	return reply_end(cmd, &o);
}
