/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What the next command is, and whether the medium is right afterwards. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/be.h"
#include "tests/bench/load.h"

#define OPCODE_TUR	0x00
#define STAMP		0x6c756e6462656e63u
#define SAMPLES		256u

static const uint8_t zeros[4096];

/* A word of the block at off that holds what a verified run writes. */
static uint64_t stamp(uint64_t off)
{
	return (off ^ STAMP) * 0x9e3779b97f4a7c15u;
}

static void put_stamps(uint8_t *buf, uint64_t off, uint32_t len)
{
	uint64_t v;
	uint32_t i;

	for (i = 0; i < len; i += sizeof(v)) {
		v = stamp(off + i);
		memcpy(buf + i, &v, sizeof(v));
	}
}

static bool stamps_right(const uint8_t *buf, uint64_t off, uint32_t len)
{
	uint64_t v;
	uint32_t i;

	for (i = 0; i < len; i += sizeof(v)) {
		memcpy(&v, buf + i, sizeof(v));
		if (v != stamp(off + i))
			return false;
	}
	return true;
}

static bool next_off(struct session *s, uint64_t *off)
{
	const struct load *l = s->load;
	uint32_t bs = l->opt.bs;
	uint64_t from = l->opt.off, part;

	if (l->opt.random) {
		*off = from + random64(&s->rng) % (l->size / bs) * bs;
		return true;
	}
	if (s->cursor + bs > s->end) {
		if (l->opt.once)
			return false;
		part = l->size / l->nsessions / bs * bs;
		s->cursor = from + s->index % l->nsessions * part;
		s->pass++;
	}
	*off = s->cursor;
	s->cursor += bs;
	return true;
}

static bool next_rw(struct session *s, struct slot *slot, bool write)
{
	struct load *l = s->load;
	uint32_t block = l->block_size, bs = l->opt.bs;

	if (!next_off(s, &slot->off))
		return false;
	cdb_rw(slot, write, slot->off / block, bs / block);
	slot->out = l->pattern;
	slot->in = NULL;
	if (l->opt.verify && write) {
		put_stamps(slot->buf, slot->off, bs);
		slot->out = slot->buf;
	} else if (l->opt.verify) {
		slot->in = slot->buf;
	}
	return true;
}

static uint64_t caw_off(const struct session *s, const struct slot *slot)
{
	const struct load *l = s->load;

	if (s->is_probe)
		return 0;
	if (l->opt.contend)
		return l->opt.off;
	return l->opt.off +
		(uint64_t)(s->index * s->depth + slot->tag) * l->block_size;
}

/* A counter in the first bytes of a block; what is there must be known. */
static void next_caw(struct session *s, struct slot *slot)
{
	uint32_t block = s->load->block_size;
	uint64_t lba = caw_off(s, slot) / block, n;

	if (slot->rereads) {
		cdb_rw(slot, false, lba, 1);
		slot->in = slot->buf;
		return;
	}
	memcpy(&n, slot->buf, sizeof(n));
	n++;
	memcpy(slot->buf + block, slot->buf, block);
	memcpy(slot->buf + block, &n, sizeof(n));
	slot->out = slot->buf;
	cdb_caw(slot, lba);
}

static bool next_xcopy(struct session *s, struct slot *slot)
{
	struct load *l = s->load;
	bool across = l->opt.dst_lun >= 0;
	uint64_t to;
	struct copy_range r = {
		.src_naa = l->naa[0], .src_len = l->naa_len[0],
		.dst_naa = l->naa[across], .dst_len = l->naa_len[across],
		.blocks = l->opt.bs / l->block_size,
		.block_size = l->block_size,
	};

	if (!next_off(s, &slot->off))
		return false;
	/* Another place in each pass: to share what is shared costs nothing. */
	to = slot->off - l->opt.off;
	if (!l->opt.verify)
		to = (to + (uint64_t)s->pass * l->opt.bs) % l->size;
	r.src = slot->off / l->block_size;
	r.dst = (to + l->opt.dst_off) / l->block_size;
	cdb_xcopy(slot, slot->buf, &r);
	return true;
}

static bool next_bulk(struct session *s, struct slot *slot)
{
	struct load *l = s->load;
	uint32_t blocks = l->opt.bs / l->block_size;

	if (slot->work == WORK_XCOPY)
		return next_xcopy(s, slot);
	if (!next_off(s, &slot->off))
		return false;
	if (slot->work == WORK_UNMAP) {
		cdb_unmap(slot, slot->buf, slot->off / l->block_size, blocks);
		return true;
	}
	cdb_wsame(slot, slot->off / l->block_size, blocks, l->opt.unmap_bit);
	slot->out = zeros;
	return true;
}

bool work_next(struct session *s, struct slot *slot)
{
	struct load *l = s->load;

	slot->work = s->is_probe ? l->opt.probe : l->opt.work;
	slot->lun = l->opt.lun;
	if (!s->is_probe)
		slot->lun += (int)(s->turn++ % l->opt.luns);
	switch (slot->work) {
	case WORK_READ:
	case WORK_WRITE:
		return next_rw(s, slot, slot->work == WORK_WRITE);
	case WORK_MIX:
		return next_rw(s, slot, random64(&s->rng) % 100 >=
			       l->opt.read_percent);
	case WORK_WSAME:
	case WORK_UNMAP:
	case WORK_XCOPY:
		return next_bulk(s, slot);
	case WORK_CAW:
		next_caw(s, slot);
		return true;
	default:
		cdb_plain(slot, OPCODE_TUR);
		return true;
	}
}

