/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What volumes do with bytes, on real storage: each test for both engines and
 * for files, buffered and direct, on several file systems, and a loop device.
 */

#include "tests/lib/unit.h"
#include "tests/lib/vol.h"

static const struct volume_config thin = { .size = VOL_SIZE };

START_TEST(written_data_is_read_back)
{
	static const struct { uint64_t off, len; } at[] = {
		{ 0, 4096 }, { 8192, 512 }, { 1 * MiB, 1 * MiB },
		{ 1 * MiB + 512, 7 * 512 }, { VOL_SIZE - 4096, 4096 },
	};
	uint8_t *out = vol_buf(MiB), *in = vol_buf(MiB);
	struct vol x;
	size_t i;

	if (!env_enter(_i))
		return;
	vol_make(&x, thin);
	for (i = 0; i < ARRAY_SIZE(at); i++) {
		if (at[i].len % volume_caps(x.v)->block_size)
			continue;
		vol_fill(out, at[i].len, i);
		ck_assert_int_eq(vol_io(&x, BREQ_WRITE, at[i].off, at[i].len,
					out), 0);
		ck_assert_int_eq(vol_io(&x, BREQ_READ, at[i].off, at[i].len,
					in), 0);
		ck_assert_mem_eq(in, out, at[i].len);
	}
	vol_drop(&x);
	env_leave();
	free(out);
	free(in);
}
END_TEST

START_TEST(memory_need_not_be_aligned)
{
	uint8_t *out = vol_buf(2 * MiB), *in = vol_buf(2 * MiB);
	struct vol x;

	if (!env_enter(_i))
		return;
	vol_make(&x, thin);
	vol_fill(out, 128 * KiB, 5);
	ck_assert_int_eq(vol_io(&x, BREQ_WRITE, 0, 64 * KiB, out + 49), 0);
	ck_assert_int_eq(vol_io(&x, BREQ_READ, 0, 64 * KiB, in + 13), 0);
	ck_assert_mem_eq(in + 13, out + 49, 64 * KiB);
	vol_drop(&x);
	env_leave();
	free(out);
	free(in);
}
END_TEST

START_TEST(flush_succeeds_and_urgent_writes_are_stable)
{
	uint8_t *out = vol_buf(4096);
	struct vol x;

	if (!env_enter(_i))
		return;
	vol_make(&x, thin);
	vol_fill(out, 4096, 3);
	ck_assert_int_eq(vol_do(x.v, (struct breq){
		.op = BREQ_WRITE, .flags = BREQ_URGENT, .off = 4096,
		.len = 4096, .data = out }), 0);
	ck_assert_int_eq(vol_io(&x, BREQ_FLUSH, 0, 0, NULL), 0);
	ck_assert_int_eq(vol_io(&x, BREQ_PREFETCH, 0, 4096, NULL), 0);
	vol_drop(&x);
	env_leave();
	free(out);
}
END_TEST

/* What a volume should hold, and what is done to it at random. */
struct model {
	uint8_t	*disk, *buf;
	struct vol x;
	uint64_t rnd, unit;
};

static uint64_t rnd(struct model *m, uint64_t below)
{
	m->rnd ^= m->rnd << 13;
	m->rnd ^= m->rnd >> 7;
	m->rnd ^= m->rnd << 17;
	return m->rnd % below;
}

/* A range of blocks, often small or aligned. */
static void rnd_range(struct model *m, uint64_t *off, uint64_t *len,
		      uint64_t max)
{
	uint64_t unit = rnd(m, 2) ? m->unit : 64 * KiB;

	*len = (1 + rnd(m, rnd(m, 2) ? 8 : max / unit)) * unit;
	*len = MIN(*len, max);
	*off = rnd(m, (VOL_SIZE - *len) / unit + 1) * unit;
}

static void model_write(struct model *m, uint64_t off, uint64_t len)
{
	vol_fill(m->buf, len, m->rnd);
	memcpy(m->disk + off, m->buf, len);
	ck_assert_int_eq(vol_io(&m->x, BREQ_WRITE, off, len, m->buf), 0);
}

