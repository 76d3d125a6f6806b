/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parameter list of PERSISTENT RESERVE OUT (SPC-4): 24 bytes, and
 * TransportIDs behind them for REGISTER with SPEC_I_PT and for REGISTER AND
 * MOVE, whose list is laid out otherwise.  Obsolete fields are not looked at,
 * reserved ones must be zero.
 */

#include "scsi/pr.h"

struct basic {
	be64	key, sa_key;
	uint8_t	obsolete[4];
	uint8_t	flags;
	uint8_t	rsvd;
	uint8_t	obsolete2[2];
};
_Static_assert(sizeof(struct basic) == PR_PARAM_LEN, "without TransportIDs");

enum { SPEC_I_PT = 0x08, ALL_TG_PT = 0x04, APTPL = 0x01 };

struct move {
	be64	key, sa_key;
	uint8_t	rsvd;
	uint8_t	flags;
	be16	rtpi;
	be32	ids_len;
};
_Static_assert(sizeof(struct move) == PR_PARAM_LEN, "without the TransportID");

enum { MOVE_UNREG = 0x02, MOVE_APTPL = 0x01 };

static enum scsi_result bad(struct scsi_cmd *cmd, unsigned byte)
{
	return bad_param(cmd, SCSI_INVALID_FIELD_IN_PARAM, byte);
}

/* TransportIDs from byte at on: len of them, and nothing else follows. */
static enum scsi_result take_ids(struct scsi_cmd *cmd, struct pr_request *q,
				 uint32_t at, uint32_t len)
{
	if (len % 4)
		return bad(cmd, at - 4);
	if (len != cmd->length - at)
		return SCSI_PARAM_LENGTH_ERROR;
	q->ids = cur_of(cmd->data + at, len);
	return SCSI_GOOD;
}

static enum scsi_result parse_move(struct scsi_cmd *cmd, struct pr_request *q)
{
	const struct move *m = (const struct move *)cmd->data;

	if (m->rsvd)
		return bad(cmd, 16);
	if (m->flags & ~(MOVE_UNREG | MOVE_APTPL))
		return bad(cmd, 17);
	q->key = be64_get(m->key);
	q->sa_key = be64_get(m->sa_key);
	q->unreg = m->flags & MOVE_UNREG;
	q->aptpl = m->flags & MOVE_APTPL;
	q->rtpi = be16_get(m->rtpi);
	if (q->aptpl && !cmd->lu->events.pr_store)
		return bad(cmd, 17);
	return take_ids(cmd, q, PR_PARAM_LEN, be32_get(m->ids_len));
}

static enum scsi_result parse_ids(struct scsi_cmd *cmd, struct pr_request *q)
{
	if (!q->spec_i_pt)
		return cmd->length == PR_PARAM_LEN ? SCSI_GOOD :
						     SCSI_PARAM_LENGTH_ERROR;
	if (q->sa != PR_REGISTER)
		return bad(cmd, 20);
	if (cmd->length < PR_PARAM_LEN + 4)
		return SCSI_PARAM_LENGTH_ERROR;
	return take_ids(cmd, q, PR_PARAM_LEN + 4,
			be32_get(BE_AT(be32, cmd->data, PR_PARAM_LEN)));
}

static enum scsi_result parse_basic(struct scsi_cmd *cmd, struct pr_request *q)
{
	const struct basic *b = (const struct basic *)cmd->data;
	bool registers = q->sa == PR_REGISTER || q->sa == PR_REGISTER_IGNORE;

	if (b->flags & ~(SPEC_I_PT | ALL_TG_PT | APTPL))
		return bad(cmd, 20);
	if (b->rsvd)
		return bad(cmd, 21);
	q->key = be64_get(b->key);
	q->sa_key = be64_get(b->sa_key);
	q->spec_i_pt = b->flags & SPEC_I_PT;
	/* the others have no use for them */
	q->all_ports = registers && b->flags & ALL_TG_PT;
	q->aptpl = registers && b->flags & APTPL;
	if (q->aptpl && !cmd->lu->events.pr_store)
		return bad(cmd, 20);
	return parse_ids(cmd, q);
}

enum scsi_result pr_parse(struct scsi_cmd *cmd, struct pr_request *q)
{
	*q = (struct pr_request){
		.sa = (enum pr_out_action)(cmd->cdb[1] & 0x1f),
		.scope = cmd->cdb[2] >> 4, .type = cmd->cdb[2] & 0xf,
	};
	if (cmd->wanted < PR_PARAM_LEN || cmd->length != cmd->wanted)
		return SCSI_PARAM_LENGTH_ERROR;
	return q->sa == PR_REGISTER_MOVE ? parse_move(cmd, q) :
					   parse_basic(cmd, q);
}
