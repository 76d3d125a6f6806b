/* SPDX-License-Identifier: GPL-2.0-or-later */

/* EXTENDED COPY: lists that are refused, and RECEIVE COPY RESULTS. */

#include "scsi/scsi.h"

#include <errno.h>
#include <string.h>

#include "lib/be.h"
#include "scsi/range.h"
#include "scsi/scsi_int.h"
#include "tests/lib/rig.h"
#include "tests/lib/unit.h"
#include "tests/lib/xcopy.h"

/* A list that would copy one block within LUN 0. */
static struct rig_cmd *list(void)
{
	struct rig_cmd *c = xcopy_new(0, 0);

	xcopy_cscd(c, 0);
	xcopy_segment_add(c, 0, 0, 1, 0, 8);
	return c;
}

static bool refused(struct rig_cmd *c, unsigned asc, unsigned ascq)
{
	return rig_sense(c, KEY_ILLEGAL_REQUEST, asc, ascq) &&
	       !fake_submitted(rig.vol[0]) && !fake_submitted(rig.vol[1]);
}

/* COPY ABORTED at a byte of segment n, before anything was copied. */
static bool stopped(struct rig_cmd *c, unsigned ascs, unsigned n,
		    unsigned field)
{
	const uint8_t *s = c->scsi.sense;

	return rig_sense(c, KEY_COPY_ABORTED, ascs >> 8, ascs & 0xff) &&
	       (s[10] << 8 | s[11]) == (int)n && s[15] == 0xa0 &&
	       (s[16] << 8 | s[17]) == (int)field &&
	       !fake_submitted(rig.vol[0]) && !fake_submitted(rig.vol[1]);
}

START_TEST(no_list_is_no_error)
{
	ck_assert(rig_good(xcopy_submit_len(xcopy_new(0, 0), 0)));
}
END_TEST

START_TEST(a_list_without_segments_is_no_error)
{
	struct rig_cmd *c = xcopy_new(0, 0);

	ck_assert(rig_good(xcopy_submit(c)));
}
END_TEST

START_TEST(a_list_cut_short_anywhere_is_refused)
{
	static const uint32_t len[] = { 1, 15, 16, 47, 48, 75 };

	ck_assert(refused(xcopy_submit_len(list(), len[_i]), 0x1a, 0x00));
}
END_TEST

START_TEST(the_reserved_list_id_usage_is_refused)
{
	struct rig_cmd *c = list();

	xcopy_list_id(c, 0, 1);
	ck_assert(refused(xcopy_submit(c), 0x26, 0x00));
}
END_TEST

START_TEST(a_list_id_without_use_is_refused)
{
	struct rig_cmd *c = list();

	xcopy_list_id(c, 7, 3);
	ck_assert(refused(xcopy_submit(c), 0x26, 0x00));
}
END_TEST

START_TEST(inline_data_are_refused)
{
	struct rig_cmd *c = list();

	c->out[15] = 1;
	ck_assert(refused(xcopy_submit(c), 0x26, 0x0b));
}
END_TEST

START_TEST(more_descriptors_than_we_said_are_refused)
{
	struct rig_cmd *c = xcopy_new(0, 0);
	unsigned i;

	for (i = 0; i <= XCOPY_CSCDS; i++)
		xcopy_cscd(c, 0);
	xcopy_segment_add(c, 0, 0, 1, 0, 8);
	ck_assert(refused(xcopy_submit(c), 0x26, 0x06));

	c = xcopy_new(0, 0);
	xcopy_cscd(c, 0);
	for (i = 0; i <= XCOPY_SEGMENTS; i++)
		xcopy_segment_add(c, 0, 0, 1, 0, 8);
	ck_assert(refused(xcopy_submit(c), 0x26, 0x08));
}
END_TEST

START_TEST(a_list_longer_than_we_said_is_refused_for_its_length)
{
	struct rig_cmd *c = xcopy_new(0, 0);
	unsigned i;

	for (i = 0; i <= XCOPY_CSCDS; i++)
		xcopy_cscd(c, 0);
	while (xcopy_len(c) <= XCOPY_LIST_MAX + 16)
		xcopy_segment_add(c, 0, 0, 1, 0, 8);
	ck_assert(refused(xcopy_submit(c), 0x1a, 0x00));
}
END_TEST

START_TEST(descriptors_of_other_types_are_refused)
{
	struct rig_cmd *c = list();

	c->out[XCOPY_CSCD_AT(0)] = 0xe0;
	ck_assert(refused(xcopy_submit(c), 0x26, 0x07));
	c = list();
	c->out[XCOPY_CSCD_AT(1)] = 0x03;
	ck_assert(refused(xcopy_submit(c), 0x26, 0x09));
}
END_TEST

