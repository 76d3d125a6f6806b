/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Persistent reservations: what each service action does, and who is told. */

#include <stdio.h>

#include "scsi/scsi_int.h"
#include "tests/lib/pr.h"
#include "tests/lib/unit.h"

#define RELEASED	0x2a04
#define PREEMPTED	0x2a03

/* ---- REGISTER ------------------------------------------------------------ */

START_TEST(register_adds_changes_and_removes_a_key)
{
	pr_register(0, 0xa);
	ck_assert(pr_keys() == 1 && pr_has(0xa));
	ck_assert(rig_good(pr_out(0, REGISTER, 0, 0xa, 0xb)));
	ck_assert(pr_keys() == 1 && pr_has(0xb));
	ck_assert(rig_good(pr_out(0, REGISTER, 0, 0xb, 0)));
	ck_assert_uint_eq(pr_keys(), 0);
}
END_TEST

START_TEST(register_with_the_wrong_key_conflicts)
{
	ck_assert(pr_conflicts(pr_out(0, REGISTER, 0, 1, 0xa)));
	pr_register(0, 0xa);
	ck_assert(pr_conflicts(pr_out(0, REGISTER, 0, 0, 0xb)));
	ck_assert(pr_conflicts(pr_out(0, REGISTER, 0, 0xb, 0)));
	ck_assert(pr_keys() == 1 && pr_has(0xa));
}
END_TEST

START_TEST(register_and_ignore_existing_key_needs_none)
{
	ck_assert(rig_good(pr_out(0, REGISTER_IGNORE, 0, 99, 0xa)));
	ck_assert(rig_good(pr_out(0, REGISTER_IGNORE, 0, 99, 0xb)));
	ck_assert(pr_keys() == 1 && pr_has(0xb));
	ck_assert(rig_good(pr_out(0, REGISTER_IGNORE, 0, 99, 0)));
	ck_assert_uint_eq(pr_keys(), 0);
}
END_TEST

START_TEST(key_0_of_one_who_is_not_registered_does_nothing)
{
	ck_assert(rig_good(pr_out(0, REGISTER, 0, 0, 0)));
	ck_assert(rig_good(pr_out(0, REGISTER_IGNORE, 0, 7, 0)));
	ck_assert_uint_eq(pr_generation(), 0);
}
END_TEST

START_TEST(two_nexuses_may_have_the_same_key)
{
	pr_register(0, 0xa);
	pr_register(1, 0xa);
	ck_assert_uint_eq(pr_keys(), 2);
}
END_TEST

/* The same initiator name and ISID is the same nexus; another ISID is not. */
START_TEST(a_registrant_survives_its_nexus)
{
	struct nexus_config config = rig.nexus[1]->config;
	struct nexus *again;

	pr_register(1, 0xb);
	pr_reserve(1, 0xb, WE);
	again = nexus_new(&rig.host, &config);
	fake_enter(rig.host.worker[1]);
	nexus_map(again, 0, rig.lu[0], false, false);
	ck_assert_uint_eq(nexus_find(again, 0)->denied, 0);
	nexus_free(again);
	config.isid[0] = 9;
	again = nexus_new(&rig.host, &config);
	nexus_map(again, 0, rig.lu[0], false, false);
	ck_assert_uint_ne(nexus_find(again, 0)->denied, 0);
	nexus_free(again);
	fake_run();
}
END_TEST

START_TEST(another_target_port_is_another_registrant)
{
	struct nexus_config config = rig.nexus[1]->config;
	struct nexus *other;

	config.tpgt = config.rtpi = 2;
	pr_register(1, 0xb);
	pr_reserve(1, 0xb, WE);
	other = nexus_new(&rig.host, &config);
	fake_enter(rig.host.worker[1]);
	nexus_map(other, 0, rig.lu[0], false, false);
	ck_assert_uint_ne(nexus_find(other, 0)->denied, 0);
	/* unless the registration is of all target ports */
	pr_out_list(1, REGISTER_IGNORE, pr_list(0, 0xb, ALL_TG_PT), NULL, 0);
	ck_assert_uint_eq(nexus_find(other, 0)->denied, 0);
	ck_assert_uint_eq(pr_keys(), 1);
	ck_assert_uint_eq(pr_in(0, FULL_STATUS, 256)->in[8 + 12], 0x03);
	fake_enter(rig.host.worker[1]);
	nexus_free(other);
	fake_run();
}
END_TEST

