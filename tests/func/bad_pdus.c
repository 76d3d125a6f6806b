/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What no honest host would send, after login and with the right to be there.
 * After each the daemon answers, rejects or drops this connection, as it likes;
 * but it serves another session at once, and nothing was written.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/raw.h"

#define IQN	"iqn.2026-11.example.test:bad"

static struct daemon *d;
static uint8_t buf[1 << 20], clean[4096];

static struct raw *enter(void)
{
	struct raw *r = raw_open(d, .target = IQN, .keys =
		"ImmediateData=Yes\nInitialR2T=No\nFirstBurstLength=16384\n"
		"MaxBurstLength=65536\n");

	ck_assert(r && r->login_status == 0);
	ck_assert_int_eq(raw_settle(r, 0), 0);
	return r;
}

static void others_are_served(void)
{
	struct raw *r = enter();
	uint8_t data[4096];

	ck_assert(daemon_alive(d));
	ck_assert_int_eq(raw_read(r, 0, 0, data, 8), 0);
	ck_assert_mem_eq(data, clean, sizeof(data));
	raw_close(r);
}

/* A WRITE of len bytes at block 0, of which data_len go with it. */
static void write_command(struct raw *r, uint32_t len, uint32_t data_len,
			  bool final)
{
	struct raw_cmd c = {
		.flags = CMD_WRITE, .edtl = len, .data = buf,
		.data_len = data_len, .not_final = !final,
		.cdb = { 0x8a, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
			 (uint8_t)(len / 512 >> 8), (uint8_t)(len / 512) },
	};

	raw_command(r, &c);
}

/* ---- each does one wrong thing on a session ---- */

static void unknown_opcode(struct raw *r)
{
	union bhs b;

	raw_request(r, &b, 0x1e, true);
	raw_send(r, &b, NULL, 0);
}

static void opcode_of_a_target(struct raw *r)
{
	union bhs b;

	raw_request(r, &b, OP_SCSI_RESPONSE, false);
	raw_send(r, &b, NULL, 0);
}

static void snack(struct raw *r)
{
	union bhs b;

	raw_request(r, &b, OP_SNACK, true);
	raw_send(r, &b, NULL, 0);
}

static void login_in_full_feature_phase(struct raw *r)
{
	union bhs b;

	raw_request(r, &b, OP_LOGIN_REQUEST, true);
	b.login_request.flags = LOGIN_TRANSIT | 1 << 2 | 3;
	raw_send(r, &b, "InitiatorName=iqn.x", 20);
}

static void data_out_of_no_command(struct raw *r)
{
	union bhs b = { .r2t = { .itt = be32_of(0x7777),
				 .ttt = be32_of(0x8888) } };

	raw_data_out(r, &b, 0, buf, 512);
}

static void unsolicited_data_of_no_command(struct raw *r)
{
	union bhs b = { .r2t = { .itt = be32_of(0x7777),
				 .ttt = be32_of(TAG_NONE) } };

	raw_data_out(r, &b, 0, buf, 512);
}

static union bhs wait_r2t(struct raw *r)
{
	write_command(r, 32768, 0, true);
	ck_assert_int_eq(raw_recv(r, DEADLINE_MS), OP_R2T);
	return r->bhs;
}

static void data_out_beyond_the_buffer(struct raw *r)
{
	union bhs b = wait_r2t(r);

	raw_data_out(r, &b, 32768 - 256, buf, 512);
}

static void data_out_at_a_huge_offset(struct raw *r)
{
	union bhs b = wait_r2t(r);

	raw_data_out(r, &b, 0xfffffe00, buf, 512);
}

static void data_out_with_a_gap(struct raw *r)
{
	union bhs b = wait_r2t(r);

	raw_data_out(r, &b, 4096, buf, 512);
}

static void data_out_with_a_wrong_data_sn(struct raw *r)
{
	union bhs r2t = wait_r2t(r), b = { .data_out = {
		.opcode = OP_DATA_OUT, .flags = FLAG_FINAL,
		.itt = r2t.r2t.itt, .ttt = r2t.r2t.ttt,
		.data_sn = be32_of(9),
	} };

	raw_send(r, &b, buf, 8192);
}

