/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Persistent reservations: what PERSISTENT RESERVE IN answers to the byte, and
 * parameter lists of PERSISTENT RESERVE OUT that lie; nothing may come of them.
 */

#include <stdio.h>

#include "scsi/scsi_int.h"
#include "tests/lib/pr.h"
#include "tests/lib/unit.h"

#define INITIATOR "iqn.2026-11.test:i"
#define ISID_0	"000000000000"
#define ISID_1	"000000000001"

/* ---- answers ------------------------------------------------------------- */

START_TEST(read_keys_tells_the_whole_length_whatever_is_cut)
{
	static const uint8_t want[] = {
		0, 0, 0, 2, 0, 0, 0, 16,
		0, 0, 0, 0, 0, 0, 0, 0x0a, 0, 0, 0, 0, 0, 0, 0, 0x0b,
	};
	struct rig_cmd *c;

	pr_register(0, 0xa);
	pr_register(1, 0xb);
	c = pr_in(0, KEYS, 255);
	ck_assert(rig_good(c) && c->nin == sizeof(want));
	ck_assert_mem_eq(c->in, want, sizeof(want));
	c = pr_in(0, KEYS, 10);
	ck_assert(rig_good(c) && c->nin == 10);
	ck_assert_mem_eq(c->in, want, 10);
	c = pr_in(0, KEYS, 0);
	ck_assert(rig_good(c) && c->nin == 0);
}
END_TEST

START_TEST(read_reservation_to_the_byte)
{
	static const uint8_t none[] = { 0, 0, 0, 1, 0, 0, 0, 0 };
	static const uint8_t held[] = {
		0, 0, 0, 1, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0x0a,
		0, 0, 0, 0, 0, 0x06, 0, 0,
	};
	struct rig_cmd *c;

	pr_register(0, 0xa);
	c = pr_in(1, RESERVATION, 255);
	ck_assert(c->nin == sizeof(none));
	ck_assert_mem_eq(c->in, none, sizeof(none));
	pr_reserve(0, 0xa, EA_RO);
	c = pr_in(1, RESERVATION, 255);
	ck_assert(c->nin == sizeof(held));
	ck_assert_mem_eq(c->in, held, sizeof(held));
}
END_TEST

START_TEST(report_capabilities_to_the_byte)
{
	/* the rig keeps nothing through power loss */
	static const uint8_t want[] = { 0, 8, 0x1c, 0x90, 0xea, 0x01, 0, 0 };
	struct rig_cmd *c = pr_in(0, CAPABILITIES, 255);

	ck_assert(rig_good(c) && c->nin == sizeof(want));
	ck_assert_mem_eq(c->in, want, sizeof(want));
}
END_TEST

START_TEST(read_full_status_to_the_byte)
{
	uint8_t id[64];
	uint32_t n = pr_transport_id(id, INITIATOR, ISID_1);
	struct rig_cmd *c;

	pr_register(0, 0xa);
	pr_register(1, 0xb);
	pr_reserve(1, 0xb, WE);
	c = pr_in(0, FULL_STATUS, 1024);
	ck_assert(rig_good(c));
	ck_assert_uint_eq(in32(c, 4), 2 * (24 + n));
	ck_assert_uint_eq(c->nin, 8 + 2 * (24 + n));
	/* the first one holds nothing: no scope and type */
	ck_assert_uint_eq(in64(c, 8), 0xa);
	ck_assert(c->in[20] == 0 && c->in[21] == 0);
	ck_assert_uint_eq(in64(c, 32 + n), 0xb);
	ck_assert(c->in[44 + n] == 0x01 && c->in[45 + n] == WE);
	ck_assert_uint_eq(in16(c, 50 + n), 1);
	ck_assert_uint_eq(in32(c, 52 + n), n);
	ck_assert_mem_eq(c->in + 56 + n, id, n);
}
END_TEST

/* ---- lists that lie ------------------------------------------------------ */

