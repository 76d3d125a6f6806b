/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who sees what: target/tgt.c, tgt_session.c, tgt_volume.c, over a fake of the
 * SCSI layer that remembers mappings, and a queue in place of engines.
 */

#include "target/tgt_int.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/unit.h"

/* ---- the fakes ---------------------------------------------------------- */

struct engine { int unused; };
struct lu { char name[32]; int refs; bool closed; lu_done *changed; void *arg; };
struct nexus { struct lu *at[8]; bool read_only[8]; int announced; };

static struct engine the_engine;
static struct epost *posts[32];
static unsigned nposts;
static struct lu lus[8];
static unsigned nlus;
static const char *close_reason;
/* unmapping that has not ended */
static void (*unmap_done)(void *arg);
static void *unmap_arg;

struct scsi_host scsi_host;
const char *const lu_primitive_names[PRIMITIVES] = { "ats", "clone", "zero",
						     "delete" };

void engine_post(struct engine *e, struct epost *post)
{
	(void)e;
	posts[nposts++] = post;
}

struct engine *engine_self(void)
{
	return &the_engine;
}

static void run_posts(void)
{
	unsigned i;

	for (i = 0; i < nposts; i++)
		posts[i]->run(posts[i]);
	nposts = 0;
}

const char *config_state_dir(void)
{
	return "/state";
}

void conn_close(struct conn *c, const char *reason)
{
	(void)c;
	close_reason = reason;
}

struct lu *lu_new(const struct scsi_host *host, const struct lu_config *config,
		  const struct lu_events *events)
{
	struct lu *lu = &lus[nlus++];

	(void)host;
	(void)events;
	snprintf(lu->name, sizeof(lu->name), "%s", config->volume.name);
	lu->refs = 1;
	return lu;
}

void lu_open(struct lu *lu)
{
	(void)lu;
}

void lu_close(struct lu *lu, void (*done)(void *arg), void *arg)
{
	lu->closed = true;
	lu->refs--;
	done(arg);
}

struct lu *lu_ref(struct lu *lu)
{
	lu->refs++;
	return lu;
}

void lu_unref(struct lu *lu)
{
	if (lu)
		lu->refs--;
}

void lu_get_info(struct lu *lu, struct lu_info *ret)
{
	(void)lu;
	memset(ret, 0, sizeof(*ret));
}

void lu_set_primitive(struct lu *lu, enum lu_primitive p, bool on)
{
	(void)lu;
	(void)p;
	(void)on;
}

void lu_set_read_only(struct lu *lu, bool on)
{
	(void)lu;
	(void)on;
}

void lu_set_threshold(struct lu *lu, unsigned percent)
{
	(void)lu;
	(void)percent;
}

void lu_set_write_back(struct lu *lu, bool on, lu_done *done, void *arg)
{
	(void)on;
	lu->changed = done;
	lu->arg = arg;
}

void lu_resize(struct lu *lu, uint64_t size, lu_done *done, void *arg)
{
	(void)lu;
	(void)size;
	done(arg, 0);
}

int nexus_map(struct nexus *n, uint16_t lun, struct lu *lu, bool read_only,
	      bool announce)
{
	ck_assert_ptr_null(n->at[lun]);
	n->at[lun] = lu;
	n->read_only[lun] = read_only;
	n->announced += announce;
	return 0;
}

int nexus_unmap(struct nexus *n, uint16_t lun, void (*done)(void *arg),
		void *arg)
{
	ck_assert_ptr_nonnull(n->at[lun]);
	n->at[lun] = NULL;
	unmap_done = done;
	unmap_arg = arg;
	return 0;
}

/* ---- the world ---------------------------------------------------------- */

#define T1 "iqn.2026-11.example:t1"
#define T2 "iqn.2026-11.example:t2"
#define HOST "iqn.2026-11.example:host"

static struct worker worker;
static struct conn conn;
static struct nexus nexus;
static struct session session;
static char secrets[64];

static void set_address(struct sockaddr_storage *a, const char *text)
{
	ck_assert_int_eq(addr_parse(text, a), 0);
}

static void setup(void)
{
	worker.engine = &the_engine;
	set_address(&conn.remote, "192.0.2.7:1");
	set_address(&conn.local, "192.0.2.1:3260");
	session.worker = &worker;
	session.conn = &conn;
	session.nexus = &nexus;
	snprintf(session.initiator, sizeof(session.initiator), HOST);
	snprintf(session.target, sizeof(session.target), T1);
	snprintf(secrets, sizeof(secrets), "/tmp/lund-unit.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(secrets));
}

static void teardown(void)
{
	char command[96];

	tgt_session_end(&session);
	snprintf(command, sizeof(command), "rm -rf %s", secrets);
	ck_assert_int_eq(system(command), 0);
}

static void secret(const char *name, const char *text)
{
	char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", secrets, name);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

/* Puts a configuration in force as config.c does.  Volume N has a NAA of N. */
static void world_is(const char *volumes, const char *targets)
{
	struct faults faults = { .n = 0 };
	struct config_error err;
	struct conf *c;
	char text[2048];
	json_t *doc;
	unsigned i;

	snprintf(text, sizeof(text), "{\"volumes\": {%s}, \"targets\": {%s}}",
		 volumes, targets);
	doc = json_loads(text, 0, NULL);
	ck_assert_ptr_nonnull(doc);
	c = conf_read(doc, NULL, secrets, &faults);
	ck_assert_msg(c != NULL, "%s", faults.n ? faults.text[0] : "");
	json_decref(doc);
	for (i = 0; i < c->nvolumes; i++) {
		c->volumes[i].id.naa_len = 16;
		c->volumes[i].id.naa[15] = (uint8_t)c->volumes[i].name[1];
	}
	ck_assert_int_eq(vols_start(c, &err), 0);
	vols_change(config_now(), c);
	world_set(c);
	vols_stop(c);
}

#define V1 "\"v1\": {\"path\": \"1\"}"
#define V12 V1 ", \"v2\": {\"path\": \"2\"}"
#define ALL "\"allow\": [\"*\"]"
#define TARGET(iqn, rest) "\"" iqn "\": {" rest "}"

static const char *seen(unsigned lun)
{
	return nexus.at[lun] ? nexus.at[lun]->name : "";
}

static enum tgt_verdict check(const char *iqn, const char *initiator)
{
	struct tgt_peer peer = {
		.initiator = initiator, .remote = (void *)&conn.remote,
		.local = (void *)&conn.local, .group = 1,
	};

	return tgt_check(iqn, &peer);
}

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
	bool ro;

	snprintf(session.chap_user, sizeof(session.chap_user), "u");
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
