/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control socket's lines and verbs, from the line to the saved document:
 * target/control_*.c, ctl_*.c, config.c.  No socket, no engine, no volume.
 */

#include "target/ctl_int.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/state.h"
#include "tests/lib/unit.h"

static char dir[64], file[96];
static char *last;		/* the answer's line; NULL: none was given */
static json_t *result, *error;
static const char *message;

static void answer(struct ctl_call *c, char *line)
{
	(void)c;
	free(last);
	last = line;
}

/* Sends a line and takes its answer apart. */
static void line(const char *text)
{
	struct ctl_call *c = calloc(1, sizeof(*c));
	json_t *doc;

	c->answer = answer;
	free(last);
	last = NULL;
	ctl_line(c, text, strlen(text));
	json_decref(result);
	json_decref(error);
	result = error = NULL;
	message = "";
	if (!last)
		return;
	ck_assert_ptr_null(strchr(last, '\n'));
	doc = json_loads(last, 0, NULL);
	ck_assert_ptr_nonnull(doc);
	ck_assert_str_eq(json_string_value(json_object_get(doc, "jsonrpc")),
			 "2.0");
	ck_assert_ptr_nonnull(json_object_get(doc, "id"));
	result = json_incref(json_object_get(doc, "result"));
	error = json_incref(json_object_get(doc, "error"));
	ck_assert(!result != !error);
	if (error)
		message = json_string_value(json_object_get(error, "message"));
	json_decref(doc);
}

static void call(const char *method, const char *params)
{
	char text[2048];

	snprintf(text, sizeof(text), "{\"jsonrpc\": \"2.0\", \"id\": 1, "
		 "\"method\": \"%s\", \"params\": %s}", method, params);
	line(text);
}

static void ok(const char *method, const char *params)
{
	call(method, params);
	ck_assert_msg(result != NULL, "%s", message);
}

static void no(const char *method, const char *params, const char *why)
{
	call(method, params);
	ck_assert_ptr_nonnull(error);
	ck_assert_msg(strstr(message, why) != NULL, "%s", message);
}

static int code(void)
{
	return (int)json_integer_value(json_object_get(error, "code"));
}

static void setup(void)
{
	static struct config_options o;
	struct config_error err;
	FILE *f;

	snprintf(dir, sizeof(dir), "/tmp/lund-unit.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/lund.json", dir);
	f = fopen(file, "w");
	ck_assert_ptr_nonnull(f);
	fputs("{\"version\": 1, \"# note\": \"kept\", \"portals\": []}", f);
	fclose(f);
	ck_assert_int_eq(state_open(dir), 0);
	o = (struct config_options){ .file = file, .state_dir = dir };
	ck_assert_msg(!config_start(&o, &err), "%s", err.text);
}

