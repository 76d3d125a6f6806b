/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Task management: answered at once, whatever the command waits for, and after
 * the answer the command certainly writes no more.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/raw.h"
#include "tests/lib/copylist.h"

#define IQN	"iqn.2026-11.example.test:tmf"
#define LONG	(64u * 1024)
#define AT_ONCE	2000u		/* ms; ESXi gives up soon after */

enum {
	ABORT_TASK = 1, ABORT_TASK_SET, CLEAR_ACA, CLEAR_TASK_SET, LU_RESET,
	WARM_RESET, COLD_RESET, REASSIGN, QUERY_SET = 10,
};

static struct daemon *d;
static uint8_t buf[LONG];

/* A session whose writes wait for Data-Out. */
static struct raw *solicited(void)
{
	struct raw *r = raw_open(d, .target = IQN, .keys =
		"ImmediateData=No\nInitialR2T=Yes\nMaxOutstandingR2T=1\n");

	ck_assert(r && r->login_status == 0);
	ck_assert_int_eq(raw_settle(r, 0), 0);
	ck_assert_int_eq(raw_settle(r, 1), 0);
	return r;
}

/* Sends a WRITE of len bytes and waits for its R2T; its ITT. */
static uint32_t start_write_of(struct raw *r, int lun, uint8_t lba,
			       uint32_t len)
{
	struct raw_cmd c = {
		.lun = lun, .flags = CMD_WRITE, .edtl = len,
		.cdb = { 0x8a, 0, 0, 0, 0, 0, 0, 0, 0, lba, 0, 0, 0,
			 (uint8_t)(len / 512) },
	};
	uint32_t itt = raw_command(r, &c);

	ck_assert_int_eq(raw_recv(r, DEADLINE_MS), OP_R2T);
	ck_assert_uint_eq(be32_get(r->bhs.r2t.itt), itt);
	return itt;
}

static uint32_t start_write(struct raw *r, int lun, uint8_t lba)
{
	return start_write_of(r, lun, lba, LONG);
}

static void answered_at_once(struct raw *r, int function, int lun,
			     uint32_t itt, uint32_t sn, int response)
{
	uint64_t start = now_ms();
	int rc = raw_tmf(r, function, lun, itt, sn);

	ck_assert_msg(rc == response, "function %d: response %d, not %d",
		      function, rc, response);
	ck_assert_uint_lt(now_ms() - start, AT_ONCE);
}

static void first_block(struct raw *r, uint64_t lba, void *block)
{
	ck_assert_int_eq(raw_read(r, 0, lba, block, 1), 0);
}

START_TEST(a_write_that_waits_for_data_is_aborted_at_once)
{
	struct raw *r = solicited();
	uint8_t before[512], after[512];
	uint32_t itt;
	union bhs r2t;

	first_block(r, 200, before);
	itt = start_write(r, 0, 200);
	r2t = r->bhs;
	answered_at_once(r, ABORT_TASK, 0, itt, r->cmd_sn - 1, 0);
	/* data that comes late is dropped, and the session goes on */
	memset(buf, 0x77, sizeof(buf));
	raw_data_out(r, &r2t, 0, buf, DSL_DEFAULT);
	ck_assert_int_eq(raw_ping(r), 0);
	ck_assert_int_eq(raw_tur(r, 0), 0);
	first_block(r, 200, after);
	ck_assert_mem_eq(before, after, 512);
	raw_close(r);
}
END_TEST

START_TEST(a_write_that_has_half_its_data_is_aborted_at_once)
{
	struct raw *r = solicited();
	uint32_t itt = start_write(r, 0, 0);
	union bhs r2t = r->bhs;

	r2t.r2t.desired_len = be32_of(DSL_DEFAULT);
	raw_data_out(r, &r2t, 0, buf, DSL_DEFAULT);
	answered_at_once(r, ABORT_TASK, 0, itt, r->cmd_sn - 1, 0);
	ck_assert_int_eq(raw_ping(r), 0);
	raw_close(r);
}
END_TEST

