/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_LIB_VOL_H
#define TESTS_LIB_VOL_H

/*
 * For tests of volumes on real engines and real storage: an engine, a folder,
 * and calls that run the engine until a request has ended.
 *
 * Places are made once by a program: the folder for temporary files, small XFS
 * and Btrfs images where root may mount them, a loop device.  A test is run for
 * every place and engine and does nothing where a place could not be made.
 */

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/backend_int.h"
#include "lib/util.h"

enum place { PLACE_TMP, PLACE_TMP_DIRECT, PLACE_XFS, PLACE_XFS_DIRECT,
	     PLACE_BTRFS, PLACE_BLOCK, PLACE_BLOCK_DIRECT, PLACES };

#define VOL_CASES	(2 * PLACES)
#define VOL_SIZE	(16 * MiB)

struct vol_env {
	char		 root[128];	/* of all places */
	char		 xfs[160], btrfs[160], loop[64];
	/* of one test */
	enum place	 place;
	bool		 direct;
	struct engine	*e;
	char		 dir[160];
	unsigned	 serial;
};

static struct vol_env env;

/* ---- places, once for the program ---- */

__attribute__((format(printf, 1, 2)))
static inline bool shell(const char *fmt, ...)
{
	char cmd[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	return system(cmd) == 0;
}

static inline void mount_image(const char *type, const char *mkfs, char *dir,
			       size_t size)
{
	char path[144];

	snprintf(path, sizeof(path), "%s/%s", env.root, type);
	if (geteuid() == 0 &&
	    shell("exec >/dev/null 2>&1; truncate -s 400M %s.img && "
		  "%s %s.img && mkdir %s && mount -o loop %s.img %s",
		  path, mkfs, path, path, path, path))
		snprintf(dir, size, "%s", path);
}

static inline void root_make(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(env.root, sizeof(env.root), "%s/lund-vol-XXXXXX",
		 tmp ? tmp : "/tmp");
	if (!mkdtemp(env.root))
		abort();
}

static inline void places_make(void)
{
	FILE *f;

	root_make();
	mount_image("xfs", "mkfs.xfs -q -m reflink=1", env.xfs,
		    sizeof(env.xfs));
	mount_image("btrfs", "mkfs.btrfs -q", env.btrfs, sizeof(env.btrfs));
	if (geteuid() != 0 ||
	    !shell("exec 2>/dev/null; truncate -s %llu %s/loop.img && "
		   "losetup -f --show %s/loop.img >%s/loop",
		   (unsigned long long)VOL_SIZE, env.root, env.root, env.root))
		return;
	snprintf(env.dir, sizeof(env.dir), "%s/loop", env.root);
	f = fopen(env.dir, "re");
	if (f && fscanf(f, "%63s", env.loop) != 1)
		env.loop[0] = '\0';
	if (f)
		fclose(f);
}

/* Also after root_make() alone. */
static inline void places_remove(void)
{
	if (env.xfs[0])
		shell("umount %s", env.xfs);
	if (env.btrfs[0])
		shell("umount %s", env.btrfs);
	if (env.loop[0])
		shell("losetup -d %s", env.loop);
	shell("rm -rf %s", env.root);
}

/* ---- one test ---- */

/* False: there is no such place here. */
static inline bool env_enter(int i)
{
	struct engine_config config = {
		.kind = i / PLACES ? ENGINE_AIO : ENGINE_URING,
		.buf_total = 16 * MiB, .buf_reserve = 2 * MiB,
	};
	int err;

	env.place = (enum place)(i % PLACES);
	env.direct = env.place == PLACE_TMP_DIRECT ||
		     env.place == PLACE_XFS_DIRECT ||
		     env.place == PLACE_BLOCK_DIRECT;
	snprintf(env.dir, sizeof(env.dir), "%s", env.root);
	switch (env.place) {
	case PLACE_TMP:
	case PLACE_TMP_DIRECT:
		break;
	case PLACE_XFS:
	case PLACE_XFS_DIRECT:
		snprintf(env.dir, sizeof(env.dir), "%s", env.xfs);
		break;
	case PLACE_BTRFS:
		snprintf(env.dir, sizeof(env.dir), "%s", env.btrfs);
		break;
	case PLACE_BLOCK:
	case PLACE_BLOCK_DIRECT:
		snprintf(env.dir, sizeof(env.dir), "%s", env.loop);
		break;
	case PLACES:
		break;
	}
	if (!env.dir[0])
		return false;
	env.e = engine_new(&config, &err);
	ck_assert_msg(env.e, "no engine: %s", strerror(-err));
	return true;
}

static inline void env_leave(void)
{
	engine_free(env.e);
}

static inline bool place_is_block(void)
{
	return env.place == PLACE_BLOCK || env.place == PLACE_BLOCK_DIRECT;
}

/* What happened to a volume, and when to leave the loop. */
struct vol {
	struct volume	*v;
	char		 path[192];
	int		 opened;	/* 1: not yet */
	bool		 closed;
	unsigned	 changes;
	enum volume_state state;	/* told last */
};

static inline void vol_on_opened(struct volume *v, int err, void *arg)
{
	struct vol *x = arg;

	(void)v;
	x->opened = err;
	engine_stop(env.e);
}

static inline void vol_on_changed(struct volume *v, enum volume_state s,
				  void *arg)
{
	struct vol *x = arg;

	(void)v;
	x->changes++;
	x->state = s;
	engine_stop(env.e);
}

static inline void vol_on_closed(struct volume *v, void *arg)
{
	struct vol *x = arg;

	(void)v;
	x->closed = true;
	engine_stop(env.e);
}

static inline int vol_open(struct vol *x, struct volume_config config)
{
	const struct volume_events events = {
		.opened = vol_on_opened, .changed = vol_on_changed,
		.closed = vol_on_closed, .arg = x,
	};

	config.name = "test";
	if (!config.path)
		config.path = x->path;
	config.direct |= env.direct;
	x->opened = 1;
	x->closed = false;
	x->changes = 0;
	x->v = volume_new(&config, &events, env.e);
	ck_assert_ptr_nonnull(x->v);
	volume_open(x->v);
	while (x->opened == 1)
		engine_run(env.e);
	return x->opened;
}

static inline void vol_close(struct vol *x)
{
	volume_close(x->v);
	while (!x->closed)
		engine_run(env.e);
	volume_free(x->v);
}

/* A new volume at the place of the test, all holes. */
static inline void vol_make(struct vol *x, struct volume_config config)
{
	config.size = VOL_SIZE;
	if (place_is_block()) {
		snprintf(x->path, sizeof(x->path), "%s", env.loop);
		ck_assert(shell("blkdiscard -z %s", env.loop));
	} else {
		snprintf(x->path, sizeof(x->path), "%s/v%u", env.dir,
			 env.serial++);
		config.path = x->path;
		ck_assert_int_eq(volume_make_file(&config), 0);
	}
	ck_assert_int_eq(vol_open(x, config), 0);
}

static inline void vol_drop(struct vol *x)
{
	vol_close(x);
	if (!place_is_block())
		unlink(x->path);
}

/* ---- requests ---- */

struct vol_req {
	struct breq	 b;
	struct edefer	 start;
	struct volume	*v;
	bool		 written, done;
	unsigned	*left;		/* of a group */
};

static inline void vol_on_written(struct breq *b)
{
	struct vol_req *r = container_of(b, struct vol_req, b);

	ck_assert(!r->written && !r->done);
	r->written = true;
}

static inline void vol_on_done(struct breq *b)
{
	struct vol_req *r = container_of(b, struct vol_req, b);

	ck_assert(!r->done);
	ck_assert_ptr_eq(engine_self(), env.e);
	ck_assert(b->error || !breq_changes(b) || r->written);
	r->done = true;
	if (!r->left || !--*r->left)
		engine_stop(env.e);
}

static inline void vol_on_start(struct edefer *d)
{
	struct vol_req *r = container_of(d, struct vol_req, start);

	volume_submit(r->v, &r->b);
	ck_assert(!r->done);
}

static inline void vol_queue(struct volume *v, struct vol_req *r)
{
	r->v = v;
	r->written = r->done = false;
	r->b.written = vol_on_written;
	r->b.done = vol_on_done;
	list_init(&r->start.link);
	r->start.run = vol_on_start;
	engine_defer(env.e, &r->start);
}

static inline int vol_do(struct volume *v, struct breq b)
{
	struct vol_req r = { .b = b };

	vol_queue(v, &r);
	while (!r.done)
		engine_run(env.e);
	return r.b.error;
}

static inline int vol_io(struct vol *x, enum breq_op op, uint64_t off,
			 uint64_t len, void *data)
{
	return vol_do(x->v, (struct breq){ .op = op, .off = off, .len = len,
					   .data = data, .pattern = 512 });
}

static inline int vol_copy(struct vol *to, uint64_t off, struct vol *from,
			   uint64_t src_off, uint64_t len)
{
	return vol_do(to->v, (struct breq){ .op = BREQ_COPY, .off = off,
					    .len = len, .src = from->v,
					    .src_off = src_off });
}

/* Is the byte at off mapped, and how many after it alike? */
static inline bool vol_extent(struct vol *x, uint64_t off, uint64_t *ret_run)
{
	struct vol_req r = { .b = { .op = BREQ_EXTENT, .off = off,
				    .len = VOL_SIZE - off } };

	vol_queue(x->v, &r);
	while (!r.done)
		engine_run(env.e);
	ck_assert_int_eq(r.b.error, 0);
	*ret_run = r.b.run;
	return r.b.mapped;
}

/* ---- data ---- */

/* Remembered, so that a test that does nothing at a place leaks nothing. */
static inline void *vol_buf(size_t len)
{
	static void *all[8];
	static unsigned n;

	ck_assert_uint_lt(n, ARRAY_SIZE(all));
	ck_assert_int_eq(posix_memalign(&all[n], 4096, len), 0);
	return all[n++];
}

static inline bool is_filled(const uint8_t *p, size_t len, uint8_t byte)
{
	return p[0] == byte && !memcmp(p, p + 1, len - 1);
}

static inline void vol_fill(void *buf, size_t len, uint64_t seed)
{
	uint64_t *p = buf, x = seed * 0x9e3779b97f4a7c15u + 1;
	size_t i;

	for (i = 0; i < len / 8; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		p[i] = x;
	}
}

#endif
