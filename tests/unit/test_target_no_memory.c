/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * No memory for an answer: the connection that asked ends, with nothing wrong
 * said before, and no other one notices.
 */
#include "tests/lib/transport_rig.h"

#define READ 0x28
#define WRITE 0x2a
#define TOTAL 200000u		/* of a READ: 25 PDUs */

static size_t pdu_size;

/* So many more PDUs can be had on worker 0: for another slab it would take
 * what no machine has. */
static void leave_pdus(unsigned n)
{
	struct pool *p = &workers[0].pdus->pdus;
	void *keep[64];
	unsigned i;

	for (i = 0; i < n; i++)
		keep[i] = pool_get(p);
	p->free = NULL;
	pdu_size = p->size;
	p->size = SIZE_MAX / 2 / p->per_slab;
	for (i = 0; i < n; i++)
		pool_put(p, keep[i]);
}

static void memory_is_back(void)
{
	workers[0].pdus->pdus.size = pdu_size;
}

static void ping(struct peer *p)
{
	union bhs b = request(p, OP_NOP_OUT, true);

	b.nop_out.ttt = be32_of(TAG_NONE);
	say(p, &b, NULL, 0);
	ck_assert_int_eq(hear_any(p, &b), OP_NOP_IN);
}

static union bhs asks(struct peer *p, int n)
{
	union bhs b;

	switch (n) {
	case 0:
		b = request(p, OP_NOP_OUT, true);
		b.nop_out.ttt = be32_of(TAG_NONE);
		return b;
	case 1:
		return command(p, READ, 0, 0);
	case 2:
		return command(p, WRITE, 4096, 4096);
	case 3:
		b = request(p, OP_TMF_REQUEST, true);
		b.any.flags |= TMF_ABORT_TASK;
		b.tmf_request.ref_task_tag = be32_of(0x4711);
		b.tmf_request.ref_cmd_sn = be32_of(p->cmd_sn - 1);
		return b;
	case 4:
		return request(p, OP_LOGOUT_REQUEST, true);
	case 5:
		b = request(p, OP_LOGOUT_REQUEST, true);
		b.any.flags |= LOGOUT_RECOVERY;
		return b;
	case 6:
		return request(p, OP_SNACK, true);
	default:
		b = request(p, OP_TEXT_REQUEST, true);
		b.text_request.ttt = be32_of(TAG_NONE);
		return b;
	}
}
#define ASKS 8

START_TEST(request_that_cannot_be_answered_ends_its_connection_alone)
{
	struct peer *other = peer_logged_in(), *p = peer_new();
	union bhs b;

	ck_assert_int_eq(login(p, 2, 0), LOGIN_SUCCESS);
	b = asks(p, _i);
	leave_pdus(0);
	say(p, &b, NULL, 0);
	ck_assert(p->gone);
	ck_assert_uint_eq(p->nout, 0);
	memory_is_back();
	ping(other);
}
END_TEST

/* Whatever is heard of it is the beginning, and its status is not. */
START_TEST(read_whose_pdus_run_out_never_ends_well)
{
	struct peer *other = peer_logged_in(), *p = peer_new();
	union bhs b;
	uint32_t at = 0;

	ck_assert_int_eq(login(p, 2, 0), LOGIN_SUCCESS);
	b = command(p, READ, TOTAL, TOTAL);
	leave_pdus((unsigned)_i);
	say(p, &b, NULL, 0);
	while (hear_any(p, &b) == OP_DATA_IN) {
		ck_assert_uint_eq(be32_get(b.data_in.buffer_offset), at);
		ck_assert(!(b.any.flags & DATA_IN_STATUS));
		at += be24_get(b.any.data_len);
	}
	ck_assert_uint_lt(at, TOTAL);
	ck_assert(p->gone);
	memory_is_back();
	ping(other);
}
END_TEST

START_TEST(login_that_cannot_be_answered_ends_its_connection_alone)
{
	struct peer *other = peer_logged_in(), *p = peer_new();
	union bhs b = request(p, OP_NOP_OUT, true);

	leave_pdus(0);
	say(p, &b, NULL, 0);
	ck_assert(p->gone);
	memory_is_back();
	ping(other);
}
END_TEST

START_TEST(silent_initiator_that_cannot_be_asked_is_given_up)
{
	struct peer *p = peer_logged_in();

	leave_pdus(0);
	pass(NOP_SILENCE_MS + 1000);
	ck_assert(p->gone);
	memory_is_back();
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("no memory");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_loop_test(tc,
		request_that_cannot_be_answered_ends_its_connection_alone,
		0, ASKS);
	tcase_add_loop_test(tc, read_whose_pdus_run_out_never_ends_well,
			    0, 25);
	tcase_add_test(tc,
		login_that_cannot_be_answered_ends_its_connection_alone);
	tcase_add_test(tc, silent_initiator_that_cannot_be_asked_is_given_up);
	return unit_run("no memory", tc);
}
