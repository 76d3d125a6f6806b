/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The kind "file": a regular file.  Only volume_make_file() makes one; opening
 * never does, for a file that is absent is a mount that is missing.
 */

#include "backend/backend_int.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lib/util.h"

#define ZFS_MAGIC	0x2fc12fc1

const char *volume_probe_kind(const char *path, int *ret_err)
{
	struct stat st;

	if (!strcmp(path, "null:"))
		return null_ops.kind;
	if (stat(path, &st) < 0) {
		*ret_err = -errno;
		return NULL;
	}
	if (S_ISREG(st.st_mode))
		return file_ops.kind;
	if (S_ISBLK(st.st_mode))
		return block_ops.kind;
	*ret_err = -EINVAL;
	return NULL;
}

/* Copy-on-write file systems need new space to overwrite what fallocate gave:
 * they cannot keep the promise. */
static bool keeps_promise(int fd)
{
	struct statfs fs;
	int attr = 0;

	if (fstatfs(fd, &fs) < 0)
		return false;
	if (fs.f_type == BTRFS_SUPER_MAGIC)
		return !ioctl(fd, FS_IOC_GETFLAGS, &attr) &&
		       (attr & FS_NOCOW_FL);
	return fs.f_type != ZFS_MAGIC;
}

static int sync_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder;
	int fd, err = 0;

	if (slash)
		folder = strndup(path, slash == path ? 1 :
				 (size_t)(slash - path));
	else
		folder = strdup(".");
	if (!folder)
		return -ENOMEM;
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(folder);
	if (fd < 0)
		return -errno;
	if (fsync(fd) < 0)
		err = -errno;
	close(fd);
	return err;
}

static int set_space(int fd, bool thick, uint64_t size)
{
	if (!thick)
		return ftruncate(fd, (off_t)size) ? -errno : 0;
	return keeps_promise(fd) ? full_fallocate(fd, 0, 0, size) : -EOPNOTSUPP;
}

