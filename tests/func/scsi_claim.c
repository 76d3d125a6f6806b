/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an ESXi host asks of a new device, in its order, and each answer to the
 * byte: a field that is wrong here costs the host a primitive or the device.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/ini.h"

#define IQN	"iqn.2026-11.example.test:claim"
#define SIZE	(256u << 20)

static struct daemon *d;
static struct ini *host;
static uint8_t buf[4096];

static uint16_t get16(unsigned at)
{
	return be16_get(BE_AT(be16, buf, at));
}

static uint32_t get32(unsigned at)
{
	return be32_get(BE_AT(be32, buf, at));
}

static uint64_t get64(unsigned at)
{
	return be64_get(BE_AT(be64, buf, at));
}

/* Runs the CDB with that much room for Data-In; the bytes that came. */
static size_t ask(const char *cdb, size_t room)
{
	struct cmd c = cmd_raw(cdb, buf, room);

	memset(buf, 0xee, sizeof(buf));
	expect_good(host, 0, &c);
	return c.got;
}

static void refuse(const char *cdb, unsigned key, unsigned asc)
{
	struct cmd c = cmd_raw(cdb, buf, 64);

	expect_sense(host, 0, &c, key, asc);
}

START_TEST(the_first_test_unit_ready_tells_of_power_on_once)
{
	struct cmd c = cmd_tur();

	expect_sense(host, 0, &c, 0x6, 0x2900);
	ck_assert_uint_eq(c.sense[0], 0x70);
	expect_good(host, 0, &c);
}
END_TEST

static bool has_version(uint16_t v)
{
	unsigned at;

	for (at = 58; at < 74; at += 2) {
		if (get16(at) == v)
			return true;
	}
	return false;
}

START_TEST(inquiry_shows_a_disk_with_third_party_copy_and_alua)
{
	ck_assert_uint_eq(ask("12 00 00 00 ff 00", 255), 96);
	ck_assert_uint_eq(buf[0], 0x00);
	ck_assert_uint_eq(buf[1], 0x00);
	ck_assert_uint_eq(buf[2], 0x06);
	ck_assert_uint_eq(buf[3] & 0x0f, 2);
	ck_assert_uint_eq(buf[4], 91);
	ck_assert_uint_eq(buf[5] & 0x39, 0x18);	/* TPGS 01b, 3PC, no PROTECT */
	ck_assert_uint_eq(buf[7] & 0x02, 0x02);	/* CMDQUE */
	ck_assert(buf[8] > ' ' && buf[16] > ' ' && buf[32] > ' ');
	ck_assert(has_version(0x0960) && has_version(0x0460) &&
		  has_version(0x04c0));
	/* cut, not refused */
	ck_assert_uint_eq(ask("12 00 00 00 24 00", 36), 36);
	refuse("12 00 80 00 ff 00", 0x5, 0x2400);
}
END_TEST

START_TEST(the_list_of_vpd_pages_is_complete_and_in_order)
{
	static const uint8_t pages[] = { 0x00, 0x80, 0x83, 0x86, 0x87, 0x8f,
					 0xb0, 0xb1, 0xb2 };

	ck_assert_uint_eq(ask("12 01 00 00 ff 00", 255), 4 + sizeof(pages));
	ck_assert_uint_eq(get32(0), sizeof(pages));
	ck_assert_mem_eq(buf + 4, pages, sizeof(pages));
	refuse("12 01 b7 00 ff 00", 0x5, 0x2400);
}
END_TEST

START_TEST(the_serial_number_is_the_volumes)
{
	size_t n = ask("12 01 80 00 ff 00", 255);
	const char *serial;

	ck_assert_uint_eq(buf[1], 0x80);
	ck_assert_uint_eq(get16(2), n - 4);
	ck_assert_uint_gt(n, 4);
	adm_ok(d, "volume show vol");
	serial = json_text(d->json, "serial");
	ck_assert_uint_eq(strlen(serial), n - 4);
	ck_assert_mem_eq(buf + 4, serial, n - 4);
}
END_TEST

/* Where the designator of this association and type is, or 0. */
static unsigned designator(size_t n, unsigned association, unsigned type)
{
	unsigned at;

	for (at = 4; at + 4 <= n; at += 4u + buf[at + 3]) {
		if ((buf[at + 1] >> 4 & 3) == association &&
		    (buf[at + 1] & 15) == type)
			return at;
	}
	return 0;
}