static bool nothing_came_of_it(void)
{
	return !pr_keys() && !pr_generation() && !pr_type();
}

START_TEST(unknown_service_actions_are_refused)
{
	unsigned sa;

	for (sa = 4; sa < 0x20; sa++)
		ck_assert(points_at(pr_in(0, (uint8_t)sa, 8), 1, 4));
	for (sa = 8; sa < 0x20; sa++)
		ck_assert(points_at(pr_out(0, (uint8_t)sa, 0, 0, 0xa), 1, 4));
	ck_assert(nothing_came_of_it());
}
END_TEST

START_TEST(reserved_bits_of_the_cdb_are_refused)
{
	struct pr_list l = pr_list(0, 0xa, 0);
	struct cdb c = cdb_pr_out(REGISTER, 0, sizeof(l));

	ck_assert(points_at(run_out(0, 0, cdb_with(c, 1, 0x20), l.b, 24), 1,
			    5));
	ck_assert(points_at(run_out(0, 0, cdb_with(c, 3, 0x80), l.b, 24), 3,
			    7));
	ck_assert(points_at(run_in(0, 0, cdb_with(cdb_pr_in(KEYS, 8), 6, 1),
				   8), 6, 0));
	ck_assert(nothing_came_of_it());
}
END_TEST

START_TEST(reserved_bits_of_the_list_are_refused)
{
	struct pr_list l = pr_list(0, 0xa, 0);
	unsigned bit;

	for (bit = 1; bit < 8; bit++) {
		if (bit == 2 || bit == 3)
			continue;
		l.b[20] = (uint8_t)(1u << bit);
		ck_assert(points_at_param(pr_out_list(0, REGISTER, l, NULL, 0),
					  20));
	}
	l.b[20] = 0;
	l.b[21] = 1;
	ck_assert(points_at_param(pr_out_list(0, REGISTER, l, NULL, 0), 21));
	ck_assert(nothing_came_of_it());
	/* obsolete ones are not looked at */
	l.b[21] = 0;
	l.b[16] = l.b[19] = l.b[22] = l.b[23] = 0xff;
	ck_assert(rig_good(pr_out_list(0, REGISTER, l, NULL, 0)));
}
END_TEST

static bool length_error(const struct rig_cmd *c)
{
	return rig_sense(c, 0x5, 0x1a, 0x00);
}

START_TEST(any_other_length_than_24_is_refused)
{
	static const uint32_t lengths[] = { 0, 1, 8, 20, 23, 25, 28, 48, 4096,
					    70000 };
	static uint8_t data[70000];
	struct pr_list l = pr_list(0, 0xa, 0);
	unsigned i;

	memcpy(data, l.b, sizeof(l));
	for (i = 0; i < ARRAY_SIZE(lengths); i++)
		ck_assert(length_error(
			run_out(0, 0, cdb_pr_out(REGISTER, 0, lengths[i]),
				data, lengths[i])));
	/* the CDB says more than there is */
	ck_assert(length_error(run_out(0, 0, cdb_pr_out(REGISTER, 0, 24),
				       data, 20)));
	ck_assert(length_error(run_out(0, 0, cdb_pr_out(REGISTER, 0, 0xffff),
				       data, 24)));
	ck_assert(nothing_came_of_it());
}
END_TEST

START_TEST(aptpl_is_refused_where_nothing_can_be_kept)
{
	ck_assert(points_at_param(
		pr_out_list(0, REGISTER, pr_list(0, 0xa, APTPL), NULL, 0),
		20));
	ck_assert(nothing_came_of_it());
}
END_TEST

/* ---- TransportIDs -------------------------------------------------------- */

/* REGISTER with SPEC_I_PT and the list of TransportIDs of n bytes, which says
 * that it has len. */
static struct rig_cmd *spec(const uint8_t *ids, uint32_t n, uint32_t len)
{
	static uint8_t more[8192];
	be32 v = be32_of(len);

