/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Requests, apart from how they reach the kernel: short transfers end here, and
 * so do plain calls for a send or a disk request, without blocking (on the
 * engine's thread) or with (on a thread of the pool).
 */

#include "backend/engine_int.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "lib/iov.h"

bool ereq_is_socket(const struct ereq *r)
{
	return r->op <= EREQ_POLL_IN;
}

bool ereq_step(struct ereq *r, int64_t res)
{
	if (res == -EINTR || res == -EAGAIN)
		return false;

	switch (r->op) {
	case EREQ_SEND:
	case EREQ_READ:
	case EREQ_WRITE:
		if (res == 0)
			res = -EIO;	/* the end of the file or device */
		if (res < 0)
			break;
		r->moved += (uint64_t)res;
		if (r->moved < r->len) {
			iov_advance(&r->iov, &r->niov, (size_t)res);
			return false;
		}
		res = 0;
		break;
	case EREQ_POLL_IN:
	case EREQ_FSYNC:
	case EREQ_FALLOCATE:
		res = MIN(res, 0);
		break;
	case EREQ_ACCEPT:
	case EREQ_RECV:
		break;
	}
	r->result = (int)res;
	return true;
}

bool ereq_inline_ok(const struct ereq *r)
{
	if (r->flags & EREQ_DIRECT)
		return false;
	if (r->op == EREQ_READ)
		return r->flags & EREQ_NOWAIT;
	return r->op == EREQ_WRITE && !(r->flags & EREQ_DSYNC) &&
	       r->flags & (EREQ_NOWAIT | EREQ_INLINE);
}

int64_t ereq_send(struct ereq *r)
{
	const int flags = MSG_DONTWAIT | MSG_NOSIGNAL;
	ssize_t res;

	if (r->niov == 1)
		res = send(r->fd, r->iov->iov_base, r->iov->iov_len, flags);
	else
		res = sendmsg(r->fd, ereq_msg(r), flags);
	return res < 0 ? -errno : res;
}

static ssize_t disk_call(struct ereq *r, int rwf)
{
	int n = MIN(r->niov, IOV_MAX);
	off_t at = (off_t)(r->off + r->moved);
	ssize_t res;

	switch (r->op) {
	case EREQ_READ:
		res = preadv2(r->fd, r->iov, n, at, rwf);
		break;
	case EREQ_WRITE:
		if (r->flags & EREQ_DSYNC)
			rwf |= RWF_DSYNC;
		res = pwritev2(r->fd, r->iov, n, at, rwf);
		break;
	case EREQ_FSYNC:
		res = fdatasync(r->fd);
		break;
	case EREQ_FALLOCATE:
		res = fallocate(r->fd, r->mode, (off_t)r->off, (off_t)r->len);
		break;
	default:
		return -EINVAL;
	}
	return res < 0 ? -errno : res;
}

bool ereq_try(struct ereq *r)
{
	int rwf = r->flags & EREQ_NOWAIT ? RWF_NOWAIT : 0;

	for (;;) {
		int64_t res = r->op == EREQ_SEND ? ereq_send(r) :
						   disk_call(r, rwf);

		/* A descriptor that lost the ability to say "not now" after it
		 * was probed is served by the way that may sleep. */
		if (res == -EAGAIN || res == -EOPNOTSUPP)
			return false;
		if (ereq_step(r, res))
			return true;
	}
}

void ereq_block(struct ereq *r)
{
	while (!ereq_step(r, disk_call(r, 0)))
		;
}

struct msghdr *ereq_msg(struct ereq *r)
{
	memset(&r->msg, 0, sizeof(r->msg));
	r->msg.msg_iov = r->iov;
	r->msg.msg_iovlen = (size_t)MIN(r->niov, IOV_MAX);
	return &r->msg;
}
