/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sizes as people write them: lib/size.h. */

#include "lib/size.h"

#include <errno.h>

#include "tests/lib/unit.h"

static const struct {
	const char *text;
	int	 err;
	uint64_t n;
} cases[] = {
	{ "0", 0, 0 },
	{ "512", 0, 512 },
	{ "3k", 0, 3072 },
	{ "2T", 0, (uint64_t)2 << 40 },
	{ "1GiB", 0, (uint64_t)1 << 30 },
	{ "7MB", 0, (uint64_t)7 << 20 },
	{ "8191P", 0, (uint64_t)8191 << 50 },
	{ "", -EINVAL, 0 },
	{ "-1", -EINVAL, 0 },
	{ " 1", -EINVAL, 0 },
	{ "1 ", -EINVAL, 0 },
	{ "1GG", -EINVAL, 0 },
	{ "1GiBs", -EINVAL, 0 },
	{ "K", -EINVAL, 0 },
	{ "8192P", -ERANGE, 0 },
	{ "99999999999999999999", -ERANGE, 0 },
};

START_TEST(size_is_taken_or_refused)
{
	uint64_t n = 0;

	ck_assert_int_eq(size_parse(cases[_i].text, &n), cases[_i].err);
	ck_assert_uint_eq(n, cases[_i].n);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("size");

	tcase_add_loop_test(tc, size_is_taken_or_refused, 0,
			    sizeof(cases) / sizeof(cases[0]));
	return unit_run("lib/size", tc);
}