START_TEST(a_device_that_is_no_disk_is_refused)
{
	struct rig_cmd *c = list();

	c->out[XCOPY_CSCD_AT(0) + 1] = 0x01;
	ck_assert(refused(xcopy_submit(c), 0x26, 0x00));
}
END_TEST

START_TEST(the_lu_id_type_is_ignored)
{
	struct rig_cmd *c = list();

	c->out[XCOPY_CSCD_AT(0) + 1] = 0xc0;
	fake_auto(rig.vol[0], true);
	ck_assert(rig_good(xcopy_submit(c)));
}
END_TEST

START_TEST(a_block_length_that_is_not_the_unit_s_is_refused)
{
	struct rig_cmd *c = list();

	c->out[XCOPY_CSCD_AT(0) + 30] = 0x10;
	ck_assert(refused(xcopy_submit(c), 0x26, 0x00));
}
END_TEST

START_TEST(a_descriptor_that_does_not_exist_stops_the_copy)
{
	struct rig_cmd *c = xcopy_new(0, 0);

	xcopy_cscd(c, 0);
	xcopy_segment_add(c, 0, 0, 0, 0, 8);
	xcopy_segment_add(c, (unsigned)_i, !_i, 1, 0, 8);
	ck_assert(stopped(xcopy_submit(c), 0x0000, 1, _i ? 4 : 6));
}
END_TEST

START_TEST(a_null_descriptor_cannot_be_reached)
{
	struct rig_cmd *c = list();

	c->out[XCOPY_CSCD_AT(0) + 1] = 0x20;
	ck_assert(stopped(xcopy_submit(c), 0x0d02, 0, 4));
}
END_TEST

START_TEST(a_designator_that_is_not_a_known_naa_cannot_be_reached)
{
	/* byte of the descriptor, value */
	static const uint8_t t[][2] = { { 4, 2 }, { 5, 0x02 }, { 5, 0x13 },
					{ 7, 0 }, { 7, 20 }, { 7, 255 },
					{ 8, 0x63 }, { 7, 8 } };
	struct rig_cmd *c = list();

	c->out[XCOPY_CSCD_AT(0) + t[_i][0]] = t[_i][1];
	ck_assert(stopped(xcopy_submit(c), 0x0d02, 0, 4));
}
END_TEST

START_TEST(blocks_behind_an_end_stop_the_copy)
{
	static const struct { uint64_t from, to; unsigned field; } t[] = {
		{ RIG_BLOCKS, 0, 12 }, { 0, RIG_BLOCKS, 20 },
		{ RIG_BLOCKS - 1, 0, 12 }, { 0, RIG_BLOCKS - 1, 20 },
		{ UINT64_MAX, 0, 12 }, { 0, UINT64_MAX, 20 },
		{ 1ull << 55, 0, 12 }, { 0, 1ull << 63, 20 },
	};
	struct rig_cmd *c = xcopy_new(0, 0);

	xcopy_cscd(c, 0);
	xcopy_segment_add(c, 0, 0, 2, t[_i].from, t[_i].to);
	ck_assert(stopped(xcopy_submit(c), 0x0000, 0, t[_i].field));
}
END_TEST

START_TEST(a_byte_count_that_ends_inside_a_block_stops_the_copy)
{
	struct rig_cmd *c = xcopy_new(0, 0);

	xcopy_cscd(c, 0);
	xcopy_bytes_add(c, 0, 0, _i == 0 ? 100 : 512, 0, 8,
			_i == 1 ? 1 : 0, _i == 2 ? 1 : 0);
	ck_assert(stopped(xcopy_submit(c), 0x260a, 0, 8));
}
END_TEST

START_TEST(a_segment_longer_than_we_said_stops_the_copy)
{
	struct rig_cmd *c = xcopy_new(0, 0);

	xcopy_cscd(c, 0);
	xcopy_bytes_add(c, 0, 0, XCOPY_SEGMENT_MAX + 512, 0, 8, 0, 0);
	ck_assert(stopped(xcopy_submit(c), 0x0000, 0, 8));
}
END_TEST

START_TEST(a_wrong_descriptor_in_the_last_segment_copies_nothing)
{
	struct rig_cmd *c = list();
	uint32_t last = xcopy_len(c);

	xcopy_segment_add(c, 0, 0, 1, 0, 8);
	c->out[last + (_i ? 3 : 0)] ^= 1;	/* its length, its type */
	ck_assert(refused(xcopy_submit(c), 0x26, _i ? 0x00 : 0x09));
}
END_TEST

/* ---- RECEIVE COPY RESULTS ---------------------------------------------- */

enum { STATUS = 0, PARAMS = 3, FAILED = 4 };

