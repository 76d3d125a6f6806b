/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * lund: start, signals, shutdown.  The main thread serves the control socket,
 * the portals and the configuration; sessions live on the workers.
 */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef WITH_SYSTEMD
#include <systemd/sd-daemon.h>
#endif

#include "lib/log.h"
#include "lib/util.h"
#include "lib/version.h"
#include "target/config.h"
#include "target/control.h"
#include "target/daemonize.h"
#include "target/options.h"
#include "target/portal.h"
#include "target/session.h"
#include "target/state.h"
#include "target/user.h"
#include "target/volumes.h"
#include "target/worker.h"

/* Initiators have this long to log out when they were asked to. */
#define LOGOUT_MS	2000
/* A volume that does not close by then, or keeps a session's commands from
 * ending, hangs in its file system. */
#define CLOSE_MS	30000
/* Another daemon that answers at the socket for two seconds lives. */
#define SOCKET_TRIES	40
#define SOCKET_TRY_US	50000

static struct {
	struct options	 options;
	int		 signals;
	struct ereq	 poll;
	struct etimer	 close_timer, drain_timer;
	bool		 polling, stopping;
	bool		 pidfile_is_ours;
	int		 status;
} lund;

/* ---- what a supervisor is told ------------------------------------------ */

static void notify(const char *state)
{
#ifdef WITH_SYSTEMD
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	sd_notifyf(0, "%s\nMONOTONIC_USEC=%lld", state,
		   (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
#else
	(void)state;
#endif
}

static void write_pidfile(void)
{
	char text[32];
	int n, err;

	if (!lund.options.pidfile)
		return;
	n = snprintf(text, sizeof(text), "%d\n", (int)getpid());
	err = file_replace(lund.options.pidfile, text, (size_t)n, 0644);
	if (err)
		log_err("cannot write %s: %s", lund.options.pidfile,
			strerror(-err));
	lund.pidfile_is_ours = !err;
}

/* ---- shutdown ----------------------------------------------------------- */

static void volumes_closed(void)
{
	etimer_stop(&lund.close_timer);
	engine_stop(scsi_host.main);
}

static void close_late(struct etimer *t)
{
	(void)t;
	log_err("a volume does not close: its storage hangs");
	lund.status = EXIT_FAILURE;
	/* its threads cannot be waited for */
	_exit(EXIT_FAILURE);
}

static void sessions_gone(void)
{
	vols_close(volumes_closed);
}

static void stop(void)
{
	if (lund.stopping)
		return;
	lund.stopping = true;
	log_info("stopping");
	notify("STOPPING=1");
	portals_stop();
	control_stop();
	etimer_start(scsi_host.main, &lund.close_timer, LOGOUT_MS + CLOSE_MS);
	sessions_shutdown(LOGOUT_MS, sessions_gone);
}

/* ---- signals ------------------------------------------------------------ */

static void reload(void)
{
	struct config_error err = { "" };

	notify("RELOADING=1");
	if (config_reload(&err))
		log_err("configuration not reloaded: %s", err.text);
	else
		log_info("configuration reloaded");
	notify("READY=1");
}

static void signal_came(struct ereq *r)
{
	struct signalfd_siginfo info;

	lund.polling = false;
	if (r->result == -ECANCELED)
		return;
	if (r->result < 0) {
		log_err("signals are not read any more: %s",
			strerror(-r->result));
		return;
	}
	while (read(lund.signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGHUP)
			stop();
		else if (!lund.stopping)
			reload();
	}
	lund.polling = true;
	engine_submit(scsi_host.main, &lund.poll);
}

static void block_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGHUP);
	sigprocmask(SIG_BLOCK, set, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static int watch_signals(void)
{
	sigset_t set;

	block_signals(&set);
	lund.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (lund.signals < 0)
		return -errno;
	lund.poll = (struct ereq){
		.op = EREQ_POLL_IN, .fd = lund.signals, .done = signal_came,
	};
	lund.polling = true;
	engine_submit(scsi_host.main, &lund.poll);
	return 0;
}

/* ---- start -------------------------------------------------------------- */

static void raise_limits(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int say(struct config_error *err, const char *what, int r)
{
	snprintf(err->text, sizeof(err->text), "%.300s: %s", what,
		 strerror(-r));
	return -1;
}

/* The file's user; a file that cannot be read is told about in its time. */
static char *configured_user(const struct options *o)
{
	struct config_error err;
	json_t *doc = config_parse_file(o->file, &err);
	const char *user = json_string_value(json_object_get(doc, "user"));
	char *copy = user ? strdup(user) : NULL;

	json_decref(doc);
	return copy;
}

static char *folder_of(const char *file)
{
	const char *slash = file ? strrchr(file, '/') : NULL;

	return slash ? strndup(file, MAX((size_t)(slash - file), 1u)) : NULL;
}

static int start_user(struct options *o, struct config_error *err)
{
	char *folders[] = {
		o->state_dir, folder_of(o->socket), folder_of(o->file),
		folder_of(o->pidfile), NULL,
	};
	int i, r = 0;

	if (!o->user)
		o->user = configured_user(o);
	if (o->user)
		r = user_become(o->user, (const char *const *)folders, err);
	for (i = 1; i < 4; i++)
		free(folders[i]);
	return r;
}

static int start_state(const struct options *o, struct config_error *err)
{
	int r = state_open(o->state_dir);

	if (r != -EBUSY)
		return r ? say(err, o->state_dir, r) : 0;
	snprintf(err->text, sizeof(err->text), "%.300s: another lund uses this "
		 "state folder", o->state_dir);
	return -1;
}

static int start_threads(const struct options *o, struct config_error *err)
{
	struct engine_config config = { .kind = o->engine };
	int r = 0;

	scsi_host.main = engine_new(&config, &r);
	if (!scsi_host.main)
		return say(err, "engine", r);
	config.buf_total = BUF_TOTAL_DEFAULT;
	config.buf_reserve = BUF_RESERVE;
	r = workers_start(o->workers, &config);
	return r ? say(err, "workers", r) : 0;
}

static int start_control(const struct options *o, struct config_error *err)
{
	int r, tries;

	/* a killed one's listener lives until the kernel took its ring down */
	for (tries = 0; tries < SOCKET_TRIES; tries++) {
		r = control_start(o->socket);
		if (r != -EADDRINUSE)
			break;
		usleep(SOCKET_TRY_US);
	}
	if (r != -EADDRINUSE)
		return r ? say(err, o->socket, r) : 0;
	snprintf(err->text, sizeof(err->text), "%.300s: another lund serves "
		 "this socket", o->socket);
	return -1;
}

static struct config_options config_options(const struct options *o)
{
	return (struct config_options){
		.file = o->file, .may_be_absent = !o->file_named,
		.state_dir = o->state_dir, .portals = o->portals,
	};
}

static int start(struct options *o, struct config_error *err)
{
	struct config_options config = config_options(o);
	int r;

	etimer_init(&lund.close_timer, close_late);
	raise_limits();
	umask(077);
	if (start_user(o, err) || start_state(o, err) ||
	    start_threads(o, err) || start_control(o, err))
		return -1;
	r = watch_signals();
	if (r)
		return say(err, "signals", r);
	return config_start(&config, err);
}

/* The main engine is freed when it has let go of all that it was lent. */
static void drain(struct etimer *t)
{
	if (lund.polling || !control_quiet() || !portals_quiet()) {
		etimer_start(scsi_host.main, t, 1);
		return;
	}
	etimer_stop(&lund.close_timer);
	engine_stop(scsi_host.main);
}

static void finish_main(void)
{
	portals_stop();
	control_stop();
	if (lund.polling)
		engine_cancel(scsi_host.main, &lund.poll);
	etimer_init(&lund.drain_timer, drain);
	etimer_start(scsi_host.main, &lund.drain_timer, 0);
	etimer_start(scsi_host.main, &lund.close_timer, CLOSE_MS);
	engine_run(scsi_host.main);
	engine_free(scsi_host.main);
}

static void finish(void)
{
	workers_stop();
	if (scsi_host.main)
		finish_main();
	config_stop();
	state_close();
	if (lund.signals > 0)
		close(lund.signals);
	if (lund.pidfile_is_ours)
		unlink(lund.options.pidfile);
	options_free(&lund.options);
}

static int check(const struct options *o)
{
	struct config_options config = config_options(o);
	struct faults faults = { .n = 0 };
	unsigned i;
	int status;

	config_check_file(&config, &faults);
	for (i = 0; i < faults.n; i++)
		fprintf(stderr, "%s\n", faults.text[i]);
	status = faults.n ? EXIT_FAILURE : EXIT_SUCCESS;
	faults_free(&faults);
	return status;
}

static int run(struct options *o)
{
	struct config_error err = { "" };
	sigset_t set;

	block_signals(&set);
	if (start(o, &err)) {
		log_err("%s", err.text);
		daemon_failed(err.text);
		return EXIT_FAILURE;
	}
	write_pidfile();
	log_info("lund %s is ready", LUND_VERSION);
	notify("READY=1");
	daemon_ready();
	engine_run(scsi_host.main);
	log_info("stopped");
	return lund.status;
}

static enum log_dest log_dest(const struct options *o)
{
	if (o->syslog || o->daemon)
		return LOG_TO_SYSLOG;
	return getenv("JOURNAL_STREAM") ? LOG_TO_JOURNAL : LOG_TO_STDERR;
}

int main(int argc, char **argv)
{
	int status;

	if (options_read(argc, argv, &lund.options, &status))
		return status;
	log_set_level(lund.options.level);
	if (lund.options.check) {
		status = check(&lund.options);
		options_free(&lund.options);
		return status;
	}
	if (lund.options.daemon)
		daemonize();
	log_init(log_dest(&lund.options), "lund");
	status = run(&lund.options);
	finish();
	return status;
}
