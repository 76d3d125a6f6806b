/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text Requests and SendTargets: target/text.c, target/discovery.c. */

#include "tests/lib/login_fake.h"

#include "target/iscsi_proto.h"

#define ASK(flags, ttt, text) ask(flags, ttt, text, sizeof(text) - 1)

static void setup(void)
{
	fake_setup();
	login_free(&fake_conn);
	keys_init(&fake_conn.params);
	fake_session = (struct session){
		.initiator = "iqn.2026-11.example:host",
		.target = "iqn.2026-11.example:t1",
	};
	fake_conn.session = &fake_session;
	fake_conn.state = CONN_LOGGED_IN;
	fake_conn.stat_sn = 0xffffffff;
	fake.ntargets = 3;
}

static void be_discovery(void)
{
	fake_session.discovery = true;
	fake_session.target[0] = '\0';
}

static void ask(unsigned flags, uint32_t ttt, const char *text, size_t len)
{
	union bhs bhs;

	memset(&bhs, 0, sizeof(bhs));
	bhs.text_request.opcode = OP_TEXT_REQUEST | OPCODE_IMMEDIATE;
	bhs.text_request.flags = (uint8_t)flags;
	bhs.text_request.itt = be32_of(0x99);
	bhs.text_request.ttt = be32_of(ttt);
	fake.len = 0;
	fake.rejected = -1;
	fake_deliver(&bhs, text, len, text_request);
}

static uint32_t ttt_sent(void)
{
	return be32_get(fake.bhs.text_response.ttt);
}

static void expect_final(void)
{
	ck_assert_int_eq(fake.rejected, -1);
	ck_assert_uint_eq(fake.bhs.any.opcode, OP_TEXT_RESPONSE);
	ck_assert_uint_eq(fake.bhs.any.flags, FLAG_FINAL);
	ck_assert_uint_eq(be32_get(fake.bhs.any.itt), 0x99);
	ck_assert_uint_eq(ttt_sent(), TAG_NONE);
	ck_assert_ptr_null(fake_conn.text);
}

START_TEST(discovery_lists_each_target_with_its_portals)
{
	static const char wanted[] = "TargetName=iqn.2026-11.example:t0\0"
		"TargetAddress=192.0.2.1:3260,1\0"
		"TargetAddress=[2001:db8::1]:3260,2\0"
		"TargetName=iqn.2026-11.example:t1\0"
		"TargetAddress=192.0.2.1:3260,1\0"
		"TargetAddress=[2001:db8::1]:3260,2";

	be_discovery();
	fake.ntargets = 2;
	ASK(FLAG_FINAL, TAG_NONE, "SendTargets=All\0");
	expect_final();
	ck_assert_uint_eq(fake.len, sizeof(wanted));
	ck_assert_mem_eq(fake.data, wanted, sizeof(wanted));
}
END_TEST

START_TEST(discovery_of_one_target_lists_it_alone)
{
	be_discovery();
	ASK(FLAG_FINAL, TAG_NONE, "SendTargets=iqn.2026-11.example:t2\0");
	expect_final();
	ck_assert(fake_said("TargetName=iqn.2026-11.example:t2"));
	ck_assert(!fake_said("TargetName=iqn.2026-11.example:t1"));
}
END_TEST

START_TEST(discovery_of_an_unknown_target_lists_nothing)
{
	be_discovery();
	ASK(FLAG_FINAL, TAG_NONE, "SendTargets=iqn.2026-11.example:t9\0");
	expect_final();
	ck_assert_uint_eq(fake.len, 0);
}
END_TEST

START_TEST(normal_session_hears_of_its_own_target)
{
	if (_i == 0)
		ASK(FLAG_FINAL, TAG_NONE, "SendTargets=\0");
	else if (_i == 1)
		ASK(FLAG_FINAL, TAG_NONE, "SendTargets=All\0");
	else
		ASK(FLAG_FINAL, TAG_NONE,
		    "SendTargets=iqn.2026-11.example:t1\0");
	expect_final();
	ck_assert(fake_said("TargetName=iqn.2026-11.example:t1"));
	ck_assert(fake_said("TargetAddress=192.0.2.1:3260,1"));
	ck_assert(!fake_said("TargetName=iqn.2026-11.example:t2"));
}
END_TEST

