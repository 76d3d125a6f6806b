/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who gets in and who does not: discovery, names, rules, digests, portals and
 * several sessions at once.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/lib/ini.h"
#include "tests/lib/raw.h"

#define OPEN	"iqn.2026-11.example.test:open"
#define CLOSED	"iqn.2026-11.example.test:closed"
#define PICKY	"iqn.2026-11.example.test:picky"

static struct daemon *d;

START_TEST(a_host_logs_in_and_learns_the_capacity)
{
	struct ini *i = ini_open(d, .target = OPEN);
	uint8_t cap[32];
	struct cmd c = cmd_capacity(cap);

	ck_assert_msg(i != NULL, "%s", ini_error());
	ck_assert_int_eq(ini_settle(i, 0), 0);
	expect_good(i, 0, &c);
	ck_assert_uint_eq(be64_get(BE_AT(be64, cap, 0)), (64 << 20) / 512 - 1);
	ck_assert_uint_eq(be32_get(BE_AT(be32, cap, 8)), 512);
	ck_assert_int_eq(ini_logout(i), 0);
}
END_TEST

/* The Text Response of SendTargets=All, one key a line in r->keys. */
static int send_targets(struct raw *r)
{
	union bhs b;
	size_t i;

	raw_request(r, &b, OP_TEXT_REQUEST, true);
	b.text_request.ttt = be32_of(TAG_NONE);
	raw_send(r, &b, "SendTargets=All", 16);
	if (raw_recv_opcode(r, OP_TEXT_RESPONSE, DEADLINE_MS) < 0)
		return -1;
	for (i = 0; i < r->data_len && i < sizeof(r->keys) - 1; i++)
		r->keys[i] = r->data[i] ? (char)r->data[i] : '\n';
	r->keys[i] = '\0';
	return 0;
}

START_TEST(discovery_lists_only_targets_that_let_the_host_in)
{
	struct raw *r = raw_open(d, .target = NULL);
	char address[96];

	ck_assert(r && r->login_status == 0);
	ck_assert_int_eq(send_targets(r), 0);
	ck_assert_msg(strstr(r->keys, "TargetName=" OPEN "\n"), "%s", r->keys);
	ck_assert(!strstr(r->keys, CLOSED));
	ck_assert(!strstr(r->keys, PICKY));
	snprintf(address, sizeof(address), "TargetAddress=%s,1\n", d->portal);
	ck_assert_msg(strstr(r->keys, address), "%s", r->keys);
	raw_close(r);

	r = raw_open(d, .initiator = "iqn.1998-01.com.vmware:esx1");
	ck_assert(r && r->login_status == 0);
	ck_assert_int_eq(send_targets(r), 0);
	ck_assert(strstr(r->keys, PICKY));
	raw_close(r);
}
END_TEST

START_TEST(a_target_without_a_rule_lets_nobody_in)
{
	ck_assert_int_eq(login_status_of(d, .target = CLOSED), LOGIN_FORBIDDEN);
	ck_assert(!ini_open(d, .target = CLOSED));
}
END_TEST

START_TEST(an_unknown_target_is_not_found)
{
	ck_assert_int_eq(login_status_of(d, .target = OPEN "x"),
			 LOGIN_NOT_FOUND);
}
END_TEST

START_TEST(a_rule_fits_names_by_its_pattern)
{
	ck_assert_int_eq(login_status_of(d, .target = PICKY), LOGIN_FORBIDDEN);
	ck_assert_int_eq(login_status_of(d, .target = PICKY,
		.initiator = "iqn.1998-01.com.vmware:esx1"), LOGIN_SUCCESS);
}
END_TEST

START_TEST(a_refused_login_is_remembered_with_reason_and_remedy)
{
	login_status_of(d, .target = CLOSED, .initiator = HOST "-refused");
	adm_ok(d, "session refused");
	ck_assert(strstr(d->out, HOST "-refused"));
	ck_assert_str_ne(json_text(d->json, "0.reason"), "");
	ck_assert_str_ne(json_text(d->json, "0.remedy"), "");
}
END_TEST

START_TEST(a_disabled_target_is_unavailable_until_it_is_enabled)
{
	adm_ok(d, "target disable %s", OPEN);
	ck_assert_int_eq(login_status_of(d, .target = OPEN), LOGIN_UNAVAILABLE);
	adm_ok(d, "target enable %s", OPEN);
	ck_assert_int_eq(login_status_of(d, .target = OPEN), LOGIN_SUCCESS);
}
END_TEST

START_TEST(digests_work_in_every_combination)
{
	const char *keys = "ImmediateData=Yes\nInitialR2T=No\n";
	static uint8_t out[128 * 512], in[128 * 512];
	struct raw *r;
	int n;

	for (n = 0; n < 4; n++) {
		r = raw_open(d, .target = OPEN, .header_digest = n & 1,
			     .data_digest = n & 2, .keys = keys);
		ck_assert(r && r->login_status == 0);
		ck_assert_int_eq(r->header_digest, n & 1);
		ck_assert_int_eq(r->data_digest, n >> 1);
		ck_assert_int_eq(raw_settle(r, 0), 0);
		pattern_fill(out, sizeof(out), 7, (uint64_t)n);
		ck_assert_int_eq(raw_write(r, 0, 7, out, 128), 0);
		ck_assert_int_eq(raw_read(r, 0, 7, in, 128), 0);
		ck_assert_int_eq(pattern_diff(in, sizeof(in), 7, (uint64_t)n),
				 -1);
		raw_close(r);
	}
}
END_TEST

