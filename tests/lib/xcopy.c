/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Parameter lists of EXTENDED COPY for tests. */

#include "tests/lib/xcopy.h"

#include <string.h>

#include "lib/cur.h"
#include "scsi/scsi_int.h"

static uint32_t cscd_len(const struct rig_cmd *c)
{
	return be16_get(BE_AT(be16, c->out, 2));
}

static uint32_t segment_len(const struct rig_cmd *c)
{
	return be32_get(BE_AT(be32, c->out, 8));
}

uint32_t xcopy_len(const struct rig_cmd *c)
{
	return 16 + cscd_len(c) + segment_len(c);
}

struct rig_cmd *xcopy_new(unsigned nexus, unsigned lun)
{
	struct rig_cmd *c = rig_new(nexus, lun);

	c->scsi.cdb[0] = 0x83;
	c->out[1] = 3 << 3;
	return c;
}

void xcopy_list_id(struct rig_cmd *c, uint8_t id, unsigned usage)
{
	c->out[0] = id;
	c->out[1] = (uint8_t)(usage << 3);
}

void xcopy_cscd(struct rig_cmd *c, unsigned lun)
{
	const struct lu_config *config = &rig.lu[lun]->config;
	uint32_t len = cscd_len(c);
	uint8_t *d = c->out + 16 + len;
	be16 l = be16_of((uint16_t)(len + 32));

	d[0] = 0xe4;
	d[4] = 0x01;
	d[5] = 0x03;
	d[7] = config->naa_len;
	memcpy(d + 8, config->naa, config->naa_len);
	d[30] = 0x02;
	memcpy(c->out + 2, &l, sizeof(l));
}

static void put(struct rig_cmd *c, const struct out *o)
{
	be32 l = be32_of((uint32_t)(segment_len(c) + o->len));

	memcpy(c->out + 8, &l, sizeof(l));
}

static struct out begin(struct rig_cmd *c, uint8_t type, uint16_t len)
{
	struct out o = out_of(c->out + xcopy_len(c), 64);

	out_u8(&o, type);
	out_u8(&o, 0);
	out_be16(&o, len);
	return o;
}

void xcopy_segment_add(struct rig_cmd *c, unsigned src, unsigned dst,
		       uint16_t n, uint64_t from, uint64_t to)
{
	struct out o = begin(c, 0x02, 0x18);

	out_be16(&o, (uint16_t)src);
	out_be16(&o, (uint16_t)dst);
	out_be16(&o, 0);
	out_be16(&o, n);
	out_be64(&o, from);
	out_be64(&o, to);
	put(c, &o);
}

void xcopy_bytes_add(struct rig_cmd *c, unsigned src, unsigned dst, uint32_t n,
		     uint64_t from, uint64_t to, uint16_t from_off,
		     uint16_t to_off)
{
	struct out o = begin(c, 0x0a, 0x1c);

	out_be16(&o, (uint16_t)src);
	out_be16(&o, (uint16_t)dst);
	out_be32(&o, n);
	out_be64(&o, from);
	out_be64(&o, to);
	out_be16(&o, from_off);
	out_be16(&o, to_off);
	put(c, &o);
}

struct rig_cmd *xcopy_submit_len(struct rig_cmd *c, uint32_t len)
{
	be32 l = be32_of(len);

	memcpy(c->scsi.cdb + 10, &l, sizeof(l));
	rig_submit(c, len, false);
	return c;
}

struct rig_cmd *xcopy_submit(struct rig_cmd *c)
{
	return xcopy_submit_len(c, xcopy_len(c));
}
