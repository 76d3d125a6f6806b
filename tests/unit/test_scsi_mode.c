/* SPDX-License-Identifier: GPL-2.0-or-later */

/* MODE SENSE, MODE SELECT, LOG SENSE. */

#include <errno.h>
#include <string.h>

#include "scsi/scsi_int.h"
#include "tests/lib/cdb.h"
#include "tests/lib/unit.h"

#define CURRENT		0u
#define CHANGEABLE	1u
#define DEFAULT		2u
#define SAVED		3u
#define NO_DESCRIPTOR	0x08

static struct rig_cmd *page(unsigned pc, uint8_t code)
{
	struct cdb c = cdb_mode_sense6(pc, code, 255);

	return run_in(0, 0, cdb_with(c, 1, NO_DESCRIPTOR), 255);
}

/* Takes a page as it is, changes a byte, selects it. */
static struct rig_cmd *change(unsigned nexus, uint8_t code, unsigned at,
			      uint8_t value)
{
	struct rig_cmd *c = page(CURRENT, code);
	uint8_t list[64] = { 0 };
	uint8_t len = (uint8_t)c->nin;

	memcpy(list + 4, c->in + 4, len - 4u);
	list[4 + at] = value;
	return run_out(nexus, 0, cdb_mode_select6(len), list, len);
}

START_TEST(the_host_that_claims_the_unit_gets_its_control_page)
{
	/* 1A 08 0A 00 10 00 */
	struct cdb cdb = cdb_with(cdb_mode_sense6(CURRENT, 0x0a, 16), 1, 8);
	struct rig_cmd *c = run_in(0, 0, cdb, 16);

	ck_assert(rig_good(c));
	ck_assert_int_eq(c->nin, 16);
	ck_assert_int_eq(c->in[0], 15);
	ck_assert_int_eq(c->in[2], 0x10);	/* DPOFUA, no WP */
	ck_assert_int_eq(c->in[3], 0);
	ck_assert_int_eq(c->in[4], 0x0a);
	ck_assert_int_eq(c->in[5], 0x0a);
	ck_assert_int_eq(c->in[6], 0);		/* D_SENSE, TST */
	ck_assert_int_eq(c->in[7], 0x10);
	ck_assert_int_eq(in16(c, 12), 0xffff);
}
END_TEST

START_TEST(all_pages_come_in_order_behind_a_descriptor)
{
	struct rig_cmd *c = run_in(0, 0, cdb_mode_sense6(CURRENT, 0x3f, 255),
				   255);
	static const uint8_t codes[] = { 0x01, 0x08, 0x0a, 0x1c };
	/* subpages only where they are asked for */
	unsigned at = 12, i;

	ck_assert_int_eq(c->in[0], c->nin - 1);
	ck_assert_int_eq(c->in[3], 8);
	ck_assert_int_eq(in32(c, 4), RIG_BLOCKS);
	ck_assert_int_eq(in32(c, 8), 512);
	for (i = 0; i < sizeof(codes); i++) {
		ck_assert_int_eq(c->in[at], codes[i]);
		at += 2u + c->in[at + 1];
	}
	ck_assert_int_eq(at, c->nin);
}
END_TEST

START_TEST(mode_sense_10_has_a_long_descriptor_where_it_may)
{
	struct cdb cdb = cdb_mode_sense10(CURRENT, 0x08, 255);
	struct rig_cmd *c = run_in(0, 0, cdb, 255);

	ck_assert_int_eq(in16(c, 0), c->nin - 2);
	ck_assert_int_eq(c->in[3], 0x10);
	ck_assert_int_eq(in16(c, 6), 8);
	ck_assert_int_eq(c->in[16], 0x08);
	c = run_in(0, 0, cdb_with(cdb, 1, 0x10), 255);
	ck_assert_int_eq(c->in[4], 0x01);
	ck_assert_int_eq(in16(c, 6), 16);
	ck_assert_int_eq(in64(c, 8), RIG_BLOCKS);
	ck_assert_int_eq(in32(c, 20), 512);
}
END_TEST

START_TEST(saved_values_and_unknown_pages_are_refused)
{
	struct cdb c = cdb_mode_sense6(CURRENT, 0x0a, 255);

	ck_assert(rig_sense(page(SAVED, 0x3f), 0x5, 0x39, 0x00));
	ck_assert(rig_sense(page(CURRENT, 0x05), 0x5, 0x24, 0x00));
	ck_assert(rig_sense(run_in(0, 0, cdb_with(c, 3, 2), 255), 0x5, 0x24,
			    0x00));
	ck_assert(rig_good(run_in(0, 0, cdb_with(c, 3, 0xff), 255)));
	ck_assert(rig_sense(run_in(0, 0, cdb_with(c, 3, 0x7e), 255), 0x5, 0x24,
			    0x00));
}
END_TEST

