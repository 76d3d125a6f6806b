/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The engines' disks: reads and writes of every kind, flush, allocate. */

#include "backend/engine.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/util.h"
#include "tests/lib/eng.h"
#include "tests/lib/unit.h"

#define FILE_SIZE (4u << 20)
#define BLOCK 4096u

static int fd, direct_fd;
static unsigned char *data;

static void setup(void)
{
	char name[64];

	snprintf(name, sizeof(name), "engine_disk.%d.tmp", getpid());
	fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	direct_fd = open(name, O_RDWR | O_DIRECT | O_CLOEXEC);
	ck_assert_int_eq(unlink(name), 0);
	ck_assert_int_eq(posix_memalign((void **)&data, BLOCK, FILE_SIZE), 0);
	for (size_t i = 0; i < FILE_SIZE; i++)
		data[i] = (unsigned char)(i * 2654435761u >> 24);
	ck_assert_int_eq(pwrite(fd, data, FILE_SIZE, 0), FILE_SIZE);
}

static void teardown(void)
{
	free(data);
	close(fd);
	if (direct_fd >= 0)
		close(direct_fd);
}

/* The ways in which a volume may ask for the same. */
static const unsigned flags_of[] = {
	0, EREQ_NOWAIT, EREQ_INLINE, EREQ_DIRECT, EREQ_DSYNC,
	EREQ_NOWAIT | EREQ_DSYNC, EREQ_DIRECT | EREQ_DSYNC,
};

#define WAYS ((int)ARRAY_SIZE(flags_of))

static struct ereq disk_of(enum ereq_op op, int way, uint64_t off,
			   struct iovec *iov, int niov)
{
	struct ereq r = {
		.op = op, .fd = fd, .flags = flags_of[way], .off = off,
		.iov = iov, .niov = niov,
	};

	for (int i = 0; i < niov; i++)
		r.len += iov[i].iov_len;
	/* Not every file system of a test machine has O_DIRECT. */
	if (r.flags & EREQ_DIRECT && direct_fd >= 0)
		r.fd = direct_fd;
	else
		r.flags &= ~(unsigned)EREQ_DIRECT;
	return r;
}

static unsigned char *block_buf(size_t n)
{
	void *p = NULL;

	ck_assert_int_eq(posix_memalign(&p, BLOCK, n * BLOCK), 0);
	memset(p, 0, n * BLOCK);
	return p;
}

START_TEST(data_written_is_read_back)
{
	struct engine *e = eng_new(_i % 2);
	int way = _i / 2;
	unsigned char *w = block_buf(2), *r = block_buf(2);
	struct iovec iov;

	memset(w, 0xa5, 2 * BLOCK);
	iov = (struct iovec){ w, 2 * BLOCK };
	ck_assert_int_eq(eng_do(e, disk_of(EREQ_WRITE, way, 8 * BLOCK, &iov,
					   1)), 0);
	iov = (struct iovec){ r, 2 * BLOCK };
	ck_assert_int_eq(eng_do(e, disk_of(EREQ_READ, way, 8 * BLOCK, &iov,
					   1)), 0);
	ck_assert_int_eq(memcmp(w, r, 2 * BLOCK), 0);
	ck_assert_int_eq(pread(fd, r, 2 * BLOCK, 7 * BLOCK), 2 * BLOCK);
	ck_assert_int_eq(memcmp(data + 7 * BLOCK, r, BLOCK), 0);
	ck_assert_int_eq(memcmp(w, r + BLOCK, BLOCK), 0);
	free(w);
	free(r);
	engine_free(e);
}
END_TEST

/* A gate on a file: how often the engine has it and had it. */
static int using_it, uses;

static void gate_used(struct egate *g, bool used)
{
	(void)g;
	using_it += used ? 1 : -1;
	uses += used;
}

static void write_through(struct engine *e, struct egate *gate)
{
	unsigned char *w = block_buf(1), *r = block_buf(1);
	struct iovec iov = { w, BLOCK };
	struct ereq write = disk_of(EREQ_WRITE, 2, BLOCK, &iov, 1);

	memset(w, 0x5a + uses, BLOCK);
	write.gate = gate;
	ck_assert_int_eq(eng_do(e, write), 0);
	ck_assert_int_eq(pread(fd, r, BLOCK, BLOCK), BLOCK);
	ck_assert_int_eq(memcmp(w, r, BLOCK), 0);
	free(w);
	free(r);
}

START_TEST(gate_is_asked_once_a_write_and_given_back)
{
	struct engine *e = eng_new(_i);
	struct egate gate = { .fd = direct_fd, .used = gate_used };

	write_through(e, &gate);
	write_through(e, &gate);
	ck_assert_int_eq(using_it, 0);
	ck_assert_int_eq(uses, strcmp(engine_name(e), "aio") ? 2 : 0);
	engine_free(e);
}
END_TEST

