/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The initiator of the demonstration, over libiscsi: "demo STEP URL", one step
 * a run.  Each prints lines for the table, "what<TAB>result<TAB>seconds", and
 * fails loudly when the target's answer is not what it should be.
 */
#include <iscsi/iscsi.h>
#include <iscsi/scsi-lowlevel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BLOCK		512u
#define MIB_BLOCKS	2048u			/* blocks in 1 MiB */
#define GIB_MIB		1024u
#define SEGMENT_MIB	4u			/* as ESXi copies */
#define SEGMENTS	8u
#define COPY_AT		(1024u * MIB_BLOCKS)	/* the clone, in blocks */

struct demo {
	struct iscsi_context	*iscsi;
	int			 lun;
	uint8_t			 naa[16];
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void fail(struct demo *d, const char *what)
{
	fprintf(stderr, "demo: %s: %s\n", what,
		d->iscsi ? iscsi_get_error(d->iscsi) : "no memory");
	exit(1);
}

static void want(struct demo *d, struct scsi_task *task, int status,
		 const char *what)
{
	if (!task || task->status != status)
		fail(d, what);
	scsi_free_scsi_task(task);
}

/* The NAA designator of the volume: EXTENDED COPY names its source by it. */
static void get_naa(struct demo *d)
{
	struct scsi_task *task = iscsi_inquiry_sync(d->iscsi, d->lun, 1, 0x83,
						    255);
	const uint8_t *p;
	int at = 4;

	if (!task || task->status != SCSI_STATUS_GOOD)
		fail(d, "INQUIRY page 83h");
	p = task->datain.data;
	while (at + 20 <= task->datain.size &&
	       !((p[at + 1] & 0x3f) == 0x03 && p[at + 3] == 16))
		at += 4 + p[at + 3];
	if (at + 20 > task->datain.size)
		fail(d, "no NAA designator");
	memcpy(d->naa, p + at + 4, 16);
	scsi_free_scsi_task(task);
}

static void step_fill(struct demo *d)
{
	size_t len = MIB_BLOCKS * BLOCK;
	uint8_t *data = malloc(len);
	double began = now();
	uint32_t *word;
	unsigned i, k;

	if (!data)
		fail(d, "fill");
	for (i = 0; i < GIB_MIB; i++) {
		word = (uint32_t *)(void *)data;
		for (k = 0; k < len / 4; k++)
			word[k] = i * 2654435761u + k;
		want(d, iscsi_write16_sync(d->iscsi, d->lun, i * MIB_BLOCKS,
					   data, (uint32_t)len, BLOCK,
					   0, 0, 0, 0, 0),
		     SCSI_STATUS_GOOD, "WRITE(16)");
	}
	free(data);
	printf("write\t1 GiB over the network\t%.3f\n", now() - began);
}

static void step_ats(struct demo *d)
{
	uint8_t data[2 * BLOCK] = { 0 };
	struct scsi_task *task;
	uint64_t lba = 3 * COPY_AT;
	double began = now();

	memset(data + BLOCK, 'A', BLOCK);
	want(d, iscsi_compareandwrite_sync(d->iscsi, d->lun, lba, data,
					   sizeof(data), BLOCK, 0, 0, 0, 0, 0),
	     SCSI_STATUS_GOOD, "COMPARE AND WRITE");
	printf("ats\tmatch: the block was swapped\t%.6f\n", now() - began);
	began = now();
	memset(data, 'A', BLOCK);
	data[100] = 'x';
	task = iscsi_compareandwrite_sync(d->iscsi, d->lun, lba, data,
					  sizeof(data), BLOCK, 0, 0, 0, 0, 0);
	if (!task || task->status != SCSI_STATUS_CHECK_CONDITION ||
	    task->sense.key != SCSI_SENSE_MISCOMPARE)
		fail(d, "a miscompare was expected");
	scsi_free_scsi_task(task);
	printf("ats\tmiscompare: refused, nothing written\t%.6f\n",
	       now() - began);
}

static void put_be(uint8_t *p, uint64_t x, unsigned n)
{
	while (n--) {
		p[n] = (uint8_t)x;
		x >>= 8;
	}
}

/* SEGMENTS segments of SEGMENT_MIB each from MiB `at` of the volume. */
static void copy(struct demo *d, unsigned at)
{
	uint8_t list[16 + 32 + SEGMENTS * 28] = { 0 };
	struct iscsi_data param = { .size = sizeof(list), .data = list };
	unsigned i;

	list[1] = 0x18;				/* no status is kept */
	put_be(list + 2, 32, 2);
	put_be(list + 8, SEGMENTS * 28, 4);
	list[16] = 0xe4;
	list[20] = 1;
	list[21] = 3;				/* NAA of the logical unit */
	list[23] = 16;
	memcpy(list + 24, d->naa, 16);
	put_be(list + 45, BLOCK, 3);
	for (i = 0; i < SEGMENTS; i++) {
		uint8_t *s = list + 48 + i * 28;
		uint64_t lba = (at + i * SEGMENT_MIB) * MIB_BLOCKS;

		s[0] = 0x02;
		put_be(s + 2, 24, 2);
		put_be(s + 10, SEGMENT_MIB * MIB_BLOCKS, 2);
		put_be(s + 12, lba, 8);
		put_be(s + 20, lba + COPY_AT, 8);
	}
	want(d, iscsi_extended_copy_sync(d->iscsi, d->lun, &param),
	     SCSI_STATUS_GOOD, "EXTENDED COPY");
}

static void compare_copy(struct demo *d, unsigned at)
{
	struct scsi_task *a, *b;
	uint32_t len = MIB_BLOCKS * BLOCK / 4;

	a = iscsi_read16_sync(d->iscsi, d->lun, at * MIB_BLOCKS, len, BLOCK,
			      0, 0, 0, 0, 0);
	b = iscsi_read16_sync(d->iscsi, d->lun, at * MIB_BLOCKS + COPY_AT, len,
			      BLOCK, 0, 0, 0, 0, 0);
	if (!a || !b || a->status || b->status ||
	    memcmp(a->datain.data, b->datain.data, len))
		fail(d, "the copy differs");
	scsi_free_scsi_task(a);
	scsi_free_scsi_task(b);
}

static void step_copy(struct demo *d)
{
	double began, took;
	unsigned at;

	get_naa(d);
	began = now();
	for (at = 0; at < GIB_MIB; at += SEGMENTS * SEGMENT_MIB)
		copy(d, at);
	took = now() - began;
	for (at = 0; at < GIB_MIB; at += 37)
		compare_copy(d, at);
	printf("copy\t1 GiB cloned, compared\t%.3f\n", took);
}

static void step_zero(struct demo *d)
{
	uint8_t block[BLOCK] = { 0 };
	double began = now(), took;
	struct scsi_task *task;
	unsigned i;

	for (i = 0; i < GIB_MIB; i++)
		want(d, iscsi_writesame16_sync(d->iscsi, d->lun,
					       COPY_AT + i * MIB_BLOCKS,
					       block, BLOCK, MIB_BLOCKS,
					       0, 0, 0, 0),
		     SCSI_STATUS_GOOD, "WRITE SAME(16)");
	took = now() - began;
	task = iscsi_read16_sync(d->iscsi, d->lun, COPY_AT, BLOCK, BLOCK,
				 0, 0, 0, 0, 0);
	if (!task || task->status || memcmp(task->datain.data, block, BLOCK))
		fail(d, "not zeroed");
	scsi_free_scsi_task(task);
	printf("zero\t1 GiB zeroed by 1,024 WRITE SAME\t%.3f\n", took);
}

static void step_unmap(struct demo *d)
{
	struct unmap_list list[4];
	double began = now();
	unsigned i, k;

	for (i = 0; i < 2 * GIB_MIB; i += 4) {
		for (k = 0; k < 4; k++)
			list[k] = (struct unmap_list){
				.lba = (uint64_t)(i + k) * MIB_BLOCKS,
				.num = MIB_BLOCKS,
			};
		want(d, iscsi_unmap_sync(d->iscsi, d->lun, 0, 0, list, 4),
		     SCSI_STATUS_GOOD, "UNMAP");
	}
	printf("unmap\t2 GiB given back\t%.3f\n", now() - began);
}

static const struct {
	const char *name;
	void (*run)(struct demo *d);
} steps[] = {
	{ "fill", step_fill }, { "ats", step_ats }, { "copy", step_copy },
	{ "zero", step_zero }, { "unmap", step_unmap },
};

int main(int argc, char **argv)
{
	struct demo d = { .iscsi = iscsi_create_context(
				  "iqn.2026-11.example.demo:initiator") };
	struct iscsi_url *url;
	unsigned i;

	if (argc != 3 || !d.iscsi)
		return 2;
	url = iscsi_parse_full_url(d.iscsi, argv[2]);
	if (!url)
		fail(&d, argv[2]);
	iscsi_set_targetname(d.iscsi, url->target);
	iscsi_set_session_type(d.iscsi, ISCSI_SESSION_NORMAL);
	iscsi_set_header_digest(d.iscsi, ISCSI_HEADER_DIGEST_NONE);
	d.lun = url->lun;
	if (iscsi_full_connect_sync(d.iscsi, url->portal, url->lun) != 0)
		fail(&d, "login");
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		if (!strcmp(argv[1], steps[i].name))
			steps[i].run(&d);
	}
	iscsi_destroy_url(url);
	iscsi_logout_sync(d.iscsi);
	iscsi_destroy_context(d.iscsi);
	return 0;
}
