/* SPDX-License-Identifier: GPL-2.0-or-later */

/* VPD pages. */

#include <string.h>

#include "scsi/scsi_int.h"
#include "tests/lib/cdb.h"
#include "tests/lib/unit.h"

static struct rig_cmd *page(uint8_t code)
{
	struct rig_cmd *c = run_in(0, 0, cdb_inquiry(code, 1024), 1024);

	if (rig_good(c)) {
		ck_assert_int_eq(c->in[0], 0x00);
		ck_assert_int_eq(c->in[1], code);
		ck_assert_int_eq(in16(c, 2), c->nin - 4);
	}
	return c;
}

static const struct { uint8_t code; int len; } lengths[] = {
	{ 0x00, 9 }, { 0x80, 1 }, { 0x83, -1 }, { 0x86, 0x3c }, { 0x87, 4 },
	{ 0x8f, -1 }, { 0xb0, 0x3c }, { 0xb1, 0x3c }, { 0xb2, 4 },
};

START_TEST(each_page_has_the_length_it_must_have)
{
	struct rig_cmd *c = page(lengths[_i].code);

	ck_assert(rig_good(c));
	if (lengths[_i].len >= 0)
		ck_assert_int_eq(c->nin, lengths[_i].len + 4);
}
END_TEST

START_TEST(the_list_is_ascending_and_each_page_in_it_is_there)
{
	static const uint8_t want[] = { 0x00, 0x80, 0x83, 0x86, 0x87, 0x8f,
					0xb0, 0xb1, 0xb2 };

	ck_assert_mem_eq(page(0)->in + 4, want, sizeof(want));
	ck_assert(rig_sense(page(0x84), 0x5, 0x24, 0x00));
}
END_TEST

START_TEST(without_the_clone_primitive_8f_is_not_there)
{
	struct rig_cmd *c;

	lu_set_primitive(rig.lu[0], PRIM_CLONE, false);
	c = page(0);
	ck_assert_int_eq(c->nin, 4 + 8);
	ck_assert_ptr_null(memchr(c->in + 4, 0x8f, 8));
	ck_assert(rig_sense(page(0x8f), 0x5, 0x24, 0x00));
}
END_TEST

START_TEST(no_logical_unit_has_the_list_alone)
{
	struct rig_cmd *c = run_in(0, 9, cdb_inquiry(0x00, 255), 255);

	ck_assert(rig_good(c));
	ck_assert_int_eq(c->in[0], 0x7f);
	ck_assert_int_eq(c->nin, 5);
	ck_assert(rig_sense(run_in(0, 9, cdb_inquiry(0x83, 255), 255), 0x5,
			    0x24, 0x00));
}
END_TEST

/* ---- 83h --------------------------------------------------------------- */

/* The n-th designator of the page. */
static const uint8_t *designator(struct rig_cmd *c, unsigned n)
{
	unsigned at = 4;

	while (n-- && at < c->nin)
		at += 4 + c->in[at + 3];
	return at < c->nin ? c->in + at : NULL;
}

START_TEST(the_naa_designator_comes_first)
{
	struct rig_cmd *c = page(0x83);
	const uint8_t *d = designator(c, 0);

	ck_assert_int_eq(d[0], 0x01);
	ck_assert_int_eq(d[1], 0x03);
	ck_assert_int_eq(d[3], 16);
	ck_assert_mem_eq(d + 4, rig.lu[0]->config.naa, 16);
}
END_TEST

START_TEST(the_t10_id_differs_in_its_first_eight_bytes)
{
	static const uint8_t naa[16] = { 0x62, 0, 0, 0, 0, 0, 0, 0, 0x01, 0x02,
		0x03, 0x04, 0x05, 0x06, 0x07, 0x08 };
	const uint8_t *d;

	memcpy(rig.lu[0]->config.naa, naa, 16);
	d = designator(page(0x83), 1);
	ck_assert_int_eq(d[0], 0x02);
	ck_assert_int_eq(d[1], 0x01);
	ck_assert_mem_eq(d + 4, "LUND    0506070801020304", 24);
}
END_TEST

START_TEST(ports_groups_and_names_are_told)
{
	struct rig_cmd *c = page(0x83);
	const uint8_t *d = designator(c, 2);
	static const char port[] = "iqn.2026-11.test:t,t,0x0001";
	static const char target[] = "iqn.2026-11.test:t";

	ck_assert_int_eq(d[0], 0x51);
	ck_assert_int_eq(d[1], 0x94);		/* relative target port */
	ck_assert_int_eq(d[7], 1);
	d = designator(c, 3);
	ck_assert_int_eq(d[1], 0x95);		/* target port group */
	ck_assert_int_eq(d[7], 1);
	d = designator(c, 4);
	ck_assert_int_eq(d[0], 0x53);
	ck_assert_int_eq(d[1], 0x98);
	ck_assert_int_eq(d[3], sizeof(port) + (4 - sizeof(port) % 4) % 4);
	ck_assert_str_eq((const char *)d + 4, port);
	d = designator(c, 5);
	ck_assert_int_eq(d[1], 0xa8);
	ck_assert_int_eq(d[3] % 4, 0);
	ck_assert_str_eq((const char *)d + 4, target);
	ck_assert_ptr_null(designator(c, 6));
}
END_TEST

/* ---- limits ------------------------------------------------------------ */