static void reset_done(struct scsi_tmf *t)
{
	ck_assert_int_eq(t->response, TMF_COMPLETE);
}

START_TEST(a_lun_reset_leaves_it_all)
{
	struct scsi_tmf t = { .nexus = rig.nexus[1], .done = reset_done,
			      .function = TMF_LOGICAL_UNIT_RESET };

	pr_register(0, 0xa);
	pr_reserve(0, 0xa, WE);
	fake_enter(rig.host.worker[1]);
	scsi_task_management(&t);
	fake_run();
	drain_attentions(0, 0);
	ck_assert(pr_type() == WE && pr_has(0xa));
}
END_TEST

START_TEST(as_many_as_promised_can_register)
{
	struct nexus_config config = rig.nexus[1]->config;
	struct nexus *n = rig.nexus[1];
	unsigned i;

	for (i = 0; i < PR_REGISTRANTS; i++) {
		n->config.isid[0] = (uint8_t)(i >> 8);
		n->config.isid[1] = (uint8_t)i;
		pr_register(1, i + 1);
	}
	ck_assert_uint_eq(pr_keys(), PR_REGISTRANTS);
	ck_assert(rig_sense(pr_out(0, REGISTER, 0, 0, 0xa), 0x5, 0x55, 0x04));
	ck_assert_uint_eq(pr_keys(), PR_REGISTRANTS);
	n->config = config;
}
END_TEST

/* ---- RESERVE and RELEASE ------------------------------------------------- */

START_TEST(only_a_registrant_with_its_key_reserves)
{
	ck_assert(pr_conflicts(pr_out(0, RESERVE, WE, 0, 0)));
	pr_register(0, 0xa);
	ck_assert(pr_conflicts(pr_out(0, RESERVE, WE, 0xb, 0)));
	ck_assert_uint_eq(pr_type(), 0);
	ck_assert(rig_good(pr_out(0, RESERVE, WE, 0xa, 0)));
	ck_assert(pr_type() == WE && pr_holder_key() == 0xa);
}
END_TEST

START_TEST(the_holder_reserves_again_only_alike)
{
	pr_register(0, 0xa);
	pr_register(1, 0xb);
	pr_reserve(0, 0xa, WE_RO);
	ck_assert(rig_good(pr_out(0, RESERVE, WE_RO, 0xa, 0)));
	ck_assert(pr_conflicts(pr_out(0, RESERVE, WE, 0xa, 0)));
	ck_assert(pr_conflicts(pr_out(1, RESERVE, WE_RO, 0xb, 0)));
}
END_TEST

START_TEST(all_registrants_are_holders)
{
	pr_register(0, 0xa);
	pr_register(1, 0xb);
	pr_reserve(0, 0xa, EA_AR);
	ck_assert(rig_good(pr_out(1, RESERVE, EA_AR, 0xb, 0)));
	ck_assert_uint_eq(pr_holder_key(), 0);
	ck_assert(rig_good(pr_out(0, REGISTER, 0, 0xa, 0)));
	ck_assert_uint_eq(pr_type(), EA_AR);
	ck_assert(rig_good(pr_out(1, REGISTER, 0, 0xb, 0)));
	ck_assert_uint_eq(pr_type(), 0);
}
END_TEST

START_TEST(release_by_one_who_holds_nothing_is_good_and_does_nothing)
{
	pr_register(0, 0xa);
	pr_register(1, 0xb);
	ck_assert(rig_good(pr_out(1, RELEASE, WE, 0xb, 0)));
	pr_reserve(0, 0xa, WE);
	ck_assert(rig_good(pr_out(1, RELEASE, WE, 0xb, 0)));
	ck_assert_uint_eq(pr_type(), WE);
}
END_TEST

