/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_LIB_TGT_FAKE_H
#define TESTS_LIB_TGT_FAKE_H

/*
 * For tests of the configured world: a SCSI layer that remembers mappings, a
 * queue in place of engines, and one session.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/tgt_int.h"
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

/* The main thread posts, the worker is there already. */
static bool on_worker;

bool session_post(struct session *s, struct epost *post)
{
	(void)s;
	if (on_worker)
		return false;
	posts[nposts++] = post;
	return true;
}

static void run_posts(void)
{
	unsigned i;

	on_worker = true;
	for (i = 0; i < nposts; i++)
		posts[i]->run(posts[i]);
	nposts = 0;
	on_worker = false;
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

#endif
