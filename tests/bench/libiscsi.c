/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The other client: libiscsi's asynchronous calls, which send a command by
 * itself and cost more than most targets do. */

#include <iscsi/iscsi.h>
#include <iscsi/scsi-lowlevel.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/load.h"

struct common {
	struct session	*session;
	struct iscsi_context *iscsi;
	uint8_t		*waste;		/* where reads go that nobody wants */
};

static void *common_open(struct session *s)
{
	struct common *c = calloc(1, sizeof(*c));
	const struct options *o = s->opt;
	char portal[80];

	if (!c)
		return NULL;
	c->session = s;
	c->waste = malloc(MAX(o->bs, 16384u));
	c->iscsi = iscsi_create_context("iqn.2026-11.example.bench:load");
	if (!c->iscsi || !c->waste)
		abort();
	iscsi_set_targetname(c->iscsi, o->iqn);
	iscsi_set_session_type(c->iscsi, ISCSI_SESSION_NORMAL);
	iscsi_set_header_digest(c->iscsi, o->digests ?
				ISCSI_HEADER_DIGEST_CRC32C :
				ISCSI_HEADER_DIGEST_NONE);
	iscsi_set_noautoreconnect(c->iscsi, 1);
	snprintf(portal, sizeof(portal), "%s:%d", o->host, o->port);
	if (!iscsi_full_connect_sync(c->iscsi, portal, o->lun))
		return c;
	fprintf(stderr, "load: %s\n", iscsi_get_error(c->iscsi));
	iscsi_destroy_context(c->iscsi);
	free(c->waste);
	free(c);
	return NULL;
}

static void common_close(void *arg)
{
	struct common *c = arg;

	if (!c->session->in_flight)
		iscsi_logout_sync(c->iscsi);
	iscsi_destroy_context(c->iscsi);
	free(c->waste);
	free(c);
}

static void command_done(struct iscsi_context *iscsi, int status, void *data,
			 void *arg)
{
	struct scsi_task *task = data;
	struct slot *s = arg;

	(void)iscsi;
	s->status = status > 0xff ? -1 : status;
	s->sense_key = (uint8_t)task->sense.key;
	s->asc = (uint8_t)(task->sense.ascq >> 8);
	s->ascq = (uint8_t)task->sense.ascq;
	s->moved = s->dir == DATA_IN && !status &&
		task->residual_status == SCSI_RESIDUAL_NO_RESIDUAL ?
		s->len : 0;
	scsi_free_scsi_task(task);
	slot_done(s);
}

static void nop_done(struct iscsi_context *iscsi, int status, void *data,
		     void *arg)
{
	struct slot *s = arg;

	(void)iscsi;
	(void)data;
	s->status = status ? -1 : 0;
	slot_done(s);
}

static void common_submit(void *arg, struct slot *s)
{
	static const int directions[] = { SCSI_XFER_NONE, SCSI_XFER_READ,
					  SCSI_XFER_WRITE };
	static const int cdb_len[] = { 6, 10, 10, 0, 16, 12, 0, 0 };
	struct common *c = arg;
	struct scsi_task *task;
	struct iscsi_data data = { .size = s->len,
				   .data = (unsigned char *)s->out };

	if (s->work == WORK_NOP) {
		iscsi_nop_out_async(c->iscsi, nop_done, NULL, 0, s);
		return;
	}
	task = scsi_create_task(cdb_len[s->cdb[0] >> 5], s->cdb,
				directions[s->dir], (int)s->len);
	if (!task)
		abort();
	if (s->dir == DATA_IN)
		scsi_task_add_data_in_buffer(task, (int)s->len,
					     s->in ? s->in : c->waste);
	if (iscsi_scsi_command_async(c->iscsi, s->lun, task, command_done,
				     s->dir == DATA_OUT ? &data : NULL, s))
		abort();
}

/* libiscsi sends when its socket is ready and not before. */
static bool common_flush(void *arg)
{
	struct common *c = arg;

	if (!(iscsi_which_events(c->iscsi) & POLLOUT))
		return true;
	return iscsi_service(c->iscsi, POLLOUT) == 0;
}

static int common_fd(void *arg)
{
	return iscsi_get_fd(((struct common *)arg)->iscsi);
}

static short common_events(void *arg)
{
	return (short)iscsi_which_events(((struct common *)arg)->iscsi);
}

static bool common_receive(void *arg, short events, bool wait)
{
	struct common *c = arg;
	struct pollfd p = { .fd = common_fd(c), .events = common_events(c) };

	if (wait) {
		if (poll(&p, 1, 60000) < 1)
			return false;
		events = p.revents;
	}
	if (iscsi_service(c->iscsi, events) == 0)
		return true;
	fprintf(stderr, "load: %s\n", iscsi_get_error(c->iscsi));
	return false;
}

const struct client libiscsi_client = {
	.name = "libiscsi", .open = common_open, .close = common_close,
	.submit = common_submit, .flush = common_flush, .fd = common_fd,
	.events = common_events, .receive = common_receive,
};
