/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What strangers send to the port before any login: garbage, half sentences,
 * lies.  The daemon goes on serving others, and lets go of what it held.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/raw.h"

#define IQN	"iqn.2026-11.example.test:door"

static struct daemon *d;
static uint8_t buf[1 << 20];

static void others_are_served(void)
{
	struct raw *r = raw_open(d, .target = IQN);

	ck_assert(daemon_alive(d));
	ck_assert(r && r->login_status == 0);
	ck_assert_int_eq(raw_settle(r, 0), 0);
	raw_close(r);
}

static struct raw *stranger(void)
{
	struct raw *r = raw_connect(d, &(struct raw_options){ .port = 0 });

	ck_assert(r != NULL);
	return r;
}

static union bhs login(uint8_t flags)
{
	return (union bhs){ .login_request = {
		.opcode = OP_LOGIN_REQUEST | OPCODE_IMMEDIATE, .flags = flags,
		.isid = { 0x80, 0x99, 1, 2, 3, 4 }, .itt = be32_of(1),
	} };
}

/* Sends a Login Request; the status of the answer, or negative. */
static int answer_to(union bhs b, const void *text, size_t len)
{
	struct raw *r = stranger();
	int rc;

	raw_send(r, &b, text, len);
	rc = raw_recv(r, DEADLINE_MS);
	if (rc == OP_LOGIN_RESPONSE)
		rc = be16_get(r->bhs.login_response.status);
	else if (rc >= 0)
		rc = -100 - rc;
	raw_close(r);
	return rc;
}

#define NAMES "InitiatorName=" HOST "\0SessionType=Normal\0TargetName=" IQN "\0"
#define REFUSED(rc) ((rc) == RAW_CLOSED || (rc) >= 0x0200 || \
		     (rc) == -100 - OP_REJECT)

START_TEST(garbage_ends_its_connection)
{
	static const char http[] = "GET /index.html HTTP/1.1\r\n"
		"Host: iscsi.example.test\r\n\r\n";
	struct raw *r = stranger();
	unsigned n;

	for (n = 0; n < sizeof(buf); n++)
		buf[n] = (uint8_t)(n * 2654435761u >> 13 | 0x80);
	raw_bytes(r, buf, sizeof(buf));
	ck_assert(raw_wait_closed(r, DEADLINE_MS));
	raw_close(r);
	/* its lengths promise more, which never comes */
	r = stranger();
	raw_bytes(r, http, sizeof(http));
	ck_assert(raw_wait_closed(r, 5000));
	raw_close(r);
	others_are_served();
}
END_TEST

START_TEST(other_requests_before_login_are_not_served)
{
	static const uint8_t opcodes[] = {
		OP_NOP_OUT, OP_SCSI_COMMAND, OP_TMF_REQUEST, OP_TEXT_REQUEST,
		OP_DATA_OUT, OP_LOGOUT_REQUEST, OP_SNACK, 0x1c, OP_NOP_IN,
		OP_LOGIN_RESPONSE, OP_REJECT,
	};
	unsigned n;

	for (n = 0; n < sizeof(opcodes); n++) {
		struct raw *r = stranger();
		union bhs b;

		raw_request(r, &b, opcodes[n], true);
		raw_send(r, &b, NULL, 0);
		ck_assert_msg(raw_wait_closed(r, DEADLINE_MS), "opcode %02x",
			      opcodes[n]);
		raw_close(r);
		/* nor is the rest waited for that their header promises */
		r = stranger();
		b.any.ahs_len = 255;
		b.any.data_len = be24_of(8000);
		raw_bytes(r, &b, sizeof(b));
		ck_assert_msg(raw_wait_closed(r, 5000), "opcode %02x",
			      opcodes[n]);
		raw_close(r);
	}
	others_are_served();
}
END_TEST

START_TEST(a_login_without_names_is_told_what_is_missing)
{
	union bhs b = login(LOGIN_TRANSIT | 1 << 2 | 3);
	int rc = answer_to(b, "HeaderDigest=None", 18);

	ck_assert_msg(rc == LOGIN_MISSING_PARAMETER ||
		      rc == LOGIN_INITIATOR_ERROR, "%04x", rc);
	rc = answer_to(b, "InitiatorName=" HOST "\0SessionType=Normal",
		       sizeof("InitiatorName=" HOST "\0SessionType=Normal"));
	ck_assert_msg(rc == LOGIN_MISSING_PARAMETER, "%04x", rc);
}
END_TEST