int volume_make_file(const struct volume_config *config)
{
	int fd, err;

	if (!config->size || config->size > INT64_MAX)
		return -EINVAL;
	fd = open(config->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	err = set_space(fd, config->thick, config->size);
	if (!err && fsync(fd) < 0)
		err = -errno;
	close(fd);
	if (!err)
		err = sync_folder(config->path);
	if (err)
		unlink(config->path);
	return err;
}

/* Two daemons, or two volumes, over one file would destroy it.  A file system
 * without locks is no reason to refuse. */
static int file_lock(const struct volume *v, int fd)
{
	int how = v->caps.read_only ? LOCK_SH : LOCK_EX;

	if (flock(fd, how | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return -EBUSY;
	return 0;
}

static int file_size(struct volume *v, struct fdvol *f)
{
	struct stat st;
	uint64_t have;

	if (fstat(f->fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	have = round_down((uint64_t)st.st_size, v->caps.block_size);
	if (!have || have < v->config.size)
		return -ENODATA;
	f->dev = st.st_dev;
	atomic_store(&v->size, v->config.size ? v->config.size : have);
	return 0;
}

/*
 * A write to a regular file is tried inline through a gate alone: pwritev2()
 * waits for a file system that is frozen (a snapshot of the disk below is being
 * made) whatever RWF_NOWAIT says.  Where the ring's own try works (XFS, direct
 * I/O) it serves as well.
 */
static void file_io_flags(struct volume *v, struct fdvol *f,
			  const struct fs_caps *fs)
{
	unsigned direct = v->config.direct ? EREQ_DIRECT : 0;

	f->read_flags = direct | (fs->nowait_read ? EREQ_NOWAIT : 0);
	f->write_flags = direct;
	if (fs->inline_write && !direct && !v->caps.read_only)
		f->gate_fd = open(v->path, O_RDWR | O_DIRECT | O_CLOEXEC |
				  O_NOCTTY);
	f->inline_writes = f->gate_fd >= 0;
	f->granule = fs->granule;
	f->reflink = fs->reflink;
}

static void file_caps(struct volume *v, const struct fs_caps *fs)
{
	struct volume_caps *c = &v->caps;

	c->physical_block_size = MAX(c->block_size, MIN(fs->granule, 4096u));
	c->zero = METHOD_WRITE;
	if (fs->zero_range)
		c->zero = METHOD_ZERO_RANGE;
	else if (fs->punch_hole && fs->allocate && !v->config.thick)
		c->zero = METHOD_PUNCH_HOLE;	/* and fallocate */
	c->unmap = METHOD_NONE;
	if (fs->punch_hole && !v->config.thick && !c->read_only)
		c->unmap = METHOD_PUNCH_HOLE;
	c->unmap_zeroes = c->unmap != METHOD_NONE;
	c->anchors = c->unmap_zeroes && c->zero != METHOD_WRITE;
	c->unmap_granularity = c->unmap_zeroes ?
			       MAX(fs->granule, c->block_size) : 0;
	c->copy = file_copy_method(v, v);
}

static int file_probe(struct volume *v, struct fdvol *f)
{
	struct fs_caps fs;
	int err = 0;

	v->caps.block_size = 512;
	if (v->config.direct)
		err = probe_direct(f->fd, &v->caps.block_size, &f->mem_align);
	if (!err)
		err = file_size(v, f);
	if (!err)
		err = probe_fs(v->path, f->fd, &fs);
	if (err)
		return err;
	file_io_flags(v, f, &fs);
	v->priv = f;
	file_caps(v, &fs);
	return 0;
}

static int file_open(struct volume *v)
{
	struct fdvol *f = fdvol_new();
	int err;

	if (!f)
		return -ENOMEM;
	v->caps = (struct volume_caps){ .read_only = v->config.read_only };
	err = fdvol_open(v, f, 0);
	if (!err)
		err = file_lock(v, f->fd);
	if (!err)
		err = file_probe(v, f);
	if (err)
		fdvol_free(f);
	return err;
}

static void file_close(struct volume *v)
{
	fdvol_free(v->priv);
	v->priv = NULL;
}

static int file_resize(struct volume *v, uint64_t size)
{
	const struct fdvol *f = v->priv;
	uint64_t old = volume_size(v);
	int err;

	if (!size || size > INT64_MAX)
		return -EINVAL;
	if (v->caps.read_only)
		return -EROFS;
	if (size < old)
		atomic_store(&v->size, size);	/* no request beyond the end */
	err = set_space(f->fd, v->config.thick && size > old, size);
	if (!err && fsync(f->fd) < 0)
		err = -errno;
	if (err && size > old)
		(void)!ftruncate(f->fd, (off_t)old);
	atomic_store(&v->size, err ? old : size);
	return err;
}

static int file_space(struct volume *v, struct volume_space *ret)
{
	const struct fdvol *f = v->priv;
	struct statvfs fs;
	struct stat st;

	if (fstat(f->fd, &st) < 0 || fstatvfs(f->fd, &fs) < 0)
		return -errno;
	ret->allocated = (uint64_t)st.st_blocks * 512;
	ret->fs_total = (uint64_t)fs.f_blocks * fs.f_frsize;
	ret->fs_free = (uint64_t)fs.f_bavail * fs.f_frsize;
	return 0;
}

static uint64_t file_shared(struct volume *v)
{
	const struct fdvol *f = v->priv;

	return f->reflink ? shared_bytes(f->fd) : 0;
}

/* Both kinds of zeroing by fallocate zero parts of blocks at the edges too. */
static int zero_act(struct breq *b)
{
	const struct fdvol *f = b->vol->priv;
	int err;

	if (b->vol->caps.zero == METHOD_ZERO_RANGE) {
		err = full_fallocate(f->fd, FALLOC_FL_ZERO_RANGE |
				     FALLOC_FL_KEEP_SIZE, b->off, b->len);
	} else {
		err = full_fallocate(f->fd, FALLOC_FL_PUNCH_HOLE |
				     FALLOC_FL_KEEP_SIZE, b->off, b->len);
		if (!err)
			err = full_fallocate(f->fd, FALLOC_FL_KEEP_SIZE, b->off,
					     b->len);
	}
	return err_declines(err) ? lane_decline(b) : err;
}

static int unmap_act(struct breq *b)
{
	const struct fdvol *f = b->vol->priv;
	int err = full_fallocate(f->fd, FALLOC_FL_PUNCH_HOLE |
				 FALLOC_FL_KEEP_SIZE, b->off, b->len);

	return err_declines(err) ? lane_decline(b) : err;
}

static void write_instead(struct breq *b)
{
	generic_zero(b->vol, b);
}

static void file_zero(struct volume *v, struct breq *b)
{
	if (v->caps.zero == METHOD_WRITE)
		generic_zero(v, b);
	else
		lane_submit(b, zero_act, write_instead);
}

static void file_unmap(struct volume *v, struct breq *b)
{
	(void)v;
	lane_submit(b, unmap_act, write_instead);
}

static int extent_run(struct vwork *w)
{
	struct breq *b = container_of(w, struct breq, work);
	const struct fdvol *f = b->vol->priv;
	int err = seek_extent(f->fd, b->off, b->len, &b->mapped, &b->run);
	uint64_t run;

	if (!err && !b->mapped && b->vol->caps.anchors &&
	    !held_extent(f->fd, b->off, b->run, &b->anchored, &run))
		b->run = run;
	if (!err_declines(err))
		return err;
	b->mapped = true;		/* a file system that cannot tell */
	b->run = b->len;
	return 0;
}

static void extent_done(struct vwork *w)
{
	breq_end(container_of(w, struct breq, work), w->error);
}

static void file_extent(struct volume *v, struct breq *b)
{
	b->work.run = extent_run;
	b->work.done = extent_done;
	volume_async(v, &b->work);
}

const struct volume_ops file_ops = {
	.kind		= "file",
	.open		= file_open,
	.close		= file_close,
	.resize		= file_resize,
	.space		= file_space,
	.shared		= file_shared,
	.read		= fdio_read,
	.write		= fdio_write,
	.flush		= fdio_flush,
	.zero		= file_zero,
	.unmap		= file_unmap,
	.copy		= file_copy,
	.extent		= file_extent,
	.prefetch	= fdio_prefetch,
};
