/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Listening and accepting; what is announced is in portal_announce.c. */

#include "target/portal.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/util.h"
#include "target/conn.h"
#include "target/portal_int.h"
#include "target/volumes.h"

/* After EMFILE and the like: as long as no descriptor is free, asking again at
 * once would only burn the CPU. */
#define ACCEPT_PAUSE_MS 100
/* Volumes have this long to open before hosts are let in. */
#define OPENING_MS	5000
#define OPENING_POLL_MS	5

static struct portals portals = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.list = { &portals.list, &portals.list },
};

struct portals *portals_lock(void)
{
	pthread_mutex_lock(&portals.lock);
	return &portals;
}

void portals_unlock(struct portals *p)
{
	pthread_mutex_unlock(&p->lock);
}

/* ---- accepting ---------------------------------------------------------- */

struct handoff {
	struct epost	 post;
	struct worker	*worker;
	int		 fd;
	uint16_t	 group;
};

static void handoff_run(struct epost *p)
{
	struct handoff *h = container_of(p, struct handoff, post);

	conn_new(h->worker, h->fd, h->group);
	/* it counted itself; until here we counted for it */
	atomic_fetch_sub_explicit(&h->worker->nconns, 1, memory_order_relaxed);
	free(h);
}

/* The group of the explicit portal at the address that was reached, where
 * there is one. */
static uint16_t group_of(const struct portal *p, int fd)
{
	struct sockaddr_storage local = { 0 };
	socklen_t len = sizeof(local);
	struct portal *other;

	if (getsockname(fd, (struct sockaddr *)&local, &len))
		return (uint16_t)p->conf.group;
	list_for_each(other, &portals.list, in_portals)
		if (!other->leaving && !other->fresh &&
		    addr_equal((void *)&other->bound, (void *)&local))
			return (uint16_t)other->conf.group;
	return (uint16_t)p->conf.group;
}

static void hand_over(struct portal *p, int fd)
{
	struct handoff *h = malloc(sizeof(*h));

	if (!h) {
		close(fd);
		return;
	}
	*h = (struct handoff){
		.post.run = handoff_run, .worker = worker_pick(), .fd = fd,
		.group = group_of(p, fd),
	};
	atomic_fetch_add_explicit(&h->worker->nconns, 1, memory_order_relaxed);
	engine_post(h->worker->engine, &h->post);
}

static void portal_free(struct portal *p)
{
	struct portals *all = portals_lock();

	list_del(&p->in_portals);
	portals_unlock(all);
	if (p->fd >= 0)
		close(p->fd);
	free(p);
}

static void accept_start(struct portal *p)
{
	p->accepting = true;
	engine_submit(scsi_host.main, &p->accept);
}

static void accept_done(struct ereq *r)
{
	struct portal *p = container_of(r, struct portal, accept);

	p->accepting = false;
	if (r->result >= 0 && !p->leaving)
		hand_over(p, r->result);
	else if (r->result >= 0)
		close(r->result);
	if (p->leaving) {
		portal_free(p);
		return;
	}
	if (p->suspended)
		return;
	switch (r->result) {
	case -EMFILE:
	case -ENFILE:
	case -ENOBUFS:
	case -ENOMEM:
		log_peer("portal %s: cannot accept: %s", p->conf.text,
			 strerror(-r->result));
		etimer_start(scsi_host.main, &p->pause, ACCEPT_PAUSE_MS);
		return;
	}
	if (r->result < 0 && r->result != -ECONNABORTED)
		log_peer("portal %s: accept: %s", p->conf.text,
			 strerror(-r->result));
	accept_start(p);
}

/* Hosts that wait for the daemon find their volumes open, not becoming ready;
 * but storage that hangs keeps nobody from the rest. */
static void accept_when_opened(struct portal *p)
{
	if (p->accepting || p->suspended)
		return;		/* portals_undo() sees to it */
	if (vols_opened() || p->waited++ == OPENING_MS / OPENING_POLL_MS)
		accept_start(p);
	else
		etimer_start(scsi_host.main, &p->pause, OPENING_POLL_MS);
}

