/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The keys of login: who wants what (InitiatorName, TargetName, SessionType),
 * checked once they are known, then those of the stage.  Operational keys are
 * keys.c's, authentication is login_auth.c's.
 */

#include <errno.h>
#include <string.h>

#include "lib/util.h"
#include "target/login_int.h"

enum name { NAME_INITIATOR, NAME_TARGET, NAME_SESSION_TYPE, NAMES };

static const char *const names[NAMES] = {
	"InitiatorName", "TargetName", "SessionType",
};

static enum name name_of(const char *key)
{
	unsigned i;

	for (i = 0; i < NAMES; i++)
		if (!strcmp(key, names[i]))
			break;
	return (enum name)i;
}

/* RFC 7143 4.2.7, as far as a target need know: 1 to 223 bytes, nothing that
 * would confuse a terminal. */
static enum refusal take_name(const struct login *l, char *field,
			      const char *value)
{
	size_t len = strlen(value), i;

	if (!len || len >= ISCSI_NAME_MAX)
		return REFUSE_NAME;
	for (i = 0; i < len; i++)
		if ((unsigned char)value[i] <= ' ' || value[i] == 0x7f)
			return REFUSE_NAME;
	if (l->named && strcmp(field, value))
		return REFUSE_KEY;
	memcpy(field, value, len + 1);
	return REFUSE_NOT;
}

static enum refusal take_session_type(struct login *l, const char *value)
{
	bool discovery = !strcmp(value, "Discovery");

	if (!discovery && strcmp(value, "Normal"))
		return REFUSE_SESSION_TYPE;
	if (l->named && l->discovery != discovery)
		return REFUSE_KEY;
	l->discovery = discovery;
	return REFUSE_NOT;
}

/* Some initiators say their names again in the operational stage; the same
 * names are taken. */
static enum refusal take_names(struct login *l, const struct text_pair *pairs,
			       unsigned n)
{
	enum refusal why = REFUSE_NOT;
	unsigned i;

	for (i = 0; i < n && !why; i++) {
		enum name name = name_of(pairs[i].key);

		if (name == NAMES)
			continue;
		if (l->said & 1u << name)
			return REFUSE_KEY;
		l->said |= 1u << name;
		if (name == NAME_INITIATOR)
			why = take_name(l, l->initiator, pairs[i].value);
		else if (name == NAME_TARGET)
			why = take_name(l, l->target, pairs[i].value);
		else
			why = take_session_type(l, pairs[i].value);
	}
	return why;
}

static enum refusal check_target(struct conn *c, struct login *l)
{
	struct tgt_peer peer = {
		.initiator	= l->initiator,
		.remote		= (const struct sockaddr *)&c->remote,
		.local		= (const struct sockaddr *)&c->local,
		.group		= c->group,
	};

	switch (tgt_check(l->target, &peer)) {
	case TGT_OK:
		return REFUSE_NOT;
	case TGT_NOT_FOUND:
		return REFUSE_NOT_FOUND;
	case TGT_NOT_ALLOWED:
		return REFUSE_FORBIDDEN;
	case TGT_UNAVAILABLE:
		return REFUSE_UNAVAILABLE;
	}
	return REFUSE_TARGET_ERROR;
}

/* What a target tells of itself, once it is named. */
static void put_target(const struct conn *c, struct login *l)
{
	char alias[ALIAS_TEXT];

	if (l->discovery)
		return;
	text_put_number(&l->reply, "TargetPortalGroupTag", c->group);
	if (tgt_alias(l->target, alias))
		text_put(&l->reply, "TargetAlias", alias);
}

/* The first keys of a login must say who wants what. */
static enum refusal check_names(struct conn *c, struct login *l)
{
	enum refusal why = REFUSE_NOT;

	if (!l->initiator[0])
		return REFUSE_NO_INITIATOR;
	if (l->discovery)
		l->target[0] = '\0';
	else if (!l->target[0])
		return REFUSE_NO_TARGET;
	if (!l->discovery)
		why = check_target(c, l);
	if (!why)
		why = auth_need(l);
	if (why)
		return why;
	l->named = true;
	put_target(c, l);
	return REFUSE_NOT;
}

static enum refusal take_key(struct conn *c, struct login *l,
			     const struct text_pair *pair)
{
	enum key_scope scope = l->stage == STAGE_SECURITY ? KEYS_SECURITY
							  : KEYS_LOGIN;
	int r = keys_negotiate(&c->params, scope, l->discovery, &l->seen,
			       pair->key, pair->value, &l->reply);

	if (r == -ENOENT)
		text_put(&l->reply, pair->key, "NotUnderstood");
	return r == -EPROTO ? REFUSE_KEY : REFUSE_NOT;
}

enum refusal login_keys(struct conn *c, const struct text_pair *pairs,
			unsigned n)
{
	struct login *l = c->login;
	struct auth_keys auth = { .method = NULL };
	enum refusal why = take_names(l, pairs, n);
	unsigned i;

	if (!why && !l->named)
		why = check_names(c, l);
	for (i = 0; i < n && !why; i++) {
		if (name_of(pairs[i].key) != NAMES)
			continue;
		if (l->stage == STAGE_SECURITY &&
		    auth_take(&auth, &pairs[i], &why))
			continue;
		why = take_key(c, l, &pairs[i]);
	}
	if (!why && l->stage == STAGE_SECURITY)
		why = auth_step(l, &auth);
	if (!why && l->stage == STAGE_OPERATIONAL)
		keys_declare(&c->params, &l->seen, &l->reply);
	if (!why && l->reply.overflow)
		why = REFUSE_ANSWER_SIZE;
	return why;
}