static struct rig_cmd *receive(unsigned nexus, uint8_t sa, uint8_t list_id,
			       uint32_t len)
{
	struct rig_cmd *c = rig_16(rig_new(nexus, 0), 0x84, 0, len);

	c->scsi.cdb[1] = sa;
	c->scsi.cdb[2] = list_id;
	rig_submit(c, len, true);
	return c;
}

static struct rig_cmd *copy(uint8_t list_id, unsigned usage)
{
	struct rig_cmd *c = list();

	xcopy_list_id(c, list_id, usage);
	return xcopy_submit(c);
}

START_TEST(operating_parameters_are_told)
{
	struct rig_cmd *c = receive(0, PARAMS, 0, 1024);

	ck_assert(rig_good(c));
	ck_assert_uint_eq(c->nin, 47);
	ck_assert_uint_eq(be32_get(BE_AT(be32, c->in, 0)), 43);
	ck_assert_uint_eq(c->in[4], 1);
	ck_assert_uint_eq(be16_get(BE_AT(be16, c->in, 8)), XCOPY_CSCDS);
	ck_assert_uint_eq(be16_get(BE_AT(be16, c->in, 10)), XCOPY_SEGMENTS);
	ck_assert_uint_eq(be32_get(BE_AT(be32, c->in, 12)), XCOPY_LIST_MAX);
	ck_assert_uint_eq(be32_get(BE_AT(be32, c->in, 16)), XCOPY_SEGMENT_MAX);
	ck_assert_uint_eq(c->in[37], 9);
	ck_assert_uint_eq(c->in[43], 3);
	ck_assert_uint_eq(c->in[44], 0x02);
	ck_assert_uint_eq(c->in[46], 0xe4);
	ck_assert_uint_eq(receive(0, PARAMS, 0, 20)->nin, 20);
}
END_TEST

START_TEST(a_copy_that_runs_and_one_that_is_done_are_told)
{
	struct rig_cmd *c = copy(5, 0), *s = receive(0, STATUS, 5, 12);

	ck_assert_uint_eq(s->nin, 12);
	ck_assert_uint_eq(be32_get(BE_AT(be32, s->in, 0)), 8);
	ck_assert_uint_eq(s->in[4], 0);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
	s = receive(0, STATUS, 5, 12);
	ck_assert(rig_good(s));
	ck_assert_uint_eq(s->in[4], 1);
	ck_assert_uint_eq(be16_get(BE_AT(be16, s->in, 5)), 1);
	/* once */
	ck_assert(rig_sense(receive(0, STATUS, 5, 12), KEY_ILLEGAL_REQUEST,
			    0x24, 0x00));
}
END_TEST

START_TEST(a_failed_copy_tells_its_details)
{
	struct rig_cmd *c = copy(5, 0), *s;

	fake_complete(rig.vol[0], -EIO);
	ck_assert(rig_sense(c, KEY_COPY_ABORTED, 0x0d, 0x01));
	s = receive(0, STATUS, 5, 12);
	ck_assert_uint_eq(s->in[4], 2);
	s = receive(0, FAILED, 5, 512);
	ck_assert(rig_good(s));
	ck_assert_uint_eq(s->in[56], STATUS_CHECK_CONDITION);
	ck_assert_uint_eq(s->in[59], c->scsi.sense_len);
	ck_assert_mem_eq(s->in + 60, c->scsi.sense, c->scsi.sense_len);
	ck_assert_uint_eq(s->nin, 60u + c->scsi.sense_len);
	ck_assert(rig_sense(receive(0, FAILED, 5, 512), KEY_ILLEGAL_REQUEST,
			    0x24, 0x00));
}
END_TEST

START_TEST(an_unknown_list_id_is_refused)
{
	ck_assert(rig_sense(receive(0, STATUS, 1, 12), KEY_ILLEGAL_REQUEST,
			    0x24, 0x00));
	ck_assert(rig_sense(receive(0, FAILED, 1, 12), KEY_ILLEGAL_REQUEST,
			    0x24, 0x00));
}
END_TEST

START_TEST(a_list_id_belongs_to_its_nexus)
{
	fake_auto(rig.vol[0], true);
	ck_assert(rig_good(copy(5, 0)));
	ck_assert(rig_sense(receive(1, STATUS, 5, 12), KEY_ILLEGAL_REQUEST,
			    0x24, 0x00));
	ck_assert(rig_good(receive(0, STATUS, 5, 12)));
}
END_TEST

START_TEST(a_list_id_that_is_active_cannot_be_used_again)
{
	struct rig_cmd *c = copy(5, (unsigned)_i), *d = copy(5, 0);

	ck_assert(rig_sense(d, KEY_ILLEGAL_REQUEST, 0x00, 0x16));
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
	d = copy(5, 0);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(d));
}
END_TEST

