/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Targets of the document: their LUNs, access rules and users.  `luns` values
 * are a volume's name or a list of mappings, `allow` entries a pattern or an
 * object, `chap` an object or a list.
 */

#include "target/config_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/secret.h"
#include "lib/util.h"
#include "target/addr.h"

static bool good_pattern(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s <= ' ' || *s == 0x7f)
			return false;
	return true;
}

static void read_pattern(struct reader *r, const json_t *v, const char **ret)
{
	const char *s = json_string_value(v);

	if (!s)
		read_fault(r, "must be a string");
	else if (!*s || strlen(s) >= ISCSI_NAME_MAX || !good_pattern(s))
		read_fault(r, "must be an initiator name, * and ? allowed");
	else
		*ret = s;
}

/* ---- luns --------------------------------------------------------------- */

static void mapping_initiator(struct reader *r, const json_t *v, void *obj)
{
	read_pattern(r, v, &((struct conf_mapping *)obj)->initiator);
}

static const struct key mapping_keys[] = {
	{ "volume", KEY_STRING, FIELD(conf_mapping, volume),
	  RANGE(1, CONF_VOLUME_NAME_MAX - 1), .required = true },
	{ "initiator", KEY_CUSTOM, .read = mapping_initiator },
	{ "read-only", KEY_BOOL, FIELD(conf_mapping, read_only) },
	{ 0 },
};

static const json_t *one_or_entry(const json_t *v, size_t i)
{
	return json_is_array(v) ? json_array_get(v, i) : v;
}

static size_t entries(const json_t *v)
{
	return json_is_array(v) ? json_array_size(v) : 1;
}

static void read_mappings(struct reader *r, const json_t *v, uint16_t lun,
			  struct conf_target *t)
{
	struct conf_mapping *m;
	const json_t *one;
	size_t i, old;

	if (json_is_array(v) && !json_array_size(v))
		read_fault(r, "must not be empty");
	for (i = 0; i < entries(v); i++) {
		one = one_or_entry(v, i);
		m = &t->luns[t->nluns++];
		m->lun = lun;
		old = json_is_array(v) ? read_enter_index(r, i) : r->len;
		if (json_is_string(one))
			m->volume = json_string_value(one);
		else if (json_is_object(one))
			read_object(r, one, mapping_keys, m);
		else
			read_fault(r, "must be a volume's name or a list of "
				   "mappings");
		read_leave(r, old);
	}
}

static int lun_of_key(const char *key, uint16_t *ret)
{
	unsigned long n;
	char *end;

	/* one spelling for each number, so that keys cannot collide */
	if (*key < '0' || *key > '9' || (*key == '0' && key[1]))
		return -EINVAL;
	n = strtoul(key, &end, 10);
	if (*end || n > LUN_MAX)
		return -EINVAL;
	*ret = (uint16_t)n;
	return 0;
}

static void read_luns(struct reader *r, const json_t *v, void *obj)
{
	struct conf_target *t = obj;
	size_t n = 0, old;
	const char *key;
	json_t *member;
	uint16_t lun;

	if (!json_is_object(v)) {
		read_fault(r, "must be an object");
		return;
	}
	json_object_foreach((json_t *)v, key, member)
		n += is_comment(key) ? 0 : entries(member);
	if (count_members(v) > MAX_LUNS)
		read_fault(r, "more than %u LUNs", MAX_LUNS);
	t->luns = read_array(r, n, sizeof(*t->luns));
	if (!t->luns)
		return;
	json_object_foreach((json_t *)v, key, member) {
		if (is_comment(key))
			continue;
		old = read_enter(r, key);
		if (lun_of_key(key, &lun))
			read_fault(r, "must be a LUN, 0 to %u", LUN_MAX);
		else
			read_mappings(r, member, lun, t);
		read_leave(r, old);
	}
}

/* ---- allow -------------------------------------------------------------- */

static void rule_initiator(struct reader *r, const json_t *v, void *obj)
{
	read_pattern(r, v, &((struct conf_rule *)obj)->initiator);
}