START_TEST(the_identity_is_an_naa_designator_before_all_others)
{
	size_t n = ask("12 01 83 00 ff 00", 255);
	char hex[33];
	unsigned i;

	ck_assert_uint_eq(buf[1], 0x83);
	ck_assert_uint_eq(get16(2), n - 4);
	ck_assert_uint_eq(buf[4] & 15, 1);
	ck_assert_uint_eq(buf[5], 0x03);	/* logical unit, NAA */
	ck_assert_uint_eq(buf[7], 16);
	ck_assert_uint_eq(buf[8] >> 4, 6);
	for (i = 0; i < 16; i++)
		snprintf(hex + 2 * i, 3, "%02x", buf[8 + i]);
	adm_ok(d, "volume show vol");
	ck_assert_str_eq(json_text(d->json, "naa"), hex);
	ck_assert(designator(n, 0, 1));		/* T10 vendor id */
	ck_assert(designator(n, 1, 4));		/* relative target port */
	ck_assert(designator(n, 1, 5));		/* target port group */
	i = designator(n, 1, 8);		/* SCSI name string */
	ck_assert(i && !strncmp((char *)buf + i + 4, IQN ",t,0x",
				strlen(IQN ",t,0x")));
	ck_assert_uint_eq(buf[i + 3] % 4, 0);
}
END_TEST

START_TEST(extended_inquiry_has_its_length_at_the_right_place)
{
	ck_assert_uint_eq(ask("12 01 86 00 ff 00", 255), 64);
	ck_assert_uint_eq(buf[1], 0x86);
	ck_assert_uint_eq(get16(2), 0x3c);
	ck_assert_uint_eq(buf[5] & 0x01, 0x01);
	ck_assert_uint_eq(buf[6] & 0x01, 0);	/* no volatile cache */
}
END_TEST

static unsigned third_party(size_t n, uint16_t type)
{
	unsigned at;

	for (at = 4; at + 4 <= n; at += 4u + get16(at + 2)) {
		ck_assert_uint_eq(get16(at + 2) % 4, 0);
		if (get16(at) == type)
			return at;
	}
	return 0;
}

START_TEST(the_third_party_copy_page_has_the_five_descriptors)
{
	size_t n = ask("12 01 8f 02 00 00", 512);
	unsigned at;

	ck_assert_uint_eq(buf[1], 0x8f);
	ck_assert_uint_eq(get16(2), n - 4);
	ck_assert(third_party(n, 0x0001) && third_party(n, 0x0004) &&
		  third_party(n, 0x000c) && third_party(n, 0x8001));
	at = third_party(n, 0x0008);
	ck_assert(at && memchr(buf + at + 5, 0x02, buf[at + 4]) &&
		  memchr(buf + at + 5, 0xe4, buf[at + 4]));
}
END_TEST

START_TEST(block_limits_say_what_is_enforced)
{
	uint32_t granularity;

	ck_assert_uint_eq(ask("12 01 b0 00 ff 00", 255), 64);
	ck_assert_uint_eq(get16(2), 0x3c);
	ck_assert_uint_eq(buf[4] & 1, 1);		/* WSNZ */
	ck_assert_uint_eq(buf[5], 255);			/* COMPARE AND WRITE */
	ck_assert_uint_eq(get32(8), 65535);		/* transfer length */
	ck_assert_uint_gt(get32(12), 0);
	ck_assert_uint_ge(get32(20), 2048);		/* UNMAP blocks */
	ck_assert_uint_le(get32(20), 1048576);
	ck_assert_uint_eq(get32(24), 256);		/* descriptors */
	granularity = get32(28);
	ck_assert(granularity && granularity <= 2048 &&
		  !(granularity & (granularity - 1)));
	ck_assert_uint_eq(get32(32) & 0x7fffffff, 0);	/* alignment */
	ck_assert_uint_ge(get64(36), 16 * 2048);	/* WRITE SAME */
}
END_TEST

START_TEST(b1_and_b2_have_their_lengths_and_thin_bits)
{
	ck_assert_uint_eq(ask("12 01 b1 00 ff 00", 255), 64);
	ck_assert_uint_eq(get16(2), 0x3c);
	ck_assert_uint_eq(ask("12 01 b2 00 ff 00", 255), 8);
	ck_assert_uint_eq(get16(2), 4);
	/* LBPU, LBPWS, LBPWS10, LBPRZ 001b, ANC_SUP */
	ck_assert_uint_eq(buf[5] & 0xfe, 0xe6);
	ck_assert_uint_eq(buf[6] & 7, 2);
}
END_TEST