START_TEST(release_of_another_type_is_refused)
{
	pr_register(0, 0xa);
	pr_reserve(0, 0xa, WE);
	ck_assert(rig_sense(pr_out(0, RELEASE, EA, 0xa, 0), 0x5, 0x26, 0x04));
	ck_assert(rig_sense(pr_out(0, RELEASE, 0x10 | WE, 0xa, 0), 0x5, 0x26,
			    0x04));
	ck_assert(pr_conflicts(pr_out(0, RELEASE, WE, 0xb, 0)));
	ck_assert_uint_eq(pr_type(), WE);
}
END_TEST

static const uint8_t types[] = { WE, EA, WE_RO, EA_RO, WE_AR, EA_AR };

START_TEST(release_tells_other_registrants_of_a_shared_type_once)
{
	bool shared = types[_i] >= WE_RO;

	pr_register(0, 0xa);
	pr_register(1, 0xb);
	pr_reserve(0, 0xa, types[_i]);
	ck_assert(rig_good(pr_out(0, RELEASE, types[_i], 0xa, 0)));
	ck_assert_uint_eq(pr_type(), 0);
	ck_assert_uint_eq(pr_attention(1), shared ? RELEASED : 0);
	ck_assert_uint_eq(pr_attention(1), 0);
	ck_assert_uint_eq(pr_attention(0), 0);
}
END_TEST

START_TEST(a_holder_that_unregisters_releases)
{
	bool shared = types[_i] == WE_RO || types[_i] == EA_RO;
	bool all = types[_i] >= WE_AR;

	pr_register(0, 0xa);
	pr_register(1, 0xb);
	pr_reserve(0, 0xa, types[_i]);
	ck_assert(rig_good(pr_out(0, REGISTER, 0, 0xa, 0)));
	ck_assert_uint_eq(pr_type(), all ? types[_i] : 0);
	ck_assert_uint_eq(pr_attention(1), shared ? RELEASED : 0);
	ck_assert_uint_eq(pr_attention(0), 0);
}
END_TEST

START_TEST(others_that_are_not_registered_are_not_told)
{
	pr_register(0, 0xa);
	pr_reserve(0, 0xa, WE_RO);
	pr_out(0, RELEASE, WE_RO, 0xa, 0);
	ck_assert_uint_eq(pr_attention(1), 0);
}
END_TEST

/* ---- CLEAR --------------------------------------------------------------- */

START_TEST(clear_removes_all_and_tells_the_others)
{
	pr_register(0, 0xa);
	pr_register(1, 0xb);
	pr_reserve(0, 0xa, EA);
	ck_assert(pr_conflicts(pr_out(1, CLEAR, 0, 0xa, 0)));
	ck_assert(rig_good(pr_out(1, CLEAR, 0xff, 0xb, 0)));
	ck_assert(pr_keys() == 0 && pr_type() == 0);
	ck_assert_uint_eq(pr_attention(0), PREEMPTED);
	ck_assert_uint_eq(pr_attention(0), 0);
	ck_assert_uint_eq(pr_attention(1), 0);
}
END_TEST

/* ---- REGISTER AND MOVE --------------------------------------------------- */

static struct pr_list move_list(uint64_t key, uint64_t sa_key, uint8_t flags,
				uint16_t rtpi, uint32_t len)
{
	struct pr_list l = pr_list(key, sa_key, 0);

	l.b[17] = flags;
	l.b[18] = (uint8_t)(rtpi >> 8);
	l.b[19] = (uint8_t)rtpi;
	l.b[22] = (uint8_t)(len >> 8);
	l.b[23] = (uint8_t)len;
	return l;
}

#define INITIATOR "iqn.2026-11.test:i"
#define ISID_0	"000000000000"
#define ISID_1	"000000000001"

static struct rig_cmd *move(uint64_t key, uint64_t sa_key, uint8_t flags,
			    const char *isid)
{
	uint8_t id[300];
	uint32_t n = pr_transport_id(id, INITIATOR, isid);

	return pr_out_list(0, REGISTER_MOVE,
			   move_list(key, sa_key, flags, 1, n), id, n);
}

