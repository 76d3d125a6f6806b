/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Typed big-endian integers: lib/be.h. */

#include "lib/be.h"

#include "tests/lib/unit.h"

_Static_assert(sizeof(be24) == 3, "no padding");
_Static_assert(_Alignof(be64) == 1, "may stand anywhere");

START_TEST(most_significant_byte_stands_first)
{
	static const uint8_t want16[] = { 0x12, 0x34 };
	static const uint8_t want24[] = { 0x12, 0x34, 0x56 };
	static const uint8_t want32[] = { 0x12, 0x34, 0x56, 0x78 };
	static const uint8_t want64[] = {
		0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0
	};

	ck_assert_mem_eq(be16_of(0x1234).b, want16, 2);
	ck_assert_mem_eq(be24_of(0x123456).b, want24, 3);
	ck_assert_mem_eq(be32_of(0x12345678).b, want32, 4);
	ck_assert_mem_eq(be64_of(0x123456789abcdef0).b, want64, 8);
}
END_TEST

START_TEST(what_was_written_is_read)
{
	static const uint64_t values[] = {
		0, 1, 0x7f, 0x80, 0xffff, 0x800000, 0x80000000, UINT64_MAX
	};
	uint64_t x = values[_i];

	ck_assert_uint_eq(be16_get(be16_of((uint16_t)x)), (uint16_t)x);
	ck_assert_uint_eq(be24_get(be24_of((uint32_t)x)), x & 0xffffff);
	ck_assert_uint_eq(be32_get(be32_of((uint32_t)x)), (uint32_t)x);
	ck_assert(be64_get(be64_of(x)) == x);
}
END_TEST

START_TEST(integer_is_read_at_an_odd_offset)
{
	static const uint8_t bytes[] = { 9, 0, 0, 1, 2, 9 };

	ck_assert_uint_eq(be32_get(BE_AT(be32, bytes, 1)), 0x102);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("be");

	tcase_add_test(tc, most_significant_byte_stands_first);
	tcase_add_loop_test(tc, what_was_written_is_read, 0, 8);
	tcase_add_test(tc, integer_is_read_at_an_odd_offset);
	return unit_run("lib/be", tc);
}
