/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The life of a logical unit: opened, healed, closed with its last reference;
 * which block sizes it can serve. */

#include <errno.h>
#include <string.h>

#include "scsi/scsi_int.h"
#include "tests/lib/cdb.h"
#include "tests/lib/unit.h"

#define LUN 7u

struct watched {
	struct lu	*lu;
	struct volume	*vol;
	int		 opened;	/* what opened() said; 1: not yet */
	bool		 closed;
};

static void opened(struct lu *lu, int err, void *arg)
{
	struct watched *w = arg;

	ck_assert_ptr_eq(lu, w->lu);
	w->opened = err;
}

static void closed(void *arg)
{
	*(bool *)arg = true;
}

static void make(struct watched *w, uint32_t block_size)
{
	struct lu_config config = {
		.volume = { .name = "third", .path = "third", .size = 1 << 20 },
		.block_size = block_size, .naa = { 0x63 }, .naa_len = 16,
		.primitive = { true, true, true, true },
	};
	struct lu_events events = { .opened = opened, .arg = w };

	fake_enter(rig.host.main);
	w->opened = 1;
	w->closed = false;
	w->lu = lu_new(&rig.host, &config, &events);
	w->vol = fake_volume("third");
}

static void open_and_map(struct watched *w)
{
	lu_open(w->lu);
	fake_run();
	fake_enter(rig.host.worker[0]);
	ck_assert(!nexus_map(rig.nexus[0], LUN, w->lu, false, false));
	drain_attentions(0, 0);
	run(0, LUN, cdb_tur());		/* 29/00 */
}

static void unmap_and_close(struct watched *w)
{
	fake_enter(rig.host.main);
	lu_close(w->lu, closed, &w->closed);
	fake_run();
	ck_assert(!w->closed);		/* it is mapped still */
	fake_enter(rig.host.worker[0]);
	nexus_unmap(rig.nexus[0], LUN, NULL, NULL);
	fake_run();
	ck_assert(w->closed);
	ck_assert_ptr_null(fake_volume("third"));
}

START_TEST(it_is_closed_with_its_last_reference)
{
	struct watched w;

	make(&w, 0);
	open_and_map(&w);
	ck_assert_int_eq(w.opened, 0);
	ck_assert(rig_good(run(0, LUN, cdb_tur())));
	unmap_and_close(&w);
}
END_TEST

START_TEST(one_that_was_never_opened_can_be_closed)
{
	struct watched w;

	make(&w, 0);
	lu_close(w.lu, closed, &w.closed);
	ck_assert(!w.closed);
	fake_run();
	ck_assert(w.closed);
}
END_TEST

START_TEST(a_file_that_is_absent_at_start_leaves_the_unit_listed)
{
	struct watched w;
	struct rig_cmd *c;

	make(&w, 0);
	fake_open_error(w.vol, -ENOENT);
	open_and_map(&w);
	ck_assert_int_eq(w.opened, -ENOENT);
	ck_assert(rig_sense(run(0, LUN, cdb_tur()), 0x2, 0x04, 0x01));
	c = run_in(0, LUN, cdb_inquiry(STANDARD_INQUIRY, 96), 96);
	ck_assert_int_eq(c->in[0], 0x00);
	ck_assert(rig_good(run_in(0, LUN, cdb_inquiry(0xb0, 64), 64)));
	ck_assert(rig_good(run_in(0, LUN, cdb_inquiry(0xb2, 64), 64)));
	ck_assert(rig_good(run_in(0, LUN, cdb_mode_sense6(0, 0x3f, 255), 255)));
	fake_open_error(w.vol, 0);
	fake_set_state(w.vol, VOLUME_ONLINE, 0);
	fake_run();
	ck_assert(rig_good(run(0, LUN, cdb_tur())));
	c = run_in(0, LUN, cdb_read_capacity10(), 8);
	ck_assert_int_eq(in32(c, 0), 2047);
	unmap_and_close(&w);
}
END_TEST

START_TEST(four_kilobyte_blocks_scale_everything)
{
	struct watched w;
	struct rig_cmd *c;

	make(&w, 4096);
	open_and_map(&w);
	c = run_in(0, LUN, cdb_read_capacity16(32), 32);
	ck_assert_int_eq(in64(c, 0), 255);
	ck_assert_int_eq(in32(c, 8), 4096);
	ck_assert_int_eq(c->in[13], 0);
	c = run_in(0, LUN, cdb_inquiry(0xb0, 64), 64);
	ck_assert_int_eq(in16(c, 6), 1);
	ck_assert_int_eq(in32(c, 12), 256);
	fake_auto(w.vol, true);
	c = run_in(0, LUN, cdb_read10(255, 1), 4096);
	ck_assert(rig_good(c));
	ck_assert_int_eq(c->nin, 4096);
	ck_assert(rig_sense(run_in(0, LUN, cdb_read10(256, 1), 4096), 0x5,
			    0x21, 0x00));
	unmap_and_close(&w);
}
END_TEST

START_TEST(blocks_smaller_than_the_devices_are_not_served)
{
	struct watched w;

	make(&w, 512);
	fake_caps(w.vol)->block_size = 4096;
	open_and_map(&w);
	ck_assert_int_eq(w.opened, -EINVAL);
	ck_assert(rig_sense(run(0, LUN, cdb_tur()), 0x2, 0x04, 0x01));
	unmap_and_close(&w);
}
END_TEST

START_TEST(a_read_only_device_cannot_be_made_writable)
{
	static const uint8_t block[512];
	struct watched w;

	make(&w, 0);
	fake_caps(w.vol)->read_only = true;
	open_and_map(&w);
	lu_set_read_only(w.lu, false);
	ck_assert(rig_sense(run_out(0, LUN, cdb_write10(0, 1), block, 512), 0x7,
			    0x27, 0x00));
	unmap_and_close(&w);
}
END_TEST

START_TEST(a_thick_volume_does_not_give_its_space_away)
{
	rig.lu[0]->config.volume.thick = true;
	ck_assert_int_eq(run_in(0, 0, cdb_read_capacity16(32), 32)->in[14], 0);
	ck_assert(rig_sense(run(0, 0, cdb_with(cdb_tur(), 0, 0x42)), 0x5, 0x20,
			    0x00));
}
END_TEST

static void space_told(struct lu_space *s)
{
	ck_assert_int_eq(s->work.error, 0);
	ck_assert_int_eq(s->space.allocated, 12345);
	s->lu = NULL;
}

START_TEST(space_is_fetched_on_a_blocking_thread)
{
	struct volume_space space = { .allocated = 12345 };
	struct lu_space s = { .done = space_told };

	fake_set_space(rig.vol[0], &space);
	fake_enter(rig.host.main);
	lu_get_space(rig.lu[0], &s);
	ck_assert_ptr_nonnull(s.lu);
	fake_run();
	ck_assert_ptr_null(s.lu);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("logical units");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_test(tc, it_is_closed_with_its_last_reference);
	tcase_add_test(tc, one_that_was_never_opened_can_be_closed);
	tcase_add_test(tc,
		a_file_that_is_absent_at_start_leaves_the_unit_listed);
	tcase_add_test(tc, four_kilobyte_blocks_scale_everything);
	tcase_add_test(tc, blocks_smaller_than_the_devices_are_not_served);
	tcase_add_test(tc, a_read_only_device_cannot_be_made_writable);
	tcase_add_test(tc, a_thick_volume_does_not_give_its_space_away);
	tcase_add_test(tc, space_is_fetched_on_a_blocking_thread);
	return unit_run("scsi_lu", tc);
}
