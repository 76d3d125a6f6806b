/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Results: their table, the only map from errno, the helpers with which a
 * refusal says where the fault is, and the only function that knows fixed and
 * descriptor format sense data (SPC-4).
 */

#include <errno.h>

#include "scsi/scsi_int.h"

static const struct result {
	const char	*name;
	uint8_t		 status, key, asc, ascq;
} results[] = {
#define RESULT(name, status, key, asc, ascq) \
	{ #name, STATUS_##status, KEY_##key, asc, ascq },
#include "scsi/result.def"
#undef RESULT
};

_Static_assert(ARRAY_SIZE(results) == SCSI_RESULTS, "one row per result");

uint8_t result_status(enum scsi_result r)
{
	return results[r].status;
}

enum sense_key result_key(enum scsi_result r)
{
	return (enum sense_key)results[r].key;
}

const char *result_name(enum scsi_result r)
{
	return results[r].name;
}

enum scsi_result result_of_errno(int err, bool write)
{
	switch (err) {
	case 0:
		return SCSI_GOOD;
	case -ENOSPC:
	case -EDQUOT:
		return SCSI_SPACE_ALLOC_FAILED;
	case -EROFS:
		return SCSI_WRITE_PROTECTED;
	case -ENOMEM:
	case -EAGAIN:
		return SCSI_BUSY_RESOURCES;
	case -ENODEV:
		return SCSI_BECOMING_READY;
	case -ECANCELED:
		return SCSI_COMMAND_ABORTED;
	default:
		return write ? SCSI_WRITE_ERROR : SCSI_READ_ERROR;
	}
}

enum scsi_result result_of_breq(const struct breq *b)
{
	return result_of_errno(b->error, b->op != BREQ_READ &&
			       b->op != BREQ_EXTENT && b->op != BREQ_PREFETCH);
}

enum scsi_result bad_field(struct scsi_cmd *cmd, unsigned byte, unsigned bit)
{
	cmd->detail.field_valid = true;
	cmd->detail.in_cdb = true;
	cmd->detail.bit_valid = true;
	cmd->detail.field = (uint16_t)byte;
	cmd->detail.bit = (uint8_t)bit;
	return SCSI_INVALID_FIELD_IN_CDB;
}

enum scsi_result bad_param(struct scsi_cmd *cmd, enum scsi_result r,
			   unsigned byte)
{
	cmd->detail.field_valid = true;
	cmd->detail.in_cdb = false;
	cmd->detail.bit_valid = false;
	cmd->detail.field = (uint16_t)byte;
	return r;
}

enum scsi_result lba_error(struct scsi_cmd *cmd, uint64_t lba)
{
	cmd->detail.info_valid = true;
	cmd->detail.info = lba;
	return SCSI_LBA_OUT_OF_RANGE;
}

enum scsi_result miscompare_at(struct scsi_cmd *cmd, uint64_t offset)
{
	cmd->detail.info_valid = true;
	cmd->detail.info = offset;
	return SCSI_MISCOMPARE;
}

/* SENSE KEY SPECIFIC, three bytes; false: there are none. */
static bool key_specific(const struct result *r, const struct sense_detail *d,
			 uint8_t out[3])
{
	be16 v = be16_of(d->field);

	switch (r->key) {
	case KEY_ILLEGAL_REQUEST:
		if (!d->field_valid)
			return false;
		out[0] = (uint8_t)(0x80 | (d->in_cdb ? 0x40 : 0) |
				   (d->bit_valid ? 0x08 | d->bit : 0));
		break;
	case KEY_COPY_ABORTED:
		if (!d->field_valid)
			return false;
		/* SD: the pointer counts from the segment descriptor */
		out[0] = d->segment_valid ? 0xa0 : 0x80;
		break;
	case KEY_NO_SENSE:
	case KEY_NOT_READY:
		if (!d->progress_valid)
			return false;
		out[0] = 0x80;
		v = be16_of(d->progress);
		break;
	default:
		return false;
	}
	memcpy(out + 1, v.b, sizeof(v));
	return true;
}

static const struct sense_detail no_detail;

#define FIXED_LEN 18u

static unsigned fixed_sense(const struct result *r,
			    const struct sense_detail *d, uint8_t *out)
{
	unsigned len = FIXED_LEN;
	be32 info = be32_of((uint32_t)d->info);
	be16 segment = be16_of(d->segment);

	memset(out, 0, FIXED_LEN);
	out[0] = 0x70;
	if (d->info_valid && d->info <= UINT32_MAX) {
		out[0] |= 0x80;
		memcpy(out + 3, info.b, sizeof(info));
	}
	out[2] = r->key;
	if (d->segment_valid)
		memcpy(out + 10, segment.b, sizeof(segment));
	out[12] = r->asc;
	out[13] = r->ascq;
	key_specific(r, d, out + 15);
	if (d->forwarded != SCSI_GOOD) {
		out[d->forwarded_dst ? 9 : 8] = FIXED_LEN;
		len += fixed_sense(&results[d->forwarded], &no_detail,
				   out + FIXED_LEN);
	}
	out[7] = (uint8_t)(len - 8);
	return len;
}

static unsigned descriptor_sense(const struct result *r,
				 const struct sense_detail *d, uint8_t *out)
{
	struct out o = out_of(out, SENSE_MAX);
	uint8_t sks[3];

	out_u8(&o, 0x72);
	out_u8(&o, r->key);
	out_u8(&o, r->asc);
	out_u8(&o, r->ascq);
	out_fill(&o, 0, 4);
	if (d->info_valid) {		/* INFORMATION */
		out_u8(&o, 0x00);
		out_u8(&o, 0x0a);
		out_be16(&o, 0x8000);
		out_be64(&o, d->info);
	}
	if (d->segment_valid) {		/* command specific information */
		out_u8(&o, 0x01);
		out_u8(&o, 0x0a);
		out_fill(&o, 0, 4);
		out_be16(&o, d->segment);
		out_fill(&o, 0, 4);
	}
	if (key_specific(r, d, sks)) {
		out_u8(&o, 0x02);
		out_u8(&o, 0x06);
		out_fill(&o, 0, 2);
		out_bytes(&o, sks, sizeof(sks));
		out_u8(&o, 0);
	}
	if (d->forwarded != SCSI_GOOD) {	/* forwarded sense data */
		uint8_t inner[FIXED_LEN + 2];
		unsigned n = fixed_sense(&results[d->forwarded], &no_detail,
					 inner);

		out_u8(&o, 0x0c);
		out_u8(&o, 2 + n);
		out_u8(&o, d->forwarded_dst ? 2 : 1);
		out_u8(&o, results[d->forwarded].status);
		out_bytes(&o, inner, n);
	}
	out[7] = (uint8_t)(o.len - 8);
	return (unsigned)o.len;
}

unsigned sense_bytes(enum scsi_result r, const struct sense_detail *d,
		     bool descriptor, uint8_t *out)
{
	if (!d)
		d = &no_detail;
	return descriptor ? descriptor_sense(&results[r], d, out) :
			    fixed_sense(&results[r], d, out);
}

void build_sense(struct scsi_cmd *cmd, bool descriptor)
{
	cmd->sense_len = (uint8_t)sense_bytes(cmd->result, &cmd->detail,
					      descriptor, cmd->sense);
}
