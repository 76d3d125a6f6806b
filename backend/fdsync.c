/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Calls on descriptors that block, whole or failed: for threads of a volume.
 */

#include "backend/backend_int.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/util.h"

int full_pread(int fd, void *buf, size_t len, uint64_t off)
{
	uint8_t *at = buf;
	ssize_t n;

	while (len) {
		n = pread(fd, at, len, (off_t)off);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		at += n;
		off += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

int full_pwrite(int fd, const void *buf, size_t len, uint64_t off)
{
	const uint8_t *at = buf;
	ssize_t n;

	while (len) {
		n = pwrite(fd, at, len, (off_t)off);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		at += n;
		off += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

int full_fallocate(int fd, int mode, uint64_t off, uint64_t len)
{
	int err;

	do {
		err = fallocate(fd, mode, (off_t)off, (off_t)len) ? -errno : 0;
	} while (err == -EINTR);
	return err;
}

int write_zeros(int fd, uint64_t off, uint64_t len)
{
	static const _Alignas(4096) uint8_t zeros[64 << 10];
	size_t n;
	int err;

	for (; len; off += n, len -= n) {
		n = (size_t)MIN(len, sizeof(zeros));
		err = full_pwrite(fd, zeros, n, off);
		if (err)
			return err;
	}
	return 0;
}

int seek_extent(int fd, uint64_t off, uint64_t len, bool *ret_mapped,
		uint64_t *ret_run)
{
	off_t end, at = lseek(fd, (off_t)off, SEEK_DATA);

	if (at < 0 && errno != ENXIO)
		return -errno;
	if (at < 0 || (uint64_t)at >= off + len) {
		*ret_mapped = false;
		*ret_run = len;
		return 0;
	}
	*ret_mapped = (uint64_t)at == off;
	if (!*ret_mapped) {
		*ret_run = (uint64_t)at - off;
		return 0;
	}
	end = lseek(fd, at, SEEK_HOLE);
	if (end < 0)
		return -errno;
	/* not even one byte: it was punched between the two calls */
	*ret_run = (uint64_t)end > off ? MIN((uint64_t)end - off, len) : len;
	return 0;
}

int held_extent(int fd, uint64_t off, uint64_t len, bool *ret_held,
		uint64_t *ret_run)
{
	union {
		struct fiemap map;
		uint8_t room[sizeof(struct fiemap) +
			     sizeof(struct fiemap_extent)];
	} u = { .map = { .fm_start = off, .fm_length = len,
			 .fm_extent_count = 1 } };
	const struct fiemap_extent *x = u.map.fm_extents;
	uint64_t end;

	if (ioctl(fd, FS_IOC_FIEMAP, &u.map) < 0)
		return -errno;
	end = off + len;
	*ret_held = u.map.fm_mapped_extents && x->fe_logical <= off;
	if (*ret_held)
		end = x->fe_logical + x->fe_length;
	else if (u.map.fm_mapped_extents)
		end = x->fe_logical;
	*ret_run = end > off ? MIN(end - off, len) : len;
	return 0;
}
