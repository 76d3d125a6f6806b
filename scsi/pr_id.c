/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * iSCSI TransportIDs (SPC-4): a port, that is name, ",i,0x" and ISID (format
 * 01b), or an initiator by its name alone (00b); ended by a null, padded with
 * nulls to a multiple of four.
 */

#include <stdio.h>

#include "scsi/pr.h"

#define HEADER		4u
#define ISCSI		0x05	/* PROTOCOL IDENTIFIER */
#define FORMAT_NAME	0x00
#define FORMAT_PORT	0x40
#define LEN_MIN		20u	/* ADDITIONAL LENGTH */
#define LEN_MAX		(ISCSI_NAME_MAX + 20u)
#define SEPARATOR	",i,0x"
#define ISID_DIGITS	12u

void pr_id_put(struct out *o, const struct pr_registrant *r)
{
	char text[LEN_MAX + 1];
	const uint8_t *s = r->isid;
	size_t len, padded;

	len = (size_t)snprintf(text, sizeof(text),
			       "%s" SEPARATOR "%02x%02x%02x%02x%02x%02x",
			       r->initiator, s[0], s[1], s[2], s[3], s[4],
			       s[5]) + 1;
	padded = MAX(round_up(len, 4), LEN_MIN);
	out_u8(o, FORMAT_PORT | ISCSI);
	out_u8(o, 0);
	out_be16(o, (uint16_t)padded);
	out_bytes(o, text, len);
	out_fill(o, 0, padded - len);
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static bool isid_of(const char *text, uint8_t isid[6])
{
	unsigned i;

	if (strlen(text) != ISID_DIGITS)
		return false;
	for (i = 0; i < ISID_DIGITS; i += 2) {
		int high = digit(text[i]), low = digit(text[i + 1]);

		if (high < 0 || low < 0)
			return false;
		isid[i / 2] = (uint8_t)(high << 4 | low);
	}
	return true;
}

static bool id_of(const char *text, bool port, struct pr_id *ret)
{
	const char *end = strstr(text, SEPARATOR);
	size_t len = end ? (size_t)(end - text) : strlen(text);

	if (!!end != port || !len || len >= ISCSI_NAME_MAX)
		return false;
	*ret = (struct pr_id){ .any_isid = !port };
	memcpy(ret->initiator, text, len);
	return !port || isid_of(end + strlen(SEPARATOR), ret->isid);
}

enum scsi_result pr_id_take(struct scsi_cmd *cmd, struct cur *c,
			    struct pr_id *ret)
{
	unsigned at = (unsigned)(c->p - cmd->data), len;
	const uint8_t *h = cur_take(c, HEADER);
	const char *text;

	if (!h)
		return SCSI_PARAM_LENGTH_ERROR;
	if (h[0] != (FORMAT_NAME | ISCSI) && h[0] != (FORMAT_PORT | ISCSI))
		return bad_param(cmd, SCSI_INVALID_FIELD_IN_PARAM, at);
	if (h[1])
		return bad_param(cmd, SCSI_INVALID_FIELD_IN_PARAM, at + 1);
	len = be16_get(BE_AT(be16, h, 2));
	if (len < LEN_MIN || len > LEN_MAX || len % 4)
		return bad_param(cmd, SCSI_INVALID_FIELD_IN_PARAM, at + 2);
	text = cur_take(c, len);
	if (!text)
		return SCSI_PARAM_LENGTH_ERROR;
	if (!memchr(text, '\0', len) || !id_of(text, h[0] & FORMAT_PORT, ret))
		return bad_param(cmd, SCSI_INVALID_FIELD_IN_PARAM,
				 at + HEADER);
	return SCSI_GOOD;
}
