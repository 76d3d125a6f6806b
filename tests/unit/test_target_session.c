/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sessions and connections: how they begin, come back, move and end.
 */
#include "tests/lib/transport_rig.h"

#define READ 0x28
#define WRITE 0x2a
#define WAIT 0x00

static union bhs start(struct peer *p, uint8_t op, uint32_t total)
{
	union bhs b = command(p, op, total, total);

	say(p, &b, NULL, 0);
	return b;
}

/* ---- the end, wherever a command is ------------------------------------ */

START_TEST(connection_lost_while_scsi_has_a_command_waits_for_it)
{
	struct peer *p = peer_logged_in();

	start(p, WAIT, 0);
	cmds[0]->cdb[0] = 1;	/* ends when we say so */
	peer_lost(p);
	ck_assert(!p->gone && cmds[0]->aborted);
	finish(cmds[0], STATUS_TASK_ABORTED);
	turns();
	ck_assert(p->gone);
}
END_TEST

START_TEST(connection_lost_while_a_write_waits_for_data)
{
	struct peer *p = peer_logged_in();

	start(p, WRITE, 65536);
	peer_lost(p);
	ck_assert(p->gone);
	ck_assert_uint_eq(ncmds, 0);
}
END_TEST

START_TEST(connection_lost_in_the_middle_of_immediate_data)
{
	struct peer *p = peer_logged_in();
	union bhs b = command(p, WRITE, 65536, 65536);
	uint8_t *data = pattern(65536), *bytes;
	size_t n;

	bytes = pdu_bytes(p, &b, data, 65536, &n);
	feed(p, bytes, 20000, SIZE_MAX);
	peer_lost(p);
	ck_assert(p->gone);
	ck_assert_uint_eq(submitted, 0);
	free(bytes);
	free(data);
}
END_TEST

START_TEST(connection_lost_while_a_command_waits_for_a_buffer)
{
	struct peer *p = peer_logged_in();
	struct bufpool *pool = workers[0].engine->bufs;
	void *hog[64];
	unsigned n = 0;

	while ((hog[n] = buf_get(pool, PIECE_MAX, BUF_NORMAL)))
		n++;
	start(p, READ, PIECE_MAX);
	ck_assert_uint_eq(ncmds, 1);
	peer_lost(p);
	ck_assert(p->gone);
	while (n--)
		buf_put(pool, hog[n], PIECE_MAX);
}
END_TEST

START_TEST(connection_lost_with_commands_before_their_turn)
{
	struct peer *p = peer_logged_in();

	p->cmd_sn += 5;
	start(p, WAIT, 0);
	start(p, WAIT, 0);
	peer_lost(p);
	ck_assert(p->gone);
}
END_TEST

/* ---- what is no session's PDU ------------------------------------------ */

START_TEST(before_login_nothing_else_is_taken)
{
	struct peer *p = peer_new();

	start(p, WAIT, 0);
	ck_assert(p->gone);
	ck_assert_uint_eq(submitted, 0);
}
END_TEST

START_TEST(login_that_does_not_come_ends_the_connection)
{
	struct peer *p = peer_new();

	pass(29000);
	ck_assert(!p->gone);
	pass(2000);
	ck_assert(p->gone);
}
END_TEST

START_TEST(segment_longer_than_we_take_ends_the_connection)
{
	struct peer *p = peer_logged_in();
	union bhs b = request(p, OP_TEXT_REQUEST, false);

	b.any.data_len = be24_of(MAX_RECV_DSL + 1);
	feed(p, b.bytes, BHS_LEN, SIZE_MAX);
	ck_assert(p->gone);
}
END_TEST

static const struct {
	uint8_t opcode, reason;
} unwanted[] = {
	{ 0x1c, REJECT_NOT_SUPPORTED },
	{ 0x3e, REJECT_NOT_SUPPORTED },
	{ OP_SNACK, REJECT_SNACK },
	{ OP_LOGIN_REQUEST, REJECT_PROTOCOL },
	{ OP_SCSI_RESPONSE, REJECT_NOT_SUPPORTED },
};

START_TEST(unwanted_pdu_is_rejected_and_the_connection_lives)
{
	struct peer *p = peer_logged_in();
	union bhs b = request(p, unwanted[_i].opcode, true), r;
	uint8_t data[100] = { 0 };

	say(p, &b, data, sizeof(data));
	ck_assert_int_eq(hear_any(p, &r), OP_REJECT);
	ck_assert_uint_eq(r.reject.reason, unwanted[_i].reason);
	start(p, READ, 512);
	ck_assert_int_eq(hear_any(p, &r), OP_DATA_IN);
}
END_TEST

