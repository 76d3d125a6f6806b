/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The command line of lund, as lund(8) has it. */

#include "target/options.h"

#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/limits.h"
#include "lib/util.h"
#include "lib/version.h"

#define DEFAULT_FILE	"/etc/lund/lund.json"
#define DEFAULT_SOCKET	"/run/lund/lund.sock"
#define DEFAULT_STATE	"/var/lib/lund"

enum exit_status { EXIT_USAGE = 2 };

enum {
	OPT_PORTAL = 256, OPT_WORKERS, OPT_ENGINE, OPT_LOG, OPT_CHECK,
	OPT_DAEMON, OPT_PIDFILE, OPT_SYSLOG, OPT_USER, OPT_VERSION,
};

static const struct option long_options[] = {
	{ "portal", required_argument, NULL, OPT_PORTAL },
	{ "workers", required_argument, NULL, OPT_WORKERS },
	{ "engine", required_argument, NULL, OPT_ENGINE },
	{ "log", required_argument, NULL, OPT_LOG },
	{ "check", no_argument, NULL, OPT_CHECK },
	{ "daemon", no_argument, NULL, OPT_DAEMON },
	{ "pidfile", required_argument, NULL, OPT_PIDFILE },
	{ "syslog", no_argument, NULL, OPT_SYSLOG },
	{ "user", required_argument, NULL, OPT_USER },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static void usage(FILE *to)
{
	fputs("usage: lund [-c FILE] [-s SOCKET] [-d STATEDIR]\n"
	      "            [--portal ADDR[:PORT]]... [--workers N]\n"
	      "            [--engine io_uring|aio]\n"
	      "            [--log error|warning|info|debug] [--syslog]\n"
	      "            [--daemon] [--pidfile FILE] [--user NAME]\n"
	      "            [--check] [--version]\n",
	      to);
}

static int bad(const char *what, const char *value)
{
	fprintf(stderr, "lund: %s: %s\n", what, value);
	return EXIT_USAGE;
}

static char *absolute(const char *path)
{
	char *cwd, *out = NULL;

	if (path[0] == '/')
		return strdup(path);
	cwd = getcwd(NULL, 0);
	if (!cwd || asprintf(&out, "%s/%s", cwd, path) < 0)
		out = NULL;
	free(cwd);
	return out;
}

static void set_path(char **at, const char *path)
{
	free(*at);
	*at = absolute(path);
}

static unsigned cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	return MIN((unsigned)CPU_COUNT(&set), (unsigned)MAX_WORKERS);
}

static int set_workers(struct options *o, const char *text)
{
	unsigned long n;
	char *end;

	n = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || n < 1 || n > MAX_WORKERS)
		return bad("a number of workers from 1 to 64 is needed", text);
	o->workers = (unsigned)n;
	return 0;
}

static int set_engine(struct options *o, const char *text)
{
	if (!strcmp(text, "io_uring"))
		o->engine = ENGINE_URING;
	else if (!strcmp(text, "aio"))
		o->engine = ENGINE_AIO;
	else
		return bad("an engine is io_uring or aio", text);
	return 0;
}

static void add_portal(struct options *o, const char *text)
{
	if (!o->portals)
		o->portals = json_array();
	json_array_append_new(o->portals, json_string(text));
}

static int take(struct options *o, int opt)
{
	switch (opt) {
	case 'c':
		set_path(&o->file, optarg);
		o->file_named = true;
		return 0;
	case 's':
		set_path(&o->socket, optarg);
		return 0;
	case 'd':
		set_path(&o->state_dir, optarg);
		return 0;
	case OPT_PORTAL:
		add_portal(o, optarg);
		return 0;
	case OPT_WORKERS:
		return set_workers(o, optarg);
	case OPT_ENGINE:
		return set_engine(o, optarg);
	case OPT_LOG:
		if (log_level_of(optarg, &o->level))
			return bad("no such level of log", optarg);
		return 0;
	case OPT_CHECK:
		o->check = true;
		return 0;
	case OPT_DAEMON:
		o->daemon = true;
		return 0;
	case OPT_PIDFILE:
		set_path(&o->pidfile, optarg);
		return 0;
	case OPT_SYSLOG:
		o->syslog = true;
		return 0;
	case OPT_USER:
		free(o->user);
		o->user = strdup(optarg);
		return 0;
	}
	usage(stderr);
	return EXIT_USAGE;
}

int options_read(int argc, char **argv, struct options *ret, int *ret_status)
{
	struct options o = {
		.file = strdup(DEFAULT_FILE),
		.socket = strdup(DEFAULT_SOCKET),
		.state_dir = strdup(DEFAULT_STATE),
		.workers = cpus(), .engine = ENGINE_AUTO, .level = LOG_INFO_,
	};
	int opt, status = 0;

	while (!status && (opt = getopt_long(argc, argv, "c:s:d:h",
					     long_options, NULL)) != -1) {
		if (opt == OPT_VERSION || opt == 'h') {
			if (opt == 'h')
				usage(stdout);
			else
				printf("lund %s\n", LUND_VERSION);
			*ret_status = 0;
			options_free(&o);
			return 1;
		}
		status = take(&o, opt);
	}
	if (!status && optind < argc)
		status = bad("what is this for", argv[optind]);
	if (status) {
		*ret_status = status;
		options_free(&o);
		return 1;
	}
	*ret = o;
	return 0;
}

void options_free(struct options *o)
{
	free(o->file);
	free(o->socket);
	free(o->state_dir);
	free(o->pidfile);
	free(o->user);
	json_decref(o->portals);
}