START_TEST(stages_that_do_not_exist_are_refused)
{
	static const uint8_t flags[] = {
		LOGIN_TRANSIT | 1 << 2 | 2, LOGIN_TRANSIT | 2 << 2 | 3,
		LOGIN_TRANSIT | 3 << 2 | 3, LOGIN_TRANSIT | 1 << 2 | 0,
		LOGIN_TRANSIT | LOGIN_CONTINUE | 1 << 2 | 3,
	};
	unsigned n;

	for (n = 0; n < sizeof(flags); n++) {
		int rc = answer_to(login(flags[n]), NAMES, sizeof(NAMES) - 1);

		ck_assert_msg(REFUSED(rc), "flags %02x: %d", flags[n], rc);
	}
	others_are_served();
}
END_TEST

START_TEST(a_version_that_is_not_ours_is_refused)
{
	union bhs b = login(LOGIN_TRANSIT | 1 << 2 | 3);
	int rc;

	b.login_request.version_min = 5;
	b.login_request.version_max = 7;
	rc = answer_to(b, NAMES, sizeof(NAMES) - 1);
	ck_assert_msg(rc == LOGIN_BAD_VERSION, "%04x", rc);
}
END_TEST

START_TEST(text_that_is_no_text_is_refused)
{
	union bhs b = login(LOGIN_TRANSIT | 1 << 2 | 3);
	char text[4096];
	size_t len = sizeof(NAMES) - 1;

	memcpy(text, NAMES, len);
	memset(text + len, 'x', 300);		/* no equals sign */
	text[len + 300] = '\0';
	ck_assert(REFUSED(answer_to(b, text, len + 301)));
	text[len + 100] = '=';			/* a key of 100 bytes */
	ck_assert(REFUSED(answer_to(b, text, len + 301)));
	memcpy(text + len, "=value", 7);	/* none */
	ck_assert(REFUSED(answer_to(b, text, len + 7)));
	/* one bad value may be answered Reject, and the login goes on */
	memcpy(text + len, "MaxBurstLength=zwei", 20);
	ck_assert_int_ne(answer_to(b, text, len + 20), RAW_TIMEOUT);
	memcpy(text + len, "MaxBurstLength=65536\0MaxBurstLength=512", 40);
	ck_assert(REFUSED(answer_to(b, text, len + 40)));
	others_are_served();
}
END_TEST

START_TEST(names_beyond_their_length_are_refused)
{
	union bhs b = login(LOGIN_TRANSIT | 1 << 2 | 3);
	char text[2048];
	int n = snprintf(text, sizeof(text), "InitiatorName=iqn.");

	memset(text + n, 'a', 400);
	memcpy(text + n + 400, "\0SessionType=Discovery", 23);
	ck_assert(REFUSED(answer_to(b, text, (size_t)n + 423)));
	others_are_served();
}
END_TEST

START_TEST(text_that_never_ends_is_refused_before_it_fills_memory)
{
	struct raw *r = stranger();
	union bhs b = login(LOGIN_CONTINUE | 1 << 2);
	int n, rc = 0;

	memset(buf, 'x', 8192);
	for (n = 0; n < 200; n++) {
		if (raw_send(r, &b, buf, 8192))
			break;
		rc = raw_recv(r, DEADLINE_MS);
		if (rc != OP_LOGIN_RESPONSE ||
		    be16_get(r->bhs.login_response.status))
			break;
	}
	ck_assert_int_lt(n, 200);
	raw_close(r);
	others_are_served();
}
END_TEST

START_TEST(a_length_that_lies_holds_up_nobody)
{
	struct raw *r = stranger();
	union bhs b = login(LOGIN_TRANSIT | 1 << 2 | 3);

	b.any.data_len = be24_of(0xffffff);
	raw_bytes(r, &b, sizeof(b));
	raw_bytes(r, NAMES, sizeof(NAMES) - 1);
	others_are_served();
	raw_close(r);
	r = stranger();
	b.any.data_len = be24_of(100);
	b.any.ahs_len = 255;
	raw_bytes(r, &b, sizeof(b));
	others_are_served();
	raw_close(r);
	r = stranger();
	raw_bytes(r, &b, 17);
	others_are_served();
	raw_close(r);
	others_are_served();
}
END_TEST