static const struct {
	uint8_t	ahs[8];
	int	reason;		/* 0: taken */
} headers[] = {
	{ { 0, 5, 1 }, REJECT_NOT_SUPPORTED },	/* extended CDB */
	{ { 0, 5, 2 }, REJECT_NOT_SUPPORTED },	/* both directions */
	{ { 0, 5, 9 }, 0 },
	{ { 0xff, 0xff, 9 }, REJECT_INVALID_FIELD },
};

START_TEST(additional_headers_are_walked)
{
	struct peer *p = peer_logged_in();
	union bhs b = command(p, READ, 512, 512), r;
	uint8_t bytes[BHS_LEN + 8];

	b.any.ahs_len = 2;
	memcpy(bytes, &b, BHS_LEN);
	memcpy(bytes + BHS_LEN, headers[_i].ahs, 8);
	feed(p, bytes, sizeof(bytes), SIZE_MAX);
	ck_assert_int_eq(hear_any(p, &r),
			 headers[_i].reason ? OP_REJECT : OP_DATA_IN);
	if (headers[_i].reason)
		ck_assert_uint_eq(r.reject.reason, headers[_i].reason);
}
END_TEST

/* ---- NOP --------------------------------------------------------------- */

START_TEST(ping_is_answered_with_its_data)
{
	struct peer *p = peer_logged_in();
	uint8_t *data = pattern(20000), got[20000];
	union bhs b = request(p, OP_NOP_OUT, true), r;

	b.nop_out.ttt = be32_of(TAG_NONE);
	say_cut(p, &b, data, 20000, 777);
	ck_assert_int_eq(hear(p, &r, got, sizeof(got)), OP_NOP_IN);
	ck_assert_uint_eq(be24_get(r.any.data_len),
			  keys.MaxRecvDataSegmentLength);
	ck_assert(!memcmp(got, data, keys.MaxRecvDataSegmentLength));
	ck_assert(!memcmp(&r.any.itt, &b.any.itt, 4));
	ck_assert_uint_eq(be32_get(r.nop_in.ttt), TAG_NONE);
	free(data);
}
END_TEST

START_TEST(silent_initiator_is_asked_and_then_given_up)
{
	struct peer *p = peer_logged_in();
	union bhs b, ask;

	pass(NOP_SILENCE_MS + 1);
	ck_assert_int_eq(hear_any(p, &ask), OP_NOP_IN);
	ck_assert_uint_eq(be32_get(ask.any.itt), TAG_NONE);
	ck_assert_uint_ne(be32_get(ask.nop_in.ttt), TAG_NONE);
	b = request(p, OP_NOP_OUT, true);
	b.any.itt = be32_of(TAG_NONE);
	b.nop_out.ttt = ask.nop_in.ttt;
	say(p, &b, NULL, 0);
	pass(NOP_SILENCE_MS + 1);
	ck_assert(!p->gone);	/* asked once more */
	pass(NOP_ANSWER_MS + 1);
	ck_assert(p->gone);
}
END_TEST

START_TEST(idle_connection_holds_no_buffer)
{
	struct peer *p = peer_logged_in();
	union bhs b;

	start(p, READ, 512);
	ck_assert_int_eq(hear_any(p, &b), OP_DATA_IN);
	ck_assert_uint_ne(bufpool_used(workers[0].engine->bufs), 0);
	pass(1001);
	pass(1001);
	ck_assert_uint_eq(bufpool_used(workers[0].engine->bufs), 0);
	start(p, READ, 512);
	ck_assert_int_eq(hear_any(p, &b), OP_DATA_IN);
}
END_TEST

/* ---- sessions ---------------------------------------------------------- */

START_TEST(session_that_comes_back_logs_in_at_once_and_its_commands_wait)
{
	struct peer *p = peer_logged_in(), *q;
	uint64_t old = nexus_id(p->conn->session->nexus);
	uint64_t id = p->conn->session->id;

	start(p, WAIT, 0);
	cmds[0]->cdb[0] = 1;
	q = peer_new();
	ck_assert_int_eq(login(q, 1, 0), 0);
	ck_assert_uint_ne(q->conn->session->id, id);
	ck_assert(conn_closing(p->conn) && cmds[0]->aborted);
	ck_assert_uint_eq(succeeded, old);
	ck_assert_uint_eq(session_count(NULL), 1);
	start(q, WAIT, 0);
	ck_assert_uint_eq(submitted, 2);	/* gated by SCSI from here */
	finish(cmds[0], STATUS_TASK_ABORTED);
	turns();
	ck_assert(p->gone);
}
END_TEST

