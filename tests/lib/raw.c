/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PDUs in and out over a plain socket.
 */
#include "tests/lib/raw.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/crc32c.h"

static struct raw *open_ones;

static void close_all(bool last)
{
	(void)last;
	while (open_ones)
		raw_close(open_ones);
}

static int dial(const char *host, int port)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
				  .ai_flags = AI_NUMERICHOST }, *a;
	char service[16];
	int fd, one = 1;

	snprintf(service, sizeof(service), "%d", port);
	if (getaddrinfo(host, service, &hints, &a))
		return -1;
	fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen)) {
		close(fd);
		fd = -1;
	}
	freeaddrinfo(a);
	if (fd >= 0)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

struct raw *raw_connect(struct daemon *d, const struct raw_options *o)
{
	struct raw *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->fd = dial(o->address ? o->address : "127.0.0.1",
		     o->port ? o->port : d->port);
	if (r->fd < 0) {
		free(r);
		return NULL;
	}
	r->itt = 0x1000;
	r->cmd_sn = o->first_cmd_sn;
	r->login_status = -1;
	r->next = open_ones;
	open_ones = r;
	at_case_end(close_all);
	return r;
}

void raw_close(struct raw *r)
{
	struct raw **p;

	if (!r)
		return;
	for (p = &open_ones; *p && *p != r; p = &(*p)->next)
		;
	if (*p)
		*p = r->next;
	close(r->fd);
	free(r);
}