static void data_out_with_a_wrong_tag(struct raw *r)
{
	union bhs b = wait_r2t(r);

	b.r2t.ttt = be32_of(be32_get(b.r2t.ttt) ^ 0x5a5a);
	raw_data_out(r, &b, 0, buf, 512);
}

static void immediate_data_beyond_the_first_burst(struct raw *r)
{
	write_command(r, 262144, 65536, true);
}

static void more_immediate_data_than_expected(struct raw *r)
{
	write_command(r, 512, 4096, true);
}

static void final_data_that_is_too_little(struct raw *r)
{
	union bhs b = wait_r2t(r);

	raw_data_out(r, &b, 0, buf, 512);
}

static void a_segment_longer_than_declared(struct raw *r)
{
	union bhs b;

	raw_request(r, &b, OP_NOP_OUT, true);
	b.nop_out.ttt = be32_of(TAG_NONE);
	raw_send(r, &b, buf, sizeof(buf));
}

static void additional_headers_that_lie(struct raw *r)
{
	union bhs b;

	raw_request(r, &b, OP_SCSI_COMMAND, false);
	b.any.ahs_len = 255;
	raw_send(r, &b, NULL, 0);
	/* AHS of a length beyond its room */
	memset(buf, 0xff, 255 * 4);
	raw_bytes(r, buf, 255 * 4);
}

static void an_extended_cdb(struct raw *r)
{
	static const uint8_t ahs[8] = { 0, 5, 1, 0, 1, 2, 3, 4 };
	union bhs b;

	raw_request(r, &b, OP_SCSI_COMMAND, false);
	b.any.ahs_len = 2;
	b.scsi_command.cdb[0] = 0x7f;
	raw_send(r, &b, NULL, 0);
	raw_bytes(r, ahs, sizeof(ahs));
}

static void read_and_write_at_once(struct raw *r)
{
	struct raw_cmd c = { .flags = CMD_READ | CMD_WRITE, .edtl = 4096,
			     .cdb = { 0x28, 0, 0, 0, 0, 0, 0, 0, 8 } };

	raw_command(r, &c);
}

static void a_read_that_expects_nothing(struct raw *r)
{
	struct raw_cmd c = { .cdb = { 0x28, 0, 0, 0, 0, 0, 0, 0, 8 } };

	raw_command(r, &c);
}

static void a_write_that_brings_nothing(struct raw *r)
{
	struct raw_cmd c = { .cdb = { 0x2a, 0, 0, 0, 0, 0, 0, 0, 8 } };

	raw_command(r, &c);
}

static void four_gibibytes_expected(struct raw *r)
{
	struct raw_cmd c = { .flags = CMD_WRITE, .edtl = 0xffffffff,
			     .cdb = { 0x89, [13] = 1 } };

	raw_command(r, &c);
}

static void a_tag_used_twice(struct raw *r)
{
	wait_r2t(r);
	r->itt--;
	write_command(r, 32768, 0, true);
}

static void a_command_sn_far_ahead(struct raw *r)
{
	r->cmd_sn += 100000;
	write_command(r, 512, 512, true);
	r->cmd_sn -= 100001;
}

static void a_command_sn_of_the_past(struct raw *r)
{
	r->cmd_sn -= 1;
	write_command(r, 512, 512, true);
}

static void text_of_a_tag_never_given(struct raw *r)
{
	union bhs b;

	raw_request(r, &b, OP_TEXT_REQUEST, true);
	b.text_request.ttt = be32_of(0x1234);
	raw_send(r, &b, "SendTargets=All", 16);
}

static void text_without_an_end(struct raw *r)
{
	union bhs b;
	int n;

	memset(buf, 'x', 8192);
	for (n = 0; n < 40; n++) {
		raw_request(r, &b, OP_TEXT_REQUEST, true);
		b.text_request.flags = TEXT_CONTINUE;
		b.text_request.ttt = be32_of(TAG_NONE);
		if (raw_send(r, &b, buf, 8192) || raw_recv(r, 1000) < 0)
			return;
	}
}

