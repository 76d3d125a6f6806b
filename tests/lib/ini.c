/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sessions and commands over libiscsi's event interface.  Its synchronous calls
 * know no deadline and log in again behind the test's back, so none is used.
 */
#include "tests/lib/ini.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ini *open_ones;
static uint32_t next_isid = 0x100;
static _Thread_local char last_error[512];
/* The commands that still run may be of a case that is over: look away. */
static bool sweeping;

const char *ini_error(void)
{
	return last_error;
}

static void drop_all(bool last)
{
	struct ini *i, *next;

	sweeping = true;
	for (i = open_ones; i; i = next) {
		next = i->next;
		if (last || !i->kept)
			ini_drop(i);
	}
	sweeping = false;
}

struct step {
	bool	 done;
	int	 status;
	uint32_t response;
};

static void step_done(struct iscsi_context *iscsi, int status, void *data,
		      void *priv)
{
	struct step *s = priv;

	(void)iscsi;
	if (s->done)
		return;		/* the connection's end, much later */
	s->done = true;
	s->status = status;
	if (data && status == SCSI_STATUS_GOOD)
		memcpy(&s->response, data, sizeof(s->response));
}

void ini_poll(struct ini *i, int ms)
{
	struct pollfd p = {
		.fd = iscsi_get_fd(i->iscsi),
		.events = (short)iscsi_which_events(i->iscsi),
	};

	if (p.fd < 0) {
		i->up = false;
		return;
	}
	if (poll(&p, 1, ms) <= 0)
		return;
	if (iscsi_service(i->iscsi, p.revents) < 0 ||
	    iscsi_get_fd(i->iscsi) < 0)
		i->up = false;
}

static int step_wait(struct ini *i, struct step *s, unsigned ms)
{
	uint64_t end = now_ms() + ms;

	while (!s->done && now_ms() < end && i->up)
		ini_poll(i, 50);
	return s->done && s->status == SCSI_STATUS_GOOD ? 0 : -1;
}

/* libiscsi keeps the address of a connect's private data until its context's
 * end. */
struct opening {
	struct ini	ini;
	struct step	connect, login;
};

static int open_session(struct opening *s, struct daemon *d,
			const struct ini_options *o)
{
	struct iscsi_context *c = s->ini.iscsi;

	iscsi_set_noautoreconnect(c, 1);
	iscsi_set_session_type(c, o->discovery ? ISCSI_SESSION_DISCOVERY :
			       ISCSI_SESSION_NORMAL);
	if (!o->discovery)
		iscsi_set_targetname(c, o->target);
	iscsi_set_header_digest(c, o->digest);
	iscsi_set_immediate_data(c, o->no_immediate ? ISCSI_IMMEDIATE_DATA_NO :
				 ISCSI_IMMEDIATE_DATA_YES);
	iscsi_set_initial_r2t(c, o->initial_r2t ? ISCSI_INITIAL_R2T_YES :
			      ISCSI_INITIAL_R2T_NO);
	iscsi_set_isid_en(c, 0x8bc2, o->isid ? o->isid :
			  __atomic_fetch_add(&next_isid, 1, __ATOMIC_RELAXED));
	if (o->user)
		iscsi_set_initiator_username_pwd(c, o->user, o->password);
	if (o->target_user)
		iscsi_set_target_username_pwd(c, o->target_user,
					      o->target_password);
	if (iscsi_connect_async(c, o->portal ? o->portal : d->portal,
				step_done, &s->connect) ||
	    step_wait(&s->ini, &s->connect, DEADLINE_MS))
		return -1;
	if (iscsi_login_async(c, step_done, &s->login) ||
	    step_wait(&s->ini, &s->login, DEADLINE_MS))
		return -1;
	return 0;
}

struct ini *ini_login(struct daemon *d, const struct ini_options *o)
{
	struct opening *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->ini.up = true;
	s->ini.iscsi = iscsi_create_context(o->initiator ? o->initiator : HOST);
	if (!s->ini.iscsi || open_session(s, d, o)) {
		snprintf(last_error, sizeof(last_error), "%s",
			 s->ini.iscsi ? iscsi_get_error(s->ini.iscsi) : "");
		if (s->ini.iscsi)
			iscsi_destroy_context(s->ini.iscsi);
		free(s);
		return NULL;
	}
	at_case_end(drop_all);
	pthread_mutex_lock(&lock);
	s->ini.next = open_ones;
	open_ones = &s->ini;
	pthread_mutex_unlock(&lock);
	return &s->ini;
}

void ini_drop(struct ini *i)
{
	struct ini **p;

	if (!i)
		return;
	pthread_mutex_lock(&lock);
	for (p = &open_ones; *p && *p != i; p = &(*p)->next)
		;
	if (*p)
		*p = i->next;
	pthread_mutex_unlock(&lock);
	/* destroying it logs nothing out; it closes */
	iscsi_destroy_context(i->iscsi);
	free(i);		/* it stands first in struct opening */
}

