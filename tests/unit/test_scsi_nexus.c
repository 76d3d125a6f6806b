/* SPDX-License-Identifier: GPL-2.0-or-later */

/* LUN maps, the loss of a nexus, succession, moving to another worker. */

#include <errno.h>
#include <string.h>

#include "scsi/scsi_int.h"
#include "tests/lib/cdb.h"
#include "tests/lib/unit.h"

static void set_flag(void *arg)
{
	*(bool *)arg = true;
}

static void enter(unsigned nexus)
{
	fake_enter(rig.nexus[nexus]->engine);
}

static struct rig_cmd *start_read(unsigned nexus, unsigned lun)
{
	struct rig_cmd *c = cdb_new(nexus, lun, cdb_read10(0, 1));

	rig_submit(c, 512, true);
	return c;
}

static void end_one(void)
{
	fake_complete(rig.vol[0], 0);
	fake_run();
}

START_TEST(a_new_mapping_starts_with_a_unit_attention_of_its_own)
{
	enter(0);
	ck_assert(!nexus_map(rig.nexus[0], 5, rig.lu[0], false, false));
	ck_assert(rig_sense(run(0, 5, cdb_tur()), 0x6, 0x29, 0x00));
	ck_assert(rig_good(run(0, 5, cdb_tur())));
	ck_assert_int_eq(drain_attentions(0, 0), 0);
	ck_assert_int_eq(nexus_map(rig.nexus[0], 5, rig.lu[1], false, false),
			 -EEXIST);
	maps_changed();
}
END_TEST

START_TEST(an_announced_mapping_is_told_once_per_nexus)
{
	enter(0);
	nexus_map(rig.nexus[0], 5, rig.lu[0], false, true);
	ck_assert(rig_sense(run(0, 1, cdb_tur()), 0x6, 0x3f, 0x0e));
	ck_assert(rig_good(run(0, 0, cdb_tur())));
	ck_assert_int_eq(drain_attentions(1, 0), 0);
	maps_changed();
}
END_TEST

START_TEST(report_luns_takes_the_announcement_off_everywhere)
{
	enter(0);
	nexus_map(rig.nexus[0], 5, rig.lu[0], false, true);
	ck_assert(rig_good(run_in(0, 0, cdb_report_luns(0, 256), 256)));
	ck_assert(rig_good(run(0, 0, cdb_tur())));
	ck_assert(rig_good(run(0, 1, cdb_tur())));
	maps_changed();
}
END_TEST

START_TEST(a_read_only_mapping_protects_for_that_nexus_alone)
{
	static const uint8_t block[512];

	fake_auto(rig.vol[0], true);
	enter(0);
	nexus_map(rig.nexus[0], 5, rig.lu[0], true, false);
	drain_attentions(0, 5);
	ck_assert(rig_sense(run_out(0, 5, cdb_write10(0, 1), block, 512), 0x7,
			    0x27, 0x00));
	ck_assert(rig_good(run_out(0, 0, cdb_write10(0, 1), block, 512)));
	ck_assert_int_eq(run_in(0, 5, cdb_mode_sense6(0, 0x3f, 255),
				255)->in[2], 0x90);
	maps_changed();
}
END_TEST

START_TEST(unmapping_waits_for_its_commands_and_refuses_later_ones)
{
	struct rig_cmd *c = start_read(0, 0), *d = start_read(1, 0);
	bool gone = false;

	enter(0);
	ck_assert_int_eq(nexus_unmap(rig.nexus[0], 0, set_flag, &gone), 0);
	fake_run();
	ck_assert(!gone);
	ck_assert(rig_sense(run(0, 0, cdb_tur()), 0x5, 0x25, 0x00));
	end_one();
	ck_assert(gone);
	ck_assert(c->scsi.aborted && !d->scsi.aborted);
	end_one();
	enter(0);
	ck_assert_int_eq(nexus_unmap(rig.nexus[0], 0, NULL, NULL), -ENOENT);
	maps_changed();
}
END_TEST