START_TEST(both_read_capacities_agree)
{
	ck_assert_uint_eq(ask("25 00 00 00 00 00 00 00 00 00", 8), 8);
	ck_assert_uint_eq(get32(0), SIZE / 512 - 1);
	ck_assert_uint_eq(get32(4), 512);
	ck_assert_uint_eq(ask("9e10 00 00 00 00 00 00 00 00 00 00 00 20 00 00",
			      32), 32);
	ck_assert_uint_eq(get64(0), SIZE / 512 - 1);
	ck_assert_uint_eq(get32(8), 512);
	ck_assert_uint_eq(buf[12], 0);
	ck_assert_uint_eq(buf[14] & 0xc0, 0xc0);	/* LBPME, LBPRZ */
	ck_assert_uint_eq(get16(14) & 0x3fff, 0);	/* lowest aligned */
}
END_TEST

START_TEST(the_control_page_comes_by_the_cdb_of_esxi)
{
	ck_assert_uint_eq(ask("1a 08 0a 00 10 00", 16), 16);
	ck_assert_uint_eq(buf[0], 15);
	ck_assert_uint_eq(buf[1], 0);
	ck_assert_uint_eq(buf[2], 0x10);	/* no WP, DPOFUA */
	ck_assert_uint_eq(buf[3], 0);
	ck_assert_uint_eq(buf[4] & 0x3f, 0x0a);
	ck_assert_uint_eq(buf[5], 0x0a);
	ck_assert_uint_eq(buf[6] & 0x04, 0);	/* D_SENSE */
	ck_assert_uint_eq(buf[7] & 0xf0, 0x10);
	ck_assert_uint_eq(buf[8] & 0x48, 0);	/* TAS, SWP */
}
END_TEST

START_TEST(the_caching_page_admits_no_volatile_cache)
{
	ck_assert_uint_gt(ask("1a 08 08 00 ff 00", 255), 6);
	ck_assert_uint_eq(buf[4] & 0x3f, 0x08);
	ck_assert_uint_eq(buf[6] & 0x04, 0);	/* WCE */
	ask("1a 08 48 00 ff 00", 255);		/* changeable values */
	ck_assert_uint_eq(buf[6] & 0x04, 0);
	ck_assert_uint_gt(ask("1a 08 3f 00 ff 00", 255), 30);
	refuse("1a 08 3e 00 ff 00", 0x5, 0x2400);
}
END_TEST

START_TEST(the_first_block_of_a_new_volume_reads_as_zeros)
{
	ck_assert_uint_eq(ask("28 00 00 00 00 00 00 00 01 00", 512), 512);
	ck_assert_int_eq(zero_diff(buf, 512), -1);
}
END_TEST

START_TEST(the_one_port_group_is_active_and_is_the_one_of_page_83)
{
	size_t n = ask("12 01 83 00 ff 00", 255);
	unsigned at = designator(n, 1, 5);
	uint16_t tpg = get16(at + 6), port;

	at = designator(n, 1, 4);
	port = get16(at + 6);
	n = ask("a3 0a 00 00 00 00 00 00 01 00 00 00", 256);
	ck_assert_uint_eq(get32(0), n - 4);
	ck_assert_uint_eq(n, 4 + 8 + 4);
	ck_assert_uint_eq(buf[4] & 15, 0);	/* active/optimized */
	ck_assert_uint_eq(buf[5] & 1, 1);
	ck_assert_uint_eq(get16(6), tpg);
	ck_assert_uint_eq(buf[11], 1);
	ck_assert_uint_eq(get16(14), port);
	/* with the extended header */
	n = ask("a3 2a 00 00 00 00 00 00 01 00 00 00", 256);
	ck_assert_uint_eq(n, 8 + 8 + 4);
	ck_assert_uint_eq(buf[4] & 0x70, 0x10);
}
END_TEST