START_TEST(libiscsi_negotiates_header_digests)
{
	struct ini *i = ini_open(d, .target = OPEN,
				 .digest = ISCSI_HEADER_DIGEST_CRC32C);

	ck_assert_msg(i != NULL, "%s", ini_error());
	ck_assert_int_eq(ini_settle(i, 0), 0);
	ini_logout(i);
}
END_TEST

static int free_port(void)
{
	struct sockaddr_in6 a = { .sin6_family = AF_INET6,
				  .sin6_addr = in6addr_loopback };
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), port = -1;

	if (fd < 0)
		return -1;
	if (!bind(fd, (struct sockaddr *)&a, len) &&
	    !getsockname(fd, (struct sockaddr *)&a, &len))
		port = ntohs(a.sin6_port);
	close(fd);
	return port;
}

START_TEST(a_portal_added_live_serves_ipv6)
{
	int port = free_port();
	struct raw *r;
	char address[96];

	if (port < 0) {
		skip_case("no IPv6 here");
		return;
	}
	adm_ok(d, "portal add [::1]:%d", port);
	r = raw_open(d, .address = "::1", .port = port);
	ck_assert(r && r->login_status == 0);
	ck_assert_int_eq(send_targets(r), 0);
	snprintf(address, sizeof(address), "TargetAddress=[::1]:%d,1\n", port);
	ck_assert_msg(strstr(r->keys, address), "%s", r->keys);
	raw_close(r);
	ck_assert_int_eq(login_status_of(d, .target = OPEN, .address = "::1",
					 .port = port), LOGIN_SUCCESS);
	adm_ok(d, "portal remove [::1]:%d", port);
	r = raw_open(d, .address = "::1", .port = port);
	ck_assert(!r);
}
END_TEST

START_TEST(several_sessions_live_side_by_side_and_are_listed)
{
	struct ini *i[4];
	int n;

	for (n = 0; n < 4; n++) {
		i[n] = ini_open(d, .target = OPEN);
		ck_assert_msg(i[n] != NULL, "%s", ini_error());
	}
	for (n = 0; n < 4; n++)
		ck_assert_int_eq(ini_settle(i[n], 0), 0);
	adm_ok(d, "session list %s", OPEN);
	ck_assert_uint_eq(json_array_size(d->json), 4);
	ck_assert_str_eq(json_text(d->json, "0.target"), OPEN);
	ck_assert_str_eq(json_text(d->json, "0.initiator"), HOST);
	ck_assert_str_eq(json_text(d->json, "0.connections.0.local"),
			 d->portal);
	ck_assert_int_gt(json_number(d->json, "0.connections.0.commands"), 0);
	ck_assert_int_gt(json_number(d->json, "0.tsih"), 0);
	for (n = 0; n < 4; n++)
		ck_assert_int_eq(ini_logout(i[n]), 0);
}
END_TEST

static bool no_session(void *arg)
{
	struct daemon *x = arg;

	return adm(x, "session list") == 0 && json_array_size(x->json) == 0;
}

START_TEST(a_session_ended_by_lunadm_is_gone)
{
	struct ini *i = ini_open(d, .target = OPEN);

	ck_assert(i != NULL);
	adm_ok(d, "session list");
	adm_ok(d, "session end %d", (int)json_number(d->json, "0.id"));
	ck_assert(ini_wait_down(i, DEADLINE_MS));
	ck_assert(wait_until(no_session, d, DEADLINE_MS));
	ini_drop(i);
}
END_TEST

START_TEST(a_login_with_the_same_isid_replaces_the_session)
{
	struct ini *old = ini_open(d, .target = OPEN, .isid = 77);
	struct ini *new;

	ck_assert(old != NULL);
	ck_assert_int_eq(ini_settle(old, 0), 0);
	new = ini_open(d, .target = OPEN, .isid = 77);
	ck_assert_msg(new != NULL, "%s", ini_error());
	ck_assert(ini_wait_down(old, DEADLINE_MS));
	ck_assert_int_eq(ini_settle(new, 0), 0);
	adm_ok(d, "session list");
	ck_assert_uint_eq(json_array_size(d->json), 1);
	ini_drop(old);
	ini_logout(new);
}
END_TEST

static int prepare(void)
{
	return adm_target(d, OPEN) || adm(d, "target create %s", CLOSED) ||
	       adm(d, "target create %s", PICKY) ||
	       adm(d, "acl allow %s iqn.1998-01.com.vmware:*", PICKY) ||
	       adm_lun(d, OPEN, 0, "vol", "--size 64M");
}

int main(void)
{
	TCase *tc = tcase_create("login");

	d = daemon_start(NULL);
	if (!d || prepare()) {
		printf("no daemon to test: %s\n", d && d->err ? d->err : "");
		return EXIT_FAILURE;
	}
	tcase_add_test(tc, a_host_logs_in_and_learns_the_capacity);
	tcase_add_test(tc, discovery_lists_only_targets_that_let_the_host_in);
	tcase_add_test(tc, a_target_without_a_rule_lets_nobody_in);
	tcase_add_test(tc, an_unknown_target_is_not_found);
	tcase_add_test(tc, a_rule_fits_names_by_its_pattern);
	tcase_add_test(tc,
		a_refused_login_is_remembered_with_reason_and_remedy);
	tcase_add_test(tc,
		a_disabled_target_is_unavailable_until_it_is_enabled);
	tcase_add_test(tc, digests_work_in_every_combination);
	tcase_add_test(tc, libiscsi_negotiates_header_digests);
	tcase_add_test(tc, a_portal_added_live_serves_ipv6);
	tcase_add_test(tc, several_sessions_live_side_by_side_and_are_listed);
	tcase_add_test(tc, a_session_ended_by_lunadm_is_gone);
	tcase_add_test(tc, a_login_with_the_same_isid_replaces_the_session);
	return func_run("target_login", tc);
}
