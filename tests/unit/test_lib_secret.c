/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Memory for secrets: lib/secret.c. */

#include "lib/secret.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/unit.h"

/* What smaps says of the mapping that begins at p: its flags, or "". */
static const char *flags_of(const void *p)
{
	static char line[512];
	unsigned long from, to;
	FILE *f = fopen("/proc/self/smaps", "re");
	bool there = false;

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			there = (uintptr_t)p >= from && (uintptr_t)p < to;
		else if (there && !strncmp(line, "VmFlags:", 8))
			break;
		line[0] = '\0';
	}
	fclose(f);
	return line;
}

START_TEST(secrets_are_left_out_of_core_files)
{
	unsigned char *p = secret_alloc(100);

	ck_assert_ptr_nonnull(p);
	memset(p, 0x5a, 100);
	ck_assert_ptr_nonnull(strstr(flags_of(p), " dd"));
	secret_free(p, 100);
}
END_TEST

START_TEST(memory_for_secrets_is_zeroed)
{
	static const unsigned char zero[5000];
	unsigned char *p = secret_alloc(sizeof(zero));

	ck_assert_mem_eq(p, zero, sizeof(zero));
	secret_free(p, sizeof(zero));
	secret_free(NULL, 0);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("secret");

	tcase_add_test(tc, secrets_are_left_out_of_core_files);
	tcase_add_test(tc, memory_for_secrets_is_zeroed);
	return unit_run("secret", tc);
}
