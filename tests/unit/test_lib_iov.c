/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrays of struct iovec: lib/iov.h. */

#include "lib/iov.h"

#include <string.h>

#include "tests/lib/unit.h"

static char mem[10];
static struct iovec array[4], *iov;
static int niov;

/* "abc", nothing, "defg", "hij" */
static void setup(void)
{
	memcpy(mem, "abcdefghij", 10);
	array[0] = (struct iovec){ mem, 3 };
	array[1] = (struct iovec){ mem + 3, 0 };
	array[2] = (struct iovec){ mem + 3, 4 };
	array[3] = (struct iovec){ mem + 7, 3 };
	iov = array;
	niov = 4;
}

START_TEST(length_is_the_sum)
{
	ck_assert_uint_eq(iov_len(iov, niov), 10);
	ck_assert_uint_eq(iov_len(iov, 0), 0);
}
END_TEST

START_TEST(advance_drops_exactly_n_bytes)
{
	const char *next = &"abcdefghij"[_i];

	iov_advance(&iov, &niov, (size_t)_i);
	ck_assert_uint_eq(iov_len(iov, niov), strlen(next));
	for (; niov; iov++, niov--) {
		ck_assert_mem_eq(iov->iov_base, next, iov->iov_len);
		next += iov->iov_len;
	}
	ck_assert_int_eq(*next, '\0');
}
END_TEST

START_TEST(advance_over_everything_leaves_no_entry)
{
	iov_advance(&iov, &niov, 10);
	ck_assert_int_eq(niov, 0);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("iov");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, length_is_the_sum);
	tcase_add_loop_test(tc, advance_drops_exactly_n_bytes, 0, 11);
	tcase_add_test(tc, advance_over_everything_leaves_no_entry);
	return unit_run("lib/iov", tc);
}