START_TEST(copy_parameters_allow_what_esxi_may_send)
{
	size_t n = ask("84 03 00 00 00 00 00 00 00 00 00 00 02 00 00 00", 512);
	unsigned i;

	ck_assert_uint_eq(get32(0), n - 4);
	ck_assert_uint_eq(buf[4] & 1, 1);	/* SNLID */
	ck_assert_uint_ge(get16(8), 8);		/* CSCDs */
	ck_assert_uint_ge(get16(10), 16);	/* segments */
	ck_assert_uint_ge(get32(12), 8 * 32 + 16 * 28);
	ck_assert(get32(16) == 0 || get32(16) >= 65535 * 512u);
	ck_assert_uint_eq(get32(20), 0);	/* no inline data */
	ck_assert_uint_eq(buf[37], 9);
	ck_assert_uint_eq(n, 44u + buf[43]);
	ck_assert(memchr(buf + 44, 0x02, buf[43]));
	ck_assert(memchr(buf + 44, 0xe4, buf[43]));
	for (i = 1; i < buf[43]; i++)
		ck_assert_uint_gt(buf[44 + i], buf[43 + i]);
	/* a small allocation length is cut, not refused */
	ck_assert_uint_eq(ask("8403 00 00 00 00 00 00 00 00 00 00 00 04 00 00",
			      4), 4);
}
END_TEST

START_TEST(reserve_and_release_work_for_the_format_of_vmfs)
{
	struct ini *other = ini_open(d, .target = IQN);
	struct cmd c = cmd_raw("16 00 00 00 00 00", NULL, 0);
	struct cmd read = cmd_read(0, 1, buf, 512), tur = cmd_tur();
	struct cmd inquiry = cmd_inquiry(-1, buf, 96), cap = cmd_capacity(buf);

	ck_assert(other != NULL);
	ck_assert_int_eq(ini_settle(other, 0), 0);
	expect_good(host, 0, &c);
	ck_assert_int_eq(ini_run(other, 0, &read), 0x18);
	ck_assert_uint_eq(read.sense_len, 0);
	ck_assert_int_eq(ini_run(other, 0, &tur), 0x18);
	expect_good(other, 0, &inquiry);
	expect_good(other, 0, &cap);
	c = cmd_raw("17 00 00 00 00 00", NULL, 0);
	expect_good(other, 0, &c);		/* does nothing */
	ck_assert_int_eq(ini_run(other, 0, &read), 0x18);
	expect_good(host, 0, &c);
	expect_good(other, 0, &read);
	ini_logout(other);
}
END_TEST

START_TEST(log_pages_are_there_and_others_are_refused)
{
	size_t n = ask("4d 00 40 00 00 00 00 00 ff 00", 255);

	ck_assert_uint_eq(buf[0] & 0x3f, 0);
	ck_assert_uint_eq(get16(2), n - 4);
	ck_assert(memchr(buf + 4, 0x0d, n - 4) && memchr(buf + 4, 0x2f, n - 4));
	ck_assert_uint_gt(ask("4d 00 4d 00 00 00 00 00 ff 00", 255), 4);
	ck_assert_uint_eq(buf[0] & 0x3f, 0x0d);
	ck_assert_uint_gt(ask("4d 00 6f 00 00 00 00 00 ff 00", 255), 4);
	ck_assert_uint_eq(buf[0] & 0x3f, 0x2f);
	refuse("4d 00 7e 00 00 00 00 00 ff 00", 0x5, 0x2400);
}
END_TEST

START_TEST(what_is_not_there_is_refused_by_its_opcode)
{
	refuse("85 08 0e 00 00 00 01 00 00 00 00 00 00 00 ec 00", 0x5, 0x2000);
	refuse("c1 00 00 00 00 00", 0x5, 0x2000);
	refuse("9e 1f 00 00 00 00 00 00 00 00 00 00 00 40 00 00", 0x5, 0x2400);
}
END_TEST

START_TEST(report_luns_takes_every_select_report)
{
	ck_assert_uint_eq(ask("a0 00 00 00 00 00 00 00 01 00 00 00", 256), 16);
	ck_assert_uint_eq(get32(0), 8);
	ck_assert_uint_eq(get64(8), 0);
	ck_assert_uint_eq(ask("a0 00 02 00 00 00 00 00 01 00 00 00", 256), 16);
	ck_assert_uint_eq(ask("a0 00 11 00 00 00 00 00 01 00 00 00", 256), 16);
	ck_assert_uint_eq(ask("a0 00 01 00 00 00 00 00 01 00 00 00", 256), 8);
	ck_assert_uint_eq(get32(0), 0);
	refuse("a0 00 33 00 00 00 00 00 01 00 00 00", 0x5, 0x2400);
}
END_TEST

