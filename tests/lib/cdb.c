/* SPDX-License-Identifier: GPL-2.0-or-later */

/* CDBs by name; see cdb.h. */

#include "tests/lib/cdb.h"

#include <string.h>

#include "lib/be.h"
#include "scsi/scsi_int.h"

static struct cdb put(struct cdb c, unsigned at, unsigned size, uint64_t v)
{
	while (size--) {
		c.b[at + size] = (uint8_t)v;
		v >>= 8;
	}
	return c;
}

struct cdb cdb_with(struct cdb c, unsigned at, uint8_t value)
{
	c.b[at] = value;
	return c;
}

static struct cdb op(uint8_t opcode)
{
	return (struct cdb){ { opcode } };
}

struct cdb cdb_tur(void)
{
	return op(0x00);
}

struct cdb cdb_request_sense(bool descriptor, uint8_t len)
{
	return (struct cdb){ { 0x03, descriptor, 0, 0, len } };
}

struct cdb cdb_inquiry(int page, uint16_t len)
{
	struct cdb c = put(op(0x12), 3, 2, len);

	if (page != STANDARD_INQUIRY) {
		c.b[1] = 0x01;
		c.b[2] = (uint8_t)page;
	}
	return c;
}

struct cdb cdb_mode_sense6(unsigned pc, uint8_t page, uint8_t len)
{
	return (struct cdb){ { 0x1a, 0, (uint8_t)(pc << 6 | page), 0, len } };
}

struct cdb cdb_mode_sense10(unsigned pc, uint8_t page, uint16_t len)
{
	struct cdb c = { { 0x5a, 0, (uint8_t)(pc << 6 | page) } };

	return put(c, 7, 2, len);
}

struct cdb cdb_mode_select6(uint8_t len)
{
	return (struct cdb){ { 0x15, 0x10, 0, 0, len } };
}

struct cdb cdb_mode_select10(uint16_t len)
{
	return put((struct cdb){ { 0x55, 0x10 } }, 7, 2, len);
}

struct cdb cdb_report_luns(uint8_t select_report, uint32_t len)
{
	return put((struct cdb){ { 0xa0, 0, select_report } }, 6, 4, len);
}

struct cdb cdb_read_capacity10(void)
{
	return op(0x25);
}

struct cdb cdb_read_capacity16(uint32_t len)
{
	return put((struct cdb){ { 0x9e, 0x10 } }, 10, 4, len);
}

struct cdb cdb_log_sense(uint8_t page, uint16_t len)
{
	return put((struct cdb){ { 0x4d, 0, 0x40 | page } }, 7, 2, len);
}

struct cdb cdb_rsoc(uint8_t options, uint8_t opcode, uint16_t sa, uint32_t len)
{
	struct cdb c = { { 0xa3, 0x0c, options, opcode } };

	return put(put(c, 4, 2, sa), 6, 4, len);
}

struct cdb cdb_rstmf(bool extended, uint32_t len)
{
	struct cdb c = { { 0xa3, 0x0d, extended ? 0x80 : 0 } };

	return put(c, 6, 4, len);
}

struct cdb cdb_rtpg(bool extended, uint32_t len)
{
	struct cdb c = { { 0xa3, extended ? 0x2a : 0x0a } };

	return put(c, 6, 4, len);
}

struct cdb cdb_reserve6(void)
{
	return op(0x16);
}

struct cdb cdb_release6(void)
{
	return op(0x17);
}

struct cdb cdb_reserve10(void)
{
	return op(0x56);
}

struct cdb cdb_release10(void)
{
	return op(0x57);
}

struct cdb cdb_start_stop(uint8_t how)
{
	return (struct cdb){ { 0x1b, 0, 0, 0, how } };
}

static struct cdb cdb_10(uint8_t opcode, uint32_t lba, uint16_t n)
{
	return put(put(op(opcode), 2, 4, lba), 7, 2, n);
}

static struct cdb cdb_16(uint8_t opcode, uint64_t lba, uint32_t n)
{
	return put(put(op(opcode), 2, 8, lba), 10, 4, n);
}

struct cdb cdb_read10(uint32_t lba, uint16_t n)
{
	return cdb_10(0x28, lba, n);
}

struct cdb cdb_read16(uint64_t lba, uint32_t n)
{
	return cdb_16(0x88, lba, n);
}

struct cdb cdb_write10(uint32_t lba, uint16_t n)
{
	return cdb_10(0x2a, lba, n);
}

struct cdb cdb_write16(uint64_t lba, uint32_t n)
{
	return cdb_16(0x8a, lba, n);
}

struct cdb cdb_caw(uint64_t lba, uint8_t n)
{
	return cdb_with(cdb_16(0x89, lba, 0), 13, n);
}

/* ---- running ----------------------------------------------------------- */

struct rig_cmd *cdb_new(unsigned nexus, unsigned lun, struct cdb c)
{
	struct rig_cmd *cmd = rig_new(nexus, lun);

	memcpy(cmd->scsi.cdb, c.b, sizeof(c.b));
	return cmd;
}

struct rig_cmd *run(unsigned nexus, unsigned lun, struct cdb c)
{
	return run_in(nexus, lun, c, 0);
}

struct rig_cmd *run_in(unsigned nexus, unsigned lun, struct cdb c, uint32_t len)
{
	struct rig_cmd *cmd = cdb_new(nexus, lun, c);

	rig_submit(cmd, len, true);
	return cmd;
}

struct rig_cmd *run_out(unsigned nexus, unsigned lun, struct cdb c,
			const void *data, uint32_t len)
{
	struct rig_cmd *cmd = cdb_new(nexus, lun, c);

	memcpy(cmd->out, data, len);
	rig_submit(cmd, len, false);
	return cmd;
}

/* ---- what came --------------------------------------------------------- */

uint16_t in16(const struct rig_cmd *c, unsigned at)
{
	return be16_get(BE_AT(be16, c->in, at));
}

uint32_t in32(const struct rig_cmd *c, unsigned at)
{
	return be32_get(BE_AT(be32, c->in, at));
}

uint64_t in64(const struct rig_cmd *c, unsigned at)
{
	return be64_get(BE_AT(be64, c->in, at));
}

bool points_at(const struct rig_cmd *c, unsigned byte, unsigned bit)
{
	return c->scsi.sense[15] == (0xc8 | bit) &&
	       be16_get(BE_AT(be16, c->scsi.sense, 16)) == byte;
}

bool points_at_param(const struct rig_cmd *c, unsigned byte)
{
	return c->scsi.sense[15] == 0x80 &&
	       be16_get(BE_AT(be16, c->scsi.sense, 16)) == byte;
}

unsigned drain_attentions(unsigned nexus, unsigned lun)
{
	unsigned n = 0;

	while (!rig_good(run(nexus, lun, cdb_tur())))
		n++;
	return n;
}

void maps_changed(void)
{
	unsigned i;

	fake_run();
	for (i = 0; i < 2; i++)
		rig.refs[i] = atomic_load(&rig.lu[i]->refs);
}
