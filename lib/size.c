/* SPDX-License-Identifier: GPL-2.0-or-later */

/* See size.h. */

#include "lib/size.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int size_parse(const char *text, uint64_t *ret)
{
	static const char units[] = "KkMmGgTtPp";
	const char *unit;
	uint64_t n;
	unsigned shift = 0;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno)
		return -ERANGE;
	if (*end) {
		unit = strchr(units, *end++);
		if (!unit || (*end && strcmp(end, "iB") && strcmp(end, "B")))
			return -EINVAL;
		shift = 10 * ((unsigned)(unit - units) / 2 + 1);
	}
	if (n > (uint64_t)INT64_MAX >> shift)
		return -ERANGE;
	*ret = n << shift;
	return 0;
}
