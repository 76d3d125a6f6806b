/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The CDBs and parameter lists that the load generator sends, SBC-3 and SPC-4:
 * the shapes that ESXi uses. */

#include <string.h>

#include "lib/be.h"
#include "tests/bench/load.h"

static void put16(uint8_t *at, uint32_t x)
{
	be16 v = be16_of((uint16_t)x);

	memcpy(at, &v, sizeof(v));
}

static void put32(uint8_t *at, uint32_t x)
{
	be32 v = be32_of(x);

	memcpy(at, &v, sizeof(v));
}

static void put64(uint8_t *at, uint64_t x)
{
	be64 v = be64_of(x);

	memcpy(at, &v, sizeof(v));
}

static void begin(struct slot *s, uint8_t opcode, enum data_dir dir,
		  uint32_t len)
{
	memset(s->cdb, 0, sizeof(s->cdb));
	s->cdb[0] = opcode;
	s->dir = dir;
	s->len = len;
}

void cdb_plain(struct slot *s, uint8_t opcode)
{
	begin(s, opcode, DATA_NONE, 0);
}

void cdb_rw(struct slot *s, bool write, uint64_t lba, uint32_t blocks)
{
	begin(s, write ? 0x8a : 0x88, write ? DATA_OUT : DATA_IN,
	      blocks * s->session->load->block_size);
	if (write && s->session->opt->fua)
		s->cdb[1] = 0x08;
	put64(s->cdb + 2, lba);
	put32(s->cdb + 10, blocks);
}

void cdb_wsame(struct slot *s, uint64_t lba, uint32_t blocks, bool unmap)
{
	begin(s, 0x93, DATA_OUT, s->session->load->block_size);
	s->cdb[1] = unmap ? 0x08 : 0;
	put64(s->cdb + 2, lba);
	put32(s->cdb + 10, blocks);
}

void cdb_caw(struct slot *s, uint64_t lba)
{
	begin(s, 0x89, DATA_OUT, 2 * s->session->load->block_size);
	put64(s->cdb + 2, lba);
	s->cdb[13] = 1;
}

void cdb_inquiry(struct slot *s, uint8_t page, uint16_t len)
{
	begin(s, 0x12, DATA_IN, len);
	s->cdb[1] = 1;
	s->cdb[2] = page;
	put16(s->cdb + 3, len);
}

void cdb_capacity16(struct slot *s)
{
	begin(s, 0x9e, DATA_IN, 32);
	s->cdb[1] = 0x10;
	put32(s->cdb + 10, 32);
}

void cdb_unmap(struct slot *s, uint8_t *list, uint64_t lba, uint32_t blocks)
{
	begin(s, 0x42, DATA_OUT, 24);
	put16(s->cdb + 7, 24);
	memset(list, 0, 24);
	put16(list, 22);
	put16(list + 2, 16);
	put64(list + 8, lba);
	put32(list + 16, blocks);
	s->out = list;
}

/* Identification descriptor CSCD descriptor, E4h. */
static uint8_t *put_cscd(uint8_t *at, const uint8_t *naa, uint8_t len,
			 uint32_t block_size)
{
	memset(at, 0, 32);
	at[0] = 0xe4;
	at[4] = 0x01;			/* binary */
	at[5] = 0x03;			/* NAA of the logical unit */
	at[7] = len;
	memcpy(at + 8, naa, len);
	at[29] = (uint8_t)(block_size >> 16);
	put16(at + 30, block_size);
	return at + 32;
}

/* LID1, two CSCDs, one block to block segment (02h). */
void cdb_xcopy(struct slot *s, uint8_t *list, const struct copy_range *r)
{
	uint8_t *at = list + 16;

	memset(list, 0, 16);
	list[1] = 0x18;			/* LIST ID USAGE 11b: none held */
	put16(list + 2, 64);
	put32(list + 8, 28);
	at = put_cscd(at, r->src_naa, r->src_len, r->block_size);
	at = put_cscd(at, r->dst_naa, r->dst_len, r->block_size);
	memset(at, 0, 28);
	at[0] = 0x02;
	put16(at + 2, 24);
	put16(at + 6, 1);
	put16(at + 10, r->blocks);
	put64(at + 12, r->src);
	put64(at + 20, r->dst);
	begin(s, 0x83, DATA_OUT, 16 + 64 + 28);
	put32(s->cdb + 10, s->len);
	s->out = list;
}
