/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Copies between files, on the bulk lane of the destination: by shared extents,
 * else by copy_file_range.  What neither serves goes to copy_rw.c.
 *
 * A thick volume's space is promised: it neither gives nor takes shared
 * extents.  copy_file_range shares them too where the file system can.
 */

#include "backend/backend_int.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/util.h"

static bool is_refused(const struct volume *src, const struct volume *dst,
		       enum volume_method m)
{
	const struct copy_memo *memo;

	for (memo = dst->memos; memo < dst->memos + COPY_MEMOS; memo++)
		if (atomic_load(&memo->src) == src)
			return atomic_load(&memo->refused) & 1u << m;
	return false;
}

/* The file systems said that they never will.  Forgotten with more sources
 * than the memory has room for; then they are asked again. */
static void remember(const struct volume *src, struct volume *dst,
		     enum volume_method m)
{
	const struct volume *known;
	struct copy_memo *memo;

	for (memo = dst->memos; memo < dst->memos + COPY_MEMOS - 1; memo++) {
		known = atomic_load(&memo->src);
		if (!known || known == src)
			break;
	}
	if (atomic_load(&memo->src) != src)
		atomic_store(&memo->refused, 0);
	atomic_store(&memo->src, src);
	atomic_fetch_or(&memo->refused, 1u << m);
}

static bool may_share(const struct volume *src, const struct volume *dst)
{
	const struct fdvol *s = src->priv, *d = dst->priv;

	return d->reflink && s->dev == d->dev && !src->config.thick &&
	       !dst->config.thick && !is_refused(src, dst, METHOD_REFLINK);
}

static bool may_copy_range(const struct volume *src, const struct volume *dst)
{
	const struct fdvol *s = src->priv, *d = dst->priv;

	if (src->config.direct || dst->config.direct)
		return false;		/* it goes through the cache */
	if ((src->config.thick || dst->config.thick) &&
	    (s->reflink || d->reflink))
		return false;
	return !is_refused(src, dst, METHOD_COPY_FILE_RANGE);
}

enum volume_method file_copy_method(const struct volume *src,
				    const struct volume *dst)
{
	if (may_share(src, dst))
		return METHOD_REFLINK;
	if (may_copy_range(src, dst))
		return METHOD_COPY_FILE_RANGE;
	return METHOD_READ_WRITE;
}

static bool is_open_file(const struct volume *v)
{
	enum volume_state s = volume_state(v);

	return (s == VOLUME_ONLINE || s == VOLUME_FAILED) &&
	       atomic_load(&v->ops) == &file_ops;
}

enum volume_method volume_copy_method(const struct volume *src,
				      const struct volume *dst)
{
	if (atomic_load(&dst->ops) == &null_ops)
		return METHOD_DISCARDED;
	if (!is_open_file(src) || !is_open_file(dst))
		return METHOD_READ_WRITE;
	return file_copy_method(src, dst);
}

/* Holes stay holes; a thick volume keeps its space. */
static int make_hole(const struct volume *v, uint64_t off, uint64_t len)
{
	const struct fdvol *f = v->priv;
	int err = -EOPNOTSUPP;

	if (v->caps.unmap == METHOD_PUNCH_HOLE)
		err = full_fallocate(f->fd, FALLOC_FL_PUNCH_HOLE |
				     FALLOC_FL_KEEP_SIZE, off, len);
	else if (v->caps.zero == METHOD_ZERO_RANGE)
		err = full_fallocate(f->fd, FALLOC_FL_ZERO_RANGE |
				     FALLOC_FL_KEEP_SIZE, off, len);
	return err_declines(err) ? write_zeros(f->fd, off, len) : err;
}

static int copy_bytes(const struct breq *b, uint64_t at, uint64_t len)
{
	const struct fdvol *s = b->src->priv, *d = b->vol->priv;
	size_t n;
	int err;

	for (; len; at += n, len -= n) {
		n = (size_t)MIN(len, EDGE_SIZE);
		err = full_pread(s->fd, d->edge, n, b->src_off + at);
		if (!err)
			err = full_pwrite(d->fd, d->edge, n, b->off + at);
		if (err)
			return err;
	}
	return 0;
}

