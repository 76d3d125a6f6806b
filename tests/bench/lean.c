/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The lean client's sockets: see lean.h. */

#include "tests/bench/lean.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/crc32c.h"
#include "lib/iov.h"

#define RECV_SIZE	(1u << 20)
#define IOV_PER_SEND	1024u

static void put_iov(struct lean *c, const void *base, size_t len)
{
	if (c->nout == c->out_size) {
		c->out_size = c->out_size ? 2 * c->out_size : 256;
		c->out = realloc(c->out, c->out_size * sizeof(*c->out));
		if (!c->out)
			abort();
	}
	c->out[c->nout++] = (struct iovec){ (void *)base, len };
}

void lean_put(struct lean *c, struct lean_pdu *p, const void *data,
	      uint32_t len)
{
	uint32_t pad = c->framing == &iscsi_framing ? -len & 3 : 0, crc;
	be32 digest;

	if (c->login.header_digest) {
		digest = crc32c(p->head, BHS_LEN);
		memcpy(p->head + BHS_LEN, &digest, DIGEST_LEN);
	}
	put_iov(c, p->head, c->head_len);
	if (!len)
		return;
	put_iov(c, data, len);
	memset(p->tail, 0, pad);
	if (c->login.data_digest) {
		crc = crc32c_add(crc32c_init(), data, len);
		digest = crc32c_final(crc32c_add(crc, p->tail, pad));
		memcpy(p->tail + pad, &digest, DIGEST_LEN);
		pad += DIGEST_LEN;
	}
	if (pad)
		put_iov(c, p->tail, pad);
}

