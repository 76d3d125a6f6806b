/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Sessions and refused logins. */

#include "target/ctl_int.h"

#include <stdio.h>
#include <string.h>

#include "target/login.h"
#include "target/session.h"

static const char *isid_text(const uint8_t *isid, char buf[13])
{
	unsigned i;

	for (i = 0; i < 6; i++)
		snprintf(buf + 2 * i, 3, "%02x", isid[i]);
	return buf;
}

static json_t *connection_json(const struct session_info *s)
{
	char local[ADDR_TEXT], remote[ADDR_TEXT];

	return json_pack("{s:i, s:s, s:s, s:I, s:I, s:I}", "cid", s->cid,
		"local", addr_text((const void *)&s->local, local),
		"remote", addr_text((const void *)&s->remote, remote),
		"read_bytes", (json_int_t)s->read_bytes,
		"write_bytes", (json_int_t)s->write_bytes,
		"commands", (json_int_t)s->commands);
}

static json_t *session_json(const struct session_info *s)
{
	char isid[13];

	return json_pack("{s:I, s:o, s:o, s:b, s:s, s:i, s:i, s:i, s:I, s:[o]}",
		"id", (json_int_t)s->id,
		"target", text_or_null(s->discovery ? NULL : s->target),
		"initiator", peer_text(s->initiator),
		"discovery", s->discovery,
		"isid", isid_text(s->isid, isid), "tsih", s->tsih,
		"group", s->group, "worker", (int)s->worker,
		"since", (json_int_t)s->since,
		"connections", connection_json(s));
}

static void add_session(void *arg, const struct session_info *s)
{
	json_array_append_new(arg, session_json(s));
}

json_t *sessions_json(const char *iqn)
{
	json_t *list = json_array();

	session_each(iqn, add_session, list);
	return list;
}

void ctl_session_list(struct ctl_call *c)
{
	if (ctl_has(c, "target") && !ctl_target(c))
		return;
	ctl_ok(c, sessions_json(ctl_str(c, "target")));
}

static const char *yes_no(uint32_t v)
{
	return v ? "Yes" : "No";
}

static const char *digest(uint32_t v)
{
	return v ? "CRC32C" : "None";
}

/* Spelled as in RFC 7143 13. */
static json_t *keys_json(const struct params *p)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:s, "
			 "s:s, s:I}",
		"HeaderDigest", digest(p->HeaderDigest),
		"DataDigest", digest(p->DataDigest),
		"InitialR2T", yes_no(p->InitialR2T),
		"ImmediateData", yes_no(p->ImmediateData),
		"MaxRecvDataSegmentLength",
		(json_int_t)p->MaxRecvDataSegmentLength,
		"TargetMaxRecvDataSegmentLength", (json_int_t)p->own_recv_dsl,
		"MaxBurstLength", (json_int_t)p->MaxBurstLength,
		"FirstBurstLength", (json_int_t)p->FirstBurstLength,
		"MaxOutstandingR2T", (json_int_t)p->MaxOutstandingR2T,
		"DataPDUInOrder", yes_no(p->DataPDUInOrder),
		"DataSequenceInOrder", yes_no(p->DataSequenceInOrder),
		"ErrorRecoveryLevel", (json_int_t)p->ErrorRecoveryLevel);
}

struct one {
	uint64_t id;
	json_t *found;
};

static void find_session(void *arg, const struct session_info *s)
{
	struct one *one = arg;

	if (s->id != one->id)
		return;
	one->found = session_json(s);
	json_object_set_new(one->found, "keys", keys_json(&s->params));
}

static void no_session(struct ctl_call *c)
{
	ctl_fail(c, "no session %lld", (long long)ctl_int(c, "id", 0));
}

void ctl_session_show(struct ctl_call *c)
{
	struct one one = { .id = (uint64_t)ctl_int(c, "id", 0) };

	session_each(NULL, find_session, &one);
	if (one.found)
		ctl_ok(c, one.found);
	else
		no_session(c);
}

void ctl_session_end(struct ctl_call *c)
{
	if (session_end_id((uint64_t)ctl_int(c, "id", 0),
			   "ended by the administrator"))
		no_session(c);
	else
		ctl_ok(c, json_true());
}

void ctl_session_move(struct ctl_call *c)
{
	int64_t worker = ctl_int(c, "worker", 0);

	if (worker < 0 || worker >= scsi_host.nworkers)
		ctl_fail(c, "workers are 0 to %u", scsi_host.nworkers - 1);
	else if (session_move_id((uint64_t)ctl_int(c, "id", 0),
				 (unsigned)worker))
		no_session(c);
	else
		ctl_ok(c, json_true());
}

static void add_refusal(void *arg, const struct login_refusal *r)
{
	char status[8];

	snprintf(status, sizeof(status), "%04x", r->status);
	json_array_append_new(arg, json_pack("{s:I, s:o, s:s, s:o, s:s, s:s, "
					     "s:s, s:i}",
		"time", (json_int_t)r->time,
		"initiator", r->initiator[0] ? peer_text(r->initiator) :
					       json_null(),
		"address", r->address,
		"target", r->target[0] ? peer_text(r->target) : json_null(),
		"status", status, "reason", r->reason, "remedy", r->remedy,
		"count", (int)r->count));
}

void ctl_session_refused(struct ctl_call *c)
{
	json_t *list = json_array();

	login_refusals(add_refusal, list);
	ctl_ok(c, list);
}