static void model_same(struct model *m, uint64_t off, uint64_t len)
{
	uint32_t pattern = (uint32_t)m->unit;
	uint64_t i;

	vol_fill(m->buf, pattern, m->rnd);
	for (i = 0; i < len; i += pattern)
		memcpy(m->disk + off + i, m->buf, pattern);
	ck_assert_int_eq(vol_do(m->x.v, (struct breq){
		.op = BREQ_WRITE_SAME, .off = off, .len = len,
		.data = m->buf, .pattern = pattern }), 0);
}

static void model_zero(struct model *m, uint64_t off, uint64_t len)
{
	enum breq_op op = rnd(m, 2) ? BREQ_ZERO : BREQ_UNMAP;

	if (!volume_caps(m->x.v)->unmap_zeroes)
		op = BREQ_ZERO;
	memset(m->disk + off, 0, len);
	ck_assert_int_eq(vol_io(&m->x, op, off, len, NULL), 0);
}

static void model_copy(struct model *m, uint64_t off, uint64_t len)
{
	uint64_t from = rnd(m, (VOL_SIZE - len) / m->unit + 1) * m->unit;

	if (rnd(m, 2)) {		/* near: they overlap */
		from = off + rnd(m, 16) * m->unit;
		from = MIN(from, VOL_SIZE - len);
	} else if (rnd(m, 2)) {
		from = off - MIN(off, rnd(m, 16) * m->unit);
	}
	memmove(m->disk + off, m->disk + from, len);
	ck_assert_int_eq(vol_copy(&m->x, off, &m->x, from, len), 0);
}

static void model_check(struct model *m)
{
	uint64_t off;

	for (off = 0; off < VOL_SIZE; off += MiB) {
		ck_assert_int_eq(vol_io(&m->x, BREQ_READ, off, MiB, m->buf),
				 0);
		ck_assert_mem_eq(m->buf, m->disk + off, MiB);
	}
}

START_TEST(random_work_leaves_what_a_model_says)
{
	struct model m = { .rnd = 0x2545f4914f6cdd1du + (unsigned)_i };
	uint64_t off, len;
	int i;

	if (!env_enter(_i))
		return;
	m.disk = calloc(1, VOL_SIZE);
	m.buf = vol_buf(MiB);
	vol_make(&m.x, (struct volume_config){ .write_back = true });
	m.unit = volume_caps(m.x.v)->block_size;
	for (i = 0; i < 300; i++) {
		rnd_range(&m, &off, &len, MiB);
		switch (rnd(&m, 4)) {
		case 0:
			model_write(&m, off, len);
			break;
		case 1:
			model_same(&m, off, len);
			break;
		case 2:
			model_zero(&m, off, len);
			break;
		case 3:
			model_copy(&m, off, len);
			break;
		}
	}
	model_check(&m);
	vol_drop(&m.x);
	env_leave();
	free(m.disk);
	free(m.buf);
}
END_TEST

START_TEST(many_writes_at_once_are_all_done)
{
	enum { N = 200 };
	uint8_t *buf = vol_buf(N * 4096), *in = vol_buf(N * 4096);
	struct vol_req *r = calloc(N, sizeof(*r));
	unsigned i, left = N;
	struct vol x;

	if (!env_enter(_i))
		return;
	vol_make(&x, thin);
	vol_fill(buf, N * 4096, 9);
	for (i = 0; i < N; i++) {
		r[i].left = &left;
		r[i].b = (struct breq){ .op = BREQ_WRITE, .off = i * 4096,
					.len = 4096, .data = buf + i * 4096 };
		vol_queue(x.v, &r[i]);
	}
	while (left)
		engine_run(env.e);
	for (i = 0; i < N; i++)
		ck_assert_int_eq(r[i].b.error, 0);
	ck_assert_int_eq(vol_io(&x, BREQ_READ, 0, N * 4096, in), 0);
	ck_assert_mem_eq(in, buf, N * 4096);
	vol_drop(&x);
	env_leave();
	free(r);
	free(buf);
	free(in);
}
END_TEST

static uint64_t allocated(struct vol *x)
{
	struct volume_space s;

	ck_assert_int_eq(volume_space(x->v, &s), 0);
	return s.allocated;
}