START_TEST(unmapping_an_idle_lun_calls_back_later)
{
	bool gone = false;

	enter(0);
	nexus_unmap(rig.nexus[0], 0, set_flag, &gone);
	ck_assert(!gone);
	fake_run();
	ck_assert(gone);
	ck_assert_int_eq(rig.nexus[0]->commands, 0);
	/* the others hear of it */
	ck_assert(rig_sense(run(0, 1, cdb_tur()), 0x6, 0x3f, 0x0e));
	maps_changed();
}
END_TEST

START_TEST(a_lost_nexus_is_gone_with_its_last_command)
{
	struct rig_cmd *a, *b, *w;
	bool lost = false;

	run(0, 0, cdb_reserve6());
	a = start_read(0, 0);
	b = cdb_new(0, 0, cdb_tur());
	b->scsi.attr = ATTR_ORDERED;
	rig_submit(b, 0, true);
	w = cdb_new(0, 1, cdb_write10(0, 1));
	w->hold = true;
	rig_submit(w, 512, false);
	enter(0);
	nexus_lose(rig.nexus[0], set_flag, &lost);
	ck_assert(!lost);
	fake_run();
	ck_assert(b->done && w->done && !a->done && !lost);
	/* its reservation holds until no write of it can land any more */
	ck_assert_int_eq(run(1, 0, cdb_tur())->scsi.status,
			 STATUS_RESERVATION_CONFLICT);
	end_one();
	ck_assert(lost);
	ck_assert(rig_good(run(1, 0, cdb_tur())));
}
END_TEST

START_TEST(an_idle_nexus_is_lost_later_in_the_turn)
{
	bool lost = false;

	run(0, 0, cdb_reserve6());
	enter(0);
	nexus_lose(rig.nexus[0], set_flag, &lost);
	ck_assert(!lost);
	fake_run();
	ck_assert(lost);
	ck_assert(rig_good(run(1, 0, cdb_tur())));
}
END_TEST

START_TEST(commands_of_the_successor_wait_for_the_predecessors)
{
	struct rig_cmd *old = start_read(0, 0), *c;
	bool lost = false;

	enter(0);
	nexus_lose(rig.nexus[0], set_flag, &lost);
	enter(1);
	nexus_succeed(rig.nexus[1], nexus_id(rig.nexus[0]));
	c = start_read(1, 0);
	ck_assert(!c->done);
	ck_assert_int_eq(fake_npending(rig.vol[0]), 1);
	ck_assert(!nexus_settled(rig.nexus[1]));
	/* a unit that the predecessor did not use is free at once */
	ck_assert(rig_good(run(1, 1, cdb_tur())));
	end_one();
	ck_assert(old->done && lost);
	end_one();
	ck_assert(rig_good(c));
	ck_assert(nexus_settled(rig.nexus[1]));
	maps_changed();
}
END_TEST

START_TEST(after_five_seconds_the_successor_is_told_busy)
{
	struct rig_cmd *c, *d;

	start_read(0, 0);
	enter(0);
	nexus_lose(rig.nexus[0], NULL, NULL);
	enter(1);
	nexus_succeed(rig.nexus[1], nexus_id(rig.nexus[0]));
	c = start_read(1, 0);
	fake_advance(4999);
	ck_assert(!c->done);
	fake_advance(1);
	ck_assert_int_eq(c->scsi.status, STATUS_BUSY);
	d = run(1, 0, cdb_tur());
	ck_assert_int_eq(d->scsi.status, STATUS_BUSY);
	ck_assert_int_eq(d->scsi.sense_len, 0);
	end_one();
	ck_assert(rig_good(run(1, 0, cdb_tur())));
	maps_changed();
}
END_TEST

