/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Volumes come, go and are not there; their kinds; work on their threads.  Each
 * test for both engines, over the folder for temporary files.
 */

#include "tests/lib/unit.h"
#include "tests/lib/vol.h"

#define ENGINES	2

static char path[192];

static void enter(int engine)
{
	ck_assert(env_enter(engine * PLACES + PLACE_TMP));
	snprintf(path, sizeof(path), "%s/file", env.dir);
	unlink(path);
}

static void make_file(uint64_t size)
{
	int fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);
	close(fd);
}

static void await_change(struct vol *x)
{
	x->changes = 0;
	while (!x->changes)
		engine_run(env.e);
}

START_TEST(absent_file_is_never_made_and_heals_when_it_comes)
{
	struct vol x;

	enter(_i);
	ck_assert_int_eq(vol_open(&x, (struct volume_config){
		.path = path, .size = MiB }), -ENOENT);
	ck_assert_int_eq(volume_state(x.v), VOLUME_DEGRADED);
	ck_assert_int_eq(volume_error(x.v), -ENOENT);
	ck_assert_int_eq(access(path, F_OK), -1);
	ck_assert_int_eq(vol_io(&x, BREQ_READ, 0, 512, path), -ENODEV);
	make_file(MiB);
	await_change(&x);
	ck_assert_int_eq(x.state, VOLUME_ONLINE);
	ck_assert_uint_eq(volume_size(x.v), MiB);
	vol_close(&x);
	env_leave();
}
END_TEST

START_TEST(short_file_degrades_the_volume)
{
	struct vol x;

	enter(_i);
	make_file(MiB - 512);
	ck_assert_int_eq(vol_open(&x, (struct volume_config){
		.path = path, .size = MiB }), -ENODATA);
	ck_assert_int_eq(volume_state(x.v), VOLUME_DEGRADED);
	vol_close(&x);
	env_leave();
}
END_TEST

START_TEST(size_of_the_file_serves_when_none_is_configured)
{
	struct vol x;

	enter(_i);
	make_file(MiB + 100);
	ck_assert_int_eq(vol_open(&x, (struct volume_config){ .path = path }),
			 0);
	ck_assert_uint_eq(volume_size(x.v), MiB);
	vol_close(&x);
	env_leave();
}
END_TEST

START_TEST(what_is_no_file_and_no_device_is_refused)
{
	struct vol x;

	enter(_i);
	ck_assert_int_eq(vol_open(&x, (struct volume_config){
		.path = env.dir, .size = MiB }), -EINVAL);
	vol_close(&x);
	env_leave();
}
END_TEST

START_TEST(file_serves_one_volume_at_a_time)
{
	struct vol x, y;

	enter(_i);
	make_file(MiB);
	ck_assert_int_eq(vol_open(&x, (struct volume_config){ .path = path }),
			 0);
	ck_assert_int_eq(vol_open(&y, (struct volume_config){ .path = path }),
			 -EBUSY);
	vol_close(&x);
	await_change(&y);
	ck_assert_int_eq(y.state, VOLUME_ONLINE);
	vol_close(&y);
	env_leave();
}
END_TEST

START_TEST(read_only_volume_refuses_changes)
{
	uint8_t buf[512] = { 0 };
	struct vol x;

	enter(_i);
	make_file(MiB);
	ck_assert_int_eq(vol_open(&x, (struct volume_config){
		.path = path, .read_only = true }), 0);
	ck_assert(volume_caps(x.v)->read_only);
	ck_assert_int_eq(vol_io(&x, BREQ_READ, 0, 512, buf), 0);
	ck_assert_int_eq(vol_io(&x, BREQ_WRITE, 0, 512, buf), -EROFS);
	ck_assert_int_eq(vol_io(&x, BREQ_ZERO, 0, 512, buf), -EROFS);
	ck_assert_int_eq(vol_io(&x, BREQ_FLUSH, 0, 0, NULL), 0);
	vol_close(&x);
	env_leave();
}
END_TEST

START_TEST(new_file_replaces_nothing)
{
	struct volume_config config = { .path = path, .size = MiB };
	struct stat st;

	enter(_i);
	ck_assert_int_eq(volume_make_file(&config), 0);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_size, MiB);
	ck_assert_int_eq(volume_make_file(&config), -EEXIST);
	config.path = "/nowhere/at/all";
	ck_assert_int_eq(volume_make_file(&config), -ENOENT);
	config.size = 0;
	ck_assert_int_eq(volume_make_file(&config), -EINVAL);
	env_leave();
}
END_TEST

