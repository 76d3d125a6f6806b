/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * JSON-RPC 2.0: a line becomes a call whose parameters were checked, an answer
 * becomes a line.
 */

#include "target/ctl_int.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/size.h"

enum rpc_error {		/* JSON-RPC 2.0, 5.1 */
	RPC_PARSE_ERROR		= -32700,
	RPC_INVALID_REQUEST	= -32600,
	RPC_METHOD_NOT_FOUND	= -32601,
	RPC_INVALID_PARAMS	= -32602,
	RPC_REFUSED		= -32000,	/* the daemon says no */
};

static void finish(struct ctl_call *c, json_t *answer)
{
	char *line = NULL;

	if (c->id) {
		json_object_set(answer, "id", c->id);
		line = json_dumps(answer, JSON_COMPACT | JSON_ENCODE_ANY);
	}
	json_decref(answer);
	c->answer(c, line);
	json_decref(c->params);
	json_decref(c->id);
	free(c);
}

void ctl_ok(struct ctl_call *c, json_t *result)
{
	finish(c, json_pack("{s:s, s:o}", "jsonrpc", "2.0", "result",
			    result ? result : json_null()));
}

static void fail(struct ctl_call *c, int code, const char *message)
{
	json_t *text = json_string(message);

	/* what a peer sent may stand in it, cut in the middle of a character */
	if (!text)
		text = json_string("refused");
	finish(c, json_pack("{s:s, s:{s:i, s:o}}", "jsonrpc", "2.0", "error",
			    "code", code, "message", text));
}

static void __attribute__((format(printf, 3, 4)))
failf(struct ctl_call *c, int code, const char *fmt, ...)
{
	char text[FAULT_TEXT];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fail(c, code, text);
}

void ctl_fail(struct ctl_call *c, const char *fmt, ...)
{
	char text[FAULT_TEXT];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fail(c, RPC_REFUSED, text);
}

void ctl_fail_faults(struct ctl_call *c, struct faults *faults)
{
	json_t *list = json_array(), *message;
	char *text = NULL;
	size_t room = 0;
	FILE *f = open_memstream(&text, &room);
	unsigned i;

	for (i = 0; i < faults->n; i++) {
		json_array_append_new(list, json_string(faults->text[i]));
		if (f)
			fprintf(f, "%s%s", i ? "\n" : "", faults->text[i]);
	}
	if (f)
		fclose(f);
	message = text ? json_string(text) : NULL;
	free(text);
	faults_free(faults);
	finish(c, json_pack("{s:s, s:{s:i, s:o, s:o}}", "jsonrpc", "2.0",
			    "error", "code", RPC_REFUSED, "message",
			    message ? message : json_string("refused"),
			    "data", list));
}

/* ---- parameters --------------------------------------------------------- */

static bool parse_int(const json_t *v, int64_t *ret)
{
	const char *s = json_string_value(v);
	char *end;

	if (json_is_integer(v)) {
		*ret = json_integer_value(v);
		return true;
	}
	if (!s || *s < '0' || *s > '9')
		return false;
	*ret = strtoll(s, &end, 10);
	return !*end;
}

static bool parse_size(const json_t *v, uint64_t *ret)
{
	if (json_is_string(v))
		return !size_parse(json_string_value(v), ret);
	if (!json_is_integer(v) || json_integer_value(v) < 0)
		return false;
	*ret = (uint64_t)json_integer_value(v);
	return true;
}

/* NULL when v is of the type, else what it must be. */
static const char *check_type(enum ctl_type type, const json_t *v)
{
	uint64_t size;
	int64_t n;

	switch (type) {
	case CTL_STRING:
		return json_is_string(v) ? NULL : "a string";
	case CTL_BOOL:
		return json_is_boolean(v) ? NULL : "true or false";
	case CTL_INT:
		return parse_int(v, &n) ? NULL : "a number";
	case CTL_SIZE:
		return parse_size(v, &size) ? NULL :
		       "a size: bytes, or digits with K, M, G or T";
	case CTL_OBJECT:
		return json_is_object(v) ? NULL : "an object";
	}
	return "";
}