START_TEST(a_successor_may_be_lost_before_its_gate_opens)
{
	struct nexus_config config = { .worker = 1, .tpgt = 1, .rtpi = 1 };
	bool lost = false, unlucky = false;
	struct nexus *n;

	start_read(0, 0);
	enter(0);
	nexus_lose(rig.nexus[0], set_flag, &lost);
	enter(1);
	n = nexus_new(&rig.host, &config);
	nexus_map(n, 0, rig.lu[0], false, false);
	nexus_succeed(n, nexus_id(rig.nexus[0]));
	nexus_lose(n, set_flag, &unlucky);
	fake_run();
	ck_assert(unlucky && !lost);
	enter(1);
	nexus_free(n);
	end_one();
	ck_assert(lost);
	maps_changed();
}
END_TEST

START_TEST(a_moved_nexus_works_on_the_other_worker)
{
	fake_auto(rig.vol[0], true);
	ck_assert(nexus_settled(rig.nexus[0]));
	nexus_rehome(rig.nexus[0], 1);
	ck_assert_ptr_eq(rig.nexus[0]->engine, rig.host.worker[1]);
	ck_assert(rig_good(start_read(0, 0)));
	nexus_rehome(rig.nexus[0], 0);
}
END_TEST

START_TEST(ids_are_never_used_twice)
{
	ck_assert(nexus_id(rig.nexus[0]) && nexus_id(rig.nexus[1]));
	ck_assert(nexus_id(rig.nexus[0]) != nexus_id(rig.nexus[1]));
}
END_TEST

static const struct { uint8_t field[8]; int lun; } forms[] = {
	{ { 0x00, 0x00 }, 0 },
	{ { 0x00, 0xff }, 255 },
	{ { 0x40, 0x05 }, 5 },
	{ { 0x41, 0x00 }, 256 },
	{ { 0x7f, 0xff }, LUN_MAX },
	{ { 0x01, 0x05 }, LUN_NONE },
	{ { 0x80, 0x05 }, LUN_NONE },
	{ { 0x00, 0x05, 0x00, 0x01 }, LUN_NONE },
	{ { 0xc1, 0x01 }, LUN_REPORT_LUNS },
	{ { 0xc1, 0x02 }, LUN_NONE },
};

START_TEST(lun_fields_are_read_in_both_forms)
{
	uint8_t field[8];

	ck_assert_int_eq(lun_decode(forms[_i].field), forms[_i].lun);
	if (forms[_i].lun < 0)
		return;
	lun_encode((uint16_t)forms[_i].lun, field);
	ck_assert_int_eq(field[0] >> 6, forms[_i].lun > 255);
	ck_assert_int_eq(lun_decode(field), forms[_i].lun);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("nexuses");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_test(tc,
		a_new_mapping_starts_with_a_unit_attention_of_its_own);
	tcase_add_test(tc, an_announced_mapping_is_told_once_per_nexus);
	tcase_add_test(tc, report_luns_takes_the_announcement_off_everywhere);
	tcase_add_test(tc, a_read_only_mapping_protects_for_that_nexus_alone);
	tcase_add_test(tc,
		unmapping_waits_for_its_commands_and_refuses_later_ones);
	tcase_add_test(tc, unmapping_an_idle_lun_calls_back_later);
	tcase_add_test(tc, a_lost_nexus_is_gone_with_its_last_command);
	tcase_add_test(tc, an_idle_nexus_is_lost_later_in_the_turn);
	tcase_add_test(tc, commands_of_the_successor_wait_for_the_predecessors);
	tcase_add_test(tc, after_five_seconds_the_successor_is_told_busy);
	tcase_add_test(tc, a_successor_may_be_lost_before_its_gate_opens);
	tcase_add_test(tc, a_moved_nexus_works_on_the_other_worker);
	tcase_add_test(tc, ids_are_never_used_twice);
	tcase_add_loop_test(tc, lun_fields_are_read_in_both_forms, 0, 10);
	return unit_run("scsi_nexus", tc);
}
