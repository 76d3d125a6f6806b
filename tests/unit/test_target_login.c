/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The login phase: target/login*.c. */

#include "tests/lib/login_say.h"

START_TEST(login_in_one_request_gives_a_session)
{
	SAY(OPERATIONAL | TO_FULL, NAMES "HeaderDigest=CRC32C,None\0"
	    "MaxBurstLength=262144\0FirstBurstLength=262144\0"
	    "InitialR2T=No\0ImmediateData=Yes\0");
	ck_assert_uint_eq(status(), LOGIN_SUCCESS);
	ck_assert_uint_eq(flags_sent(), OPERATIONAL | TO_FULL);
	ck_assert_uint_eq(be16_get(fake.bhs.login_response.tsih), 0x1234);
	ck_assert_uint_eq(be32_get(fake.bhs.login_response.itt), 0x77);
	ck_assert(fake.logged_in);
	ck_assert(fake_said("TargetPortalGroupTag=7"));
	ck_assert(fake_said("TargetAlias=An alias"));
	ck_assert(fake_said("HeaderDigest=CRC32C"));
	ck_assert(fake_said("MaxRecvDataSegmentLength=262144"));
	ck_assert(fake_said("InitialR2T=No"));
	ck_assert_uint_eq(fake_conn.params.HeaderDigest, 1);
	ck_assert_uint_eq(fake_conn.cid, 3);
	ck_assert_ptr_null(fake_conn.login);
	ck_assert_str_eq(fake_session.target, "iqn.2026-11.example:disk");
}
END_TEST

START_TEST(login_passes_both_stages)
{
	SAY(SECURITY | TO_OPERATIONAL, NAMES "AuthMethod=None\0");
	ck_assert_uint_eq(status(), LOGIN_SUCCESS);
	ck_assert_uint_eq(flags_sent(), SECURITY | TO_OPERATIONAL);
	ck_assert(fake_said("AuthMethod=None"));
	ck_assert(fake_said("TargetPortalGroupTag=7"));
	ck_assert_uint_eq(be16_get(fake.bhs.login_response.tsih), 0);
	SAY(OPERATIONAL, "MaxBurstLength=65536\0");
	ck_assert_uint_eq(flags_sent(), OPERATIONAL);
	SAY(OPERATIONAL | TO_FULL, "DataDigest=None\0");
	ck_assert_uint_eq(flags_sent(), OPERATIONAL | TO_FULL);
	ck_assert(!fake_said("MaxRecvDataSegmentLength=262144"));
	ck_assert(fake.logged_in);
}
END_TEST

START_TEST(login_may_leave_the_security_stage_for_full_feature)
{
	SAY(SECURITY | TO_FULL, NAMES);
	ck_assert_uint_eq(flags_sent(), SECURITY | TO_FULL);
	ck_assert(fake.logged_in);
	ck_assert_uint_eq(fake_conn.params.own_recv_dsl, DSL_DEFAULT);
}
END_TEST

START_TEST(names_may_be_said_again_in_the_next_stage)
{
	SAY(SECURITY | TO_OPERATIONAL, NAMES "InitiatorAlias=a\0");
	SAY(OPERATIONAL | TO_FULL, NAMES "InitiatorAlias=a\0");
	ck_assert(fake.logged_in);
}
END_TEST

START_TEST(other_names_in_the_next_stage_are_refused)
{
	SAY(SECURITY | TO_OPERATIONAL, NAMES);
	SAY(OPERATIONAL | TO_FULL, "TargetName=iqn.2026-11.example:other\0");
	expect_refusal(LOGIN_INITIATOR_ERROR);
}
END_TEST

START_TEST(empty_first_request_without_authentication_proceeds)
{
	SAY(SECURITY | TO_OPERATIONAL, "");
	ck_assert_uint_eq(flags_sent(), SECURITY | TO_OPERATIONAL);
	SAY(OPERATIONAL | TO_FULL, NAMES);
	ck_assert(fake.logged_in);
}
END_TEST

START_TEST(empty_first_request_is_no_way_around_authentication)
{
	fake.nusers = 1;
	SAY(SECURITY | TO_OPERATIONAL, "");
	SAY(OPERATIONAL | TO_FULL, NAMES);
	expect_refusal(LOGIN_AUTH_FAILED);
}
END_TEST

START_TEST(login_that_never_says_a_name_is_refused)
{
	SAY(SECURITY | TO_FULL, "");
	expect_refusal(LOGIN_MISSING_PARAMETER);
}
END_TEST

