/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command numbers and task management.
 */
#include "tests/lib/transport_rig.h"

#define READ 0x28
#define WRITE 0x2a
#define WAIT 0x00

static union bhs numbered(struct peer *p, uint32_t cmd_sn)
{
	union bhs b = command(p, WAIT, 0, 0);

	p->cmd_sn--;
	b.request.cmd_sn = be32_of(cmd_sn);
	return b;
}

static void finish_all(void)
{
	while (ncmds)
		finish(cmds[0], STATUS_GOOD);
	turns();
}

START_TEST(commands_run_in_the_order_of_their_numbers)
{
	struct peer *p = peer_logged_in();
	static const uint32_t order[] = { 103, 101, 102, 100 };
	union bhs b;
	unsigned i;

	for (i = 0; i < 4; i++) {
		b = numbered(p, order[i]);
		b.scsi_command.cdb[15] = (uint8_t)order[i];
		say(p, &b, NULL, 0);
		ck_assert_uint_eq(ncmds, i < 3 ? 0 : 4);
	}
	for (i = 0; i < 4; i++)
		ck_assert_uint_eq(cmds[i]->cdb[15], 100 + i);
	ck_assert_uint_eq(p->conn->session->exp_cmd_sn, 104);
	finish_all();
}
END_TEST

static const int32_t outside[] = { -1, -1000, CMDSN_WINDOW, 1 << 30,
				   INT32_MIN };

START_TEST(numbers_outside_the_window_are_dropped_without_a_word)
{
	struct peer *p = peer_logged_in();
	union bhs b = numbered(p, 100 + (uint32_t)outside[_i]);

	say(p, &b, NULL, 0);
	ck_assert_uint_eq(submitted, 0);
	ck_assert_int_eq(hear_any(p, &b), -1);
	b = numbered(p, 100);
	say(p, &b, NULL, 0);
	ck_assert_uint_eq(submitted, 1);
	finish_all();
}
END_TEST

START_TEST(number_that_comes_twice_runs_once)
{
	struct peer *p = peer_logged_in();
	static const uint32_t order[] = { 101, 101, 100, 100, 101 };
	union bhs b;
	unsigned i;

	for (i = 0; i < 5; i++) {
		b = numbered(p, order[i]);
		say(p, &b, NULL, 0);
	}
	ck_assert_uint_eq(submitted, 2);
	finish_all();
}
END_TEST

START_TEST(data_of_what_waits_for_its_turn_is_bounded)
{
	struct peer *p = peer_logged_in();
	const size_t len = MAX_RECV_DSL / 2;
	uint8_t *data = pattern(len);
	union bhs b;
	unsigned i;

	p->cmd_sn = 101;
	for (i = 0; i < CMDSN_HELD_MAX / len; i++) {
		b = request(p, OP_NOP_OUT, false);
		say(p, &b, data, len);
	}
	ck_assert(!p->gone);
	b = request(p, OP_NOP_OUT, false);
	say(p, &b, data, len);
	ck_assert(p->gone);
	free(data);
}
END_TEST

START_TEST(numbers_wrap)
{
	struct peer *p = peer_new();
	union bhs b;
	unsigned i;

	p->cmd_sn = 0xfffffffe;
	ck_assert_int_eq(login(p, 1, 0), 0);
	for (i = 0; i < 5; i++) {
		b = command(p, WAIT, 0, 0);
		say(p, &b, NULL, 0);
	}
	ck_assert_uint_eq(submitted, 5);
	finish_all();
}
END_TEST

START_TEST(immediate_command_takes_no_number)
{
	struct peer *p = peer_logged_in();
	union bhs b = numbered(p, 100);

	b.any.opcode |= OPCODE_IMMEDIATE;
	say(p, &b, NULL, 0);
	ck_assert_uint_eq(submitted, 1);
	ck_assert_uint_eq(p->conn->session->exp_cmd_sn, 100);
	finish_all();
}
END_TEST

START_TEST(window_closes_with_the_commands_under_way_and_never_shrinks)
{
	struct peer *p = peer_logged_in();
	uint32_t max = 0, told;
	union bhs b;
	unsigned i;

	for (i = 0; i < CMDSN_WINDOW; i++) {
		b = command(p, WAIT, 0, 0);
		say(p, &b, NULL, 0);
	}
	ck_assert_uint_eq(submitted, CMDSN_WINDOW);
	b = command(p, WAIT, 0, 0);
	p->cmd_sn--;
	say(p, &b, NULL, 0);
	ck_assert_uint_eq(submitted, CMDSN_WINDOW);
	while (ncmds) {
		finish(cmds[ncmds - 1], STATUS_GOOD);
		turns();
		ck_assert_int_eq(hear_any(p, &b), OP_SCSI_RESPONSE);
		told = be32_get(b.answer.max_cmd_sn);
		ck_assert_uint_ge(told, max);
		max = told;
	}
	ck_assert_uint_eq(max, 100 + 2 * CMDSN_WINDOW - 1);
}
END_TEST