static void teardown(void)
{
	char command[96];

	config_stop();
	state_close();
	json_decref(result);
	json_decref(error);
	result = error = NULL;
	free(last);
	last = NULL;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

/* What the saved file says at "a/b/c". */
static json_t *saved(const char *at)
{
	json_t *doc = json_load_file(file, 0, NULL), *v = doc;
	char path[256];
	char *key, *rest = path;

	ck_assert_ptr_nonnull(doc);
	ck_assert(json_equal(doc, config_doc()));
	snprintf(path, sizeof(path), "%s", at);
	while ((key = strsep(&rest, "/")))
		v = json_is_array(v) ? json_array_get(v, (size_t)(*key - '0')) :
		    json_object_get(v, key);
	json_incref(v);
	json_decref(doc);
	return v;
}

static void saved_is(const char *at, const char *text)
{
	json_t *v = saved(at), *want = text ? json_loads(text,
						JSON_DECODE_ANY, NULL) : NULL;

	ck_assert_msg(text ? json_equal(v, want) : !v, "%s: %s", at,
		      v ? json_dumps(v, JSON_ENCODE_ANY) : "absent");
	json_decref(v);
	json_decref(want);
}

#define T "iqn.2026-11.example:t"
#define ON_T "{\"target\": \"" T "\""

/* ---- lines -------------------------------------------------------------- */

static const struct {
	const char *text;
	int code;
} bad_lines[] = {
	{ "", -32700 }, { "{", -32700 }, { "\xff", -32700 },
	{ "{\"jsonrpc\": \"2.0\", \"id\": 1, \"id\": 2}", -32700 },
	{ "1", -32600 }, { "[]", -32600 }, { "{}", -32600 },
	{ "{\"jsonrpc\": \"1.0\", \"id\": 1, \"method\": \"x\"}", -32600 },
	{ "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": 3}", -32600 },
	{ "{\"jsonrpc\": \"2.0\", \"id\": {}, \"method\": \"x\"}", -32600 },
	{ "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"x\", "
	  "\"params\": [1]}", -32600 },
	{ "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"a.b\"}", -32601 },
	{ "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"target.show\"}",
	  -32602 },
	{ "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"target.show\", "
	  "\"params\": {\"target\": 3}}", -32602 },
	{ "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"daemon.ping\", "
	  "\"params\": {\"x\": 3}}", -32602 },
};

START_TEST(a_bad_line_gets_the_error_of_the_standard)
{
	line(bad_lines[_i].text);
	ck_assert_ptr_nonnull(error);
	ck_assert_int_eq(code(), bad_lines[_i].code);
}
END_TEST

START_TEST(a_notification_is_done_and_not_answered)
{
	line("{\"jsonrpc\": \"2.0\", \"method\": \"target.create\", "
	     "\"params\": {\"target\": \"" T "\"}}");
	ck_assert_ptr_null(last);
	saved_is("targets/" T, "{}");
}
END_TEST

START_TEST(the_id_comes_back_as_it_was)
{
	line("{\"jsonrpc\": \"2.0\", \"id\": \"x y\", \"method\": "
	     "\"daemon.ping\"}");
	ck_assert_ptr_nonnull(strstr(last, "\"id\":\"x y\""));
	ck_assert(json_is_true(result));
}
END_TEST

START_TEST(every_method_says_what_it_takes)
{
	ok("daemon.methods", "{}");
	ck_assert_uint_gt(json_array_size(result), 30);
}
END_TEST

/* ---- verbs -------------------------------------------------------------- */

START_TEST(targets_are_made_changed_and_removed)
{
	no("target.create", "{\"target\": \"disk\"}", "looks like");
	ok("target.create", ON_T ", \"alias\": \"a\"}");
	no("target.create", ON_T "}", "there already");
	saved_is("targets/" T, "{\"alias\": \"a\"}");
	saved_is("# note", "\"kept\"");
	ok("target.set", ON_T ", \"set\": {\"alias\": \"b\"}}");
	saved_is("targets/" T "/alias", "\"b\"");
	ok("target.set", ON_T ", \"set\": {\"redirect\": \"192.0.2.7\", "
	   "\"redirect-permanent\": \"on\"}}");
	no("target.set", ON_T ", \"set\": {\"redirect\": \"away\"}}",
	   "ADDRESS");
	ok("target.set", ON_T ", \"set\": {\"redirect\": \"\"}}");
	no("target.set", ON_T ", \"set\": {\"color\": \"b\"}}", "keys alias");
	ok("target.disable", ON_T "}");
	saved_is("targets/" T "/enabled", "false");
	ok("target.list", "{}");
	ck_assert_uint_eq(json_array_size(result), 1);
	ok("target.enable", ON_T "}");
	saved_is("targets/" T "/enabled", NULL);
	ok("target.delete", ON_T "}");
	saved_is("targets", "{}");
	no("target.delete", ON_T "}", "no target");
}
END_TEST

START_TEST(rules_are_added_once_and_taken_back)
{
	ok("target.create", ON_T "}");
	ok("acl.allow", ON_T ", \"initiator\": \"*:a\"}");
	ok("acl.allow", ON_T ", \"initiator\": \"*:a\"}");
	ok("acl.allow", ON_T ", \"initiator\": \"*:a\", \"address\": "
	   "\"10.0.0.0/8\"}");
	saved_is("targets/" T "/allow", "[\"*:a\", {\"initiator\": \"*:a\", "
		 "\"address\": \"10.0.0.0/8\"}]");
	no("acl.allow", ON_T ", \"initiator\": \"x\", \"address\": \"x\"}",
	   "allow[2].address: must be");
	ok("acl.revoke", ON_T ", \"initiator\": \"*:a\", \"address\": "
	   "\"10.0.0.0/8\"}");
	saved_is("targets/" T "/allow", "[\"*:a\"]");
	ok("acl.list", "{}");
	ck_assert_uint_eq(json_array_size(result), 1);
	ok("acl.revoke", ON_T ", \"initiator\": \"*:a\"}");
	no("acl.revoke", ON_T ", \"initiator\": \"*:a\"}", "no such rule");
}
END_TEST

START_TEST(a_check_tells_why)
{
	ok("target.create", ON_T "}");
	ok("acl.check", ON_T ", \"initiator\": \"iqn.x\"}");
	ck_assert(json_is_false(json_object_get(result, "allowed")));
	ok("acl.allow", ON_T ", \"initiator\": \"*\", \"address\": "
	   "\"10.0.0.0/8\"}");
	ok("acl.check", ON_T ", \"initiator\": \"iqn.x\", \"address\": "
	   "\"10.1.2.3\"}");
	ck_assert(json_is_true(json_object_get(result, "allowed")));
	ck_assert_str_eq(json_string_value(json_object_get(result, "reason")),
			 "rule * from 10.0.0.0/8 lets it in");
}
END_TEST

START_TEST(a_secret_is_kept_in_a_file_of_its_own)
{
	char path[256];
	struct stat st;
	json_t *v;

	ok("target.create", ON_T "}");
	ok("chap.set", ON_T ", \"user\": \"a/b ../c\", \"secret\": "
	   "\"twelve bytes\"}");
	ck_assert_ptr_null(strstr(last, "twelve"));
	v = saved("targets/" T "/chap/0/secret-file");
	snprintf(path, sizeof(path), "%s/%s", dir, json_string_value(v));
	json_decref(v);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	ok("chap.list", "{}");
	ck_assert_ptr_null(strstr(last, "secret"));
	ok("config.show", "{}");
	ck_assert_ptr_null(strstr(last, "twelve"));
	no("chap.set", ON_T ", \"user\": \"u\", \"secret\": \"short\"}",
	   "12 to 255");
	ok("chap.set", ON_T ", \"user\": \"a/b ../c\", \"secret\": "
	   "\"another secret\"}");
	ck_assert_int_ne(stat(path, &st), 0);
	ok("chap.clear", ON_T "}");
	saved_is("targets/" T "/chap", NULL);
	no("chap.clear", ON_T "}", "no CHAP user");
}
END_TEST

START_TEST(discovery_has_users_of_its_own)
{
	ok("chap.set", "{\"target\": \"discovery\", \"user\": \"u\", "
	   "\"secret\": \"twelve bytes\"}");
	saved_is("discovery/chap/0/user", "\"u\"");
	ok("chap.clear", "{\"target\": \"discovery\", \"user\": \"u\"}");
	saved_is("discovery", NULL);
}
END_TEST

START_TEST(a_volume_must_be_there_to_be_mapped)
{
	ok("target.create", ON_T "}");
	no("lun.add", ON_T ", \"volume\": \"v\"}", "no volume v");
	no("lun.remove", ON_T ", \"lun\": 0}", "has no LUN 0");
	no("volume.show", "{\"name\": \"v\"}", "no volume v");
	no("volume.create", "{\"name\": \"a/b\"}", "name is made of");
	no("volume.create", "{\"name\": \"v\", \"block-size\": 1000}",
	   "volumes.v.block-size: must be 512 or 4096");
	no("volume.create", "{\"name\": \"v\", \"path\": \"null:\"}",
	   "needs a size");
}
END_TEST

/* ---- the document ------------------------------------------------------- */

START_TEST(a_document_with_a_fault_changes_nothing)
{
	ok("target.create", ON_T "}");
	no("config.load", "{\"document\": {\"portals\": [], \"x\": 1}}",
	   "x: unknown key");
	saved_is("targets/" T, "{}");
	no("config.check", "{\"document\": {\"y\": 2, \"x\": 1}}",
	   "y: unknown key\nx: unknown key");
	ok("config.check", "{\"document\": {}}");
	no("config.load", "{}", "either a file or a document");
	no("config.load", "{\"file\": \"relative\"}", "absolute");
}
END_TEST

START_TEST(a_loaded_document_replaces_the_old_one)
{
	ok("target.create", ON_T "}");
	ok("config.load", "{\"document\": {\"portals\": [], \"# n\": 1}}");
	saved_is("targets", NULL);
	saved_is("# n", "1");
	ok("target.list", "{}");
	ck_assert_uint_eq(json_array_size(result), 0);
}
END_TEST

START_TEST(a_syntax_error_names_its_line)
{
	char params[160];
	FILE *f;

	snprintf(params, sizeof(params), "%s/bad", dir);
	f = fopen(params, "w");
	ck_assert_ptr_nonnull(f);
	fputs("{\n\"version\": 1,\n}\n", f);
	fclose(f);
	snprintf(params, sizeof(params), "{\"file\": \"%s/bad\"}", dir);
	no("config.load", params, "/bad, line 3: ");
}
END_TEST

START_TEST(a_save_that_fails_changes_nothing)
{
	char blocker[128];

	ok("target.create", ON_T "}");
	snprintf(blocker, sizeof(blocker), "%s.new", file);
	ck_assert_int_eq(mkdir(blocker, 0700), 0);
	no("acl.allow", ON_T ", \"initiator\": \"*\"}", "cannot save");
	ok("acl.list", "{}");
	ck_assert_uint_eq(json_array_size(result), 0);
	saved_is("targets/" T, "{}");
}
END_TEST

START_TEST(a_portal_that_cannot_be_had_changes_nothing)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(in);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char params[64];

	ck_assert_int_eq(bind(fd, (void *)&in, len), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	ck_assert_int_eq(getsockname(fd, (void *)&in, &len), 0);
	snprintf(params, sizeof(params), "{\"address\": \"127.0.0.1:%u\"}",
		 ntohs(in.sin_port));
	no("portal.add", params, "cannot listen");
	close(fd);
	saved_is("portals", "[]");
	no("portal.add", "{\"address\": \"host\"}", "portals[0]: must be");
	no("portal.remove", "{\"address\": \"1.2.3.4\"}", "no portal");
	ok("portal.state", "{\"group\": 2, \"state\": \"unavailable\"}");
	no("portal.state", "{\"group\": 2, \"state\": \"x\"}", "state");
	no("portal.state", "{\"group\": 0, \"state\": \"unavailable\"}",
	   "number");
	ok("portal.state", "{\"group\": 2, \"state\": \"active/optimized\"}");
	ok("portal.list", "{}");
	ck_assert_uint_eq(json_array_size(result), 0);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("control");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, a_bad_line_gets_the_error_of_the_standard, 0,
			    sizeof(bad_lines) / sizeof(bad_lines[0]));
	tcase_add_test(tc, a_notification_is_done_and_not_answered);
	tcase_add_test(tc, the_id_comes_back_as_it_was);
	tcase_add_test(tc, every_method_says_what_it_takes);
	tcase_add_test(tc, targets_are_made_changed_and_removed);
	tcase_add_test(tc, rules_are_added_once_and_taken_back);
	tcase_add_test(tc, a_check_tells_why);
	tcase_add_test(tc, a_secret_is_kept_in_a_file_of_its_own);
	tcase_add_test(tc, discovery_has_users_of_its_own);
	tcase_add_test(tc, a_volume_must_be_there_to_be_mapped);
	tcase_add_test(tc, a_document_with_a_fault_changes_nothing);
	tcase_add_test(tc, a_loaded_document_replaces_the_old_one);
	tcase_add_test(tc, a_syntax_error_names_its_line);
	tcase_add_test(tc, a_save_that_fails_changes_nothing);
	tcase_add_test(tc, a_portal_that_cannot_be_had_changes_nothing);
	return unit_run("control", tc);
}
