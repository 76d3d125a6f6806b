/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lunadm: one command, one call to the daemon, one answer shown.
 */
#include "cli/cli_int.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/version.h"

static int ask_secret(struct cli_request *r, const char *param)
{
	json_t *secret;

	if (json_object_get(r->params, param))
		return EXIT_DONE;
	if (!isatty(STDIN_FILENO)) {
		fprintf(stderr, "lunadm: chap set needs --%s-file FILE, or - "
			"for standard input\n", param);
		return EXIT_USAGE;
	}
	secret = cli_secret(NULL);
	if (!secret)
		return EXIT_REFUSED;
	json_object_set_new(r->params, param, secret);
	return EXIT_DONE;
}

/* chap set asks for the secrets that no file gives. */
static int ask_secrets(struct cli_request *r)
{
	int status;

	if (strcmp(r->cmd->noun, "chap") || !r->cmd->verb ||
	    strcmp(r->cmd->verb, "set"))
		return EXIT_DONE;
	status = ask_secret(r, "secret");
	if (status == EXIT_DONE && json_object_get(r->params, "mutual"))
		status = ask_secret(r, "mutual-secret");
	return status;
}

/* Files are the caller's: the daemon may stand in another folder. */
static int absolute_file(struct cli_request *r)
{
	const char *file;
	char *cwd, *path;

	file = json_string_value(json_object_get(r->params, "file"));
	if (!file || *file == '/')
		return EXIT_DONE;
	cwd = getcwd(NULL, 0);
	if (!cwd || asprintf(&path, "%s/%s", cwd, file) < 0) {
		free(cwd);
		fprintf(stderr, "lunadm: %s: %s\n", file, strerror(errno));
		return EXIT_REFUSED;
	}
	json_object_set_new(r->params, "file", json_string(path));
	free(path);
	free(cwd);
	return EXIT_DONE;
}

static int call_once(const struct cli_request *r)
{
	json_t *result = NULL;
	char *reason = NULL;
	char method[64];
	int status;

	snprintf(method, sizeof(method), "%s%s%s", r->cmd->noun,
		 r->cmd->verb ? "." : "", r->cmd->verb ? r->cmd->verb : "");
	status = cli_call(r->socket, method, r->params, &result, &reason);
	if (status == EXIT_DONE)
		cli_show(r, result);
	else if (status == EXIT_REFUSED)
		fprintf(stderr, "lunadm: %s\n", reason);
	else
		fprintf(stderr, "lunadm: no daemon at %s: %s\n", r->socket,
			strerror(errno));
	json_decref(result);
	free(reason);
	return status;
}

static int run(struct cli_request *r)
{
	long n = r->count > 0 ? r->count : r->interval > 0 ? -1 : 1;
	int status = EXIT_DONE;

	while (n != 0 && status == EXIT_DONE) {
		status = call_once(r);
		fflush(stdout);
		if (n > 0)
			n--;
		if (n != 0)
			sleep(r->interval > 0 ? (unsigned)r->interval : 1);
	}
	return status;
}

int main(int argc, char **argv)
{
	struct cli_request r;
	int status;

	setlocale(LC_CTYPE, "");
	if (cli_help(argc, argv))
		return EXIT_DONE;
	if (argc == 2 && !strcmp(argv[1], "--version")) {
		printf("lunadm %s\n", LUND_VERSION);
		return EXIT_DONE;
	}
	status = cli_parse(argc, argv, &r);
	if (status == EXIT_DONE)
		status = ask_secrets(&r);
	if (status == EXIT_DONE)
		status = absolute_file(&r);
	if (status == EXIT_DONE)
		status = run(&r);
	json_decref(r.params);
	return status;
}
