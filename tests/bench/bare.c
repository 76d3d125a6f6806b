/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The bare system calls that a target's commands end in, with no target: the
 * limit of WRITE SAME, UNMAP, EXTENDED COPY and write-through.  Sweeps over
 * a part of a file, one pass after the other, and prints the load generator's
 * figures.
 */

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <liburing.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tests/bench/load.h"

#define DEPTH_MAX 512u

struct bare {
	const char	*op;
	int		 fd, dst;
	uint32_t	 bs;
	uint64_t	 off, size, dst_off, cursor;
	unsigned	 depth, pass;
	double		 seconds, warm;
	bool		 once, random;
	uint64_t	 rng;
	uint8_t		*data;
	struct hist	 hist;
};

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int do_zero(struct bare *b, uint64_t off)
{
	return fallocate(b->fd, FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE,
			 (off_t)off, b->bs);
}

static int do_punch(struct bare *b, uint64_t off)
{
	return fallocate(b->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			 (off_t)off, b->bs);
}

/* Another place in each pass: to share what is shared costs nothing. */
static uint64_t to_off(const struct bare *b, uint64_t off)
{
	return b->dst_off +
		(off - b->off + (uint64_t)b->pass * b->bs) % b->size;
}

static int do_clone(struct bare *b, uint64_t off)
{
	struct file_clone_range r = {
		.src_fd = b->fd, .src_offset = off, .src_length = b->bs,
		.dest_offset = to_off(b, off),
	};

	return ioctl(b->dst, FICLONERANGE, &r);
}

static int do_copy(struct bare *b, uint64_t off)
{
	off_t from = (off_t)off, to = (off_t)to_off(b, off);
	off_t end = from + b->bs;
	ssize_t n;

	while (from < end) {
		n = copy_file_range(b->fd, &from, b->dst, &to,
				    (size_t)(end - from), 0);
		if (n <= 0)
			return -1;
	}
	return 0;
}

static int do_write(struct bare *b, uint64_t off)
{
	return pwrite(b->fd, b->data, b->bs, (off_t)off) == b->bs ? 0 : -1;
}

static int do_fdatasync(struct bare *b, uint64_t off)
{
	return do_write(b, off) || fdatasync(b->fd);
}

static int do_read(struct bare *b, uint64_t off)
{
	return pread(b->fd, b->data, b->bs, (off_t)off) == b->bs ? 0 : -1;
}

static const struct {
	const char *name;
	int (*call)(struct bare *b, uint64_t off);
} calls[] = {
	{ "zero", do_zero }, { "punch", do_punch }, { "clone", do_clone },
	{ "copy", do_copy }, { "write", do_write }, { "read", do_read },
	{ "fdatasync", do_fdatasync },
};

static bool next_off(struct bare *b, uint64_t *off)
{
	if (b->random) {
		*off = b->off + random64(&b->rng) % (b->size / b->bs) * b->bs;
		return true;
	}
	if (b->cursor + b->bs > b->off + b->size) {
		if (b->once)
			return false;
		b->cursor = b->off;
		b->pass++;
	}
	*off = b->cursor;
	b->cursor += b->bs;
	return true;
}

static bool run_calls(struct bare *b, uint64_t stop)
{
	uint64_t off, then = now_ns(), now;
	unsigned i = 0;

	while (i < ARRAY_SIZE(calls) && strcmp(calls[i].name, b->op))
		i++;
	if (i == ARRAY_SIZE(calls))
		return false;
	while (then < stop && next_off(b, &off)) {
		if (calls[i].call(b, off)) {
			perror(b->op);
			return false;
		}
		now = now_ns();
		hist_add(&b->hist, now - then);
		then = now;
	}
	return b->hist.count;
}

static void put_dsync(struct bare *b, struct io_uring *u, uint64_t *started)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(u);
	uint64_t off = 0;

	next_off(b, &off);
	io_uring_prep_write(sqe, b->fd, b->data, b->bs, off);
	sqe->rw_flags = RWF_DSYNC;
	io_uring_sqe_set_data(sqe, started);
	*started = now_ns();
}

