/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BACKEND_URING_INT_H
#define BACKEND_URING_INT_H

/* The ring of the io_uring engine. */

#include <liburing.h>

/* 0 or -errno; -ENOSYS: the kernel lacks what the engine needs. */
int uring_open(struct io_uring *ring);

#endif
