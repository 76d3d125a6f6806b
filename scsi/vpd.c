/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Vital product data (SPC-4, SBC-3): one small function per page, and
 * their table, from which page 00h is printed.  Limits come from struct
 * lu_limits, which the checks obey.
 */

#include "scsi/vpd.h"

#include <stdio.h>

/* 00h: which pages there are, in ascending order */
static void supported_pages(struct scsi_cmd *cmd, struct out *o)
{
	unsigned code;

	for (code = 0; code < 256; code++)
		if (vpd_find(cmd->lu, (uint8_t)code))
			out_u8(o, code);
}

/* 80h */
static void serial_number(struct scsi_cmd *cmd, struct out *o)
{
	out_bytes(o, cmd->lu->config.serial, strlen(cmd->lu->config.serial));
}

/* ---- 83h --------------------------------------------------------------- */

enum { BINARY = 1, ASCII = 2, UTF8 = 3 };		/* code set */
/* association */
enum { OF_LU = 0x00, OF_PORT = 0x10, OF_TARGET = 0x20 };
#define ISCSI_PORT	0x50	/* protocol identifier, first byte */
#define PIV		0x80	/* protocol identifier valid */

static void designator(struct out *o, unsigned code_set, unsigned type,
		       const void *id, size_t len)
{
	bool of_lu = !(type & 0x30);

	out_u8(o, code_set | (of_lu ? 0 : ISCSI_PORT));
	out_u8(o, type | (of_lu ? 0 : PIV));
	out_u8(o, 0);
	out_u8(o, (unsigned)len);
	out_bytes(o, id, len);
}

/* Hosts compare only the first eight bytes after the vendor identification:
 * they are taken from the end of the NAA designator, where it is random. */
static void t10_vendor_id(const struct lu *lu, struct out *o)
{
	const uint8_t *tail = lu->config.naa + lu->config.naa_len - 8;
	static const uint8_t order[] = { 4, 5, 6, 7, 0, 1, 2, 3 };
	uint8_t id[8 + 16];
	struct out text = out_of(id, sizeof(id));
	unsigned i;

	out_ascii(&text, lu->config.vendor, 8);
	for (i = 0; i < sizeof(order); i++) {
		char hex[3];

		snprintf(hex, sizeof(hex), "%02x", tail[order[i]]);
		out_bytes(&text, hex, 2);
	}
	designator(o, ASCII, OF_LU | 1, id, sizeof(id));
}

/* SCSI name strings end in a NUL and are padded to a multiple of four. */
static void name_string(struct out *o, unsigned association, const char *name)
{
	static const char zero[4];
	size_t len = strlen(name), pad = 4 - len % 4;

	designator(o, UTF8, association | 8, name, len);
	out_bytes(o, zero, pad);
	/* the length counts the padding */
	out_patch(o, o->len - len - pad - 1, &(uint8_t){ (uint8_t)(len + pad) },
		  1);
}

static void device_identification(struct scsi_cmd *cmd, struct out *o)
{
	const struct nexus_config *n = &cmd->nexus->config;
	const struct lu_config *lu = &cmd->lu->config;
	struct { uint8_t zero[2]; be16 id; } port = { .id = be16_of(n->rtpi) };
	struct { uint8_t zero[2]; be16 id; } group = { .id = be16_of(n->tpgt) };
	char name[ISCSI_NAME_MAX + sizeof(",t,0xffff")];

	designator(o, BINARY, OF_LU | 3, lu->naa, lu->naa_len);
	t10_vendor_id(cmd->lu, o);
	designator(o, BINARY, OF_PORT | 4, &port, sizeof(port));
	designator(o, BINARY, OF_PORT | 5, &group, sizeof(group));
	snprintf(name, sizeof(name), "%s,t,0x%04x", n->target, n->tpgt);
	name_string(o, OF_PORT, name);
	name_string(o, OF_TARGET, n->target);
}

/* ---- the others -------------------------------------------------------- */

/* 86h: extended INQUIRY data */
static void extended_inquiry(struct scsi_cmd *cmd, struct out *o)
{
	out_u8(o, 0);
	out_u8(o, 0x07);		/* HEADSUP, ORDSUP, SIMPSUP */
	out_u8(o, volume_write_back(cmd->lu->volume) ? 0x01 : 0); /* V_SUP */
	out_u8(o, 0x01);		/* LUICLR */
	out_fill(o, 0, 0x3c - 4);
}

/* 87h: mode page policy: all pages, and their subpages, are of the logical
 * unit, the same for every I_T nexus. */
static void mode_page_policy(struct scsi_cmd *cmd, struct out *o)
{
	(void)cmd;
	out_u8(o, 0x3f);
	out_u8(o, 0xff);
	out_u8(o, 0x00);		/* MLUS 0; shared */
	out_u8(o, 0);
}

static bool copies(const struct lu *lu)
{
	return atomic_load(&lu->primitive[PRIM_CLONE]);
}

/* 8Fh, supported commands: service actions of 83h and 84h, by the table. */
static void copy_commands(const struct lu *lu, struct out *o)
{
	static const uint8_t opcodes[] = { 0x83, 0x84 };
	const struct scsi_op *op;
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		size_t at = o->len + 1;
		uint8_t n;

		out_u8(o, opcodes[i]);
		out_u8(o, 0);
		for (op = scsi_ops; op < scsi_ops + scsi_nops; op++)
			if (op->opcode == opcodes[i] && scsi_op_offered(op, lu))
				out_u8(o, (unsigned)op->sa);
		n = (uint8_t)(o->len - at - 1);
		out_patch(o, at, &n, 1);
	}
}