START_TEST(register_and_move_hands_the_reservation_over)
{
	bool unreg = _i;

	pr_register(0, 0xa);
	pr_reserve(0, 0xa, EA);
	ck_assert(rig_good(move(0xa, 0xb, unreg ? 2 : 0, ISID_1)));
	ck_assert(pr_has(0xb) && pr_has(0xa) == !unreg);
	ck_assert(pr_type() == EA && pr_holder_key() == 0xb);
	ck_assert(pr_conflicts(rig_read(0, 0, 1)));
	fake_auto(rig.vol[0], true);
	ck_assert(rig_good(rig_read(1, 0, 1)));
}
END_TEST

START_TEST(register_and_move_is_for_the_holder_alone)
{
	ck_assert(pr_conflicts(move(0, 0xb, 0, ISID_1)));
	pr_register(0, 0xa);
	ck_assert(pr_conflicts(move(0xa, 0xb, 0, ISID_1)));
	pr_reserve(0, 0xa, WE_AR);
	ck_assert(pr_conflicts(move(0xa, 0xb, 0, ISID_1)));
	pr_out(0, RELEASE, WE_AR, 0xa, 0);
	pr_reserve(0, 0xa, WE);
	ck_assert(pr_conflicts(move(0xc, 0xb, 0, ISID_1)));
	ck_assert(points_at_param(move(0xa, 0, 0, ISID_1), 8));
	ck_assert(points_at_param(move(0xa, 0xb, 0, ISID_0), 24));
	ck_assert(points_at_param(move(0xa, 0xb, 0, NULL), 24));
	ck_assert(points_at_param(move(0xa, 0xb, 4, ISID_1), 17));
	ck_assert(pr_keys() == 1 && pr_holder_key() == 0xa);
}
END_TEST

START_TEST(register_and_move_knows_only_target_ports_that_are_there)
{
	uint8_t id[300];
	uint32_t n = pr_transport_id(id, INITIATOR, ISID_1);

	pr_register(0, 0xa);
	pr_reserve(0, 0xa, WE);
	ck_assert(points_at_param(
		pr_out_list(0, REGISTER_MOVE, move_list(0xa, 0xb, 0, 7, n),
			    id, n), 18));
	lu_set_ports(rig.lu[0], &(struct lu_port){ 7, 1, ALUA_OPTIMIZED },
		     1);
	ck_assert(rig_good(
		pr_out_list(0, REGISTER_MOVE, move_list(0xa, 0xb, 0, 7, n),
			    id, n)));
	/* nexus 1 comes through port 1 */
	ck_assert(pr_conflicts(rig_write(1, 0, 1, 7)));
}
END_TEST

/* Field report: the TransportID was read after the list had been given back. */
START_TEST(a_transport_id_at_the_end_of_a_long_list_is_read)
{
	static uint8_t more[5000];
	uint32_t n = 4, len;
	unsigned i;
	char isid[13];

	for (i = 0; i < 60; i++) {
		snprintf(isid, sizeof(isid), "%012x", 0x100 + i);
		n += pr_transport_id(more + n, INITIATOR, isid);
	}
	n += pr_transport_id(more + n, INITIATOR, ISID_1);
	len = n - 4;
	more[2] = (uint8_t)(len >> 8);
	more[3] = (uint8_t)len;
	ck_assert(rig_good(pr_out_list(0, REGISTER, pr_list(0, 0xa, SPEC_I_PT),
				       more, n)));
	ck_assert_uint_eq(pr_keys(), 62);
	ck_assert(rig_good(pr_out(1, RESERVE, EA, 0xa, 0)));
}
END_TEST

/* ---- generation, SPC-2 --------------------------------------------------- */

START_TEST(the_generation_counts_what_changes_registrations)
{
	pr_register(0, 0xa);
	pr_register(1, 0xb);
	ck_assert_uint_eq(pr_generation(), 2);
	pr_reserve(0, 0xa, WE);
	pr_out(0, RELEASE, WE, 0xa, 0);
	ck_assert_uint_eq(pr_generation(), 2);
	pr_out(0, PREEMPT, 0, 0xa, 0xb);
	ck_assert_uint_eq(pr_generation(), 3);
	pr_out(0, PREEMPT, 0, 0xa, 0xb);	/* conflicts */
	pr_out(0, REGISTER, 0, 0xb, 0xc);
	ck_assert_uint_eq(pr_generation(), 3);
	pr_reserve(0, 0xa, WE);
	move(0xa, 0xb, 0, ISID_1);
	ck_assert_uint_eq(pr_generation(), 4);
	pr_out(0, CLEAR, 0, 0xa, 0);
	ck_assert_uint_eq(pr_generation(), 5);
}
END_TEST