int raw_bytes(struct raw *r, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	ssize_t n;

	while (len) {
		n = send(r->fd, p, len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

static size_t padded(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

int raw_send(struct raw *r, union bhs *b, const void *data, size_t len)
{
	size_t pad = padded(len), at = BHS_LEN;
	uint8_t *all = calloc(1, BHS_LEN + 2 * DIGEST_LEN + pad);
	be32 digest;
	int rc;

	if (!all)
		return -1;
	b->any.data_len = be24_of((uint32_t)len);
	memcpy(all, b, BHS_LEN);
	if (r->header_digest) {
		digest = crc32c(all, BHS_LEN);
		memcpy(all + at, &digest, DIGEST_LEN);
		at += DIGEST_LEN;
	}
	if (len) {
		memcpy(all + at, data, len);
		digest = crc32c(all + at, pad);
		at += pad;
		if (r->data_digest) {
			memcpy(all + at, &digest, DIGEST_LEN);
			at += DIGEST_LEN;
		}
	}
	rc = raw_bytes(r, all, at);
	free(all);
	return rc;
}

static int get(struct raw *r, void *buf, size_t len, uint64_t end)
{
	uint8_t *p = buf;
	ssize_t n;

	while (len) {
		struct pollfd pf = { .fd = r->fd, .events = POLLIN };
		uint64_t now = now_ms();

		if (poll(&pf, 1, now < end ? (int)(end - now) : 0) == 0)
			return RAW_TIMEOUT;
		n = recv(r->fd, p, len, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return RAW_CLOSED;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

static int get_digest(struct raw *r, const void *data, size_t len,
		      uint64_t end)
{
	be32 want = crc32c(data, len), is;
	int rc = get(r, &is, sizeof(is), end);

	if (rc)
		return rc;
	return memcmp(&want, &is, sizeof(is)) ? RAW_BAD_DIGEST : 0;
}

/* What every answer of a target tells about numbers. */
static void take_numbers(struct raw *r)
{
	const struct bhs_answer *a = &r->bhs.answer;
	unsigned op = bhs_opcode(&r->bhs);
	bool counts = op != OP_R2T &&
		!(op == OP_DATA_IN && !(a->flags & DATA_IN_STATUS)) &&
		!(op == OP_NOP_IN && be32_get(a->itt) == TAG_NONE);

	if (counts)
		r->exp_stat_sn = be32_get(a->stat_sn) + 1;
	r->exp_cmd_sn = be32_get(a->exp_cmd_sn);
	r->max_cmd_sn = be32_get(a->max_cmd_sn);
}

int raw_recv(struct raw *r, int ms)
{
	uint64_t end = now_ms() + (uint64_t)ms;
	int rc = get(r, &r->bhs, BHS_LEN, end);
	size_t pad;

	/* what has begun may take longer */
	end = now_ms() + DEADLINE_MS;
	if (!rc && r->header_digest)
		rc = get_digest(r, &r->bhs, BHS_LEN, end);
	if (rc)
		return rc;
	r->data_len = be24_get(r->bhs.any.data_len);
	pad = padded(r->data_len);
	if (r->bhs.any.ahs_len || pad > RAW_DATA_MAX)
		return RAW_CLOSED;	/* a target has no reason to */
	rc = get(r, r->data, pad, end);
	if (!rc && pad && r->data_digest)
		rc = get_digest(r, r->data, pad, end);
	if (rc)
		return rc;
	take_numbers(r);
	return (int)bhs_opcode(&r->bhs);
}

int raw_recv_opcode(struct raw *r, int opcode, int ms)
{
	int rc;

	do {
		rc = raw_recv(r, ms);
	} while (rc >= 0 && rc != opcode);
	return rc;
}

bool raw_wait_closed(struct raw *r, int ms)
{
	int rc;

	do {
		rc = raw_recv(r, ms);
	} while (rc >= 0);
	return rc == RAW_CLOSED;
}

void raw_request(struct raw *r, union bhs *b, uint8_t opcode, bool immediate)
{
	memset(b, 0, sizeof(*b));
	b->request.opcode = opcode;
	if (immediate)
		b->request.opcode |= OPCODE_IMMEDIATE;
	b->request.flags = FLAG_FINAL;
	b->request.itt = be32_of(r->itt++);
	b->request.cmd_sn = be32_of(r->cmd_sn);
	b->request.exp_stat_sn = be32_of(r->exp_stat_sn);
	if (!immediate)
		r->cmd_sn++;
}

uint32_t raw_command(struct raw *r, const struct raw_cmd *c)
{
	union bhs b;

	raw_request(r, &b, OP_SCSI_COMMAND, false);
	b.scsi_command.flags = c->flags | 1 | (c->not_final ? 0 : FLAG_FINAL);
	b.any.lun[1] = (uint8_t)c->lun;
	b.scsi_command.edtl = be32_of(c->edtl);
	memcpy(b.scsi_command.cdb, c->cdb, 16);
	raw_send(r, &b, c->data, c->data_len);
	return be32_get(b.any.itt);
}

int raw_data_out(struct raw *r, const union bhs *r2t, uint32_t off,
		 const void *data, size_t len)
{
	union bhs b = { .data_out = {
		.opcode = OP_DATA_OUT, .flags = FLAG_FINAL,
		.itt = r2t->r2t.itt, .ttt = r2t->r2t.ttt,
		.exp_stat_sn = be32_of(r->exp_stat_sn),
		.buffer_offset = be32_of(off),
	} };

	memcpy(b.data_out.lun, r2t->r2t.lun, 8);
	return raw_send(r, &b, data, len);
}

int raw_tmf(struct raw *r, int function, int lun, uint32_t itt,
	    uint32_t ref_cmd_sn)
{
	union bhs b;
	int rc;

	raw_request(r, &b, OP_TMF_REQUEST, true);
	b.tmf_request.flags = (uint8_t)(FLAG_FINAL | function);
	b.tmf_request.lun[1] = (uint8_t)lun;
	b.tmf_request.ref_task_tag = be32_of(itt);
	b.tmf_request.ref_cmd_sn = be32_of(ref_cmd_sn);
	raw_send(r, &b, NULL, 0);
	rc = raw_recv_opcode(r, OP_TMF_RESPONSE, 10000);
	return rc < 0 ? rc : r->bhs.tmf_response.response;
}

int raw_ping(struct raw *r)
{
	union bhs b;
	int rc;

	raw_request(r, &b, OP_NOP_OUT, true);
	b.nop_out.ttt = be32_of(TAG_NONE);
	raw_send(r, &b, "ping", 4);
	do {
		rc = raw_recv_opcode(r, OP_NOP_IN, DEADLINE_MS);
	} while (rc >= 0 && memcmp(&r->bhs.any.itt, &b.any.itt, 4));
	if (rc < 0)
		return rc;
	return r->data_len == 4 && !memcmp(r->data, "ping", 4) ? 0 : 1;
}
