/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who sees what: target/tgt.c, tgt_session.c, tgt_volume.c. */

#include "tests/lib/tgt_fake.h"

/* ---- access ------------------------------------------------------------- */

START_TEST(without_a_rule_nobody_gets_in)
{
	world_is(V1, TARGET(T1, "\"luns\": {\"0\": \"v1\"}"));
	ck_assert_int_eq(check(T1, HOST), TGT_NOT_ALLOWED);
	ck_assert_int_eq(check(T2, HOST), TGT_NOT_FOUND);
	ck_assert_int_eq(tgt_session_begin(&session), TGT_NOT_ALLOWED);
	ck_assert_ptr_null(session.tgt);
}
END_TEST

START_TEST(a_rule_fits_name_and_address)
{
	world_is("", TARGET(T1, "\"allow\": [{\"initiator\": \"*:host\", "
		 "\"address\": \"192.0.2.0/28\"}]"));
	ck_assert_int_eq(check(T1, HOST), TGT_OK);
	ck_assert_int_eq(check(T1, "IQN.2026-11.EXAMPLE:HOST"), TGT_OK);
	ck_assert_int_eq(check(T1, "iqn.2026-11.example:other"),
			 TGT_NOT_ALLOWED);
	set_address(&conn.remote, "[::ffff:192.0.2.7]:1");
	ck_assert_int_eq(check(T1, HOST), TGT_OK);
	set_address(&conn.remote, "192.0.2.17:1");
	ck_assert_int_eq(check(T1, HOST), TGT_NOT_ALLOWED);
	set_address(&conn.remote, "[2001:db8::1]:1");
	ck_assert_int_eq(check(T1, HOST), TGT_NOT_ALLOWED);
}
END_TEST

START_TEST(a_disabled_target_is_unavailable_to_those_it_would_let_in)
{
	world_is("", TARGET(T1, "\"enabled\": false, \"allow\": [\"*:host\"]"));
	ck_assert_int_eq(check(T1, HOST), TGT_UNAVAILABLE);
	ck_assert_int_eq(check(T1, "iqn.x"), TGT_NOT_ALLOWED);
}
END_TEST

static void note(void *arg, const char *iqn)
{
	struct tgt_peer peer = { .initiator = HOST };

	/* asking from here must not hang */
	tgt_check(iqn, &peer);
	snprintf(arg, 64, "%s", iqn);
}

START_TEST(discovery_tells_what_the_peer_may_use)
{
	struct tgt_peer peer = { .initiator = HOST };
	char found[64] = "";

	world_is("", TARGET(T1, "\"allow\": [\"*:other\"]") ", "
		 TARGET(T2, ALL));
	tgt_discover(&peer, note, found);
	ck_assert_str_eq(found, T2);
}
END_TEST

START_TEST(users_are_those_for_this_initiator)
{
	struct chap_user *users = calloc(CHAP_USERS_MAX, sizeof(*users));

	secret("s", "a long secret");
	world_is("", TARGET(T1, ALL ", \"chap\": [{\"user\": \"u\", "
		 "\"secret-file\": \"s\", \"initiator\": \"*:host\"}]") ", "
		 TARGET(T2, ALL));
	ck_assert_int_eq(tgt_chap_users(T1, HOST, users), 1);
	ck_assert_str_eq(users[0].name, "u");
	ck_assert_uint_eq(users[0].secret_len, 13);
	ck_assert_int_eq(tgt_chap_users(T1, "iqn.x", users), -ENOENT);
	ck_assert_int_eq(tgt_chap_users(T2, HOST, users), 0);
	ck_assert_int_eq(tgt_chap_users(NULL, HOST, users), 0);
	free(users);
}
END_TEST

/* ---- maps --------------------------------------------------------------- */

START_TEST(a_session_sees_the_first_mapping_that_fits)
{
	world_is(V12, TARGET(T1, ALL ", \"luns\": {\"0\": \"v1\", \"2\": ["
		 "{\"volume\": \"v1\", \"initiator\": \"*:other\"}, "
		 "{\"volume\": \"v2\", \"read-only\": true}], \"3\": ["
		 "{\"volume\": \"v1\", \"initiator\": \"*:other\"}]}"));
	ck_assert_int_eq(tgt_session_begin(&session), TGT_OK);
	ck_assert_str_eq(seen(0), "v1");
	ck_assert_str_eq(seen(2), "v2");
	ck_assert(nexus.read_only[2] && !nexus.read_only[0]);
	ck_assert_str_eq(seen(3), "");
	ck_assert_int_eq(nexus.announced, 0);
}
END_TEST

