/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/iov.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "lib/util.h"

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

size_t iov_to_mem(void *dst, const struct iovec *iov, int niov, size_t len)
{
	size_t n, done = 0;
	int i;

	for (i = 0; i < niov && done < len; i++) {
		n = MIN(iov[i].iov_len, len - done);
		if (n)
			memcpy((uint8_t *)dst + done, iov[i].iov_base, n);
		done += n;
	}
	return done;
}

size_t iov_from_mem(const struct iovec *iov, int niov, const void *src,
		    size_t len)
{
	size_t n, done = 0;
	int i;

	for (i = 0; i < niov && done < len; i++) {
		n = MIN(iov[i].iov_len, len - done);
		if (n)
			memcpy(iov[i].iov_base, (const uint8_t *)src + done, n);
		done += n;
	}
	return done;
}