static bool lean_flush(void *arg)
{
	struct lean *c = arg;
	struct msghdr m = { 0 };
	struct iovec *v;
	int left;
	ssize_t n;

	while (c->first < c->nout) {
		m.msg_iov = c->out + c->first;
		m.msg_iovlen = MIN(c->nout - c->first, IOV_PER_SEND);
		n = sendmsg(c->login.fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		v = m.msg_iov;
		left = (int)m.msg_iovlen;
		iov_advance(&v, &left, (size_t)n);
		c->first = (unsigned)(v - c->out);
	}
	c->first = 0;
	c->nout = 0;
	return true;
}

static void lean_submit(void *arg, struct slot *s)
{
	struct lean *c = arg;

	c->framing->request(c, s);
	if (c->session->opt->single)
		lean_flush(c);
}

void lean_drain_waiting(struct lean *c)
{
	unsigned n = c->nwaiting, i;

	c->nwaiting = 0;
	for (i = 0; i < n; i++)
		c->framing->request(c, c->waiting[i]);
}

static size_t take(struct lean *c, uint32_t *left)
{
	size_t n = MIN((size_t)*left, c->have - c->at);

	c->at += n;
	*left -= (uint32_t)n;
	return n;
}

/* The rest of a PDU whose header came; false: more has to come. */
static bool parse_body(struct lean *c)
{
	const uint8_t *at = c->buf + c->at;
	size_t n = take(c, &c->left);

	if (n && c->into) {
		memcpy(c->into, at, n);
		c->into += n;
	}
	if (n && c->login.data_digest)
		c->crc = crc32c_add(c->crc, at, n);
	if (c->left)
		return false;
	at = c->buf + c->at;
	n = take(c, &c->trail_left);
	memcpy(c->trail + c->trail_len, at, n);
	c->trail_len += (uint32_t)n;
	return !c->trail_left;
}

static bool digest_right(struct lean *c)
{
	uint32_t pad = c->trail_len - DIGEST_LEN;
	be32 d = crc32c_final(crc32c_add(c->crc, c->trail, pad));

	return !memcmp(&d, c->trail + pad, DIGEST_LEN);
}

static bool parse_head(struct lean *c)
{
	uint32_t len;

	c->slot = NULL;
	c->into = NULL;
	c->left = 0;
	if (!c->framing->head(c, c->buf + c->at))
		return false;
	c->at += c->head_len;
	len = c->left;
	c->trail_len = 0;
	c->trail_left = c->framing == &iscsi_framing ? -len & 3 : 0;
	if (len && c->login.data_digest)
		c->trail_left += DIGEST_LEN;
	c->crc = crc32c_init();
	c->in_body = true;
	return true;
}

static bool parse(struct lean *c)
{
	for (;;) {
		if (!c->in_body) {
			if (c->have - c->at < c->head_len)
				break;
			if (!parse_head(c))
				return false;
		}
		if (!parse_body(c))
			break;
		if (c->trail_len >= DIGEST_LEN && !digest_right(c)) {
			fprintf(stderr, "load: wrong data digest\n");
			return false;
		}
		c->in_body = false;
		if (!c->framing->end(c))
			return false;
	}
	memmove(c->buf, c->buf + c->at, c->have - c->at);
	c->have -= c->at;
	c->at = 0;
	return true;
}

static short lean_events(void *arg)
{
	struct lean *c = arg;

	return (short)(POLLIN | (c->first < c->nout ? POLLOUT : 0));
}

static int lean_fd(void *arg)
{
	return ((struct lean *)arg)->login.fd;
}

/* With bytes left to send, receiving must not keep them waiting. */
static bool lean_receive(void *arg, short events, bool wait)
{
	struct lean *c = arg;
	struct pollfd p = { .fd = c->login.fd, .events = lean_events(c) };
	ssize_t n;

	if (c->nout && wait && poll(&p, 1, 60000) == 1) {
		events = p.revents;
		wait = false;
	}
	if ((events & POLLOUT) && !lean_flush(c))
		return false;
	n = recv(c->login.fd, c->buf + c->have, RECV_SIZE - c->have,
		 wait ? 0 : MSG_DONTWAIT);
	if (n < 0 && errno == EAGAIN && !wait)
		return true;
	if (n <= 0) {
		fprintf(stderr, "load: connection lost: %s\n",
			n ? strerror(errno) : "closed");
		return false;
	}
	c->have += (size_t)n;
	return parse(c);
}

static void lean_free(struct lean *c)
{
	free(c->out);
	free(c->buf);
	free(c->waiting);
	free(c->cmd);
	free(c);
}

static struct lean *lean_new(struct session *s, const struct framing *f)
{
	struct lean *c = calloc(1, sizeof(*c));

	if (!c)
		abort();
	c->session = s;
	c->framing = f;
	c->head_len = f->head_len;
	c->buf = malloc(RECV_SIZE);
	c->waiting = calloc(s->depth, sizeof(struct slot *));
	c->cmd = calloc(s->depth, sizeof(*c->cmd));
	if (!c->buf || !c->waiting || !c->cmd)
		abort();
	memset(c->buf, 0, RECV_SIZE);
	return c;
}

static void *lean_open(struct session *s)
{
	struct lean *c = lean_new(s, &iscsi_framing);

	if (!login_iscsi(s->opt, s->index + 1, &c->login)) {
		lean_free(c);
		return NULL;
	}
	if (c->login.header_digest)
		c->head_len += DIGEST_LEN;
	return c;
}

static void *floor_open(struct session *s)
{
	struct lean *c = lean_new(s, &floor_framing);

	if (!login_tcp(s->opt, &c->login.fd)) {
		lean_free(c);
		return NULL;
	}
	return c;
}

static void lean_close(void *arg)
{
	struct lean *c = arg;

	if (c->framing == &iscsi_framing && !c->session->in_flight)
		login_end(&c->login);
	else
		close(c->login.fd);
	lean_free(c);
}

const struct client lean_client = {
	.name = "lean", .open = lean_open, .close = lean_close,
	.submit = lean_submit, .flush = lean_flush, .fd = lean_fd,
	.events = lean_events, .receive = lean_receive,
};

const struct client floor_client = {
	.name = "floor", .is_floor = true,
	.open = floor_open, .close = lean_close,
	.submit = lean_submit, .flush = lean_flush, .fd = lean_fd,
	.events = lean_events, .receive = lean_receive,
};
