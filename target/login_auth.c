/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The security stage of login (RFC 7143 6.3.2 and 12.1): AuthMethod, then the
 * CHAP exchange when the target, or discovery, has users.
 */

#include <errno.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <string.h>

#include "lib/util.h"
#include "target/login_int.h"

static const struct {
	const char	*key;
	size_t		 field;		/* in struct auth_keys */
} auth_rows[] = {
	{ "AuthMethod", offsetof(struct auth_keys, method) },
	{ "CHAP_A", offsetof(struct auth_keys, algorithms) },
	{ "CHAP_N", offsetof(struct auth_keys, name) },
	{ "CHAP_R", offsetof(struct auth_keys, response) },
	{ "CHAP_I", offsetof(struct auth_keys, id) },
	{ "CHAP_C", offsetof(struct auth_keys, challenge) },
};

bool auth_take(struct auth_keys *k, const struct text_pair *pair,
	       enum refusal *ret_why)
{
	const char **field;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(auth_rows); i++)
		if (!strcmp(pair->key, auth_rows[i].key))
			break;
	if (i == ARRAY_SIZE(auth_rows))
		return false;
	field = (const char **)(void *)((char *)k + auth_rows[i].field);
	*ret_why = *field ? REFUSE_KEY : REFUSE_NOT;
	*field = pair->value;
	return true;
}

/* The users that l may be; they hold secrets: wipe them. */
static int users_of(const struct login *l, struct chap_user *users)
{
	return tgt_chap_users(l->discovery ? NULL : l->target, l->initiator,
			      users);
}

enum refusal auth_need(struct login *l)
{
	struct chap_user users[CHAP_USERS_MAX];
	int n = users_of(l, users);

	OPENSSL_cleanse(users, sizeof(users));
	if (n < 0)
		return REFUSE_NO_USER;
	l->auth_needed = n > 0;
	if (n > 0 && l->stage != STAGE_SECURITY)
		return REFUSE_NEEDS_CHAP;
	return REFUSE_NOT;
}

static enum refusal take_method(struct login *l, const char *list)
{
	const char *method = l->auth_needed ? "CHAP" : "None";

	if (l->auth != AUTH_START)
		return REFUSE_KEY;
	if (!text_in_list(list, method))
		return l->auth_needed ? REFUSE_NEEDS_CHAP : REFUSE_NO_SECRET;
	text_put(&l->reply, "AuthMethod", method);
	l->auth = l->auth_needed ? AUTH_CHAP : AUTH_DONE;
	return REFUSE_NOT;
}

static enum refusal challenge(struct login *l, const char *list)
{
	if (l->auth != AUTH_CHAP)
		return REFUSE_AUTH_ORDER;
	switch (chap_start(&l->chap, list)) {
	case 0:
		chap_offer(&l->chap, &l->reply);
		l->auth = AUTH_CHALLENGED;
		return REFUSE_NOT;
	case -ENOENT:
		return REFUSE_ALGORITHM;
	default:
		return REFUSE_RESOURCES;
	}
}

/* The initiator has proven itself; it may want the same of us. */
static enum refusal prove(struct login *l, const struct chap_user *user,
			  const struct auth_keys *k)
{
	if (!k->id && !k->challenge)
		return REFUSE_NOT;
	if (!k->id || !k->challenge)
		return REFUSE_AUTH_ORDER;
	if (!user->mutual_len)
		return REFUSE_MUTUAL;
	switch (chap_answer(&l->chap, user, k->id, k->challenge, &l->reply)) {
	case 0:
		return REFUSE_NOT;
	case -EINVAL:
		return REFUSE_KEY;
	case -EPERM:
		return REFUSE_REFLECTION;
	default:
		return REFUSE_RESOURCES;
	}
}

static enum refusal verify(struct login *l, const struct auth_keys *k)
{
	struct chap_user users[CHAP_USERS_MAX];
	const struct chap_user *user = NULL;
	enum refusal why;
	int n;

	if (l->auth != AUTH_CHALLENGED || !k->name || !k->response)
		return REFUSE_AUTH_ORDER;
	n = users_of(l, users);
	if (n > 0)
		user = chap_verify(&l->chap, users, n, k->name, k->response);
	why = user ? prove(l, user, k) : REFUSE_RESPONSE;
	if (!why) {
		snprintf(l->chap_user, sizeof(l->chap_user), "%s", user->name);
		l->auth = AUTH_DONE;
	}
	OPENSSL_cleanse(users, sizeof(users));
	OPENSSL_cleanse(&l->chap, sizeof(l->chap));
	return why;
}

enum refusal auth_step(struct login *l, const struct auth_keys *k)
{
	enum refusal why = REFUSE_NOT;

	if (k->method)
		why = take_method(l, k->method);
	if (!why && k->algorithms)
		why = challenge(l, k->algorithms);
	if (!why && (k->name || k->response || k->id || k->challenge))
		why = verify(l, k);
	return why;
}
