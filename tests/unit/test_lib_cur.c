/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cursors that cannot overrun: lib/cur.h. */

#include "lib/cur.h"

#include "tests/lib/unit.h"

START_TEST(reader_gives_bytes_in_order_up_to_the_end)
{
	struct cur c = cur_of("abcdef", 6);

	ck_assert_mem_eq(cur_take(&c, 2), "ab", 2);
	ck_assert_mem_eq(cur_take(&c, 4), "cdef", 4);
	ck_assert_uint_eq(cur_left(&c), 0);
	ck_assert_ptr_nonnull(cur_take(&c, 0));
}
END_TEST

START_TEST(reader_refuses_more_than_is_left_and_stays_where_it_is)
{
	struct cur c = cur_of("abc", 3);

	ck_assert_ptr_null(cur_take(&c, 4));
	ck_assert_ptr_null(cur_take(&c, SIZE_MAX));
	ck_assert_uint_eq(cur_left(&c), 3);
	ck_assert_mem_eq(cur_take(&c, 3), "abc", 3);
}
END_TEST

START_TEST(reader_of_no_memory_is_at_its_end)
{
	struct cur c = cur_of(NULL, 0);

	ck_assert_uint_eq(cur_left(&c), 0);
	ck_assert_ptr_null(cur_take(&c, 1));
	cur_take(&c, 0);
	ck_assert_uint_eq(cur_left(&c), 0);
}
END_TEST

START_TEST(writer_puts_big_endian_integers)
{
	static const uint8_t want[] = {
		1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
		11, 12, 13, 14, 15, 16, 17, 18, 0xee, 0xee
	};
	uint8_t mem[20];
	struct out o = out_of(mem, sizeof(mem));

	out_u8(&o, 1);
	out_be16(&o, 0x0203);
	out_be24(&o, 0x040506);
	out_be32(&o, 0x0708090a);
	out_be64(&o, 0x0b0c0d0e0f101112);
	out_fill(&o, 0xee, 2);
	ck_assert_uint_eq(o.len, sizeof(want));
	ck_assert_mem_eq(mem, want, sizeof(want));
}
END_TEST

START_TEST(writer_counts_what_does_not_fit_and_stores_what_does)
{
	uint8_t mem[8];
	struct out o = out_of(mem, 5);

	memset(mem, '.', sizeof(mem));
	out_bytes(&o, "abcd", 4);
	out_bytes(&o, "efgh", 4);
	out_fill(&o, 'x', 10);
	ck_assert_uint_eq(o.len, 18);
	ck_assert_mem_eq(mem, "abcde...", 8);
}
END_TEST

START_TEST(writer_without_memory_only_counts)
{
	struct out o = out_of(NULL, 0);

	out_be32(&o, 1);
	out_patch_be16(&o, 0, 2);
	ck_assert_uint_eq(o.len, 4);
}
END_TEST

START_TEST(patch_overwrites_a_length_and_never_beyond_the_memory)
{
	uint8_t mem[8] = { 0 };
	struct out o = out_of(mem, 5);

	out_fill(&o, 0, 8);
	out_patch_be16(&o, 1, 0x0102);
	out_patch_be32(&o, 3, 0x03040506);
	out_patch_be32(&o, 6, 0x0708090a);
	ck_assert_mem_eq(mem, "\0\1\2\3\4\0\0\0", 8);
	ck_assert_uint_eq(o.len, 8);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("cur");

	tcase_add_test(tc, reader_gives_bytes_in_order_up_to_the_end);
	tcase_add_test(tc,
		       reader_refuses_more_than_is_left_and_stays_where_it_is);
	tcase_add_test(tc, reader_of_no_memory_is_at_its_end);
	tcase_add_test(tc, writer_puts_big_endian_integers);
	tcase_add_test(tc,
		       writer_counts_what_does_not_fit_and_stores_what_does);
	tcase_add_test(tc, writer_without_memory_only_counts);
	tcase_add_test(tc,
		       patch_overwrites_a_length_and_never_beyond_the_memory);
	return unit_run("lib/cur", tc);
}
