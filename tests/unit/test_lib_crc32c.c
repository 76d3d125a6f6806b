/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Digests: lib/crc32c.h, with the examples of RFC 7143 appendix A.4. */

#include "lib/crc32c.h"

#include <string.h>

#include "tests/lib/unit.h"

struct example {
	int first, step;	/* 32 bytes: first, first + step, ... */
	uint8_t wire[4];
};

static const struct example examples[] = {
	{ 0x00, 0, { 0xaa, 0x36, 0x91, 0x8a } },
	{ 0xff, 0, { 0x43, 0xab, 0xa8, 0x62 } },
	{ 0x00, 1, { 0x4e, 0x79, 0xdd, 0x46 } },
	{ 0x1f, -1, { 0x5c, 0xdb, 0x3f, 0x11 } },
};

static void fill(uint8_t *p, size_t n, int first, int step)
{
	size_t i;

	for (i = 0; i < n; i++)
		p[i] = (uint8_t)(first + (int)i * step);
}

START_TEST(digest_is_that_of_the_standard)
{
	uint8_t data[32];

	fill(data, sizeof(data), examples[_i].first, examples[_i].step);
	ck_assert_mem_eq(crc32c(data, sizeof(data)).b, examples[_i].wire, 4);
}
END_TEST

START_TEST(digest_of_pieces_is_that_of_the_whole)
{
	uint8_t data[200];
	uint32_t crc = crc32c_init();
	size_t cut = (size_t)_i;

	fill(data, sizeof(data), 7, 13);
	crc = crc32c_add(crc, data, cut);
	crc = crc32c_add(crc, data + cut, sizeof(data) - cut);
	ck_assert_mem_eq(crc32c_final(crc).b, crc32c(data, sizeof(data)).b, 4);
}
END_TEST

START_TEST(digest_of_nothing_is_zero)
{
	ck_assert_uint_eq(be32_get(crc32c("", 0)), 0);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("crc32c");

	tcase_add_loop_test(tc, digest_is_that_of_the_standard, 0, 4);
	tcase_add_loop_test(tc, digest_of_pieces_is_that_of_the_whole, 0, 70);
	tcase_add_test(tc, digest_of_nothing_is_zero);
	return unit_run("lib/crc32c", tc);
}