START_TEST(discovery_needs_no_target)
{
	SAY(OPERATIONAL | TO_FULL, "InitiatorName=iqn.2026-11.example:host\0"
	    "SessionType=Discovery\0MaxConnections=1\0");
	ck_assert(fake.logged_in);
	ck_assert(fake_session.discovery);
	ck_assert(fake_said("MaxConnections=Irrelevant"));
	ck_assert(!fake_said("TargetPortalGroupTag=7"));
}
END_TEST

static const struct {
	const char	*text;
	size_t		 len;
	unsigned	 status;
} bad_texts[] = {
#define BAD(text, status) { text, sizeof(text) - 1, status }
	BAD("TargetName=iqn.2026-11.example:disk\0", LOGIN_MISSING_PARAMETER),
	BAD("InitiatorName=iqn.2026-11.example:host\0",
	    LOGIN_MISSING_PARAMETER),
	BAD(NAMES "SessionType=Nothing\0", LOGIN_BAD_SESSION_TYPE),
	BAD("InitiatorName=\0", LOGIN_INITIATOR_ERROR),
	BAD("InitiatorName=a b\0", LOGIN_INITIATOR_ERROR),
	BAD(NAMES "InitiatorName=iqn.2026-11.example:host\0",
	    LOGIN_INITIATOR_ERROR),
	BAD(NAMES "MaxBurstLength=512\0MaxBurstLength=512\0",
	    LOGIN_INITIATOR_ERROR),
	BAD(NAMES "MaxBurstLength=Reject\0", LOGIN_INITIATOR_ERROR),
	BAD(NAMES "MaxRecvDataSegmentLength=511\0", LOGIN_INITIATOR_ERROR),
	BAD(NAMES "FirstBurstLength=65536\0MaxBurstLength=32768\0",
	    LOGIN_INITIATOR_ERROR),
	BAD(NAMES "TargetAlias=mine\0", LOGIN_INITIATOR_ERROR),
	BAD(NAMES "SendTargets=All\0", LOGIN_INITIATOR_ERROR),
	BAD(NAMES "AuthMethod=None\0", LOGIN_INITIATOR_ERROR),
	BAD(NAMES "no key", LOGIN_INITIATOR_ERROR),
	BAD(NAMES "MaxBurstLength=51", LOGIN_INITIATOR_ERROR),
	BAD("x", LOGIN_INITIATOR_ERROR),
};

START_TEST(bad_text_is_refused_with_its_status)
{
	say(OPERATIONAL | TO_FULL, bad_texts[_i].text,
	    /* without the NUL where the text lacks it */
	    bad_texts[_i].len);
	expect_refusal(bad_texts[_i].status);
}
END_TEST

START_TEST(verdict_of_the_configuration_is_the_status)
{
	static const unsigned wanted[][2] = {
		{ TGT_NOT_FOUND, LOGIN_NOT_FOUND },
		{ TGT_NOT_ALLOWED, LOGIN_FORBIDDEN },
		{ TGT_UNAVAILABLE, LOGIN_UNAVAILABLE },
	};

	fake.verdict = wanted[_i][0];
	SAY(OPERATIONAL | TO_FULL, NAMES);
	expect_refusal(wanted[_i][1]);
}
END_TEST

START_TEST(status_of_the_session_is_the_answer)
{
	fake.begin_status = LOGIN_NO_SESSION;
	SAY(OPERATIONAL | TO_FULL, NAMES);
	expect_refusal(LOGIN_NO_SESSION);
}
END_TEST

START_TEST(login_to_a_redirected_target_is_told_where_to_go)
{
	fake.redirect = "192.0.2.7:3260";
	fake.redirect_permanent = _i;
	SAY(OPERATIONAL | TO_FULL, NAMES "HeaderDigest=None\0");
	expect_refusal(_i ? LOGIN_MOVED_PERMANENTLY : LOGIN_MOVED_TEMPORARILY);
	ck_assert(fake_said("TargetAddress=192.0.2.7:3260"));
	ck_assert(!fake_said("HeaderDigest=None"));
	ck_assert_uint_eq(fake.begun, 0);
}
END_TEST

START_TEST(nobody_is_told_where_to_go_before_proving_who_he_is)
{
	fake.redirect = "192.0.2.7:3260";
	fake.nusers = 1;
	SAY(OPERATIONAL | TO_FULL, NAMES);
	expect_refusal(LOGIN_AUTH_FAILED);
	ck_assert(!fake_said("TargetAddress=192.0.2.7:3260"));
}
END_TEST

START_TEST(discovery_is_not_redirected)
{
	fake.redirect = "192.0.2.7:3260";
	SAY(OPERATIONAL | TO_FULL, "InitiatorName=iqn.2026-11.example:host\0"
	    "SessionType=Discovery\0");
	ck_assert(fake.logged_in);
}
END_TEST

