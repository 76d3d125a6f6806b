/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Files that are replaced whole or not at all. */

#include "target/state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_all(int fd, const char *data, size_t len)
{
	ssize_t n;

	while (len) {
		n = write(fd, data, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

static int sync_folder(const char *path)
{
	char dir[PATH_MAX];
	char *slash;
	int fd, err = 0;

	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	if (slash)
		slash[slash == dir] = '\0';
	fd = open(slash ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* some file systems cannot sync a folder and need not */
	if (fsync(fd) && errno != EINVAL)
		err = -errno;
	close(fd);
	return err;
}

/* Fills the temporary file and makes it stable. */
static int fill(int fd, const char *real, const char *data, size_t len)
{
	struct stat st;
	int err;

	if (!stat(real, &st)) {
		if (fchmod(fd, st.st_mode & 07777))
			return -errno;
		if (geteuid() == 0 && fchown(fd, st.st_uid, st.st_gid))
			return -errno;
	}
	err = write_all(fd, data, len);
	if (!err && fsync(fd))
		err = -errno;
	return err;
}

int file_replace(const char *path, const char *data, size_t len, mode_t mode)
{
	char real[PATH_MAX], tmp[PATH_MAX + 8];
	int fd, err;

	if (!realpath(path, real)) {
		if (errno != ENOENT)
			return -errno;
		snprintf(real, sizeof(real), "%s", path);
	}
	snprintf(tmp, sizeof(tmp), "%s.new", real);
	/* what an earlier try left */
	unlink(tmp);
	fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		  mode);
	if (fd < 0)
		return -errno;
	err = fill(fd, real, data, len);
	if (close(fd) && !err)
		err = -errno;
	if (!err && rename(tmp, real))
		err = -errno;
	if (err) {
		unlink(tmp);
		return err;
	}
	return sync_folder(real);
}

int file_replace_json(const char *path, const json_t *doc, mode_t mode)
{
	char *text = json_dumps(doc, JSON_INDENT(2));
	size_t n;
	int err;

	if (!text)
		return -ENOMEM;
	n = strlen(text);
	text[n] = '\n';		/* in place of the end: the length counts */
	err = file_replace(path, text, n + 1, mode);
	free(text);
	return err;
}

int file_remove(const char *path)
{
	if (unlink(path))
		return errno == ENOENT ? 0 : -errno;
	return sync_folder(path);
}

int make_folders(const char *path, mode_t mode)
{
	char dir[PATH_MAX];
	char *p;

	snprintf(dir, sizeof(dir), "%s", path);
	for (p = dir + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(dir, 0755) && errno != EEXIST)
			return -errno;
		*p = '/';
	}
	if (mkdir(dir, mode) && errno != EEXIST)
		return -errno;
	return 0;
}
