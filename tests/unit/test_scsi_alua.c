/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Target port groups and their states: scsi/alua.c. */

#include <string.h>

#include "scsi/scsi_int.h"
#include "tests/lib/cdb.h"
#include "tests/lib/unit.h"

/* Nexus 0 comes by port 1 of group 1, nexus 1 by port 5 of group 2. */
static void two_groups(enum alua_state of_2)
{
	const struct lu_port ports[] = {
		{ 1, 1, ALUA_OPTIMIZED }, { 5, 2, of_2 }, { 6, 2, of_2 },
	};

	lu_set_ports(rig.lu[0], ports, 3);
}

static void setup(void)
{
	rig_setup();
	rig.nexus[1]->config.rtpi = 5;
	rig.nexus[1]->config.tpgt = 2;
	two_groups(ALUA_OPTIMIZED);
	drain_attentions(0, 0);
	drain_attentions(1, 0);
}

START_TEST(every_path_tells_the_same_groups)
{
	static const uint8_t want[] = {
		0, 0, 0, 28,
		0x00, 0x8b, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1,
		0x01, 0x8b, 0, 2, 0, 2, 0, 2, 0, 0, 0, 5, 0, 0, 0, 6,
	};
	unsigned n;

	two_groups(ALUA_NON_OPTIMIZED);
	for (n = 0; n < 2; n++) {
		struct rig_cmd *c;

		drain_attentions(n, 0);
		c = run_in(n, 0, cdb_rtpg(false, 256), 256);
		ck_assert_int_eq(c->nin, sizeof(want));
		ck_assert_mem_eq(c->in, want, sizeof(want));
	}
}
END_TEST

START_TEST(an_extended_header_stands_before_the_groups)
{
	struct rig_cmd *c = run_in(0, 0, cdb_rtpg(true, 256), 256);

	ck_assert_int_eq(in32(c, 0), c->nin - 4);
	ck_assert_int_eq(c->in[4], 0x10);
	ck_assert_int_eq(in16(c, 10), 1);
	ck_assert_int_eq(c->in[15], 1);
}
END_TEST

START_TEST(ports_in_use_are_told_though_nobody_named_them)
{
	struct rig_cmd *c;

	lu_set_ports(rig.lu[0], NULL, 0);
	c = run_in(0, 0, cdb_rtpg(false, 256), 256);
	ck_assert_int_eq(c->nin, 4 + 12 + 12);
	ck_assert_int_eq(in16(c, 14), 1);
	ck_assert_int_eq(in16(c, 18), 2);
	ck_assert_int_eq(in16(c, 26), 5);
}
END_TEST

START_TEST(a_change_of_state_is_told_to_every_nexus_once)
{
	unsigned n;

	two_groups(ALUA_NON_OPTIMIZED);
	for (n = 0; n < 2; n++) {
		ck_assert(rig_sense(run(n, 0, cdb_tur()), 0x6, 0x2a, 0x06));
		ck_assert(rig_good(run(n, 0, cdb_tur())));
	}
	two_groups(ALUA_NON_OPTIMIZED);		/* no change */
	ck_assert(rig_good(run(0, 0, cdb_tur())));
}
END_TEST

START_TEST(a_path_that_is_not_optimized_serves)
{
	two_groups(ALUA_NON_OPTIMIZED);
	drain_attentions(1, 0);
	fake_auto(rig.vol[0], true);
	ck_assert(rig_good(rig_read(1, 0, 1)));
	ck_assert(rig_good(rig_write(1, 0, 1, 0x11)));
}
END_TEST

START_TEST(other_states_refuse_all_but_questions)
{
	enum alua_state state = _i ? ALUA_TRANSITIONING : ALUA_UNAVAILABLE;
	unsigned ascq = _i ? 0x0a : 0x0c;
	static const uint8_t block[512];

	two_groups(state);
	/* the attention comes first */
	ck_assert(rig_sense(run(1, 0, cdb_tur()), 0x6, 0x2a, 0x06));
	ck_assert(rig_sense(run(1, 0, cdb_tur()), 0x2, 0x04, ascq));
	ck_assert(rig_sense(rig_read(1, 0, 1), 0x2, 0x04, ascq));
	ck_assert(rig_sense(run_out(1, 0, cdb_write10(0, 1), block, 512), 0x2,
			    0x04, ascq));
	ck_assert(rig_sense(run_in(1, 0, cdb_mode_sense6(0, 0x0a, 255), 255),
			    0x2, 0x04, ascq));
	ck_assert(rig_good(run_in(1, 0, cdb_inquiry(STANDARD_INQUIRY, 36),
				  36)));
	ck_assert(rig_good(run_in(1, 0, cdb_rtpg(false, 256), 256)));
	ck_assert(rig_untouched(0, 0, 512));
	/* the other path serves */
	drain_attentions(0, 0);
	fake_auto(rig.vol[0], true);
	ck_assert(rig_good(rig_read(0, 0, 1)));
	two_groups(ALUA_OPTIMIZED);
	drain_attentions(1, 0);
	ck_assert(rig_good(rig_read(1, 0, 1)));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("alua");

	tcase_add_checked_fixture(tc, setup, rig_teardown);
	tcase_add_test(tc, every_path_tells_the_same_groups);
	tcase_add_test(tc, an_extended_header_stands_before_the_groups);
	tcase_add_test(tc, ports_in_use_are_told_though_nobody_named_them);
	tcase_add_test(tc, a_change_of_state_is_told_to_every_nexus_once);
	tcase_add_test(tc, a_path_that_is_not_optimized_serves);
	tcase_add_loop_test(tc, other_states_refuse_all_but_questions, 0, 2);
	return unit_run("scsi_alua", tc);
}
