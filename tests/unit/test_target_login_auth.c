/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Authentication during login: target/login_auth.c. */

#include "target/chap.h"
#include "tests/lib/login_say.h"

static void need_chap(void)
{
	fake.nusers = 1;
	fake.users[0] = (struct chap_user){
		.name = "esx", .secret = "a secret secret", .secret_len = 15,
	};
}

/* A refusal after a wrong secret is held back for a while. */
static void answer_comes(void)
{
	ck_assert(!fake.closing && !fake.closed);
	ck_assert_uint_ge(fake_conn.timer.due, 100);
	ck_assert_uint_le(fake_conn.timer.due, 5000);
	fake_conn.timer.fire(&fake_conn.timer);
}

/* The value of a key in the last answer. */
static const char *value_of(const char *key)
{
	size_t at = 0, n = strlen(key);

	while (at < fake.len) {
		if (!strncmp(fake.data + at, key, n) &&
		    fake.data[at + n] == '=')
			return fake.data + at + n + 1;
		at += strnlen(fake.data + at, fake.len - at) + 1;
	}
	ck_abort_msg("no %s in the answer", key);
}

/* What an initiator with this secret answers to the last challenge. */
static void answer_challenge(const char *name, const char *secret,
			     const char *more, size_t more_len)
{
	struct chap c = {
		.algorithm	= (uint8_t)strtoul(value_of("CHAP_A"), NULL, 0),
		.id		= (uint8_t)strtoul(value_of("CHAP_I"), NULL, 0),
	};
	uint8_t digest[64];
	char text[512];
	int n, i;
	size_t len;

	n = chap_decode(value_of("CHAP_C"), c.challenge, sizeof(c.challenge));
	ck_assert_int_ge(n, 16);
	c.len = (uint8_t)n;
	n = chap_digest(&c, (const uint8_t *)secret, strlen(secret), digest);
	len = (size_t)snprintf(text, sizeof(text), "CHAP_N=%s", name) + 1;
	len += (size_t)snprintf(text + len, sizeof(text) - len, "CHAP_R=0x");
	for (i = 0; i < n; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"%02x", digest[i]);
	len++;
	memcpy(text + len, more, more_len);
	say(SECURITY | TO_OPERATIONAL, text, len + more_len);
}

START_TEST(chap_lets_the_right_secret_in)
{
	need_chap();
	SAY(SECURITY | TO_OPERATIONAL, NAMES "AuthMethod=CHAP,None\0");
	ck_assert(fake_said("AuthMethod=CHAP"));
	ck_assert_uint_eq(flags_sent(), SECURITY);
	SAY(SECURITY, "CHAP_A=5\0");
	ck_assert(fake_said("CHAP_A=5"));
	answer_challenge("esx", "a secret secret", "", 0);
	ck_assert_uint_eq(flags_sent(), SECURITY | TO_OPERATIONAL);
	SAY(OPERATIONAL | TO_FULL, NAMES);
	ck_assert(fake.logged_in);
}
END_TEST

START_TEST(chap_takes_method_and_algorithms_in_one_request)
{
	need_chap();
	SAY(SECURITY, NAMES "CHAP_A=5,7\0AuthMethod=CHAP\0");
	ck_assert(fake_said("CHAP_A=7"));
	answer_challenge("esx", "a secret secret", "", 0);
	ck_assert_uint_eq(flags_sent(), SECURITY | TO_OPERATIONAL);
}
END_TEST

START_TEST(chap_refuses_a_wrong_secret)
{
	need_chap();
	SAY(SECURITY, NAMES "AuthMethod=CHAP\0CHAP_A=5\0");
	answer_challenge(_i ? "root" : "esx",
			 _i ? "a secret secret" : "b secret secret", "", 0);
	answer_comes();
	expect_refusal(LOGIN_AUTH_FAILED);
}
END_TEST

