/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parameter lists and CDBs that no honest host sends, a row each with the
 * clause and the sense that must come back.  After each another session reads
 * what was there before: nothing was changed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/raw.h"

#define IQN	"iqn.2026-11.example.test:lists"

struct row {
	const char	*name, *clause;
	uint8_t		 cdb[16];
	const char	*list;
	size_t		 len;
	uint32_t	 sense;		/* key << 16 | ASC << 8 | ASCQ, AT() */
};

#define INVALID_OPCODE	0x052000
#define LBA_RANGE	0x052100
#define INVALID_CDB	0x052400
#define INVALID_LIST	0x052600
#define LIST_LENGTH	0x051a00
/* and the byte of the list at fault; without it, none is looked at */
#define AT(byte)	((byte) << 24)
#define NO_LIST		"", 0
#define LIST(l)		(l), sizeof(l) - 1

/* UNMAP: header, and one descriptor of 8 blocks at LBA 0 */
#define DESC		"\0\0\0\0\0\0\0\0\0\0\0\x08\0\0\0\0"
#define UNMAP(n)	{ 0x42, [8] = (n) }
/* EXTENDED COPY: no CSCD descriptor, no segment */
#define XCOPY(n)	{ 0x83, [13] = (n) }
#define PR_OUT(sa, n)	{ 0x5f, (sa), 0x01, [8] = (n) }
#define SELECT6(n)	{ 0x15, 0x10, [4] = (n) }
#define SELECT10(n)	{ 0x55, 0x10, [8] = (n) }

static const char zeros[512];

