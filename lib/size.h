/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIB_SIZE_H
#define LIB_SIZE_H

/* Sizes as people write them. */

#include <stdint.h>

/* "512", "64k", "20G", "1TiB", "1GB": powers of 1024 up to P, in any case.
 * -EINVAL, -ERANGE above INT64_MAX. */
int size_parse(const char *text, uint64_t *ret);

#endif
