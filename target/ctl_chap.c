/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Authentication.  A secret goes to a file of its own beside the configuration,
 * under a new name each time, so that the document switches from the old one to
 * the new one whole; it is never told again.
 */

#include "target/ctl_int.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "lib/log.h"

#define SECRETS "secrets/"

json_t *user_json(const char *iqn, const struct conf_user *u)
{
	return json_pack("{s:s, s:s, s:o, s:o}", "target", iqn, "user", u->user,
			 "initiator", text_or_null(u->initiator),
			 "mutual", text_or_null(u->mutual_user));
}

static char *beside_config(const char *relative)
{
	const char *file = config_file(), *slash = strrchr(file, '/');
	char *path;

	if (asprintf(&path, "%.*s/%s", slash ? (int)(slash - file) : 1,
		     slash ? file : ".", relative) < 0)
		return NULL;
	return path;
}

/* "secrets/TARGET.USER.RANDOM", with what a file's name should not hold left
 * out: the random part makes it unique. */
static int name_secret(const char *target, const char *user, char *buf,
		       size_t room)
{
	char plain[96];
	size_t i, n = 0;
	uint64_t salt;

	if (getrandom(&salt, sizeof(salt), 0) != sizeof(salt))
		return -errno;
	for (i = 0; user[i] && n < sizeof(plain) - 1; i++)
		if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX"
			   "YZ0123456789_-", user[i]))
			plain[n++] = user[i];
	plain[n] = '\0';
	snprintf(buf, room, SECRETS "%.100s.%s.%016llx", target, plain,
		 (unsigned long long)salt);
	return 0;
}

static int write_secret(const char *relative, const char *secret)
{
	char *path = beside_config(relative), *folder = beside_config(SECRETS);
	int r = -ENOMEM;

	if (path && folder) {
		folder[strlen(folder) - 1] = '\0';
		r = make_folders(folder, 0700);
	}
	if (path && !r)
		r = file_replace(path, secret, strlen(secret), 0600);
	free(path);
	free(folder);
	return r;
}

static void remove_secret(const char *relative)
{
	char *path;

	/* only what was put there by us: the rest is the operator's */
	if (!relative || strncmp(relative, SECRETS, sizeof(SECRETS) - 1) ||
	    strstr(relative, ".."))
		return;
	path = beside_config(relative);
	if (path && unlink(path) && errno != ENOENT)
		log_warn("cannot remove %s: %m", path);
	free(path);
}

/* The users of a target or of discovery in the document; NULL after refusing
 * the call. */
static json_t *users_list(struct ctl_call *c, json_t *doc, bool *ret_discovery)
{
	const struct conf_target *t;

	*ret_discovery = !strcmp(ctl_str(c, "target"), "discovery");
	if (*ret_discovery)
		return doc_list(doc_object(doc, "discovery"), "chap");
	t = ctl_target(c);
	return t ? doc_list(doc_target(doc, t->iqn), "chap") : NULL;
}

/* Takes the user's entry out (user NULL: all), and notes the files that will
 * not be needed any more. */
static unsigned take_out(json_t *list, const char *user, json_t *files)
{
	const char *name;
	unsigned n = 0;
	size_t i = 0;
	json_t *v;

	while (i < json_array_size(list)) {
		v = json_array_get(list, i);
		name = json_string_value(json_object_get(v, "user"));
		if (user && (!name || strcmp(name, user))) {
			i++;
			continue;
		}
		json_array_append(files, json_object_get(v, "secret-file"));
		v = json_object_get(v, "mutual-secret-file");
		if (v)
			json_array_append(files, v);
		json_array_remove(list, i);
		n++;
	}
	return n;
}

static bool still_used(const struct conf_user *users, unsigned n,
		       const char *file)
{
	unsigned i;

	for (i = 0; i < n; i++)
		if (!strcmp(users[i].secret_file, file) ||
		    (users[i].mutual_secret_file &&
		     !strcmp(users[i].mutual_secret_file, file)))
			return true;
	return false;
}

static void remove_unused(const json_t *files)
{
	const struct conf *now = config_now();
	const char *file;
	const json_t *v;
	bool used;
	size_t i;
	unsigned k;

	json_array_foreach(files, i, v) {
		file = json_string_value(v);
		used = still_used(now->discovery, now->ndiscovery, file);
		for (k = 0; !used && k < now->ntargets; k++)
			used = still_used(now->targets[k].users,
					  now->targets[k].nusers, file);
		if (!used)
			remove_secret(file);
	}
}

/* An empty list is left out of the document. */
static void tidy(json_t *doc, const char *iqn, bool discovery)
{
	json_t *parent = discovery ? json_object_get(doc, "discovery") :
				     doc_target(doc, iqn);

	if (!json_array_size(json_object_get(parent, "chap")))
		json_object_del(parent, "chap");
	if (discovery && !json_object_size(parent))
		json_object_del(doc, "discovery");
}

static bool commit_users(struct ctl_call *c, json_t *doc, json_t *files)
{
	bool ok = ctl_commit(c, doc);

	if (ok)
		remove_unused(files);
	json_decref(files);
	return ok;
}

