/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Text keys (RFC 7143 6.1, 6.2 and 13).  What we do with each key of section 13
 * is one row of the table below; keys_negotiate() walks it.  Names, SessionType
 * and authentication are login_keys.c's, SendTargets is text.c's.
 */

#include "target/keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/limits.h"
#include "lib/util.h"
#include "target/iscsi_proto.h"

enum rule {
	RULE_OR, RULE_AND,	/* Yes or No */
	RULE_MIN, RULE_MAX,	/* numbers */
	RULE_DIGEST,		/* a list: the first that we can */
	RULE_REPORTING,
	RULE_DECLARED,		/* a number that needs no answer */
	RULE_IGNORED,		/* text that needs no answer */
	RULE_REFUSED,		/* answered Reject, always */
	RULE_OURS,		/* a target's: an initiator only answers it */
	RULE_ELSEWHERE,		/* not in this phase */
};

enum key_flag {
	ANY_STAGE	= 1 << 0,	/* in the security stage too */
	ALWAYS		= 1 << 1,	/* in full feature phase too */
	NORMAL_ONLY	= 1 << 2,	/* irrelevant in a discovery session */
};

struct key_row {
	const char	*name;
	enum rule	 rule;
	unsigned	 flags;
	size_t		 field;		/* in struct params, or NO_FIELD */
	uint32_t	 initial, min, max, ours;
};

#define NO_FIELD	SIZE_MAX
#define K(key, rule, flags, ...) \
	{ #key, rule, flags, offsetof(struct params, key), __VA_ARGS__ }
#define T(key, rule, flags) \
	{ key, rule, flags, NO_FIELD, 0, 0, 0, 0 }
#define DSL_MAX		((1u << 24) - 1)

static const struct key_row rows[] = {
	/* name, rule, flags, default, min, max, ours	RFC 7143 13.x */
	K(HeaderDigest, RULE_DIGEST, 0, 0, 0, 1, 1),			/* 1 */
	K(DataDigest, RULE_DIGEST, 0, 0, 0, 1, 1),
	K(MaxConnections, RULE_MIN, NORMAL_ONLY, 1, 1, 65535, 1),	/* 2 */
	K(InitialR2T, RULE_OR, NORMAL_ONLY, 1, 0, 1, 0),		/* 10 */
	K(ImmediateData, RULE_AND, NORMAL_ONLY, 1, 0, 1, 1),		/* 11 */
	K(MaxRecvDataSegmentLength, RULE_DECLARED, ALWAYS,		/* 12 */
	  DSL_DEFAULT, 512, DSL_MAX, 0),
	K(MaxBurstLength, RULE_MIN, NORMAL_ONLY,			/* 13 */
	  262144, 512, DSL_MAX, MAX_BURST),
	K(FirstBurstLength, RULE_MIN, NORMAL_ONLY,			/* 14 */
	  65536, 512, DSL_MAX, FIRST_BURST),
	K(DefaultTime2Wait, RULE_MAX, 0, 2, 0, 3600, 2),		/* 15 */
	/* ErrorRecoveryLevel 0 keeps nothing of a lost connection */
	K(DefaultTime2Retain, RULE_MIN, 0, 20, 0, 3600, 0),		/* 16 */
	K(MaxOutstandingR2T, RULE_MIN, NORMAL_ONLY,			/* 17 */
	  1, 1, 65535, MAX_OUTSTANDING_R2T),
	K(DataPDUInOrder, RULE_OR, NORMAL_ONLY, 1, 0, 1, 1),		/* 18 */
	K(DataSequenceInOrder, RULE_OR, NORMAL_ONLY, 1, 0, 1, 1),	/* 19 */
	K(ErrorRecoveryLevel, RULE_MIN, 0, 0, 0, 2, 0),			/* 20 */
	T("TaskReporting", RULE_REPORTING, NORMAL_ONLY),		/* 23 */
	{ "iSCSIProtocolLevel", RULE_MIN, NORMAL_ONLY, NO_FIELD,	/* 24 */
	  1, 0, 31, 2 },
	K(IFMarker, RULE_AND, 0, 0, 0, 1, 0),				/* 25 */
	K(OFMarker, RULE_AND, 0, 0, 0, 1, 0),
	T("IFMarkInt", RULE_REFUSED, 0),
	T("OFMarkInt", RULE_REFUSED, 0),
	T("InitiatorAlias", RULE_IGNORED, ANY_STAGE | ALWAYS),		/* 7 */
	T("X#NodeArchitecture", RULE_IGNORED, 0),			/* 26 */
	T("TargetAlias", RULE_OURS, ANY_STAGE | ALWAYS),		/* 6 */
	T("TargetAddress", RULE_OURS, ANY_STAGE | ALWAYS),		/* 8 */
	T("TargetPortalGroupTag", RULE_OURS, ANY_STAGE),		/* 9 */
	T("SendTargets", RULE_ELSEWHERE, 0),				/* 3 */
	T("InitiatorName", RULE_ELSEWHERE, 0),				/* 5 */
	T("TargetName", RULE_ELSEWHERE, 0),				/* 4 */
	T("SessionType", RULE_ELSEWHERE, 0),				/* 21 */
	T("AuthMethod", RULE_ELSEWHERE, 0),			/* 12.1 */
	T("CHAP_A", RULE_ELSEWHERE, 0),
	T("CHAP_I", RULE_ELSEWHERE, 0),
	T("CHAP_C", RULE_ELSEWHERE, 0),
	T("CHAP_N", RULE_ELSEWHERE, 0),
	T("CHAP_R", RULE_ELSEWHERE, 0),
};

/* In seen, beside one bit a row: our own declarations are made. */
#define SEEN_DECLARED	((uint64_t)1 << 63)

_Static_assert(ARRAY_SIZE(rows) < 63, "one bit of seen a row");

static uint32_t *field_of(struct params *p, const struct key_row *row)
{
	return (uint32_t *)(void *)((char *)p + row->field);
}

void keys_init(struct params *p)
{
	size_t i;

	*p = (struct params){ .own_recv_dsl = DSL_DEFAULT };
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].field != NO_FIELD)
			*field_of(p, &rows[i]) = rows[i].initial;
}