static void text_without_a_value(struct raw *r)
{
	union bhs b;

	raw_request(r, &b, OP_TEXT_REQUEST, true);
	b.text_request.ttt = be32_of(TAG_NONE);
	raw_send(r, &b, "no equals sign at all", 22);
}

static void task_management_of_no_kind(struct raw *r)
{
	union bhs b;

	raw_request(r, &b, OP_TMF_REQUEST, true);
	b.tmf_request.flags = 0xff;
	raw_send(r, &b, buf, 512);
}

static void logout_for_no_reason(struct raw *r)
{
	union bhs b;

	raw_request(r, &b, OP_LOGOUT_REQUEST, true);
	b.logout_request.flags = FLAG_FINAL | 0x55;
	raw_send(r, &b, NULL, 0);
}

static void logout_of_another_connection(struct raw *r)
{
	union bhs b;

	raw_request(r, &b, OP_LOGOUT_REQUEST, true);
	b.logout_request.flags = FLAG_FINAL | LOGOUT_CONNECTION;
	b.logout_request.cid = be16_of(99);
	raw_send(r, &b, NULL, 0);
}

static void a_nop_that_answers_nothing(struct raw *r)
{
	union bhs b;

	raw_request(r, &b, OP_NOP_OUT, true);
	b.nop_out.itt = be32_of(TAG_NONE);
	b.nop_out.ttt = be32_of(0x4711);
	raw_send(r, &b, NULL, 0);
}

static void a_lun_of_all_ones(struct raw *r)
{
	union bhs b;

	raw_request(r, &b, OP_SCSI_COMMAND, false);
	memset(b.any.lun, 0xff, 8);
	raw_send(r, &b, NULL, 0);
}

static void half_a_header(struct raw *r)
{
	raw_bytes(r, buf, 20);
	raw_close(r);
}

static void half_the_data_of_a_write(struct raw *r)
{
	union bhs b = { .data_out = { .opcode = OP_DATA_OUT,
				      .data_len = be24_of(8192) } };
	union bhs r2t = wait_r2t(r);

	b.data_out.itt = r2t.r2t.itt;
	b.data_out.ttt = r2t.r2t.ttt;
	raw_bytes(r, &b, sizeof(b));
	raw_bytes(r, buf, 1000);
	raw_close(r);
}

/* What the first PDU says that comes back. */
enum {
	CLOSED		= 1,	/* none: the connection has ended */
	NOTHING		= 2,	/* none, and the session goes on */
	ITSELF		= 3,	/* the case closed the connection */
	REJECT		= 0x100,	/* with the reason */
	STATUS		= 0x200,	/* of a SCSI Response */
	LOGOUT		= 0x300,	/* with the response */
	TMF		= 0x400,
	MORE		= 0x500,	/* an R2T: it has started */
};
#define ABORTED		(STATUS | 0x02)

