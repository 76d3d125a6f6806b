/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How an answer is shown: JSON as it is, a list as a table (libsmartcols), an
 * object as "key: value" lines.
 */
#include "cli/cli_int.h"

#include <libsmartcols/libsmartcols.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CELL 256

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

/* "a.b" looks into objects. */
static const json_t *look(const json_t *o, const char *path)
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
	char bytes[16];

	if (!json_is_true(json_object_get(v, "supported"))) {
		snprintf(buf, room, "no");
		return;
	}
	cli_human_size(json_integer_value(json_object_get(v, "bytes")), bytes,
		       sizeof(bytes));
	snprintf(buf, room, "%s, %lld times, %s", how ? how : "yes",
		 (long long)json_integer_value(json_object_get(v, "used")),
		 bytes);
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

static void cell_text(const json_t *v, enum col_kind kind, char *buf,
		      size_t room)
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
	case COL_COUNT:
	case COL_BOOL:
		break;
	}
	scalar_text(v, buf, room);
}

static void add_row(struct libscols_table *t, const struct cli_view *view,
		    const json_t *row, const json_t *member)
{
	struct libscols_line *line = scols_table_new_line(t, NULL);
	char buf[CELL];
	unsigned i;

	for (i = 0; line && i < view->ncolumns; i++) {
		const struct column *c = &view->columns[i];
		const json_t *v = c->path[0] == '.' ?
			look(member, c->path + 1) : look(row, c->path);

		cell_text(v, c->kind, buf, sizeof(buf));
		scols_line_set_data(line, i, buf);
	}
}

static void add_rows(struct libscols_table *t, const struct cli_view *view,
		     const json_t *row)
{
	const json_t *members, *member;
	size_t i;

	members = view->each ? json_object_get(row, view->each) : NULL;
	if (!json_array_size(members)) {
		add_row(t, view, row, NULL);
		return;
	}
	json_array_foreach(members, i, member)
		add_row(t, view, row, member);
}

static void show_table(const struct cli_request *r, const json_t *list)
{
	const struct cli_view *view = r->cmd->view;
	struct libscols_table *t = scols_new_table();
	const json_t *row;
	unsigned i;
	size_t n;

	if (!t)
		return;
	for (i = 0; i < view->ncolumns; i++) {
		const struct column *c = &view->columns[i];
		bool right = c->kind == COL_SIZE || c->kind == COL_COUNT;

		scols_table_new_column(t, c->heading, 0,
				       right ? SCOLS_FL_RIGHT : 0);
	}
	scols_table_enable_noheadings(t, r->no_headings);
	json_array_foreach(list, n, row)
		add_rows(t, view, row);
	scols_print_table(t);
	scols_unref_table(t);
}

static void show_value(const char *key, const json_t *v, int depth)
{
	const json_t *sub;
	const char *name;
	char buf[1024];
	size_t i;

	if (json_is_object(v)) {
		printf("%*s%s:\n", depth, "", key);
		json_object_foreach((json_t *)v, name, sub)
			show_value(name, sub, depth + 2);
	} else if (json_is_array(v) && json_array_size(v)) {
		json_array_foreach(v, i, sub)
			show_value(key, sub, depth);
	} else if (!json_is_array(v)) {
		scalar_text(v, buf, sizeof(buf));
		printf("%*s%s: %s\n", depth, "", key, buf);
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
		show_table(r, result);
	else if (json_is_array(result))
		show_value("-", result, 0);
	else if (json_is_object(result))
		show_object(result);
	else if (json_is_string(result))
		puts(json_string_value(result));
}