void text_put(struct text *t, const char *key, const char *value)
{
	size_t klen = strlen(key), vlen = strlen(value);

	if (klen + vlen + 2 > t->room - t->len) {
		t->overflow = true;
		return;
	}
	memcpy(t->p + t->len, key, klen);
	t->p[t->len + klen] = '=';
	memcpy(t->p + t->len + klen + 1, value, vlen + 1);
	t->len += klen + vlen + 2;
}

void text_put_number(struct text *t, const char *key, uint32_t value)
{
	char buf[16];

	snprintf(buf, sizeof(buf), "%u", value);
	text_put(t, key, buf);
}

bool text_reserve(struct text *t, size_t more, size_t max)
{
	size_t room = t->room ? t->room : 1024;
	char *p;

	if (more > max - t->len)
		return false;
	while (room - t->len < more)
		room *= 2;
	if (room == t->room)
		return true;
	p = realloc(t->p, room);
	if (!p)
		return false;
	t->p = p;
	t->room = room;
	return true;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

bool text_number(const char *s, size_t len, uint32_t *ret)
{
	bool hex = len > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
	int base = hex ? 16 : 10;
	uint64_t x = 0;
	size_t i;

	for (i = hex ? 2 : 0; i < len; i++) {
		int d = digit_of(s[i]);

		if (d >= base)
			return false;
		x = x * (unsigned)base + (unsigned)d;
		if (x > UINT32_MAX)
			return false;
	}
	if (!len)
		return false;
	*ret = (uint32_t)x;
	return true;
}

bool text_in_list(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (;; list++) {
		size_t n = strcspn(list, ",");

		if (n == len && !memcmp(list, word, n))
			return true;
		list += n;
		if (!*list)
			return false;
	}
}

/* RFC 7143 6.1: standard-label.  # is in X#NodeArchitecture. */
static bool label_ok(const char *key, size_t len)
{
	size_t i;

	if (!len || len > 63 || key[0] < 'A' || key[0] > 'Z')
		return !strcmp(key, "iSCSIProtocolLevel");
	for (i = 0; i < len; i++) {
		char c = key[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		      (c >= '0' && c <= '9') || (c && strchr(".-+@_#", c))))
			return false;
	}
	return true;
}

bool text_next(struct text_iter *it, char **ret_key, char **ret_value,
	       bool *ret_bad)
{
	char *key, *eq, *nul;

	*ret_bad = false;
	while (it->p < it->end && !*it->p)
		it->p++;	/* padding that was counted as data */
	if (it->p == it->end)
		return false;

	*ret_bad = true;
	key = it->p;
	nul = memchr(key, 0, (size_t)(it->end - key));
	if (!nul)
		return false;
	eq = memchr(key, '=', (size_t)(nul - key));
	if (!eq || nul - eq - 1 > TEXT_LIST_MAX)
		return false;
	*eq = '\0';
	if (!label_ok(key, (size_t)(eq - key)))
		return false;
	it->p = nul + 1;
	*ret_key = key;
	*ret_value = eq + 1;
	*ret_bad = false;
	return true;
}

/* May only answer, never propose (RFC 7143 6.2). */
static bool reserved(const char *value)
{
	return !strcmp(value, "Reject") || !strcmp(value, "Irrelevant") ||
	       !strcmp(value, "NotUnderstood");
}