/* 8Fh: third-party copy, the five descriptors that LID1 commands demand. */
static void third_party_copy(struct scsi_cmd *cmd, struct out *o)
{
	uint8_t list[32];
	struct out commands = out_of(list, sizeof(list));

	copy_commands(cmd->lu, &commands);
	out_be16(o, 0x0001);			/* supported commands */
	out_be16(o, (uint16_t)(round_up(commands.len + 5, 4) - 4));
	out_u8(o, (unsigned)commands.len);
	out_bytes(o, list, commands.len);
	out_fill(o, 0, round_up(commands.len + 5, 4) - 5 - commands.len);

	out_be16(o, 0x0004);			/* parameter data */
	out_be16(o, 0x001c);
	out_fill(o, 0, 4);
	out_be16(o, XCOPY_CSCDS);
	out_be16(o, XCOPY_SEGMENTS);
	out_be32(o, XCOPY_LIST_MAX);
	out_be32(o, 0);				/* inline data */
	out_fill(o, 0, 12);

	out_be16(o, 0x0008);			/* supported descriptors */
	out_be16(o, 0x0004);
	out_u8(o, 3);
	out_u8(o, 0x02);
	out_u8(o, 0x0a);
	out_u8(o, 0xe4);

	out_be16(o, 0x000c);			/* supported CSCD ids */
	out_be16(o, 0x0004);
	out_fill(o, 0, 4);

	out_be16(o, 0x8001);			/* general copy operations */
	out_be16(o, 0x0020);
	out_be32(o, XCOPY_CONCURRENT);
	out_be32(o, XCOPY_CONCURRENT);
	out_be32(o, XCOPY_SEGMENT_MAX);
	out_u8(o, atomic_load(&cmd->lu->block_shift));	/* granularity */
	out_fill(o, 0, 0x20 - 13);
}

/* B0h: block limits */
static void block_limits(struct scsi_cmd *cmd, struct out *o)
{
	struct lu_limits l = lu_get_limits(cmd->lu);
	bool ats = atomic_load(&cmd->lu->primitive[PRIM_ATS]);
	bool zero = atomic_load(&cmd->lu->primitive[PRIM_ZERO]);
	bool thin = lu_thin(cmd->lu);

	out_u8(o, 0x01);			/* WSNZ */
	out_u8(o, ats ? l.max_caw : 0);
	out_be16(o, (uint16_t)l.opt_granularity);
	out_be32(o, l.max_transfer);
	out_be32(o, l.opt_transfer);
	out_be32(o, 0);				/* PRE-FETCH */
	out_be32(o, thin ? l.max_unmap_blocks : 0);
	out_be32(o, thin ? l.max_unmap_descriptors : 0);
	out_be32(o, thin ? l.unmap_granularity : 0);
	out_be32(o, l.unmap_alignment ? 1u << 31 | l.unmap_alignment : 0);
	out_be64(o, zero ? l.max_write_same : 0);
	out_fill(o, 0, 0x3c + 4 - 44);
}

/* B1h: block device characteristics */
static void characteristics(struct scsi_cmd *cmd, struct out *o)
{
	/* MEDIUM ROTATION RATE: not reported, or non-rotating */
	out_be16(o, lu_rotational(cmd->lu) ? 0x0000 : 0x0001);
	out_fill(o, 0, 0x3c - 2);
}

/* B2h: logical block provisioning */
static void provisioning(struct scsi_cmd *cmd, struct out *o)
{
	bool thin = lu_thin(cmd->lu);
	bool zero = atomic_load(&cmd->lu->primitive[PRIM_ZERO]);

	out_u8(o, (uint8_t)lu_threshold_exponent(cmd->lu));
	out_u8(o, (thin ? 0x80 : 0) |		/* LBPU */
		  (thin && zero ? 0x60 : 0) |	/* LBPWS, LBPWS10 */
		  (lu_unmap_zeroes(cmd->lu) ? 0x04 : 0) |	/* LBPRZ */
		  (lu_anchors(cmd->lu) ? 0x02 : 0));	/* ANC_SUP */
	out_u8(o, thin ? 0x02 : 0x00);		/* PROVISIONING TYPE: thin */
	out_u8(o, 0);
}

static const struct vpd_page pages[] = {
	{ 0x00, true,  NULL,	supported_pages },
	{ 0x80, false, NULL,	serial_number },
	{ 0x83, false, NULL,	device_identification },
	{ 0x86, false, NULL,	extended_inquiry },
	{ 0x87, false, NULL,	mode_page_policy },
	{ 0x8f, false, copies,	third_party_copy },
	{ 0xb0, false, NULL,	block_limits },
	{ 0xb1, false, NULL,	characteristics },
	{ 0xb2, false, NULL,	provisioning },
};

static bool page_there(const struct vpd_page *p, const struct lu *lu)
{
	if (!lu)
		return p->no_lu;
	return !p->offered || p->offered(lu);
}

const struct vpd_page *vpd_find(const struct lu *lu, uint8_t code)
{
	const struct vpd_page *p;

	for (p = pages; p < pages + ARRAY_SIZE(pages); p++)
		if (p->code == code && page_there(p, lu))
			return p;
	return NULL;
}
