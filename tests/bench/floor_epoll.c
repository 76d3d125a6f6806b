/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The floor by epoll: one receive and one send per wake-up, the file read and
 * written in between. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/bench/floor_int.h"

#define IN_SIZE		(1u << 20)
/* Answers are sent when so much has gathered: it is still in the cache. */
#define OUT_FULL	(256u << 10)

struct conn {
	const struct floor *floor;
	int		 fd, epoll;
	uint8_t		*in, *out;
	size_t		 at, have, out_at, out_len;
	/* a large write under way */
	struct floor_head head;
	uint32_t	 left;
	bool		 waits;		/* for room in the socket */
};

static void conn_end(struct conn *c)
{
	close(c->fd);
	free(c->in);
	free(c->out);
	free(c);
}

/* False: the connection is lost. */
static bool send_out(struct conn *c)
{
	struct epoll_event e = { .data.ptr = c };
	bool waits = false;
	ssize_t n;

	while (c->out_at < c->out_len) {
		n = send(c->fd, c->out + c->out_at, c->out_len - c->out_at,
			 MSG_DONTWAIT);
		if (n < 0 && errno != EAGAIN)
			return false;
		waits = n < 0;
		if (waits)
			break;
		c->out_at += (size_t)n;
	}
	if (!waits)
		c->out_at = c->out_len = 0;
	if (waits != c->waits) {
		c->waits = waits;
		e.events = waits ? EPOLLOUT : EPOLLIN;
		epoll_ctl(c->epoll, EPOLL_CTL_MOD, c->fd, &e);
	}
	return true;
}

static void answer(struct conn *c, const struct floor_head *h)
{
	struct floor_head *a = (struct floor_head *)(c->out + c->out_len);

	*a = *h;
	a->op |= FLOOR_DONE;
	c->out_len += sizeof(*a);
}

static bool do_read(struct conn *c, const struct floor_head *h)
{
	answer(c, h);
	if (c->floor->file >= 0 &&
	    pread(c->floor->file, c->out + c->out_len, h->len,
		  (off_t)h->off) != (ssize_t)h->len)
		return false;
	c->out_len += h->len;
	return c->out_len < OUT_FULL || send_out(c);
}

/* Writes what is there of the body. */
static bool do_write(struct conn *c)
{
	size_t n = c->have - c->at;
	off_t off = (off_t)(c->head.off + c->head.len - c->left);

	if (n > c->left)
		n = c->left;
	if (n && c->floor->file >= 0 &&
	    pwrite(c->floor->file, c->in + c->at, n, off) != (ssize_t)n)
		return false;
	c->at += n;
	c->left -= (uint32_t)n;
	if (!c->left)
		answer(c, &c->head);
	return true;
}

/* One request; false: not all of it is there yet. */
static bool next_request(struct conn *c, bool *lost)
{
	struct floor_head h;

	if (c->waits || c->have - c->at < sizeof(h))
		return false;
	memcpy(&h, c->in + c->at, sizeof(h));
	*lost = h.len > FLOOR_SIZE_MAX;
	if (*lost)
		return false;
	if (h.op == FLOOR_READ) {
		c->at += sizeof(h);
		*lost = !do_read(c, &h);
		return !*lost;
	}
	if (h.len < FLOOR_LARGE && c->have - c->at < sizeof(h) + h.len)
		return false;
	c->at += sizeof(h);
	c->head = h;
	c->left = h.len;
	*lost = !do_write(c);
	return !*lost && !c->left;
}

static bool requests(struct conn *c)
{
	bool lost = false;

	if (c->left && (!do_write(c) || c->left)) {
		if (c->left && c->at == c->have)
			c->at = c->have = 0;
		return c->left;
	}
	while (next_request(c, &lost))
		;
	if (lost || (!c->waits && !send_out(c)))
		return false;
	memmove(c->in, c->in + c->at, c->have - c->at);
	c->have -= c->at;
	c->at = 0;
	return true;
}

static bool ready(struct conn *c, uint32_t events)
{
	ssize_t n;

	if (c->waits) {
		if (!(events & EPOLLOUT))
			return !(events & (EPOLLERR | EPOLLHUP));
		if (!send_out(c))
			return false;
		return c->waits || requests(c);
	}
	n = recv(c->fd, c->in + c->have, IN_SIZE - c->have, MSG_DONTWAIT);
	if (n <= 0)
		return n < 0 && errno == EAGAIN;
	c->have += (size_t)n;
	return requests(c);
}

static void accept_one(const struct floor *f, int epoll)
{
	struct conn *c = calloc(1, sizeof(*c));
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = c };

	if (!c)
		exit(1);
	c->floor = f;
	c->epoll = epoll;
	c->fd = floor_accepted(accept(f->listener, NULL, NULL));
	c->in = floor_buffer(IN_SIZE);
	c->out = floor_buffer(2 * FLOOR_SIZE_MAX);
	epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &e);
}

void floor_epoll(const struct floor *f)
{
	struct epoll_event e[FLOOR_CONNS] = { { .events = EPOLLIN } };
	int epoll = epoll_create1(0), n, i;

	epoll_ctl(epoll, EPOLL_CTL_ADD, f->listener, &e[0]);
	for (;;) {
		n = epoll_wait(epoll, e, FLOOR_CONNS, -1);
		for (i = 0; i < n; i++) {
			struct conn *c = e[i].data.ptr;

			if (!c)
				accept_one(f, epoll);
			else if (!ready(c, e[i].events))
				conn_end(c);
		}
	}
}