START_TEST(the_abort_of_a_task_that_has_ended_is_complete)
{
	struct raw *r = solicited();
	uint32_t itt = r->itt;

	ck_assert_int_eq(raw_tur(r, 0), 0);
	answered_at_once(r, ABORT_TASK, 0, itt, r->cmd_sn - 1, 0);
	raw_close(r);
}
END_TEST

START_TEST(the_abort_of_a_tag_that_never_was_is_answered)
{
	struct raw *r = solicited();
	int rc = raw_tmf(r, ABORT_TASK, 0, 0xabcdef, r->cmd_sn - 1);

	ck_assert_msg(rc == 0 || rc == 1, "response %d", rc);
	ck_assert_int_eq(raw_tur(r, 0), 0);
	raw_close(r);
}
END_TEST

START_TEST(an_abort_that_overtook_its_command_takes_its_number)
{
	struct raw *r = solicited();
	/* the command with the next CmdSN is lost for ever */
	int rc = raw_tmf(r, ABORT_TASK, 0, r->itt, r->cmd_sn);

	ck_assert_msg(rc == 0 || rc == 1, "response %d", rc);
	if (rc == 0)
		r->cmd_sn++;
	ck_assert_int_eq(raw_tur(r, 0), 0);
	raw_close(r);
}
END_TEST

START_TEST(abort_task_set_ends_all_of_the_session_and_of_no_other)
{
	struct raw *r = solicited(), *other = solicited();
	uint32_t itt;

	start_write(r, 0, 0);
	start_write(r, 0, 0);
	itt = start_write(other, 0, 0);
	answered_at_once(r, ABORT_TASK_SET, 0, TAG_NONE, 0, 0);
	ck_assert_int_eq(raw_tur(r, 0), 0);
	/* the other's write still takes its data */
	raw_data_out(other, &other->bhs, 0, buf, DSL_DEFAULT);
	ck_assert_int_eq(raw_ping(other), 0);
	answered_at_once(other, ABORT_TASK, 0, itt, other->cmd_sn - 1, 0);
	raw_close(r);
	raw_close(other);
}
END_TEST

/* The sense that a TEST UNIT READY brings, or 0 with GOOD. */
static unsigned unit_attention(struct raw *r, int lun)
{
	if (raw_tur(r, lun) != 2 || (r->data[4] & 15) != 6)
		return 0;
	return (unsigned)r->data[2 + 12] << 8 | r->data[2 + 13];
}

START_TEST(clear_task_set_ends_those_of_other_sessions_and_says_so)
{
	struct raw *r = solicited(), *other = solicited();

	start_write(other, 0, 0);
	answered_at_once(r, CLEAR_TASK_SET, 0, TAG_NONE, 0, 0);
	ck_assert_uint_eq(unit_attention(other, 0), 0x2f00);
	ck_assert_int_eq(raw_tur(other, 0), 0);
	raw_close(r);
	raw_close(other);
}
END_TEST

/* MODE SELECT(6) of the control page: the status. */
static int select_control(struct raw *r, uint8_t qerr, uint8_t tas)
{
	static uint8_t list[16];
	struct raw_cmd c = {
		.flags = CMD_WRITE, .edtl = sizeof(list), .data = list,
		.data_len = sizeof(list),
		.cdb = { 0x15, 0x10, 0, 0, sizeof(list) },
	};

	memset(list, 0, sizeof(list));
	list[4] = list[5] = 0x0a;
	list[7] = (uint8_t)(0x10 | qerr << 1);
	list[9] = (uint8_t)(tas << 6);
	list[12] = list[13] = 0xff;
	raw_command(r, &c);
	ck_assert_int_ge(raw_recv_opcode(r, OP_SCSI_RESPONSE, DEADLINE_MS), 0);
	return r->bhs.scsi_response.status;
}

