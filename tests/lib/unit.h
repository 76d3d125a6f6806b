/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_LIB_UNIT_H
#define TESTS_LIB_UNIT_H

/* What every unit test's main() does with its one test case. */

#include <check.h>
#include <stdlib.h>

static inline int unit_run(const char *name, TCase *tc)
{
	Suite *s = suite_create(name);
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