static void pause_over(struct etimer *t)
{
	accept_when_opened(container_of(t, struct portal, pause));
}

static void portal_start(struct portal *p)
{
	char text[ADDR_TEXT];

	pthread_mutex_lock(&portals.lock);
	p->fresh = false;
	pthread_mutex_unlock(&portals.lock);
	if (p->fd < 0)
		return;		/* a wildcard portal's socket serves it */
	p->accept.op = EREQ_ACCEPT;
	p->accept.fd = p->fd;
	p->accept.done = accept_done;
	accept_when_opened(p);
	log_info("listening at %s",
		 addr_text((struct sockaddr *)&p->bound, text));
}

static void portal_stop(struct portal *p)
{
	char text[ADDR_TEXT];

	if (p->leaving)
		return;
	pthread_mutex_lock(&portals.lock);
	p->leaving = true;
	pthread_mutex_unlock(&portals.lock);
	etimer_stop(&p->pause);
	if (!p->fresh)
		log_info("no longer listening at %s",
			 addr_text((struct sockaddr *)&p->bound, text));
	/* nobody gets in from now on; the descriptor goes a turn later */
	if (p->fd >= 0)
		shutdown(p->fd, SHUT_RDWR);
	if (p->accepting)
		engine_cancel(scsi_host.main, &p->accept);
	else
		portal_free(p);
}

/* ---- binding ------------------------------------------------------------ */

static int set_option(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value));
}

static int listen_at(struct sockaddr_storage *addr)
{
	struct sockaddr *a = (struct sockaddr *)addr;
	socklen_t len = sizeof(*addr);
	int fd, err;

	fd = socket(a->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1) ||
	    (a->sa_family == AF_INET6 &&
	     set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY,
			!addr_is_wildcard(a))) ||
	    bind(fd, a, addr_len(a)) || listen(fd, SOMAXCONN) ||
	    getsockname(fd, a, &len)) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

/* [::] means every address; where there is no IPv6 that is 0.0.0.0. */
static int listen_or_fall_back(struct sockaddr_storage *addr)
{
	uint16_t port = addr_port((struct sockaddr *)addr);
	bool all = addr->ss_family == AF_INET6 &&
		   addr_is_wildcard((struct sockaddr *)addr);
	int fd = listen_at(addr);

	if (!all || (fd != -EAFNOSUPPORT && fd != -EADDRNOTAVAIL &&
		     fd != -EPERM))
		return fd;
	*addr = (struct sockaddr_storage){ .ss_family = AF_INET };
	addr_set_port(addr, port);
	return listen_at(addr);
}

static bool same_place(const struct conf_portal *a, const struct conf_portal *b)
{
	return addr_equal((const void *)&a->addr, (const void *)&b->addr);
}

static const struct conf_portal *wanted(const struct conf *c,
					const struct portal *p)
{
	unsigned i;

	for (i = 0; i < c->nportals; i++)
		if (same_place(&c->portals[i], &p->conf))
			return &c->portals[i];
	return NULL;
}

static struct portal *running(const struct conf_portal *c)
{
	struct portal *p;

	list_for_each(p, &portals.list, in_portals)
		if (!p->leaving && same_place(&p->conf, c))
			return p;
	return NULL;
}

/* Is there a wildcard portal that takes connections to c's address? */
static bool covered(const struct conf *now, const struct conf_portal *c)
{
	const struct conf_portal *p;
	unsigned i;

	for (i = 0; i < now->nportals; i++) {
		p = &now->portals[i];
		if (p == c || !addr_is_wildcard((const void *)&p->addr) ||
		    addr_port((const void *)&p->addr) !=
		    addr_port((const void *)&c->addr))
			continue;
		if (p->addr.ss_family == AF_INET6 ||
		    p->addr.ss_family == c->addr.ss_family)
			return true;
	}
	return false;
}

