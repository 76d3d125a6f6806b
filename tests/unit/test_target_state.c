/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state folder and files that are replaced whole: target/state*.c. */

#include "target/state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/unit.h"

static char dir[64], path[128];

static const char *in(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void setup(void)
{
	snprintf(dir, sizeof(dir), "/tmp/lund-unit.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(state_open(dir), 0);
}

static void teardown(void)
{
	char command[128];

	state_close();
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

static void again(void)
{
	state_close();
	ck_assert_int_eq(state_open(dir), 0);
}

static void holds(const char *name, const char *text)
{
	char buf[64] = "";
	FILE *f = fopen(in(name), "r");

	ck_assert_ptr_nonnull(f);
	ck_assert(fread(buf, 1, sizeof(buf) - 1, f) > 0);
	fclose(f);
	ck_assert_str_eq(buf, text);
}

START_TEST(two_daemons_do_not_share_a_folder)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(state_open(dir) == -EBUSY ? 0 : 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(an_identity_is_of_the_locally_administered_space)
{
	struct identity a, b;

	ck_assert_int_eq(identity_make(&a), 0);
	ck_assert_int_eq(identity_make(&b), 0);
	ck_assert_uint_eq(a.naa_len, 16);
	/* NAA 6h; the company id's first byte, 02h, lies across two */
	ck_assert_uint_eq(a.naa[0], 0x60);
	ck_assert_uint_eq(a.naa[1] >> 4, 0x2);
	ck_assert_int_ne(memcmp(a.naa, b.naa, 16), 0);
	ck_assert_uint_eq(strlen(a.serial), 16);
}
END_TEST

START_TEST(an_identity_survives_a_restart)
{
	struct identity a, b;

	identity_make(&a);
	ck_assert_int_eq(identity_load("vm1", &b), -ENOENT);
	ck_assert_int_eq(identity_save("vm1", &a), 0);
	again();
	ck_assert_int_eq(identity_load("vm1", &b), 0);
	ck_assert(!memcmp(a.naa, b.naa, 16) && a.naa_len == b.naa_len);
	ck_assert_str_eq(a.serial, b.serial);
	identity_remove("vm1");
	ck_assert_int_eq(identity_load("vm1", &b), -ENOENT);
}
END_TEST

START_TEST(a_damaged_identity_is_not_replaced_by_a_new_one)
{
	struct identity id;

	ck_assert_int_eq(file_replace(in("identities/vm1.json"), "{\"naa\": ",
				      8, 0600), 0);
	ck_assert_int_eq(identity_load("vm1", &id), -EINVAL);
}
END_TEST

START_TEST(port_identifiers_are_given_once_and_never_again)
{
	uint16_t a = port_id("iqn.a", 1), b = port_id("iqn.a", 2);

	ck_assert_uint_ne(a, 0);
	ck_assert_uint_ne(a, b);
	ck_assert_uint_eq(port_id("iqn.a", 1), a);
	again();
	ck_assert_uint_eq(port_id("iqn.a", 1), a);
	ck_assert_uint_gt(port_id("iqn.b", 1), b);
}
END_TEST

START_TEST(a_damaged_record_of_ports_gives_none)
{
	ck_assert_uint_ne(port_id("iqn.a", 1), 0);
	ck_assert_int_eq(file_replace(in("ports.json"), "{}", 2, 0600), 0);
	again();
	ck_assert_uint_eq(port_id("iqn.b", 1), 0);
}
END_TEST

START_TEST(a_replaced_file_keeps_its_mode)
{
	struct stat st;

	ck_assert_int_eq(file_replace(in("f"), "one", 3, 0600), 0);
	ck_assert_int_eq(chmod(in("f"), 0640), 0);
	ck_assert_int_eq(file_replace(in("f"), "two", 3, 0600), 0);
	holds("f", "two");
	ck_assert_int_eq(stat(in("f"), &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0640);
	ck_assert_int_ne(access(in("f.new"), F_OK), 0);
}
END_TEST

START_TEST(the_target_of_a_link_is_replaced)
{
	char link[128];
	struct stat st;

	ck_assert_int_eq(file_replace(in("f"), "one", 3, 0600), 0);
	snprintf(link, sizeof(link), "%s/link", dir);
	ck_assert_int_eq(symlink("f", link), 0);
	ck_assert_int_eq(file_replace(link, "two", 3, 0600), 0);
	holds("f", "two");
	ck_assert_int_eq(lstat(link, &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
}
END_TEST

START_TEST(a_file_that_cannot_be_replaced_stays)
{
	ck_assert_int_eq(file_replace(in("f"), "one", 3, 0600), 0);
	ck_assert_int_eq(mkdir(in("f.new"), 0700), 0);
	ck_assert_int_lt(file_replace(in("f"), "two", 3, 0600), 0);
	holds("f", "one");
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("state");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, two_daemons_do_not_share_a_folder);
	tcase_add_test(tc, an_identity_is_of_the_locally_administered_space);
	tcase_add_test(tc, an_identity_survives_a_restart);
	tcase_add_test(tc, a_damaged_identity_is_not_replaced_by_a_new_one);
	tcase_add_test(tc, port_identifiers_are_given_once_and_never_again);
	tcase_add_test(tc, a_damaged_record_of_ports_gives_none);
	tcase_add_test(tc, a_replaced_file_keeps_its_mode);
	tcase_add_test(tc, the_target_of_a_link_is_replaced);
	tcase_add_test(tc, a_file_that_cannot_be_replaced_stays);
	return unit_run("state", tc);
}