START_TEST(subpages_come_with_a_header_of_four_bytes)
{
	struct cdb c = cdb_mode_sense6(CURRENT, 0x0a, 255);
	struct rig_cmd *r = run_in(0, 0, cdb_with(c, 3, 1), 255);

	ck_assert(rig_good(r));
	ck_assert_int_eq(r->in[12], 0x4a);
	ck_assert_int_eq(r->in[13], 0x01);
	ck_assert_int_eq(in16(r, 14), r->nin - 16);
	/* page and subpage, one after the other */
	r = run_in(0, 0, cdb_with(c, 3, 0xff), 255);
	ck_assert_int_eq(r->in[12], 0x0a);
	ck_assert_int_eq(r->in[24], 0x4a);
}
END_TEST

START_TEST(the_threshold_stands_in_its_mode_page)
{
	struct cdb c = cdb_with(cdb_mode_sense6(CURRENT, 0x1c, 255), 3, 2);
	struct rig_cmd *r = run_in(0, 0, c, 255);

	ck_assert_int_eq(r->in[12], 0x5c);
	ck_assert_int_eq(r->in[13], 0x02);
	ck_assert_int_eq(in16(r, 14), 20);
	ck_assert_int_eq(r->in[16], 0);		/* SITUA: all are told */
	ck_assert_int_eq(r->in[28], 0x01);	/* not enabled, on its way up */
	ck_assert_int_eq(r->in[29], 0x02);	/* what is used */
	fake_enter(rig.host.main);
	lu_set_threshold(rig.lu[0], 75);
	fake_run();
	r = run_in(0, 0, c, 255);
	ck_assert_int_eq(r->in[28], 0x81);
	ck_assert_int_eq(in32(r, 32), RIG_BLOCKS / 2048 * 3 / 4);
	/* the same selected again is good, another count is not */
	{
		uint8_t list[28] = { 0 };

		memcpy(list + 4, r->in + 12, 24);
		ck_assert(rig_good(run_out(0, 0, cdb_mode_select6(28), list,
					   28)));
		list[27] ^= 1;
		r = run_out(0, 0, cdb_mode_select6(28), list, 28);
		ck_assert(rig_sense(r, 0x5, 0x26, 0x00));
		ck_assert(points_at_param(r, 27));
	}
	fake_caps(rig.vol[0])->unmap = METHOD_NONE;
	ck_assert(rig_sense(run_in(0, 0, c, 255), 0x5, 0x24, 0x00));
	fake_enter(rig.host.main);
	lu_set_threshold(rig.lu[0], 0);
	fake_run();
}
END_TEST

START_TEST(what_is_changeable_is_told)
{
	ck_assert_int_eq(page(CHANGEABLE, 0x0a)->in[6], 0x04);
	ck_assert_int_eq(page(CHANGEABLE, 0x0a)->in[7], 0x06);
	ck_assert_int_eq(page(CHANGEABLE, 0x0a)->in[8], 0x38);
	ck_assert_int_eq(page(CHANGEABLE, 0x0a)->in[9], 0x40);
	ck_assert_int_eq(page(CHANGEABLE, 0x08)->in[6], 0x00);
	atomic_store(&rig.lu[0]->write_back, true);
	ck_assert_int_eq(page(CHANGEABLE, 0x08)->in[6], 0x04);
}
END_TEST

START_TEST(swp_protects_from_all_nexuses_and_tells_the_others)
{
	static const uint8_t block[512];

	ck_assert(rig_good(change(0, 0x0a, 4, 0x08)));
	ck_assert_int_eq(drain_attentions(0, 0), 0);
	ck_assert(rig_sense(run(1, 0, cdb_tur()), 0x6, 0x2a, 0x01));
	ck_assert(rig_sense(run_out(1, 0, cdb_write10(0, 1), block, 512), 0x7,
			    0x27, 0x02));
	ck_assert_int_eq(page(CURRENT, 0x0a)->in[2], 0x90);
	ck_assert_int_eq(page(CURRENT, 0x0a)->in[8], 0x08);
	ck_assert_int_eq(page(DEFAULT, 0x0a)->in[8], 0x00);
	ck_assert(rig_good(change(0, 0x0a, 4, 0)));
	fake_auto(rig.vol[0], true);
	drain_attentions(1, 0);
	ck_assert(rig_good(run_out(1, 0, cdb_write10(0, 1), block, 512)));
}
END_TEST

