/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * REPORT TIMESTAMP and SET TIMESTAMP (SPC-4): milliseconds since 1970, by the
 * system's clock until a host sets its own.
 */

#include <time.h>

#include "scsi/scsi_int.h"

enum origin { BY_COMMAND = 2, BY_OTHER_MEANS = 3 };

static int64_t clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

static void put_48(struct out *o, uint64_t x)
{
	out_be16(o, (uint16_t)(x >> 32));
	out_be32(o, (uint32_t)x);
}

enum scsi_result report_timestamp_start(struct scsi_cmd *cmd)
{
	const struct lu *lu = cmd->lu;
	struct out o = reply_begin(cmd);

	out_be16(&o, 10);
	out_u8(&o, atomic_load(&lu->clock_set) ? BY_COMMAND : BY_OTHER_MEANS);
	out_u8(&o, 0);
	put_48(&o, (uint64_t)(clock_ms() + atomic_load(&lu->clock_ahead)));
	out_be16(&o, 0);
	return reply_end(cmd, &o);
}

enum scsi_result set_timestamp_start(struct scsi_cmd *cmd)
{
	struct lu *lu = cmd->lu;
	const uint8_t *list = cmd->data;
	uint64_t ms;

	if (!cmd->length)
		return SCSI_GOOD;
	if (cmd->length < 12)
		return SCSI_PARAM_LENGTH_ERROR;
	ms = (uint64_t)be16_get(BE_AT(be16, list, 4)) << 32 |
	     be32_get(BE_AT(be32, list, 6));
	atomic_store(&lu->clock_ahead, (int64_t)ms - clock_ms());
	atomic_store(&lu->clock_set, true);
	ua_post(lu, UA_TIMESTAMP_CHANGED, cmd->nexus);
	return SCSI_GOOD;
}
