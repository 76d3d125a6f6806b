/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The configuration's model: target/config_*.c. */

#include "target/config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/unit.h"

static struct faults faults;
static struct conf *conf;

static void setup(void)
{
	faults.n = 0;
	conf = NULL;
}

static void teardown(void)
{
	faults_free(&faults);
	conf_free(conf);
}

static void read_text(const char *text, const char *dir)
{
	json_error_t where;
	json_t *doc = json_loads(text, JSON_REJECT_DUPLICATES, &where);

	ck_assert_msg(doc != NULL, "%s", where.text);
	conf = conf_read(doc, NULL, dir, &faults);
	json_decref(doc);
}

static void good(const char *text)
{
	read_text(text, "/nowhere");
	ck_assert_msg(conf != NULL, "%s", faults.n ? faults.text[0] : "?");
}

/* Exactly this fault. */
static void faulty(const char *text, const char *fault)
{
	read_text(text, "/nowhere");
	ck_assert_ptr_null(conf);
	ck_assert_uint_eq(faults.n, 1);
	ck_assert_str_eq(faults.text[0], fault);
}

START_TEST(an_empty_document_listens_everywhere)
{
	good("{}");
	ck_assert_uint_eq(conf->nportals, 1);
	ck_assert_str_eq(conf->portals[0].text, "[::]:3260");
	ck_assert(addr_is_wildcard((void *)&conf->portals[0].addr));
}
END_TEST

START_TEST(every_kind_of_entry_is_read)
{
	const struct conf_target *t;

	good("{\"version\": 1, \"# c\": [], \"portals\": [\"127.0.0.1\", "
	     "{\"address\": \"[::1]:7\", \"group\": 2, \"advertise\": false}],"
	     "\"volumes\": {\"# c\": 1, \"vm1\": {\"path\": \"vm1.img\", "
	     "\"size\": \"100G\", \"durability\": \"write-back\", "
	     "\"vaai\": {\"clone\": false}, \"naa\": \"6001020304050607"
	     "08090a0b0c0d0e0f\"}, \"vm2\": {\"path\": \"/dev/sdx\", "
	     "\"size\": 4096, \"io\": \"direct\", \"block-size\": 4096}},"
	     "\"targets\": {\"iqn.2026-11.example:t\": {\"alias\": \"a\", "
	     "\"enabled\": false, \"luns\": {\"0\": \"vm1\", \"# c\": 3, "
	     "\"9\": [{\"volume\": \"vm2\", \"initiator\": \"iqn.*:esx?\", "
	     "\"read-only\": true}, \"vm1\"]}, \"allow\": [\"*\", "
	     "{\"initiator\": \"iqn.x\", \"address\": \"192.0.2.0/24\"}]}}}");
	ck_assert_uint_eq(conf->nportals, 2);
	ck_assert_uint_eq(conf->portals[1].group, 2);
	ck_assert(conf->portals[1].hidden);
	ck_assert_uint_eq(addr_port((void *)&conf->portals[0].addr), 3260);
	ck_assert_uint_eq(conf->volumes[0].size, (uint64_t)100 << 30);
	ck_assert(conf->volumes[0].write_back && !conf->volumes[0].direct);
	ck_assert(conf->volumes[0].off[PRIM_CLONE]);
	ck_assert(!conf->volumes[0].off[PRIM_ATS]);
	ck_assert_uint_eq(conf->volumes[0].naa_len, 16);
	ck_assert_uint_eq(conf->volumes[0].naa[15], 0x0f);
	ck_assert_uint_eq(conf->volumes[1].block_size, 4096);
	t = conf_find_target(conf, "IQN.2026-11.example:t");
	ck_assert(t && t->disabled);
	ck_assert_uint_eq(t->nluns, 3);
	ck_assert_uint_eq(t->luns[1].lun, 9);
	ck_assert(t->luns[1].read_only && !t->luns[2].initiator);
	ck_assert_uint_eq(t->nrules, 2);
	ck_assert_uint_eq(t->rules[1].cidr.bits, 24);
}
END_TEST