static const struct {
	bool		 discovery;
	const char	*text;
	size_t		 len;
} refused[] = {
#define REFUSED(discovery, text) { discovery, text, sizeof(text) - 1 }
	REFUSED(false, "SendTargets=Alle\0"),
	REFUSED(false, "SendTargets=iqn.2026-11.example:t2\0"),
	REFUSED(true, "SendTargets=Alle\0"),
	REFUSED(true, "SendTargets=A\0"),
	REFUSED(true, "SendTargets=all\0"),
	REFUSED(true, "SendTargets=\0"),
	REFUSED(true, "sENDtARGETS=aLL\0"),
	REFUSED(true, "SendTargets=All\0SendTargets=All\0"),
	REFUSED(true, "SendTargets"),
	REFUSED(true, "SendTargets=All"),
	REFUSED(false, "MaxRecvDataSegmentLength=1\0"),
};

START_TEST(bad_request_is_rejected)
{
	if (refused[_i].discovery)
		be_discovery();
	ask(FLAG_FINAL, TAG_NONE, refused[_i].text, refused[_i].len);
	ck_assert_int_eq(fake.rejected, REJECT_PROTOCOL);
	ck_assert_uint_eq(fake.sent, 0);
	ck_assert_ptr_null(fake_conn.text);
}
END_TEST

START_TEST(unknown_key_is_not_understood)
{
	ASK(FLAG_FINAL, TAG_NONE, "X-com.example.any=1\0");
	expect_final();
	ck_assert(fake_said("X-com.example.any=NotUnderstood"));
}
END_TEST

START_TEST(long_list_comes_in_parts_under_one_tag)
{
	size_t got = 0;
	uint32_t ttt = 0;
	unsigned parts = 1;

	be_discovery();
	fake.ntargets = 1000;
	fake_conn.params.MaxRecvDataSegmentLength = 512;
	ASK(FLAG_FINAL, TAG_NONE, "SendTargets=All\0");
	while (fake.bhs.any.flags != FLAG_FINAL) {
		ck_assert_uint_eq(fake.bhs.any.flags, TEXT_CONTINUE);
		ck_assert_uint_eq(fake.len, 512);
		ck_assert_uint_ne(ttt_sent(), TAG_NONE);
		if (parts++ > 1)
			ck_assert_uint_eq(ttt_sent(), ttt);
		ttt = ttt_sent();
		got += fake.len;
		ASK(FLAG_FINAL, ttt, "");
	}
	expect_final();
	got += fake.len;
	ck_assert_uint_gt(parts, 100);
	/* 10 of the names have one digit, 90 two, 900 three */
	ck_assert_uint_eq(got, 1000 * (31 + 35) + 10 * 34 + 90 * 35 + 900 * 36);
}
END_TEST

START_TEST(continuing_with_another_tag_is_rejected)
{
	be_discovery();
	fake_conn.params.MaxRecvDataSegmentLength = 32;
	ASK(FLAG_FINAL, TAG_NONE, "SendTargets=All\0");
	ASK(FLAG_FINAL, ttt_sent() + 1, "");
	ck_assert_int_eq(fake.rejected, REJECT_PROTOCOL);
}
END_TEST

START_TEST(tag_of_an_exchange_that_ended_is_rejected)
{
	ASK(FLAG_FINAL, 5, "");
	ck_assert_int_eq(fake.rejected, REJECT_PROTOCOL);
}
END_TEST

START_TEST(new_request_resets_the_one_under_way)
{
	be_discovery();
	fake_conn.params.MaxRecvDataSegmentLength = 512;
	fake.ntargets = 100;
	ASK(FLAG_FINAL, TAG_NONE, "SendTargets=All\0");
	ck_assert_uint_eq(fake.bhs.any.flags, TEXT_CONTINUE);
	ASK(FLAG_FINAL, TAG_NONE, "SendTargets=iqn.2026-11.example:t9\0");
	expect_final();
	ck_assert(fake_said("TargetName=iqn.2026-11.example:t9"));
	ck_assert(!fake_said("TargetName=iqn.2026-11.example:t0"));
}
END_TEST

