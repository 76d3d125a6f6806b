/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A line of the control socket, up to the handler: every line is answered once,
 * a notification with nothing.  One method that takes every type of parameter
 * stands for all of them.
 */

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "target/control_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void handler(struct ctl_call *c)
{
	ctl_str(c, "text");
	ctl_int(c, "number", 0);
	ctl_size(c, "size", 0);
	ctl_bool(c, "flag");
	if (ctl_has(c, "flag"))
		ctl_ok(c, json_incref(c->params));
	else
		ctl_fail(c, "%s", c->method->name);
}

static const struct ctl_method method = {
	"a.b",
	{ { "text", CTL_STRING, false }, { "number", CTL_INT, false },
	  { "size", CTL_SIZE, false }, { "flag", CTL_BOOL, false },
	  { "object", CTL_OBJECT, false } },
	handler, "",
};

const struct ctl_method *ctl_find(const char *name)
{
	return strcmp(name, method.name) ? NULL : &method;
}

static void answer(struct ctl_call *c, char *line)
{
	unsigned *answers = c->client;

	++*answers;
	assert(!line || !strchr(line, '\n'));
	free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctl_call *c = calloc(1, sizeof(*c));
	unsigned answers = 0;

	if (!c)
		return 0;
	c->answer = answer;
	c->client = &answers;
	ctl_line(c, (const char *)data, size);
	assert(answers == 1);
	return 0;
}
