/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whole commands by the raw initiator.
 */
#include <string.h>

#include "tests/lib/raw.h"

static void rw_cdb(uint8_t *cdb, uint8_t opcode, uint64_t lba, uint32_t blocks)
{
	be64 l = be64_of(lba);
	be32 n = be32_of(blocks);

	cdb[0] = opcode;
	memcpy(cdb + 2, &l, sizeof(l));
	memcpy(cdb + 10, &n, sizeof(n));
}

static int answer_r2t(struct raw *r, const uint8_t *buf, uint32_t size,
		      uint32_t max)
{
	union bhs r2t = r->bhs, b;
	uint32_t off = be32_get(r2t.r2t.buffer_offset), sn = 0, n;
	uint32_t left = be32_get(r2t.r2t.desired_len);

	if (off > size || left > size - off)
		return -1;
	for (; left; left -= n, off += n) {
		n = left < max ? left : max;
		memset(&b, 0, sizeof(b));
		b.data_out.opcode = OP_DATA_OUT;
		b.data_out.flags = n == left ? FLAG_FINAL : 0;
		memcpy(b.data_out.lun, r2t.r2t.lun, 8);
		b.data_out.itt = r2t.r2t.itt;
		b.data_out.ttt = r2t.r2t.ttt;
		b.data_out.exp_stat_sn = be32_of(r->exp_stat_sn);
		b.data_out.data_sn = be32_of(sn++);
		b.data_out.buffer_offset = be32_of(off);
		if (raw_send(r, &b, buf + off, n))
			return -1;
	}
	return 0;
}

int raw_write(struct raw *r, int lun, uint64_t lba, const void *buf,
	      uint32_t blocks)
{
	struct raw_cmd c = { .lun = lun, .flags = CMD_WRITE,
			     .edtl = blocks * 512 };
	int rc;

	rw_cdb(c.cdb, 0x8a, lba, blocks);
	/* some of it at once, where that is allowed */
	if (!strcmp(raw_key(r, "ImmediateData"), "Yes")) {
		c.data = buf;
		c.data_len = c.edtl < DSL_DEFAULT ? c.edtl : DSL_DEFAULT;
	}
	raw_command(r, &c);
	for (;;) {
		rc = raw_recv(r, DEADLINE_MS);
		if (rc == OP_SCSI_RESPONSE)
			return r->bhs.scsi_response.status;
		if (rc < 0)
			return rc;
		if (rc == OP_R2T && answer_r2t(r, buf, c.edtl, DSL_DEFAULT))
			return -10;
	}
}

int raw_read(struct raw *r, int lun, uint64_t lba, void *buf, uint32_t blocks)
{
	struct raw_cmd c = { .lun = lun, .flags = CMD_READ,
			     .edtl = blocks * 512 };
	uint32_t off;
	int rc;

	rw_cdb(c.cdb, 0x88, lba, blocks);
	raw_command(r, &c);
	for (;;) {
		rc = raw_recv(r, DEADLINE_MS);
		if (rc == OP_SCSI_RESPONSE)
			return r->bhs.scsi_response.status;
		if (rc < 0)
			return rc;
		if (rc != OP_DATA_IN)
			continue;
		off = be32_get(r->bhs.data_in.buffer_offset);
		if (off > c.edtl || r->data_len > c.edtl - off)
			return -10;
		memcpy((uint8_t *)buf + off, r->data, r->data_len);
		if (r->bhs.data_in.flags & DATA_IN_STATUS)
			return r->bhs.data_in.status;
	}
}

int raw_tur(struct raw *r, int lun)
{
	struct raw_cmd c = { .lun = lun };
	int rc;

	raw_command(r, &c);
	rc = raw_recv_opcode(r, OP_SCSI_RESPONSE, DEADLINE_MS);
	return rc < 0 ? rc : r->bhs.scsi_response.status;
}

int raw_settle(struct raw *r, int lun)
{
	int n, rc = -1;

	for (n = 0; n < 10; n++) {
		rc = raw_tur(r, lun);
		if (rc != 2 || (r->data[4] & 0x0f) != 6)
			break;
	}
	return rc;
}
