/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIB_IOV_H
#define LIB_IOV_H

/* What an array of struct iovec holds, and moving on in it. */

#include <stddef.h>
#include <sys/uio.h>

/* Sum of the lengths. */
size_t iov_len(const struct iovec *iov, int niov);
/* Drops the first n bytes in place: moves *iov and *niov on and shortens the
 * first entry left.  n must not exceed iov_len(). */
void iov_advance(struct iovec **iov, int *niov, size_t n);

#endif