START_TEST(with_tas_the_commands_of_others_end_task_aborted)
{
	struct raw *r = raw_open(d, .target = IQN), *other = solicited();
	union bhs r2t;
	uint32_t itt;

	ck_assert(r && raw_settle(r, 0) == 0);
	ck_assert_int_eq(select_control(r, 0, 1), 0);
	ck_assert_uint_eq(unit_attention(other, 0), 0x2a01);
	itt = start_write_of(other, 0, 0, DSL_DEFAULT);
	r2t = other->bhs;
	answered_at_once(r, CLEAR_TASK_SET, 0, TAG_NONE, 0, 0);
	/* its answer comes behind the data that it has asked for */
	raw_data_out(other, &r2t, 0, buf, DSL_DEFAULT);
	ck_assert_int_ge(raw_recv_opcode(other, OP_SCSI_RESPONSE, DEADLINE_MS),
			 0);
	ck_assert_uint_eq(be32_get(other->bhs.scsi_response.itt), itt);
	ck_assert_int_eq(other->bhs.scsi_response.status, 0x40);
	ck_assert_int_eq(raw_tur(other, 0), 0);
	ck_assert_int_eq(select_control(r, 0, 0), 0);
	raw_close(r);
	raw_close(other);
}
END_TEST

START_TEST(with_qerr_an_error_takes_the_other_commands_with_it)
{
	struct raw *r = raw_open(d, .target = IQN), *other = solicited();
	struct raw_cmd beyond = {
		.flags = CMD_READ, .edtl = 512,
		.cdb = { 0x88, 0, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 },
	};

	ck_assert(r && raw_settle(r, 0) == 0);
	ck_assert_int_eq(select_control(r, 1, 0), 0);
	ck_assert_uint_eq(unit_attention(other, 0), 0x2a01);
	start_write(other, 0, 0);
	raw_command(r, &beyond);
	ck_assert_int_ge(raw_recv_opcode(r, OP_SCSI_RESPONSE, DEADLINE_MS), 0);
	ck_assert_int_eq(r->bhs.scsi_response.status, 2);
	answered_at_once(r, QUERY_SET, 0, TAG_NONE, 0, 0);
	while (raw_tur(other, 0) == 0)
		;	/* another worker learns of it by a message */
	ck_assert_uint_eq((unsigned)other->data[2 + 12] << 8 |
			  other->data[2 + 13], 0x2f00);
	ck_assert_int_eq(raw_tur(other, 0), 0);
	answered_at_once(other, QUERY_SET, 0, TAG_NONE, 0, 0);
	ck_assert_int_eq(select_control(r, 0, 0), 0);
	raw_close(r);
	raw_close(other);
}
END_TEST

START_TEST(a_lun_reset_ends_all_and_posts_a_unit_attention)
{
	struct raw *r = solicited(), *other = solicited();
	struct raw_cmd reserve = { .cdb = { 0x16 } };
	unsigned ua;

	start_write(r, 0, 0);
	start_write(other, 0, 0);
	/* on the other LUN nothing happens */
	start_write(other, 1, 0);
	answered_at_once(r, LU_RESET, 0, TAG_NONE, 0, 0);
	ua = unit_attention(other, 0);
	ck_assert_msg(ua == 0x2903 || ua == 0x2900, "%04x", ua);
	ck_assert_uint_eq(unit_attention(other, 1), 0);
	ck_assert_int_eq(raw_settle(r, 0), 0);

	/* and a reservation is gone */
	raw_command(other, &reserve);
	ck_assert_int_ge(raw_recv_opcode(other, OP_SCSI_RESPONSE, DEADLINE_MS),
			 0);
	ck_assert_int_eq(other->bhs.scsi_response.status, 0);
	ck_assert_int_eq(raw_tur(r, 0), 0x18);
	answered_at_once(r, LU_RESET, 0, TAG_NONE, 0, 0);
	ck_assert_int_eq(raw_settle(r, 0), 0);
	raw_close(r);
	raw_close(other);
}
END_TEST