/* Writes with RWF_DSYNC, a number of them in the ring at all times. */
static bool run_dsync(struct bare *b, uint64_t stop)
{
	uint64_t started[DEPTH_MAX], *then;
	struct io_uring u;
	struct io_uring_cqe *cqe;
	unsigned i, busy = b->depth;

	if (io_uring_queue_init(DEPTH_MAX, &u, 0))
		return false;
	for (i = 0; i < b->depth; i++)
		put_dsync(b, &u, &started[i]);
	while (busy) {
		io_uring_submit_and_wait(&u, 1);
		while (!io_uring_peek_cqe(&u, &cqe)) {
			then = io_uring_cqe_get_data(cqe);
			if (cqe->res != (int)b->bs) {
				fprintf(stderr, "bare: %s\n",
					strerror(-cqe->res));
				return false;
			}
			hist_add(&b->hist, now_ns() - *then);
			io_uring_cqe_seen(&u, cqe);
			if (now_ns() < stop)
				put_dsync(b, &u, then);
			else
				busy--;
		}
	}
	io_uring_queue_exit(&u);
	return true;
}

/* What is done in the first seconds is forgotten, as with the targets. */
static bool run(struct bare *b, double seconds, uint64_t *start)
{
	*start = now_ns();
	memset(&b->hist, 0, sizeof(b->hist));
	return (strcmp(b->op, "dsync") ? run_calls : run_dsync)
		(b, *start + (uint64_t)(seconds * 1e9));
}

static uint64_t size_of(const char *text)
{
	char *end;
	uint64_t n = strtoull(text, &end, 10);
	const char *units = "KMGT", *u = *end ? strchr(units, *end) : NULL;

	return u ? n << (10 * (u - units + 1)) : n;
}

static const struct option long_options[] = {
	{ "op", 1, NULL, 'o' }, { "bs", 1, NULL, 'b' },
	{ "off", 1, NULL, 'f' }, { "size", 1, NULL, 's' },
	{ "dst", 1, NULL, 'd' }, { "dst-off", 1, NULL, 'D' },
	{ "depth", 1, NULL, 'q' }, { "time", 1, NULL, 't' },
	{ "warm", 1, NULL, 'w' },
	{ "once", 0, NULL, '1' }, { "random", 0, NULL, 'r' },
	{ NULL, 0, NULL, 0 },
};

static int open_rw(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	perror(path);
	exit(1);
}

static void parse(struct bare *b, int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1)
		switch (c) {
		case 'o': b->op = optarg; break;
		case 'b': b->bs = (uint32_t)size_of(optarg); break;
		case 'f': b->off = size_of(optarg); break;
		case 's': b->size = size_of(optarg); break;
		case 'd': b->dst = open_rw(optarg); break;
		case 'D': b->dst_off = size_of(optarg); break;
		case 'q': b->depth = (unsigned)size_of(optarg); break;
		case 't': b->seconds = strtod(optarg, NULL); break;
		case 'w': b->warm = strtod(optarg, NULL); break;
		case '1': b->once = true; break;
		case 'r': b->random = true; break;
		default: exit(2);
		}
	if (optind != argc - 1 || b->size < b->bs || !b->bs ||
	    b->depth > DEPTH_MAX) {
		fprintf(stderr, "bare --op zero|punch|clone|copy|read|write|"
			"fdatasync|dsync --bs N --size N [--off N]"
			" [--dst FILE] [--dst-off N] [--depth N (dsync)]"
			" [--random] [--once] [--time S] [--warm S] FILE\n");
		exit(2);
	}
	b->fd = open_rw(argv[optind]);
	if (b->dst < 0)
		b->dst = b->fd;
}

int main(int argc, char **argv)
{
	static struct bare b = { .op = "zero", .dst = -1, .bs = 4096,
				 .depth = 1, .seconds = 1,
				 .rng = 88172645463325252u };
	uint64_t start, cpu;
	double s, n;

	parse(&b, argc, argv);
	b.cursor = b.off;
	b.data = aligned_alloc(4096, round_up(b.bs, 4096));
	if (!b.data)
		return 1;
	memset(b.data, 0x5a, b.bs);
	if (b.warm > 0 && !run(&b, b.warm, &start))
		return 1;
	cpu = proc_own_cpu_ns();
	if (!run(&b, b.seconds, &start))
		return 1;
	s = (double)(now_ns() - start) / 1e9;
	n = (double)b.hist.count;
	printf("op=%s ops=%.0f secs=%.3f rate=%.1f mib=%.1f cpu=%.3f p50=%.1f"
	       " p90=%.1f p99=%.1f p999=%.1f max=%.1f errors=0\n", b.op, n, s,
	       n / s, n * b.bs / s / MiB,
	       (double)(proc_own_cpu_ns() - cpu) / n / 1000,
	       hist_us(&b.hist, 0.5), hist_us(&b.hist, 0.9),
	       hist_us(&b.hist, 0.99), hist_us(&b.hist, 0.999),
	       (double)b.hist.max / 1000);
	return 0;
}
