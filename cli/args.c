/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line: words and options into a request, by the table of commands.
 * Options may stand anywhere; "--" ends them.
 */
#include "cli/cli_int.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "lib/size.h"

#define DEFAULT_SOCKET "/run/lund/lund.sock"
#define SECRET_ROOM 1024

/* Reads a line from the terminal without showing it. */
static ssize_t prompt_secret(char *buf, size_t room)
{
	struct termios was, quiet;
	ssize_t n;

	if (tcgetattr(STDIN_FILENO, &was) < 0)
		return -1;
	quiet = was;
	quiet.c_lflag &= ~(tcflag_t)ECHO;
	fputs("Secret: ", stderr);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
	n = read(STDIN_FILENO, buf, room);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &was);
	fputc('\n', stderr);
	return n;
}

json_t *cli_secret(const char *file)
{
	char buf[SECRET_ROOM];
	json_t *secret = NULL;
	ssize_t n = -1;

	if (!file && isatty(STDIN_FILENO)) {
		n = prompt_secret(buf, sizeof(buf));
	} else {
		FILE *f = !file || !strcmp(file, "-") ? stdin :
							fopen(file, "re");

		if (f) {
			n = (ssize_t)fread(buf, 1, sizeof(buf), f);
			if (f != stdin)
				fclose(f);
		}
	}
	if (n < 0) {
		fprintf(stderr, "lunadm: cannot read the secret from %s: %s\n",
			file ? file : "the terminal", strerror(errno));
		return NULL;
	}
	while (n > 0 && (buf[n - 1] == '\n' || buf[n - 1] == '\r'))
		n--;
	if ((size_t)n == sizeof(buf))
		fputs("lunadm: the secret is too long\n", stderr);
	else if (!(secret = json_stringn(buf, (size_t)n)))
		fputs("lunadm: the secret is not UTF-8; write it as 0x and "
		      "hex digits\n", stderr);
	explicit_bzero(buf, sizeof(buf));
	return secret;
}

static int say_usage(const char *what, const char *word)
{
	fprintf(stderr, "lunadm: %s%s%s\n", what, word ? ": " : "",
		word ? word : "");
	return EXIT_USAGE;
}

static int take_pair(json_t *params, const struct cli_param *p,
		     const char *word)
{
	const char *eq = strchr(word, '=');
	json_t *pairs = json_object_get(params, p->param ? p->param : p->name);
	char key[64];

	if (!eq || eq == word || (size_t)(eq - word) >= sizeof(key))
		return say_usage("not KEY=VALUE", word);
	if (!pairs) {
		pairs = json_object();
		json_object_set_new(params, p->param ? p->param : p->name,
				    pairs);
	}
	memcpy(key, word, (size_t)(eq - word));
	key[eq - word] = '\0';
	if (json_object_set_new(pairs, key, json_string(eq + 1)) < 0)
		return say_usage("not UTF-8", word);
	return EXIT_DONE;
}

static int take_number(const struct cli_param *p, const char *word,
		       json_int_t *ret)
{
	uint64_t bytes;
	char *end;

	if (p->kind == KIND_SIZE) {
		if (size_parse(word, &bytes))
			return say_usage("not a size (digits and K, M, G or T)",
					 word);
		*ret = (json_int_t)bytes;
		return EXIT_DONE;
	}
	errno = 0;
	*ret = strtoll(word, &end, 0);
	if (errno || end == word || *end)
		return say_usage("not a number", word);
	if (p->kind == KIND_LOCAL && (*ret < 1 || *ret > INT_MAX))
		return say_usage("not a number above 0", word);
	return EXIT_DONE;
}

static int take_value(struct cli_request *r, const struct cli_param *p,
		      const char *word)
{
	json_t *value = NULL;
	json_int_t n;
	int status;

	switch (p->kind) {
	case KIND_PAIRS:
		return take_pair(r->params, p, word);
	case KIND_FLAG:
		value = json_true();
		break;
	case KIND_TEXT:
	case KIND_NEEDED:
		value = json_string(word);
		if (!value)
			return say_usage("not UTF-8", word);
		break;
	case KIND_SECRET_FILE:
		value = cli_secret(word);
		if (!value)
			return EXIT_REFUSED;
		break;
	case KIND_INT:
	case KIND_SIZE:
	case KIND_LOCAL:
		status = take_number(p, word, &n);
		if (status)
			return status;
		if (p->kind == KIND_LOCAL) {
			*(strcmp(p->name, "count") ? &r->interval : &r->count) =
				(long)n;
			return EXIT_DONE;
		}
		value = json_integer(n);
		break;
	}
	json_object_set_new(r->params, p->param ? p->param : p->name, value);
	return EXIT_DONE;
}

static const struct cli_param *find_opt(const struct cli_cmd *cmd,
					const char *name, size_t len)
{
	unsigned i;

	for (i = 0; i < CLI_OPTS && cmd->opts[i].name; i++) {
		if (strlen(cmd->opts[i].name) == len &&
		    !strncmp(cmd->opts[i].name, name, len))
			return &cmd->opts[i];
	}
	return NULL;
}