static void rule_address(struct reader *r, const json_t *v, void *obj)
{
	struct conf_rule *rule = obj;
	const char *s = json_string_value(v);

	if (!s || cidr_parse(s, &rule->cidr))
		read_fault(r, "must be an address or a network such as "
			   "192.0.2.0/24");
	else
		rule->address = s;
}

static const struct key rule_keys[] = {
	{ "initiator", KEY_CUSTOM, .read = rule_initiator, .required = true },
	{ "address", KEY_CUSTOM, .read = rule_address },
	{ 0 },
};

static void read_allow(struct reader *r, const json_t *v, void *obj)
{
	struct conf_target *t = obj;
	const json_t *one;
	size_t i, old;

	if (!json_is_array(v)) {
		read_fault(r, "must be a list");
		return;
	}
	t->rules = read_array(r, json_array_size(v), sizeof(*t->rules));
	if (!t->rules)
		return;
	json_array_foreach(v, i, one) {
		old = read_enter_index(r, i);
		if (json_is_string(one))
			read_pattern(r, one, &t->rules[t->nrules].initiator);
		else
			read_object(r, one, rule_keys, &t->rules[t->nrules]);
		t->nrules++;
		read_leave(r, old);
	}
}

/* ---- chap --------------------------------------------------------------- */

static void user_initiator(struct reader *r, const json_t *v, void *obj)
{
	read_pattern(r, v, &((struct conf_user *)obj)->initiator);
}

static const struct key user_keys[] = {
	{ "user", KEY_STRING, FIELD(conf_user, user),
	  RANGE(1, CHAP_NAME_MAX - 1), .required = true },
	{ "secret-file", KEY_STRING, FIELD(conf_user, secret_file),
	  RANGE(1, 4095), .required = true },
	{ "mutual-user", KEY_STRING, FIELD(conf_user, mutual_user),
	  RANGE(1, CHAP_NAME_MAX - 1) },
	{ "mutual-secret-file", KEY_STRING,
	  FIELD(conf_user, mutual_secret_file), RANGE(1, 4095) },
	{ "initiator", KEY_CUSTOM, .read = user_initiator },
	{ 0 },
};

/* Reads at most room bytes; the count, or -errno. */
static ssize_t slurp(const char *path, uint8_t *buf, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, buf, room);
	if (n < 0)
		n = -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_mode & 077)
		log_warn("%s: a secret that others may read (mode %03o)", path,
			 (unsigned)st.st_mode & 0777);
	close(fd);
	return n;
}

/* The line without its end is the secret; its length, or 0 after a fault. */
static uint16_t read_secret(struct reader *r, const char *key, const char *file,
			    uint8_t *ret_secret)
{
	uint8_t buf[CHAP_SECRET_MAX + 2];
	char path[4096 + 256];
	ssize_t n;

	snprintf(path, sizeof(path), "%s%s%s", file[0] == '/' ? "" : r->dir,
		 file[0] == '/' ? "" : "/", file);
	n = slurp(path, buf, sizeof(buf));
	if (n < 0) {
		read_fault(r, "%s: cannot read %s: %s", key, path,
			   strerror((int)-n));
		return 0;
	}
	if (n && buf[n - 1] == '\n')
		n--;
	if (n && buf[n - 1] == '\r')
		n--;
	if (n < CHAP_SECRET_MIN || n > CHAP_SECRET_MAX - 1) {
		read_fault(r, "%s: the secret must have %u to %u bytes", key,
			   CHAP_SECRET_MIN, CHAP_SECRET_MAX - 1);
		n = 0;
	}
	memcpy(ret_secret, buf, (size_t)n);
	explicit_bzero(buf, sizeof(buf));
	return (uint16_t)n;
}

static void read_secrets(struct reader *r, struct conf_user *u)
{
	if (u->secret_file)
		u->secret_len = read_secret(r, "secret-file", u->secret_file,
					    u->secret);
	if (u->mutual_secret_file)
		u->mutual_len = read_secret(r, "mutual-secret-file",
					    u->mutual_secret_file,
					    u->mutual_secret);
	if (!u->mutual_user != !u->mutual_secret_file)
		read_fault(r, "mutual-user and mutual-secret-file go together");
}

/* RFC 7143 9.2.1: with the same secret in both directions, an initiator could
 * have our own challenge answered by us. */
