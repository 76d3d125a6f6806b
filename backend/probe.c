/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What a descriptor and its file system can do, found out by trying: on unnamed
 * files in the same folder, so that nothing in a volume is touched.
 */

#include "backend/backend_int.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/util.h"

/* Every file system's block is a divisor of this. */
#define TRIAL		((size_t)64 << 10)
#define TRIAL_ALIGN	4096

/* An unnamed file in the folder, or -errno. */
static int trial_open(const char *folder, int flags)
{
	char name[4096];
	int fd, err;

	fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC | flags, 0600);
	if (fd >= 0)
		return fd;
	err = snprintf(name, sizeof(name), "%s/.lund-XXXXXX", folder);
	if (err < 0 || (size_t)err >= sizeof(name))
		return -ENAMETOOLONG;
	fd = mkostemp(name, O_CLOEXEC | flags);
	if (fd < 0)
		return -errno;
	unlink(name);
	return fd;
}

/* The folder that really holds path: a link may lead elsewhere. */
static char *folder_of(const char *path)
{
	char *real = realpath(path, NULL);
	char *slash = real ? strrchr(real, '/') : NULL;

	if (slash)
		slash[slash == real] = '\0';
	return real;
}

static bool is_zero(int fd, uint64_t off, size_t len, uint8_t *buf)
{
	if (full_pread(fd, buf, len, off))
		return false;
	return !buf[0] && !memcmp(buf, buf + 1, len - 1);
}

static bool try_zeroing(int fd, int mode, uint8_t *buf)
{
	memset(buf, 0xa5, 2 * TRIAL);
	return !full_pwrite(fd, buf, 2 * TRIAL, 0) &&
	       !full_fallocate(fd, mode | FALLOC_FL_KEEP_SIZE, 0, TRIAL) &&
	       is_zero(fd, 0, TRIAL, buf) && !is_zero(fd, TRIAL, TRIAL, buf);
}

static bool try_reflink(const char *folder, int fd)
{
	struct file_clone_range range = { .src_fd = fd, .src_length = TRIAL };
	int to = trial_open(folder, 0);
	bool ok;

	if (to < 0)
		return false;
	ok = !ioctl(to, FICLONERANGE, &range);
	close(to);
	return ok;
}

/* EAGAIN is an answer of who knows the flag. */
static bool knows_nowait(ssize_t n)
{
	return n >= 0 || errno == EAGAIN;
}

bool probe_nowait_read(int fd)
{
	struct iovec iov = { .iov_len = TRIAL_ALIGN };
	bool ok;

	if (posix_memalign(&iov.iov_base, TRIAL_ALIGN, iov.iov_len))
		return false;
	ok = knows_nowait(preadv2(fd, &iov, 1, 0, RWF_NOWAIT));
	free(iov.iov_base);
	return ok;
}

static uint32_t fs_granule(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0 || !is_pow2((uint64_t)fs.f_bsize) ||
	    fs.f_bsize < 512 || (size_t)fs.f_bsize > TRIAL)
		return 4096;
	return (uint32_t)fs.f_bsize;
}

/*
 * Does a write into the page cache cost less here than handing it to a thread,
 * and never wait for more than memory and a disk?  Nothing tells, so such file
 * systems are named; others may wait for a network or another process.
 */
static bool writes_inline(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == EXT4_SUPER_MAGIC;
}

static void try_all(const char *folder, int fd, struct fs_caps *caps)
{
	void *buf;

	if (posix_memalign(&buf, TRIAL_ALIGN, 2 * TRIAL))
		return;
	caps->punch_hole = try_zeroing(fd, FALLOC_FL_PUNCH_HOLE, buf);
	caps->zero_range = try_zeroing(fd, FALLOC_FL_ZERO_RANGE, buf);
	caps->allocate = !full_fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, TRIAL);
	caps->reflink = try_reflink(folder, fd);
	free(buf);
}

/* In a folder where nothing can be made, the one trial without harm is to punch
 * where the file has ended. */
static void try_beyond_end(int fd, struct fs_caps *caps)
{
	int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
	struct stat st;
	uint64_t end;

	if (fstat(fd, &st) < 0)
		return;
	end = round_up((uint64_t)st.st_size, TRIAL);
	caps->punch_hole = !full_fallocate(fd, mode, end, TRIAL);
}

int probe_fs(const char *path, int fd, struct fs_caps *ret)
{
	char *folder = folder_of(path);
	struct stat st, trial_st;
	int trial;

	if (!folder)
		return -errno;
	*ret = (struct fs_caps){ .granule = fs_granule(fd) };
	ret->nowait_read = probe_nowait_read(fd);
	ret->inline_write = ret->nowait_read && writes_inline(fd);
	trial = trial_open(folder, 0);
	if (trial >= 0 && !fstat(fd, &st) && !fstat(trial, &trial_st) &&
	    st.st_dev == trial_st.st_dev)
		try_all(folder, trial, ret);
	else
		try_beyond_end(fd, ret);
	if (trial >= 0)
		close(trial);
	free(folder);
	return 0;
}

static int probe_direct_read(int fd, uint32_t *ret_block, uint32_t *ret_mem)
{
	uint32_t block;
	ssize_t n = -1;
	void *buf;

	if (posix_memalign(&buf, TRIAL_ALIGN, TRIAL_ALIGN))
		return -ENOMEM;
	for (block = 512; block <= TRIAL_ALIGN; block *= 8) {
		n = pread(fd, buf, block, 0);
		if (n >= 0)
			break;
	}
	free(buf);
	if (n < 0)
		return -EINVAL;
	*ret_block = *ret_mem = block;
	return 0;
}

int probe_direct(int fd, uint32_t *ret_block, uint32_t *ret_mem)
{
#ifdef STATX_DIOALIGN
	struct statx stx;

	if (!statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &stx) &&
	    (stx.stx_mask & STATX_DIOALIGN)) {
		if (!is_pow2(stx.stx_dio_offset_align) ||
		    stx.stx_dio_offset_align > TRIAL_ALIGN ||
		    !is_pow2(stx.stx_dio_mem_align) ||
		    stx.stx_dio_mem_align > TRIAL_ALIGN)
			return -EINVAL;
		*ret_block = MAX(stx.stx_dio_offset_align, 512u);
		*ret_mem = stx.stx_dio_mem_align;
		return 0;
	}
#endif
	return probe_direct_read(fd, ret_block, ret_mem);
}
