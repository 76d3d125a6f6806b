/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Login text that no honest host sends, a row each with the clause of RFC 7143
 * and what must come back.  After each a host logs in and reads.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/raw.h"

#define IQN	"iqn.2026-11.example.test:keys"
#define TO_FULL	(LOGIN_TRANSIT | 1 << 2 | 3)
#define INITIATOR "InitiatorName=" HOST "\0"
#define NAMES	INITIATOR "SessionType=Normal\0TargetName=" IQN "\0"

/* What comes back: a status of class 2, or success with this in the text. */
struct row {
	const char	*name, *clause;
	uint8_t		 flags;
	const char	*text;
	size_t		 len;
	uint16_t	 status;
	const char	*says;		/* with success; NULL: any */
};

#define TEXT(t)	(t), sizeof(t) - 1
#define REFUSED(name, clause, text, status) \
	{ name, clause, TO_FULL, TEXT(text), status, NULL }
#define SAID(name, clause, text, says) \
	{ name, clause, TO_FULL, TEXT(NAMES text), LOGIN_SUCCESS, says }
#define BAD(name, clause, text) \
	REFUSED(name, clause, NAMES text, LOGIN_INITIATOR_ERROR)

static const struct row rows[] = {
	REFUSED("no text at all", "13.5", "", LOGIN_MISSING_PARAMETER),
	REFUSED("no InitiatorName", "13.5",
		"SessionType=Normal\0TargetName=" IQN "\0",
		LOGIN_MISSING_PARAMETER),
	REFUSED("no TargetName", "13.4", INITIATOR "SessionType=Normal\0",
		LOGIN_MISSING_PARAMETER),
	REFUSED("TargetName that is nobody's", "11.13.5",
		INITIATOR "TargetName=" IQN ".not\0", LOGIN_NOT_FOUND),
	REFUSED("TargetName in other letters", "4.2.7.1",
		INITIATOR "TargetName=IQN.2026-11.EXAMPLE.TEST:OTHER\0",
		LOGIN_NOT_FOUND),
	REFUSED("SessionType of no kind", "13.21",
		INITIATOR "SessionType=Odd\0TargetName=" IQN "\0",
		LOGIN_BAD_SESSION_TYPE),
	REFUSED("InitiatorName that is empty", "4.2.7.1",
		"InitiatorName=\0TargetName=" IQN "\0", LOGIN_INITIATOR_ERROR),
	REFUSED("InitiatorName with a space", "4.2.7.1",
		"InitiatorName=iqn.2026-11.example:a b\0TargetName=" IQN "\0",
		LOGIN_INITIATOR_ERROR),
	REFUSED("InitiatorName twice", "6.2",
		INITIATOR NAMES, LOGIN_INITIATOR_ERROR),
	BAD("a key twice", "6.2", "MaxBurstLength=512\0MaxBurstLength=512\0"),
	BAD("a key without an equals sign", "6.1", "MaxBurstLength\0"),
	BAD("a value without a key", "6.1", "=512\0"),
	BAD("a key of 64 characters", "6.1",
	    "X-aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgg"
	    "gg=1\0"),
	BAD("a last pair without its zero", "6.1", "MaxBurstLength=512"),
	BAD("TargetPortalGroupTag of the initiator", "13.9",
	    "TargetPortalGroupTag=1\0"),
	BAD("TargetAddress of the initiator", "13.8",
	    "TargetAddress=192.0.2.1:3260,1\0"),
	SAID("FirstBurstLength above MaxBurstLength", "13.14",
	     "MaxBurstLength=4096\0FirstBurstLength=8192\0",
	     "FirstBurstLength=4096"),
	SAID("MaxBurstLength of zero", "6.2.2, 13.13", "MaxBurstLength=0\0",
	     "MaxBurstLength=Reject"),
	SAID("MaxBurstLength above its range", "6.2.2, 13.13",
	     "MaxBurstLength=16777216\0", "MaxBurstLength=Reject"),
	SAID("MaxBurstLength with a sign", "6.1", "MaxBurstLength=-1\0",
	     "MaxBurstLength=Reject"),
	SAID("MaxBurstLength that overflows", "6.1",
	     "MaxBurstLength=99999999999999999999\0",
	     "MaxBurstLength=Reject"),
	SAID("MaxBurstLength of hexadecimal zeros", "6.1",
	     "MaxBurstLength=0x00\0", "MaxBurstLength=Reject"),
	SAID("InitialR2T that is neither", "6.2.2, 13.10",
	     "InitialR2T=Maybe\0", "InitialR2T=Reject"),
	SAID("ImmediateData in small letters", "6.1", "ImmediateData=yes\0",
	     "ImmediateData=Reject"),
	SAID("HeaderDigest unknown", "6.2.1, 13.1", "HeaderDigest=CRC64\0",
	     "HeaderDigest=Reject"),
	SAID("DataDigest of an empty list", "6.2.1, 13.1",
	     "DataDigest=,,\0", "DataDigest=Reject"),
	SAID("MaxConnections of zero", "13.2", "MaxConnections=0\0",
	     "MaxConnections=Reject"),
	SAID("MaxConnections of all", "13.2", "MaxConnections=65535\0",
	     "MaxConnections=1"),
	SAID("MaxOutstandingR2T of zero", "13.17", "MaxOutstandingR2T=0\0",
	     "MaxOutstandingR2T=Reject"),
	SAID("ErrorRecoveryLevel of three", "13.20", "ErrorRecoveryLevel=3\0",
	     "ErrorRecoveryLevel=Reject"),
	SAID("ErrorRecoveryLevel of two", "13.20", "ErrorRecoveryLevel=2\0",
	     "ErrorRecoveryLevel=0"),
	SAID("DefaultTime2Wait beyond an hour", "13.15",
	     "DefaultTime2Wait=3601\0", "DefaultTime2Wait=Reject"),
	BAD("MaxRecvDataSegmentLength too small", "13.12",
	    "MaxRecvDataSegmentLength=1\0"),
	SAID("markers", "13.25", "IFMarker=Yes\0OFMarker=Yes\0",
	     "IFMarker=No"),
	SAID("a key of the future", "6.2", "NewKeyOfTheFuture=1\0",
	     "NewKeyOfTheFuture=NotUnderstood"),
	SAID("a private key", "6.1", "X-com.example.key=1\0",
	     "X-com.example.key=NotUnderstood"),
	{ "stage 2, which there is not", "11.12.3", LOGIN_TRANSIT | 2 << 2 | 3,
	  TEXT(NAMES), LOGIN_INITIATOR_ERROR, NULL },
	{ "next stage before the present one", "11.12.3",
	  LOGIN_TRANSIT | 1 << 2 | 0, TEXT(NAMES), LOGIN_INITIATOR_ERROR,
	  NULL },
	{ "next stage 2", "11.12.3", LOGIN_TRANSIT | 1 << 2 | 2,
	  TEXT(NAMES), LOGIN_INITIATOR_ERROR, NULL },
	{ "to go on and to continue at once", "11.12.2",
	  TO_FULL | LOGIN_CONTINUE, TEXT(NAMES), LOGIN_INITIATOR_ERROR, NULL },
	{ "to begin after the end", "11.12.3", LOGIN_TRANSIT | 3 << 2 | 3,
	  TEXT(NAMES), LOGIN_INITIATOR_ERROR, NULL },
	{ "operational keys in the security stage", "6.3.2, 12",
	  LOGIN_TRANSIT | 0 << 2 | 1, TEXT(NAMES "MaxBurstLength=512\0"),
	  LOGIN_INITIATOR_ERROR, NULL },
	{ "AuthMethod of no kind", "12.1", LOGIN_TRANSIT | 0 << 2 | 1,
	  TEXT(NAMES "AuthMethod=Blood\0"), LOGIN_AUTH_FAILED, NULL },
	{ "CHAP where there are no users", "12.1", LOGIN_TRANSIT | 0 << 2 | 1,
	  TEXT(NAMES "AuthMethod=CHAP\0"), LOGIN_AUTH_FAILED, NULL },
	{ "CHAP_R without a challenge", "12.1.3", LOGIN_TRANSIT | 0 << 2 | 1,
	  TEXT(NAMES "CHAP_N=a\0CHAP_R=0x00\0"), LOGIN_AUTH_FAILED, NULL },
};
#define ROWS ((int)(sizeof(rows) / sizeof(rows[0])))