START_TEST(write_goes_another_way_when_its_gate_is_shut)
{
	struct engine *e = eng_new(_i);
	struct egate gate = { .fd = -1, .used = gate_used };

	write_through(e, &gate);	/* the kernel refuses to say */
	ck_assert(!gate.open);
	gate.asked = true;		/* and has not answered yet */
	write_through(e, &gate);
	gate.asked = false;
	gate.shut_until = UINT64_MAX;	/* and took long lately */
	uses = 0;
	write_through(e, &gate);
	ck_assert_int_eq(uses, 0);
	ck_assert_int_eq(using_it, 0);
	engine_free(e);
}
END_TEST

START_TEST(arrays_longer_than_the_kernel_takes_are_served_whole)
{
	enum { PARTS = 2 * IOV_MAX + 3, PART = 512 };
	static struct iovec iov[PARTS];
	struct engine *e = eng_new(_i);
	unsigned char *r = calloc(PARTS, PART);

	for (int i = 0; i < PARTS; i++)
		iov[i] = (struct iovec){ r + i * PART, PART };
	ck_assert_int_eq(eng_do(e, disk_of(EREQ_READ, 1, 100, iov, PARTS)), 0);
	ck_assert_int_eq(memcmp(r, data + 100, PARTS * PART), 0);
	memset(r, 0x3c, PARTS * PART);
	for (int i = 0; i < PARTS; i++)
		iov[i] = (struct iovec){ r + i * PART, PART };
	ck_assert_int_eq(eng_do(e, disk_of(EREQ_WRITE, 0, 7, iov, PARTS)), 0);
	ck_assert_int_eq(pread(fd, data, PARTS * PART, 7), PARTS * PART);
	ck_assert_int_eq(memcmp(r, data, PARTS * PART), 0);
	free(r);
	engine_free(e);
}
END_TEST

START_TEST(read_at_and_over_the_end_of_a_file_is_an_error)
{
	struct engine *e = eng_new(_i % 2);
	int way = _i / 2;
	unsigned char *r = block_buf(2);
	struct iovec iov = { r, 2 * BLOCK };

	ck_assert_int_eq(eng_do(e, disk_of(EREQ_READ, way, FILE_SIZE, &iov,
					   1)), -EIO);
	iov = (struct iovec){ r, 2 * BLOCK };
	ck_assert_int_eq(eng_do(e, disk_of(EREQ_READ, way, FILE_SIZE - BLOCK,
					   &iov, 1)), -EIO);
	free(r);
	engine_free(e);
}
END_TEST

START_TEST(a_thousand_requests_of_one_turn_all_end)
{
	enum { N = 1000 };
	static struct eng_req q[N];
	static struct iovec iov[N];
	struct engine *e = eng_new(_i % 2);
	struct eng_group g = { .e = e };
	unsigned char *buf = block_buf(N);
	int way = _i / 2;

	for (unsigned i = 0; i < N; i++) {
		iov[i] = (struct iovec){ buf + i * BLOCK, BLOCK };
		q[i].r = disk_of(i % 4 == 3 ? EREQ_WRITE : EREQ_READ, way,
				 (i * 7 % N) * BLOCK, &iov[i], 1);
		if (i % 4 == 3)
			memcpy(buf + i * BLOCK, data + q[i].r.off, BLOCK);
		eng_submit(&g, &q[i]);
	}
	engine_run(e);
	for (unsigned i = 0; i < N; i++) {
		ck_assert_int_eq(q[i].done, 1);
		ck_assert_int_eq(q[i].r.result, 0);
		ck_assert_int_eq(memcmp(buf + i * BLOCK, data + q[i].r.off,
					BLOCK), 0);
	}
	free(buf);
	engine_free(e);
}
END_TEST

