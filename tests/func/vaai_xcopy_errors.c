/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * EXTENDED COPY lists that are wrong, LUNs that the host may not see, and what
 * RECEIVE COPY RESULTS tells afterwards.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/copylist.h"

#define IQN	"iqn.2026-11.example.test:here"
#define HIDDEN	"iqn.2026-11.example.test:hidden"
#define END	((32u << 20) / 512)

static struct daemon *d;
static struct ini *host;
static uint8_t naa[3][16];	/* a and b at LUNs 0 and 1, hidden elsewhere */
static struct copylist l;

/* A good list with one segment, a to b. */
static void begin(void)
{
	copylist_begin(&l);
	copylist_cscd(&l, naa[0]);
	copylist_cscd(&l, naa[1]);
}

static void refused(unsigned key, unsigned asc)
{
	struct cmd c = copylist_cmd(&l);

	expect_sense(host, 0, &c, key, asc);
}

static void copy_aborted(void)
{
	struct cmd c = copylist_cmd(&l);

	ini_run(host, 0, &c);
	ck_assert_msg(c.status == 2 && sense_key(&c) == 0xa,
		      "status %d, sense %x/%04x", c.status, sense_key(&c),
		      sense_asc(&c));
}

START_TEST(an_empty_list_does_nothing)
{
	struct cmd c = cmd_raw("8300 00 00 00 00 00 00 00 00 00 00 00 00 00 00",
			       NULL, 0);

	expect_good(host, 0, &c);
	begin();
	c = copylist_cmd(&l);
	expect_good(host, 0, &c);		/* no segment */
}
END_TEST

START_TEST(a_list_that_is_cut_is_refused_for_its_length)
{
	static const size_t lengths[] = { 1, 15, 47, 79, 81, 107 };
	unsigned n;

	for (n = 0; n < sizeof(lengths) / sizeof(*lengths); n++) {
		struct cmd c;

		begin();
		copylist_segment(&l, 0, 0, 1, 0, 8);
		c = copylist_cmd(&l);
		c.cdb[12] = 0;
		c.cdb[13] = (uint8_t)lengths[n];
		c.out_len = lengths[n];
		expect_sense(host, 0, &c, 0x5, 0x1a00);
	}
}
END_TEST

START_TEST(fields_of_the_header_are_checked)
{
	begin();
	l.bytes[1] = 0x08;		/* reserved LIST ID USAGE */
	refused(0x5, 0x2600);
	begin();
	l.bytes[0] = 7;			/* usage 11b wants identifier 0 */
	refused(0x5, 0x2600);
	begin();
	copylist_segment(&l, 0, 0, 1, 0, 8);
	l.bytes[15] = 4;		/* inline data */
	refused(0x5, 0x260b);
}
END_TEST

START_TEST(more_descriptors_than_told_are_refused)
{
	unsigned n;

	copylist_begin(&l);
	for (n = 0; n < 9; n++)
		copylist_cscd(&l, naa[0]);
	refused(0x5, 0x2606);
	begin();
	for (n = 0; n < 65; n++)
		copylist_segment(&l, 0, 0, 1, 0, 8);
	refused(0x5, 0x2608);
}
END_TEST

START_TEST(other_descriptor_types_are_refused)
{
	begin();
	copylist_segment(&l, 0, 0, 1, 0, 8)[0] = 0x0b;
	refused(0x5, 0x2609);
	begin();
	l.bytes[16] = 0xe2;
	copylist_segment(&l, 0, 0, 1, 0, 8);
	refused(0x5, 0x2607);
}
END_TEST

START_TEST(a_designator_that_nobody_has_is_not_reachable)
{
	begin();
	l.bytes[16 + 32 + 8 + 15] ^= 0x5a;
	copylist_segment(&l, 0, 0, 1, 0, 8);
	refused(0xa, 0x0d02);
}
END_TEST

START_TEST(a_designator_of_a_wrong_length_is_no_match)
{
	begin();
	l.bytes[16 + 32 + 7] = 8;
	copylist_segment(&l, 0, 0, 1, 0, 8);
	copy_aborted();
}
END_TEST

START_TEST(a_lun_of_a_target_that_is_closed_to_the_host_is_not_reachable)
{
	copylist_begin(&l);
	copylist_cscd(&l, naa[2]);
	copylist_cscd(&l, naa[0]);
	copylist_segment(&l, 0, 0, 1, 0, 8);
	refused(0xa, 0x0d02);
	copylist_begin(&l);
	copylist_cscd(&l, naa[0]);
	copylist_cscd(&l, naa[2]);
	copylist_segment(&l, 0, 0, 1, 0, 8);
	refused(0xa, 0x0d02);
	/* the rule comes, and it works; the rule goes, and it does not */
	adm_ok(d, "acl allow %s %s", HIDDEN, HOST);
	copylist_begin(&l);
	copylist_cscd(&l, naa[2]);
	copylist_cscd(&l, naa[0]);
	copylist_segment(&l, 0, 0, 1, 0, 8);
	{
		struct cmd c = copylist_cmd(&l);

		expect_good(host, 0, &c);
	}
	adm_ok(d, "acl revoke %s %s", HIDDEN, HOST);
	refused(0xa, 0x0d02);
}
END_TEST