START_TEST(selecting_what_is_so_already_tells_nobody)
{
	ck_assert(rig_good(change(0, 0x0a, 4, 0)));
	ck_assert_int_eq(drain_attentions(1, 0), 0);
}
END_TEST

START_TEST(d_sense_is_taken)
{
	ck_assert(rig_good(change(0, 0x0a, 2, 0x04)));
	ck_assert_int_eq(run(0, 0, cdb_with(cdb_tur(), 2, 1))->scsi.sense[0],
			 0x72);
}
END_TEST

START_TEST(what_cannot_be_changed_is_5_26_00_at_its_place)
{
	struct rig_cmd *c = change(0, 0x0a, 3, 0x00);

	ck_assert(rig_sense(c, 0x5, 0x26, 0x00));
	ck_assert(points_at_param(c, 7));
	c = change(0, 0x08, 2, 0x04);		/* WCE, write-through */
	ck_assert(rig_sense(c, 0x5, 0x26, 0x00));
	ck_assert(points_at_param(c, 6));
}
END_TEST

START_TEST(wce_can_be_cleared_and_set_on_a_write_back_unit)
{

	fake_auto(rig.vol[0], true);
	lu_set_write_back(rig.lu[0], true, NULL, NULL);
	fake_run();
	drain_attentions(0, 0);
	drain_attentions(1, 0);
	ck_assert_int_eq(page(CURRENT, 0x08)->in[6], 0x04);
	ck_assert(rig_good(change(0, 0x08, 2, 0x00)));
	ck_assert(!volume_write_back(rig.vol[0]));
	ck_assert_int_eq(page(CURRENT, 0x08)->in[6], 0x00);
	ck_assert_int_eq(page(DEFAULT, 0x08)->in[6], 0x04);
	ck_assert(rig_sense(run(1, 0, cdb_tur()), 0x6, 0x2a, 0x01));
	ck_assert(rig_good(change(0, 0x08, 2, 0x04)));
	ck_assert(volume_write_back(rig.vol[0]));
}
END_TEST

START_TEST(pages_must_be_standard_and_are_never_saved)
{
	static const uint8_t list[4];

	ck_assert(rig_sense(run_out(0, 0, cdb_with(cdb_mode_select6(4), 1, 0),
				    list, 4), 0x5, 0x24, 0x00));
	ck_assert(rig_sense(run_out(0, 0, cdb_with(cdb_mode_select6(4), 1,
						   0x11), list, 4), 0x5, 0x24,
			    0x00));
	ck_assert(rig_good(run(0, 0, cdb_mode_select6(0))));
}
END_TEST

START_TEST(a_list_that_ends_too_soon_is_5_1a_00_and_changes_nothing)
{
	static const uint8_t list[16] = { 0, 0, 0, 0, 0x0a, 0x0a, 0x04, 0x10,
					  0x08, 0, 0, 0, 0xff, 0xff, 0, 0 };
	static const uint8_t lens[] = { 1, 3, 5, 6, 15 };
	uint8_t len = lens[_i];

	ck_assert(rig_sense(run_out(0, 0, cdb_mode_select6(len), list, len),
			    0x5, 0x1a, 0x00));
	/* and where the initiator sends less than it said */
	ck_assert(rig_sense(run_out(0, 0, cdb_mode_select6(16), list, len),
			    0x5, 0x1a, 0x00));
	ck_assert(!atomic_load(&rig.lu[0]->swp));
	ck_assert(rig_good(run_out(0, 0, cdb_mode_select6(16), list, 16)));
	ck_assert(atomic_load(&rig.lu[0]->swp));
}
END_TEST

START_TEST(nothing_is_applied_when_a_later_page_is_bad)
{
	static const uint8_t list[28] = { 0, 0, 0, 0, 0x0a, 0x0a, 0x00, 0x10,
		0x08, 0, 0, 0, 0xff, 0xff, 0, 0, 0x1c, 0x0a, 0xff };

	ck_assert(rig_sense(run_out(0, 0, cdb_mode_select6(28), list, 28), 0x5,
			    0x26, 0x00));
	ck_assert(!atomic_load(&rig.lu[0]->swp));
}
END_TEST

