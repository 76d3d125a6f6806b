/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CHAP: target/chap.c. */

#include "target/chap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/util.h"
#include "tests/lib/unit.h"

/* Identifier 2Ah, secret "secretsecret", challenge 01h 02h 03h ...; computed
 * with Python's hashlib. */
static const struct {
	uint8_t		 algorithm, len;
	const char	*digest;
} known[] = {
	{ CHAP_MD5, 16, "f1e0f843607477a0605c5a874f334c82" },
	{ CHAP_SHA1, 20, "1a5680fccc3b5c1625a56ac39220c02986129e4c" },
	{ CHAP_SHA256, 32, "37dec09a4537f7f39c88718fa757ab97"
	  "20f5e33045b491b53f3e076c9b907ad6" },
	{ CHAP_SHA3_256, 32, "f50810243edb499f534955a10a26e404"
	  "831cd96876b5c48c1692103bf188bc18" },
};

static struct chap chap;
static struct chap_user user;

static void setup(void)
{
	unsigned i;

	chap = (struct chap){ .algorithm = CHAP_MD5, .id = 0x2a, .len = 16 };
	for (i = 0; i < sizeof(chap.challenge); i++)
		chap.challenge[i] = (uint8_t)(i + 1);
	user = (struct chap_user){
		.name = "esx", .secret = "secretsecret", .secret_len = 12,
	};
}

static void use(int i)
{
	chap.algorithm = known[i].algorithm;
	chap.len = known[i].len;
}

/* The known digest, as an initiator would send it. */
static const char *response(int i)
{
	static char text[128];

	snprintf(text, sizeof(text), "0x%s", known[i].digest);
	return text;
}

START_TEST(answer_to_a_known_challenge_is_right)
{
	uint8_t digest[64], wanted[CHAP_DIGEST_MAX];

	use(_i);
	ck_assert_int_eq(chap_digest(&chap, user.secret, user.secret_len,
				     digest), known[_i].len);
	ck_assert_int_eq(chap_decode(response(_i), wanted, sizeof(wanted)),
			 known[_i].len);
	ck_assert_mem_eq(digest, wanted, known[_i].len);
}
END_TEST

START_TEST(right_answer_is_taken)
{
	use(_i);
	ck_assert(chap_verify(&chap, &user, 1, "esx", response(_i)));
}
END_TEST

START_TEST(answer_by_another_offered_algorithm_is_taken)
{
	chap.algorithm = known[_i].algorithm;
	chap.offered = CHAP_OFFERED(CHAP_MD5) | CHAP_OFFERED(CHAP_SHA256);
	ck_assert(chap_verify(&chap, &user, 1, "esx", response(0)));
	ck_assert(!chap_verify(&chap, &user, 1, "esx",
			       "0xf1e0f843607477a0605c5a874f334c83"));
}
END_TEST

START_TEST(answer_by_an_algorithm_not_offered_is_not_taken)
{
	use(2);
	chap.offered = CHAP_OFFERED(CHAP_SHA256);
	ck_assert(!chap_verify(&chap, &user, 1, "esx", response(0)));
	ck_assert(!chap_verify(&chap, &user, 1, "esx", response(1)));
}
END_TEST

START_TEST(answer_in_base64_is_taken)
{
	/* the MD5 one */
	ck_assert(chap_verify(&chap, &user, 1, "esx",
			      "0b8eD4Q2B0d6BgXFqHTzNMgg=="));
	ck_assert(chap_verify(&chap, &user, 1, "esx",
			      "0B8eD4Q2B0d6BgXFqHTzNMgg"));
}
END_TEST

START_TEST(wrong_answers_are_not_taken)
{
	static const char *const wrong[] = {
		"0xf1e0f843607477a0605c5a874f334c83",	/* the last bit */
		"0x71e0f843607477a0605c5a874f334c82",	/* the first */
		"0xf1e0f843607477a0605c5a874f334c",	/* short */
		"0xf1e0f843607477a0605c5a874f334c8200",	/* long */
		"0x00f1e0f843607477a0605c5a874f334c82",
		"f1e0f843607477a0605c5a874f334c82",	/* not encoded */
		"0x", "0b", "0x0", "", "0", "0b====", "0b8eD4",
		"0xf1e0f843607477a0605c5a874f334c8g",
		"0b8eD4Q2B0d6BgXFqHTzNMgg=",		/* bad padding */
		"0b8eD4Q2B0d6BgXFqHTzNMg=g=",
	};

	ck_assert(!chap_verify(&chap, &user, 1, "esx", wrong[_i]));
}
END_TEST

