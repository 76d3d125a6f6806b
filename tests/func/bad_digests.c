/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PDUs whose digests are wrong (RFC 7143 7.7): a header's ends the connection,
 * data's are thrown away with their command.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/raw.h"

#define IQN	"iqn.2026-11.example.test:digests"

static struct daemon *d;
static uint8_t buf[512], clean[4096];

static void others_are_served(void)
{
	struct raw *r = raw_open(d, .target = IQN);
	uint8_t data[4096];

	ck_assert(daemon_alive(d));
	ck_assert(r && r->login_status == 0);
	ck_assert_int_eq(raw_settle(r, 0), 0);
	ck_assert_int_eq(raw_read(r, 0, 0, data, 8), 0);
	ck_assert_mem_eq(data, clean, sizeof(data));
	raw_close(r);
}

START_TEST(a_wrong_header_digest_ends_the_connection)
{
	struct raw *r = raw_open(d, .target = IQN, .header_digest = true);
	union bhs b;

	ck_assert(r && r->login_status == 0);
	raw_request(r, &b, OP_NOP_OUT, true);
	raw_bytes(r, &b, sizeof(b));
	raw_bytes(r, "abcd", 4);
	ck_assert(raw_wait_closed(r, DEADLINE_MS));
	raw_close(r);
	others_are_served();
}
END_TEST

START_TEST(a_wrong_data_digest_writes_nothing)
{
	struct raw *r = raw_open(d, .target = IQN, .data_digest = true,
				 .keys = "ImmediateData=Yes\n");
	struct raw_cmd c = { .flags = CMD_WRITE, .edtl = 512,
			     .cdb = { 0x2a, [8] = 1 } };
	union bhs b;
	int rc;

	ck_assert(r && r->login_status == 0);
	ck_assert_int_eq(raw_settle(r, 0), 0);
	raw_request(r, &b, OP_SCSI_COMMAND, false);
	b.scsi_command.flags = FLAG_FINAL | c.flags;
	b.scsi_command.edtl = be32_of(512);
	memcpy(b.scsi_command.cdb, c.cdb, 16);
	b.any.data_len = be24_of(512);
	raw_bytes(r, &b, sizeof(b));
	raw_bytes(r, buf, 512);
	raw_bytes(r, "abcd", 4);
	rc = raw_recv(r, DEADLINE_MS);
	ck_assert_msg(rc == OP_REJECT || rc == RAW_CLOSED ||
		      (rc == OP_SCSI_RESPONSE &&
		       r->bhs.scsi_response.status == 2), "%d", rc);
	raw_close(r);
	others_are_served();
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("bad digests");
	struct raw *r;

	d = daemon_start(NULL);
	if (!d || adm_target(d, IQN) || adm_lun(d, IQN, 0, "vol", "--size 8M"))
		return EXIT_FAILURE;
	r = raw_open(d, .target = IQN);
	pattern_fill(clean, sizeof(clean), 0, 1);
	if (!r || raw_settle(r, 0) || raw_write(r, 0, 0, clean, 8))
		return EXIT_FAILURE;
	raw_close(r);
	tcase_add_test(tc, a_wrong_header_digest_ends_the_connection);
	tcase_add_test(tc, a_wrong_data_digest_writes_nothing);
	return func_run("bad_digests", tc);
}