START_TEST(what_may_be_discarded_is_not_kept)
{
	fake_auto(rig.vol[0], true);
	ck_assert(rig_good(copy(5, 2)));
	ck_assert(rig_sense(receive(0, STATUS, 5, 12), KEY_ILLEGAL_REQUEST,
			    0x24, 0x00));
}
END_TEST

START_TEST(results_are_kept_for_a_minute)
{
	fake_auto(rig.vol[0], true);
	ck_assert(rig_good(copy(5, 0)));
	fake_advance(30000);
	ck_assert(rig_good(copy(6, 0)));
	fake_advance(30000);
	ck_assert(rig_sense(receive(0, STATUS, 5, 12), KEY_ILLEGAL_REQUEST,
			    0x24, 0x00));
	ck_assert(rig_good(receive(0, STATUS, 6, 12)));
}
END_TEST

START_TEST(the_oldest_result_makes_room)
{
	unsigned i;

	fake_auto(rig.vol[0], true);
	for (i = 0; i <= XCOPY_CONCURRENT; i++) {
		ck_assert(rig_good(copy((uint8_t)i, 0)));
		fake_advance(1);
	}
	ck_assert(rig_sense(receive(0, STATUS, 0, 12), KEY_ILLEGAL_REQUEST,
			    0x24, 0x00));
	ck_assert(rig_good(receive(0, STATUS, 1, 12)));
	ck_assert(rig_good(receive(0, STATUS, XCOPY_CONCURRENT, 12)));
}
END_TEST

START_TEST(too_many_copies_at_once_are_busy)
{
	unsigned i;
	struct rig_cmd *c;

	for (i = 0; i < XCOPY_CONCURRENT; i++)
		copy((uint8_t)i, 0);
	c = copy(200, 0);
	ck_assert_uint_eq(c->scsi.status, STATUS_BUSY);
	fake_auto(rig.vol[0], true);
	fake_run();
}
END_TEST

static void add_lists(TCase *tc)
{
	tcase_add_test(tc, no_list_is_no_error);
	tcase_add_test(tc, a_list_without_segments_is_no_error);
	tcase_add_loop_test(tc, a_list_cut_short_anywhere_is_refused, 0, 6);
	tcase_add_test(tc, the_reserved_list_id_usage_is_refused);
	tcase_add_test(tc, a_list_id_without_use_is_refused);
	tcase_add_test(tc, inline_data_are_refused);
	tcase_add_test(tc, more_descriptors_than_we_said_are_refused);
	tcase_add_test(tc,
		a_list_longer_than_we_said_is_refused_for_its_length);
	tcase_add_test(tc, descriptors_of_other_types_are_refused);
	tcase_add_test(tc, a_device_that_is_no_disk_is_refused);
	tcase_add_test(tc, the_lu_id_type_is_ignored);
	tcase_add_test(tc, a_block_length_that_is_not_the_unit_s_is_refused);
	tcase_add_loop_test(tc,
		a_descriptor_that_does_not_exist_stops_the_copy, 0, 2);
	tcase_add_test(tc, a_null_descriptor_cannot_be_reached);
	tcase_add_loop_test(tc,
		a_designator_that_is_not_a_known_naa_cannot_be_reached, 0, 8);
	tcase_add_loop_test(tc, blocks_behind_an_end_stop_the_copy, 0, 8);
	tcase_add_loop_test(tc,
		a_byte_count_that_ends_inside_a_block_stops_the_copy, 0, 3);
	tcase_add_test(tc, a_segment_longer_than_we_said_stops_the_copy);
	tcase_add_loop_test(tc,
		a_wrong_descriptor_in_the_last_segment_copies_nothing, 0, 2);
}

int main(void)
{
	TCase *tc = tcase_create("xcopy list");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	add_lists(tc);
	tcase_add_test(tc, operating_parameters_are_told);
	tcase_add_test(tc, a_copy_that_runs_and_one_that_is_done_are_told);
	tcase_add_test(tc, a_failed_copy_tells_its_details);
	tcase_add_test(tc, an_unknown_list_id_is_refused);
	tcase_add_test(tc, a_list_id_belongs_to_its_nexus);
	tcase_add_loop_test(tc, a_list_id_that_is_active_cannot_be_used_again,
			    0, 1);
	tcase_add_loop_test(tc, a_list_id_that_is_active_cannot_be_used_again,
			    2, 3);
	tcase_add_test(tc, what_may_be_discarded_is_not_kept);
	tcase_add_test(tc, results_are_kept_for_a_minute);
	tcase_add_test(tc, the_oldest_result_makes_room);
	tcase_add_test(tc, too_many_copies_at_once_are_busy);
	return unit_run("xcopy list", tc);
}