START_TEST(chap_refuses_mutual_authentication_that_is_not_set_up)
{
	static const char mutual[] = "CHAP_I=1\0CHAP_C=0x"
		"000102030405060708090a0b0c0d0e0f";

	need_chap();
	SAY(SECURITY, NAMES "AuthMethod=CHAP\0CHAP_A=5\0");
	answer_challenge("esx", "a secret secret", mutual, sizeof(mutual));
	expect_refusal(LOGIN_AUTH_FAILED);
}
END_TEST

static void need_mutual(void)
{
	need_chap();
	memcpy(fake.users[0].mutual_name, "disk", 5);
	memcpy(fake.users[0].mutual_secret, "secretsecret", 12);
	fake.users[0].mutual_len = 12;
	SAY(SECURITY, NAMES "AuthMethod=CHAP\0CHAP_A=5\0");
}

START_TEST(mutual_chap_proves_the_target_to_the_initiator)
{
	static const char mutual[] = "CHAP_I=42\0CHAP_C=0x"
		"0102030405060708090a0b0c0d0e0f10";

	need_mutual();
	answer_challenge("esx", "a secret secret", mutual, sizeof(mutual));
	ck_assert(fake_said("CHAP_N=disk"));
	ck_assert(fake_said("CHAP_R=0xf1e0f843607477a0605c5a874f334c82"));
	ck_assert_uint_eq(flags_sent(), SECURITY | TO_OPERATIONAL);
	SAY(OPERATIONAL | TO_FULL, "");
	ck_assert(fake.logged_in);
}
END_TEST

START_TEST(mutual_chap_is_the_initiators_choice)
{
	need_mutual();
	answer_challenge("esx", "a secret secret", "", 0);
	ck_assert_uint_eq(flags_sent(), SECURITY | TO_OPERATIONAL);
	ck_assert_uint_eq(fake.len, 0);
}
END_TEST

START_TEST(target_proves_nothing_to_who_has_proven_nothing)
{
	static const char mutual[] = "CHAP_I=42\0CHAP_C=0x"
		"0102030405060708090a0b0c0d0e0f10";

	need_mutual();
	answer_challenge("esx", "b secret secret", mutual, sizeof(mutual));
	answer_comes();
	expect_refusal(LOGIN_AUTH_FAILED);
	ck_assert_uint_eq(fake.len, 0);
}
END_TEST

START_TEST(our_own_challenge_sent_back_is_refused)
{
	char mutual[256];
	int n;

	need_mutual();
	n = snprintf(mutual, sizeof(mutual), "CHAP_I=%s%cCHAP_C=%s",
		     value_of("CHAP_I"), 0, value_of("CHAP_C"));
	answer_challenge("esx", "a secret secret", mutual, (size_t)n + 1);
	answer_comes();
	expect_refusal(LOGIN_AUTH_FAILED);
	ck_assert_uint_eq(fake.len, 0);
}
END_TEST

START_TEST(half_a_challenge_is_refused)
{
	static const char *const half[] = { "CHAP_I=1", "CHAP_C=0x01" };

	need_mutual();
	answer_challenge("esx", "a secret secret", half[_i],
			 strlen(half[_i]) + 1);
	expect_refusal(LOGIN_AUTH_FAILED);
}
END_TEST

static const struct {
	unsigned	 flags;
	const char	*text;
	size_t		 len;
} ways_around_chap[] = {
#define WAY(flags, text) { flags, text, sizeof(text) - 1 }
	WAY(OPERATIONAL | TO_FULL, NAMES),
	WAY(SECURITY | TO_FULL, NAMES),
	WAY(SECURITY | TO_OPERATIONAL, NAMES "AuthMethod=None\0"),
	WAY(SECURITY | TO_OPERATIONAL, NAMES "AuthMethod=KRB5,None\0"),
	WAY(SECURITY, NAMES "AuthMethod=CHAPS\0"),
	WAY(SECURITY, NAMES "CHAP_A=5\0"),
	WAY(SECURITY, NAMES "CHAP_N=esx\0CHAP_R=0x00\0"),
	WAY(SECURITY, NAMES "AuthMethod=CHAP\0CHAP_N=esx\0CHAP_R=0x00\0"),
	WAY(SECURITY, NAMES "AuthMethod=CHAP\0CHAP_A=55\0"),
	WAY(SECURITY, NAMES "AuthMethod=CHAP\0CHAP_A=56\0"),
	WAY(SECURITY, NAMES "AuthMethod=CHAP\0CHAP_A=\0"),
	WAY(SECURITY, NAMES "AuthMethod=CHAP\0CHAP_A=,\0"),
};

