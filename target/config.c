/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The running configuration: one way in for the file at start, SIGHUP, `config
 * load` and every verb that changes something.
 */

#include "target/config.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/log.h"
#include "target/config_int.h"
#include "target/portal.h"
#include "target/volumes.h"

static struct config_options options;

static int fail(struct config_error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static int fail(struct config_error *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return -1;
}

const char *config_file(void)
{
	return options.file;
}

const char *config_state_dir(void)
{
	return options.state_dir;
}

const json_t *config_doc(void)
{
	const struct conf *now = config_now();

	return now ? now->doc : NULL;
}

json_t *config_copy(void)
{
	return json_deep_copy(config_doc());
}

/* ---- reading ------------------------------------------------------------ */

json_t *config_parse_file(const char *file, struct config_error *err)
{
	json_error_t where;
	json_t *doc = json_load_file(file, JSON_REJECT_DUPLICATES, &where);

	if (doc)
		return doc;
	if (where.line > 0)
		fail(err, "%s, line %d: %s", file, where.line, where.text);
	else
		fail(err, "%s", where.text);
	return NULL;
}

/* The folder of a file, where relative secret files start. */
static char *folder_of(const char *file)
{
	char *dir = strdup(file), *slash = dir ? strrchr(dir, '/') : NULL;

	if (slash)
		slash[slash == dir] = '\0';
	return dir;
}

static struct conf *read_doc(json_t *doc, const char *file,
			     struct faults *faults)
{
	char *dir = folder_of(file);
	struct conf *c = NULL;

	if (dir)
		c = conf_read(doc, options.portals, dir, faults);
	free(dir);
	return c;
}

/* What the state folder remembers otherwise; nothing is recorded. */
static void check_identities(struct conf *c, struct faults *faults)
{
	struct config_error err;
	unsigned i;
	int r;

	for (i = 0; i < c->nvolumes && faults->n < FAULTS_MAX; i++) {
		r = conf_check_identity(&c->volumes[i], &err);
		if (!r || r == -ENOENT)
			continue;
		faults->text[faults->n] = strdup(err.text);
		if (faults->text[faults->n])
			faults->n++;
	}
}

void config_check(json_t *doc, const char *file, struct faults *faults)
{
	struct conf *c = read_doc(doc, file, faults);

	if (c)
		check_identities(c, faults);
	conf_free(c);
}

static json_t *empty_document(void)
{
	return json_pack("{s:i}", "version", 1);
}

static json_t *parse_own(struct config_error *err)
{
	if (options.may_be_absent && access(options.file, F_OK) &&
	    errno == ENOENT)
		return empty_document();
	return config_parse_file(options.file, err);
}

void config_check_file(const struct config_options *o, struct faults *faults)
{
	struct config_error err = { "" };
	json_t *doc;

	options = *o;
	state_look(o->state_dir);
	doc = parse_own(&err);
	if (doc) {
		config_check(doc, o->file, faults);
	} else {
		faults->text[0] = strdup(err.text);
		faults->n = faults->text[0] ? 1 : 0;
	}
	json_decref(doc);
}

/* ---- the one way in ----------------------------------------------------- */

static int save_doc(const json_t *doc, const char *file,
		    struct config_error *err)
{
	char *dir = folder_of(file);
	int r = dir ? make_folders(dir, 0755) : -ENOMEM;

	free(dir);
	if (!r)
		r = file_replace_json(file, doc, 0600);
	if (r)
		return fail(err, "cannot save %s: %s; nothing was changed",
			    file, strerror(-r));
	return 0;
}

/* All that may refuse, in the order of what it leaves behind. */
static int prepare(struct conf *now, bool save, struct config_error *err)
{
	if (conf_check_change(config_now(), now, err) ||
	    conf_identify(now, err) || conf_give_ports(now, err) ||
	    portals_prepare(now, err))
		return -1;
	if (save && save_doc(now->doc, options.file, err)) {
		portals_undo();
		return -1;
	}
	return 0;
}

/* What is new first, so that LUNs find their volumes; what goes last. */
static void apply(struct conf *now)
{
	struct config_error err;

	if (vols_start(now, &err))
		log_err("%s", err.text);
	vols_change(config_now(), now);
	vols_tell_ports(now);
	world_set(now);
	vols_stop(now);
	portals_apply(now);
}

static int first_fault(struct faults *faults, struct config_error *err)
{
	if (!faults->n)
		return fail(err, "no memory");
	if (faults->n == 1)
		fail(err, "%.*s", FAULT_TEXT - 1, faults->text[0]);
	else
		fail(err, "%.*s (and %u more)", FAULT_TEXT - 32,
		     faults->text[0], faults->n - 1);
	faults_free(faults);
	return -1;
}

struct conf *config_read(json_t *doc, struct config_error *err)
{
	struct faults faults = { .n = 0 };
	struct conf *c = read_doc(doc, options.file, &faults);

	if (!c)
		first_fault(&faults, err);
	return c;
}

int config_commit(json_t *doc, bool save, struct config_error *err)
{
	struct conf *now = config_read(doc, err);

	if (!now)
		return -1;
	if (prepare(now, save, err)) {
		conf_free(now);
		return -1;
	}
	apply(now);
	return 0;
}

int config_commit_portals(json_t *doc, json_t *portals,
			  struct config_error *err)
{
	json_t *old = options.portals;
	int r;

	options.portals = json_incref(portals);
	r = config_commit(doc, true, err);
	json_decref(r ? options.portals : old);
	if (r)
		options.portals = old;
	return r;
}

const json_t *config_override(void)
{
	return options.portals;
}

int config_start(const struct config_options *o, struct config_error *err)
{
	options = *o;
	json_incref(options.portals);
	return config_reload(err);
}

int config_reload(struct config_error *err)
{
	json_t *doc = parse_own(err);
	int r;

	if (!doc)
		return -1;
	r = config_commit(doc, false, err);
	json_decref(doc);
	return r;
}

int config_save(const char *file, struct config_error *err)
{
	return save_doc(config_doc(), file ? file : options.file, err);
}

void config_stop(void)
{
	world_set(NULL);
	json_decref(options.portals);
	options.portals = NULL;
}