START_TEST(unmap_gives_space_back)
{
	uint8_t *buf = vol_buf(MiB);
	uint64_t before, off;
	struct vol x;

	if (!env_enter(_i) || place_is_block())
		return;
	vol_make(&x, thin);
	ck_assert_int_eq(volume_caps(x.v)->unmap, METHOD_PUNCH_HOLE);
	vol_fill(buf, MiB, 1);
	for (off = 0; off < 8 * MiB; off += MiB)
		ck_assert_int_eq(vol_io(&x, BREQ_WRITE, off, MiB, buf), 0);
	ck_assert_int_eq(vol_io(&x, BREQ_FLUSH, 0, 0, NULL), 0);
	before = allocated(&x);
	ck_assert_uint_ge(before, 8 * MiB);
	ck_assert_int_eq(vol_io(&x, BREQ_UNMAP, MiB, 6 * MiB, NULL), 0);
	ck_assert_uint_le(allocated(&x), before - 5 * MiB);
	vol_drop(&x);
	env_leave();
	free(buf);
}
END_TEST

START_TEST(zero_keeps_space)
{
	uint8_t *buf = vol_buf(MiB);
	struct vol x;

	if (!env_enter(_i) || place_is_block())
		return;
	vol_make(&x, thin);
	ck_assert_int_eq(volume_caps(x.v)->zero, METHOD_ZERO_RANGE);
	ck_assert_int_eq(vol_io(&x, BREQ_ZERO, 0, 4 * MiB, NULL), 0);
	ck_assert_uint_ge(allocated(&x), 4 * MiB);
	ck_assert_int_eq(vol_io(&x, BREQ_READ, 0, MiB, buf), 0);
	ck_assert(is_filled(buf, MiB, 0));
	vol_drop(&x);
	env_leave();
	free(buf);
}
END_TEST

START_TEST(thick_volume_has_its_space_and_keeps_it)
{
	struct vol x;

	if (!env_enter(_i) || place_is_block() || env.place == PLACE_BTRFS)
		return;
	vol_make(&x, (struct volume_config){ .thick = true });
	ck_assert_uint_ge(allocated(&x), VOL_SIZE);
	ck_assert_int_eq(volume_caps(x.v)->unmap, METHOD_NONE);
	ck_assert_uint_eq(volume_caps(x.v)->unmap_granularity, 0);
	ck_assert_int_eq(vol_io(&x, BREQ_UNMAP, 0, MiB, NULL), -EOPNOTSUPP);
	ck_assert_int_eq(vol_io(&x, BREQ_ZERO, 0, 4 * MiB, NULL), 0);
	ck_assert_uint_ge(allocated(&x), VOL_SIZE);
	ck_assert_int_ne(volume_copy_method(x.v, x.v), METHOD_REFLINK);
	vol_drop(&x);
	env_leave();
}
END_TEST

START_TEST(thick_volume_is_refused_where_space_cannot_be_promised)
{
	struct volume_config config = { .thick = true, .size = VOL_SIZE };
	char path[192];

	if (!env_enter(_i) || env.place != PLACE_BTRFS)
		return;
	snprintf(path, sizeof(path), "%s/thick", env.dir);
	config.path = path;
	ck_assert_int_eq(volume_make_file(&config), -EOPNOTSUPP);
	ck_assert_int_eq(access(path, F_OK), -1);
	env_leave();
}
END_TEST

START_TEST(device_serves_one_volume_at_a_time)
{
	struct vol x, y;

	if (!env_enter(_i) || !place_is_block())
		return;
	vol_make(&x, thin);
	ck_assert_int_eq(vol_open(&y, (struct volume_config){
		.path = env.loop }), -EBUSY);
	vol_close(&y);
	vol_drop(&x);
	env_leave();
}
END_TEST