/*
 * The clone would write dirty pages of the source back while it holds the locks
 * of both files; so they go first, without a lock.  An error that is reported
 * here will be reported to nobody else: it counts as a failed flush.
 */
static int write_back(struct volume *src, uint64_t off, uint64_t len)
{
	const struct fdvol *s = src->priv;
	int err, fd = s->sync_fd >= 0 ? s->sync_fd : s->fd;

	if (!sync_file_range(fd, (off_t)off, (off_t)len,
			     SYNC_FILE_RANGE_WAIT_BEFORE |
			     SYNC_FILE_RANGE_WRITE |
			     SYNC_FILE_RANGE_WAIT_AFTER))
		return 0;
	err = -errno;
	if (err_declines(err))
		return 0;		/* the clone does it, more slowly */
	flush_failed(src, err);
	return err;
}

/* Whole granules are shared, what is left at both ends is copied. */
static int share(struct breq *b)
{
	const struct fdvol *s = b->src->priv, *d = b->vol->priv;
	uint64_t g = d->granule;
	uint64_t head = round_up(b->off, g) - b->off;
	struct file_clone_range range;
	uint64_t whole;
	int err;

	if ((b->off ^ b->src_off) & (g - 1))
		return -EINVAL;		/* shifted: nothing to share */
	if (b->len < head + g)
		return copy_bytes(b, 0, b->len);
	whole = round_down(b->len - head, g);
	range = (struct file_clone_range){
		.src_fd = s->fd,
		.src_offset = b->src_off + head,
		.src_length = whole,
		.dest_offset = b->off + head,
	};
	err = write_back(b->src, range.src_offset, whole);
	if (err)
		return err;
	if (ioctl(d->fd, FICLONERANGE, &range) < 0)
		return -errno;
	err = copy_bytes(b, 0, head);
	return err ? err : copy_bytes(b, head + whole, b->len - head - whole);
}

static int copy_range(const struct breq *b, uint64_t at, uint64_t len)
{
	const struct fdvol *s = b->src->priv, *d = b->vol->priv;
	loff_t from = (loff_t)(b->src_off + at), to = (loff_t)(b->off + at);
	ssize_t n;

	while (len) {
		n = copy_file_range(s->fd, &from, d->fd, &to, len, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		len -= (size_t)n;
	}
	return 0;
}

static int copy_ranges(struct breq *b)
{
	const struct fdvol *s = b->src->priv;
	bool mapped;
	uint64_t n;
	int err;

	for (; b->pos < b->len; b->pos += n) {
		err = seek_extent(s->fd, b->src_off + b->pos, b->len - b->pos,
				  &mapped, &n);
		if (err)
			return err;
		err = mapped ? copy_range(b, b->pos, n) :
			       make_hole(b->vol, b->off + b->pos, n);
		if (err)
			return err;
	}
	return 0;
}

static int try_methods(struct breq *b)
{
	static const struct {
		enum volume_method method;
		bool (*may)(const struct volume *src, const struct volume *dst);
		int (*run)(struct breq *b);
	} ways[] = {
		{ METHOD_REFLINK,	  may_share,	  share },
		{ METHOD_COPY_FILE_RANGE, may_copy_range, copy_ranges },
	};
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		if (!ways[i].may(b->src, b->vol))
			continue;
		err = ways[i].run(b);
		if (!err_declines(err))
			return err;
		/* EINVAL may be this range's alone */
		if (err != -EINVAL)
			remember(b->src, b->vol, ways[i].method);
	}
	return lane_decline(b);
}

static int copy_act(struct breq *b)
{
	int err;

	/* the source's file is locked as well */
	atomic_fetch_add(&b->src->lane.busy, 1);
	err = try_methods(b);
	atomic_fetch_sub(&b->src->lane.busy, 1);
	return err;
}

static void read_and_write(struct breq *b)
{
	generic_copy(b->vol, b);
}

void file_copy(struct volume *v, struct breq *b)
{
	bool overlap = b->src == v &&
		       ranges_overlap(b->off, b->len, b->src_off, b->len);
	enum volume_method m = volume_copy_method(b->src, v);

	if (overlap || m == METHOD_READ_WRITE)
		generic_copy(v, b);
	else
		lane_submit(b, copy_act, read_and_write);
}
