/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The commands of lunadm, one row each; parsing, usage text and completion
 * derive from it.
 */
#include "cli/cli_int.h"

#include <string.h>

#define VIEW(cols) { NULL, cols, sizeof(cols) / sizeof((cols)[0]), false }

#define IQN	{ "target", KIND_TEXT, "IQN", NULL }
#define NAME	{ "name", KIND_TEXT, "NAME", NULL }
#define FORCE	{ "force", KIND_FLAG, NULL, NULL }
#define TEXT(name, meta) { name, KIND_TEXT, meta, NULL }
#define NONE	{ { NULL, KIND_FLAG, NULL, NULL } }

static const struct column target_cols[] = {
	{ "name", "NAME", COL_NAME },
	{ "alias", "ALIAS", COL_NAME },
	{ "enabled", "ENABLED", COL_BOOL },
	{ "redirect", "REDIRECT", COL_NAME },
	{ "luns", "LUNS", COL_COUNT },
	{ "sessions", "SESSIONS", COL_COUNT },
};
static const struct column volume_cols[] = {
	{ "name", "NAME", COL_TEXT },
	{ "size", "SIZE", COL_SIZE },
	{ "allocated", "ALLOCATED", COL_SIZE },
	{ "shared", "SHARED", COL_SIZE },
	{ "block_size", "BLOCK", COL_COUNT },
	{ "durability", "DURABILITY", COL_TEXT },
	{ "state", "STATE", COL_TEXT },
	{ "naa", "NAA", COL_NAME },
	{ "path", "PATH", COL_NAME },
};
static const struct column lun_cols[] = {
	{ "target", "TARGET", COL_NAME },
	{ "lun", "LUN", COL_COUNT },
	{ "volume", "VOLUME", COL_TEXT },
	{ "initiator", "INITIATOR", COL_NAME },
	{ "read-only", "READ-ONLY", COL_BOOL },
};
static const struct column acl_cols[] = {
	{ "target", "TARGET", COL_NAME },
	{ "initiator", "INITIATOR", COL_NAME },
	{ "address", "ADDRESS", COL_TEXT },
};
static const struct column chap_cols[] = {
	{ "target", "TARGET", COL_NAME },
	{ "user", "USER", COL_TEXT },
	{ "initiator", "INITIATOR", COL_NAME },
	{ "mutual", "MUTUAL", COL_TEXT },
};
static const struct column portal_cols[] = {
	{ "address", "ADDRESS", COL_TEXT },
	{ "port", "PORT", COL_COUNT },
	{ "group", "GROUP", COL_COUNT },
	{ "advertise", "ADVERTISED", COL_BOOL },
	{ "state", "STATE", COL_TEXT },
};
static const struct column session_cols[] = {
	{ "id", "ID", COL_COUNT },
	{ "target", "TARGET", COL_NAME },
	{ "initiator", "INITIATOR", COL_NAME },
	{ ".remote", "FROM", COL_TEXT },
	{ ".local", "AT", COL_TEXT },
	{ ".commands", "COMMANDS", COL_COUNT },
	{ ".read_bytes", "READ", COL_SIZE },
	{ ".write_bytes", "WRITTEN", COL_SIZE },
};
static const struct column refused_cols[] = {
	{ "time", "TIME", COL_TIME },
	{ "initiator", "INITIATOR", COL_NAME },
	{ "address", "FROM", COL_TEXT },
	{ "target", "TARGET", COL_NAME },
	{ "count", "TIMES", COL_COUNT },
	{ "reason", "REASON", COL_NAME },
	{ "remedy", "REMEDY", COL_NAME },
};
static const struct column limits_cols[] = {
	{ "limit", "LIMIT", COL_TEXT },
	{ "value", "VALUE", COL_COUNT },
	{ "unit", "UNIT", COL_TEXT },
	{ "reason", "REASON", COL_TEXT },
};
static const struct column vaai_cols[] = {
	{ "volume", "VOLUME", COL_TEXT },
	{ "ats", "ATS", COL_PRIMITIVE },
	{ "clone", "CLONE", COL_PRIMITIVE },
	{ "zero", "ZERO", COL_PRIMITIVE },
	{ "delete", "DELETE", COL_PRIMITIVE },
};
static const struct column stats_cols[] = {
	{ "volume", "VOLUME", COL_TEXT },
	{ "reads", "READS", COL_COUNT },
	{ "read_bytes", "READ", COL_SIZE },
	{ "read_p50_us", "P50 us", COL_COUNT },
	{ "read_p99_us", "P99 us", COL_COUNT },
	{ "writes", "WRITES", COL_COUNT },
	{ "write_bytes", "WRITTEN", COL_SIZE },
	{ "write_p50_us", "P50 us", COL_COUNT },
	{ "write_p99_us", "P99 us", COL_COUNT },
	{ "errors", "ERRORS", COL_COUNT },
};