START_TEST(resized_volume_has_its_new_size)
{
	uint8_t *buf = vol_buf(4096);
	struct vol x;

	if (!env_enter(_i) || place_is_block())
		return;
	vol_make(&x, thin);
	ck_assert_int_eq(volume_resize(x.v, 2 * VOL_SIZE), 0);
	ck_assert_uint_eq(volume_size(x.v), 2 * VOL_SIZE);
	ck_assert_int_eq(vol_io(&x, BREQ_WRITE, VOL_SIZE, 4096, buf), 0);
	ck_assert_int_eq(volume_resize(x.v, VOL_SIZE), 0);
	ck_assert_int_eq(vol_io(&x, BREQ_READ, VOL_SIZE, 4096, buf), -EIO);
	vol_drop(&x);
	env_leave();
	free(buf);
}
END_TEST

START_TEST(block_device_says_what_it_can)
{
	const struct volume_caps *c;
	struct vol x;

	if (!env_enter(_i) || !place_is_block())
		return;
	vol_make(&x, thin);
	c = volume_caps(x.v);
	ck_assert_str_eq(volume_kind(x.v), "block");
	ck_assert(c->block_device);
	ck_assert_uint_eq(volume_size(x.v), VOL_SIZE);
	ck_assert(is_pow2(c->block_size) && is_pow2(c->physical_block_size));
	ck_assert_int_eq(c->unmap, METHOD_PUNCH_HOLE);
	ck_assert(c->unmap_zeroes && is_pow2(c->unmap_granularity));
	vol_drop(&x);
	env_leave();
}
END_TEST

/* Takes all the space that is left. */
static void fill_up(const char *path)
{
	uint64_t n, off = 0;
	int fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	for (n = 64 * MiB; n >= 4096; n /= 2)
		while (!full_fallocate(fd, 0, off, n))
			off += n;
	close(fd);
}

START_TEST(full_file_system_refuses_new_blocks_alone)
{
	uint8_t *buf = vol_buf(MiB);
	char filler[192];
	struct vol x;

	if (!env_enter(_i) || (env.place != PLACE_XFS &&
			       env.place != PLACE_XFS_DIRECT))
		return;
	vol_make(&x, thin);
	snprintf(filler, sizeof(filler), "%s/filler", env.dir);
	vol_fill(buf, MiB, 1);
	ck_assert_int_eq(vol_io(&x, BREQ_WRITE, 0, MiB, buf), 0);
	fill_up(filler);
	ck_assert_int_eq(vol_io(&x, BREQ_WRITE, 4 * MiB, MiB, buf), -ENOSPC);
	ck_assert_int_eq(vol_io(&x, BREQ_ZERO, 8 * MiB, 4 * MiB, NULL),
			 -ENOSPC);
	ck_assert_int_eq(vol_io(&x, BREQ_WRITE, 0, MiB, buf), 0);
	ck_assert_int_eq(volume_state(x.v), VOLUME_ONLINE);
	unlink(filler);
	ck_assert_int_eq(vol_io(&x, BREQ_WRITE, 4 * MiB, MiB, buf), 0);
	vol_drop(&x);
	env_leave();
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("volume");
	int n = VOL_CASES;

	tcase_set_timeout(tc, 120);
	tcase_add_unchecked_fixture(tc, places_make, places_remove);
	tcase_add_loop_test(tc, written_data_is_read_back, 0, n);
	tcase_add_loop_test(tc, memory_need_not_be_aligned, 0, n);
	tcase_add_loop_test(tc, flush_succeeds_and_urgent_writes_are_stable,
			    0, n);
	tcase_add_loop_test(tc, random_work_leaves_what_a_model_says, 0, n);
	tcase_add_loop_test(tc, many_writes_at_once_are_all_done, 0, n);
	tcase_add_loop_test(tc, unmap_gives_space_back, 0, n);
	tcase_add_loop_test(tc, zero_keeps_space, 0, n);
	tcase_add_loop_test(tc, thick_volume_has_its_space_and_keeps_it, 0, n);
	tcase_add_loop_test(tc,
		thick_volume_is_refused_where_space_cannot_be_promised, 0, n);
	tcase_add_loop_test(tc, device_serves_one_volume_at_a_time, 0, n);
	tcase_add_loop_test(tc, resized_volume_has_its_new_size, 0, n);
	tcase_add_loop_test(tc, block_device_says_what_it_can, 0, n);
	tcase_add_loop_test(tc, full_file_system_refuses_new_blocks_alone, 0,
			    n);
	return unit_run("backend_volume", tc);
}
