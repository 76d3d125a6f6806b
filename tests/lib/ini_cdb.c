/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CDBs to the byte, and sense data in both formats.
 */
#include "tests/lib/ini.h"

#include <stdio.h>
#include <string.h>

static void set16(uint8_t *p, uint16_t x)
{
	be16 v = be16_of(x);

	memcpy(p, &v, sizeof(v));
}

static void set32(uint8_t *p, uint32_t x)
{
	be32 v = be32_of(x);

	memcpy(p, &v, sizeof(v));
}

static void set64(uint8_t *p, uint64_t x)
{
	be64 v = be64_of(x);

	memcpy(p, &v, sizeof(v));
}

struct cmd cmd_raw(const char *hex, void *in, size_t in_len)
{
	struct cmd c = { .in = in, .in_len = in_len };
	unsigned byte;
	int n;

	while (c.cdb_len < sizeof(c.cdb) &&
	       sscanf(hex, " %2x%n", &byte, &n) == 1) {
		c.cdb[c.cdb_len++] = (uint8_t)byte;
		hex += n;
	}
	return c;
}

struct cmd cmd_tur(void)
{
	return (struct cmd){ .cdb_len = 6 };
}

struct cmd cmd_inquiry(int page, void *in, uint16_t len)
{
	struct cmd c = { .cdb = { 0x12, page >= 0, 0 }, .cdb_len = 6,
			 .in = in, .in_len = len };

	if (page >= 0)
		c.cdb[2] = (uint8_t)page;
	set16(c.cdb + 3, len);
	return c;
}

static struct cmd cmd_16(uint8_t opcode, uint64_t lba, uint32_t blocks)
{
	struct cmd c = { .cdb = { opcode }, .cdb_len = 16 };

	set64(c.cdb + 2, lba);
	set32(c.cdb + 10, blocks);
	return c;
}

struct cmd cmd_read(uint64_t lba, uint32_t blocks, void *in, size_t len)
{
	struct cmd c = cmd_16(0x88, lba, blocks);

	c.in = in;
	c.in_len = len;
	return c;
}

struct cmd cmd_write(uint64_t lba, uint32_t blocks, const void *out,
		     size_t len)
{
	struct cmd c = cmd_16(0x8a, lba, blocks);

	c.out = out;
	c.out_len = len;
	return c;
}

struct cmd cmd_caw(uint64_t lba, uint8_t blocks, const void *out, size_t len)
{
	struct cmd c = cmd_16(0x89, lba, 0);

	c.cdb[13] = blocks;
	c.out = out;
	c.out_len = len;
	return c;
}

struct cmd cmd_write_same(uint64_t lba, uint32_t blocks, unsigned flags,
			  const void *out, size_t len)
{
	struct cmd c = cmd_16(0x93, lba, blocks);

	c.cdb[1] = (uint8_t)flags;
	c.out = out;
	c.out_len = len;
	return c;
}

struct cmd cmd_sync(void)
{
	return cmd_16(0x91, 0, 0);
}

struct cmd cmd_capacity(void *in32)
{
	struct cmd c = { .cdb = { 0x9e, 0x10 }, .cdb_len = 16, .in = in32,
			 .in_len = 32 };

	set32(c.cdb + 10, 32);
	return c;
}

struct cmd cmd_unmap(const struct unmap_range *r, unsigned n, uint8_t *buf)
{
	struct cmd c = { .cdb = { 0x42 }, .cdb_len = 10, .out = buf,
			 .out_len = 8 + 16 * (size_t)n };
	unsigned i;

	memset(buf, 0, c.out_len);
	set16(buf, (uint16_t)(6 + 16 * n));
	set16(buf + 2, (uint16_t)(16 * n));
	for (i = 0; i < n; i++) {
		set64(buf + 8 + 16 * i, r[i].lba);
		set32(buf + 16 + 16 * i, r[i].blocks);
	}
	set16(c.cdb + 7, (uint16_t)c.out_len);
	return c;
}

/* ---- sense ---- */

static bool descriptor_format(const struct cmd *c)
{
	return (c->sense[0] & 0x7f) >= 0x72;
}

unsigned sense_key(const struct cmd *c)
{
	if (c->sense_len < 4)
		return 0;
	return c->sense[descriptor_format(c) ? 1 : 2] & 0x0f;
}

unsigned sense_asc(const struct cmd *c)
{
	unsigned at = descriptor_format(c) ? 2 : 12;

	if (c->sense_len < at + 2)
		return 0;
	return (unsigned)c->sense[at] << 8 | c->sense[at + 1];
}

/* The descriptor of this type, or NULL. */
static const uint8_t *descriptor(const struct cmd *c, uint8_t type)
{
	unsigned at = 8, end = 8u + c->sense[7];

	while (at + 2 <= end && end <= c->sense_len) {
		if (c->sense[at] == type)
			return c->sense + at;
		at += 2u + c->sense[at + 1];
	}
	return NULL;
}

bool sense_info(const struct cmd *c, uint64_t *ret)
{
	const uint8_t *p;

	if (!descriptor_format(c)) {
		*ret = be32_get(BE_AT(be32, c->sense, 3));
		return c->sense[0] & 0x80;
	}
	p = descriptor(c, 0x00);
	if (!p || p[1] != 10)
		return false;
	*ret = be64_get(BE_AT(be64, p, 4));
	return p[2] & 0x80;
}

int sense_field(const struct cmd *c)
{
	const uint8_t *p = c->sense + 15;

	if (descriptor_format(c)) {
		p = descriptor(c, 0x02);
		if (!p)
			return -1;
		p += 4;
	} else if (c->sense_len < 18) {
		return -1;
	}
	return p[0] & 0x80 ? be16_get(BE_AT(be16, p, 1)) : -1;
}