/* "--name value", "--name=value" or a flag; *i moves over the value. */
static int take_option(struct cli_request *r, int argc, char **argv, int *i)
{
	const char *name = argv[*i] + 2, *eq = strchr(name, '=');
	size_t len = eq ? (size_t)(eq - name) : strlen(name);
	const struct cli_param *p = find_opt(r->cmd, name, len);

	if (!p)
		return say_usage("unknown option", argv[*i]);
	if (p->kind == KIND_FLAG) {
		if (eq)
			return say_usage("this option takes no value",
					 argv[*i]);
		return take_value(r, p, NULL);
	}
	if (eq)
		return take_value(r, p, eq + 1);
	if (*i + 1 >= argc)
		return say_usage("this option needs a value", argv[*i]);
	return take_value(r, p, argv[++*i]);
}

/* Options of lunadm itself: 1 when it was one, 0 when not, -1 usage. */
static int take_global(struct cli_request *r, int argc, char **argv, int *i)
{
	const char *a = argv[*i];

	if (!strcmp(a, "--json"))
		r->json = true;
	else if (!strcmp(a, "--no-headings"))
		r->no_headings = true;
	else if (!strcmp(a, "-q") || !strcmp(a, "--quiet"))
		r->quiet = true;
	else if (!strcmp(a, "-s") || !strcmp(a, "--socket")) {
		if (*i + 1 >= argc)
			return -1;
		r->socket = argv[++*i];
	} else {
		return 0;
	}
	return 1;
}

static int take_word(struct cli_request *r, unsigned *narg, const char *word)
{
	const struct cli_param *p;

	if (*narg < CLI_ARGS && r->cmd->args[*narg].name) {
		p = &r->cmd->args[*narg];
		if (p->kind != KIND_PAIRS)
			(*narg)++;
		return take_value(r, p, word);
	}
	return say_usage("one word too many", word);
}

static int check_options(const struct cli_request *r)
{
	const struct cli_param *p;
	unsigned i;

	for (i = 0; i < CLI_OPTS && r->cmd->opts[i].name; i++) {
		p = &r->cmd->opts[i];
		if (p->kind != KIND_NEEDED ||
		    json_object_get(r->params, p->name))
			continue;
		fprintf(stderr, "lunadm: %s %s needs --%s %s\n", r->cmd->noun,
			r->cmd->verb, p->name, p->meta);
		return EXIT_USAGE;
	}
	return EXIT_DONE;
}

static int check_required(const struct cli_request *r, unsigned narg)
{
	const struct cli_param *last;

	if (narg >= r->cmd->required)
		return check_options(r);
	last = &r->cmd->args[narg];
	if (last->kind == KIND_PAIRS &&
	    json_object_get(r->params, last->param ? last->param : last->name))
		return check_options(r);
	fprintf(stderr, "lunadm: %s %s needs %s\n", r->cmd->noun, r->cmd->verb,
		last->meta ? last->meta : last->name);
	return EXIT_USAGE;
}

/* The noun and the verb are the first two words that are no option. */
static int find_command(struct cli_request *r, int argc, char **argv)
{
	const char *word[2] = { NULL, NULL };
	unsigned n = 0;
	int i, g;

	for (i = 1; i < argc && n < 2; i++) {
		g = take_global(r, argc, argv, &i);
		if (g < 0)
			return say_usage("this option needs a value", argv[i]);
		if (g)
			continue;
		if (argv[i][0] == '-')
			return say_usage("unknown option", argv[i]);
		word[n++] = argv[i];
		if (n == 1 && cli_find(word[0], NULL)) {
			r->cmd = cli_find(word[0], NULL);
			return i + 1;
		}
	}
	if (!word[0] || !cli_noun_known(word[0])) {
		if (word[0])
			say_usage("no such noun", word[0]);
		else
			cli_usage(stderr, NULL);
		return -1;
	}
	r->cmd = word[1] ? cli_find(word[0], word[1]) : NULL;
	if (!r->cmd) {
		if (word[1])
			say_usage("no such verb", word[1]);
		cli_usage(stderr, word[0]);
		return -1;
	}
	return i;
}

bool cli_help(int argc, char **argv)
{
	const char *noun = NULL;
	bool wanted = argc > 1 && !strcmp(argv[1], "help");
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			wanted = true;
		else if (!noun && cli_noun_known(argv[i]))
			noun = argv[i];
	}
	if (wanted)
		cli_usage(stdout, noun);
	return wanted;
}

int cli_parse(int argc, char **argv, struct cli_request *ret)
{
	const char *env = getenv("LUND_SOCKET");
	bool words_only = false;
	unsigned narg = 0;
	int i, g, status;

	*ret = (struct cli_request){
		.socket = env && *env ? env : DEFAULT_SOCKET,
		.params = json_object(),
		.count = -1,
	};
	i = find_command(ret, argc, argv);
	if (i < 0 || !ret->cmd)
		return EXIT_USAGE;
	for (; i < argc; i++) {
		g = words_only ? 0 : take_global(ret, argc, argv, &i);
		if (g > 0)
			continue;
		if (!words_only && !strcmp(argv[i], "--"))
			words_only = true;
		else if (!words_only && !strncmp(argv[i], "--", 2)) {
			status = take_option(ret, argc, argv, &i);
			if (status)
				return status;
		} else if (!words_only && argv[i][0] == '-' && argv[i][1]) {
			return say_usage("unknown option", argv[i]);
		} else {
			status = take_word(ret, &narg, argv[i]);
			if (status)
				return status;
		}
	}
	return check_required(ret, narg);
}