START_TEST(silent_strangers_hold_up_nobody)
{
	struct raw *r[64];
	int n;

	for (n = 0; n < 64; n++)
		r[n] = stranger();
	others_are_served();
	for (n = 0; n < 64; n++)
		raw_close(r[n]);
	others_are_served();
}
END_TEST

static int64_t limit(const char *name)
{
	size_t i;
	json_t *v;

	adm_ok(d, "daemon limits");
	json_array_foreach(d->json, i, v)
		if (!strcmp(json_text(v, "limit"), name))
			return json_number(v, "value");
	return -1;
}

START_TEST(strangers_of_one_address_cannot_take_every_place)
{
	int64_t most = limit("half-open-per-address"), n;
	struct raw **r = calloc((size_t)most + 1, sizeof(struct raw *));

	ck_assert_int_gt(most, 0);
	ck_assert_int_gt(limit("half-open"), most);
	for (n = 0; n <= most; n++)
		r[n] = stranger();
	ck_assert(raw_wait_closed(r[most], DEADLINE_MS));
	raw_close(r[0]);
	/* a place is free as soon as the daemon sees that */
	for (n = 0; n < 100; n++)
		if (login_status_of(d, .target = IQN) == 0)
			break;
	ck_assert_int_lt(n, 100);
	for (n = 1; n <= most; n++)
		raw_close(r[n]);
	free(r);
	others_are_served();
}
END_TEST

START_TEST(a_session_that_does_not_exist_cannot_be_joined)
{
	union bhs b = login(LOGIN_TRANSIT | 1 << 2 | 3);
	int rc;

	b.login_request.tsih = be16_of(0x4711);
	rc = answer_to(b, NAMES, sizeof(NAMES) - 1);
	ck_assert_msg(rc == LOGIN_NO_SESSION, "%04x", rc);
}
END_TEST

static bool no_session(void *arg)
{
	struct daemon *x = arg;

	return adm(x, "session list") == 0 && json_array_size(x->json) == 0;
}

/* A good login and a few commands with single bytes changed. */
START_TEST(logins_with_changed_bytes_do_no_harm)
{
	unsigned n, x = 12345;

	for (n = 0; n < 400; n++) {
		struct raw *r = stranger();
		union bhs b = login(LOGIN_TRANSIT | 1 << 2 | 3);
		uint8_t all[BHS_LEN + ((sizeof(NAMES) + 3) & ~3u)] = { 0 };

		b.any.data_len = be24_of(sizeof(NAMES) - 1);
		memcpy(all, &b, BHS_LEN);
		memcpy(all + BHS_LEN, NAMES, sizeof(NAMES) - 1);
		x = x * 1103515245 + 12345;
		all[(x >> 8) % sizeof(all)] ^= (uint8_t)(x >> 24 | 1);
		raw_bytes(r, all, sizeof(all));
		raw_request(r, &b, OP_SCSI_COMMAND, false);
		raw_send(r, &b, NULL, 0);
		raw_recv(r, 5);
		raw_close(r);
		ck_assert(daemon_alive(d));
	}
	others_are_served();
	ck_assert(wait_until(no_session, d, DEADLINE_MS));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("bad logins");

	d = daemon_start(NULL);
	if (!d || adm_target(d, IQN) || adm_lun(d, IQN, 0, "vol", "--size 8M"))
		return EXIT_FAILURE;
	tcase_add_test(tc, garbage_ends_its_connection);
	tcase_add_test(tc, other_requests_before_login_are_not_served);
	tcase_add_test(tc, a_login_without_names_is_told_what_is_missing);
	tcase_add_test(tc, stages_that_do_not_exist_are_refused);
	tcase_add_test(tc, a_version_that_is_not_ours_is_refused);
	tcase_add_test(tc, text_that_is_no_text_is_refused);
	tcase_add_test(tc, names_beyond_their_length_are_refused);
	tcase_add_test(tc,
		text_that_never_ends_is_refused_before_it_fills_memory);
	tcase_add_test(tc, a_length_that_lies_holds_up_nobody);
	tcase_add_test(tc, silent_strangers_hold_up_nobody);
	tcase_add_test(tc, strangers_of_one_address_cannot_take_every_place);
	tcase_add_test(tc, a_session_that_does_not_exist_cannot_be_joined);
	tcase_add_test(tc, logins_with_changed_bytes_do_no_harm);
	return func_run("bad_logins", tc);
}