START_TEST(kind_follows_from_the_path)
{
	int err = 0;

	enter(_i);
	ck_assert_str_eq(volume_probe_kind("null:", &err), "null");
	ck_assert_ptr_null(volume_probe_kind(path, &err));
	ck_assert_int_eq(err, -ENOENT);
	make_file(MiB);
	ck_assert_str_eq(volume_probe_kind(path, &err), "file");
	ck_assert_ptr_null(volume_probe_kind("/dev/null", &err));
	ck_assert_int_eq(err, -EINVAL);
	env_leave();
}
END_TEST

START_TEST(null_volume_reads_as_zeros_and_keeps_nothing)
{
	uint8_t *buf = vol_buf(MiB);
	uint64_t run;
	struct vol x;

	enter(_i);
	ck_assert_int_eq(vol_open(&x, (struct volume_config){
		.path = "null:", .size = VOL_SIZE }), 0);
	vol_fill(buf, MiB, 1);
	ck_assert_int_eq(vol_io(&x, BREQ_WRITE, 0, MiB, buf), 0);
	ck_assert_int_eq(vol_io(&x, BREQ_READ, 0, MiB, buf), 0);
	ck_assert(is_filled(buf, MiB, 0));
	ck_assert_int_eq(vol_io(&x, BREQ_ZERO, 0, MiB, NULL), 0);
	ck_assert_int_eq(vol_copy(&x, 0, &x, MiB, MiB), 0);
	ck_assert(!vol_extent(&x, 0, &run));
	ck_assert_uint_eq(run, VOL_SIZE);
	vol_close(&x);
	env_leave();
	free(buf);
}
END_TEST

/* Work on a thread of the volume's. */
struct async {
	struct vwork w;
	pthread_t ran_on;
	bool done;
};

static int async_run(struct vwork *w)
{
	container_of(w, struct async, w)->ran_on = pthread_self();
	return -EXDEV;
}

static void async_done(struct vwork *w)
{
	struct async *a = container_of(w, struct async, w);

	ck_assert_ptr_eq(engine_self(), env.e);
	a->done = true;
	engine_stop(env.e);
}

static struct volume *async_volume;
static struct async async_work;

static void async_start(struct edefer *d)
{
	(void)d;
	volume_async(async_volume, &async_work.w);
}

static void check_async(struct volume *v)
{
	struct edefer start = { .run = async_start };

	async_volume = v;
	async_work = (struct async){ .w = { .run = async_run,
					    .done = async_done } };
	list_init(&start.link);
	engine_defer(env.e, &start);
	while (!async_work.done)
		engine_run(env.e);
	ck_assert(!pthread_equal(async_work.ran_on, pthread_self()));
	ck_assert_int_eq(async_work.w.error, -EXDEV);
}

START_TEST(blocking_work_runs_elsewhere_and_ends_here)
{
	struct vol x;

	enter(_i);
	make_file(MiB);
	vol_open(&x, (struct volume_config){ .path = path });
	check_async(x.v);
	check_async(NULL);
	vol_close(&x);
	env_leave();
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("life");

	tcase_add_unchecked_fixture(tc, root_make, places_remove);
	tcase_add_loop_test(tc,
		absent_file_is_never_made_and_heals_when_it_comes, 0, ENGINES);
	tcase_add_loop_test(tc, short_file_degrades_the_volume, 0, ENGINES);
	tcase_add_loop_test(tc,
		size_of_the_file_serves_when_none_is_configured, 0, ENGINES);
	tcase_add_loop_test(tc, what_is_no_file_and_no_device_is_refused, 0,
			    ENGINES);
	tcase_add_loop_test(tc, file_serves_one_volume_at_a_time, 0, ENGINES);
	tcase_add_loop_test(tc, read_only_volume_refuses_changes, 0, ENGINES);
	tcase_add_loop_test(tc, new_file_replaces_nothing, 0, ENGINES);
	tcase_add_loop_test(tc, kind_follows_from_the_path, 0, ENGINES);
	tcase_add_loop_test(tc, null_volume_reads_as_zeros_and_keeps_nothing,
			    0, ENGINES);
	tcase_add_loop_test(tc, blocking_work_runs_elsewhere_and_ends_here, 0,
			    ENGINES);
	return unit_run("backend_life", tc);
}