START_TEST(wrong_name_is_not_taken)
{
	ck_assert(!chap_verify(&chap, &user, 1, "ESX", response(0)));
	ck_assert(!chap_verify(&chap, &user, 1, "esx1", response(0)));
	ck_assert(!chap_verify(&chap, &user, 1, "", response(0)));
	ck_assert(!chap_verify(&chap, NULL, 0, "esx", response(0)));
}
END_TEST

START_TEST(names_that_look_encoded_are_names_too)
{
	static const char *const names[] = { "0xabc", "0bxyz", "0x", "0b" };

	snprintf(user.name, sizeof(user.name), "%s", names[_i]);
	ck_assert(chap_verify(&chap, &user, 1, names[_i], response(0)));
}
END_TEST

START_TEST(encoded_name_is_decoded)
{
	ck_assert(chap_verify(&chap, &user, 1, "0x657378", response(0)));
	ck_assert(chap_verify(&chap, &user, 1, "0bZXN4", response(0)));
	ck_assert(!chap_verify(&chap, &user, 1, "0x6573", response(0)));
}
END_TEST

START_TEST(one_of_several_users_is_enough)
{
	struct chap_user users[2] = { user, user };

	snprintf(users[0].name, sizeof(users[0].name), "other");
	ck_assert(chap_verify(&chap, users, 2, "esx", response(0)));
	ck_assert(chap_verify(&chap, users, 2, "other", response(0)));
	users[1].secret[0]++;
	ck_assert(!chap_verify(&chap, users, 2, "esx", response(0)));
}
END_TEST

START_TEST(strongest_algorithm_of_the_list_is_chosen)
{
	static const struct {
		const char *list;
		int	    algorithm;	/* or -ENOENT */
	} lists[] = {
		{ "5", 5 }, { "8,7,6,5", 8 }, { "5,6,7,8", 8 }, { "5,7", 7 },
		{ "6,5", 6 }, { "5,", 5 }, { ",5", 5 }, { "5,,6", 6 },
		{ "0x5", 5 }, { "99,5", 5 }, { "55,5", 5 }, { "x,5", 5 },
		{ "55", -ENOENT }, { "56", -ENOENT }, { "", -ENOENT },
		{ ",", -ENOENT }, { "4", -ENOENT }, { "5 ", -ENOENT },
		{ "261", -ENOENT }, { "4294967301", -ENOENT },
		{ "MD5", -ENOENT }, { "-5", -ENOENT },
	};
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(lists); i++) {
		struct chap c;
		int r = chap_start(&c, lists[i].list);

		if (!r)
			r = c.algorithm;
		ck_assert_msg(r == lists[i].algorithm, "%s gives %d",
			      lists[i].list, r);
	}
}
END_TEST

START_TEST(challenges_are_long_and_never_the_same)
{
	static struct chap seen[1000];
	unsigned i, j;

	for (i = 0; i < ARRAY_SIZE(seen); i++) {
		ck_assert_int_eq(chap_start(&seen[i], "5"), 0);
		ck_assert_uint_ge(seen[i].len, 16);
		for (j = 0; j < i; j++)
			ck_assert_mem_ne(seen[i].challenge, seen[j].challenge,
					 seen[i].len);
	}
}
END_TEST

START_TEST(offer_says_algorithm_identifier_and_challenge)
{
	char mem[256];
	struct text t = { .p = mem, .room = sizeof(mem) };
	static const char wanted[] = "CHAP_A=5\0CHAP_I=42\0"
		"CHAP_C=0x0102030405060708090a0b0c0d0e0f10";

	chap_offer(&chap, &t);
	ck_assert_uint_eq(t.len, sizeof(wanted));
	ck_assert_mem_eq(mem, wanted, sizeof(wanted));
}
END_TEST

START_TEST(decoding_knows_where_the_memory_ends)
{
	uint8_t buf[4] = { 0 };

	ck_assert_int_eq(chap_decode("0x01020304", buf, 4), 4);
	ck_assert_int_eq(chap_decode("0x0102030405", buf, 4), -EINVAL);
	ck_assert_int_eq(chap_decode("0x123", buf, 4), 2);
	ck_assert_uint_eq(buf[0], 0x01);
	ck_assert_uint_eq(buf[1], 0x23);
	ck_assert_int_eq(chap_decode("0bAQIDBA==", buf, 4), 4);
	ck_assert_uint_eq(buf[3], 4);
	ck_assert_int_eq(chap_decode("0bAQIDBAU=", buf, 4), -EINVAL);
}
END_TEST

/* The target's own secret is "secretsecret", so its answer to the known
 * challenge is the known one. */
static int ask_back(const char *id, const char *challenge, struct text *t)
{
	struct chap ours = chap;

	ours.challenge[0]++;
	snprintf(user.mutual_name, sizeof(user.mutual_name), "target");
	memcpy(user.mutual_secret, "secretsecret", 12);
	user.mutual_len = 12;
	return chap_answer(&ours, &user, id, challenge, t);
}

