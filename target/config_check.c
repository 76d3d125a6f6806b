/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Names, and what only shows when the whole document is looked at: what is
 * used but not defined, or there twice.
 */

#include "target/config_int.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util.h"

const char *check_volume_name(const char *name)
{
	const char *p;

	if (!*name || strlen(name) >= CONF_VOLUME_NAME_MAX)
		return "a volume's name has 1 to 64 characters";
	for (p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
			return "a volume's name is made of A-Z a-z 0-9 . _ -";
	return NULL;
}

static bool all_hex(const char *s)
{
	for (; *s; s++)
		if (!isxdigit((unsigned char)*s))
			return false;
	return true;
}

/* "yyyy-mm." and at least one character of a domain. */
static bool iqn_date(const char *s)
{
	static const char form[] = "dddd-dd.";
	size_t i;

	for (i = 0; form[i]; i++) {
		if (form[i] == 'd' ? !isdigit((unsigned char)s[i]) :
		    s[i] != form[i])
			return false;
	}
	return s[i] && s[i] != ':';
}

/* RFC 7143 4.2.7, RFC 3722: what is left after its mapping to lower case. */
const char *check_iscsi_name(const char *name)
{
	const char *p;
	size_t n = strlen(name);

	if (n >= ISCSI_NAME_MAX)
		return "an iSCSI name has at most 223 bytes";
	for (p = name; *p; p++) {
		if (*p >= 'A' && *p <= 'Z')
			return "an iSCSI name is in lower case";
		if ((unsigned char)*p < 0x80 &&
		    !isalnum((unsigned char)*p) && !strchr("-.:", *p))
			return "an iSCSI name is made of a-z 0-9 - . :";
	}
	if (!strncmp(name, "iqn.", 4) && iqn_date(name + 4))
		return NULL;
	if (!strncmp(name, "eui.", 4) && n == 20 && all_hex(name + 4))
		return NULL;
	if (!strncmp(name, "naa.", 4) && (n == 20 || n == 36) &&
	    all_hex(name + 4))
		return NULL;
	return "an iSCSI name looks like iqn.2026-11.example:disks, eui. or "
	       "naa. with hexadecimal digits";
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

bool pattern_match(const char *pattern, const char *name)
{
	const char *star = NULL, *from = NULL;

	while (*name) {
		if (*pattern == '*') {
			star = ++pattern;
			from = name;
		} else if (*pattern == '?' || lower(*pattern) == lower(*name)) {
			pattern++;
			name++;
		} else if (star) {
			/* the last star takes one more */
			pattern = star;
			name = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

const struct conf_volume *conf_find_volume(const struct conf *c,
					   const char *name)
{
	unsigned i;

	for (i = 0; c && i < c->nvolumes; i++)
		if (!strcmp(c->volumes[i].name, name))
			return &c->volumes[i];
	return NULL;
}

const struct conf_target *conf_find_target(const struct conf *c,
					   const char *iqn)
{
	unsigned i;

	for (i = 0; c && i < c->ntargets; i++)
		if (!strcasecmp(c->targets[i].iqn, iqn))
			return &c->targets[i];
	return NULL;
}

bool conf_maps(const struct conf_target *t, const char *volume)
{
	unsigned i;

	for (i = 0; i < t->nluns; i++)
		if (!strcmp(t->luns[i].volume, volume))
			return true;
	return false;
}

static void check_mappings(struct reader *r, const struct conf_target *t)
{
	char key[8];
	unsigned i;
	size_t old;

	for (i = 0; i < t->nluns; i++) {
		if (!t->luns[i].volume ||
		    conf_find_volume(r->conf, t->luns[i].volume))
			continue;
		old = read_enter(r, "luns");
		snprintf(key, sizeof(key), "%u", t->luns[i].lun);
		read_enter(r, key);
		read_fault(r, "no volume \"%s\" is defined", t->luns[i].volume);
		read_leave(r, old);
	}
}

static void check_targets(struct reader *r)
{
	const struct conf *c = r->conf;
	size_t old = read_enter(r, "targets"), name;
	unsigned i;

	for (i = 0; i < c->ntargets; i++) {
		name = read_enter(r, c->targets[i].iqn);
		check_mappings(r, &c->targets[i]);
		read_leave(r, name);
	}
	read_leave(r, old);
}

/* Volumes by path or identity, so that twins stand side by side. */
static int by_path(const void *a, const void *b)
{
	const struct conf_volume *x = *(struct conf_volume *const *)a;
	const struct conf_volume *y = *(struct conf_volume *const *)b;

	return strcmp(x->path ? x->path : "", y->path ? y->path : "");
}

static int by_naa(const void *a, const void *b)
{
	const struct conf_volume *x = *(struct conf_volume *const *)a;
	const struct conf_volume *y = *(struct conf_volume *const *)b;

	return memcmp(x->naa, y->naa, sizeof(x->naa));
}

static void twin_fault(struct reader *r, const struct conf_volume *v,
		       const char *key, const char *of)
{
	size_t old = read_enter(r, v->name);

	read_enter(r, key);
	read_fault(r, "is that of volumes.%s already", of);
	read_leave(r, old);
}

static void check_volumes(struct reader *r)
{
	const struct conf *c = r->conf;
	struct conf_volume **v = read_array(r, c->nvolumes, sizeof(*v));
	size_t old = read_enter(r, "volumes");
	unsigned i;

	for (i = 0; v && i < c->nvolumes; i++)
		v[i] = &c->volumes[i];
	if (v)
		qsort(v, c->nvolumes, sizeof(*v), by_path);
	for (i = 1; v && i < c->nvolumes; i++)
		if (v[i]->path && strcmp(v[i]->path, "null:") &&
		    !by_path(&v[i - 1], &v[i]))
			twin_fault(r, v[i], "path", v[i - 1]->name);
	if (v)
		qsort(v, c->nvolumes, sizeof(*v), by_naa);
	for (i = 1; v && i < c->nvolumes; i++)
		if (v[i]->naa_len && !by_naa(&v[i - 1], &v[i]))
			twin_fault(r, v[i], "naa", v[i - 1]->name);
	free(v);
	read_leave(r, old);
}

static void check_portals(struct reader *r)
{
	const struct conf_portal *p = r->conf->portals;
	size_t old = read_enter(r, "portals"), at;
	unsigned i, k;

	for (i = 1; i < r->conf->nportals; i++) {
		for (k = 0; k < i; k++) {
			if (!addr_equal((const void *)&p[i].addr,
					(const void *)&p[k].addr) ||
			    !addr_port((const void *)&p[i].addr))
				continue;
			at = read_enter_index(r, i);
			read_fault(r, "is there already");
			read_leave(r, at);
			break;
		}
	}
	read_leave(r, old);
}

void check_conf(struct reader *r)
{
	check_volumes(r);
	check_targets(r);
	check_portals(r);
}