START_TEST(session_that_comes_back_twice_waits_for_both)
{
	struct peer *p = peer_logged_in(), *q, *r;

	start(p, WAIT, 0);
	cmds[0]->cdb[0] = 1;
	q = peer_new();
	ck_assert_int_eq(login(q, 1, 0), 0);
	r = peer_new();
	ck_assert_int_eq(login(r, 1, 0), 0);
	ck_assert(q->gone && !p->gone);
	start(r, WAIT, 0);
	ck_assert_uint_eq(submitted, 1);	/* p's write may still land */
	finish(cmds[0], STATUS_TASK_ABORTED);
	turns();
	ck_assert(p->gone);
	ck_assert_uint_eq(submitted, 2);
}
END_TEST

START_TEST(another_isid_is_another_session)
{
	struct peer *p = peer_logged_in(), *q = peer_new();

	ck_assert_int_eq(login(q, 2, 0), 0);
	ck_assert(!p->gone && !conn_closing(p->conn));
	ck_assert_uint_eq(session_count("iqn.2026-11.test:target"), 2);
	ck_assert_uint_ne(p->conn->session->tsih, q->conn->session->tsih);
}
END_TEST

START_TEST(unknown_tsih_is_refused_with_its_status)
{
	struct peer *p = peer_new();

	ck_assert_int_eq(login(p, 1, 77), LOGIN_NO_SESSION);
	ck_assert(!p->gone);	/* it may read the answer first */
	pass(3000);
}
END_TEST

START_TEST(second_connection_of_a_session_is_one_too_many)
{
	struct peer *p = peer_logged_in(), *q = peer_new();

	q->conn->cid = 9;
	ck_assert_int_eq(login(q, 1, p->conn->session->tsih),
			 LOGIN_TOO_MANY_CONNS);
	ck_assert(!conn_closing(p->conn));
	pass(3000);
}
END_TEST

START_TEST(logout_is_answered_when_the_commands_are_gone)
{
	struct peer *p = peer_logged_in();
	union bhs b;

	start(p, WAIT, 0);
	cmds[0]->cdb[0] = 1;
	b = request(p, OP_LOGOUT_REQUEST, true);
	say(p, &b, NULL, 0);
	ck_assert_int_eq(hear_any(p, &b), -1);
	finish(cmds[0], STATUS_GOOD);
	turns();
	ck_assert_int_eq(hear_any(p, &b), OP_LOGOUT_RESPONSE);
	ck_assert_uint_eq(b.logout_response.response, LOGOUT_CLOSED);
	ck_assert(!p->gone);
	peer_lost(p);
	ck_assert(p->gone);
}
END_TEST

START_TEST(logout_of_another_connection_or_for_recovery_is_refused)
{
	struct peer *p = peer_logged_in();
	union bhs b = request(p, OP_LOGOUT_REQUEST, true);

	b.any.flags = FLAG_FINAL | LOGOUT_CONNECTION;
	b.logout_request.cid = be16_of(5);
	say(p, &b, NULL, 0);
	ck_assert_int_eq(hear_any(p, &b), OP_LOGOUT_RESPONSE);
	ck_assert_uint_eq(b.logout_response.response, LOGOUT_NO_CID);
	b = request(p, OP_LOGOUT_REQUEST, true);
	b.any.flags = FLAG_FINAL | LOGOUT_RECOVERY;
	say(p, &b, NULL, 0);
	ck_assert_int_eq(hear_any(p, &b), OP_LOGOUT_RESPONSE);
	ck_assert_uint_eq(b.logout_response.response, LOGOUT_NO_RECOVERY);
	start(p, READ, 512);
	ck_assert_int_eq(hear_any(p, &b), OP_DATA_IN);
}
END_TEST