START_TEST(target_answers_a_challenge_by_its_own_name_and_secret)
{
	char mem[256], wanted[256];
	struct text t = { .p = mem, .room = sizeof(mem) };
	size_t n;

	use(_i);
	ck_assert_int_eq(ask_back("42", known[_i].len == 16 ?
		"0x0102030405060708090a0b0c0d0e0f10" : known[_i].len == 20 ?
		"0x0102030405060708090a0b0c0d0e0f1011121314" :
		"0bAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=", &t), 0);
	n = (size_t)snprintf(wanted, sizeof(wanted), "CHAP_N=target%cCHAP_R=%s",
			     0, response(_i)) + 1;
	ck_assert_uint_eq(t.len, n);
	ck_assert_mem_eq(mem, wanted, n);
}
END_TEST

START_TEST(challenge_that_is_our_own_is_not_answered)
{
	char mem[256];
	struct text t = { .p = mem, .room = sizeof(mem) };

	ck_assert_int_eq(ask_back("42", "0x0202030405060708090a0b0c0d0e0f10",
				  &t), -EPERM);
	ck_assert_int_eq(ask_back("7", "0bAgIDBAUGBwgJCgsMDQ4PEA==", &t),
			 -EPERM);
	ck_assert_uint_eq(t.len, 0);
}
END_TEST

START_TEST(malformed_challenges_are_not_answered)
{
	static const char *const bad[][2] = {
		{ "256", "0x01" }, { "", "0x01" }, { "-1", "0x01" },
		{ "x", "0x01" }, { "1", "" }, { "1", "0x" }, { "1", "01" },
		{ "1", "0b=" }, { "1", "0xgg" },
	};
	char mem[256];
	struct text t = { .p = mem, .room = sizeof(mem) };
	char large[2 * CHAP_CHALLENGE_MAX + 5] = "0x";
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_int_eq(ask_back(bad[i][0], bad[i][1], &t), -EINVAL);
	memset(large + 2, '1', sizeof(large) - 3);
	ck_assert_int_eq(ask_back("1", large, &t), -EINVAL);
	large[2 + 2 * CHAP_CHALLENGE_MAX] = '\0';
	ck_assert_int_eq(ask_back("1", large, &t), 0);
}
END_TEST

START_TEST(secret_in_hexadecimal_stands_for_its_bytes_and_for_itself)
{
	uint8_t digest[64];
	char text[80] = "0x";
	int i;

	user.secret_len = 26;
	memcpy(user.secret, "0x736563726574736563726574", 26);
	ck_assert(chap_verify(&chap, &user, 1, "esx", response(0)));
	chap_digest(&chap, user.secret, user.secret_len, digest);
	for (i = 0; i < 16; i++)
		snprintf(text + 2 + 2 * i, 3, "%02x", digest[i]);
	ck_assert(chap_verify(&chap, &user, 1, "esx", text));
	/* too few bytes to be meant so */
	user.secret_len = 24;
	ck_assert(!chap_verify(&chap, &user, 1, "esx", response(0)));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("chap");
	int n = (int)ARRAY_SIZE(known);

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_loop_test(tc, answer_to_a_known_challenge_is_right, 0, n);
	tcase_add_loop_test(tc, right_answer_is_taken, 0, n);
	tcase_add_loop_test(tc, answer_by_another_offered_algorithm_is_taken,
			    0, n);
	tcase_add_test(tc, answer_by_an_algorithm_not_offered_is_not_taken);
	tcase_add_test(tc, answer_in_base64_is_taken);
	tcase_add_loop_test(tc, wrong_answers_are_not_taken, 0, 16);
	tcase_add_test(tc, wrong_name_is_not_taken);
	tcase_add_loop_test(tc, names_that_look_encoded_are_names_too, 0, 4);
	tcase_add_test(tc, encoded_name_is_decoded);
	tcase_add_test(tc, one_of_several_users_is_enough);
	tcase_add_test(tc, strongest_algorithm_of_the_list_is_chosen);
	tcase_add_test(tc, challenges_are_long_and_never_the_same);
	tcase_add_test(tc, offer_says_algorithm_identifier_and_challenge);
	tcase_add_test(tc, decoding_knows_where_the_memory_ends);
	tcase_add_loop_test(tc,
		target_answers_a_challenge_by_its_own_name_and_secret, 0, n);
	tcase_add_test(tc, challenge_that_is_our_own_is_not_answered);
	tcase_add_test(tc, malformed_challenges_are_not_answered);
	tcase_add_test(tc,
		secret_in_hexadecimal_stands_for_its_bytes_and_for_itself);
	return unit_run("chap", tc);
}