START_TEST(a_lun_that_is_added_reaches_the_session)
{
	world_is(V12, TARGET(T1, ALL ", \"luns\": {\"0\": \"v1\"}"));
	tgt_session_begin(&session);
	world_is(V12, TARGET(T1, ALL ", \"luns\": {\"0\": \"v1\", "
			     "\"5\": \"v2\"}"));
	ck_assert_str_eq(seen(5), "");
	run_posts();
	ck_assert_str_eq(seen(0), "v1");
	ck_assert_str_eq(seen(5), "v2");
	ck_assert_int_eq(nexus.announced, 1);
}
END_TEST

START_TEST(a_volume_closes_when_the_last_session_has_let_go)
{
	world_is(V12, TARGET(T1, ALL ", \"luns\": {\"0\": \"v1\", "
			     "\"1\": \"v2\"}"));
	tgt_session_begin(&session);
	ck_assert_uint_eq(vol_users("v2"), 1);
	world_is(V1, TARGET(T1, ALL ", \"luns\": {\"0\": \"v1\"}"));
	ck_assert(!lus[1].closed);
	run_posts();
	ck_assert_str_eq(seen(1), "");
	ck_assert(!lus[1].closed);	/* its commands are not gone yet */
	unmap_done(unmap_arg);
	run_posts();
	ck_assert(lus[1].closed && !lus[0].closed);
	ck_assert_ptr_null(close_reason);
}
END_TEST

START_TEST(a_session_may_end_before_its_unmapping)
{
	world_is(V12, TARGET(T1, ALL ", \"luns\": {\"1\": \"v2\"}"));
	tgt_session_begin(&session);
	world_is(V1, TARGET(T1, ALL));
	run_posts();
	tgt_session_end(&session);
	unmap_done(unmap_arg);
	run_posts();
	ck_assert(lus[1].closed);
}
END_TEST

START_TEST(a_session_may_end_with_a_change_under_way)
{
	world_is(V1, TARGET(T1, ALL ", \"luns\": {\"1\": \"v1\"}"));
	tgt_session_begin(&session);
	world_is(V1, TARGET(T1, ALL));
	tgt_session_end(&session);
	run_posts();
	ck_assert_ptr_nonnull(nexus.at[1]);	/* nobody looked at it */
}
END_TEST

START_TEST(a_session_ends_when_its_rule_or_target_goes)
{
	world_is("", TARGET(T1, ALL));
	tgt_session_begin(&session);
	world_is("", _i ? TARGET(T2, ALL) : TARGET(T1, "\"allow\": []"));
	run_posts();
	ck_assert_ptr_nonnull(close_reason);
}
END_TEST

START_TEST(a_disabled_target_keeps_its_sessions)
{
	world_is(V1, TARGET(T1, ALL));
	tgt_session_begin(&session);
	world_is(V1, TARGET(T1, ALL ", \"enabled\": false, "
			    "\"luns\": {\"0\": \"v1\"}"));
	run_posts();
	ck_assert_ptr_null(close_reason);
	ck_assert_str_eq(seen(0), "v1");
}
END_TEST

START_TEST(another_targets_change_disturbs_nobody)
{
	world_is(V1, TARGET(T1, ALL) ", " TARGET(T2, ALL));
	tgt_session_begin(&session);
	world_is(V1, TARGET(T1, ALL) ", "
		 TARGET(T2, ALL ", \"luns\": {\"0\": \"v1\"}"));
	ck_assert_uint_eq(nposts, 0);
}
END_TEST

/* ---- third-party copy --------------------------------------------------- */

/* The logical unit of volume vN as the session may find it. */
static const char *found(char n, bool *ret_read_only)
{
	uint8_t naa[16] = { [15] = (uint8_t)n };
	struct lu *lu = tgt_find_lu(&session, naa, 16, ret_read_only);

	lu_unref(lu);
	return lu ? lu->name : "";
}

#define T1_V1 TARGET(T1, ALL ", \"luns\": {\"0\": \"v1\"}")
#define LUN_V2 "\"luns\": {\"4\": [{\"volume\": \"v2\", \"read-only\": true}]}"