START_TEST(itt_in_use_ends_the_connection)
{
	struct peer *p = peer_logged_in();
	union bhs b = command(p, WAIT, 0, 0);

	say(p, &b, NULL, 0);
	b.request.cmd_sn = be32_of(101);
	say(p, &b, NULL, 0);
	ck_assert(p->gone);
}
END_TEST

/* ---- task management --------------------------------------------------- */

static union bhs tmf(struct peer *p, unsigned function, uint32_t ref,
		     uint32_t ref_cmd_sn)
{
	union bhs b = request(p, OP_TMF_REQUEST, true);

	b.any.flags = (uint8_t)(FLAG_FINAL | function);
	b.tmf_request.ref_task_tag = be32_of(ref);
	b.tmf_request.ref_cmd_sn = be32_of(ref_cmd_sn);
	return b;
}

/* Asks, and the answer's response code; -1: none yet. */
static int ask_tmf(struct peer *p, unsigned function, uint32_t ref,
		   uint32_t ref_cmd_sn)
{
	union bhs b = tmf(p, function, ref, ref_cmd_sn);

	say(p, &b, NULL, 0);
	if (hear_any(p, &b) != OP_TMF_RESPONSE)
		return -1;
	return b.tmf_response.response;
}

START_TEST(abort_of_a_write_that_waits_for_data_is_answered_at_once)
{
	struct peer *p = peer_logged_in();
	union bhs b = command(p, WRITE, 4096, 4096), r2t, d;
	uint8_t *data = pattern(4096);
	uint8_t before = medium[0];

	say(p, &b, NULL, 0);
	ck_assert_int_eq(hear_any(p, &r2t), OP_R2T);
	ck_assert_int_eq(ask_tmf(p, TMF_ABORT_TASK, be32_get(b.any.itt), 100),
			 TMF_COMPLETE);
	d = data_out(be32_get(b.any.itt), be32_get(r2t.r2t.ttt), 0, 0);
	d.any.flags = FLAG_FINAL;
	say(p, &d, data, 4096);
	ck_assert_int_eq(hear_any(p, &d), -1);
	ck_assert_uint_eq(medium[0], before);
	ck_assert(list_empty(&p->conn->tasks));
	free(data);
}
END_TEST

START_TEST(abort_in_the_middle_of_a_data_out_pdu_waits_for_its_end)
{
	struct peer *p = peer_logged_in();
	union bhs b = command(p, WRITE, 65536, 65536), r2t, d;
	uint8_t *data = pattern(65536), *bytes;
	size_t n;

	say(p, &b, NULL, 0);
	ck_assert_int_eq(hear_any(p, &r2t), OP_R2T);
	d = data_out(be32_get(b.any.itt), be32_get(r2t.r2t.ttt), 0, 0);
	d.any.flags = FLAG_FINAL;
	bytes = pdu_bytes(p, &d, data, 65536, &n);
	feed(p, bytes, 30000, SIZE_MAX);
	scsi_abort(cmds[0]);	/* another nexus resets the logical unit */
	turns();
	ck_assert_uint_eq(ncmds, 0);
	ck_assert(!list_empty(&p->conn->tasks));
	feed(p, bytes + 30000, n - 30000, SIZE_MAX);
	ck_assert(list_empty(&p->conn->tasks));
	ck_assert_int_eq(hear_any(p, &d), -1);
	free(bytes);
	free(data);
}
END_TEST

START_TEST(each_abort_of_a_task_is_answered_when_it_is_gone)
{
	struct peer *p = peer_logged_in();
	union bhs b = command(p, WAIT, 0, 0);
	uint32_t itt = be32_get(b.any.itt);
	unsigned i;

	say(p, &b, NULL, 0);
	cmds[0]->cdb[0] = READ;		/* it does not end by itself now */
	for (i = 0; i < 5; i++)
		ck_assert_int_eq(ask_tmf(p, TMF_ABORT_TASK, itt, 100), -1);
	finish(cmds[0], STATUS_GOOD);
	turns();
	for (i = 0; i < 5; i++) {
		ck_assert_int_eq(hear_any(p, &b), OP_TMF_RESPONSE);
		ck_assert_uint_eq(b.tmf_response.response, TMF_COMPLETE);
	}
	ck_assert_int_eq(hear_any(p, &b), -1);
}
END_TEST

