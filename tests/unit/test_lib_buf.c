/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pool of data buffers: lib/buf.h. */

#include "lib/buf.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>

#include "tests/lib/unit.h"

#define TOTAL	(4 * (size_t)BUF_MAX)
#define RESERVE	((size_t)BUF_MAX)

static struct bufpool *pool;

static void setup(void)
{
	int err = 0;

	pool = bufpool_new(TOTAL, RESERVE, &err);
	ck_assert_ptr_nonnull(pool);
}

static void teardown(void)
{
	bufpool_free(pool);
}

/* Takes buffers until none is left and gives them back; returns how many. */
static size_t drain(size_t len, enum buf_class cls)
{
	static void *bufs[TOTAL / BUF_MIN + 1];
	size_t i, n = 0;

	while ((bufs[n] = buf_get(pool, len, cls)))
		n++;
	for (i = 0; i < n; i++)
		buf_put(pool, bufs[i], len);
	return n;
}

START_TEST(buffer_is_a_power_of_two_that_holds_the_length)
{
	static const size_t lens[][2] = {
		{ 1, BUF_MIN }, { BUF_MIN, BUF_MIN },
		{ BUF_MIN + 1, 2 * BUF_MIN }, { 3 * BUF_MIN, 4 * BUF_MIN },
		{ BUF_MAX / 2 + 1, BUF_MAX }, { BUF_MAX, BUF_MAX },
	};
	size_t len = lens[_i][0];
	void *buf = buf_get(pool, len, BUF_NORMAL);

	ck_assert_ptr_nonnull(buf);
	memset(buf, 0xa5, len);
	ck_assert_uint_eq(bufpool_used(pool), lens[_i][1]);
	ck_assert_uint_eq((uintptr_t)buf % BUF_MIN, 0);
	buf_put(pool, buf, len);
	ck_assert_uint_eq(bufpool_used(pool), 0);
}
END_TEST

START_TEST(total_is_rounded_up_to_whole_largest_buffers)
{
	int err = 0;
	struct bufpool *p = bufpool_new(1, 0, &err);

	ck_assert_uint_eq(bufpool_total(p), BUF_MAX);
	ck_assert_uint_eq(bufpool_total(pool), TOTAL);
	bufpool_free(p);
	bufpool_free(NULL);
}
END_TEST

START_TEST(pool_that_cannot_be_had_is_an_error)
{
	int err = 0;

	ck_assert_ptr_null(bufpool_new((size_t)1 << 56, 0, &err));
	ck_assert_int_eq(err, -ENOMEM);
}
END_TEST

START_TEST(lent_buffers_do_not_overlap)
{
	uint8_t *small = buf_get(pool, BUF_MIN, BUF_NORMAL);
	uint8_t *large = buf_get(pool, 16 * BUF_MIN, BUF_NORMAL);
	uint8_t *next = buf_get(pool, BUF_MIN, BUF_NORMAL);

	memset(small, 1, BUF_MIN);
	memset(large, 2, 16 * BUF_MIN);
	memset(next, 3, BUF_MIN);
	ck_assert_uint_eq(small[0], 1);
	ck_assert_uint_eq(small[BUF_MIN - 1], 1);
	ck_assert_uint_eq(large[0], 2);
	ck_assert_uint_eq(large[16 * BUF_MIN - 1], 2);
	buf_put(pool, small, BUF_MIN);
	buf_put(pool, large, 16 * BUF_MIN);
	buf_put(pool, next, BUF_MIN);
}
END_TEST

START_TEST(every_byte_can_be_lent_as_buffers_of_any_size)
{
	size_t len = (size_t)BUF_MIN << _i;

	ck_assert_uint_eq(drain(len, BUF_RESERVED), TOTAL / len);
	ck_assert_uint_eq(bufpool_used(pool), 0);
}
END_TEST

START_TEST(buffers_given_back_merge_into_the_largest_again)
{
	static void *bufs[TOTAL / BUF_MIN];
	size_t i, n = TOTAL / BUF_MIN;

	for (i = 0; i < n; i++)
		bufs[i] = buf_get(pool, BUF_MIN, BUF_RESERVED);
	for (i = 0; i < n; i += 2)
		buf_put(pool, bufs[i], BUF_MIN);
	ck_assert_ptr_null(buf_get(pool, 2 * BUF_MIN, BUF_RESERVED));
	for (i = 1; i < n; i += 2)
		buf_put(pool, bufs[i], BUF_MIN);
	ck_assert_uint_eq(drain(BUF_MAX, BUF_RESERVED), TOTAL / BUF_MAX);
}
END_TEST

START_TEST(one_small_buffer_costs_one_largest_buffer_at_most)
{
	void *buf = buf_get(pool, 1, BUF_NORMAL);

	ck_assert_uint_eq(drain(BUF_MAX, BUF_RESERVED), TOTAL / BUF_MAX - 1);
	buf_put(pool, buf, 1);
}
END_TEST

