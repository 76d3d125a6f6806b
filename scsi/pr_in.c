/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PERSISTENT RESERVE IN (SPC-4).  The lengths tell the whole answer, whatever
 * the allocation length cuts off.
 */

#include "scsi/pr.h"

#define CRH	0x10	/* capabilities, byte 2: SPC-3's RESERVE exceptions */
#define SIP_C	0x08
#define ATP_C	0x04
#define PTPL_C	0x01
#define TMV	0x80	/* byte 3 */
#define ALLOW_TUR 0x10	/* ALLOW COMMANDS 1: TEST UNIT READY never conflicts */
#define PTPL_A	0x01

static void read_keys(const struct pr_table *t, struct out *o)
{
	unsigned i;

	out_be32(o, t->generation);
	out_be32(o, 8 * t->n);
	for (i = 0; i < t->n; i++)
		out_be64(o, t->r[i].key);
}

/* All registrants: nobody's key stands for the reservation. */
static uint64_t holder_key(const struct pr_table *t)
{
	unsigned i;

	for (i = 0; i < t->n; i++)
		if (t->r[i].holder)
			return t->r[i].key;
	return 0;
}

static void read_reservation(const struct pr_table *t, struct out *o)
{
	out_be32(o, t->generation);
	out_be32(o, t->type ? 16 : 0);
	if (!t->type)
		return;
	out_be64(o, holder_key(t));
	out_fill(o, 0, 5);
	out_u8(o, t->type);		/* SCOPE 0: the logical unit */
	out_fill(o, 0, 2);
}

static void report_capabilities(const struct lu *lu, const struct pr_table *t,
				struct out *o)
{
	out_be16(o, 8);
	out_u8(o, CRH | SIP_C | ATP_C | (lu->events.pr_store ? PTPL_C : 0));
	out_u8(o, TMV | ALLOW_TUR | (t->aptpl ? PTPL_A : 0));
	out_u8(o, 1 << PR_WE | 1 << PR_EA | 1 << PR_WE_RO | 1 << PR_EA_RO |
		  1 << PR_WE_AR);
	out_u8(o, 1 << (PR_EA_AR - 8));
	out_fill(o, 0, 2);
}

static void full_status(const struct pr_table *t,
			const struct pr_registrant *r, struct out *o)
{
	bool holds = pr_holds(t, r);
	size_t at;

	out_be64(o, r->key);
	out_fill(o, 0, 4);
	out_u8(o, (r->all_ports ? 0x02 : 0) | (holds ? 0x01 : 0));
	out_u8(o, holds ? t->type : 0);
	out_fill(o, 0, 4);
	out_be16(o, r->rtpi);
	at = o->len;
	out_be32(o, 0);
	pr_id_put(o, r);
	out_patch_be32(o, at, (uint32_t)(o->len - at - 4));
}

static void read_full_status(const struct pr_table *t, struct out *o)
{
	unsigned i;

	out_be32(o, t->generation);
	out_be32(o, 0);
	for (i = 0; i < t->n; i++)
		full_status(t, &t->r[i], o);
	out_patch_be32(o, 4, (uint32_t)(o->len - 8));
}

enum scsi_result pr_in_start(struct scsi_cmd *cmd)
{
	struct lu *lu = cmd->lu;
	const struct pr_table *t;
	struct out o = reply_begin(cmd);

	if (atomic_load(&lu->reserved_by))
		return SCSI_RESERVED_BY_OTHER;	/* SPC-2: the holder's too */
	pthread_mutex_lock(&lu->mutex);
	t = pr_now(lu);
	switch ((enum pr_in_action)(cmd->cdb[1] & 0x1f)) {
	case PR_READ_KEYS:
		read_keys(t, &o);
		break;
	case PR_READ_RESERVATION:
		read_reservation(t, &o);
		break;
	case PR_REPORT_CAPABILITIES:
		report_capabilities(lu, t, &o);
		break;
	case PR_READ_FULL_STATUS:
		read_full_status(t, &o);
		break;
	}
	pthread_mutex_unlock(&lu->mutex);
	return reply_end(cmd, &o);
}