static bool needs_socket(const struct conf *now, const struct conf_portal *c)
{
	return addr_is_wildcard((const void *)&c->addr) || !covered(now, c);
}

/*
 * A socket that is about to go may hold the port that the new one wants.  It is
 * closed early; if the change fails after all, portals_undo() opens it again.
 */
static bool free_port(const struct conf *now, const struct conf_portal *c)
{
	struct portal *p;
	bool any = false;

	list_for_each(p, &portals.list, in_portals) {
		if (p->leaving || p->fresh || p->fd < 0 ||
		    (wanted(now, p) && !p->replaced) ||
		    addr_port((void *)&p->bound) != addr_port((void *)&c->addr))
			continue;
		/* the request under way keeps the file, not the port */
		shutdown(p->fd, SHUT_RDWR);
		p->suspended = any = true;
	}
	return any;
}

static int portal_prepare(const struct conf *now, const struct conf_portal *c)
{
	struct portal *p = calloc(1, sizeof(*p));
	struct portals *all;
	int err = 0;

	if (!p)
		return -ENOMEM;
	p->conf = *c;
	p->bound = c->addr;
	p->fresh = true;
	etimer_init(&p->pause, pause_over);
	p->fd = -1;
	if (needs_socket(now, c)) {
		p->fd = listen_or_fall_back(&p->bound);
		if (p->fd == -EADDRINUSE && free_port(now, c))
			p->fd = listen_or_fall_back(&p->bound);
		err = MIN(p->fd, 0);
	}
	if (err) {
		free(p);
		return err;
	}
	all = portals_lock();
	list_add_tail(&all->list, &p->in_portals);
	portals_unlock(all);
	return 0;
}

/* An explicit portal gets a socket of its own, or loses it, when a wildcard
 * portal goes or comes: then another takes its place. */
static void mark_replaced(const struct conf *now)
{
	const struct conf_portal *c;
	struct portal *p;

	list_for_each(p, &portals.list, in_portals) {
		c = p->leaving ? NULL : wanted(now, p);
		p->replaced = c && needs_socket(now, c) != (p->fd >= 0);
	}
}

int portals_prepare(const struct conf *now, struct config_error *err)
{
	struct portal *p;
	unsigned i;
	int r;

	mark_replaced(now);
	for (i = 0; i < now->nportals; i++) {
		p = running(&now->portals[i]);
		if (p && !p->replaced)
			continue;
		r = portal_prepare(now, &now->portals[i]);
		if (!r)
			continue;
		snprintf(err->text, sizeof(err->text),
			 "portals: cannot listen at %s: %s",
			 now->portals[i].text, strerror(-r));
		portals_undo();
		return r;
	}
	return 0;
}

void portals_apply(const struct conf *now)
{
	const struct conf_portal *c;
	struct portal *p, *next;

	list_for_each_safe(p, next, &portals.list, in_portals) {
		if (p->leaving)
			continue;
		c = wanted(now, p);
		if (!c || p->replaced) {
			portal_stop(p);
			continue;
		}
		pthread_mutex_lock(&portals.lock);
		p->conf = *c;
		pthread_mutex_unlock(&portals.lock);
		if (p->fresh)
			portal_start(p);
	}
}

void portals_undo(void)
{
	struct portal *p, *next;

	list_for_each_safe(p, next, &portals.list, in_portals)
		if (p->fresh)
			portal_stop(p);
	list_for_each(p, &portals.list, in_portals) {
		p->replaced = false;
		if (!p->suspended)
			continue;
		p->suspended = false;
		if (listen(p->fd, SOMAXCONN))
			log_err("cannot listen at %s again: %m", p->conf.text);
		else if (!p->accepting)
			accept_start(p);
	}
}

void portals_stop(void)
{
	struct portal *p, *next;

	list_for_each_safe(p, next, &portals.list, in_portals)
		portal_stop(p);
}

bool portals_quiet(void)
{
	return list_empty(&portals.list);
}