void work_check(struct slot *slot)
{
	struct load *l = slot->session->load;

	if (slot->dir == DATA_IN && slot->moved != slot->len)
		l->bad++;
	if (slot->work == WORK_CAW) {
		/* What was written is what will be there. */
		if (slot->rereads)
			slot->rereads = false;
		else
			memcpy(slot->buf, slot->buf + l->block_size,
			       l->block_size);
		return;
	}
	if (slot->dir == DATA_IN && slot->in &&
	    !stamps_right(slot->in, slot->off, slot->len))
		l->bad++;
}

static bool read_at(struct load *l, int lun, uint64_t off, uint32_t len)
{
	struct session *s = &l->session[0];
	struct slot *slot = &s->slot[0];

	slot->work = WORK_READ;
	slot->lun = lun;
	slot->off = off;
	cdb_rw(slot, false, off / l->block_size, len / l->block_size);
	slot->in = slot->buf;
	return run_one(s, slot) == 0 && slot->moved == len;
}

static bool fetch_naa(struct load *l, int lun, unsigned i)
{
	struct slot *slot = &l->session[0].slot[0];
	uint8_t *p = slot->buf + 4;
	unsigned end;

	slot->work = WORK_READ;
	slot->lun = lun;
	slot->in = slot->buf;
	cdb_inquiry(slot, 0x83, 252);
	if (run_one(&l->session[0], slot))
		return false;
	end = MIN(slot->buf[3], 248u);
	for (; p < slot->buf + 4 + end; p += 4 + p[3])
		if ((p[1] & 0x3f) == 0x03 && p[3] <= 16) {
			l->naa_len[i] = p[3];
			memcpy(l->naa[i], p + 4, p[3]);
			return true;
		}
	fprintf(stderr, "load: LUN %d has no NAA designator\n", lun);
	return false;
}

static bool fetch_capacity(struct load *l)
{
	struct slot *slot = &l->session[0].slot[0];
	uint64_t size;

	slot->work = WORK_READ;
	slot->lun = l->opt.lun;
	slot->in = slot->buf;
	cdb_capacity16(slot);
	if (run_one(&l->session[0], slot))
		return false;
	l->block_size = be32_get(BE_AT(be32, slot->buf, 8));
	size = (be64_get(BE_AT(be64, slot->buf, 0)) + 1) * l->block_size;
	if (!l->size)
		l->size = size - MIN(size, l->opt.off);
	return l->opt.off + l->size <= size;
}

/* Everything that a verified run may read holds stamps first. */
static bool fill(struct load *l)
{
	struct slot *slot = &l->session[0].slot[0];
	uint64_t off, end = l->opt.off + l->size;

	for (off = l->opt.off; off + l->opt.bs <= end; off += l->opt.bs) {
		slot->work = WORK_WRITE;
		slot->lun = l->opt.lun;
		slot->off = off;
		put_stamps(slot->buf, off, l->opt.bs);
		slot->out = slot->buf;
		cdb_rw(slot, true, off / l->block_size,
		       l->opt.bs / l->block_size);
		if (run_one(&l->session[0], slot))
			return false;
	}
	return true;
}

bool work_prepare(struct load *l)
{
	l->size = l->opt.size;
	l->block_size = 512;
	if (!l->opt.client->is_floor && !fetch_capacity(l)) {
		fprintf(stderr, "load: the LUN does not answer or fit\n");
		return false;
	}
	if (l->size < l->opt.bs || l->opt.bs % l->block_size) {
		fprintf(stderr, "load: --size and --bs do not fit\n");
		return false;
	}
	if (l->opt.work == WORK_XCOPY &&
	    (!fetch_naa(l, l->opt.lun, 0) ||
	     (l->opt.dst_lun >= 0 && !fetch_naa(l, l->opt.dst_lun, 1))))
		return false;
	return !l->opt.verify || l->opt.work == WORK_CAW || fill(l);
}

static bool verify_caw(struct load *l)
{
	uint64_t n, found = 0;
	unsigned i, blocks = l->opt.contend ? 1 :
		l->nsessions * l->opt.depth;

	for (i = 0; i < blocks; i++) {
		if (!read_at(l, l->opt.lun, l->opt.off +
			     (uint64_t)i * l->block_size, l->block_size))
			return false;
		memcpy(&n, l->session[0].slot[0].buf, sizeof(n));
		found += n;
	}
	/* They began with what counters_clear() wrote. */
	if (found != l->successes)
		l->bad++;
	return true;
}

static bool all_zero(const uint8_t *p, uint32_t len)
{
	return !*p && !memcmp(p, p + 1, len - 1);
}

/* Looks at samples of what was surely written, zeroed or copied. */
bool work_verify(struct load *l)
{
	uint64_t rng = 88172645463325252u, n, off, done = 0;
	uint8_t *buf = l->session[0].slot[0].buf;
	bool zero = l->opt.work == WORK_WSAME || l->opt.work == WORK_UNMAP;
	unsigned i;
	int lun = l->opt.lun;

	if (l->opt.work == WORK_CAW)
		return verify_caw(l);
	done = l->session[0].cursor - l->opt.off;
	n = (zero || l->opt.work == WORK_XCOPY ? done : l->size) / l->opt.bs;
	if (l->opt.work == WORK_XCOPY && l->opt.dst_lun >= 0)
		lun = l->opt.dst_lun;
	for (i = 0; n && i < SAMPLES; i++) {
		off = random64(&rng) % n * l->opt.bs;
		if (!read_at(l, lun, off + (l->opt.work == WORK_XCOPY ?
					    l->opt.dst_off : l->opt.off),
			     l->opt.bs))
			return false;
		if (zero ? !all_zero(buf, l->opt.bs) :
		    !stamps_right(buf, off + l->opt.off, l->opt.bs))
			l->bad++;
	}
	return true;
}