START_TEST(session_moves_when_it_is_quiet_and_keeps_what_it_was_sent)
{
	struct peer *p = peer_logged_in();
	uint64_t id = p->conn->session->id;
	union bhs b, r2t, d;
	uint8_t *data = pattern(8192), bytes[2 * BHS_LEN];
	uint32_t stat_sn;

	b = start(p, WRITE, 8192);
	ck_assert_int_eq(hear_any(p, &r2t), OP_R2T);
	ck_assert_int_eq(session_move_id(id, 1), 0);
	turns();
	ck_assert_ptr_eq(p->conn->worker, &workers[0]);
	d = data_out(be32_get(b.any.itt), be32_get(r2t.r2t.ttt), 0, 0);
	d.any.flags = FLAG_FINAL;
	say(p, &d, data, 8192);
	ck_assert_int_eq(hear_any(p, &b), OP_SCSI_RESPONSE);
	stat_sn = be32_get(b.answer.stat_sn);
	ck_assert_ptr_eq(p->conn->worker, &workers[1]);
	ck_assert(list_empty(&workers[0].conns));
	start(p, READ, 512);
	ck_assert_int_eq(hear_any(p, &b), OP_DATA_IN);
	ck_assert_uint_eq(be32_get(b.answer.stat_sn), stat_sn + 1);

	/* and back, with a command behind the one that runs */
	d = command(p, WAIT, 0, 0);
	memcpy(bytes, &d, BHS_LEN);
	d = command(p, READ, 512, 512);
	memcpy(bytes + BHS_LEN, &d, BHS_LEN);
	feed(p, bytes, BHS_LEN, SIZE_MAX);
	ck_assert_int_eq(session_move_id(id, 0), 0);
	turns();
	feed(p, bytes + BHS_LEN, BHS_LEN, SIZE_MAX);
	ck_assert_uint_eq(ncmds, 1);
	self = workers[1].engine;
	finish(cmds[0], STATUS_GOOD);
	turns();
	ck_assert_ptr_eq(p->conn->worker, &workers[0]);
	ck_assert_int_eq(hear_any(p, &b), OP_SCSI_RESPONSE);
	ck_assert_int_eq(hear_any(p, &b), OP_DATA_IN);
	free(data);
}
END_TEST

START_TEST(logout_while_a_move_waits_ends_with_the_peer)
{
	struct peer *p = peer_logged_in();
	union bhs b;

	start(p, WRITE, 8192);
	ck_assert_int_eq(hear_any(p, &b), OP_R2T);
	ck_assert_int_eq(session_move_id(p->conn->session->id, 1), 0);
	turns();
	b = request(p, OP_LOGOUT_REQUEST, true);
	say(p, &b, NULL, 0);
	ck_assert_int_eq(hear_any(p, &b), OP_LOGOUT_RESPONSE);
	peer_lost(p);
	ck_assert(p->gone);
}
END_TEST

static bool over;

static void shutdown_done(void)
{
	over = true;
}

START_TEST(shutdown_asks_to_log_out_and_drops_the_rest)
{
	struct peer *p = peer_logged_in(), *q = peer_new();
	union bhs b;

	sessions_shutdown(5000, shutdown_done);
	turns();
	ck_assert(q->gone && !p->gone && !over);
	ck_assert_int_eq(hear_any(p, &b), OP_ASYNC);
	ck_assert_uint_eq(b.async.event, ASYNC_LOGOUT_REQUEST);
	ck_assert_uint_eq(be16_get(b.async.parameter3), 5);
	session_end_id(p->conn->session->id, "a test");
	turns();
	ck_assert(p->gone && over);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("session");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_test(tc,
		connection_lost_while_scsi_has_a_command_waits_for_it);
	tcase_add_test(tc, connection_lost_while_a_write_waits_for_data);
	tcase_add_test(tc, connection_lost_in_the_middle_of_immediate_data);
	tcase_add_test(tc, connection_lost_while_a_command_waits_for_a_buffer);
	tcase_add_test(tc, connection_lost_with_commands_before_their_turn);
	tcase_add_test(tc, before_login_nothing_else_is_taken);
	tcase_add_test(tc, login_that_does_not_come_ends_the_connection);
	tcase_add_test(tc, segment_longer_than_we_take_ends_the_connection);
	tcase_add_loop_test(tc,
		unwanted_pdu_is_rejected_and_the_connection_lives,
		0, ARRAY_SIZE(unwanted));
	tcase_add_loop_test(tc, additional_headers_are_walked, 0,
			    ARRAY_SIZE(headers));
	tcase_add_test(tc, ping_is_answered_with_its_data);
	tcase_add_test(tc, silent_initiator_is_asked_and_then_given_up);
	tcase_add_test(tc, idle_connection_holds_no_buffer);
	tcase_add_test(tc,
		session_that_comes_back_logs_in_at_once_and_its_commands_wait);
	tcase_add_test(tc, session_that_comes_back_twice_waits_for_both);
	tcase_add_test(tc, another_isid_is_another_session);
	tcase_add_test(tc, unknown_tsih_is_refused_with_its_status);
	tcase_add_test(tc, second_connection_of_a_session_is_one_too_many);
	tcase_add_test(tc, logout_is_answered_when_the_commands_are_gone);
	tcase_add_test(tc,
		logout_of_another_connection_or_for_recovery_is_refused);
	tcase_add_test(tc,
		session_moves_when_it_is_quiet_and_keeps_what_it_was_sent);
	tcase_add_test(tc, logout_while_a_move_waits_ends_with_the_peer);
	tcase_add_test(tc, shutdown_asks_to_log_out_and_drops_the_rest);
	return unit_run("session", tc);
}