static const struct wrong {
	const char	*name, *clause;		/* RFC 7143 */
	void		(*act)(struct raw *r);
	int		 answer;
} wrongs[] = {
#define W(name, clause, answer) { #name, clause, name, answer }
	W(unknown_opcode, "11.17.1", REJECT | REJECT_NOT_SUPPORTED),
	W(opcode_of_a_target, "11.17.1", REJECT | REJECT_NOT_SUPPORTED),
	W(snack, "11.16", REJECT | REJECT_SNACK),
	W(login_in_full_feature_phase, "6.3", REJECT | REJECT_PROTOCOL),
	W(data_out_of_no_command, "7.8", NOTHING),
	W(unsolicited_data_of_no_command, "7.8", NOTHING),
	W(data_out_beyond_the_buffer, "7.8", ABORTED),
	W(data_out_at_a_huge_offset, "7.8", ABORTED),
	W(data_out_with_a_gap, "7.8", ABORTED),
	W(data_out_with_a_wrong_data_sn, "7.9", ABORTED),
	W(data_out_with_a_wrong_tag, "7.8", NOTHING),
	W(immediate_data_beyond_the_first_burst, "13.14", CLOSED),
	W(more_immediate_data_than_expected, "11.3.4", CLOSED),
	W(final_data_that_is_too_little, "11.7.1", ABORTED),
	W(a_segment_longer_than_declared, "13.12", CLOSED),
	W(additional_headers_that_lie, "11.2.2", REJECT | REJECT_INVALID_FIELD),
	W(an_extended_cdb, "11.2.2.3", REJECT | REJECT_NOT_SUPPORTED),
	W(read_and_write_at_once, "11.3.1", REJECT | REJECT_NOT_SUPPORTED),
	W(a_read_that_expects_nothing, "11.4.5.2", STATUS),
	W(a_write_that_brings_nothing, "11.4.5.2", STATUS),
	W(four_gibibytes_expected, "11.3.4", STATUS | 0x02),
	W(a_tag_used_twice, "11.2.1.8", CLOSED),
	W(a_command_sn_far_ahead, "4.2.2.1", NOTHING),
	W(a_command_sn_of_the_past, "4.2.2.1", NOTHING),
	W(text_of_a_tag_never_given, "11.10.4", REJECT | REJECT_PROTOCOL),
	/* the Reject that ended it was taken by the case */
	W(text_without_an_end, "11.10.2", NOTHING),
	W(text_without_a_value, "6.1", REJECT | REJECT_PROTOCOL),
	W(task_management_of_no_kind, "11.6.1", TMF | 0x05),
	W(logout_for_no_reason, "11.17.1", REJECT | REJECT_INVALID_FIELD),
	W(logout_of_another_connection, "11.15.1", LOGOUT | LOGOUT_NO_CID),
	W(a_nop_that_answers_nothing, "11.18", NOTHING),
	W(a_lun_of_all_ones, "SAM-5 4.7", STATUS | 0x02),
	W(half_a_header, "7.1", ITSELF),
	W(half_the_data_of_a_write, "7.1", ITSELF),
#undef W
};
#define WRONGS (int)(sizeof(wrongs) / sizeof(wrongs[0]))

/* A NOP-In overtakes commands: where an answer must come, it is waited for. */
static int answer_of(struct raw *r, bool must)
{
	union bhs nop;
	int rc;

	raw_request(r, &nop, OP_NOP_OUT, true);
	nop.nop_out.ttt = be32_of(TAG_NONE);
	raw_send(r, &nop, NULL, 0);
	rc = raw_recv(r, DEADLINE_MS);
	if (rc == OP_NOP_IN && must)
		rc = raw_recv(r, DEADLINE_MS);
	switch (rc) {
	case RAW_CLOSED:
		return CLOSED;
	case OP_NOP_IN:
		return NOTHING;
	case OP_REJECT:
		return REJECT | r->bhs.reject.reason;
	case OP_SCSI_RESPONSE:
		return STATUS | r->bhs.scsi_response.status;
	case OP_LOGOUT_RESPONSE:
		return LOGOUT | r->bhs.logout_response.response;
	case OP_TMF_RESPONSE:
		return TMF | r->bhs.tmf_response.response;
	case OP_R2T:
		return MORE;
	}
	return rc;
}

START_TEST(a_wrong_pdu_hurts_nobody_else)
{
	const struct wrong *w = &wrongs[_i];
	struct raw *r = enter();
	int answer;

	memset(buf, 0x77, sizeof(buf));
	w->act(r);
	if (w->answer != ITSELF) {
		answer = answer_of(r, w->answer != NOTHING);
		ck_assert_msg(answer == w->answer,
			      "%s (RFC 7143 %s): %#x, not %#x", w->name,
			      w->clause, answer, w->answer);
		raw_close(r);
	}
	ck_assert_msg(daemon_alive(d), "%s ended the daemon", w->name);
	others_are_served();
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("bad PDUs");
	struct raw *r;

	d = daemon_start(NULL);
	if (!d || adm_target(d, IQN) || adm_lun(d, IQN, 0, "vol", "--size 8M"))
		return EXIT_FAILURE;
	r = raw_open(d, .target = IQN);
	pattern_fill(clean, sizeof(clean), 0, 1);
	if (!r || raw_settle(r, 0) || raw_write(r, 0, 0, clean, 8))
		return EXIT_FAILURE;
	raw_close(r);
	tcase_add_loop_test(tc, a_wrong_pdu_hurts_nobody_else, 0, WRONGS);
	return func_run("bad_pdus", tc);
}