START_TEST(reserve_6_conflicts_where_somebody_is_registered)
{
	pr_register(0, 0xa);
	ck_assert(pr_conflicts(run(0, 0, cdb_reserve6())));
	ck_assert(pr_conflicts(run(1, 0, cdb_reserve10())));
	ck_assert(pr_conflicts(run(1, 0, cdb_release6())));
}
END_TEST

START_TEST(reserve_6_of_the_holder_is_good_and_does_nothing)
{
	pr_register(0, 0xa);
	pr_register(1, 0xb);
	pr_reserve(0, 0xa, types[_i]);
	ck_assert(rig_good(run(0, 0, cdb_reserve6())));
	ck_assert_uint_eq(rig_good(run(1, 0, cdb_reserve6())),
			  types[_i] >= WE_RO);
	ck_assert(rig_good(run(0, 0, cdb_release6())));
	ck_assert_uint_eq(pr_type(), types[_i]);
	ck_assert_uint_eq(atomic_load(&rig.lu[0]->reserved_by), 0);
}
END_TEST

START_TEST(beside_reserve_6_nobody_reaches_persistent_reservations)
{
	unsigned i;

	ck_assert(rig_good(run(0, 0, cdb_reserve6())));
	for (i = 0; i < 2; i++) {
		ck_assert(pr_conflicts(pr_in(i, KEYS, 8)));
		ck_assert(pr_conflicts(pr_out(i, REGISTER, 0, 0, 0xa)));
	}
	ck_assert(rig_good(run(0, 0, cdb_release6())));
	ck_assert_uint_eq(pr_keys(), 0);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("persistent reservations");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_test(tc, register_adds_changes_and_removes_a_key);
	tcase_add_test(tc, register_with_the_wrong_key_conflicts);
	tcase_add_test(tc, register_and_ignore_existing_key_needs_none);
	tcase_add_test(tc, key_0_of_one_who_is_not_registered_does_nothing);
	tcase_add_test(tc, two_nexuses_may_have_the_same_key);
	tcase_add_test(tc, a_registrant_survives_its_nexus);
	tcase_add_test(tc, another_target_port_is_another_registrant);
	tcase_add_test(tc, a_lun_reset_leaves_it_all);
	tcase_add_test(tc, as_many_as_promised_can_register);
	tcase_add_test(tc, only_a_registrant_with_its_key_reserves);
	tcase_add_test(tc, the_holder_reserves_again_only_alike);
	tcase_add_test(tc, all_registrants_are_holders);
	tcase_add_test(tc,
		release_by_one_who_holds_nothing_is_good_and_does_nothing);
	tcase_add_test(tc, release_of_another_type_is_refused);
	tcase_add_loop_test(tc,
		release_tells_other_registrants_of_a_shared_type_once, 0, 6);
	tcase_add_loop_test(tc, a_holder_that_unregisters_releases, 0, 6);
	tcase_add_test(tc, others_that_are_not_registered_are_not_told);
	tcase_add_test(tc, clear_removes_all_and_tells_the_others);
	tcase_add_loop_test(tc, register_and_move_hands_the_reservation_over,
			    0, 2);
	tcase_add_test(tc, register_and_move_is_for_the_holder_alone);
	tcase_add_test(tc,
		register_and_move_knows_only_target_ports_that_are_there);
	tcase_add_test(tc, a_transport_id_at_the_end_of_a_long_list_is_read);
	tcase_add_test(tc, the_generation_counts_what_changes_registrations);
	tcase_add_test(tc, reserve_6_conflicts_where_somebody_is_registered);
	tcase_add_loop_test(tc,
		reserve_6_of_the_holder_is_good_and_does_nothing, 0, 6);
	tcase_add_test(tc,
		beside_reserve_6_nobody_reaches_persistent_reservations);
	return unit_run("scsi_pr", tc);
}