START_TEST(a_block_descriptor_may_only_say_what_is_so)
{
	uint8_t list[12] = { 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 2, 0 };

	ck_assert(rig_good(run_out(0, 0, cdb_mode_select6(12), list, 12)));
	list[10] = 0x10;
	ck_assert(rig_sense(run_out(0, 0, cdb_mode_select6(12), list, 12), 0x5,
			    0x26, 0x00));
	list[10] = 2;
	list[7] = 9;
	ck_assert(rig_sense(run_out(0, 0, cdb_mode_select6(12), list, 12), 0x5,
			    0x26, 0x00));
	list[3] = 7;
	ck_assert(rig_sense(run_out(0, 0, cdb_mode_select6(12), list, 12), 0x5,
			    0x26, 0x00));
}
END_TEST

/* ---- LOG SENSE --------------------------------------------------------- */

START_TEST(log_pages_are_those_of_the_list)
{
	static const uint8_t want[] = { 0, 0, 0, 4, 0x00, 0x0c, 0x0d, 0x2f };
	struct rig_cmd *c = run_in(0, 0, cdb_log_sense(0, 255), 255);
	unsigned i;

	ck_assert_int_eq(c->nin, sizeof(want));
	ck_assert_mem_eq(c->in, want, sizeof(want));
	for (i = 4; i < sizeof(want); i++) {
		c = run_in(0, 0, cdb_log_sense(want[i], 255), 255);
		ck_assert_int_eq(c->in[0], want[i]);
		ck_assert_int_eq(in16(c, 2), c->nin - 4);
	}
	ck_assert(rig_sense(run_in(0, 0, cdb_log_sense(0x0e, 255), 255), 0x5,
			    0x24, 0x00));
	ck_assert(rig_sense(run_in(0, 0, cdb_with(cdb_log_sense(0x0d, 255), 3,
						  1), 255), 0x5, 0x24, 0x00));
}
END_TEST

START_TEST(log_subpages_are_listed)
{
	static const uint8_t want[] = { 0x40, 0xff, 0, 10, 0x00, 0, 0x00, 0xff,
					0x0c, 0, 0x0d, 0, 0x2f, 0 };
	struct rig_cmd *c = run_in(0, 0, cdb_with(cdb_log_sense(0, 255), 3,
						  0xff), 255);

	ck_assert_int_eq(c->nin, sizeof(want));
	ck_assert_mem_eq(c->in, want, sizeof(want));
}
END_TEST

START_TEST(used_and_available_space_is_told_in_threshold_sets)
{
	struct volume_space space = {
		.allocated = 3 << 20, .fs_total = 100 << 20,
		.fs_free = 40 << 20,
	};
	static const uint8_t want[] = {
		0x0c, 0, 0, 24,
		0x00, 0x01, 0x03, 8, 0, 0, 0, 40, 2, 0, 0, 0,
		0x00, 0x02, 0x03, 8, 0, 0, 0, 3, 1, 0, 0, 0,
	};
	struct rig_cmd *c;

	fake_set_space(rig.vol[0], &space);
	c = run_in(0, 0, cdb_log_sense(0x0c, 255), 255);
	fake_run();
	ck_assert(rig_good(c));
	ck_assert_int_eq(c->nin, sizeof(want));
	ck_assert_mem_eq(c->in, want, sizeof(want));
	fake_caps(rig.vol[0])->unmap = METHOD_NONE;
	ck_assert(rig_sense(run_in(0, 0, cdb_log_sense(0x0c, 255), 255), 0x5,
			    0x24, 0x00));
}
END_TEST

START_TEST(a_parameter_pointer_leaves_the_earlier_ones_out)
{
	struct volume_space space = {
		.allocated = 3 << 20, .fs_total = 100 << 20,
		.fs_free = 40 << 20,
	};
	struct cdb c = cdb_log_sense(0x0c, 255);
	struct rig_cmd *r;

	fake_set_space(rig.vol[0], &space);
	r = run_in(0, 0, cdb_with(c, 6, 1), 255);
	fake_run();
	ck_assert_int_eq(r->nin, 4 + 24);
	r = run_in(0, 0, cdb_with(c, 6, 2), 255);
	fake_run();
	ck_assert_int_eq(r->nin, 4 + 12);
	ck_assert_int_eq(in16(r, 2), 12);
	ck_assert_int_eq(in16(r, 4), 0x0002);
	r = run_in(0, 0, cdb_with(c, 6, 3), 255);
	ck_assert(rig_sense(r, 0x5, 0x24, 0x00));
	ck_assert(points_at(r, 5, 7));
	r = run_in(0, 0, cdb_with(cdb_log_sense(0, 255), 5, 1), 255);
	ck_assert(rig_sense(r, 0x5, 0x24, 0x00));
}
END_TEST

