/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_CLI_INT_H
#define CLI_CLI_INT_H

/*
 * Inside lunadm: the table of commands, the call to the daemon, and how its
 * answers are shown.  lunadm knows the control protocol only: each command is
 * one JSON-RPC method NOUN.VERB whose parameters are named as the options.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

enum cli_exit {			/* lunadm(8), EXIT STATUS */
	EXIT_DONE	= 0,
	EXIT_REFUSED	= 1,
	EXIT_USAGE	= 2,
	EXIT_NO_DAEMON	= 3,
};

enum cli_kind {
	KIND_FLAG,		/* --force */
	KIND_TEXT,
	KIND_NEEDED,		/* a text; an option that must be given */
	KIND_INT,
	KIND_SIZE,		/* 10G: bytes in the request */
	KIND_SECRET_FILE,	/* a file, "-", or a prompt; the bytes are sent */
	KIND_PAIRS,		/* KEY=VALUE...: an object (arguments only) */
	KIND_LOCAL,		/* a number above 0 that lunadm keeps for itself */
};

struct cli_param {
	const char	*name;		/* of the option and of the parameter */
	enum cli_kind	 kind;
	const char	*meta;		/* what usage calls its value */
	const char	*param;		/* the parameter, when not name */
};

#define CLI_ARGS 3
#define CLI_OPTS 18

struct cli_view;

struct cli_cmd {
	const char	*noun, *verb;
	struct cli_param args[CLI_ARGS];	/* in order */
	unsigned	 required;		/* how many of args */
	struct cli_param opts[CLI_OPTS];
	const struct cli_view *view;		/* how the result is shown */
	const char	*help;
};

extern const struct cli_cmd cli_cmds[];
extern const unsigned cli_ncmds;

const struct cli_cmd *cli_find(const char *noun, const char *verb);
bool cli_noun_known(const char *noun);
void cli_usage(FILE *to, const char *noun);	/* NULL: all nouns */

/* What the command line says. */
struct cli_request {
	const struct cli_cmd *cmd;
	const char	*socket;
	bool		 json, no_headings, quiet;
	json_t		*params;	/* owned */
	long		 interval, count;	/* KIND_LOCAL */
};

/* Is help asked for?  Then it was printed. */
bool cli_help(int argc, char **argv);

/* Reads argv; EXIT_DONE with *ret filled, or EXIT_USAGE after saying why. */
int cli_parse(int argc, char **argv, struct cli_request *ret);

/* The bytes of a secret, as a JSON string; NULL after saying why. */
json_t *cli_secret(const char *file);

/*
 * One call.  EXIT_DONE with *ret_result (owned by the caller), EXIT_REFUSED
 * with *ret_reason (free() it), EXIT_NO_DAEMON with errno.
 */
int cli_call(const char *socket, const char *method, json_t *params,
	     json_t **ret_result, char **ret_reason);

/* ---- views ------------------------------------------------------------- */

enum col_kind {
	COL_TEXT,
	COL_NAME,		/* a long text: may be broken */
	COL_SIZE,
	COL_COUNT,
	COL_BOOL,
	COL_PRIMITIVE,
	COL_TIME,
};

#define CLI_COLUMNS 10

struct column {
	const char	*path;		/* "name", "ats.used" */
	const char	*heading;
	enum col_kind	 kind;
};

/* A list is a table of these columns; with each set, a row of the list has an
 * array of that name and each of its members makes a row ("." before a path
 * looks into the member).  Objects are shown as "key: value" lines, and so are
 * the rows of a table with blocks set that a terminal has no room for. */
struct cli_view {
	const char	*each;
	const struct column *columns;
	unsigned	 ncolumns;
	bool		 blocks;
};

void cli_show(const struct cli_request *r, const json_t *result);
void cli_show_table(const struct cli_request *r, const json_t *list);
/* A member, with "a.b" of an object inside; NULL when absent. */
const json_t *cli_look(const json_t *o, const char *path);
/* A value as a person reads it, of printable characters alone. */
void cli_cell(const json_t *v, enum col_kind kind, char *buf, size_t room);
/* Sizes for people: "1.5G". */
void cli_human_size(json_int_t bytes, char *buf, size_t room);

#endif
