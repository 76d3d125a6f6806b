/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "target/state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/log.h"

/*
 * Where persistent reservations are kept: a file for each volume, replaced
 * whole.  What stands in it is the SCSI layer's business.
 */

#define FILE_MAX (1u << 20)

static void path_of(const char *volume, const char *suffix, char *path)
{
	snprintf(path, PATH_MAX, "%s/reservations/%s%s", state_dir(), volume,
		 suffix);
}

static int read_all(int fd, char *p, size_t len)
{
	while (len) {
		ssize_t n = read(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return -EIO;	/* shorter than it was just now */
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int reservations_load(const char *volume, void **ret, size_t *ret_len)
{
	char path[PATH_MAX];
	struct stat st;
	char *p = NULL;
	int fd, err;

	path_of(volume, "", path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = fstat(fd, &st) ? -errno : 0;
	if (!err && (!S_ISREG(st.st_mode) || st.st_size > FILE_MAX))
		err = -EFBIG;
	if (!err) {
		p = malloc((size_t)st.st_size + 1);
		err = p ? read_all(fd, p, (size_t)st.st_size) : -ENOMEM;
	}
	close(fd);
	if (err) {
		free(p);
		return err;
	}
	*ret = p;
	*ret_len = (size_t)st.st_size;
	return 0;
}

void reservations_aside(const char *volume)
{
	char path[PATH_MAX], aside[PATH_MAX];

	path_of(volume, "", path);
	path_of(volume, ",damaged", aside);
	if (rename(path, aside))
		log_err("cannot rename %s: %m", path);
	else
		log_err("the damaged file is now %s", aside);
}

int reservations_save(const char *volume, const void *bytes, size_t len)
{
	char path[PATH_MAX];
	int err;

	path_of(volume, "", path);
	err = len ? file_replace(path, bytes, len, 0600) : file_remove(path);
	if (err)
		log_err("cannot write %s: %s", path, strerror(-err));
	return err;
}