START_TEST(text_during_our_answer_is_rejected)
{
	be_discovery();
	fake_conn.params.MaxRecvDataSegmentLength = 32;
	ASK(FLAG_FINAL, TAG_NONE, "SendTargets=All\0");
	ASK(FLAG_FINAL, ttt_sent(), "SendTargets=All\0");
	ck_assert_int_eq(fake.rejected, REJECT_PROTOCOL);
	ck_assert_ptr_null(fake_conn.text);
}
END_TEST

START_TEST(request_in_parts_is_put_together)
{
	be_discovery();
	ASK(TEXT_CONTINUE, TAG_NONE, "SendTar");
	ck_assert_uint_eq(fake.len, 0);
	ck_assert_uint_eq(fake.bhs.any.flags, 0);
	ck_assert_uint_ne(ttt_sent(), TAG_NONE);
	ASK(FLAG_FINAL, ttt_sent(), "gets=All\0");
	expect_final();
	ck_assert(fake_said("TargetName=iqn.2026-11.example:t2"));
}
END_TEST

START_TEST(request_without_end_is_rejected)
{
	static char much[8192];
	unsigned i;

	ask(TEXT_CONTINUE, TAG_NONE, much, sizeof(much));
	for (i = 1; i < LOGIN_TEXT_MAX / sizeof(much); i++)
		ask(TEXT_CONTINUE, ttt_sent(), much, sizeof(much));
	ck_assert_int_eq(fake.rejected, -1);
	ask(TEXT_CONTINUE, ttt_sent(), much, 1);
	ck_assert_int_eq(fake.rejected, REJECT_RESOURCES);
}
END_TEST

START_TEST(final_and_continue_at_once_is_rejected)
{
	ASK(FLAG_FINAL | TEXT_CONTINUE, TAG_NONE, "A=b\0");
	ck_assert_int_eq(fake.rejected, REJECT_PROTOCOL);
	ck_assert_ptr_null(fake_conn.text);
}
END_TEST

START_TEST(segment_length_is_in_force_when_the_exchange_ends)
{
	ASK(0, TAG_NONE, "MaxRecvDataSegmentLength=4096\0");
	ck_assert_uint_eq(fake.bhs.any.flags, 0);
	ck_assert_uint_eq(fake_conn.params.MaxRecvDataSegmentLength, 8192);
	ASK(FLAG_FINAL, ttt_sent(), "");
	expect_final();
	ck_assert_uint_eq(fake_conn.params.MaxRecvDataSegmentLength, 4096);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("text");

	tcase_add_checked_fixture(tc, setup, fake_teardown);
	tcase_add_test(tc, discovery_lists_each_target_with_its_portals);
	tcase_add_test(tc, discovery_of_one_target_lists_it_alone);
	tcase_add_test(tc, discovery_of_an_unknown_target_lists_nothing);
	tcase_add_loop_test(tc, normal_session_hears_of_its_own_target, 0, 3);
	tcase_add_loop_test(tc, bad_request_is_rejected, 0,
			    (int)ARRAY_SIZE(refused));
	tcase_add_test(tc, unknown_key_is_not_understood);
	tcase_add_test(tc, long_list_comes_in_parts_under_one_tag);
	tcase_add_test(tc, continuing_with_another_tag_is_rejected);
	tcase_add_test(tc, tag_of_an_exchange_that_ended_is_rejected);
	tcase_add_test(tc, new_request_resets_the_one_under_way);
	tcase_add_test(tc, text_during_our_answer_is_rejected);
	tcase_add_test(tc, request_in_parts_is_put_together);
	tcase_add_test(tc, request_without_end_is_rejected);
	tcase_add_test(tc, final_and_continue_at_once_is_rejected);
	tcase_add_test(tc, segment_length_is_in_force_when_the_exchange_ends);
	return unit_run("text", tc);
}