START_TEST(unknown_version_is_refused)
{
	request.version_min = request.version_max = 1;
	SAY(OPERATIONAL | TO_FULL, NAMES);
	expect_refusal(LOGIN_BAD_VERSION);
}
END_TEST

START_TEST(version_range_with_zero_is_taken)
{
	request.version_max = 2;
	SAY(OPERATIONAL | TO_FULL, NAMES);
	ck_assert(fake.logged_in);
	ck_assert_uint_eq(fake.bhs.login_response.version_active, 0);
}
END_TEST

static void change_isid(void)
{
	request.isid[5]++;
}

static void change_tsih(void)
{
	request.tsih = be16_of(9);
}

static void change_cid(void)
{
	request.cid = be16_of(9);
}

static void change_itt(void)
{
	request.itt = be32_of(9);
}

static void change_cmd_sn(void)
{
	request.cmd_sn = be32_of(9);
}

START_TEST(what_must_stay_the_same_over_login_is_checked)
{
	static void (*const changes[])(void) = {
		change_isid, change_tsih, change_cid, change_itt,
		change_cmd_sn,
	};

	SAY(OPERATIONAL, NAMES);
	ck_assert_uint_eq(status(), LOGIN_SUCCESS);
	changes[_i]();
	SAY(OPERATIONAL | TO_FULL, "");
	expect_refusal(LOGIN_INITIATOR_ERROR);
}
END_TEST

START_TEST(stages_that_are_not_allowed_are_refused)
{
	static const unsigned flags[] = {
		2 << LOGIN_CSG_SHIFT, 3 << LOGIN_CSG_SHIFT,
		SECURITY | LOGIN_TRANSIT | STAGE_SECURITY,
		SECURITY | LOGIN_TRANSIT | 2,
		OPERATIONAL | LOGIN_TRANSIT | STAGE_SECURITY,
		OPERATIONAL | LOGIN_TRANSIT | STAGE_OPERATIONAL,
		OPERATIONAL | TO_FULL | LOGIN_CONTINUE,
	};

	SAY(flags[_i], NAMES);
	expect_refusal(LOGIN_INITIATOR_ERROR);
}
END_TEST

START_TEST(request_of_another_stage_is_refused)
{
	SAY(SECURITY, NAMES);
	SAY(OPERATIONAL | TO_FULL, "");
	expect_refusal(LOGIN_INITIATOR_ERROR);
}
END_TEST

START_TEST(endless_login_is_ended)
{
	unsigned i;

	SAY(OPERATIONAL, NAMES);
	for (i = 1; i < LOGIN_PDUS_MAX; i++) {
		SAY(OPERATIONAL, "");
		ck_assert_uint_eq(status(), LOGIN_SUCCESS);
	}
	SAY(OPERATIONAL, "");
	expect_refusal(LOGIN_INITIATOR_ERROR);
}
END_TEST

START_TEST(slow_login_is_ended_without_an_answer)
{
	ck_assert_uint_eq(fake_conn.timer.due, LOGIN_SECONDS * 1000);
	fake_conn.timer.fire(&fake_conn.timer);
	ck_assert(fake.closed);
	ck_assert_uint_eq(fake.sent, 0);
}
END_TEST

START_TEST(keys_split_over_requests_are_put_together)
{
	static const char text[] = NAMES "MaxBurstLength=65536\0";
	size_t at;

	for (at = 0; at + 20 < sizeof(text) - 1; at += 20) {
		say(OPERATIONAL | LOGIN_CONTINUE, text + at, 20);
		ck_assert_uint_eq(flags_sent(), OPERATIONAL);
		ck_assert_uint_eq(fake.len, 0);
	}
	say(OPERATIONAL | TO_FULL, text + at, sizeof(text) - 1 - at);
	ck_assert(fake.logged_in);
	ck_assert(fake_said("MaxBurstLength=65536"));
	ck_assert(fake_said("TargetPortalGroupTag=7"));
}
END_TEST

START_TEST(text_without_end_is_refused)
{
	static char much[8192];
	unsigned i;

	memset(much, 'A', sizeof(much));
	for (i = 0; i < LOGIN_TEXT_MAX / sizeof(much); i++) {
		say(OPERATIONAL | LOGIN_CONTINUE, much, sizeof(much));
		ck_assert_uint_eq(status(), LOGIN_SUCCESS);
	}
	say(OPERATIONAL | LOGIN_CONTINUE, much, 1);
	expect_refusal(LOGIN_INITIATOR_ERROR);
}
END_TEST