START_TEST(abort_of_what_has_ended_or_never_was)
{
	struct peer *p = peer_logged_in();
	union bhs b = command(p, WAIT, 0, 0);

	say(p, &b, NULL, 0);
	finish_all();
	ck_assert_int_eq(hear_any(p, &b), OP_SCSI_RESPONSE);
	ck_assert_int_eq(ask_tmf(p, TMF_ABORT_TASK, 0x999, 100),
			 TMF_COMPLETE);
	ck_assert_int_eq(ask_tmf(p, TMF_ABORT_TASK, 0x999, 100 - 3000),
			 TMF_NO_TASK);
	ck_assert_int_eq(ask_tmf(p, TMF_ABORT_TASK, 0x999, 5000),
			 TMF_NO_TASK);
}
END_TEST

START_TEST(abort_of_a_number_that_has_not_come_lets_the_next_ones_run)
{
	struct peer *p = peer_logged_in();
	union bhs b = numbered(p, 101);

	say(p, &b, NULL, 0);
	ck_assert_uint_eq(submitted, 0);
	p->cmd_sn = 102;
	ck_assert_int_eq(ask_tmf(p, TMF_ABORT_TASK, 0x999, 100),
			 TMF_COMPLETE);
	ck_assert_uint_eq(submitted, 1);
	b = numbered(p, 100);		/* it comes after all: too late */
	say(p, &b, NULL, 0);
	ck_assert_uint_eq(submitted, 1);
	finish_all();
}
END_TEST

START_TEST(abort_of_a_held_command_lets_its_number_pass)
{
	struct peer *p = peer_logged_in();
	union bhs held = numbered(p, 101), b;

	say(p, &held, NULL, 0);
	p->cmd_sn = 103;
	ck_assert_int_eq(ask_tmf(p, TMF_ABORT_TASK, be32_get(held.any.itt),
				 101), TMF_COMPLETE);
	b = numbered(p, 102);
	say(p, &b, NULL, 0);
	b = numbered(p, 100);
	say(p, &b, NULL, 0);
	ck_assert_uint_eq(submitted, 2);
	finish_all();
}
END_TEST

START_TEST(functions_of_the_scsi_layer_are_answered_when_it_says_so)
{
	struct peer *p = peer_logged_in();
	union bhs b = tmf(p, TMF_LOGICAL_UNIT_RESET, TAG_NONE, 0);

	b.any.lun[1] = 7;
	say(p, &b, NULL, 0);
	ck_assert_int_eq(hear_any(p, &b), -1);
	ck_assert_uint_eq(tmf_pending->function, TMF_LOGICAL_UNIT_RESET);
	ck_assert_uint_eq(tmf_pending->lun[1], 7);
	tmf_pending->response = TMF_NO_LUN;
	tmf_finish(tmf_pending);
	ck_assert_int_eq(hear_any(p, &b), OP_TMF_RESPONSE);
	ck_assert_uint_eq(b.tmf_response.response, TMF_NO_LUN);
}
END_TEST

START_TEST(connection_waits_for_a_function_that_runs)
{
	struct peer *p = peer_logged_in();
	union bhs b = tmf(p, TMF_CLEAR_TASK_SET, TAG_NONE, 0);

	say(p, &b, NULL, 0);
	peer_lost(p);
	ck_assert(!p->gone);
	tmf_finish(tmf_pending);
	ck_assert(p->gone);
}
END_TEST

/* Gives all but the last 100 bytes of a PDU, ends the reset, gives the rest. */
static void say_around_reset(struct peer *p, union bhs *b, size_t len)
{
	uint8_t *data = pattern(len), *bytes;
	size_t n;

	bytes = pdu_bytes(p, b, data, len, &n);
	feed(p, bytes, n - 100, SIZE_MAX);
	tmf_finish(tmf_pending);
	feed(p, bytes + n - 100, 100, SIZE_MAX);
	free(bytes);
	free(data);
}

START_TEST(reset_takes_a_command_whose_data_is_just_coming)
{
	struct peer *p = peer_logged_in();
	union bhs b;

	p->cmd_sn = 105;
	ck_assert_int_eq(ask_tmf(p, TMF_LOGICAL_UNIT_RESET, TAG_NONE, 0), -1);
	p->cmd_sn = 100;
	b = command(p, WRITE, 8192, 8192);
	say_around_reset(p, &b, 8192);
	ck_assert_int_eq(hear_any(p, &b), OP_TMF_RESPONSE);
	ck_assert_int_eq(hear_any(p, &b), -1);
	ck_assert_uint_eq(submitted, 0);
	ck_assert(list_empty(&p->conn->tasks));
	b = command(p, WAIT, 0, 0);
	say(p, &b, NULL, 0);
	ck_assert_uint_eq(submitted, 1);
	finish_all();
}
END_TEST

