/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The document itself; and the daemon's own methods. */

#include "target/ctl_int.h"

#include <string.h>

#include "lib/version.h"
#include "target/worker.h"

void ctl_config_show(struct ctl_call *c)
{
	ctl_ok(c, config_copy());
}

void ctl_config_save(struct ctl_call *c)
{
	const char *file = ctl_str(c, "file");
	struct config_error err;

	if (file && file[0] != '/')
		ctl_fail(c, "the file's path must be absolute");
	else if (config_save(file, &err))
		ctl_fail(c, "%s", err.text);
	else
		ctl_ok(c, json_true());
}

/* The document that a call gives, or that its file holds; NULL after refusing
 * the call. */
static json_t *given(struct ctl_call *c)
{
	json_t *doc = json_object_get(c->params, "document");
	const char *file = ctl_str(c, "file");
	struct config_error err;

	if (!doc == !file) {
		ctl_fail(c, "either a file or a document must be given");
		return NULL;
	}
	if (doc)
		return json_deep_copy(doc);
	if (file[0] != '/') {
		ctl_fail(c, "the file's path must be absolute");
		return NULL;
	}
	doc = config_parse_file(file, &err);
	if (!doc)
		ctl_fail(c, "%s", err.text);
	return doc;
}

void ctl_config_load(struct ctl_call *c)
{
	json_t *doc = given(c);

	if (doc && ctl_commit(c, doc))
		ctl_ok(c, json_true());
}

void ctl_config_check(struct ctl_call *c)
{
	struct faults faults = { .n = 0 };
	json_t *doc = given(c);

	if (!doc)
		return;
	config_check(doc, config_file(), &faults);
	json_decref(doc);
	if (faults.n)
		ctl_fail_faults(c, &faults);
	else
		ctl_ok(c, json_true());
}

void ctl_daemon_version(struct ctl_call *c)
{
	ctl_ok(c, json_pack("{s:s, s:s, s:i}", "version", LUND_VERSION,
			    "engine", engine_name(scsi_host.main),
			    "workers", (int)scsi_host.nworkers));
}

void ctl_daemon_ping(struct ctl_call *c)
{
	ctl_ok(c, json_true());
}

static json_t *params_json(const struct ctl_method *m, bool required)
{
	json_t *list = json_array();
	const struct ctl_param *p;

	for (p = m->params; p->name; p++)
		if (p->required == required)
			json_array_append_new(list, json_string(p->name));
	return list;
}

void ctl_daemon_methods(struct ctl_call *c)
{
	json_t *list = json_array();
	const struct ctl_method *m;
	size_t i, n;

	m = ctl_methods(&n);
	for (i = 0; i < n; i++)
		json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:s}",
			"method", m[i].name,
			"required", params_json(&m[i], true),
			"optional", params_json(&m[i], false),
			"help", m[i].help));
	ctl_ok(c, list);
}