static const struct cli_view target_view = VIEW(target_cols),
	volume_view = VIEW(volume_cols), lun_view = VIEW(lun_cols),
	acl_view = VIEW(acl_cols), chap_view = VIEW(chap_cols),
	portal_view = VIEW(portal_cols),
	limits_view = VIEW(limits_cols),
	vaai_view = VIEW(vaai_cols), stats_view = VIEW(stats_cols),
	refused_view = { NULL, refused_cols,
			 sizeof(refused_cols) / sizeof(refused_cols[0]), true },
	session_view = { "connections", session_cols,
			 sizeof(session_cols) / sizeof(session_cols[0]),
			 false };

const struct cli_cmd cli_cmds[] = {
	{ "target", "create", { IQN }, 1, { TEXT("alias", "TEXT") },
	  &target_view, "make a target" },
	{ "target", "delete", { IQN }, 1, { FORCE }, NULL,
	  "remove a target; --force ends its sessions" },
	{ "target", "list", NONE, 0, NONE, &target_view,
	  "list targets" },
	{ "target", "show", { IQN }, 1, NONE, NULL, "show one target" },
	{ "target", "set",
	  { IQN, { "set", KIND_PAIRS, "KEY=VALUE...", NULL } }, 2,
	  NONE, NULL,
	  "change a target (alias, enabled, redirect, redirect-permanent)" },
	{ "target", "enable", { IQN }, 1, NONE, NULL,
	  "let hosts log in" },
	{ "target", "disable", { IQN }, 1, { FORCE }, NULL,
	  "take no new logins; --force ends sessions" },

	{ "volume", "create", { NAME }, 1,
	  { TEXT("path", "PATH"), { "size", KIND_SIZE, "SIZE", NULL },
	    { "thick", KIND_FLAG, NULL, NULL },
	    { "block-size", KIND_INT, "512|4096", NULL },
	    { "physical-block-size", KIND_INT, "N", NULL },
	    TEXT("durability", "write-through|write-back"),
	    TEXT("io", "buffered|direct"),
	    { "read-only", KIND_FLAG, NULL, NULL },
	    TEXT("naa", "HEX"), TEXT("serial", "TEXT"),
	    TEXT("vendor", "TEXT"), TEXT("product", "TEXT") },
	  &volume_view, "make a volume over a file, a block device or null:" },
	{ "volume", "delete", { NAME }, 1,
	  { { "erase", KIND_FLAG, NULL, NULL }, FORCE }, NULL,
	  "remove a volume; --erase removes its file too" },
	{ "volume", "list", NONE, 0, NONE, &volume_view,
	  "list volumes" },
	{ "volume", "show", { NAME }, 1, NONE, NULL,
	  "show one volume" },
	{ "volume", "resize",
	  { NAME, { "size", KIND_SIZE, "SIZE", NULL } }, 2, { FORCE },
	  &volume_view, "change the size; shrinking needs --force" },
	{ "volume", "set",
	  { NAME, { "set", KIND_PAIRS, "KEY=VALUE...", NULL } }, 2, { FORCE },
	  NULL, "change a live volume (durability, state, vaai.ats, ...)" },

	{ "lun", "add", { IQN, { "volume", KIND_TEXT, "VOLUME", NULL } }, 2,
	  { { "lun", KIND_INT, "N", NULL }, TEXT("initiator", "PATTERN"),
	    { "read-only", KIND_FLAG, NULL, NULL } },
	  &lun_view, "map a volume into a target" },
	{ "lun", "remove", { IQN, { "lun", KIND_INT, "N", NULL } }, 2,
	  { TEXT("initiator", "PATTERN") }, NULL, "take a mapping away" },
	{ "lun", "list", { IQN }, 0, NONE, &lun_view, "list mappings" },

	{ "acl", "allow",
	  { IQN, { "initiator", KIND_TEXT, "PATTERN", NULL } }, 2,
	  { TEXT("address", "CIDR") }, &acl_view, "let initiators log in" },
	{ "acl", "revoke",
	  { IQN, { "initiator", KIND_TEXT, "PATTERN", NULL } }, 2,
	  { TEXT("address", "CIDR") }, NULL, "take a rule away" },
	{ "acl", "list", { IQN }, 0, NONE, &acl_view, "list rules" },
	{ "acl", "check", { IQN }, 1,
	  { { "initiator", KIND_NEEDED, "NAME", NULL },
	    TEXT("address", "ADDR") }, NULL,
	  "tell what such a host would see, and why" },

	{ "chap", "set",
	  { IQN, { "user", KIND_TEXT, "USER", NULL } }, 2,
	  { { "secret-file", KIND_SECRET_FILE, "FILE|-", "secret" },
	    TEXT("mutual", "USER"),
	    { "mutual-secret-file", KIND_SECRET_FILE, "FILE|-",
	      "mutual-secret" },
	    TEXT("initiator", "PATTERN") },
	  NULL, "set a user and secret (\"discovery\" in place of IQN)" },
	{ "chap", "clear", { IQN }, 1, { TEXT("user", "USER") }, NULL,
	  "take authentication away" },
	{ "chap", "list", { IQN }, 0, NONE, &chap_view, "list users" },

	{ "portal", "add", { { "address", KIND_TEXT, "ADDR[:PORT]", NULL } }, 1,
	  { { "group", KIND_INT, "TAG", NULL },
	    { "no-advertise", KIND_FLAG, NULL, NULL } },
	  &portal_view, "listen at an address" },
	{ "portal", "remove",
	  { { "address", KIND_TEXT, "ADDR[:PORT]", NULL } }, 1, NONE,
	  NULL, "listen there no more" },
	{ "portal", "state",
	  { { "group", KIND_INT, "TAG", NULL }, TEXT("state", "STATE") }, 2,
	  NONE, &portal_view, "ALUA state of a portal group" },
	{ "portal", "list", NONE, 0, NONE, &portal_view,
	  "list addresses" },

	{ "session", "list", { IQN }, 0, NONE, &session_view,
	  "list sessions and their connections" },
	{ "session", "show", { { "id", KIND_INT, "ID", NULL } }, 1,
	  NONE, NULL, "show one session with its keys" },
	{ "session", "end", { { "id", KIND_INT, "ID", NULL } }, 1,
	  NONE, NULL, "end a session" },
	{ "session", "refused", NONE, 0, NONE, &refused_view,
	  "list the last refused logins, with reason and remedy" },
	{ "session", "move",
	  { { "id", KIND_INT, "ID", NULL },
	    { "worker", KIND_INT, "WORKER", NULL } }, 2, NONE, NULL,
	  "move a live session to another worker" },

	{ "vaai", "status", { { "volume", KIND_TEXT, "VOLUME", NULL } }, 0,
	  NONE, &vaai_view, "tell which primitives serve, and how" },
	{ "stats", NULL, { { "name", KIND_TEXT, "VOLUME|IQN", NULL } }, 0,
	  { { "interval", KIND_LOCAL, "S", NULL },
	    { "count", KIND_LOCAL, "N", NULL } },
	  &stats_view, "counters and latencies" },

	{ "config", "show", NONE, 0, NONE, NULL,
	  "print the running configuration" },
	{ "config", "save", { { "file", KIND_TEXT, "FILE", NULL } }, 0,
	  NONE, NULL, "write the configuration to a file" },
	{ "config", "load", { { "file", KIND_TEXT, "FILE", NULL } }, 1,
	  NONE, NULL, "apply a file's differences" },
	{ "config", "check", { { "file", KIND_TEXT, "FILE", NULL } }, 1,
	  NONE, NULL, "say every fault of a file" },

	{ "daemon", "limits", NONE, 0, NONE, &limits_view,
	  "list what the daemon keeps to, and why" },
};

