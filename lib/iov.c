/* SPDX-License-Identifier: GPL-2.0-or-later */

/* See iov.h. */

#include "lib/iov.h"

#include <assert.h>
#include <stdint.h>

size_t iov_len(const struct iovec *iov, int niov)
{
	size_t sum = 0;
	int i;

	for (i = 0; i < niov; i++)
		sum += iov[i].iov_len;
	return sum;
}

void iov_advance(struct iovec **iov, int *niov, size_t n)
{
	while (*niov && n >= (*iov)->iov_len) {
		n -= (*iov)->iov_len;
		(*iov)++;
		(*niov)--;
	}
	if (!n)
		return;
	assert(*niov);
	(*iov)->iov_base = (uint8_t *)(*iov)->iov_base + n;
	(*iov)->iov_len -= n;
}
