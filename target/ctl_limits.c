/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "target/ctl_int.h"

#include "lib/limits.h"

/* What the daemon keeps to, whoever asks for more: lib/limits.h as a table. */

static const struct {
	const char	*name;
	uint64_t	 value;
	const char	*unit, *reason;
} limits[] = {
	{ "sessions", MAX_SESSIONS, "", "1,000 hosts by four paths" },
	{ "connections-per-address", MAX_CONNS_PER_ADDRESS, "",
	  "one address cannot take all sessions" },
	{ "half-open", MAX_HALF_OPEN, "",
	  "connections that have not logged in" },
	{ "half-open-per-address", MAX_HALF_OPEN_PER_ADDRESS, "",
	  "one address cannot keep others from logging in" },
	{ "login-time", LOGIN_SECONDS, "s", "a host takes less than one" },
	{ "login-requests", LOGIN_PDUS_MAX, "",
	  "in one stage; a host takes 6" },
	{ "login-text", LOGIN_TEXT_MAX, "bytes", "a host sends about 4 KiB" },
	{ "login-delay", LOGIN_DELAY_MAX_MS, "ms",
	  "the longest that a wrong secret waits for its answer" },
	{ "text-answer", TEXT_OUT_MAX, "bytes",
	  "10,000 targets by four portals" },
	{ "commands-per-session", CMDSN_WINDOW, "",
	  "twice what hosts keep in flight" },
	{ "data-segment", MAX_RECV_DSL, "bytes", "as initiators offer it" },
	{ "burst", MAX_BURST, "bytes", "one piece of a READ or WRITE" },
	{ "first-burst", FIRST_BURST, "bytes", "as initiators offer it" },
	{ "buffers-per-worker", BUF_TOTAL_DEFAULT, "bytes",
	  "all data under way; commands wait for more" },
	{ "awaited-per-session", AWAITED_MAX, "bytes",
	  "asked for by R2T at a time" },
	{ "data-out-time", DATA_OUT_MS, "ms",
	  "then who does not send what was asked for is given up" },
	{ "nop-silence", NOP_SILENCE_MS, "ms",
	  "then a silent initiator is asked whether it lives" },
	{ "nop-answer", NOP_ANSWER_MS, "ms", "then it is given up" },
	{ "luns-per-target", MAX_LUNS, "", "ESXi takes 1,024" },
};

void ctl_daemon_limits(struct ctl_call *c)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(limits); i++)
		json_array_append_new(list, json_pack("{s:s, s:I, s:s, s:s}",
			"limit", limits[i].name,
			"value", (json_int_t)limits[i].value,
			"unit", limits[i].unit, "reason", limits[i].reason));
	ctl_ok(c, list);
}
