/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_LIB_LOGIN_FAKE_H
#define TESTS_LIB_LOGIN_FAKE_H

/*
 * What login and text call of the rest of the target layer, faked: what was
 * sent last is kept, and the configured world is a few variables.  Included by
 * one source file of a test program, which then links no file of libtarget
 * that defines these.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/login.h"
#include "target/session.h"
#include "tests/lib/unit.h"

static struct {
	union bhs	 bhs;		/* of the last PDU sent */
	char		 data[1 << 16];
	uint32_t	 len;
	unsigned	 sent;		/* PDUs in all */
	bool		 closed, closing, logged_in;
	int		 rejected;	/* reason, or -1 */

	enum tgt_verdict verdict;
	struct chap_user users[2];
	int		 nusers;	/* as tgt_chap_users() returns */
	uint16_t	 begin_status;
	unsigned	 begun;		/* sessions */
	const char	*redirect;	/* tgt_redirect(); NULL: no */
	bool		 redirect_permanent;
	unsigned	 ntargets;	/* that discovery lists */
} fake;

static struct worker fake_worker;
static struct session fake_session;
static struct conn fake_conn;

struct pdu_out *pdu_new(struct conn *c)
{
	struct pdu_out *p = calloc(1, sizeof(*p));

	ck_assert_ptr_nonnull(p);
	p->conn = c;
	return p;
}

void pdu_free(struct pdu_out *p)
{
	free(p);
}

void conn_send(struct conn *c, struct pdu_out *p)
{
	(void)c;
	fake.sent++;
	fake.bhs = p->bhs;
	fake.len = p->data_len;
	ck_assert_uint_le(p->data_len, sizeof(fake.data));
	if (p->data_len)
		memcpy(fake.data, p->data, p->data_len);
	if (p->sent)
		p->sent(p);
	free(p);
}

void conn_close(struct conn *c, const char *reason)
{
	(void)c;
	ck_assert_ptr_nonnull(reason);
	fake.closed = true;
}

void conn_close_after_send(struct conn *c, const char *reason)
{
	(void)c;
	ck_assert_ptr_nonnull(reason);
	fake.closing = true;
}

void conn_logged_in(struct conn *c)
{
	c->state = CONN_LOGGED_IN;
	fake.logged_in = true;
}

void conn_reject(struct conn *c, const union bhs *bhs, uint8_t reason)
{
	(void)c;
	(void)bhs;
	fake.rejected = reason;
}

uint16_t session_begin(struct conn *c, const struct session_request *r)
{
	if (fake.begin_status)
		return fake.begin_status;
	fake.begun++;
	fake_session = (struct session){
		.tsih		= 0x1234,
		.discovery	= !r->target,
	};
	snprintf(fake_session.initiator, sizeof(fake_session.initiator), "%s",
		 r->initiator);
	snprintf(fake_session.target, sizeof(fake_session.target), "%s",
		 r->target ? r->target : "");
	c->session = &fake_session;
	return 0;
}

enum tgt_verdict tgt_check(const char *iqn, const struct tgt_peer *peer)
{
	ck_assert_ptr_nonnull(iqn);
	ck_assert_ptr_nonnull(peer->initiator);
	return fake.verdict;
}

int tgt_chap_users(const char *iqn, const char *initiator,
		   struct chap_user *users)
{
	(void)iqn;
	ck_assert_ptr_nonnull(initiator);
	if (fake.nusers > 0)
		memcpy(users, fake.users,
		       (size_t)fake.nusers * sizeof(*users));
	return fake.nusers;
}

bool tgt_alias(const char *iqn, char *buf)
{
	ck_assert_ptr_nonnull(iqn);
	snprintf(buf, ALIAS_TEXT, "An alias");
	return true;
}

bool tgt_redirect(const char *iqn, char *buf, bool *ret_permanent)
{
	ck_assert_ptr_nonnull(iqn);
	if (!fake.redirect)
		return false;
	snprintf(buf, ADDR_TEXT, "%s", fake.redirect);
	*ret_permanent = fake.redirect_permanent;
	return true;
}

void tgt_discover(const struct tgt_peer *peer,
		  void (*emit)(void *arg, const char *iqn), void *arg)
{
	unsigned i;

	(void)peer;
	for (i = 0; i < fake.ntargets; i++) {
		char iqn[64];

		snprintf(iqn, sizeof(iqn), "iqn.2026-11.example:t%u", i);
		emit(arg, iqn);
	}
}

void portal_announce(const struct tgt_peer *peer,
		     void (*emit)(void *arg, const char *address,
				  uint16_t group),
		     void *arg)
{
	(void)peer;
	emit(arg, "192.0.2.1:3260", 1);
	emit(arg, "[2001:db8::1]:3260", 2);
}

const char *addr_text(const struct sockaddr *a, char *buf)
{
	(void)a;
	return memcpy(buf, "192.0.2.9:50000", sizeof("192.0.2.9:50000"));
}

void etimer_init(struct etimer *t, void (*fire)(struct etimer *t))
{
	*t = (struct etimer){ .fire = fire };
}

void etimer_start(struct engine *e, struct etimer *t, uint64_t ms)
{
	(void)e;
	t->due = ms;
}

void etimer_stop(struct etimer *t)
{
	t->due = 0;
}

static void fake_setup(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.rejected = -1;
	memset(&fake_conn, 0, sizeof(fake_conn));
	fake_conn.worker = &fake_worker;
	fake_conn.group = 7;
	login_init(&fake_conn);
}

static void fake_teardown(void)
{
	login_free(&fake_conn);
	text_free(&fake_conn);
}

/* Is "key=value" among the pairs of the last PDU sent? */
static inline bool fake_said(const char *pair)
{
	size_t at = 0;

	while (at < fake.len) {
		size_t n = strnlen(fake.data + at, fake.len - at);

		if (n == strlen(pair) && !memcmp(fake.data + at, pair, n))
			return true;
		at += n + 1;
	}
	return false;
}

/* Hands a copy of data, with a NUL behind it as the transport does, to a
 * handler; its memory ends there, so that sanitizers see an overrun. */
static inline void fake_deliver(const union bhs *bhs, const char *data,
				size_t len,
				void (*handler)(struct conn *,
						struct pdu_in *))
{
	uint8_t *copy = malloc(len + 1);
	struct pdu_in p = { .bhs = bhs, .data = copy };

	ck_assert_ptr_nonnull(copy);
	if (len)
		memcpy(copy, data, len);
	copy[len] = 0;
	p.data_len = (uint32_t)len;
	handler(&fake_conn, &p);
	free(copy);
}

#endif