START_TEST(buffer_given_back_last_is_lent_first)
{
	void *a = buf_get(pool, BUF_MIN, BUF_NORMAL);
	void *b = buf_get(pool, BUF_MIN, BUF_NORMAL);
	void *c = buf_get(pool, BUF_MIN, BUF_NORMAL);

	buf_put(pool, b, BUF_MIN);
	ck_assert_ptr_eq(buf_get(pool, BUF_MIN, BUF_NORMAL), b);
	buf_put(pool, a, BUF_MIN);
	buf_put(pool, b, BUF_MIN);
	buf_put(pool, c, BUF_MIN);
}
END_TEST

START_TEST(normal_requests_leave_the_reserve)
{
	ck_assert_uint_eq(drain(BUF_MIN, BUF_NORMAL),
			  (TOTAL - RESERVE) / BUF_MIN);
	ck_assert_uint_eq(drain(BUF_MIN, BUF_RESERVED), TOTAL / BUF_MIN);
}
END_TEST

START_TEST(bulk_requests_leave_half)
{
	ck_assert_uint_eq(drain(BUF_MIN, BUF_BULK), TOTAL / 2 / BUF_MIN);
}
END_TEST

START_TEST(bulk_requests_leave_the_reserve_beside_normal_ones)
{
	void *a = buf_get(pool, BUF_MAX, BUF_NORMAL);
	void *b = buf_get(pool, BUF_MAX, BUF_NORMAL);

	ck_assert_uint_eq(drain(BUF_MAX, BUF_BULK), 1);
	buf_put(pool, a, BUF_MAX);
	ck_assert_uint_eq(drain(BUF_MAX, BUF_BULK), 2);
	buf_put(pool, b, BUF_MAX);
}
END_TEST

START_TEST(giving_a_buffer_back_twice_is_caught)
{
	void *buf = buf_get(pool, BUF_MIN, BUF_NORMAL);

	buf_put(pool, buf, BUF_MIN);
	buf_put(pool, buf, BUF_MIN);
}
END_TEST

START_TEST(giving_a_buffer_back_with_another_length_is_caught)
{
	void *buf = buf_get(pool, BUF_MIN, BUF_NORMAL);

	buf_put(pool, buf, 2 * BUF_MIN);
}
END_TEST

/* Random sizes: what is lent keeps its bytes, and all comes back. */
START_TEST(contents_survive_a_thousand_random_turns)
{
	struct { uint8_t *p; size_t len; } lent[64] = { { NULL, 0 } };
	unsigned seed = 1, turn, i;

	for (turn = 0; turn < 1064; turn++) {
		i = turn < 1000 ? (unsigned)rand_r(&seed) % 64 : turn - 1000;
		if (lent[i].p) {
			ck_assert_uint_eq(lent[i].p[0], i);
			ck_assert_uint_eq(lent[i].p[lent[i].len - 1], i);
			buf_put(pool, lent[i].p, lent[i].len);
			lent[i].p = NULL;
			continue;
		}
		if (turn >= 1000)
			continue;
		lent[i].len = 1 + (size_t)rand_r(&seed) % (256 << 10);
		lent[i].p = buf_get(pool, lent[i].len, BUF_NORMAL);
		if (lent[i].p)
			memset(lent[i].p, (int)i, lent[i].len);
	}
	ck_assert_uint_eq(bufpool_used(pool), 0);
	ck_assert_uint_eq(drain(BUF_MAX, BUF_RESERVED), TOTAL / BUF_MAX);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("buf");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, buffer_is_a_power_of_two_that_holds_the_length,
			    0, 6);
	tcase_add_test(tc, total_is_rounded_up_to_whole_largest_buffers);
	tcase_add_test(tc, pool_that_cannot_be_had_is_an_error);
	tcase_add_test(tc, lent_buffers_do_not_overlap);
	tcase_add_loop_test(tc, every_byte_can_be_lent_as_buffers_of_any_size,
			    0, 10);
	tcase_add_test(tc, buffers_given_back_merge_into_the_largest_again);
	tcase_add_test(tc, one_small_buffer_costs_one_largest_buffer_at_most);
	tcase_add_test(tc, buffer_given_back_last_is_lent_first);
	tcase_add_test(tc, normal_requests_leave_the_reserve);
	tcase_add_test(tc, bulk_requests_leave_half);
	tcase_add_test(tc, bulk_requests_leave_the_reserve_beside_normal_ones);
	tcase_add_test_raise_signal(tc, giving_a_buffer_back_twice_is_caught,
				    SIGABRT);
	tcase_add_test_raise_signal(tc,
		giving_a_buffer_back_with_another_length_is_caught, SIGABRT);
	tcase_add_test(tc, contents_survive_a_thousand_random_turns);
	return unit_run("lib/buf", tc);
}