START_TEST(log_select_sets_nothing)
{
	struct cdb c = cdb_log_sense(0, 0);
	static const uint8_t list[4] = { 0x2f };

	c.b[0] = 0x4c;
	ck_assert(rig_good(run(0, 0, c)));
	ck_assert(rig_good(run(0, 0, cdb_with(c, 1, 0x02))));
	ck_assert(rig_sense(run(0, 0, cdb_with(c, 1, 0x01)), 0x5, 0x24, 0x00));
	ck_assert(rig_sense(run_out(0, 0, cdb_with(c, 8, 4), list, 4), 0x5,
			    0x26, 0x00));
}
END_TEST

START_TEST(a_threshold_that_is_crossed_again_is_told_again)
{
	struct lu_stats stats;
	struct volume_space low = { .allocated = 512 };
	struct volume_space high = { .allocated = RIG_BLOCKS * 512 };
	int i;

	fake_enter(rig.host.main);
	lu_set_threshold(rig.lu[0], 80);
	fake_run();
	drain_attentions(0, 0);
	for (i = 0; i < 2; i++) {
		fake_set_space(rig.vol[0], &high);
		fake_advance(10000);
		ck_assert_int_eq(drain_attentions(0, 0), 1);
		fake_set_space(rig.vol[0], &low);
		fake_advance(10000);
		ck_assert_int_eq(drain_attentions(0, 0), 0);
	}
	lu_get_stats(rig.lu[0], &stats);
	ck_assert_uint_eq(stats.counter[LU_THRESHOLDS], 2);
	lu_set_threshold(rig.lu[0], 0);
	fake_run();
}
END_TEST

START_TEST(a_soft_threshold_is_told_once_and_stands_in_the_log)
{
	struct volume_space space = { .allocated = RIG_BLOCKS * 512 / 2 };

	fake_set_space(rig.vol[0], &space);
	fake_enter(rig.host.main);
	lu_set_threshold(rig.lu[0], 80);
	fake_run();
	ck_assert_int_eq(drain_attentions(0, 0), 0);
	space.allocated = RIG_BLOCKS * 512 / 10 * 8 + 512;
	fake_set_space(rig.vol[0], &space);
	fake_advance(10000);
	ck_assert(rig_sense(run(0, 0, cdb_tur()), 0x6, 0x38, 0x07));
	fake_advance(20000);
	ck_assert_int_eq(drain_attentions(0, 0), 0);
	ck_assert_int_eq(drain_attentions(1, 0), 1);
	ck_assert_int_eq(run_in(0, 0, cdb_log_sense(0x2f, 255), 255)->in[8],
			 0x38);
	lu_set_threshold(rig.lu[0], 0);
	fake_run();
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("mode and log pages");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_test(tc,
		the_host_that_claims_the_unit_gets_its_control_page);
	tcase_add_test(tc, all_pages_come_in_order_behind_a_descriptor);
	tcase_add_test(tc, mode_sense_10_has_a_long_descriptor_where_it_may);
	tcase_add_test(tc, saved_values_and_unknown_pages_are_refused);
	tcase_add_test(tc, what_is_changeable_is_told);
	tcase_add_test(tc, swp_protects_from_all_nexuses_and_tells_the_others);
	tcase_add_test(tc, selecting_what_is_so_already_tells_nobody);
	tcase_add_test(tc, d_sense_is_taken);
	tcase_add_test(tc, what_cannot_be_changed_is_5_26_00_at_its_place);
	tcase_add_test(tc, wce_can_be_cleared_and_set_on_a_write_back_unit);
	tcase_add_test(tc, pages_must_be_standard_and_are_never_saved);
	tcase_add_loop_test(tc,
		a_list_that_ends_too_soon_is_5_1a_00_and_changes_nothing, 0, 5);
	tcase_add_test(tc, nothing_is_applied_when_a_later_page_is_bad);
	tcase_add_test(tc, a_block_descriptor_may_only_say_what_is_so);
	tcase_add_test(tc, subpages_come_with_a_header_of_four_bytes);
	tcase_add_test(tc, the_threshold_stands_in_its_mode_page);
	tcase_add_test(tc, log_pages_are_those_of_the_list);
	tcase_add_test(tc, log_subpages_are_listed);
	tcase_add_test(tc, used_and_available_space_is_told_in_threshold_sets);
	tcase_add_test(tc, a_parameter_pointer_leaves_the_earlier_ones_out);
	tcase_add_test(tc, log_select_sets_nothing);
	tcase_add_test(tc, a_threshold_that_is_crossed_again_is_told_again);
	tcase_add_test(tc, a_soft_threshold_is_told_once_and_stands_in_the_log);
	return unit_run("scsi_mode", tc);
}