/* Refuses the call and returns false, or true. */
static bool check_params(struct ctl_call *c)
{
	const struct ctl_param *p;
	const char *name, *must;
	json_t *v;

	json_object_foreach(c->params, name, v) {
		for (p = c->method->params; p->name; p++)
			if (!strcmp(p->name, name))
				break;
		if (!p->name) {
			failf(c, RPC_INVALID_PARAMS, "%s has no parameter "
			      "\"%.64s\"", c->method->name, name);
			return false;
		}
		must = check_type(p->type, v);
		if (must) {
			failf(c, RPC_INVALID_PARAMS, "%s must be %s", name,
			      must);
			return false;
		}
	}
	for (p = c->method->params; p->name; p++) {
		if (!p->required || json_object_get(c->params, p->name))
			continue;
		failf(c, RPC_INVALID_PARAMS, "%s needs \"%s\"",
		      c->method->name, p->name);
		return false;
	}
	return true;
}

bool ctl_has(struct ctl_call *c, const char *name)
{
	return json_object_get(c->params, name);
}

const char *ctl_str(struct ctl_call *c, const char *name)
{
	return json_string_value(json_object_get(c->params, name));
}

bool ctl_bool(struct ctl_call *c, const char *name)
{
	return json_is_true(json_object_get(c->params, name));
}

int64_t ctl_int(struct ctl_call *c, const char *name, int64_t fallback)
{
	int64_t n = fallback;

	parse_int(json_object_get(c->params, name), &n);
	return n;
}

uint64_t ctl_size(struct ctl_call *c, const char *name, uint64_t fallback)
{
	uint64_t n = fallback;

	parse_size(json_object_get(c->params, name), &n);
	return n;
}

/* ---- requests ----------------------------------------------------------- */

/* NULL when the request has the form that JSON-RPC 2.0 gives it. */
static const char *check_form(const json_t *request)
{
	const json_t *id = json_object_get(request, "id");
	const json_t *params = json_object_get(request, "params");
	const char *version;

	if (json_is_array(request))
		return "one request a line: batches are not served";
	if (!json_is_object(request))
		return "a request is an object";
	version = json_string_value(json_object_get(request, "jsonrpc"));
	if (!version || strcmp(version, "2.0"))
		return "\"jsonrpc\" must be \"2.0\"";
	if (!json_is_string(json_object_get(request, "method")))
		return "\"method\" must be a string";
	if (id && !json_is_string(id) && !json_is_number(id) &&
	    !json_is_null(id))
		return "\"id\" must be a string, a number or null";
	if (params && !json_is_object(params))
		return "\"params\" must be an object";
	return NULL;
}

static void run(struct ctl_call *c, const json_t *request)
{
	const char *wrong = check_form(request), *name;
	json_t *params;

	if (wrong) {
		/* the id is not to be trusted: answered with null */
		if (!c->id)
			c->id = json_null();
		fail(c, RPC_INVALID_REQUEST, wrong);
		return;
	}
	name = json_string_value(json_object_get(request, "method"));
	params = json_object_get(request, "params");
	c->params = params ? json_incref(params) : json_object();
	c->method = ctl_find(name);
	if (!c->method) {
		failf(c, RPC_METHOD_NOT_FOUND, "no method \"%.64s\"", name);
		return;
	}
	if (!check_params(c))
		return;
	log_debug("control: %s", c->method->name);
	c->method->handler(c);
}

void ctl_too_long(struct ctl_call *c)
{
	c->id = json_null();
	fail(c, RPC_INVALID_REQUEST, "the line is too long");
}

void ctl_line(struct ctl_call *c, const char *line, size_t len)
{
	json_error_t where;
	json_t *request = json_loadb(line, len, JSON_REJECT_DUPLICATES |
				     JSON_DECODE_ANY, &where);
	json_t *id;

	if (!request) {
		c->id = json_null();
		failf(c, RPC_PARSE_ERROR, "not JSON: %s", where.text);
		return;
	}
	id = json_object_get(request, "id");
	c->id = json_is_object(id) || json_is_array(id) ? json_null() :
		json_incref(id);
	run(c, request);
	json_decref(request);
}