/* Hosts differ in what they take; the secret is set all the same. */
static const char *length_advice(struct ctl_call *c)
{
	size_t len = MAX(strlen(ctl_str(c, "secret")),
			 ctl_has(c, "mutual-secret") ?
			 strlen(ctl_str(c, "mutual-secret")) : 0);

	if (len > 100)
		return "Windows takes secrets of 12 to 16 bytes, some hardware "
		       "adapters up to 100";
	return len > 16 ? "Windows takes secrets of 12 to 16 bytes" : NULL;
}

/* False after refusing the call. */
static bool check_users(struct ctl_call *c)
{
	const char *mutual = ctl_str(c, "mutual-secret");

	if (ctl_has(c, "mutual") != ctl_has(c, "mutual-secret"))
		ctl_fail(c, "a mutual user and its secret go together");
	else if (mutual && !strcmp(mutual, ctl_str(c, "secret")))
		ctl_fail(c, "the secrets of the two directions must differ");
	else
		return true;
	return false;
}

/* Puts one secret into a file of its own, and its name into the entry. */
static bool save_secret(struct ctl_call *c, json_t *entry, const char *key,
			const char *param)
{
	const char *user = ctl_str(c, "user");
	char file[256];
	int r = name_secret(ctl_str(c, "target"), user, file, sizeof(file));

	if (!r)
		r = write_secret(file, ctl_str(c, param));
	if (r)
		ctl_fail(c, "cannot write the secret's file: %s", strerror(-r));
	else
		json_object_set_new(entry, key, json_string(file));
	return !r;
}

/* The document's entry of a user, with secrets saved; NULL after refusing. */
static json_t *new_user(struct ctl_call *c)
{
	json_t *entry = json_pack("{s:s}", "user", ctl_str(c, "user"));

	if (ctl_has(c, "initiator"))
		json_object_set_new(entry, "initiator",
				    json_string(ctl_str(c, "initiator")));
	if (!save_secret(c, entry, "secret-file", "secret"))
		goto drop;
	if (!ctl_has(c, "mutual"))
		return entry;
	json_object_set_new(entry, "mutual-user",
			    json_string(ctl_str(c, "mutual")));
	if (save_secret(c, entry, "mutual-secret-file", "mutual-secret"))
		return entry;
drop:
	remove_secret(json_string_value(json_object_get(entry, "secret-file")));
	json_decref(entry);
	return NULL;
}

static json_t *set_answer(struct ctl_call *c)
{
	const char *advice = length_advice(c);
	json_t *answer = json_pack("{s:s, s:s, s:o, s:o}",
		"target", ctl_str(c, "target"), "user", ctl_str(c, "user"),
		"initiator", text_or_null(ctl_str(c, "initiator")),
		"mutual", text_or_null(ctl_str(c, "mutual")));

	if (advice)
		json_object_set_new(answer, "note", json_string(advice));
	return answer;
}

void ctl_chap_set(struct ctl_call *c)
{
	json_t *doc = config_copy(), *files = json_array(), *entry, *answer;
	json_t *list;
	bool discovery;

	list = check_users(c) ? users_list(c, doc, &discovery) : NULL;
	entry = list ? new_user(c) : NULL;
	if (!entry) {
		json_decref(doc);
		json_decref(files);
		return;
	}
	take_out(list, ctl_str(c, "user"), files);
	json_array_append(list, entry);
	answer = set_answer(c);
	if (commit_users(c, doc, files)) {
		ctl_ok(c, answer);
	} else {
		json_decref(answer);
		remove_secret(json_string_value(
			json_object_get(entry, "secret-file")));
		remove_secret(json_string_value(
			json_object_get(entry, "mutual-secret-file")));
	}
	json_decref(entry);
}

void ctl_chap_clear(struct ctl_call *c)
{
	json_t *doc = config_copy(), *files = json_array(), *list;
	char iqn[ISCSI_NAME_MAX];
	bool discovery;

	snprintf(iqn, sizeof(iqn), "%s", ctl_str(c, "target"));
	list = users_list(c, doc, &discovery);
	if (!list)
		goto drop;
	if (!take_out(list, ctl_str(c, "user"), files)) {
		ctl_fail(c, "%s has no %sCHAP user", iqn,
			 ctl_has(c, "user") ? "such " : "");
		goto drop;
	}
	tidy(doc, iqn, discovery);
	if (commit_users(c, doc, files))
		ctl_ok(c, json_true());
	return;

drop:
	json_decref(doc);
	json_decref(files);
}

static void list_users(json_t *list, const char *iqn,
		       const struct conf_user *users, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		json_array_append_new(list, user_json(iqn, &users[i]));
}

void ctl_chap_list(struct ctl_call *c)
{
	const char *only = ctl_str(c, "target");
	const struct conf *now = config_now();
	json_t *list;
	unsigned i;

	if (only && strcmp(only, "discovery") && !ctl_target(c))
		return;
	list = json_array();
	if (!only || !strcmp(only, "discovery"))
		list_users(list, "discovery", now->discovery, now->ndiscovery);
	for (i = 0; i < now->ntargets; i++)
		if (!only || !strcasecmp(only, now->targets[i].iqn))
			list_users(list, now->targets[i].iqn,
				   now->targets[i].users,
				   now->targets[i].nusers);
	ctl_ok(c, list);
}
