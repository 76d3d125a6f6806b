/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An Initiator Task Tag is free as soon as its answer has come, although more
 * that left with that answer is still on its way.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/raw.h"

#define IQN	"iqn.2026-11.example.test:tags"
#define DEPTH	32
#define ROUNDS	20
#define BLOCKS	1024u		/* 512 KiB: far more than sockets hold */

static struct daemon *d;

static void read_with_tag(struct raw *r, uint32_t itt)
{
	struct raw_cmd c = {
		.cdb = { 0x28, [7] = BLOCKS >> 8, [8] = BLOCKS & 0xff },
		.flags = CMD_READ, .edtl = BLOCKS * 512,
	};

	r->itt = itt;
	raw_command(r, &c);
}

/* The tag of the next answer that comes. */
static uint32_t next_answer(struct raw *r)
{
	do {
		ck_assert_int_eq(raw_recv_opcode(r, OP_DATA_IN, DEADLINE_MS),
				 OP_DATA_IN);
	} while (!(r->bhs.any.flags & DATA_IN_STATUS));
	return be32_get(r->bhs.any.itt);
}

START_TEST(a_tag_may_be_used_again_when_its_answer_has_come)
{
	struct raw *r = raw_open(d, .target = IQN);
	uint32_t i;

	ck_assert_int_eq(r->login_status, 0);
	raw_settle(r, 0);
	for (i = 0; i < DEPTH; i++)
		read_with_tag(r, 1000 + i);
	for (i = 0; i < DEPTH * ROUNDS; i++)
		read_with_tag(r, next_answer(r));
	for (i = 0; i < DEPTH; i++)
		next_answer(r);
	ck_assert_int_eq(raw_ping(r), 0);
	raw_close(r);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("tags");

	d = daemon_start(NULL);
	if (!d || adm_target(d, IQN) || adm_lun(d, IQN, 0, "vol", "--size 8M"))
		return EXIT_FAILURE;
	tcase_add_test(tc, a_tag_may_be_used_again_when_its_answer_has_come);
	return func_run("tag_reuse", tc);
}