/* n unknown keys of 63 characters, whose answers have 78 bytes each. */
static size_t unknown_keys(char *buf, size_t room, unsigned n)
{
	size_t len = sizeof(NAMES) - 1;
	unsigned i;

	memcpy(buf, NAMES, len);
	for (i = 0; i < n; i++)
		len += (size_t)snprintf(buf + len, room - len,
					"X-%060u%c=1", i, 'a') + 1;
	return len;
}

START_TEST(long_answer_is_split)
{
	static char text[LOGIN_TEXT_MAX];
	size_t len = unknown_keys(text, sizeof(text), 110), got;

	say(OPERATIONAL | TO_FULL, text, len);
	ck_assert_uint_eq(flags_sent(), OPERATIONAL | LOGIN_CONTINUE);
	ck_assert_uint_eq(fake.len, DSL_DEFAULT);
	ck_assert(!fake.logged_in);
	got = fake.len;
	SAY(OPERATIONAL | TO_FULL, "");
	ck_assert_uint_eq(flags_sent(), OPERATIONAL | TO_FULL);
	ck_assert(fake.logged_in);
	got += fake.len;
	ck_assert_uint_gt(got, 110 * 78);
	ck_assert(fake_said("MaxRecvDataSegmentLength=262144"));
}
END_TEST

START_TEST(answer_that_grows_too_long_ends_the_login)
{
	static char text[LOGIN_TEXT_MAX];

	say(OPERATIONAL | TO_FULL, text,
	    unknown_keys(text, sizeof(text), 225));
	expect_refusal(LOGIN_NO_RESOURCES);
}
END_TEST

START_TEST(too_many_keys_are_refused)
{
	char text[8192];
	size_t len = sizeof(NAMES) - 1;
	unsigned i;

	memcpy(text, NAMES, len);
	for (i = 0; i < 300; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"X-%u=1", i) + 1;
	say(OPERATIONAL | TO_FULL, text, len);
	expect_refusal(LOGIN_INITIATOR_ERROR);
}
END_TEST

START_TEST(operational_key_in_the_security_stage_is_refused)
{
	SAY(SECURITY | TO_OPERATIONAL, NAMES "MaxBurstLength=512\0");
	expect_refusal(LOGIN_INITIATOR_ERROR);
}
END_TEST

static void add_stages(TCase *tc)
{
	tcase_add_test(tc, login_in_one_request_gives_a_session);
	tcase_add_test(tc, login_passes_both_stages);
	tcase_add_test(tc, login_may_leave_the_security_stage_for_full_feature);
	tcase_add_test(tc, names_may_be_said_again_in_the_next_stage);
	tcase_add_test(tc, other_names_in_the_next_stage_are_refused);
	tcase_add_test(tc, empty_first_request_without_authentication_proceeds);
	tcase_add_test(tc,
		       empty_first_request_is_no_way_around_authentication);
	tcase_add_test(tc, login_that_never_says_a_name_is_refused);
	tcase_add_test(tc, discovery_needs_no_target);
	tcase_add_test(tc, unknown_version_is_refused);
	tcase_add_test(tc, version_range_with_zero_is_taken);
	tcase_add_loop_test(tc, what_must_stay_the_same_over_login_is_checked,
			    0, 5);
	tcase_add_loop_test(tc, stages_that_are_not_allowed_are_refused, 0, 7);
	tcase_add_test(tc, request_of_another_stage_is_refused);
	tcase_add_test(tc, endless_login_is_ended);
	tcase_add_test(tc, slow_login_is_ended_without_an_answer);
}

static void add_text(TCase *tc)
{
	tcase_add_loop_test(tc, bad_text_is_refused_with_its_status, 0,
			    (int)ARRAY_SIZE(bad_texts));
	tcase_add_loop_test(tc,
		login_to_a_redirected_target_is_told_where_to_go, 0, 2);
	tcase_add_test(tc,
		nobody_is_told_where_to_go_before_proving_who_he_is);
	tcase_add_test(tc, discovery_is_not_redirected);
	tcase_add_loop_test(tc, verdict_of_the_configuration_is_the_status, 0,
			    3);
	tcase_add_test(tc, status_of_the_session_is_the_answer);
	tcase_add_test(tc, keys_split_over_requests_are_put_together);
	tcase_add_test(tc, text_without_end_is_refused);
	tcase_add_test(tc, long_answer_is_split);
	tcase_add_test(tc, answer_that_grows_too_long_ends_the_login);
	tcase_add_test(tc, too_many_keys_are_refused);
	tcase_add_test(tc, operational_key_in_the_security_stage_is_refused);
}

int main(void)
{
	TCase *tc = tcase_create("login");

	tcase_add_checked_fixture(tc, login_setup, fake_teardown);
	add_stages(tc);
	add_text(tc);
	return unit_run("login", tc);
}