START_TEST(ranges_beyond_the_end_abort_the_copy)
{
	static const struct {
		uint64_t src, dst;
		uint16_t blocks;
	} bad[] = {
		{ END - 1, 0, 2 }, { 0, END - 1, 2 }, { END, 0, 1 },
		{ 0, END, 1 }, { UINT64_MAX, 0, 8 }, { 0, UINT64_MAX - 3, 8 },
	};
	unsigned n;

	for (n = 0; n < sizeof(bad) / sizeof(*bad); n++) {
		begin();
		copylist_segment(&l, 0, bad[n].src, 1, bad[n].dst,
				 bad[n].blocks);
		copy_aborted();
	}
}
END_TEST

START_TEST(an_index_without_a_descriptor_aborts_the_copy)
{
	begin();
	copylist_segment(&l, 0, 0, 2, 0, 8);
	copy_aborted();
	begin();
	copylist_segment(&l, 0xffff, 0, 1, 0, 8);
	copy_aborted();
}
END_TEST

START_TEST(the_segment_that_failed_is_told)
{
	struct cmd c;

	begin();
	copylist_segment(&l, 0, 0, 1, 0, 8);
	copylist_segment(&l, 0, 0, 1, 8, 8);
	copylist_segment(&l, 0, END, 1, 16, 8);
	c = copylist_cmd(&l);
	ini_run(host, 0, &c);
	ck_assert_uint_eq(sense_key(&c), 0xa);
	ck_assert_uint_eq(be16_get(BE_AT(be16, c.sense, 10)), 2);
}
END_TEST

START_TEST(a_read_only_lun_is_a_source_and_no_destination)
{
	struct cmd c;

	adm_ok(d, "volume set b read-only=true");
	ck_assert_int_eq(ini_settle(host, 0), 0);
	begin();
	copylist_segment(&l, 1, 0, 0, 0, 8);
	c = copylist_cmd(&l);
	expect_good(host, 0, &c);
	begin();
	copylist_segment(&l, 0, 0, 1, 0, 8);
	c = copylist_cmd(&l);
	ini_run(host, 0, &c);
	ck_assert_int_eq(c.status, 2);
	ck_assert(sense_key(&c) == 0x7 || sense_key(&c) == 0xa);
	adm_ok(d, "volume set b read-only=false");
	ck_assert_int_eq(ini_settle(host, 1), 0);
}
END_TEST

START_TEST(the_status_of_a_copy_can_be_asked_for_by_its_list_identifier)
{
	uint8_t data[256];
	struct cmd c;

	begin();
	l.bytes[0] = 5;
	l.bytes[1] = 0x00;		/* usage 00b: keep the status */
	copylist_segment(&l, 0, 0, 1, 0, 8);
	c = copylist_cmd(&l);
	expect_good(host, 0, &c);
	c = cmd_raw("84 00 05 00 00 00 00 00 00 00 00 00 01 00 00 00", data,
		    sizeof(data));
	expect_good(host, 0, &c);
	ck_assert_uint_eq(c.got, 12);
	ck_assert_uint_eq(be32_get(BE_AT(be32, data, 0)), 8);
	ck_assert_uint_eq(data[4] & 0x7f, 1);
	ck_assert_uint_eq(be16_get(BE_AT(be16, data, 5)), 1);
	c = cmd_raw("84 00 63 00 00 00 00 00 00 00 00 00 01 00 00 00", data,
		    sizeof(data));
	expect_sense(host, 0, &c, 0x5, 0x2400);
}
END_TEST

START_TEST(other_service_actions_are_refused)
{
	struct cmd c = cmd_raw("8301 00 00 00 00 00 00 00 00 00 00 00 00 00 00",
			       NULL, 0);

	expect_sense(host, 0, &c, 0x5, 0x2400);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("xcopy errors");

	d = daemon_start(NULL);
	if (!d || adm_target(d, IQN) || adm(d, "target create %s", HIDDEN) ||
	    adm_lun(d, IQN, 0, "a", "--size 32M") ||
	    adm_lun(d, IQN, 1, "b", "--size 32M") ||
	    adm_lun(d, HIDDEN, 0, "hidden", "--size 32M") ||
	    volume_naa(d, "a", naa[0]) || volume_naa(d, "b", naa[1]) ||
	    volume_naa(d, "hidden", naa[2]))
		return EXIT_FAILURE;
	host = ini_open(d, .target = IQN);
	if (!host || ini_settle(host, 0) || ini_settle(host, 1))
		return EXIT_FAILURE;
	ini_keep(host);
	tcase_add_test(tc, an_empty_list_does_nothing);
	tcase_add_test(tc, a_list_that_is_cut_is_refused_for_its_length);
	tcase_add_test(tc, fields_of_the_header_are_checked);
	tcase_add_test(tc, more_descriptors_than_told_are_refused);
	tcase_add_test(tc, other_descriptor_types_are_refused);
	tcase_add_test(tc, a_designator_that_nobody_has_is_not_reachable);
	tcase_add_test(tc, a_designator_of_a_wrong_length_is_no_match);
	tcase_add_test(tc,
		a_lun_of_a_target_that_is_closed_to_the_host_is_not_reachable);
	tcase_add_test(tc, ranges_beyond_the_end_abort_the_copy);
	tcase_add_test(tc, an_index_without_a_descriptor_aborts_the_copy);
	tcase_add_test(tc, the_segment_that_failed_is_told);
	tcase_add_test(tc, a_read_only_lun_is_a_source_and_no_destination);
	tcase_add_test(tc,
		the_status_of_a_copy_can_be_asked_for_by_its_list_identifier);
	tcase_add_test(tc, other_service_actions_are_refused);
	return func_run("vaai_xcopy_errors", tc);
}
