/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A list as a table (libsmartcols).  Where a terminal is too narrow for it,
 * names and texts are broken inside their columns, or the rows are shown as
 * blocks of lines; what goes to a file or a pipe keeps one line a row.
 */
#include "cli/cli_int.h"

#include <libsmartcols/libsmartcols.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define CELL 512

struct listing {
	const struct cli_request *r;
	const struct cli_view	 *view;
	struct libscols_table	 *table;
	size_t			  width[CLI_COLUMNS];	/* of the widest cell */
	bool			  narrow;
	bool			  more;		/* a block is not the first */
};

typedef void (*row_fn)(struct listing *l, const json_t *row,
		       const json_t *member);

static void cell(const struct column *c, const json_t *row,
		 const json_t *member, char buf[CELL])
{
	bool of_member = c->path[0] == '.';

	cli_cell(cli_look(of_member ? member : row, c->path + of_member),
		 c->kind, buf, CELL);
}

static void measure(struct listing *l, const json_t *row, const json_t *member)
{
	char buf[CELL];
	unsigned i;

	for (i = 0; i < l->view->ncolumns; i++) {
		cell(&l->view->columns[i], row, member, buf);
		if (strlen(buf) > l->width[i])
			l->width[i] = strlen(buf);
	}
}

static void add_row(struct listing *l, const json_t *row, const json_t *member)
{
	struct libscols_line *line = scols_table_new_line(l->table, NULL);
	const struct column *c;
	char buf[CELL], *comma;
	unsigned i;

	for (i = 0; line && i < l->view->ncolumns; i++) {
		c = &l->view->columns[i];
		cell(c, row, member, buf);
		if (l->narrow && c->kind == COL_PRIMITIVE &&
		    (comma = strchr(buf, ','))) {
			*comma = '\n';
			memmove(comma + 1, comma + 2, strlen(comma + 2) + 1);
		}
		scols_line_set_data(line, i, buf);
	}
}

static void show_block(struct listing *l, const json_t *row,
		       const json_t *member)
{
	char buf[CELL];
	unsigned i;

	if (l->more)
		putchar('\n');
	l->more = true;
	for (i = 0; i < l->view->ncolumns; i++) {
		cell(&l->view->columns[i], row, member, buf);
		printf("%s: %s\n", l->view->columns[i].heading, buf);
	}
}

static void each_row(struct listing *l, const json_t *list, row_fn fn)
{
	const json_t *row, *members, *member;
	size_t n, i;

	json_array_foreach(list, n, row) {
		members = l->view->each ? json_object_get(row, l->view->each) :
					  NULL;
		if (!json_array_size(members))
			fn(l, row, NULL);
		json_array_foreach(members, i, member)
			fn(l, row, member);
	}
}

/* The columns of the terminal that a person looks at; 0: there is none. */
static size_t terminal_width(void)
{
	struct winsize w;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) < 0)
		return 0;
	return w.ws_col;
}

static bool too_wide(struct listing *l, const json_t *list, size_t room)
{
	size_t sum = 0;
	unsigned i;

	for (i = 0; i < l->view->ncolumns; i++)
		l->width[i] = strlen(l->view->columns[i].heading);
	each_row(l, list, measure);
	for (i = 0; i < l->view->ncolumns; i++)
		sum += l->width[i] + (i > 0);
	return room && sum > room;
}

static void new_column(struct listing *l, const struct column *c)
{
	struct libscols_column *column;
	int flags = 0;

	if (c->kind == COL_SIZE || c->kind == COL_COUNT)
		flags = SCOLS_FL_RIGHT;
	if (l->narrow && (c->kind == COL_NAME || c->kind == COL_PRIMITIVE))
		flags = SCOLS_FL_WRAP;
	column = scols_table_new_column(l->table, c->heading, 0, flags);
	if (!l->narrow || !column || c->kind != COL_PRIMITIVE)
		return;
	scols_column_set_safechars(column, "\n");
	scols_column_set_wrapfunc(column, scols_wrapnl_chunksize,
				  scols_wrapnl_nextchunk, NULL);
}

void cli_show_table(const struct cli_request *r, const json_t *list)
{
	struct listing l = { .r = r, .view = r->cmd->view };
	size_t room = terminal_width();
	unsigned i;

	l.narrow = too_wide(&l, list, room);
	if (l.narrow && l.view->blocks) {
		each_row(&l, list, show_block);
		return;
	}
	l.table = scols_new_table();
	if (!l.table)
		return;
	for (i = 0; i < l.view->ncolumns; i++)
		new_column(&l, &l.view->columns[i]);
	scols_table_set_termforce(l.table, l.narrow ? SCOLS_TERMFORCE_ALWAYS :
						      SCOLS_TERMFORCE_NEVER);
	if (l.narrow)
		scols_table_set_termwidth(l.table, room);
	scols_table_enable_noheadings(l.table, r->no_headings);
	each_row(&l, list, add_row);
	scols_print_table(l.table);
	scols_unref_table(l.table);
}
