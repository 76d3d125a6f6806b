/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Refused logins, and what is remembered of them: target/login_refuse.c. */

#include "tests/lib/login_say.h"

static struct login_refusal last_refusal;
static unsigned nrefusals;

static void take_refusal(void *arg, const struct login_refusal *r)
{
	(void)arg;
	last_refusal = *r;
	nrefusals++;
}

static void login_anew(void)
{
	fake_teardown();
	login_init(&fake_conn);
}

START_TEST(the_same_refusal_is_counted_and_the_latest_is_last)
{
	unsigned i;

	fake.verdict = TGT_NOT_ALLOWED;
	for (i = 0; i < 3; i++) {
		SAY(OPERATIONAL | TO_FULL, NAMES);
		login_anew();
		fake.verdict = TGT_NOT_FOUND;
		SAY(OPERATIONAL | TO_FULL, NAMES);
		login_anew();
		fake.verdict = TGT_NOT_ALLOWED;
	}
	SAY(OPERATIONAL | TO_FULL, NAMES);
	login_refusals(take_refusal, NULL);
	ck_assert_uint_eq(nrefusals, 2);
	ck_assert_uint_eq(last_refusal.status, LOGIN_FORBIDDEN);
	ck_assert_uint_eq(last_refusal.count, 4);
}
END_TEST

START_TEST(refusals_are_remembered_up_to_a_number)
{
	char text[128];
	unsigned i;
	int n;

	fake.verdict = TGT_NOT_ALLOWED;
	for (i = 0; i < LOGIN_REFUSALS + 5; i++) {
		n = snprintf(text, sizeof(text), "InitiatorName="
			     "iqn.2026-11.example:host%u%cTargetName="
			     "iqn.2026-11.example:disk", i, 0);
		say(OPERATIONAL | TO_FULL, text, (size_t)n + 1);
		login_anew();
	}
	login_refusals(take_refusal, NULL);
	ck_assert_uint_eq(nrefusals, LOGIN_REFUSALS);
	ck_assert_str_eq(last_refusal.initiator, "iqn.2026-11.example:host36");
	ck_assert_uint_eq(last_refusal.count, 1);
	ck_assert_str_eq(last_refusal.target, "iqn.2026-11.example:disk");
	ck_assert_str_eq(last_refusal.address, "192.0.2.9:50000");
	ck_assert_uint_eq(last_refusal.status, LOGIN_FORBIDDEN);
	ck_assert_ptr_nonnull(last_refusal.remedy);
}
END_TEST

START_TEST(requests_after_a_refusal_are_not_answered)
{
	SAY(OPERATIONAL | TO_FULL, "x");
	ck_assert_uint_eq(fake.sent, 1);
	SAY(OPERATIONAL | TO_FULL, NAMES);
	ck_assert_uint_eq(fake.sent, 1);
}
END_TEST

START_TEST(other_requests_during_login_are_refused)
{
	union bhs bhs;

	memset(&bhs, 0, sizeof(bhs));
	bhs.any.opcode = OP_SCSI_COMMAND;
	bhs.any.itt = be32_of(5);
	login_refuse_request(&fake_conn, &bhs);
	expect_refusal(LOGIN_INVALID_REQUEST);
	ck_assert_uint_eq(be32_get(fake.bhs.any.itt), 5);
}
END_TEST

START_TEST(login_after_login_is_rejected)
{
	SAY(OPERATIONAL | TO_FULL, NAMES);
	SAY(OPERATIONAL | TO_FULL, NAMES);
	ck_assert_int_eq(fake.rejected, REJECT_PROTOCOL);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("login_refuse");

	tcase_add_checked_fixture(tc, login_setup, fake_teardown);
	tcase_add_test(tc,
		       the_same_refusal_is_counted_and_the_latest_is_last);
	tcase_add_test(tc, refusals_are_remembered_up_to_a_number);
	tcase_add_test(tc, requests_after_a_refusal_are_not_answered);
	tcase_add_test(tc, other_requests_during_login_are_refused);
	tcase_add_test(tc, login_after_login_is_rejected);
	return unit_run("login_refuse", tc);
}
