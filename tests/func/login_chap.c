/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CHAP in both directions, for targets and for discovery: who is let in, what
 * the target proves, and how long guessing takes.
 */
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/lib/ini.h"
#include "tests/lib/raw.h"

#define SECRET	"iqn.2026-11.example.test:secret"
#define MUTUAL	"iqn.2026-11.example.test:mutual"
#define PASSWORD "a-secret-of-18-chr"
#define BACK_PASSWORD "another-secret"
#define CHALLENGE_HEX "0x0102030405060708090a0b0c0d0e0f10"
#define CHALLENGE_BASE64 "0bAQIDBAUGBwgJCgsMDQ4PEA=="

static struct daemon *d;

START_TEST(chap_takes_the_right_secret_with_every_algorithm)
{
	int a;

	for (a = 5; a <= 8; a++)
		ck_assert_int_eq(login_status_of(d, .target = SECRET,
			.user = "esx", .secret = PASSWORD, .algorithm = a),
			LOGIN_SUCCESS);
}
END_TEST

START_TEST(chap_refuses_the_wrong_secret_with_every_algorithm)
{
	int a;

	for (a = 5; a <= 8; a++)
		ck_assert_int_eq(login_status_of(d, .target = SECRET,
			.user = "esx", .secret = PASSWORD "x", .algorithm = a),
			LOGIN_AUTH_FAILED);
	ck_assert_int_eq(login_status_of(d, .target = SECRET, .user = "else",
		.secret = PASSWORD), LOGIN_AUTH_FAILED);
}
END_TEST

START_TEST(chap_cannot_be_left_out_where_it_is_asked_for)
{
	ck_assert_int_eq(login_status_of(d, .target = SECRET),
			 LOGIN_AUTH_FAILED);
}
END_TEST

START_TEST(libiscsi_authenticates_by_chap)
{
	struct ini *i = ini_open(d, .target = SECRET, .user = "esx",
				 .password = PASSWORD);

	ck_assert_msg(i != NULL, "%s", ini_error());
	ini_logout(i);
	ck_assert(!ini_open(d, .target = SECRET, .user = "esx",
			    .password = "wrong-wrong-wrong"));
}
END_TEST

/* H(42, secret, bytes 1 to 16), as the target should say it. */
static void expect_proof(struct raw *r, int algorithm, const char *secret)
{
	const EVP_MD *md[9] = { [5] = EVP_md5(), [6] = EVP_sha1(),
				[7] = EVP_sha256(), [8] = EVP_sha3_256() };
	uint8_t in[64] = { 42 }, out[EVP_MAX_MD_SIZE];
	char hex[2 * EVP_MAX_MD_SIZE + 3] = "0x";
	size_t n = 1 + strlen(secret), i;
	unsigned len;

	memcpy(in + 1, secret, n - 1);
	for (i = 1; i <= 16; i++)
		in[n++] = (uint8_t)i;
	ck_assert(EVP_Digest(in, n, out, &len, md[algorithm], NULL));
	for (i = 0; i < len; i++)
		snprintf(hex + 2 + 2 * i, 3, "%02x", out[i]);
	ck_assert_str_eq(raw_key(r, "CHAP_R"), hex);
}

START_TEST(mutual_chap_proves_the_target_with_every_algorithm)
{
	struct raw *r;
	int a;

	for (a = 5; a <= 8; a++) {
		r = raw_open(d, .target = MUTUAL, .user = "esx",
			     .secret = PASSWORD, .algorithm = a,
			     .challenge = a & 1 ? CHALLENGE_HEX :
						  CHALLENGE_BASE64);
		ck_assert(r && r->login_status == 0);
		ck_assert_str_eq(raw_key(r, "CHAP_N"), "array");
		expect_proof(r, a, BACK_PASSWORD);
		raw_close(r);
	}
	ck_assert_int_eq(login_status_of(d, .target = MUTUAL, .user = "esx",
					 .secret = PASSWORD), LOGIN_SUCCESS);
}
END_TEST

START_TEST(mutual_chap_is_for_discovery_too)
{
	struct raw *r;

	adm_ok(d, "chap set discovery finder --secret-file %s/secret "
	       "--mutual array --mutual-secret-file %s/back", d->dir, d->dir);
	r = raw_open(d, .user = "finder", .secret = PASSWORD,
		     .challenge = CHALLENGE_HEX);
	ck_assert(r && r->login_status == 0);
	expect_proof(r, 5, BACK_PASSWORD);
	raw_close(r);
	ck_assert_int_eq(login_status_of(d, .target = NULL), LOGIN_AUTH_FAILED);
	adm_ok(d, "chap clear discovery");
	ck_assert_int_eq(login_status_of(d, .target = NULL), LOGIN_SUCCESS);
}
END_TEST

START_TEST(mutual_chap_where_it_is_not_set_up_is_refused)
{
	ck_assert_int_eq(login_status_of(d, .target = SECRET, .user = "esx",
		.secret = PASSWORD, .challenge = CHALLENGE_HEX),
		LOGIN_AUTH_FAILED);
}
END_TEST