static const struct row rows[] = {
	{ "an opcode that is none", "SPC-4 6", { 0xff }, NO_LIST,
	  INVALID_OPCODE },
	{ "a vendor's opcode", "SPC-4 6", { 0xc1 }, NO_LIST, INVALID_OPCODE },
	{ "a service action that is none", "SPC-4 6", { 0x9e, 0x1f },
	  NO_LIST, INVALID_CDB },
	{ "NACA", "SAM-5 5.2", { 0x00, [5] = 0x04 }, NO_LIST, INVALID_CDB },
	{ "reserved bits of TEST UNIT READY", "SPC-4 6", { 0x00, 0x01 },
	  NO_LIST, INVALID_CDB },
	{ "INQUIRY of a page without EVPD", "SPC-4 6.6",
	  { 0x12, 0, 0x83, 0, 0xff }, NO_LIST, INVALID_CDB },
	{ "INQUIRY of a page that is none", "SPC-4 6.6",
	  { 0x12, 1, 0xfe, 0, 0xff }, NO_LIST, INVALID_CDB },
	{ "MODE SENSE of a page that is none", "SPC-4 6.11",
	  { 0x1a, 0, 0x3e, 0, 0xff }, NO_LIST, INVALID_CDB },
	{ "MODE SENSE of saved values", "SPC-4 6.11",
	  { 0x1a, 0, 0xc8, 0, 0xff }, NO_LIST, 0x053900 },
	{ "LOG SENSE of a page that is none", "SPC-4 6.8",
	  { 0x4d, 0, 0x7e, [8] = 0xff }, NO_LIST, INVALID_CDB },
	{ "READ beyond the end", "SBC-3 5.8",
	  { 0x28, 0, 0xff, 0xff, 0xff, 0xff, [8] = 1 }, NO_LIST, LBA_RANGE },
	{ "READ of an LBA that wraps", "SBC-3 5.10",
	  { 0x88, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	    [13] = 2 }, NO_LIST, LBA_RANGE },
	{ "READ of more than is told", "SBC-3 5.10",
	  { 0x88, [10] = 0xff }, NO_LIST, LBA_RANGE },
	{ "READ with protection", "SBC-3 5.8", { 0x28, 0x20, [8] = 1 },
	  NO_LIST, INVALID_CDB },
	{ "VERIFY with BYTCHK 10b", "SBC-3 5.27", { 0x2f, 0x04, [8] = 1 },
	  NO_LIST, INVALID_CDB },
	{ "GET LBA STATUS beyond the end", "SBC-3 5.5",
	  { 0x9e, 0x12, [7] = 0xff, [13] = 0xff }, NO_LIST, LBA_RANGE },
	{ "WRITE SAME of no blocks", "SBC-3 5.42", { 0x93 },
	  zeros, sizeof(zeros), INVALID_CDB },
	{ "WRITE SAME with ANCHOR alone", "SBC-3 5.42",
	  { 0x93, 0x11, [13] = 1 }, NO_LIST, INVALID_CDB },
	{ "COMPARE AND WRITE with too little data", "SBC-3 5.2",
	  { 0x89, [13] = 2 }, LIST("only this"), INVALID_CDB },
	{ "PREVENT ALLOW of a fixed disk", "SPC-4 6.20", { 0x1e, [4] = 1 },
	  NO_LIST, INVALID_OPCODE },
	{ "START STOP UNIT that ejects", "SBC-3 5.25", { 0x1b, [4] = 0x02 },
	  NO_LIST, INVALID_CDB },

	{ "UNMAP of half a header", "SBC-3 5.28", UNMAP(4), LIST("\0\0\0\0"),
	  LIST_LENGTH },
	{ "UNMAP of half a descriptor", "SBC-3 5.28", UNMAP(16),
	  LIST("\0\x16\0\x10\0\0\0\0\0\0\0\0\0\0\0\0"), LIST_LENGTH },
	{ "UNMAP whose lengths disagree", "SBC-3 5.28", UNMAP(24),
	  LIST("\0\xff\0\xff\0\0\0\0" DESC), LIST_LENGTH },
	/* which is no error, but is no descriptor either */
	{ "UNMAP whose descriptors have 15 bytes", "SBC-3 5.28", UNMAP(24),
	  LIST("\0\x16\0\x0f\0\0\0\0" DESC), 0 },
	{ "UNMAP beyond the end", "SBC-3 5.28", UNMAP(24),
	  LIST("\0\x16\0\x10\0\0\0\0"
	       "\0\0\0\0\x7f\0\0\0\0\0\0\x01\0\0\0\0"), LBA_RANGE },
	{ "UNMAP that wraps", "SBC-3 5.28", UNMAP(24),
	  LIST("\0\x16\0\x10\0\0\0\0"
	       "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0"),
	  LBA_RANGE },
	{ "UNMAP good at first, bad at last", "SBC-3 5.28", UNMAP(40),
	  LIST("\0\x26\0\x20\0\0\0\0" DESC
	       "\0\0\0\0\x7f\0\0\0\0\0\0\x01\0\0\0\0"), LBA_RANGE },

	{ "EXTENDED COPY of half a header", "SPC-4 6.3", XCOPY(8),
	  LIST("\0\0\0\0\0\0\0\0"), LIST_LENGTH },
	{ "EXTENDED COPY with inline data that is not there", "SPC-4 6.3",
	  XCOPY(16), LIST("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x10"), 0x05260b },
	{ "EXTENDED COPY with CSCD descriptors that are not there",
	  "SPC-4 6.3", XCOPY(16),
	  LIST("\0\0\0\x20\0\0\0\0\0\0\0\0\0\0\0\0"), LIST_LENGTH },
	{ "EXTENDED COPY with half a CSCD descriptor", "SPC-4 6.3", XCOPY(32),
	  LIST("\0\0\0\x10\0\0\0\0\0\0\0\0\0\0\0\0"
	       "\xe4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), LIST_LENGTH },
	{ "EXTENDED COPY with a CSCD descriptor of no type", "SPC-4 6.3",
	  XCOPY(48), LIST("\0\0\0\x20\0\0\0\0\0\0\0\0\0\0\0\0"
	       "\xff\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
	       "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), 0x052607 },
	{ "EXTENDED COPY with segments that are not there", "SPC-4 6.3",
	  XCOPY(16), LIST("\0\0\0\0\0\0\0\0\0\0\0\x1c\0\0\0\0"),
	  LIST_LENGTH },
	{ "EXTENDED COPY with a segment of no type", "SPC-4 6.3", XCOPY(44),
	  LIST("\0\0\0\0\0\0\0\0\0\0\0\x1c\0\0\0\0"
	       "\xfe\0\0\x18\0\0\0\0\0\0\0\0\0\0"
	       "\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), 0x052609 },

	{ "PERSISTENT RESERVE OUT of a short list", "SPC-4 6.16",
	  PR_OUT(0, 8), LIST("\0\0\0\0\0\0\0\0"), LIST_LENGTH },
	{ "PERSISTENT RESERVE OUT of no action", "SPC-4 6.16",
	  PR_OUT(0x1f, 24),
	  LIST("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
	  INVALID_CDB },
	{ "SPEC_I_PT with a length that lies", "SPC-4 6.16", PR_OUT(0, 28),
	  LIST("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0\x08\0\0\0"
	       "\xff\xff\xff\xff"), INVALID_LIST },
	{ "SPEC_I_PT with a TransportID of another protocol", "SPC-4 7.6",
	  PR_OUT(0, 52),
	  LIST("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0\x08\0\0\0"
	       "\0\0\0\x18" "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
	       "\0\0\0\0"), INVALID_LIST },

	{ "MODE SELECT of half a header", "SPC-4 6.9", SELECT6(2),
	  LIST("\0\0"), LIST_LENGTH },
	{ "MODE SELECT with block descriptors that lie", "SPC-4 6.9",
	  SELECT6(4), LIST("\0\0\0\x08"), LIST_LENGTH },
	{ "MODE SELECT of a page that is none", "SPC-4 6.9", SELECT6(8),
	  LIST("\0\0\0\0\x3e\x02\0\0"), INVALID_LIST },
	{ "MODE SELECT of a page cut short", "SPC-4 6.9", SELECT6(8),
	  LIST("\0\0\0\0\x08\x12\0\0"), LIST_LENGTH },
	{ "MODE SELECT of a page with a false length", "SPC-4 6.9",
	  SELECT6(8), LIST("\0\0\0\0\x08\x02\0\0"), INVALID_LIST | AT(5) },
	{ "MODE SELECT of what cannot change", "SPC-4 6.9", SELECT6(16),
	  LIST("\0\0\0\0\x0a\x0a\xff\xff\xff\xff\0\0\xff\xff\0\0"),
	  INVALID_LIST | AT(6) },
	{ "MODE SELECT of QERR 10b", "SPC-4 7.5", SELECT6(16),
	  LIST("\0\0\0\0\x0a\x0a\0\x14\0\0\0\0\xff\xff\0\0"),
	  INVALID_LIST | AT(7) },
	{ "MODE SELECT of UA_INTLCK_CTRL 01b", "SPC-4 7.5", SELECT6(16),
	  LIST("\0\0\0\0\x0a\x0a\0\x10\x10\0\0\0\xff\xff\0\0"),
	  INVALID_LIST | AT(8) },
	{ "MODE SELECT(10) of half a header", "SPC-4 6.10", SELECT10(6),
	  LIST("\0\0\0\0\0\0"), LIST_LENGTH },
	{ "MODE SELECT(10) with a long descriptor that is short",
	  "SPC-4 6.10", SELECT10(16),
	  LIST("\0\0\0\0\x01\0\0\x08\0\0\0\0\0\0\0\0"),
	  INVALID_LIST | AT(7) },
	{ "MODE SELECT(10) of blocks of another size", "SPC-4 6.10",
	  SELECT10(16),
	  LIST("\0\0\0\0\0\0\0\x08\0\0\0\0\0\0\x08\0"),
	  INVALID_LIST | AT(13) },
	{ "MODE SELECT(10) of a subpage with a false length", "SPC-4 6.10",
	  SELECT10(12), LIST("\0\0\0\0\0\0\0\0\x4a\x01\0\x02"),
	  INVALID_LIST | AT(11) },
	{ "LOG SENSE from a parameter that is none", "SPC-4 6.8",
	  { 0x4d, 0, 0x4d, [6] = 1, [8] = 0xff }, NO_LIST, INVALID_CDB },
	{ "LOG SELECT of a parameter", "SPC-4 6.7", { 0x4c, [8] = 8 },
	  LIST("\x2f\0\0\x04\0\0\x03\0"), INVALID_LIST },
	{ "LOG SELECT that resets and brings a list", "SPC-4 6.7",
	  { 0x4c, 0x02, [8] = 4 }, LIST("\0\0\0\0"), INVALID_CDB },
	{ "LOG SELECT to be saved", "SPC-4 6.7", { 0x4c, 0x01 }, NO_LIST,
	  INVALID_CDB },
	{ "SET TIMESTAMP of a short list", "SPC-4 6.45",
	  { 0xa4, 0x0f, [9] = 4 }, LIST("\0\0\0\0"), LIST_LENGTH },
	{ "MODE SELECT to be saved", "SPC-4 6.9", { 0x15, 0x11, [4] = 4 },
	  LIST("\0\0\0\0"), INVALID_CDB },
	{ "MODE SELECT without PF", "SPC-4 6.9", { 0x15, 0x00, [4] = 8 },
	  LIST("\0\0\0\0\x08\x02\0\0"), INVALID_CDB },
};
#define ROWS ((int)(sizeof(rows) / sizeof(rows[0])))

static struct daemon *d;
static uint8_t pattern[64 * 512];

static void others_are_served(const struct row *row)
{
	struct raw *r = raw_open(d, .target = IQN, .isid = 7);
	uint8_t now[sizeof(pattern)];

	ck_assert_msg(daemon_alive(d), "%s ended the daemon", row->name);
	ck_assert(r && r->login_status == 0);
	ck_assert_int_eq(raw_settle(r, 0), 0);
	ck_assert_int_eq(raw_read(r, 0, 0, now, 64), 0);
	ck_assert_msg(!memcmp(now, pattern, sizeof(now)), "%s changed data",
		      row->name);
	raw_close(r);
}

/* key << 16 | ASC << 8 | ASCQ of the answer; 0: GOOD. */
static uint32_t sense_of(struct raw *r, const struct row *row)
{
	struct raw_cmd c = {
		.flags = row->len ? CMD_WRITE : CMD_READ,
		.edtl = row->len ? (uint32_t)row->len : 255,
		.data = row->list, .data_len = row->len,
	};
	const uint8_t *s = r->data + 2;		/* behind SenseLength */

	memcpy(c.cdb, row->cdb, sizeof(c.cdb));
	raw_command(r, &c);
	ck_assert_msg(raw_recv_opcode(r, OP_SCSI_RESPONSE, DEADLINE_MS) ==
		      OP_SCSI_RESPONSE, "%s: no answer", row->name);
	if (r->bhs.scsi_response.status != 2)
		return r->bhs.scsi_response.status;
	return (s[2] & 0x0fu) << 16 | s[12] << 8 | s[13];
}

START_TEST(command_with)
{
	const struct row *row = &rows[_i];
	struct raw *r = raw_open(d, .target = IQN,
				 .keys = "ImmediateData=Yes\n");
	const uint8_t *s = r ? r->data + 2 : NULL;
	uint32_t sense;

	ck_assert(r && r->login_status == 0);
	ck_assert_int_eq(raw_settle(r, 0), 0);
	sense = sense_of(r, row);
	ck_assert_msg(sense == (row->sense & 0xffffff),
		      "%s (%s): %06x, not %06x", row->name, row->clause, sense,
		      row->sense & 0xffffff);
	if (row->sense >> 24) {
		/* SKSV, not C/D */
		ck_assert_uint_eq(s[15] & 0xc0, 0x80);
		ck_assert_msg((uint32_t)(s[16] << 8 | s[17]) ==
			      row->sense >> 24,
			      "%s: byte %d", row->name, s[16] << 8 | s[17]);
	}
	/* the session goes on */
	ck_assert_int_eq(raw_tur(r, 0), 0);
	raw_close(r);
	others_are_served(row);
}
END_TEST

static bool fill(void)
{
	struct raw *r = raw_open(d, .target = IQN);
	size_t i;
	bool ok;

	for (i = 0; i < sizeof(pattern); i++)
		pattern[i] = (uint8_t)(i * 2654435761u >> 24);
	ok = r && !r->login_status && !raw_settle(r, 0) &&
	     !raw_write(r, 0, 0, pattern, 64);
	raw_close(r);
	return ok;
}

int main(void)
{
	TCase *tc = tcase_create("bad lists");

	d = daemon_start(NULL);
	if (!d || adm_target(d, IQN) ||
	    adm_lun(d, IQN, 0, "vol", "--size 8M") || !fill())
		return EXIT_FAILURE;
	tcase_add_loop_test(tc, command_with, 0, ROWS);
	return func_run("bad_lists", tc);
}