START_TEST(a_copy_finds_own_units_and_those_it_could_log_in_to)
{
	bool ro;

	world_is(V12, T1_V1 ", " TARGET(T2, ALL ", " LUN_V2));
	tgt_session_begin(&session);
	ck_assert_str_eq(found('1', &ro), "v1");
	ck_assert(!ro);
	ck_assert_str_eq(found('2', &ro), "v2");
	ck_assert(ro);
	ck_assert_str_eq(found('3', &ro), "");
}
END_TEST

static const char *const closed[] = {
	"\"allow\": [\"*:other\"], " LUN_V2,
	"\"allow\": [{\"initiator\": \"*\", \"address\": \"10.0.0.0/8\"}], "
		LUN_V2,
	ALL ", \"enabled\": false, " LUN_V2,
	ALL ", \"luns\": {\"0\": [{\"volume\": \"v2\", \"initiator\": "
		"\"*:other\"}]}",
	ALL ", " LUN_V2 ", \"chap\": {\"user\": \"u\", \"secret-file\": "
		"\"s\"}",
};

START_TEST(a_copy_does_not_pass_another_targets_rules)
{
	char targets[1024];
	bool ro;

	secret("s", "a long secret");
	snprintf(targets, sizeof(targets), T1_V1 ", \"" T2 "\": {%s}",
		 closed[_i]);
	world_is(V12, targets);
	tgt_session_begin(&session);
	ck_assert_str_eq(found('2', &ro), "");
}
END_TEST

START_TEST(a_copy_needs_the_same_user_and_the_same_secret)
{
	static const char targets[] = TARGET(T1, ALL ", \"luns\": {\"0\": "
		"\"v1\"}, \"chap\": {\"user\": \"u\", \"secret-file\": \"a\"}")
		", " TARGET(T2, ALL ", " LUN_V2 ", \"chap\": {\"user\": \"u\", "
		"\"secret-file\": \"b\"}");
	char user[] = "u";
	bool ro;

	session.chap_user = user;
	secret("a", "the same secret");
	secret("b", "another secret");
	world_is(V12, targets);
	tgt_session_begin(&session);
	ck_assert_str_eq(found('2', &ro), "");
	secret("b", "the same secret");
	world_is(V12, targets);
	ck_assert_str_eq(found('2', &ro), "v2");
}
END_TEST

/* ---- changes ------------------------------------------------------------ */

static void answered(void *arg, int err)
{
	*(int *)arg = err;
}

START_TEST(who_changed_a_volume_is_told_when_it_has_changed)
{
	int err = 1;

	world_is(V1, "");
	world_is("\"v1\": {\"path\": \"1\", \"durability\": \"write-back\"}",
		 "");
	vol_when_settled("v1", answered, &err);
	ck_assert_int_eq(err, 1);
	lus[0].changed(lus[0].arg, -EIO);
	ck_assert_int_eq(err, -EIO);
	vol_when_settled("v1", answered, &err);
	ck_assert_int_eq(err, 0);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("tgt");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, without_a_rule_nobody_gets_in);
	tcase_add_test(tc, a_rule_fits_name_and_address);
	tcase_add_test(tc,
		a_disabled_target_is_unavailable_to_those_it_would_let_in);
	tcase_add_test(tc, discovery_tells_what_the_peer_may_use);
	tcase_add_test(tc, users_are_those_for_this_initiator);
	tcase_add_test(tc, a_session_sees_the_first_mapping_that_fits);
	tcase_add_test(tc, a_lun_that_is_added_reaches_the_session);
	tcase_add_test(tc, a_volume_closes_when_the_last_session_has_let_go);
	tcase_add_test(tc, a_session_may_end_before_its_unmapping);
	tcase_add_test(tc, a_session_may_end_with_a_change_under_way);
	tcase_add_loop_test(tc, a_session_ends_when_its_rule_or_target_goes, 0,
			    2);
	tcase_add_test(tc, a_disabled_target_keeps_its_sessions);
	tcase_add_test(tc, another_targets_change_disturbs_nobody);
	tcase_add_test(tc, a_copy_finds_own_units_and_those_it_could_log_in_to);
	tcase_add_loop_test(tc, a_copy_does_not_pass_another_targets_rules, 0,
			    sizeof(closed) / sizeof(closed[0]));
	tcase_add_test(tc, a_copy_needs_the_same_user_and_the_same_secret);
	tcase_add_test(tc, who_changed_a_volume_is_told_when_it_has_changed);
	return unit_run("tgt", tc);
}
