/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tables of keys, walked by one function; see config_int.h. */

#include "target/config_int.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/size.h"
#include "lib/util.h"

void read_fault(struct reader *r, const char *fmt, ...)
{
	char text[FAULT_TEXT];
	size_t n = 0;
	va_list ap;

	if (r->faults->n == FAULTS_MAX)
		return;
	if (r->len)
		n = (size_t)snprintf(text, sizeof(text), "%s: ", r->path);
	n = MIN(n, sizeof(text) - 1);
	va_start(ap, fmt);
	vsnprintf(text + n, sizeof(text) - n, fmt, ap);
	va_end(ap);
	r->faults->text[r->faults->n] = strdup(text);
	if (r->faults->text[r->faults->n])
		r->faults->n++;
}

void faults_free(struct faults *f)
{
	while (f->n)
		free(f->text[--f->n]);
}

static size_t enter(struct reader *r, const char *fmt, const char *key,
		    size_t i)
{
	size_t old = r->len, room = sizeof(r->path) / 2;
	int n;

	/* the rest of the line is for what is wrong there */
	if (old >= room)
		return old;
	n = key ? snprintf(r->path + old, room - old, fmt, key) :
		  snprintf(r->path + old, room - old, "[%zu]", i);
	r->len = MIN(old + (size_t)MAX(n, 0), room - 1);
	return old;
}

size_t read_enter(struct reader *r, const char *key)
{
	return enter(r, r->len ? ".%s" : "%s", key, 0);
}

size_t read_enter_index(struct reader *r, size_t i)
{
	return enter(r, NULL, NULL, i);
}

void read_leave(struct reader *r, size_t len)
{
	r->len = len;
	r->path[len] = '\0';
}

size_t count_members(const json_t *object)
{
	const char *key;
	json_t *v;
	size_t n = 0;

	json_object_foreach((json_t *)object, key, v)
		n += !is_comment(key);
	return n;
}

void *read_array(struct reader *r, size_t n, size_t size)
{
	void *array = n ? calloc(n, size) : NULL;

	if (n && !array)
		read_fault(r, "no memory");
	return array;
}

static void read_string(struct reader *r, const struct key *k, const json_t *v,
			char *at)
{
	const char *s = json_string_value(v);
	size_t i, n;

	if (!s) {
		read_fault(r, "must be a string");
		return;
	}
	n = json_string_length(v);
	if (n < k->min) {
		read_fault(r, "must not be empty");
		return;
	}
	if (n > k->max) {
		read_fault(r, "is longer than %u bytes", k->max);
		return;
	}
	if (k->kind == KEY_STRING) {
		*(const char **)(void *)at = s;
		return;
	}
	for (i = 0; i < n; i++) {
		if (s[i] < ' ' || s[i] > '~') {
			read_fault(r, "must be printable ASCII");
			return;
		}
	}
	memcpy(at, s, n + 1);
}

static void read_u32(struct reader *r, const struct key *k, const json_t *v,
		     char *at)
{
	json_int_t n = json_integer_value(v);
	uint32_t x = (uint32_t)n;

	if (!json_is_integer(v))
		read_fault(r, "must be a number");
	else if (n < (json_int_t)k->min || n > (json_int_t)k->max)
		read_fault(r, "must be %u to %u", k->min, k->max);
	else
		memcpy(at, &x, sizeof(x));
}

static void read_size(struct reader *r, const json_t *v, char *at)
{
	uint64_t n = 0;
	int err = -EINVAL;

	if (json_is_string(v)) {
		err = size_parse(json_string_value(v), &n);
	} else if (json_is_integer(v) && json_integer_value(v) >= 0) {
		n = (uint64_t)json_integer_value(v);
		err = 0;
	}
	if (err == -ERANGE)
		read_fault(r, "is too large");
	else if (err)
		read_fault(r, "must be a size: bytes, or digits with K, M, G "
			   "or T");
	else
		memcpy(at, &n, sizeof(n));
}

static void read_word(struct reader *r, const struct key *k, const json_t *v,
		      bool *at)
{
	const char *s = json_string_value(v);

	if (s && !strcmp(s, k->words[0]))
		*at = false;
	else if (s && !strcmp(s, k->words[1]))
		*at = true;
	else
		read_fault(r, "must be \"%s\" or \"%s\"", k->words[0],
			   k->words[1]);
}

static void read_value(struct reader *r, const struct key *k, const json_t *v,
		       void *obj)
{
	char *at = (char *)obj + k->offset;

	switch (k->kind) {
	case KEY_STRING:
	case KEY_TEXT:
		read_string(r, k, v, at);
		return;
	case KEY_BOOL:
		if (json_is_boolean(v))
			*(bool *)at = json_is_true(v);
		else
			read_fault(r, "must be true or false");
		return;
	case KEY_U32:
		read_u32(r, k, v, at);
		return;
	case KEY_SIZE:
		read_size(r, v, at);
		return;
	case KEY_WORD:
		read_word(r, k, v, (bool *)at);
		return;
	case KEY_CUSTOM:
		k->read(r, v, obj);
		return;
	case KEY_IGNORED:
		return;
	}
}

bool read_object(struct reader *r, const json_t *v, const struct key *keys,
		 void *obj)
{
	const struct key *k;
	const char *name;
	json_t *member;
	size_t old;

	if (!json_is_object(v)) {
		read_fault(r, "must be an object");
		return false;
	}
	json_object_foreach((json_t *)v, name, member) {
		if (is_comment(name))
			continue;
		for (k = keys; k->name && strcmp(k->name, name); k++)
			;
		old = read_enter(r, name);
		if (k->name)
			read_value(r, k, member, obj);
		else
			read_fault(r, "unknown key");
		read_leave(r, old);
	}
	for (k = keys; k->name; k++)
		if (k->required && !json_object_get(v, k->name))
			read_fault(r, "\"%s\" is missing", k->name);
	return true;
}