START_TEST(a_warm_reset_resets_every_lun)
{
	struct raw *r = solicited(), *other = solicited();

	start_write(other, 0, 0);
	start_write(other, 1, 0);
	answered_at_once(r, WARM_RESET, 0, TAG_NONE, 0, 0);
	ck_assert_uint_eq(unit_attention(other, 0) >> 8, 0x29);
	ck_assert_uint_eq(unit_attention(other, 1) >> 8, 0x29);
	raw_close(r);
	raw_close(other);
}
END_TEST

START_TEST(after_a_cold_reset_hosts_get_in_again)
{
	struct raw *r = solicited();
	uint64_t start = now_ms();
	int rc = raw_tmf(r, COLD_RESET, 0, TAG_NONE, 0);

	ck_assert_msg(rc == 0 || rc == 5 || rc == RAW_CLOSED, "%d", rc);
	ck_assert_uint_lt(now_ms() - start, AT_ONCE);
	raw_close(r);
	r = solicited();
	raw_close(r);
}
END_TEST

START_TEST(functions_for_no_lun_and_of_no_kind_are_refused)
{
	struct raw *r = solicited();
	int rc;

	answered_at_once(r, LU_RESET, 77, TAG_NONE, 0, 2);
	answered_at_once(r, ABORT_TASK_SET, 77, TAG_NONE, 0, 2);
	rc = raw_tmf(r, REASSIGN, 0, 1, 0);
	ck_assert_msg(rc == 4 || rc == 5, "%d", rc);
	rc = raw_tmf(r, 0x7e, 0, 1, 0);
	ck_assert_msg(rc == 5 || rc == 255, "%d", rc);
	raw_close(r);
}
END_TEST

START_TEST(questions_are_answered_and_end_nothing)
{
	enum { QUERY_TASK = 9, QUERY_TASK_SET = 10, QUERY_EVENT = 12 };
	struct raw *r = solicited();
	uint32_t itt;

	answered_at_once(r, QUERY_TASK, 0, 0x4711, 0, 0);
	answered_at_once(r, QUERY_TASK_SET, 0, TAG_NONE, 0, 0);
	answered_at_once(r, QUERY_TASK_SET, 77, TAG_NONE, 0, 2);
	answered_at_once(r, QUERY_EVENT, 0, TAG_NONE, 0, 0);
	itt = start_write(r, 0, 0);
	answered_at_once(r, QUERY_TASK, 0, itt, 0, 7);
	answered_at_once(r, QUERY_TASK, 1, itt, 0, 0);
	answered_at_once(r, QUERY_TASK_SET, 0, TAG_NONE, 0, 7);
	answered_at_once(r, ABORT_TASK, 0, itt, r->cmd_sn - 1, 0);
	answered_at_once(r, QUERY_TASK, 0, itt, 0, 0);
	raw_close(r);
}
END_TEST

START_TEST(i_t_nexus_reset_ends_what_the_session_has)
{
	enum { I_T_NEXUS_RESET = 11 };
	struct raw *r = solicited(), *other = raw_open(d, .target = IQN,
						       .isid = 2);

	ck_assert(other && raw_settle(other, 0) == 0);
	start_write(r, 0, 0);
	answered_at_once(r, I_T_NEXUS_RESET, 0, TAG_NONE, 0, 0);
	ck_assert_int_eq(raw_tur(r, 0), 2);
	ck_assert_int_eq(r->data[2 + 12] << 8 | r->data[2 + 13], 0x2907);
	ck_assert_int_eq(raw_tur(r, 0), 0);
	ck_assert_int_eq(raw_tur(other, 0), 0);
	raw_close(r);
	raw_close(other);
}
END_TEST