const unsigned cli_ncmds = sizeof(cli_cmds) / sizeof(cli_cmds[0]);

/* verb NULL finds the commands that are one word (stats). */
const struct cli_cmd *cli_find(const char *noun, const char *verb)
{
	unsigned i;

	for (i = 0; i < cli_ncmds; i++) {
		const struct cli_cmd *c = &cli_cmds[i];

		if (strcmp(c->noun, noun))
			continue;
		if (c->verb ? verb && !strcmp(c->verb, verb) : !verb)
			return c;
	}
	return NULL;
}

bool cli_noun_known(const char *noun)
{
	unsigned i;

	for (i = 0; i < cli_ncmds; i++) {
		if (!strcmp(cli_cmds[i].noun, noun))
			return true;
	}
	return false;
}

static void usage_line(FILE *to, const struct cli_cmd *c)
{
	unsigned i;

	fprintf(to, "  lunadm %s%s%s", c->noun, c->verb ? " " : "",
		c->verb ? c->verb : "");
	for (i = 0; i < CLI_ARGS && c->args[i].name; i++)
		fprintf(to, i < c->required ? " %s" : " [%s]",
			c->args[i].meta);
	for (i = 0; i < CLI_OPTS && c->opts[i].name; i++)
		fprintf(to, c->opts[i].kind == KIND_NEEDED ? " --%s%s%s" :
			" [--%s%s%s]", c->opts[i].name,
			c->opts[i].meta ? " " : "",
			c->opts[i].meta ? c->opts[i].meta : "");
	fprintf(to, "\n        %s\n", c->help);
}

void cli_usage(FILE *to, const char *noun)
{
	unsigned i;

	fputs("usage: lunadm [-s SOCKET] [--json] [--no-headings] [-q] "
	      "NOUN VERB [ARGUMENTS] [--OPTION VALUE]...\n", to);
	for (i = 0; i < cli_ncmds; i++) {
		if (!noun || !strcmp(noun, cli_cmds[i].noun))
			usage_line(to, &cli_cmds[i]);
	}
}