START_TEST(block_limits_are_those_that_are_enforced)
{
	struct rig_cmd *c = page(0xb0);

	ck_assert_int_eq(c->in[4], 1);			/* WSNZ */
	ck_assert_int_eq(c->in[5], 255);
	ck_assert_int_eq(in16(c, 6), 8);
	ck_assert_int_eq(in32(c, 8), 65535);
	ck_assert_int_eq(in32(c, 12), 2048);
	ck_assert_int_eq(in32(c, 20), 1u << 20);
	ck_assert_int_eq(in32(c, 24), 256);
	ck_assert(is_pow2(in32(c, 28)) && in32(c, 28) <= 2048);
	ck_assert_int_eq(in32(c, 32), 0);
	ck_assert(in64(c, 36) && in64(c, 36) <= 65535);
}
END_TEST

START_TEST(limits_of_what_is_switched_off_are_zero)
{
	struct rig_cmd *c;

	lu_set_primitive(rig.lu[0], PRIM_ATS, false);
	lu_set_primitive(rig.lu[0], PRIM_ZERO, false);
	lu_set_primitive(rig.lu[0], PRIM_DELETE, false);
	c = page(0xb0);
	ck_assert_int_eq(c->in[5], 0);
	ck_assert_int_eq(in32(c, 20), 0);
	ck_assert_int_eq(in32(c, 24), 0);
	ck_assert_int_eq(in64(c, 36), 0);
	ck_assert_int_eq(page(0xb2)->in[5], 0);
}
END_TEST

START_TEST(provisioning_tells_of_each_way_to_unmap)
{
	struct rig_cmd *c;

	fake_caps(rig.vol[0])->unmap_zeroes = true;
	c = page(0xb2);
	ck_assert_int_eq(c->in[4], 11);		/* sets of 1 MiB */
	ck_assert_int_eq(c->in[5], 0xe4);
	ck_assert_int_eq(c->in[6], 2);
	fake_caps(rig.vol[0])->anchors = true;
	ck_assert_int_eq(page(0xb2)->in[5], 0xe6);
	fake_caps(rig.vol[0])->anchors = false;
	lu_set_primitive(rig.lu[0], PRIM_ZERO, false);
	ck_assert_int_eq(page(0xb2)->in[5], 0x84);
	fake_caps(rig.vol[0])->unmap = METHOD_NONE;
	ck_assert_int_eq(page(0xb2)->in[5], 0);
}
END_TEST

START_TEST(the_medium_does_not_rotate_unless_it_does)
{
	ck_assert_int_eq(in16(page(0xb1), 4), 1);
	fake_caps(rig.vol[0])->rotational = true;
	ck_assert_int_eq(in16(page(0xb1), 4), 0);
}
END_TEST

START_TEST(mode_pages_are_shared_by_all_nexuses)
{
	static const uint8_t want[] = { 0x3f, 0xff, 0x00, 0x00 };

	ck_assert_mem_eq(page(0x87)->in + 4, want, sizeof(want));
}
END_TEST

START_TEST(a_volatile_cache_is_told)
{
	ck_assert_int_eq(page(0x86)->in[5], 0x07);
	ck_assert_int_eq(page(0x86)->in[6], 0x00);
	volume_set_write_back(rig.vol[0], true, NULL, NULL);
	ck_assert_int_eq(page(0x86)->in[6], 0x01);
}
END_TEST

START_TEST(third_party_copy_has_its_five_descriptors)
{
	static const uint16_t types[] = { 0x0001, 0x0004, 0x0008, 0x000c,
					  0x8001 };
	static const uint8_t commands[] = { 9, 0x83, 2, 0x00, 0x1c,
					    0x84, 3, 0x00, 0x03, 0x04 };
	struct rig_cmd *c = page(0x8f);
	unsigned at = 4, i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		ck_assert_int_lt(at, c->nin);
		ck_assert_int_eq(in16(c, at), types[i]);
		ck_assert_int_eq((in16(c, at + 2) + 4) % 4, 0);
		if (types[i] == 0x0001)
			ck_assert_mem_eq(c->in + at + 4, commands,
					 sizeof(commands));
		at += 4 + in16(c, at + 2);
	}
	ck_assert_int_eq(at, c->nin);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("vital product data");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_loop_test(tc, each_page_has_the_length_it_must_have, 0, 9);
	tcase_add_test(tc,
		the_list_is_ascending_and_each_page_in_it_is_there);
	tcase_add_test(tc, without_the_clone_primitive_8f_is_not_there);
	tcase_add_test(tc, no_logical_unit_has_the_list_alone);
	tcase_add_test(tc, the_naa_designator_comes_first);
	tcase_add_test(tc, the_t10_id_differs_in_its_first_eight_bytes);
	tcase_add_test(tc, ports_groups_and_names_are_told);
	tcase_add_test(tc, block_limits_are_those_that_are_enforced);
	tcase_add_test(tc, limits_of_what_is_switched_off_are_zero);
	tcase_add_test(tc, provisioning_tells_of_each_way_to_unmap);
	tcase_add_test(tc, the_medium_does_not_rotate_unless_it_does);
	tcase_add_test(tc, mode_pages_are_shared_by_all_nexuses);
	tcase_add_test(tc, a_volatile_cache_is_told);
	tcase_add_test(tc, third_party_copy_has_its_five_descriptors);
	return unit_run("scsi_vpd", tc);
}