START_TEST(task_management_is_served_while_the_window_is_full)
{
	struct raw *r = solicited();
	struct raw_cmd c = {
		.flags = CMD_WRITE, .edtl = 512,
		.cdb = { 0x8a, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 },
	};
	uint32_t first = r->itt, n, sent = 0;

	while ((int32_t)(r->max_cmd_sn - r->cmd_sn) >= 0 && sent < 4096) {
		raw_command(r, &c);
		sent++;
	}
	ck_assert_uint_ge(sent, 128);
	ck_assert_int_eq(raw_ping(r), 0);
	for (n = 0; n < sent; n += sent / 8)
		answered_at_once(r, ABORT_TASK, 0, first + n,
				 r->cmd_sn - sent + n, 0);
	answered_at_once(r, ABORT_TASK_SET, 0, TAG_NONE, 0, 0);
	ck_assert_int_eq(raw_settle(r, 0), 0);
	raw_close(r);
}
END_TEST

START_TEST(a_long_copy_is_aborted_at_once_and_leaves_the_lun_free)
{
	struct ini *i = ini_open(d, .target = IQN);
	struct copylist l;
	uint8_t naa[16];
	struct cmd c, tur = cmd_tur();
	uint64_t start;
	unsigned n;

	ck_assert(i != NULL);
	ck_assert_int_eq(ini_settle(i, 0), 0);
	ck_assert_int_eq(volume_naa(d, "vol", naa), 0);
	for (n = 0; n < 128; n++) {
		c = cmd_write(n * 128, 128, buf, LONG);
		expect_good(i, 0, &c);
	}
	copylist_begin(&l);
	copylist_cscd(&l, naa);
	for (n = 0; n < 60; n++)
		copylist_segment(&l, 0, n & 1, 0, 20001 + 8 * n, 16384);
	c = copylist_cmd(&l);
	ck_assert_int_eq(ini_start(i, 0, &c), 0);
	ini_poll(i, 20);
	start = now_ms();
	n = (unsigned)ini_tmf(i, 0, ISCSI_TM_ABORT_TASK, &c, DEADLINE_MS);
	ck_assert_uint_eq(n, 0);
	ck_assert_uint_lt(now_ms() - start, AT_ONCE);
	expect_good(i, 0, &tur);
	ini_drop(i);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("task management");

	d = daemon_start(NULL);
	if (!d || adm_target(d, IQN) ||
	    adm_lun(d, IQN, 0, "vol", "--size 64M") ||
	    adm_lun(d, IQN, 1, "other", "--size 8M"))
		return EXIT_FAILURE;
	tcase_add_test(tc, a_write_that_waits_for_data_is_aborted_at_once);
	tcase_add_test(tc, a_write_that_has_half_its_data_is_aborted_at_once);
	tcase_add_test(tc, the_abort_of_a_task_that_has_ended_is_complete);
	tcase_add_test(tc, the_abort_of_a_tag_that_never_was_is_answered);
	tcase_add_test(tc, an_abort_that_overtook_its_command_takes_its_number);
	tcase_add_test(tc,
		abort_task_set_ends_all_of_the_session_and_of_no_other);
	tcase_add_test(tc,
		clear_task_set_ends_those_of_other_sessions_and_says_so);
	tcase_add_test(tc, with_tas_the_commands_of_others_end_task_aborted);
	tcase_add_test(tc,
		with_qerr_an_error_takes_the_other_commands_with_it);
	tcase_add_test(tc, a_lun_reset_ends_all_and_posts_a_unit_attention);
	tcase_add_test(tc, a_warm_reset_resets_every_lun);
	tcase_add_test(tc, after_a_cold_reset_hosts_get_in_again);
	tcase_add_test(tc, functions_for_no_lun_and_of_no_kind_are_refused);
	tcase_add_test(tc, questions_are_answered_and_end_nothing);
	tcase_add_test(tc, i_t_nexus_reset_ends_what_the_session_has);
	tcase_add_test(tc, task_management_is_served_while_the_window_is_full);
	tcase_add_test(tc,
		a_long_copy_is_aborted_at_once_and_leaves_the_lun_free);
	return func_run("tmf", tc);
}