START_TEST(reset_takes_a_command_that_ended_early)
{
	struct peer *p = peer_logged_in();
	union bhs b = command(p, WAIT, 0, 8192), d;

	b.any.flags = CMD_WRITE;
	say(p, &b, NULL, 0);
	finish_all();
	ck_assert_int_eq(ask_tmf(p, TMF_LOGICAL_UNIT_RESET, TAG_NONE, 0), -1);
	d = data_out(be32_get(b.any.itt), TAG_NONE, 0, 0);
	d.any.flags = FLAG_FINAL;
	say_around_reset(p, &d, 8192);
	ck_assert_int_eq(hear_any(p, &b), OP_TMF_RESPONSE);
	ck_assert_int_eq(hear_any(p, &b), -1);
	ck_assert(list_empty(&p->conn->tasks));
}
END_TEST

static const struct {
	unsigned function;
	int	 response;
} others[] = {
	{ TMF_TASK_REASSIGN, TMF_NO_REASSIGN },
	{ TMF_QUERY_TASK, TMF_COMPLETE },	/* there is none */
	{ 13, TMF_NOT_SUPPORTED },
	{ 0, TMF_NOT_SUPPORTED },
	{ 127, TMF_NOT_SUPPORTED },
};

START_TEST(other_functions_have_their_answers)
{
	struct peer *p = peer_logged_in();

	ck_assert_int_eq(ask_tmf(p, others[_i].function, TAG_NONE, 0),
			 others[_i].response);
}
END_TEST

START_TEST(cold_reset_is_answered_and_ends_every_session_of_the_target)
{
	struct peer *p = peer_logged_in(), *q = peer_new();
	union bhs b = tmf(p, TMF_TARGET_COLD_RESET, TAG_NONE, 0);

	ck_assert_int_eq(login(q, 2, 0), 0);
	say(p, &b, NULL, 0);
	tmf_finish(tmf_pending);
	ck_assert_int_eq(hear_any(p, &b), OP_TMF_RESPONSE);
	ck_assert(p->gone && q->gone);
}
END_TEST

START_TEST(task_aborted_by_others_is_told_only_under_tas)
{
	struct peer *p = peer_logged_in();
	union bhs b = command(p, WAIT, 0, 0);

	say(p, &b, NULL, 0);
	cmds[0]->tas = _i;
	scsi_abort(cmds[0]);
	turns();
	ck_assert_int_eq(hear_any(p, &b), _i ? OP_SCSI_RESPONSE : -1);
	if (_i)
		ck_assert_uint_eq(b.scsi_response.status,
				  STATUS_TASK_ABORTED);
	ck_assert(list_empty(&p->conn->tasks));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("cmdsn");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_test(tc, commands_run_in_the_order_of_their_numbers);
	tcase_add_loop_test(tc,
		numbers_outside_the_window_are_dropped_without_a_word,
		0, ARRAY_SIZE(outside));
	tcase_add_test(tc, number_that_comes_twice_runs_once);
	tcase_add_test(tc, data_of_what_waits_for_its_turn_is_bounded);
	tcase_add_test(tc, numbers_wrap);
	tcase_add_test(tc, immediate_command_takes_no_number);
	tcase_add_test(tc,
		window_closes_with_the_commands_under_way_and_never_shrinks);
	tcase_add_test(tc, itt_in_use_ends_the_connection);
	tcase_add_test(tc,
		abort_of_a_write_that_waits_for_data_is_answered_at_once);
	tcase_add_test(tc,
		abort_in_the_middle_of_a_data_out_pdu_waits_for_its_end);
	tcase_add_test(tc, each_abort_of_a_task_is_answered_when_it_is_gone);
	tcase_add_test(tc, abort_of_what_has_ended_or_never_was);
	tcase_add_test(tc,
		abort_of_a_number_that_has_not_come_lets_the_next_ones_run);
	tcase_add_test(tc, abort_of_a_held_command_lets_its_number_pass);
	tcase_add_test(tc,
		functions_of_the_scsi_layer_are_answered_when_it_says_so);
	tcase_add_test(tc, connection_waits_for_a_function_that_runs);
	tcase_add_test(tc, reset_takes_a_command_whose_data_is_just_coming);
	tcase_add_test(tc, reset_takes_a_command_that_ended_early);
	tcase_add_loop_test(tc, other_functions_have_their_answers, 0,
			    ARRAY_SIZE(others));
	tcase_add_test(tc,
		cold_reset_is_answered_and_ends_every_session_of_the_target);
	tcase_add_loop_test(tc, task_aborted_by_others_is_told_only_under_tas,
			    0, 2);
	return unit_run("cmdsn", tc);
}