	memcpy(more, &v, sizeof(v));
	memcpy(more + 4, ids, n);
	return pr_out_list(0, REGISTER, pr_list(0, 0xa, SPEC_I_PT), more,
			   4 + n);
}

START_TEST(spec_i_pt_registers_the_others_as_well)
{
	uint8_t ids[256];
	uint32_t n = pr_transport_id(ids, INITIATOR, ISID_1);

	n += pr_transport_id(ids + n, "iqn.2026-11.test:far", "0123456789aB");
	/* once more, and the one that asks */
	n += pr_transport_id(ids + n, INITIATOR, ISID_1);
	n += pr_transport_id(ids + n, INITIATOR, ISID_0);
	ck_assert(rig_good(spec(ids, n, n)));
	ck_assert_uint_eq(pr_keys(), 3);
	ck_assert_uint_eq(pr_generation(), 1);
	ck_assert(rig_good(pr_out(1, RESERVE, WE, 0xa, 0)));
}
END_TEST

START_TEST(a_name_alone_registers_the_ports_that_are_there)
{
	uint8_t ids[64];
	uint32_t n = pr_transport_id(ids, INITIATOR, NULL);

	ck_assert(rig_good(spec(ids, n, n)));
	ck_assert_uint_eq(pr_keys(), 2);
}
END_TEST

START_TEST(a_name_that_nobody_has_is_refused)
{
	uint8_t ids[64];
	uint32_t n = pr_transport_id(ids, "iqn.2026-11.test:none", NULL);

	ck_assert(points_at_param(spec(ids, n, n), 28));
	ck_assert(nothing_came_of_it());
}
END_TEST

START_TEST(spec_i_pt_of_one_who_is_registered_conflicts_whole)
{
	uint8_t ids[256];
	uint32_t n = pr_transport_id(ids, "iqn.2026-11.test:far", ISID_0);

	n += pr_transport_id(ids + n, INITIATOR, ISID_1);
	pr_register(1, 0xb);
	ck_assert(pr_conflicts(spec(ids, n, n)));
	ck_assert(pr_keys() == 1 && pr_has(0xb));
}
END_TEST

START_TEST(spec_i_pt_is_for_a_first_register)
{
	uint8_t more[128] = { 0 };
	uint32_t n = pr_transport_id(more + 4, INITIATOR, ISID_1);

	more[3] = (uint8_t)n;
	ck_assert(points_at_param(
		pr_out_list(0, REGISTER_IGNORE, pr_list(0, 0xa, SPEC_I_PT),
			    more, 4 + n), 20));
	pr_register(0, 0xa);
	ck_assert(points_at_param(
		pr_out_list(0, REGISTER, pr_list(0xa, 0xb, SPEC_I_PT), more,
			    4 + n), 20));
	ck_assert(pr_keys() == 1 && pr_has(0xa));
}
END_TEST

/* A good TransportID first: it must not be registered by itself. */
static struct rig_cmd *second(const uint8_t *bad, uint32_t n)
{
	uint8_t ids[1024];
	uint32_t first = pr_transport_id(ids, INITIATOR, ISID_1);

	memcpy(ids + first, bad, n);
	return spec(ids, first + n, first + n);
}

START_TEST(transport_ids_that_are_wrong_are_refused_and_none_registers)
{
	uint8_t good[64], first[64], id[64];
	uint32_t n = pr_transport_id(good, INITIATOR, ISID_1);
	unsigned at = 28 + pr_transport_id(first, INITIATOR, ISID_1);
	static const struct { uint8_t byte, value, points; } wrong[] = {
		{ 0, 0x46, 0 },		/* another protocol */
		{ 0, 0x85, 0 },		/* another format */
		{ 0, 0x55, 0 },		/* reserved bits */
		{ 1, 0x01, 1 },
		{ 3, 0x10, 2 },		/* shorter than the least */
		{ 3, 0x27, 2 },		/* no multiple of four */
		{ 2, 0x10, 2 },		/* longer than any name */
		{ 4, 0x00, 4 },		/* no name */
		{ 23, 'x', 4 },		/* no ISID behind it */
		{ 38, 'g', 4 },		/* no digit */
		{ 38, 0x00, 4 },	/* a digit missing */
	};
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		memcpy(id, good, n);
		id[wrong[i].byte] = wrong[i].value;
		ck_assert_msg(points_at_param(second(id, n),
					      at + wrong[i].points),
			      "%u: status %d", i, rig.ncmds);
	}
	ck_assert(nothing_came_of_it());
}
END_TEST