static const struct {
	const char *text, *fault;
} wrong[] = {
	{ "[]", "must be an object" },
	{ "{\"volums\": {}}", "volums: unknown key" },
	{ "{\"version\": 2}", "version: must be 1" },
	{ "{\"volumes\": {\"v\": {}}}", "volumes.v: \"path\" is missing" },
	{ "{\"volumes\": {\"v w\": {\"path\": \"p\"}}}",
	  "volumes.v w: a volume's name is made of A-Z a-z 0-9 . _ -" },
	{ "{\"volumes\": {\"v\": {\"path\": 3}}}",
	  "volumes.v.path: must be a string" },
	{ "{\"volumes\": {\"v\": {\"path\": \"p\", \"size\": \"1X\"}}}",
	  "volumes.v.size: must be a size: bytes, or digits with K, M, G or "
	  "T" },
	{ "{\"volumes\": {\"v\": {\"path\": \"p\", \"size\": -1}}}",
	  "volumes.v.size: must be a size: bytes, or digits with K, M, G or "
	  "T" },
	{ "{\"volumes\": {\"v\": {\"path\": \"p\", \"size\": \"99999999P\"}}}",
	  "volumes.v.size: is too large" },
	{ "{\"volumes\": {\"v\": {\"path\": \"p\", \"size\": 513}}}",
	  "volumes.v: size is not a multiple of its blocks of 512 bytes" },
	{ "{\"volumes\": {\"v\": {\"path\": \"p\", \"block-size\": 1024}}}",
	  "volumes.v.block-size: must be 512 or 4096" },
	{ "{\"volumes\": {\"v\": {\"path\": \"p\", \"durability\": \"no\"}}}",
	  "volumes.v.durability: must be \"write-through\" or "
	  "\"write-back\"" },
	{ "{\"volumes\": {\"v\": {\"path\": \"p\", \"thick\": 1}}}",
	  "volumes.v.thick: must be true or false" },
	{ "{\"volumes\": {\"v\": {\"path\": \"p\", \"naa\": \"50\"}}}",
	  "volumes.v.naa: must be 16 or 32 hexadecimal digits" },
	{ "{\"volumes\": {\"v\": {\"path\": \"p\", \"naa\": "
	  "\"6000000000000001\"}}}",
	  "volumes.v.naa: its first digit must be 2, 3 or 5" },
	{ "{\"volumes\": {\"v\": {\"path\": \"p\", \"vaai\": {\"x\": true}}}}",
	  "volumes.v.vaai.x: unknown key" },
	{ "{\"volumes\": {\"v\": {\"path\": \"p\", \"vendor\": "
	  "\"123456789\"}}}",
	  "volumes.v.vendor: is longer than 8 bytes" },
	{ "{\"volumes\": {\"v\": {\"path\": \"null:\"}}}",
	  "volumes.v: a volume over null: needs a size" },
	{ "{\"volumes\": {\"a\": {\"path\": \"p\"}, \"b\": {\"path\": "
	  "\"p\"}}}", "volumes.b.path: is that of volumes.a already" },
	{ "{\"targets\": {\"iqn.2026-11.example:t\": {\"luns\": {\"0\": "
	  "\"v\"}}}}", "targets.iqn.2026-11.example:t.luns.0: no volume \"v\" "
	  "is defined" },
	{ "{\"targets\": {\"iqn.2026-11.example:t\": {\"luns\": {\"16384\": "
	  "\"v\"}}}}", "targets.iqn.2026-11.example:t.luns.16384: must be a "
	  "LUN, 0 to 16383" },
	{ "{\"targets\": {\"iqn.2026-11.example:t\": {\"luns\": {\"01\": "
	  "\"v\"}}}}", "targets.iqn.2026-11.example:t.luns.01: must be a "
	  "LUN, 0 to 16383" },
	{ "{\"targets\": {\"iqn.2026-11.example:t\": {\"allow\": \"*\"}}}",
	  "targets.iqn.2026-11.example:t.allow: must be a list" },
	{ "{\"targets\": {\"iqn.2026-11.example:t\": {\"allow\": [\"a b\"]}}}",
	  "targets.iqn.2026-11.example:t.allow[0]: must be an initiator name, "
	  "* and ? allowed" },
	{ "{\"targets\": {\"iqn.2026-11.example:t\": {\"allow\": [\"*\", "
	  "{\"initiator\": \"*\", \"address\": \"1.2.3.4/33\"}]}}}",
	  "targets.iqn.2026-11.example:t.allow[1].address: must be an address "
	  "or a network such as 192.0.2.0/24" },
	{ "{\"targets\": {\"iqn.2026-11.example:T\": {}}}",
	  "targets.iqn.2026-11.example:T: an iSCSI name is in lower case" },
	{ "{\"targets\": {\"iqn.2026-11.example:t\": {\"chap\": {\"user\": "
	  "\"u\", \"secret-file\": \"s\"}}}}",
	  "targets.iqn.2026-11.example:t.chap: secret-file: cannot read "
	  "/nowhere/s: No such file or directory" },
	{ "{\"portals\": [\"nowhere\"]}", "portals[0]: must be an address such "
	  "as 192.0.2.1:3260 or [2001:db8::1]:3260" },
	{ "{\"portals\": [\"1.2.3.4\", \"1.2.3.4:3260\"]}",
	  "portals[1]: is there already" },
	{ "{\"portals\": [{\"address\": \"1.2.3.4\", \"group\": 0}]}",
	  "portals[0].group: must be 1 to 65535" },
};