START_TEST(a_challenge_sent_back_is_refused)
{
	struct raw *r = raw_open(d, .target = MUTUAL, .user = "esx",
				 .secret = PASSWORD, .challenge = "");

	ck_assert(r && r->login_status == LOGIN_AUTH_FAILED);
	ck_assert_str_eq(raw_key(r, "CHAP_R"), "");
	raw_close(r);
}
END_TEST

START_TEST(libiscsi_authenticates_the_target)
{
	struct ini *i = ini_open(d, .target = MUTUAL, .user = "esx",
				 .password = PASSWORD, .target_user = "array",
				 .target_password = BACK_PASSWORD);

	ck_assert_msg(i != NULL, "%s", ini_error());
	ini_logout(i);
	ck_assert(!ini_open(d, .target = MUTUAL, .user = "esx",
			    .password = PASSWORD, .target_user = "array",
			    .target_password = "not-what-it-has"));
}
END_TEST

START_TEST(secrets_of_both_directions_must_differ)
{
	adm_refused(d, "chap set %s esx --secret-file %s/secret --mutual array "
		    "--mutual-secret-file %s/secret", MUTUAL, d->dir, d->dir);
	ck_assert_msg(strstr(d->err, "differ"), "%s", d->err);
	/* nor may it be that of another user */
	adm_refused(d, "chap set %s two --secret-file %s/back", MUTUAL, d->dir);
	ck_assert_msg(strstr(d->err, "differ"), "%s", d->err);
	adm_refused(d, "chap set %s esx --secret-file %s/short", MUTUAL,
		    d->dir);
	ck_assert_msg(strstr(d->err, "12 to 255"), "%s", d->err);
	adm_ok(d, "chap list %s", MUTUAL);
	ck_assert_uint_eq(json_array_size(d->json), 1);
	ck_assert_str_eq(json_text(d->json, "0.mutual"), "array");
	ck_assert(!strstr(d->out, PASSWORD));
}
END_TEST

START_TEST(answers_to_wrong_secrets_wait_and_right_ones_do_not)
{
	uint64_t start, took;
	int64_t before;
	int n;

	adm_ok(d, "session refused");
	before = (int64_t)json_array_size(d->json);
	for (n = 0; n < 3; n++)
		ck_assert_int_eq(login_status_of(d, .target = SECRET,
			.initiator = HOST "-guess", .user = "esx",
			.secret = PASSWORD "x"), LOGIN_AUTH_FAILED);
	start = now_ms();
	ck_assert_int_eq(login_status_of(d, .target = SECRET,
		.initiator = HOST "-guess", .user = "esx",
		.secret = PASSWORD "x"), LOGIN_AUTH_FAILED);
	took = now_ms() - start;
	ck_assert_msg(took >= 700, "%llu ms", (unsigned long long)took);
	start = now_ms();
	ck_assert_int_eq(login_status_of(d, .target = SECRET,
		.initiator = HOST "-guess", .user = "esx",
		.secret = PASSWORD), LOGIN_SUCCESS);
	took = now_ms() - start;
	ck_assert_msg(took < 700, "%llu ms", (unsigned long long)took);
	adm_ok(d, "session refused");
	n = (int)json_array_size(d->json) - 1;
	ck_assert_int_eq(n, before);
	ck_assert_int_eq(json_number(json_array_get(d->json, (size_t)n),
				     "count"), 4);
}
END_TEST

static int write_secret(const char *name, const char *secret)
{
	char path[200];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", d->dir, name);
	f = fopen(path, "we");
	if (!f)
		return -1;
	fputs(secret, f);
	fclose(f);
	return chmod(path, 0600);
}

static int prepare(void)
{
	return write_secret("secret", PASSWORD) ||
	       write_secret("back", BACK_PASSWORD) ||
	       write_secret("short", "eleven-char") ||
	       adm_target(d, SECRET) ||
	       adm(d, "chap set %s esx --secret-file %s/secret", SECRET,
		   d->dir) ||
	       adm_target(d, MUTUAL) ||
	       adm(d, "chap set %s esx --secret-file %s/secret --mutual array "
		   "--mutual-secret-file %s/back", MUTUAL, d->dir, d->dir);
}

int main(void)
{
	TCase *tc = tcase_create("chap");

	d = daemon_start(NULL);
	if (!d || prepare()) {
		printf("no daemon to test: %s\n", d && d->err ? d->err : "");
		return EXIT_FAILURE;
	}
	tcase_add_test(tc, chap_takes_the_right_secret_with_every_algorithm);
	tcase_add_test(tc, chap_refuses_the_wrong_secret_with_every_algorithm);
	tcase_add_test(tc, chap_cannot_be_left_out_where_it_is_asked_for);
	tcase_add_test(tc, libiscsi_authenticates_by_chap);
	tcase_add_test(tc, mutual_chap_proves_the_target_with_every_algorithm);
	tcase_add_test(tc, mutual_chap_is_for_discovery_too);
	tcase_add_test(tc, mutual_chap_where_it_is_not_set_up_is_refused);
	tcase_add_test(tc, a_challenge_sent_back_is_refused);
	tcase_add_test(tc, libiscsi_authenticates_the_target);
	tcase_add_test(tc, secrets_of_both_directions_must_differ);
	tcase_add_test(tc,
		answers_to_wrong_secrets_wait_and_right_ones_do_not);
	return func_run("login_chap", tc);
}