START_TEST(flush_and_allocate_are_done)
{
	struct engine *e = eng_new(_i);
	struct stat st;

	ck_assert_int_eq(eng_do(e, (struct ereq){ .op = EREQ_FSYNC,
						  .fd = fd }), 0);
	ck_assert_int_eq(eng_do(e, (struct ereq){
		.op = EREQ_FALLOCATE, .fd = fd, .off = FILE_SIZE,
		.len = 1 << 20 }), 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_int_eq(st.st_size, FILE_SIZE + (1 << 20));
	ck_assert_int_eq(eng_do(e, (struct ereq){
		.op = EREQ_FALLOCATE, .fd = fd, .mode = 1 << 20,
		.len = 4096 }), -EOPNOTSUPP);
	engine_free(e);
}
END_TEST

START_TEST(errors_of_a_descriptor_reach_the_caller)
{
	struct engine *e = eng_new(_i % 2);
	int way = _i / 2, ro = open("/dev/null", O_RDONLY), keep = fd;
	unsigned char *w = block_buf(1);
	struct iovec iov = { w, BLOCK };
	struct ereq r = disk_of(EREQ_WRITE, way, 0, &iov, 1);

	r.fd = ro;
	ck_assert_int_eq(eng_do(e, r), -EBADF);
	r.fd = 1000;
	r.op = EREQ_READ;
	ck_assert_int_eq(eng_do(e, r), -EBADF);
	fd = 1000;
	ck_assert_int_eq(eng_do(e, (struct ereq){ .op = EREQ_FSYNC,
						  .fd = fd }), -EBADF);
	fd = keep;
	close(ro);
	free(w);
	engine_free(e);
}
END_TEST

START_TEST(request_of_no_length_is_done)
{
	struct engine *e = eng_new(_i);

	ck_assert_int_eq(eng_do(e, disk_of(EREQ_READ, 0, 0, NULL, 0)), 0);
	ck_assert_int_eq(eng_do(e, disk_of(EREQ_WRITE, 0, 0, NULL, 0)), 0);
	engine_free(e);
}
END_TEST

START_TEST(cancelled_disk_request_just_runs_on)
{
	struct engine *e = eng_new(_i % 2);
	struct eng_group g = { .e = e };
	unsigned char *buf = block_buf(1);
	struct iovec iov = { buf, BLOCK };
	struct eng_req q = { .r = disk_of(EREQ_READ, _i / 2, BLOCK, &iov, 1) };

	eng_submit(&g, &q);
	eng_cancel(&g, &q);
	engine_run(e);
	ck_assert_int_eq(q.r.result, 0);
	ck_assert_int_eq(memcmp(buf, data + BLOCK, BLOCK), 0);
	free(buf);
	engine_free(e);
}
END_TEST

/* One turn: a defer submits a read; a turn-end hook queued with it runs, then
 * done(), then a second turn-end hook: the answer goes out in the same turn,
 * before what was posted in it runs; and the clock knows how long it took. */
struct alone {
	struct edefer begin, answer;
	struct ereq r;
	struct engine *e;
	struct iovec iov;
	unsigned char buf[BLOCK];
	uint64_t began;
	struct epost next_turn;
	int steps;
};

static void alone_late(struct epost *post)
{
	container_of(post, struct alone, next_turn)->steps = -1;
}

static void alone_begin(struct edefer *d)
{
	struct alone *a = container_of(d, struct alone, begin);

	a->began = engine_now(a->e);
	a->next_turn.run = alone_late;
	engine_post(a->e, &a->next_turn);
	engine_submit(a->e, &a->r);
	ck_assert_int_eq(a->steps++, 0);
}

static void alone_done(struct ereq *r)
{
	struct alone *a = container_of(r, struct alone, r);

	ck_assert_int_eq(a->steps++, 1);
	ck_assert_int_eq(r->result, 0);
	engine_turn_end(a->e, &a->answer);
}

static void alone_answer(struct edefer *d)
{
	struct alone *a = container_of(d, struct alone, answer);

	ck_assert_int_eq(a->steps++, 2);
	ck_assert_uint_gt(engine_now(a->e), a->began);
	engine_stop(a->e);
}

START_TEST(request_alone_in_its_turn_is_answered_in_that_turn)
{
	struct engine *e = eng_new(_i);
	struct alone a = { .e = e, .steps = 0 };

	/* not on every file system of a test machine */
	a.iov = (struct iovec){ a.buf, BLOCK };
	if (preadv2(fd, &a.iov, 1, 0, RWF_NOWAIT) != BLOCK) {
		engine_free(e);
		return;
	}
	list_init(&a.begin.link);
	list_init(&a.answer.link);
	a.begin.run = alone_begin;
	a.answer.run = alone_answer;
	a.r = disk_of(EREQ_READ, 1, 0, &a.iov, 1);
	a.r.done = alone_done;
	engine_defer(e, &a.begin);
	engine_run(e);
	ck_assert_int_eq(a.steps, 3);
	engine_free(e);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("engine disks");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
#define BOTH(test) tcase_add_loop_test(tc, test, 0, ENG_KINDS)
#define ALL_WAYS(test) tcase_add_loop_test(tc, test, 0, ENG_KINDS * WAYS)
	BOTH(gate_is_asked_once_a_write_and_given_back);
	BOTH(write_goes_another_way_when_its_gate_is_shut);
	ALL_WAYS(data_written_is_read_back);
	BOTH(arrays_longer_than_the_kernel_takes_are_served_whole);
	ALL_WAYS(read_at_and_over_the_end_of_a_file_is_an_error);
	ALL_WAYS(a_thousand_requests_of_one_turn_all_end);
	BOTH(flush_and_allocate_are_done);
	ALL_WAYS(errors_of_a_descriptor_reach_the_caller);
	BOTH(request_of_no_length_is_done);
	ALL_WAYS(cancelled_disk_request_just_runs_on);
	BOTH(request_alone_in_its_turn_is_answered_in_that_turn);
	return unit_run("backend/engine disks", tc);
}
