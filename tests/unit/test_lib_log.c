/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Log lines: lib/log.h.  stderr is a file here. */

#include "lib/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/unit.h"

static FILE *file;

static void setup(void)
{
	file = tmpfile();
	ck_assert_ptr_nonnull(file);
	dup2(fileno(file), STDERR_FILENO);
	log_init(LOG_TO_STDERR, "prog");
	log_set_level(LOG_INFO_);
}

static void teardown(void)
{
	fclose(file);
}

/* What was logged so far. */
static const char *logged(void)
{
	static char text[4096];
	ssize_t n = pread(fileno(file), text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return text;
}

START_TEST(line_tells_program_level_and_text)
{
	log_err("cannot open %s", "x");
	log_warn("odd");
	ck_assert_str_eq(logged(),
			 "prog: error: cannot open x\nprog: warning: odd\n");
}
END_TEST

START_TEST(lines_above_the_level_are_not_written)
{
	log_debug("quiet");
	ck_assert_str_eq(logged(), "");
	log_set_level(LOG_ERR_);
	log_warn("quiet");
	ck_assert_str_eq(logged(), "");
	log_set_level(LOG_DEBUG_);
	log_debug("loud");
	ck_assert_str_eq(logged(), "prog: debug: loud\n");
}
END_TEST

START_TEST(journal_gets_the_priority_as_a_prefix)
{
	log_init(LOG_TO_JOURNAL, "prog");
	log_err("bad");
	log_info("good");
	ck_assert_str_eq(logged(), "<3>bad\n<6>good\n");
}
END_TEST

START_TEST(bytes_of_a_peer_cannot_end_the_line_or_steer_a_terminal)
{
	log_err("name %s", "a\nprog: error: b\033[2J\177");
	ck_assert_str_eq(logged(),
			 "prog: error: name a?prog: error: b?[2J?\n");
}
END_TEST

START_TEST(long_line_is_cut_and_still_ends)
{
	char text[3000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	log_err("%s", text);
	ck_assert_uint_le(strlen(logged()), 1024);
	ck_assert_str_eq(strchr(logged(), '\n'), "\n");
}
END_TEST

START_TEST(errno_is_kept)
{
	errno = ENOTTY;
	log_err("%m");
	ck_assert_int_eq(errno, ENOTTY);
	ck_assert_ptr_nonnull(strstr(logged(), strerror(ENOTTY)));
}
END_TEST

START_TEST(level_is_found_by_its_name_alone)
{
	enum log_level level = LOG_ERR_;

	ck_assert_int_eq(log_level_of("debug", &level), 0);
	ck_assert_int_eq(level, LOG_DEBUG_);
	ck_assert_int_eq(log_level_of("warning", &level), 0);
	ck_assert_int_eq(level, LOG_WARN_);
	ck_assert_int_eq(log_level_of("Debug", &level), -EINVAL);
	ck_assert_int_eq(log_level_of("", &level), -EINVAL);
	ck_assert_int_eq(level, LOG_WARN_);
}
END_TEST

/* How many of n calls are allowed within one second. */
static unsigned allowed(struct log_limit *limit, unsigned n)
{
	uint64_t second;
	unsigned i, yes;

	do {
		*limit = (struct log_limit){ 0 };
		log_allow(limit, 5, "site");
		second = limit->second;
		for (yes = 1, i = 1; i < n; i++)
			yes += log_allow(limit, 5, "site");
	} while (limit->second != second);
	return yes;
}

START_TEST(site_may_write_five_lines_a_second)
{
	struct log_limit limit;

	ck_assert_uint_eq(allowed(&limit, 100), 5);
	ck_assert_uint_eq(limit.dropped, 95);
	ck_assert_str_eq(logged(), "");
}
END_TEST

START_TEST(next_second_tells_how_many_were_dropped)
{
	struct log_limit limit;

	allowed(&limit, 8);
	limit.second--;
	ck_assert(log_allow(&limit, 5, "site"));
	ck_assert_uint_eq(limit.dropped, 0);
	ck_assert_str_eq(logged(), "prog: warning: site: 3 lines dropped\n");
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("log");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, line_tells_program_level_and_text);
	tcase_add_test(tc, lines_above_the_level_are_not_written);
	tcase_add_test(tc, journal_gets_the_priority_as_a_prefix);
	tcase_add_test(tc,
		bytes_of_a_peer_cannot_end_the_line_or_steer_a_terminal);
	tcase_add_test(tc, long_line_is_cut_and_still_ends);
	tcase_add_test(tc, errno_is_kept);
	tcase_add_test(tc, level_is_found_by_its_name_alone);
	tcase_add_test(tc, site_may_write_five_lines_a_second);
	tcase_add_test(tc, next_second_tells_how_many_were_dropped);
	return unit_run("lib/log", tc);
}
