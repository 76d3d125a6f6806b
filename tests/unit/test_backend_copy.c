/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Copies between volumes on real storage, on both engines. */

#include "tests/lib/unit.h"
#include "tests/lib/vol.h"

static const struct volume_config thin = { .size = VOL_SIZE };

START_TEST(copy_to_another_volume_keeps_holes)
{
	uint8_t *buf = vol_buf(MiB), *in = vol_buf(MiB);
	struct vol from, to;
	uint64_t off, run;

	if (!env_enter(_i) || place_is_block())
		return;
	vol_make(&from, thin);
	vol_make(&to, thin);
	vol_fill(buf, MiB, 4);
	for (off = 0; off < VOL_SIZE; off += MiB)
		vol_io(&to, BREQ_WRITE, off, MiB, buf);
	vol_fill(buf, MiB, 8);
	ck_assert_int_eq(vol_io(&from, BREQ_WRITE, 2 * MiB, MiB, buf), 0);
	ck_assert_int_eq(vol_copy(&to, 0, &from, 0, VOL_SIZE), 0);
	ck_assert_int_eq(vol_io(&to, BREQ_READ, 2 * MiB, MiB, in), 0);
	ck_assert_mem_eq(in, buf, MiB);
	ck_assert(!vol_extent(&to, 0, &run));
	ck_assert_uint_eq(run, 2 * MiB);
	ck_assert(vol_extent(&to, 2 * MiB, &run));
	ck_assert_uint_eq(run, MiB);
	ck_assert(!vol_extent(&to, 3 * MiB, &run));
	ck_assert_uint_eq(run, VOL_SIZE - 3 * MiB);
	vol_drop(&to);
	vol_drop(&from);
	env_leave();
	free(buf);
	free(in);
}
END_TEST

/* A second volume of another kind, in the folder for temporary files. */
static void make_other(struct vol *other)
{
	struct volume_config config = { .size = VOL_SIZE };

	snprintf(other->path, sizeof(other->path), "%s/other", env.root);
	config.path = other->path;
	ck_assert_int_eq(volume_make_file(&config), 0);
	ck_assert_int_eq(vol_open(other, config), 0);
}

START_TEST(copy_between_kinds_and_back_loses_nothing)
{
	uint8_t *buf = vol_buf(MiB), *in = vol_buf(MiB);
	struct vol file, device;
	uint64_t run;

	if (!env_enter(_i) || !place_is_block())
		return;
	make_other(&file);
	vol_make(&device, thin);
	ck_assert_int_eq(volume_copy_method(file.v, device.v),
			 METHOD_READ_WRITE);
	vol_fill(buf, MiB, 6);
	ck_assert_int_eq(vol_io(&device, BREQ_WRITE, MiB, MiB, buf), 0);
	ck_assert_int_eq(vol_io(&file, BREQ_WRITE, 5 * MiB, MiB, buf), 0);
	ck_assert_int_eq(vol_copy(&device, 0, &file, 0, VOL_SIZE), 0);
	ck_assert_int_eq(vol_io(&device, BREQ_READ, MiB, MiB, in), 0);
	ck_assert(is_filled(in, MiB, 0));	/* a hole of the file's */
	ck_assert_int_eq(vol_copy(&file, 0, &device, 4 * MiB, 8 * MiB), 0);
	ck_assert_int_eq(vol_io(&file, BREQ_READ, MiB, MiB, in), 0);
	ck_assert_mem_eq(in, buf, MiB);
	ck_assert(vol_extent(&device, 0, &run));
	ck_assert_uint_eq(run, VOL_SIZE);
	vol_drop(&device);
	vol_close(&file);
	unlink(file.path);
	env_leave();
}
END_TEST

static uint64_t fs_free(struct vol *x)
{
	struct volume_space s;

	ck_assert_int_eq(vol_io(x, BREQ_FLUSH, 0, 0, NULL), 0);
	ck_assert_int_eq(volume_space(x->v, &s), 0);
	return s.fs_free;
}

START_TEST(copy_method_is_the_best_that_the_place_has)
{
	static const enum volume_method best[] = {
		[PLACE_TMP]	     = METHOD_NONE,	/* unknown */
		[PLACE_TMP_DIRECT]   = METHOD_NONE,
		[PLACE_XFS]	     = METHOD_REFLINK,
		[PLACE_XFS_DIRECT]   = METHOD_REFLINK,
		[PLACE_BTRFS]	     = METHOD_REFLINK,
		[PLACE_BLOCK]	     = METHOD_READ_WRITE,
		[PLACE_BLOCK_DIRECT] = METHOD_READ_WRITE,
	};
	uint8_t *buf = vol_buf(MiB);
	uint64_t before, off;
	struct vol x;

	if (!env_enter(_i) || best[env.place] == METHOD_NONE)
		return;
	vol_make(&x, thin);
	ck_assert_int_eq(volume_copy_method(x.v, x.v), best[env.place]);
	ck_assert_int_eq(volume_caps(x.v)->copy, best[env.place]);
	vol_fill(buf, MiB, 1);
	for (off = 0; off < 4 * MiB; off += MiB)
		ck_assert_int_eq(vol_io(&x, BREQ_WRITE, off, MiB, buf), 0);
	before = fs_free(&x);
	ck_assert_int_eq(vol_copy(&x, 4 * MiB, &x, 0, 4 * MiB), 0);
	if (best[env.place] == METHOD_REFLINK)
		ck_assert_uint_le(before, fs_free(&x) + 2 * MiB);
	/* a range that is shifted against the blocks is copied too */
	ck_assert_int_eq(vol_copy(&x, 8 * MiB + 512 * 8, &x, 512,
				  64 * KiB), env.direct &&
			 volume_caps(x.v)->block_size > 512 ? -EINVAL : 0);
	vol_drop(&x);
	env_leave();
	free(buf);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("copy");
	int n = VOL_CASES;

	tcase_set_timeout(tc, 120);
	tcase_add_unchecked_fixture(tc, places_make, places_remove);
	tcase_add_loop_test(tc, copy_to_another_volume_keeps_holes, 0, n);
	tcase_add_loop_test(tc, copy_between_kinds_and_back_loses_nothing, 0,
			    n);
	tcase_add_loop_test(tc, copy_method_is_the_best_that_the_place_has,
			    0, n);
	return unit_run("backend_copy", tc);
}
