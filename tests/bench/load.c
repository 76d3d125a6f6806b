/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The load generator's options and its line of figures: see load.h. */

#include "tests/bench/load.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const work_names[WORKS] = {
	"read", "write", "mix", "wsame", "unmap", "caw", "xcopy", "tur", "nop",
	"login", "idle",
};

static const struct client *const clients[] = {
	&lean_client, &floor_client, &libiscsi_client,
};

static const char usage[] =
"load [OPTION]... URL    iscsi://127.x.y.z:PORT/IQN/LUN, or\n"
"                        floor://127.x.y.z:PORT (READ and WRITE, --size)\n"
"--client lean|libiscsi  --op read|write|mix|wsame|unmap|caw|xcopy|tur|nop|\n"
"                             login|idle\n"
"--sessions N  --depth N (each)  --bs SIZE (a command)  --reads PERCENT (mix)\n"
"--random  --once (one pass)  --off SIZE  --size SIZE (part of the LUN)\n"
"--luns N (in turn, from the URL's on)\n"
"--dst-lun N  --dst-off SIZE (xcopy: to)  --unmap (wsame)  --fua (write)\n"
"--contend (caw: all on one block)  --single (a send for each command)\n"
"--digests  --mrdsl SIZE  --verify (fills first, then looks)\n"
"--probe tur|nop|caw (beside the load, every ms; caw: the LUN's first block)\n"
"--time S  --warm S  --pid PID (the target's)\n"
"Prints one line of NAME=VALUE; times in microseconds.\n";

enum {
	OPT_CLIENT = 256, OPT_OP, OPT_SESSIONS, OPT_DEPTH, OPT_BS, OPT_READS,
	OPT_OFF, OPT_SIZE, OPT_DST_LUN, OPT_DST_OFF, OPT_MRDSL, OPT_PROBE,
	OPT_TIME, OPT_WARM, OPT_PID, OPT_RANDOM, OPT_ONCE, OPT_UNMAP, OPT_FUA,
	OPT_CONTEND, OPT_SINGLE, OPT_DIGESTS, OPT_VERIFY, OPT_LUNS,
};

static const struct option long_options[] = {
	{ "client", 1, NULL, OPT_CLIENT }, { "op", 1, NULL, OPT_OP },
	{ "sessions", 1, NULL, OPT_SESSIONS }, { "depth", 1, NULL, OPT_DEPTH },
	{ "bs", 1, NULL, OPT_BS }, { "reads", 1, NULL, OPT_READS },
	{ "off", 1, NULL, OPT_OFF }, { "size", 1, NULL, OPT_SIZE },
	{ "dst-lun", 1, NULL, OPT_DST_LUN },
	{ "luns", 1, NULL, OPT_LUNS },
	{ "dst-off", 1, NULL, OPT_DST_OFF }, { "mrdsl", 1, NULL, OPT_MRDSL },
	{ "probe", 1, NULL, OPT_PROBE }, { "time", 1, NULL, OPT_TIME },
	{ "warm", 1, NULL, OPT_WARM }, { "pid", 1, NULL, OPT_PID },
	{ "random", 0, NULL, OPT_RANDOM }, { "once", 0, NULL, OPT_ONCE },
	{ "unmap", 0, NULL, OPT_UNMAP }, { "fua", 0, NULL, OPT_FUA },
	{ "contend", 0, NULL, OPT_CONTEND },
	{ "single", 0, NULL, OPT_SINGLE },
	{ "digests", 0, NULL, OPT_DIGESTS },
	{ "verify", 0, NULL, OPT_VERIFY }, { NULL, 0, NULL, 0 },
};

static uint64_t size_of(const char *text)
{
	char *end;
	uint64_t n = strtoull(text, &end, 10);

	switch (*end) {
	case 'T':
		n <<= 10;
		/* fall through */
	case 'G':
		n <<= 10;
		/* fall through */
	case 'M':
		n <<= 10;
		/* fall through */
	case 'K':
		n <<= 10;
		break;
	default:
		break;
	}
	return n;
}

static enum work work_of(const char *name)
{
	unsigned i;

	for (i = 0; i < WORKS; i++)
		if (!strcmp(work_names[i], name))
			return (enum work)i;
	fprintf(stderr, "load: no such work: %s\n", name);
	exit(2);
}

static const struct client *client_of(const char *name)
{
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(clients); i++)
		if (!strcmp(clients[i]->name, name))
			return clients[i];
	fprintf(stderr, "load: no such client: %s\n", name);
	exit(2);
}

static bool take_flag(struct options *o, int c)
{
	switch (c) {
	case OPT_RANDOM: return o->random = true;
	case OPT_ONCE: return o->once = true;
	case OPT_UNMAP: return o->unmap_bit = true;
	case OPT_FUA: return o->fua = true;
	case OPT_CONTEND: return o->contend = true;
	case OPT_SINGLE: return o->single = true;
	case OPT_DIGESTS: return o->digests = true;
	case OPT_VERIFY: return o->verify = true;
	}
	return false;
}