START_TEST(a_lun_that_is_not_there_says_so)
{
	struct cmd c = cmd_inquiry(-1, buf, 96);

	expect_good(host, 9, &c);
	ck_assert_uint_eq(buf[0], 0x7f);
	c = cmd_tur();
	expect_sense(host, 9, &c, 0x5, 0x2500);
}
END_TEST

START_TEST(supported_operation_codes_give_usage_masks)
{
	ask("a3 0c 01 89 00 00 00 00 00 40 00 00", 64);
	ck_assert_uint_eq(buf[1] & 7, 3);
	ck_assert_uint_eq(get16(2), 16);
	ck_assert_uint_eq(buf[4], 0x89);
	ck_assert_uint_eq(buf[5] & 0x18, 0x18);		/* DPO, FUA */
	ck_assert_uint_eq(buf[17], 0xff);
	ask("a3 0c 01 c1 00 00 00 00 00 40 00 00", 64);
	ck_assert_uint_eq(buf[1] & 7, 1);
	ask("a3 0d 00 00 00 00 00 00 00 40 00 00", 64);
	ck_assert_uint_eq(buf[0] & 0x80, 0x80);		/* ABORT TASK */
}
END_TEST

START_TEST(a_command_without_data_ignores_room_for_data)
{
	struct cmd c = cmd_tur();

	c.in = buf;
	c.in_len = 512;
	expect_good(host, 0, &c);
	ck_assert_int_eq(c.residual, 512);
}
END_TEST

START_TEST(identity_and_port_are_the_same_after_a_restart)
{
	size_t n = ask("12 01 83 00 ff 00", 255);
	uint8_t before[255];

	memcpy(before, buf, n);
	ini_logout(host);
	ck_assert_int_eq(daemon_restart(d), 0);
	host = ini_open(d, .target = IQN);
	ck_assert_msg(host != NULL, "%s", ini_error());
	ck_assert_int_eq(ini_settle(host, 0), 0);
	ck_assert_uint_eq(ask("12 01 83 00 ff 00", 255), n);
	ck_assert_mem_eq(buf, before, n);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("claim");

	d = daemon_start(NULL);
	if (!d || adm_target(d, IQN) ||
	    adm_lun(d, IQN, 0, "vol", "--size 256M"))
		return EXIT_FAILURE;
	host = ini_open(d, .target = IQN);
	if (!host)
		return EXIT_FAILURE;
	ini_keep(host);
	tcase_add_test(tc, the_first_test_unit_ready_tells_of_power_on_once);
	tcase_add_test(tc, inquiry_shows_a_disk_with_third_party_copy_and_alua);
	tcase_add_test(tc, the_list_of_vpd_pages_is_complete_and_in_order);
	tcase_add_test(tc, the_serial_number_is_the_volumes);
	tcase_add_test(tc, the_identity_is_an_naa_designator_before_all_others);
	tcase_add_test(tc, extended_inquiry_has_its_length_at_the_right_place);
	tcase_add_test(tc, the_third_party_copy_page_has_the_five_descriptors);
	tcase_add_test(tc, block_limits_say_what_is_enforced);
	tcase_add_test(tc, b1_and_b2_have_their_lengths_and_thin_bits);
	tcase_add_test(tc, both_read_capacities_agree);
	tcase_add_test(tc, the_control_page_comes_by_the_cdb_of_esxi);
	tcase_add_test(tc, the_caching_page_admits_no_volatile_cache);
	tcase_add_test(tc, the_first_block_of_a_new_volume_reads_as_zeros);
	tcase_add_test(tc,
		the_one_port_group_is_active_and_is_the_one_of_page_83);
	tcase_add_test(tc, copy_parameters_allow_what_esxi_may_send);
	tcase_add_test(tc, reserve_and_release_work_for_the_format_of_vmfs);
	tcase_add_test(tc, log_pages_are_there_and_others_are_refused);
	tcase_add_test(tc, what_is_not_there_is_refused_by_its_opcode);
	tcase_add_test(tc, report_luns_takes_every_select_report);
	tcase_add_test(tc, a_lun_that_is_not_there_says_so);
	tcase_add_test(tc, supported_operation_codes_give_usage_masks);
	tcase_add_test(tc, a_command_without_data_ignores_room_for_data);
	tcase_add_test(tc, identity_and_port_are_the_same_after_a_restart);
	return func_run("scsi_claim", tc);
}
