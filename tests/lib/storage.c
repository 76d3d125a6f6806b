/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Things that tests store on: file systems in files, loop devices, patterns.
 */
#include "tests/lib/harness.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PATHS		16
#define PATH_SIZE	256

/* Names that are handed out live as long as the program. */
static char *new_path(void)
{
	static char paths[PATHS][PATH_SIZE];
	static int used;

	return used < PATHS ? paths[used++] : NULL;
}

static int make_image(const char *path, unsigned mib)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int rc;

	if (fd < 0)
		return -1;
	rc = ftruncate(fd, (off_t)mib << 20);
	close(fd);
	return rc;
}

const char *fs_mount(struct daemon *d, const char *type, unsigned mib)
{
	const char *options = !strcmp(type, "xfs") ? "-q -m reflink=1" :
			      !strcmp(type, "ext4") ? "-q -F" : "-q";
	char image[200], said[200];
	char *dir = new_path();

	if (!dir || geteuid() != 0)
		return NULL;
	snprintf(image, sizeof(image), "%s/%s.img", d->dir, type);
	snprintf(dir, PATH_SIZE, "%s/%s", d->dir, type);
	if (make_image(image, mib) || mkdir(dir, 0700))
		return NULL;
	if (run_output(said, sizeof(said), "mkfs.%s %s %s", type, options,
		       image) ||
	    run_program("mount -o loop %s %s", image, dir))
		return NULL;
	return dir;
}

const char *loop_attach(struct daemon *d, unsigned mib, unsigned block_size)
{
	char *device = new_path(), image[200];
	static int serial;

	snprintf(image, sizeof(image), "%s/loop%d.img", d->dir, serial++);
	if (!device || geteuid() != 0 || make_image(image, mib) ||
	    run_output(device, PATH_SIZE, "losetup --find --show "
		       "--sector-size %u %s", block_size, image) ||
	    strncmp(device, "/dev/", 5))
		return NULL;
	return device;
}

static void unmount_below(const char *dir)
{
	char line[1024], found[PATHS][PATH_SIZE], at[PATH_SIZE];
	FILE *f = fopen("/proc/self/mounts", "re");
	int n = 0;

	while (f && n < PATHS && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*s %255s", at) == 1 &&
		    !strncmp(at, dir, strlen(dir)))
			memcpy(found[n++], at, sizeof(at));
	}
	if (f)
		fclose(f);
	while (n > 0)
		run_program("umount -l %s", found[--n]);
}

void fs_cleanup(const char *dir)
{
	char path[128], file[512];
	int i;

	unmount_below(dir);
	for (i = 0; i < 256; i++) {
		FILE *f;

		snprintf(path, sizeof(path),
			 "/sys/block/loop%d/loop/backing_file", i);
		f = fopen(path, "re");
		if (!f)
			continue;
		if (fgets(file, sizeof(file), f) &&
		    !strncmp(file, dir, strlen(dir)))
			run_program("losetup -d /dev/loop%d", i);
		fclose(f);
	}
}

/* ---- patterns ---- */

static uint64_t mix(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9u;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static void one_block(uint64_t *words, uint64_t block, uint64_t seed)
{
	uint64_t x = mix(block * 0x9e3779b97f4a7c15u + mix(seed + 1));
	unsigned i;

	for (i = 0; i < 512 / sizeof(*words); i++)
		words[i] = x += 0x9e3779b97f4a7c15u ^ i << 7;
}

void pattern_fill(void *buf, size_t len, uint64_t block, uint64_t seed)
{
	uint64_t words[512 / sizeof(uint64_t)];
	size_t at;

	for (at = 0; at < len; at += sizeof(words), block++) {
		one_block(words, block, seed);
		memcpy((char *)buf + at, words,
		       len - at < sizeof(words) ? len - at : sizeof(words));
	}
}

static ssize_t diff(const uint8_t *a, const uint8_t *b, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (a[i] != b[i])
			return (ssize_t)i;
	}
	return -1;
}

ssize_t pattern_diff(const void *buf, size_t len, uint64_t block,
		     uint64_t seed)
{
	uint64_t words[512 / sizeof(uint64_t)];
	const uint8_t *p = buf;
	size_t at, n;

	for (at = 0; at < len; at += n, block++) {
		n = len - at < sizeof(words) ? len - at : sizeof(words);
		one_block(words, block, seed);
		if (memcmp(p + at, words, n))
			return (ssize_t)at +
			       diff(p + at, (const uint8_t *)words, n);
	}
	return -1;
}

ssize_t zero_diff(const void *buf, size_t len)
{
	const uint8_t *p = buf;
	size_t i;

	if (len == 0 || (p[0] == 0 && !memcmp(p, p + 1, len - 1)))
		return -1;
	for (i = 0; p[i] == 0; i++)
		;
	return (ssize_t)i;
}

/* ---- time ---- */

uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

bool wait_until(bool (*cond)(void *arg), void *arg, unsigned ms)
{
	uint64_t end = now_ms() + ms;

	while (!cond(arg)) {
		if (now_ms() > end)
			return false;
		poll(NULL, 0, 10);
	}
	return true;
}