static void answer_bool(struct params *p, const struct key_row *row,
			const char *value, struct text *reply)
{
	bool yes = !strcmp(value, "Yes");

	if (!yes && strcmp(value, "No")) {
		text_put(reply, row->name, "Reject");
		return;
	}
	yes = row->rule == RULE_OR ? yes || row->ours : yes && row->ours;
	*field_of(p, row) = yes;
	text_put(reply, row->name, yes ? "Yes" : "No");
}

static void answer_number(struct params *p, const struct key_row *row,
			  const char *value, struct text *reply)
{
	uint32_t ours = row->ours, x;

	if (!text_number(value, strlen(value), &x) || x < row->min ||
	    x > row->max) {
		text_put(reply, row->name, "Reject");
		return;
	}
	if (row->field == offsetof(struct params, FirstBurstLength))
		ours = MIN(ours, p->MaxBurstLength);
	x = row->rule == RULE_MIN ? MIN(x, ours) : MAX(x, ours);
	if (row->field != NO_FIELD)
		*field_of(p, row) = x;
	text_put_number(reply, row->name, x);
}

static void answer_digest(struct params *p, const struct key_row *row,
			  const char *value, struct text *reply)
{
	for (;; value++) {
		size_t n = strcspn(value, ",");

		if (n == 6 && !memcmp(value, "CRC32C", n)) {
			*field_of(p, row) = 1;
			text_put(reply, row->name, "CRC32C");
			return;
		}
		if (n == 4 && !memcmp(value, "None", n)) {
			*field_of(p, row) = 0;
			text_put(reply, row->name, "None");
			return;
		}
		value += n;
		if (!*value)
			break;
	}
	text_put(reply, row->name, "Reject");
}

static int take_declared(struct params *p, const struct key_row *row,
			 const char *value)
{
	uint32_t x;

	if (!text_number(value, strlen(value), &x) || x < row->min ||
	    x > row->max)
		return -EPROTO;
	*field_of(p, row) = x;
	return 0;
}

static int answer(struct params *p, const struct key_row *row,
		  const char *value, struct text *reply)
{
	switch (row->rule) {
	case RULE_OR:
	case RULE_AND:
		answer_bool(p, row, value, reply);
		return 0;
	case RULE_MIN:
	case RULE_MAX:
		answer_number(p, row, value, reply);
		return 0;
	case RULE_DIGEST:
		answer_digest(p, row, value, reply);
		return 0;
	case RULE_REPORTING:
		text_put(reply, row->name,
			 text_in_list(value, "RFC3720") ? "RFC3720" : "Reject");
		return 0;
	case RULE_DECLARED:
		return take_declared(p, row, value);
	case RULE_IGNORED:
	case RULE_OURS:
		return 0;
	case RULE_REFUSED:
		text_put(reply, row->name, "Reject");
		return 0;
	case RULE_ELSEWHERE:
		return -EPROTO;
	}
	return -EPROTO;
}

static const struct key_row *row_of(const char *key)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].name, key))
			return &rows[i];
	return NULL;
}

static bool is_list(const struct key_row *row)
{
	return row->rule == RULE_DIGEST || row->rule == RULE_REPORTING;
}

int keys_negotiate(struct params *p, enum key_scope scope, bool discovery,
		   uint64_t *seen, const char *key, const char *value,
		   struct text *reply)
{
	const struct key_row *row = row_of(key);
	uint64_t bit;

	if (!row)
		return -ENOENT;
	bit = (uint64_t)1 << (row - rows);
	if (*seen & bit)
		return -EPROTO;
	*seen |= bit;
	if (!is_list(row) && strlen(value) > TEXT_VALUE_MAX)
		return -EPROTO;
	if (reserved(value) != (row->rule == RULE_OURS))
		return -EPROTO;
	if (scope == KEYS_SECURITY && !(row->flags & ANY_STAGE))
		return -EPROTO;
	if (scope == KEYS_FULL_FEATURE && !(row->flags & ALWAYS)) {
		text_put(reply, key, "Reject");
		return 0;
	}
	if (discovery && row->flags & NORMAL_ONLY) {
		text_put(reply, key, "Irrelevant");
		return 0;
	}
	return answer(p, row, value, reply);
}

void keys_declare(struct params *p, uint64_t *seen, struct text *reply)
{
	if (*seen & SEEN_DECLARED)
		return;
	*seen |= SEEN_DECLARED;
	p->own_recv_dsl = MAX_RECV_DSL;
	text_put_number(reply, "MaxRecvDataSegmentLength", MAX_RECV_DSL);
}

void keys_new_stage(uint64_t *seen)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].flags & ANY_STAGE)
			*seen &= ~((uint64_t)1 << i);
}

int keys_finish(struct params *p, uint64_t seen)
{
	const struct key_row *first = row_of("FirstBurstLength");

	if (p->FirstBurstLength <= p->MaxBurstLength)
		return 0;
	if (seen & (uint64_t)1 << (first - rows))
		return -EPROTO;
	p->FirstBurstLength = p->MaxBurstLength;	/* its default */
	return 0;
}
