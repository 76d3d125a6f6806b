/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Dropping root: see user.h. */

#include "target/user.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is there belongs to somebody already: whose it shall be is not ours to
 * say. */
static int make_folder(const char *path, const struct passwd *pw)
{
	if (mkdir(path, 0700) < 0)
		return errno == EEXIST ? 0 : -errno;
	return chown(path, pw->pw_uid, pw->pw_gid) < 0 ? -errno : 0;
}

static int switch_to(const struct passwd *pw)
{
	if (initgroups(pw->pw_name, pw->pw_gid) < 0 ||
	    setresgid(pw->pw_gid, pw->pw_gid, pw->pw_gid) < 0 ||
	    setresuid(pw->pw_uid, pw->pw_uid, pw->pw_uid) < 0)
		return -errno;
	return 0;
}

/* Says what the user cannot do there. */
static int check_folder(const char *name, const char *path,
			struct config_error *err)
{
	if (!access(path, R_OK | W_OK | X_OK))
		return 0;
	snprintf(err->text, sizeof(err->text), "%.300s: user %.60s cannot use "
		 "this folder: %s", path, name, strerror(errno));
	return -1;
}

static int fail(struct config_error *err, const char *what, const char *why)
{
	snprintf(err->text, sizeof(err->text), "user %.300s: %s", what, why);
	return -1;
}

int user_become(const char *name, const char *const *folders,
		struct config_error *err)
{
	const struct passwd *pw;
	int i, r;

	errno = 0;
	pw = getpwnam(name);
	if (!pw)
		return fail(err, name, errno ? strerror(errno) :
			    "there is no such user");
	if (geteuid() == pw->pw_uid)
		return 0;
	if (geteuid())
		return fail(err, name, "only root can become another user");
	for (i = 0; folders[i]; i++) {
		r = make_folder(folders[i], pw);
		if (r)
			return fail(err, folders[i], strerror(-r));
	}
	r = switch_to(pw);
	if (r)
		return fail(err, name, strerror(-r));
	for (i = 0; folders[i]; i++)
		if (check_folder(name, folders[i], err))
			return -1;
	return 0;
}
