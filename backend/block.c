/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The kind "block": a block device.  What it offers is read from its queue's
 * attributes; trying would destroy data.
 */

#include "backend/backend_int.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/util.h"

/* A queue's attribute, or 0; a partition's are those of its disk. */
static uint64_t queue_attr(dev_t dev, const char *name)
{
	static const char *const places[] = {
		"/sys/dev/block/%u:%u/queue/%s",
		"/sys/dev/block/%u:%u/../queue/%s",
	};
	char path[128], text[32];
	ssize_t n = -1;
	size_t i;
	int fd;

	for (i = 0; n < 0 && i < ARRAY_SIZE(places); i++) {
		snprintf(path, sizeof(path), places[i], major(dev), minor(dev),
			 name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	if (n < 0)
		return 0;
	text[n] = '\0';
	return strtoull(text, NULL, 10);
}

/* The kernel punches a device by the command for zeros, allowed to unmap, and
 * only by that; where the device has none, discard is what is left. */
static void block_unmap_caps(struct volume *v, dev_t dev)
{
	struct volume_caps *c = &v->caps;
	uint64_t granularity = queue_attr(dev, "discard_granularity");

	c->zero = queue_attr(dev, "write_zeroes_max_bytes") ?
		  METHOD_ZERO_RANGE : METHOD_WRITE;
	c->unmap = METHOD_NONE;
	if (c->read_only || !queue_attr(dev, "discard_max_bytes"))
		return;
	c->unmap = c->zero == METHOD_ZERO_RANGE ? METHOD_PUNCH_HOLE :
						  METHOD_DISCARD;
	c->unmap_zeroes = c->unmap == METHOD_PUNCH_HOLE;
	/* granules of, say, three times 64 KiB are whole for their divisor */
	granularity &= ~granularity + 1;
	c->unmap_granularity = (uint32_t)MIN(MAX(granularity, c->block_size),
					     GiB);
}

static int block_geometry(struct volume *v, int fd)
{
	int logical = 0, read_only = 0;
	unsigned physical = 0;

	if (ioctl(fd, BLKSSZGET, &logical) < 0 || ioctl(fd, BLKROGET,
							&read_only) < 0)
		return -errno;
	if (ioctl(fd, BLKPBSZGET, &physical) < 0)
		physical = 0;
	if (!is_pow2((unsigned)logical) || logical < 512 || logical > 4096)
		return -EINVAL;
	v->caps.block_size = (uint32_t)logical;
	v->caps.physical_block_size = MAX(physical, (unsigned)logical);
	if (v->caps.read_only && !v->config.read_only && !read_only)
		return -EACCES;
	v->caps.read_only |= read_only != 0;
	return 0;
}

static int block_size(struct volume *v, int fd)
{
	uint64_t have;

	if (ioctl(fd, BLKGETSIZE64, &have) < 0)
		return -errno;
	if (!have || have < v->config.size)
		return -ENODATA;
	atomic_store(&v->size, v->config.size ? v->config.size : have);
	return 0;
}

/* The page cache of devices takes no write with RWF_NOWAIT, and there is no
 * way to try one that writes nothing; past the cache both ways know it. */
static void block_io_flags(struct volume *v, struct fdvol *f)
{
	bool nowait = probe_nowait_read(f->fd);

	if (v->config.direct) {
		f->read_flags = EREQ_DIRECT | (nowait ? EREQ_NOWAIT : 0);
		f->write_flags = f->read_flags;
	} else {
		f->read_flags = nowait ? EREQ_NOWAIT : 0;
		f->inline_writes = nowait;
	}
}

static int block_probe(struct volume *v, struct fdvol *f)
{
	uint32_t block = 0;
	struct stat st;
	int err;

	if (fstat(f->fd, &st) < 0)
		return -errno;
	if (!S_ISBLK(st.st_mode))
		return -EINVAL;
	err = block_geometry(v, f->fd);
	if (!err)
		err = block_size(v, f->fd);
	if (!err && v->config.direct)
		err = probe_direct(f->fd, &block, &f->mem_align);
	if (err)
		return err;
	v->caps.block_size = MAX(v->caps.block_size, block);
	v->caps.block_device = true;
	v->caps.rotational = queue_attr(st.st_rdev, "rotational");
	v->caps.copy = METHOD_READ_WRITE;
	block_unmap_caps(v, st.st_rdev);
	block_io_flags(v, f);
	return 0;
}

/* O_EXCL refuses a device that is mounted or otherwise held. */
static int block_open(struct volume *v)
{
	struct fdvol *f = fdvol_new();
	int err;

	if (!f)
		return -ENOMEM;
	v->caps = (struct volume_caps){ .read_only = v->config.read_only };
	err = fdvol_open(v, f, O_EXCL);
	if (!err)
		err = block_probe(v, f);
	if (err)
		fdvol_free(f);
	else
		v->priv = f;
	return err;
}

static void block_close(struct volume *v)
{
	fdvol_free(v->priv);
	v->priv = NULL;
}

/* A device has the size that it has; size 0 takes it over. */
static int block_resize(struct volume *v, uint64_t size)
{
	const struct fdvol *f = v->priv;
	uint64_t have;

	if (ioctl(f->fd, BLKGETSIZE64, &have) < 0)
		return -errno;
	if (size > have)
		return -ENOSPC;
	atomic_store(&v->size, size ? size : have);
	return 0;
}

static int zero_act(struct breq *b)
{
	const struct fdvol *f = b->vol->priv;
	int err = full_fallocate(f->fd, FALLOC_FL_ZERO_RANGE |
				 FALLOC_FL_KEEP_SIZE, b->off, b->len);

	return err_declines(err) ? lane_decline(b) : err;
}

static int punch_act(struct breq *b)
{
	const struct fdvol *f = b->vol->priv;
	int err = full_fallocate(f->fd, FALLOC_FL_PUNCH_HOLE |
				 FALLOC_FL_KEEP_SIZE, b->off, b->len);

	return err_declines(err) ? lane_decline(b) : err;
}

static int discard_act(struct breq *b)
{
	const struct fdvol *f = b->vol->priv;
	uint64_t g = b->vol->caps.unmap_granularity;
	uint64_t from = round_up(b->off, g);
	uint64_t to = round_down(b->off + b->len, g);
	uint64_t range[2] = { from, to - from };

	if (from >= to)
		return 0;
	if (!ioctl(f->fd, BLKDISCARD, range) || err_declines(-errno))
		return 0;		/* a hint: not taken is no error */
	return -errno;
}

static void write_instead(struct breq *b)
{
	generic_zero(b->vol, b);
}

/* Without a command for zeros the kernel writes pages of zeros by itself. */
static void block_zero(struct volume *v, struct breq *b)
{
	(void)v;
	lane_submit(b, zero_act, write_instead);
}

static void block_unmap(struct volume *v, struct breq *b)
{
	if (v->caps.unmap == METHOD_PUNCH_HOLE)
		lane_submit(b, punch_act, write_instead);
	else
		lane_submit(b, discard_act, write_instead);
}

const struct volume_ops block_ops = {
	.kind		= "block",
	.open		= block_open,
	.close		= block_close,
	.resize		= block_resize,
	.read		= fdio_read,
	.write		= fdio_write,
	.flush		= fdio_flush,
	.zero		= block_zero,
	.unmap		= block_unmap,
	.prefetch	= fdio_prefetch,
};