static struct daemon *d;

static void others_are_served(const struct row *row)
{
	struct raw *r = raw_open(d, .target = IQN);
	uint8_t block[512];

	ck_assert_msg(daemon_alive(d), "%s ended the daemon", row->name);
	ck_assert(r && r->login_status == 0);
	ck_assert_int_eq(raw_settle(r, 0), 0);
	ck_assert_int_eq(raw_read(r, 0, 0, block, 1), 0);
	raw_close(r);
}

static bool said(const struct raw *r, const char *pair)
{
	const char *p = (const char *)r->data;
	size_t at = 0;

	while (at < r->data_len) {
		size_t n = strnlen(p + at, r->data_len - at);

		if (n == strlen(pair) && !memcmp(p + at, pair, n))
			return true;
		at += n + 1;
	}
	return false;
}

START_TEST(login_with)
{
	const struct row *row = &rows[_i];
	struct raw *r = raw_connect(d, &(struct raw_options){ .port = 0 });
	union bhs b = { .login_request = {
		.opcode = OP_LOGIN_REQUEST | OPCODE_IMMEDIATE,
		.flags = row->flags, .isid = { 0x80, 0x99, 1, 2, 3, 4 },
		.itt = be32_of(1),
	} };
	unsigned status;

	ck_assert(r && !raw_send(r, &b, row->text, row->len));
	ck_assert_msg(raw_recv(r, DEADLINE_MS) == OP_LOGIN_RESPONSE,
		      "%s (RFC 7143 %s): no answer", row->name, row->clause);
	status = be16_get(r->bhs.login_response.status);
	ck_assert_msg(status == row->status, "%s (RFC 7143 %s): status %04x",
		      row->name, row->clause, status);
	ck_assert_msg(!row->says || said(r, row->says),
		      "%s (RFC 7143 %s): not %s but %.*s", row->name,
		      row->clause, row->says, (int)r->data_len, r->data);
	/* a refused login has no second chance */
	ck_assert(status == LOGIN_SUCCESS || raw_wait_closed(r, DEADLINE_MS));
	raw_close(r);
	others_are_served(row);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("bad keys");

	d = daemon_start(NULL);
	if (!d || adm_target(d, IQN) || adm_lun(d, IQN, 0, "vol", "--size 8M"))
		return EXIT_FAILURE;
	tcase_add_loop_test(tc, login_with, 0, ROWS);
	return func_run("bad_keys", tc);
}
