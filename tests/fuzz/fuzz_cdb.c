/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands with their parameter lists, over a backend in memory: the input is
 * a list of commands, each a byte that says how, the CDB, EDTL and data.  Every
 * command ends once and leaves nothing behind.
 */

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/util.h"
#include "tests/lib/rig.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	HOW_LUN		= 0x01,
	HOW_NEXUS	= 0x02,
	HOW_IN		= 0x04,
	HOW_NO_DATA	= 0x08,
	HOW_HOLD	= 0x10,		/* its data moves later */
	HOW_ABORT	= 0x20,		/* it is aborted before that */
	HOW_FAIL	= 0x40,		/* the backend's next request fails */
	HOW_RAW_EDTL	= 0x80,		/* two bytes say so; or the data's */
};

/* Making the rig takes long; its units' state may as well be anything. */
#define INPUTS_PER_RIG	32
#define COMMANDS_MAX	24
#define DATA_MAX	(128u << 10)

struct input {
	const uint8_t *p, *end;
};

static size_t take(struct input *in, void *to, size_t n)
{
	n = MIN(n, (size_t)(in->end - in->p));
	memcpy(to, in->p, n);
	in->p += n;
	return n;
}

static uint8_t byte(struct input *in)
{
	return in->p < in->end ? *in->p++ : 0;
}

/* An identity of one of our units where the input asks for it: else copies
 * would hardly ever find a unit. */
static void name_units(struct rig_cmd *c, size_t len)
{
	size_t i;

	for (i = 0; i + 4 <= len; i++)
		if (c->out[i] == 'N' && c->out[i + 1] == 'A' &&
		    c->out[i + 2] == 'A' && i + 16 <= len)
			memcpy(c->out + i, (uint8_t[16]){ 0x62,
			       c->out[i + 3] & 1 }, 16);
}

static void end_it(struct rig_cmd *c, uint8_t how)
{
	unsigned guard = 0;

	while (c->waits && !c->done && guard++ < 10000) {
		if (how & HOW_ABORT)
			rig_abort(c);
		else
			rig_move(c);
	}
	rig_abort(c);		/* what waits for nothing that comes */
	assert(c->done == 1);
}

static void run_one(struct input *in)
{
	uint8_t how = byte(in);
	struct rig_cmd *c = rig_new_of(how & HOW_NEXUS ? 1 : 0, how & HOW_LUN,
				       DATA_MAX);
	uint32_t edtl;
	size_t len;

	take(in, c->scsi.cdb, sizeof(c->scsi.cdb));
	len = byte(in);
	if (how & HOW_NO_DATA)
		edtl = 0;
	else if (how & HOW_RAW_EDTL)
		edtl = (uint32_t)byte(in) << 16 | (uint32_t)byte(in) << 8;
	else
		edtl = how & HOW_IN ? (uint32_t)len * 512 : (uint32_t)len;
	if (!(how & HOW_IN)) {
		len = take(in, c->out, len);
		name_units(c, len);
	}
	c->hold = how & HOW_HOLD;
	if (how & HOW_FAIL)
		fake_fail(rig.vol[how & HOW_LUN], 1, -5);
	rig_submit(c, MIN(edtl, DATA_MAX), how & HOW_IN);
	end_it(c, how);
	fake_fail(rig.vol[how & HOW_LUN], 0, 0);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	log_set_level(LOG_ERR_);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static unsigned inputs;
	struct input in = { data, data + size };
	unsigned n = 0;

	if (inputs % INPUTS_PER_RIG == 0) {
		rig_setup();
		fake_auto(rig.vol[0], true);
		fake_auto(rig.vol[1], true);
	}
	while (in.p < in.end && n++ < COMMANDS_MAX)
		run_one(&in);
	assert(rig_idle());
	if (++inputs % INPUTS_PER_RIG == 0)
		rig_teardown();
	return 0;
}
