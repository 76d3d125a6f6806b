/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How an answer is shown: JSON as it is, a list as a table (table.c), an object
 * as "key: value" lines.
 */
#include "cli/cli_int.h"

#include <string.h>
#include <time.h>

void cli_human_size(json_int_t bytes, char *buf, size_t room)
{
	static const char units[] = "BKMGTP";
	double n = (double)bytes;
	unsigned u = 0;

	while (n >= 1024 && u < sizeof(units) - 2) {
		n /= 1024;
		u++;
	}
	if (!u)
		snprintf(buf, room, "%lldB", (long long)bytes);
	else
		snprintf(buf, room, n < 10 ? "%.1f%c" : "%.0f%c", n, units[u]);
}

const json_t *cli_look(const json_t *o, const char *path)
{
	char key[64];
	const char *dot;

	while (o && (dot = strchr(path, '.'))) {
		if ((size_t)(dot - path) >= sizeof(key))
			return NULL;
		memcpy(key, path, (size_t)(dot - path));
		key[dot - path] = '\0';
		o = json_object_get(o, key);
		path = dot + 1;
	}
	return json_object_get(o, path);
}

static void primitive_text(const json_t *v, char *buf, size_t room)
{
	const char *how = json_string_value(json_object_get(v, "method"));
	long long used = json_integer_value(json_object_get(v, "used"));
	char bytes[16];

	if (!json_is_true(json_object_get(v, "supported"))) {
		snprintf(buf, room, "no");
		return;
	}
	cli_human_size(json_integer_value(json_object_get(v, "bytes")), bytes,
		       sizeof(bytes));
	snprintf(buf, room, "%s, %lld time%s, %s", how ? how : "yes", used,
		 used == 1 ? "" : "s", bytes);
}

static void scalar_text(const json_t *v, char *buf, size_t room)
{
	if (json_is_string(v))
		snprintf(buf, room, "%s", json_string_value(v));
	else if (json_is_integer(v))
		snprintf(buf, room, "%lld", (long long)json_integer_value(v));
	else if (json_is_real(v))
		snprintf(buf, room, "%.1f", json_real_value(v));
	else if (json_is_boolean(v))
		snprintf(buf, room, "%s", json_is_true(v) ? "yes" : "no");
	else if (json_is_array(v) || json_is_object(v))
		snprintf(buf, room, "%zu", json_is_array(v) ?
			 json_array_size(v) : json_object_size(v));
	else
		snprintf(buf, room, "-");
}

static void time_text(const json_t *v, char *buf, size_t room)
{
	time_t t = (time_t)json_integer_value(v);
	struct tm tm;

	if (!json_is_integer(v) || !localtime_r(&t, &tm) ||
	    !strftime(buf, room, "%F %T", &tm))
		scalar_text(v, buf, room);
}

/* A peer chose some of what is shown: no control characters. */
static void make_printable(char *buf)
{
	for (; *buf; buf++)
		if ((unsigned char)*buf < ' ' || *buf == 0x7f)
			*buf = '?';
}

void cli_cell(const json_t *v, enum col_kind kind, char *buf, size_t room)
{
	switch (kind) {
	case COL_SIZE:
		if (json_is_integer(v)) {
			cli_human_size(json_integer_value(v), buf, room);
			return;
		}
		break;
	case COL_PRIMITIVE:
		primitive_text(v, buf, room);
		return;
	case COL_TIME:
		time_text(v, buf, room);
		return;
	case COL_TEXT:
	case COL_NAME:
	case COL_COUNT:
	case COL_BOOL:
		break;
	}
	scalar_text(v, buf, room);
	make_printable(buf);
}

static bool counts_bytes(const char *key)
{
	static const char *const sizes[] = { "size", "allocated", "shared",
					     "fs_free" };
	const char *bytes = strstr(key, "bytes");
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (!strcmp(key, sizes[i]))
			return true;
	return bytes && !bytes[5];
}

static void show_scalar(const char *key, const json_t *v, int depth)
{
	char buf[1024], size[16];

	cli_cell(v, strcmp(key, "since") ? COL_TEXT : COL_TIME, buf,
		 sizeof(buf));
	printf("%*s%s: %s", depth, "", key, buf);
	if (counts_bytes(key) && json_integer_value(v) >= 1024) {
		cli_human_size(json_integer_value(v), size, sizeof(size));
		printf(" (%s)", size);
	}
	putchar('\n');
}

static void show_value(const char *key, const json_t *v, int depth)
{
	const json_t *sub;
	const char *name;
	size_t i;

	if (json_is_object(v)) {
		printf("%*s%s:\n", depth, "", key);
		json_object_foreach((json_t *)v, name, sub)
			show_value(name, sub, depth + 2);
	} else if (json_is_array(v) && json_array_size(v)) {
		json_array_foreach(v, i, sub)
			show_value(key, sub, depth);
	} else if (json_is_array(v)) {
		printf("%*s%s: none\n", depth, "", key);
	} else {
		show_scalar(key, v, depth);
	}
}

static void show_object(const json_t *o)
{
	const json_t *v;
	const char *key;

	json_object_foreach((json_t *)o, key, v)
		show_value(key, v, 0);
}

static void show_json(const json_t *result)
{
	json_dumpf(result, stdout, JSON_ENCODE_ANY | JSON_INDENT(2));
	putchar('\n');
}

void cli_show(const struct cli_request *r, const json_t *result)
{
	bool config = !strcmp(r->cmd->noun, "config") &&
		      !strcmp(r->cmd->verb, "show");

	if (r->json || config)
		show_json(result);
	else if (r->quiet)
		return;
	else if (json_is_array(result) && r->cmd->view)
		cli_show_table(r, result);
	else if (json_is_array(result))
		show_value("-", result, 0);
	else if (json_is_object(result))
		show_object(result);
	else if (json_is_string(result))
		puts(json_string_value(result));
}