START_TEST(a_fault_names_its_place)
{
	faulty(wrong[_i].text, wrong[_i].fault);
}
END_TEST

START_TEST(all_faults_are_told)
{
	read_text("{\"a\": 1, \"volumes\": {\"v\": {\"b\": 1}}}", "/");
	ck_assert_ptr_null(conf);
	ck_assert_uint_eq(faults.n, 3);
}
END_TEST

START_TEST(a_flood_of_faults_is_bounded)
{
	json_t *doc = json_object();
	char key[16];
	int i;

	for (i = 0; i < 1000; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		json_object_set_new(doc, key, json_true());
	}
	ck_assert_ptr_null(conf_read(doc, NULL, "/", &faults));
	ck_assert_uint_eq(faults.n, FAULTS_MAX);
	json_decref(doc);
}
END_TEST

static void with_secret(const char *secret)
{
	char dir[] = "/tmp/lund-unit.XXXXXX", path[64];
	FILE *f;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/s", dir);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fputs(secret, f);
	fclose(f);
	read_text("{\"discovery\": {\"chap\": {\"user\": \"u\", "
		  "\"secret-file\": \"s\"}}}", dir);
	unlink(path);
	rmdir(dir);
}

START_TEST(a_secret_is_its_file_without_the_end_of_the_line)
{
	with_secret("a secret of 21 bytes!\n");
	ck_assert_ptr_nonnull(conf);
	ck_assert_uint_eq(conf->discovery[0].secret_len, 21);
	ck_assert(!memcmp(conf->discovery[0].secret, "a secret of 21 bytes!",
			  21));
}
END_TEST

START_TEST(a_short_secret_is_refused)
{
	with_secret("eleven byte");
	ck_assert_ptr_null(conf);
	ck_assert_ptr_nonnull(strstr(faults.text[0], "12 to 255 bytes"));
}
END_TEST