void ini_keep(struct ini *i)
{
	i->kept = true;
}

int ini_logout(struct ini *i)
{
	struct step s = { .done = false };
	int rc = iscsi_logout_async(i->iscsi, step_done, &s);

	if (!rc)
		rc = step_wait(i, &s, DEADLINE_MS);
	ini_drop(i);
	return rc;
}

bool ini_wait_down(struct ini *i, unsigned ms)
{
	uint64_t end = now_ms() + ms;

	while (i->up && now_ms() < end)
		ini_poll(i, 20);
	return !i->up;
}

/* ---- commands ---- */

static void take_sense(struct cmd *c, const struct scsi_task *t)
{
	/* libiscsi leaves the data segment: two bytes of length, the sense */
	size_t n = t->datain.size > 0 ? (size_t)t->datain.size : 0;

	if (n < 2)
		return;
	n -= 2;
	if (n > BE_AT(be16, t->datain.data, 0).b[1])
		n = BE_AT(be16, t->datain.data, 0).b[1];
	if (n > sizeof(c->sense))
		n = sizeof(c->sense);
	memcpy(c->sense, t->datain.data + 2, n);
	c->sense_len = (unsigned)n;
}

static void cmd_ended(struct iscsi_context *iscsi, int status, void *data,
		      void *priv)
{
	struct cmd *c = priv;
	struct scsi_task *t;

	(void)iscsi;
	(void)data;
	if (sweeping)
		return;
	t = c->task;
	c->ended = true;
	c->ms = now_ms() - c->ms;
	c->status = status >= SCSI_STATUS_CANCELLED ? NO_STATUS : status;
	if (c->status == SCSI_STATUS_CHECK_CONDITION)
		take_sense(c, t);
	if (t->residual_status == SCSI_RESIDUAL_UNDERFLOW)
		c->residual = (int)t->residual;
	if (t->residual_status == SCSI_RESIDUAL_OVERFLOW)
		c->residual = -(int)t->residual;
	c->got = c->in_len;
	if (c->residual > 0)
		c->got -= (size_t)c->residual < c->in_len ?
			  (size_t)c->residual : c->in_len;
	c->task = NULL;
	scsi_free_scsi_task(t);
	if (c->on_end)
		c->on_end(c);
}

int ini_start(struct ini *i, int lun, struct cmd *c)
{
	struct iscsi_data out = {
		.size = c->out_len, .data = (unsigned char *)(uintptr_t)c->out,
	};
	size_t len = c->in_len ? c->in_len : c->out_len;
	int dir = c->in_len ? SCSI_XFER_READ :
		  c->out_len ? SCSI_XFER_WRITE : SCSI_XFER_NONE;

	c->status = NO_STATUS;
	c->ended = false;
	c->residual = 0;
	c->sense_len = 0;
	c->got = 0;
	c->ms = now_ms();
	c->task = scsi_create_task(c->cdb_len, c->cdb, dir, (int)len);
	if (!c->task)
		return -1;
	if (c->in_len)
		scsi_task_add_data_in_buffer(c->task, (int)c->in_len, c->in);
	if (iscsi_scsi_command_async(i->iscsi, lun, c->task, cmd_ended,
				     c->out_len ? &out : NULL, c)) {
		scsi_free_scsi_task(c->task);
		c->task = NULL;
		return -1;
	}
	return 0;
}

int ini_wait(struct ini *i, struct cmd *c, unsigned ms)
{
	uint64_t end = now_ms() + ms;

	while (!c->ended && i->up && now_ms() < end)
		ini_poll(i, 50);
	return c->status;
}

int ini_run(struct ini *i, int lun, struct cmd *c)
{
	if (ini_start(i, lun, c))
		return NO_STATUS;
	return ini_wait(i, c, DEADLINE_MS);
}

int ini_settle(struct ini *i, int lun)
{
	struct cmd c;
	int n;

	for (n = 0; n < 10; n++) {
		c = cmd_tur();
		if (ini_run(i, lun, &c) != SCSI_STATUS_CHECK_CONDITION ||
		    sense_key(&c) != SCSI_SENSE_UNIT_ATTENTION)
			break;
	}
	return c.status;
}

int ini_tmf(struct ini *i, int lun, enum iscsi_task_mgmt_funcs f,
	    const struct cmd *referenced, unsigned ms)
{
	struct step *s = calloc(1, sizeof(*s));
	uint32_t itt = 0xffffffff, cmd_sn = 0;
	int rc;

	if (referenced && referenced->task) {
		itt = referenced->task->itt;
		cmd_sn = referenced->task->cmdsn;
	}
	if (!s || iscsi_task_mgmt_async(i->iscsi, lun, f, itt, cmd_sn,
					step_done, s)) {
		free(s);
		return -1;
	}
	rc = step_wait(i, s, ms) ? -1 : (int)s->response;
	/* without an answer libiscsi still holds it */
	if (s->done)
		free(s);
	return rc;
}