START_TEST(lists_of_transport_ids_that_lie_about_their_length_are_refused)
{
	uint8_t ids[64];
	uint32_t n = pr_transport_id(ids, INITIATOR, ISID_1);

	ck_assert(length_error(spec(ids, n, n - 4)));
	ck_assert(length_error(spec(ids, n, n + 4)));
	ck_assert(length_error(spec(ids, n, 0xfffffffc)));
	ck_assert(points_at_param(spec(ids, n, n - 1), 24));
	ck_assert(length_error(spec(ids, n - 4, n - 4)));
	ck_assert(length_error(
		pr_out_list(0, REGISTER, pr_list(0, 0xa, SPEC_I_PT), NULL,
			    0)));
	ck_assert(nothing_came_of_it());
}
END_TEST

START_TEST(without_a_null_a_name_is_refused)
{
	uint8_t id[64];

	memset(id, 'a', sizeof(id));
	id[0] = 0x05;
	id[1] = id[2] = 0;
	id[3] = 60;
	ck_assert(points_at_param(spec(id, 64, 64), 28 + 4));
	ck_assert(nothing_came_of_it());
}
END_TEST

START_TEST(too_many_in_one_list_register_nobody)
{
	static uint8_t ids[65000];
	uint32_t n = 0;
	char isid[13];
	unsigned i;
	be32 v;

	for (i = 0; i < PR_REGISTRANTS; i++) {
		snprintf(isid, sizeof(isid), "%012x", i + 0x100);
		n += pr_transport_id(ids + 4 + n, "iqn.x:y", isid);
	}
	v = be32_of(n);
	memcpy(ids, &v, sizeof(v));
	ck_assert(rig_sense(pr_out_list(0, REGISTER,
					pr_list(0, 0xa, SPEC_I_PT), ids,
					4 + n), 0x5, 0x55, 0x04));
	ck_assert(nothing_came_of_it());
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("lists");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_test(tc, read_keys_tells_the_whole_length_whatever_is_cut);
	tcase_add_test(tc, read_reservation_to_the_byte);
	tcase_add_test(tc, report_capabilities_to_the_byte);
	tcase_add_test(tc, read_full_status_to_the_byte);
	tcase_add_test(tc, unknown_service_actions_are_refused);
	tcase_add_test(tc, reserved_bits_of_the_cdb_are_refused);
	tcase_add_test(tc, reserved_bits_of_the_list_are_refused);
	tcase_add_test(tc, any_other_length_than_24_is_refused);
	tcase_add_test(tc, aptpl_is_refused_where_nothing_can_be_kept);
	tcase_add_test(tc, spec_i_pt_registers_the_others_as_well);
	tcase_add_test(tc, a_name_alone_registers_the_ports_that_are_there);
	tcase_add_test(tc, a_name_that_nobody_has_is_refused);
	tcase_add_test(tc, spec_i_pt_of_one_who_is_registered_conflicts_whole);
	tcase_add_test(tc, spec_i_pt_is_for_a_first_register);
	tcase_add_test(tc,
		transport_ids_that_are_wrong_are_refused_and_none_registers);
	tcase_add_test(tc,
		lists_of_transport_ids_that_lie_about_their_length_are_refused);
	tcase_add_test(tc, without_a_null_a_name_is_refused);
	tcase_add_test(tc, too_many_in_one_list_register_nobody);
	return unit_run("scsi_pr_list", tc);
}
