/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * REPORT TARGET PORT GROUPS (SPC-4 6.37): implicit ALUA with a single group,
 * active/optimized.  Its ports are those through which the logical unit is in
 * use now, so that every path tells the same.
 */

#include "scsi/scsi_int.h"

#define GROUP_ID	1
#define PORTS_MAX	256

static unsigned ports_of(struct lu *lu, uint16_t rtpi[PORTS_MAX])
{
	unsigned n = 0, i;
	struct itl *itl;

	pthread_mutex_lock(&lu->mutex);
	list_for_each(itl, &lu->itls, in_lu) {
		uint16_t id = itl->nexus->config.rtpi;

		for (i = n; i > 0 && rtpi[i - 1] > id; i--)
			;
		if ((i > 0 && rtpi[i - 1] == id) || n == PORTS_MAX)
			continue;
		memmove(rtpi + i + 1, rtpi + i, (n - i) * sizeof(rtpi[0]));
		rtpi[i] = id;
		n++;
	}
	pthread_mutex_unlock(&lu->mutex);
	return n;
}

enum scsi_result rtpg_start(struct scsi_cmd *cmd)
{
	unsigned format = cmd->cdb[1] >> 5, n, i;
	struct out o = reply_begin(cmd);
	uint16_t rtpi[PORTS_MAX];

	if (format > 1)
		return bad_field(cmd, 1, 7);
	n = ports_of(cmd->lu, rtpi);
	out_be32(&o, 0);
	if (format) {			/* extended header */
		out_u8(&o, 0x10);
		out_fill(&o, 0, 3);	/* no implicit transition time */
	}
	out_u8(&o, 0x00);		/* active/optimized */
	out_u8(&o, 0x01);		/* AO_SUP alone */
	out_be16(&o, GROUP_ID);
	out_fill(&o, 0, 3);
	out_u8(&o, MIN(n, 255u));
	for (i = 0; i < MIN(n, 255u); i++) {
		out_be16(&o, 0);
		out_be16(&o, rtpi[i]);
	}
	out_patch_be32(&o, 0, (uint32_t)(o.len - 4));
	return reply_end(cmd, &o);
}
