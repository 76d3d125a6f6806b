/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_LIB_FAKE_INT_H
#define TESTS_LIB_FAKE_INT_H

/* Between the fake's engines and its volumes. */

#include "tests/lib/fake_backend.h"

/* Does one thing that volumes have to do; false: nothing to do. */
bool fake_volumes_run(void);
void fake_volumes_reset(void);

#endif
