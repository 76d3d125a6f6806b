/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * instructions KIND N: submits N commands of a kind to the SCSI layer over the
 * fake backend, for check-instructions to count what they take.  The count is
 * of rig_submit(), from the submission to the answer, fakes included.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/rig.h"

#define BLOCKS_4K 8u

static void do_read(uint64_t i)
{
	rig_read(0, i % 1024 * BLOCKS_4K, BLOCKS_4K);
}

static void do_write(uint64_t i)
{
	rig_write(0, i % 1024 * BLOCKS_4K, BLOCKS_4K, (int)(i & 0xff));
}

static void do_caw(uint64_t i)
{
	rig_caw(0, i % 1024, 1, (int)(i & 0xff));
}

static void do_tur(uint64_t i)
{
	(void)i;
	rig_submit(rig_new(0, 0), 0, true);
}

static void do_inquiry(uint64_t i)
{
	struct rig_cmd *c = rig_new(0, 0);

	(void)i;
	c->scsi.cdb[0] = 0x12;
	c->scsi.cdb[1] = 1;
	c->scsi.cdb[2] = 0x83;
	c->scsi.cdb[4] = 255;
	rig_submit(c, 255, true);
}

static void do_wsame(uint64_t i)
{
	struct rig_cmd *c = rig_16(rig_new(0, 0), 0x93, i % 1024 * 16, 16);

	rig_submit(c, 512, false);
}

static void do_unmap(uint64_t i)
{
	struct rig_cmd *c = rig_new(0, 0);
	be64 lba = be64_of(i % 1024 * 16);

	c->scsi.cdb[0] = 0x42;
	c->scsi.cdb[8] = 24;
	c->out[1] = 22;
	c->out[3] = 16;
	memcpy(c->out + 8, &lba, sizeof(lba));
	c->out[19] = 16;
	rig_submit(c, 24, false);
}

static const struct {
	const char *name;
	void (*run)(uint64_t i);
} kinds[] = {
	{ "READ", do_read }, { "WRITE", do_write },
	{ "COMPARE-AND-WRITE", do_caw }, { "WRITE-SAME", do_wsame },
	{ "UNMAP", do_unmap }, { "INQUIRY", do_inquiry },
	{ "TEST-UNIT-READY", do_tur },
};

int main(int argc, char **argv)
{
	uint64_t n, k, i;

	if (argc != 3) {
		for (k = 0; k < ARRAY_SIZE(kinds); k++)
			puts(kinds[k].name);
		return 0;
	}
	n = strtoull(argv[2], NULL, 10);
	rig_setup();
	for (i = 0; i < 2; i++)
		fake_auto(rig.vol[i], true);
	for (k = 0; k < ARRAY_SIZE(kinds); k++)
		for (i = 0; !strcmp(kinds[k].name, argv[1]) && i < n; i++)
			kinds[k].run(i);
	return 0;
}