static void check_mutual(struct reader *r, const struct conf_user *users,
			 size_t n)
{
	size_t i, j;

	for (i = 0; i < n * n; i++) {
		const struct conf_user *out = &users[i / n];

		j = i % n;
		if (out->mutual_len && out->mutual_len == users[j].secret_len &&
		    !memcmp(out->mutual_secret, users[j].secret,
			    out->mutual_len)) {
			read_fault(r, "the mutual secret of %s is the secret "
				   "of %s: they must differ", out->user,
				   users[j].user);
			return;
		}
	}
}

static void read_users(struct reader *r, const json_t *v,
		       struct conf_user **ret_users, unsigned *ret_n)
{
	struct conf_user *users;
	size_t i, old;

	if (entries(v) > CHAP_USERS_MAX) {
		read_fault(r, "more than %u users", CHAP_USERS_MAX);
		return;
	}
	if (!entries(v))
		return;
	users = secret_alloc(entries(v) * sizeof(*users));
	if (!users) {
		read_fault(r, "out of memory");
		return;
	}
	*ret_users = users;
	*ret_n = (unsigned)entries(v);
	for (i = 0; i < entries(v); i++) {
		old = json_is_array(v) ? read_enter_index(r, i) : r->len;
		read_object(r, one_or_entry(v, i), user_keys, &users[i]);
		read_secrets(r, &users[i]);
		read_leave(r, old);
	}
	check_mutual(r, users, entries(v));
}

static void read_chap(struct reader *r, const json_t *v, void *obj)
{
	struct conf_target *t = obj;

	read_users(r, v, &t->users, &t->nusers);
}

static void discovery_chap(struct reader *r, const json_t *v, void *obj)
{
	struct conf *c = obj;

	read_users(r, v, &c->discovery, &c->ndiscovery);
}

void read_discovery(struct reader *r, const json_t *v, void *obj)
{
	static const struct key keys[] = {
		{ "chap", KEY_CUSTOM, .read = discovery_chap },
		{ 0 },
	};

	read_object(r, v, keys, obj);
}

/* ---- targets ------------------------------------------------------------ */

static void read_enabled(struct reader *r, const json_t *v, void *obj)
{
	if (!json_is_boolean(v))
		read_fault(r, "must be true or false");
	else
		((struct conf_target *)obj)->disabled = json_is_false(v);
}

static void read_redirect(struct reader *r, const json_t *v, void *obj)
{
	const char *s = json_string_value(v);
	struct sockaddr_storage addr;

	if (!s)
		read_fault(r, "must be a string");
	else if (addr_parse(s, &addr))
		read_fault(r, "must be ADDRESS[:PORT]");
	else
		((struct conf_target *)obj)->redirect = s;
}

static const struct key target_keys[] = {
	{ "alias", KEY_STRING, FIELD(conf_target, alias), RANGE(0, 255) },
	{ "enabled", KEY_CUSTOM, .read = read_enabled },
	{ "redirect", KEY_CUSTOM, .read = read_redirect },
	{ "redirect-permanent", KEY_BOOL,
	  FIELD(conf_target, redirect_permanent) },
	{ "luns", KEY_CUSTOM, .read = read_luns },
	{ "allow", KEY_CUSTOM, .read = read_allow },
	{ "chap", KEY_CUSTOM, .read = read_chap },
	{ 0 },
};

void read_targets(struct reader *r, const json_t *v, void *obj)
{
	struct conf *c = obj;
	struct conf_target *t;
	const char *iqn, *bad;
	json_t *member;
	size_t old;

	if (!json_is_object(v)) {
		read_fault(r, "must be an object");
		return;
	}
	c->targets = read_array(r, count_members(v), sizeof(*c->targets));
	if (!c->targets)
		return;
	json_object_foreach((json_t *)v, iqn, member) {
		if (is_comment(iqn))
			continue;
		t = &c->targets[c->ntargets++];
		old = read_enter(r, iqn);
		bad = check_iscsi_name(iqn);
		if (bad)
			read_fault(r, "%s", bad);
		snprintf(t->iqn, sizeof(t->iqn), "%s", iqn);
		read_object(r, member, target_keys, t);
		read_leave(r, old);
	}
}
