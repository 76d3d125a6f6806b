/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A connection's life: taken over from the acceptor, closed for whatever
 * reason in one way, freed when nothing of it is in the kernel's or the SCSI
 * layer's hands.
 */

#include "target/conn.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/log.h"
#include "target/session_int.h"

/* A peer whose host died is found by TCP after about a minute. */
#define KEEPALIVE_IDLE_S	30
#define KEEPALIVE_EVERY_S	10
#define KEEPALIVE_COUNT		3

static void conn_cleanup(struct edefer *d);

/* Nothing here can make a connection useless when it fails. */
static void set_option(int fd, int level, int option, int value)
{
	if (setsockopt(fd, level, option, &value, sizeof(value)))
		log_debug("setsockopt %d/%d: %m", level, option);
}

static void socket_options(int fd)
{
	set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S);
	set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_EVERY_S);
	set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_COUNT);
}

static struct conn *conn_alloc(struct worker *w, int fd, uint16_t group)
{
	struct conn *c = calloc(1, sizeof(*c));
	socklen_t local_len = sizeof(c->local), remote_len = sizeof(c->remote);

	if (!c)
		return NULL;
	c->worker = w;
	c->fd = fd;
	c->group = group;
	c->stat_sn = 1;
	c->nop_ttt = TAG_NONE;
	c->heard = engine_now(w->engine);
	list_init(&c->tasks);
	list_init(&c->in_worker);
	list_init(&c->cleanup.link);
	c->cleanup.run = conn_cleanup;
	keys_init(&c->params);
	if (getsockname(fd, (struct sockaddr *)&c->local, &local_len) ||
	    getpeername(fd, (struct sockaddr *)&c->remote, &remote_len) ||
	    rx_init(c) || tx_init(c)) {
		rx_fini(c);
		free(c);
		return NULL;
	}
	return c;
}

void conn_new(struct worker *w, int fd, uint16_t group)
{
	struct sockaddr_storage from = { .ss_family = AF_UNSPEC };
	const struct sockaddr *remote = (const struct sockaddr *)&from;
	socklen_t len = sizeof(from);
	struct conn *c = NULL;

	pdu_pool_init(w);
	if (w->stopping || !w->pdus ||
	    getpeername(fd, (struct sockaddr *)&from, &len) ||
	    !registry_conn_begin(remote))
		goto refuse;
	socket_options(fd);
	c = conn_alloc(w, fd, group);
	if (!c)
		goto forget;
	list_add_tail(&w->conns, &c->in_worker);
	atomic_fetch_add_explicit(&w->nconns, 1, memory_order_relaxed);
	login_init(c);
	rx_run(c);
	return;

forget:
	registry_conn_logged_in(remote);
	registry_conn_end(remote);
refuse:
	close(fd);
}

const char *conn_name(const struct conn *c, char *buf)
{
	char addr[ADDR_TEXT];

	addr_text((const struct sockaddr *)&c->remote, addr);
	if (c->session)
		snprintf(buf, CONN_NAME, "%s %s", c->session->initiator, addr);
	else
		snprintf(buf, CONN_NAME, "%s", addr);
	return buf;
}

void conn_logged_in(struct conn *c)
{
	if (!conn_event(c, EV_LOGGED_IN))
		return;
	registry_conn_logged_in((const struct sockaddr *)&c->remote);
	c->header_digest = c->params.HeaderDigest;
	c->data_digest = c->params.DataDigest;
	nop_start(c);
}

static void log_close(const struct conn *c, const char *reason)
{
	char name[CONN_NAME];

	if (c->session)
		log_info("session %llu of %s ends: %s",
			 (unsigned long long)c->session->id,
			 conn_name(c, name), reason);
	else
		log_debug("connection of %s ends: %s", conn_name(c, name),
			  reason);
}

void conn_close(struct conn *c, const char *reason)
{
	bool half_open = c->state == CONN_IN_LOGIN;

	if (c->state == CONN_CLEANUP)
		return;
	conn_event(c, EV_LOST);
	if (half_open)
		registry_conn_logged_in((const struct sockaddr *)&c->remote);
	c->close_reason = c->tx->close_reason ? c->tx->close_reason : reason;
	log_close(c, c->close_reason);
	etimer_stop(&c->timer);
	shutdown(c->fd, SHUT_RDWR);
	rx_cancel(c);
	tx_cancel(c);
	worker_buf_unwait(&c->rx->waiter);
	if (c->session)
		session_end(c->session);
	conn_cleanup_soon(c);
}

bool conn_closing(const struct conn *c)
{
	return c->state == CONN_CLEANUP;
}

void conn_fail(struct conn *c)
{
	c->tx->failed = true;
	conn_cleanup_soon(c);
}

void conn_cleanup_soon(struct conn *c)
{
	engine_defer(c->worker->engine, &c->cleanup);
}

void conn_io_done(struct conn *c)
{
	assert(c->refs_io);
	c->refs_io--;
	if (c->state == CONN_CLEANUP)
		conn_cleanup_soon(c);
}

/* The tasks that are not the SCSI layer's; that layer ends its own. */
static void drop_tasks(struct conn *c)
{
	struct task *t, *next;

	list_for_each_safe(t, next, &c->tasks, in_conn) {
		switch (t->where) {
		case TASK_RX:
		case TASK_TX:
			task_drop(t);
			break;
		case TASK_SCSI:
			break;
		}
	}
}

static void conn_free(struct conn *c)
{
	const struct sockaddr_storage from = c->remote;
	struct worker *w = c->worker;

	assert(list_empty(&c->tasks));
	edefer_cancel(&c->cleanup);
	login_free(c);
	text_free(c);
	etimer_stop(&c->timer);
	rx_fini(c);
	tx_fini(c);
	close(c->fd);
	list_del(&c->in_worker);
	atomic_fetch_sub_explicit(&w->nconns, 1, memory_order_relaxed);
	free(c);
	registry_conn_end((const struct sockaddr *)&from);
}

static void conn_cleanup(struct edefer *d)
{
	struct conn *c = container_of(d, struct conn, cleanup);
	struct session *s = c->session;

	if (c->state != CONN_CLEANUP)
		conn_close(c, "out of memory");	/* conn_fail() */
	if (c->refs_io)
		return;		/* the kernel may still use buffers */
	c->rx->task = NULL;
	tx_drop(c);
	if (s)
		cmdsn_drop_all(s);
	drop_tasks(c);
	if (!list_empty(&c->tasks) || !list_empty(&c->tx->queue))
		return;
	if (s && (!s->gone || !list_empty(&s->tmfs) || !registry_quiet(s)))
		return;
	c->session = NULL;
	if (s)
		session_free(s);
	conn_free(c);
}