START_TEST(mutual_secret_is_another_one_and_has_a_name)
{
	char dir[] = "/tmp/lund-unit.XXXXXX", path[64];
	static const char *const docs[] = {
		"\"mutual-user\": \"m\", \"mutual-secret-file\": \"s\"",
		"\"mutual-user\": \"m\"", "\"mutual-secret-file\": \"s\"",
	};
	static const char *const wanted[] = { "must differ", "go together",
					      "go together" };
	char text[256];
	FILE *f;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/s", dir);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fputs("secretsecret", f);
	fclose(f);
	snprintf(text, sizeof(text), "{\"discovery\": {\"chap\": {\"user\": "
		 "\"u\", \"secret-file\": \"s\", %s}}}", docs[_i]);
	read_text(text, dir);
	unlink(path);
	rmdir(dir);
	ck_assert_ptr_null(conf);
	ck_assert_msg(strstr(faults.text[0], wanted[_i]), "%s", faults.text[0]);
}
END_TEST

START_TEST(portals_of_the_command_line_replace_the_documents)
{
	json_t *doc = json_pack("{s:[s]}", "portals", "1.2.3.4");
	json_t *mine = json_pack("[s]", "127.0.0.1:0");

	conf = conf_read(doc, mine, "/", &faults);
	ck_assert_uint_eq(conf->nportals, 1);
	ck_assert_str_eq(conf->portals[0].text, "127.0.0.1:0");
	json_decref(doc);
	json_decref(mine);
}
END_TEST

START_TEST(names_follow_the_standard)
{
	ck_assert_ptr_null(check_iscsi_name("iqn.2026-11.example.lab:vm-1"));
	ck_assert_ptr_null(check_iscsi_name("iqn.2026-11.example"));
	ck_assert_ptr_null(check_iscsi_name("eui.0123456789abcdef"));
	ck_assert_ptr_null(check_iscsi_name("naa.0123456789abcdef"));
	ck_assert_ptr_nonnull(check_iscsi_name(""));
	ck_assert_ptr_nonnull(check_iscsi_name("iqn.2026-11."));
	ck_assert_ptr_nonnull(check_iscsi_name("iqn.2026-11.:x"));
	ck_assert_ptr_nonnull(check_iscsi_name("iqn.26-11.example"));
	ck_assert_ptr_nonnull(check_iscsi_name("eui.0123456789abcde"));
	ck_assert_ptr_nonnull(check_iscsi_name("disk"));
	ck_assert_ptr_nonnull(check_iscsi_name("iqn.2026-11.example/x"));
	ck_assert_ptr_nonnull(check_volume_name(""));
	ck_assert_ptr_nonnull(check_volume_name("a/b"));
	ck_assert_ptr_null(check_volume_name("a.b_c-D9"));
}
END_TEST

START_TEST(patterns_know_stars_and_question_marks)
{
	ck_assert(pattern_match("*", ""));
	ck_assert(pattern_match("iqn.*:esx?", "IQN.1998-01.com.vmware:esx1"));
	ck_assert(!pattern_match("iqn.*:esx?", "iqn.x:esx"));
	ck_assert(pattern_match("*a*b", "xaxbxb"));
	ck_assert(!pattern_match("*a*b", "xaxbx"));
	ck_assert(!pattern_match("[a]", "a"));
	ck_assert(!pattern_match("", "a"));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("config");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, an_empty_document_listens_everywhere);
	tcase_add_test(tc, every_kind_of_entry_is_read);
	tcase_add_loop_test(tc, a_fault_names_its_place, 0,
			    sizeof(wrong) / sizeof(wrong[0]));
	tcase_add_test(tc, all_faults_are_told);
	tcase_add_test(tc, a_flood_of_faults_is_bounded);
	tcase_add_test(tc, a_secret_is_its_file_without_the_end_of_the_line);
	tcase_add_test(tc, a_short_secret_is_refused);
	tcase_add_loop_test(tc, mutual_secret_is_another_one_and_has_a_name,
			    0, 3);
	tcase_add_test(tc, portals_of_the_command_line_replace_the_documents);
	tcase_add_test(tc, names_follow_the_standard);
	tcase_add_test(tc, patterns_know_stars_and_question_marks);
	return unit_run("config", tc);
}