static bool take_option(struct options *o, int c, const char *arg)
{
	switch (c) {
	case OPT_CLIENT: o->client = client_of(arg); break;
	case OPT_OP: o->work = work_of(arg); break;
	case OPT_SESSIONS: o->sessions = (unsigned)size_of(arg); break;
	case OPT_DEPTH: o->depth = (unsigned)size_of(arg); break;
	case OPT_BS: o->bs = (uint32_t)size_of(arg); break;
	case OPT_READS: o->read_percent = (unsigned)size_of(arg); break;
	case OPT_OFF: o->off = size_of(arg); break;
	case OPT_SIZE: o->size = size_of(arg); break;
	case OPT_DST_LUN: o->dst_lun = (int)size_of(arg); break;
	case OPT_LUNS: o->luns = (unsigned)size_of(arg); break;
	case OPT_DST_OFF: o->dst_off = size_of(arg); break;
	case OPT_MRDSL: o->mrdsl = (uint32_t)size_of(arg); break;
	case OPT_PROBE: o->probe = work_of(arg); break;
	case OPT_TIME: o->seconds = strtod(arg, NULL); break;
	case OPT_WARM: o->warm = strtod(arg, NULL); break;
	case OPT_PID: o->pid = (int)size_of(arg); break;
	default: return take_flag(o, c);
	}
	return true;
}

static bool take_url(struct options *o, const char *url)
{
	if (sscanf(url, "floor://%63[0-9.]:%d", o->host, &o->port) == 2) {
		o->client = &floor_client;
		return true;
	}
	return sscanf(url, "iscsi://%63[0-9.]:%d/%223[^/]/%d", o->host,
		      &o->port, o->iqn, &o->lun) == 4;
}

static void parse(struct options *o, int argc, char **argv)
{
	int c;

	*o = (struct options){
		.client = &lean_client, .work = WORK_READ, .probe = WORKS,
		.sessions = 1, .depth = 1, .read_percent = 70, .bs = 4096,
		.dst_lun = -1, .luns = 1, .seconds = 1, .warm = 0.2,
		.mrdsl = 262144,
	};
	while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1)
		if (!take_option(o, c, optarg))
			goto wrong;
	if (optind == argc - 1 && take_url(o, argv[optind]) && o->sessions &&
	    o->depth && o->luns && o->bs && o->bs % 8 == 0) {
		/* What it did must be known to be looked at. */
		o->random &= !o->verify || o->work < WORK_WSAME;
		return;
	}
wrong:
	fputs(usage, stderr);
	exit(2);
}

static void report_hist(const char *prefix, const struct hist *h)
{
	printf(" %sp50=%.1f %sp90=%.1f %sp99=%.1f %sp999=%.1f %smax=%.1f",
	       prefix, hist_us(h, 0.5), prefix, hist_us(h, 0.9),
	       prefix, hist_us(h, 0.99), prefix, hist_us(h, 0.999),
	       prefix, (double)h->max / 1000);
}

static void report(const struct load *l)
{
	double s = (double)(l->stop - l->start) / 1e9;
	double n = l->ops ? (double)l->ops : 1;

	printf("op=%s ops=%llu secs=%.3f rate=%.1f mib=%.1f",
	       work_names[l->opt.work], (unsigned long long)l->ops, s,
	       (double)l->ops / s, (double)l->bytes / s / MiB);
	printf(" cpu=%.3f client=%.3f rss=%llu threads=%u",
	       (double)proc_cpu_ns(l->proc) / n / 1000,
	       (double)l->own_cpu / n / 1000,
	       (unsigned long long)l->proc[1].rss_kib, l->proc[1].threads);
	report_hist("", &l->hist);
	if (l->opt.probe != WORKS) {
		printf(" probes=%llu", (unsigned long long)l->probe.count);
		report_hist("probe_", &l->probe);
	}
	printf(" commands=%llu retries=%llu errors=%llu",
	       (unsigned long long)l->commands,
	       (unsigned long long)l->retries, (unsigned long long)l->errors);
	if (l->errors)
		printf(" first_error=%s", l->first_error);
	if (l->opt.verify)
		printf(" verify=%s", l->bad ? "BAD" : "good");
	printf("\n");
}

int main(int argc, char **argv)
{
	static struct load l;
	bool good;

	signal(SIGPIPE, SIG_IGN);
	parse(&l.opt, argc, argv);
	l.nsessions = l.opt.sessions;
	if (l.opt.work == WORK_LOGIN)
		return !run_logins(&l);
	if (l.opt.work == WORK_IDLE)
		return !run_idle(&l);
	good = run_open(&l) && work_prepare(&l) && run_load(&l) &&
		(!l.opt.verify || work_verify(&l));
	if (good)
		report(&l);
	run_close(&l);
	return good && !l.errors && !l.bad ? 0 : 1;
}