START_TEST(there_is_no_way_around_chap)
{
	need_chap();
	say(ways_around_chap[_i].flags, ways_around_chap[_i].text,
	    ways_around_chap[_i].len);
	expect_refusal(LOGIN_AUTH_FAILED);
}
END_TEST

START_TEST(users_that_come_during_login_count)
{
	SAY(SECURITY | TO_OPERATIONAL, NAMES "AuthMethod=None\0");
	ck_assert_uint_eq(flags_sent(), SECURITY | TO_OPERATIONAL);
	need_chap();
	SAY(OPERATIONAL | TO_FULL, "");
	expect_refusal(LOGIN_AUTH_FAILED);
}
END_TEST

START_TEST(transit_before_the_exchange_ended_is_not_granted)
{
	need_chap();
	SAY(SECURITY | TO_FULL, NAMES "AuthMethod=CHAP\0");
	ck_assert_uint_eq(flags_sent(), SECURITY);
	SAY(SECURITY | TO_FULL, "CHAP_A=5\0");
	ck_assert_uint_eq(flags_sent(), SECURITY);
	SAY(SECURITY | TO_FULL, "");
	ck_assert_uint_eq(flags_sent(), SECURITY);
	ck_assert(!fake.logged_in);
}
END_TEST

START_TEST(challenge_is_good_for_one_answer)
{
	need_chap();
	SAY(SECURITY, NAMES "AuthMethod=CHAP\0CHAP_A=5\0");
	SAY(SECURITY, "CHAP_A=5\0");
	expect_refusal(LOGIN_AUTH_FAILED);
}
END_TEST

START_TEST(initiator_that_has_no_user_here_is_refused)
{
	fake.nusers = -ENOENT;
	SAY(SECURITY, NAMES "AuthMethod=CHAP\0");
	expect_refusal(LOGIN_AUTH_FAILED);
}
END_TEST

START_TEST(insisting_on_chap_where_nobody_can_is_refused)
{
	SAY(SECURITY, NAMES "AuthMethod=CHAP\0");
	expect_refusal(LOGIN_AUTH_FAILED);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("login_auth");

	tcase_add_checked_fixture(tc, login_setup, fake_teardown);
	tcase_add_test(tc, chap_lets_the_right_secret_in);
	tcase_add_test(tc, chap_takes_method_and_algorithms_in_one_request);
	tcase_add_loop_test(tc, chap_refuses_a_wrong_secret, 0, 2);
	tcase_add_test(tc,
		       chap_refuses_mutual_authentication_that_is_not_set_up);
	tcase_add_test(tc, mutual_chap_proves_the_target_to_the_initiator);
	tcase_add_test(tc, mutual_chap_is_the_initiators_choice);
	tcase_add_test(tc, target_proves_nothing_to_who_has_proven_nothing);
	tcase_add_test(tc, our_own_challenge_sent_back_is_refused);
	tcase_add_loop_test(tc, half_a_challenge_is_refused, 0, 2);
	tcase_add_loop_test(tc, there_is_no_way_around_chap, 0,
			    (int)ARRAY_SIZE(ways_around_chap));
	tcase_add_test(tc, users_that_come_during_login_count);
	tcase_add_test(tc, transit_before_the_exchange_ended_is_not_granted);
	tcase_add_test(tc, challenge_is_good_for_one_answer);
	tcase_add_test(tc, initiator_that_has_no_user_here_is_refused);
	tcase_add_test(tc, insisting_on_chap_where_nobody_can_is_refused);
	return unit_run("login_auth", tc);
}
