/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Building the parameter lists of EXTENDED COPY.
 */
#include "tests/lib/copylist.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define HEADER		16u
#define CSCD_LEN	32u
#define SEGMENT_LEN	28u

void copylist_begin(struct copylist *l)
{
	memset(l, 0, sizeof(*l));
	l->bytes[1] = 0x18;
	l->len = HEADER;
}

int copylist_cscd(struct copylist *l, const uint8_t naa[16])
{
	uint8_t *p = l->bytes + l->len;

	assert(l->segments == 0 && l->len + CSCD_LEN <= sizeof(l->bytes));
	p[0] = 0xe4;
	p[4] = 1;		/* binary */
	p[5] = 3;		/* logical unit, NAA */
	p[7] = 16;
	memcpy(p + 8, naa, 16);
	p[30] = 2;		/* 512-byte blocks */
	l->len += CSCD_LEN;
	return l->cscds++;
}

uint8_t *copylist_segment(struct copylist *l, int src, uint64_t src_lba,
			  int dst, uint64_t dst_lba, uint16_t blocks)
{
	uint8_t *p = l->bytes + l->len;
	be64 from = be64_of(src_lba), to = be64_of(dst_lba);

	assert(l->len + SEGMENT_LEN <= sizeof(l->bytes));
	p[0] = 0x02;
	p[3] = 0x18;
	p[4] = (uint8_t)(src >> 8);
	p[5] = (uint8_t)src;
	p[6] = (uint8_t)(dst >> 8);
	p[7] = (uint8_t)dst;
	p[10] = (uint8_t)(blocks >> 8);
	p[11] = (uint8_t)blocks;
	memcpy(p + 12, &from, sizeof(from));
	memcpy(p + 20, &to, sizeof(to));
	l->len += SEGMENT_LEN;
	l->segments++;
	return p;
}

struct cmd copylist_cmd(struct copylist *l)
{
	struct cmd c = { .cdb = { 0x83 }, .cdb_len = 16, .out = l->bytes,
			 .out_len = l->len };
	be32 len = be32_of((uint32_t)l->len);
	be32 segments = be32_of(l->segments * SEGMENT_LEN);

	memcpy(c.cdb + 10, &len, sizeof(len));
	l->bytes[2] = (uint8_t)(l->cscds * CSCD_LEN >> 8);
	l->bytes[3] = (uint8_t)(l->cscds * CSCD_LEN);
	memcpy(l->bytes + 8, &segments, sizeof(segments));
	return c;
}

int volume_naa(struct daemon *d, const char *volume, uint8_t naa[16])
{
	const char *hex;
	unsigned i;

	if (adm(d, "volume show %s", volume))
		return -1;
	hex = json_text(d->json, "naa");
	for (i = 0; i < 16; i++) {
		if (sscanf(hex + 2 * i, "%2hhx", &naa[i]) != 1)
			return -1;
	}
	return 0;
}
