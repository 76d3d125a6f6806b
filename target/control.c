/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Clients of the control socket.  A client has one call at a time: its next
 * line is looked at when the answer to the last one is sent, so what it may
 * hold of our memory is one line and one answer.
 */

#include "target/control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/limits.h"
#include "lib/list.h"
#include "lib/log.h"
#include "target/control_int.h"
#include "target/state.h"
#include "target/worker.h"

#define LINE_FIRST	(4u << 10)	/* bytes of room at first */
#define ACCEPT_PAUSE_MS	100

struct client {
	struct list	 in_control;
	int		 fd;
	char		*buf;		/* bytes that came, used of size */
	size_t		 used, size;
	struct ereq	 recv, send;
	struct iovec	 recv_iov, send_iov;
	char		*answer;
	struct ctl_call	*call;		/* under way */
	struct etimer	 slow;
	struct edefer	 next;
	bool		 receiving, sending, closing, last;
	uint64_t	 active;	/* ns, when it last did something */
};

static struct control {
	int		 fd;
	char		 path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	struct ereq	 accept;
	struct etimer	 pause;
	struct list	 clients;	/* in the order of their arrival */
	unsigned	 nclients;
	unsigned	 works;		/* that go on after their answer */
	bool		 accepting;
} control = { .fd = -1, .clients = { &control.clients, &control.clients } };

static void client_work(struct client *c);

static void client_free_if_idle(struct client *c)
{
	if (!c->closing || c->receiving || c->sending)
		return;
	list_del(&c->in_control);
	control.nclients--;
	etimer_stop(&c->slow);
	close(c->fd);
	free(c->answer);
	free(c->buf);
	free(c);
}

static void client_close(struct client *c)
{
	if (c->closing)
		return;
	c->closing = true;
	if (c->call)
		c->call->client = NULL;
	c->call = NULL;
	edefer_cancel(&c->next);
	if (c->receiving)
		engine_cancel(scsi_host.main, &c->recv);
	if (c->sending)
		engine_cancel(scsi_host.main, &c->send);
	client_free_if_idle(c);
}

/* ---- answers ------------------------------------------------------------ */

static void send_done(struct ereq *r)
{
	struct client *c = container_of(r, struct client, send);

	c->sending = false;
	etimer_stop(&c->slow);
	free(c->answer);
	c->answer = NULL;
	if (c->closing) {
		client_free_if_idle(c);
	} else if (r->result < 0 || c->last) {
		client_close(c);
	} else {
		c->active = engine_now(scsi_host.main);
		client_work(c);
	}
}

static void client_slow(struct etimer *t)
{
	struct client *c = container_of(t, struct client, slow);

	log_peer("control: a client does not take its answer");
	client_close(c);
}

/* Of a call that is over; its client may be gone. */
static void answered(struct ctl_call *call, char *line)
{
	struct client *c = call->client;
	size_t n;

	if (!c) {
		free(line);
		return;
	}
	c->call = NULL;
	if (!line) {
		/* a notification: on to the next line, but not from here */
		engine_defer(scsi_host.main, &c->next);
		return;
	}
	n = strlen(line);
	line[n++] = '\n';	/* the end is not sent */
	c->answer = line;
	c->send_iov = (struct iovec){ line, n };
	c->send = (struct ereq){
		.op = EREQ_SEND, .fd = c->fd, .iov = &c->send_iov, .niov = 1,
		.len = n, .done = send_done,
	};
	c->sending = true;
	etimer_start(scsi_host.main, &c->slow, CONTROL_SEND_SECONDS * 1000);
	engine_submit(scsi_host.main, &c->send);
}

/* ---- lines -------------------------------------------------------------- */

static struct ctl_call *call_new(struct client *c)
{
	struct ctl_call *call = calloc(1, sizeof(*call));

	if (!call)
		return NULL;
	call->answer = answered;
	call->client = c;
	c->call = call;
	return call;
}

static void take_line(struct client *c, size_t len)
{
	struct ctl_call *call = call_new(c);
	char *line = malloc(len + 1);

	if (!call || !line) {
		free(line);
		free(call);
		c->call = NULL;
		client_close(c);
		return;
	}
	memcpy(line, c->buf, len);
	c->used -= len + 1;
	memmove(c->buf, c->buf + len + 1, c->used);
	ctl_line(call, line, len);
	explicit_bzero(line, len);	/* there may have been a secret in it */
	free(line);
}

static bool grow(struct client *c)
{
	size_t size = c->size ? c->size * 2 : LINE_FIRST;
	char *buf = size > CONTROL_LINE_MAX ? NULL : realloc(c->buf, size);

	if (!buf)
		return false;
	c->buf = buf;
	c->size = size;
	return true;
}

static void recv_done(struct ereq *r)
{
	struct client *c = container_of(r, struct client, recv);

	c->receiving = false;
	if (c->closing) {
		client_free_if_idle(c);
		return;
	}
	if (r->result <= 0) {
		client_close(c);
		return;
	}
	c->active = engine_now(scsi_host.main);
	c->used += (size_t)r->result;
	client_work(c);
}

static void receive(struct client *c)
{
	struct ctl_call *call;

	if (c->used == c->size && !grow(c)) {
		call = call_new(c);
		c->last = true;
		if (call)
			ctl_too_long(call);
		else
			client_close(c);
		return;
	}
	c->recv_iov = (struct iovec){ c->buf + c->used, c->size - c->used };
	c->recv = (struct ereq){
		.op = EREQ_RECV, .fd = c->fd, .iov = &c->recv_iov, .niov = 1,
		.done = recv_done,
	};
	c->receiving = true;
	engine_submit(scsi_host.main, &c->recv);
}

/* The next line, or more bytes.  Called when nothing of c is under way. */
static void client_work(struct client *c)
{
	char *end = c->used ? memchr(c->buf, '\n', c->used) : NULL;

	if (end)
		take_line(c, (size_t)(end - c->buf));
	else
		receive(c);
}

static void client_next(struct edefer *d)
{
	client_work(container_of(d, struct client, next));
}

/* ---- accepting ---------------------------------------------------------- */

/* Makes room: the client that has been silent longest goes. */
static void drop_idle(void)
{
	struct client *c, *oldest = NULL;

	list_for_each(c, &control.clients, in_control)
		if (!c->call && !c->sending && !c->closing &&
		    (!oldest || c->active < oldest->active))
			oldest = c;
	if (oldest)
		client_close(oldest);
}

static void client_new(int fd)
{
	struct client *c;

	if (control.nclients >= CONTROL_CLIENTS)
		drop_idle();
	c = control.nclients < CONTROL_CLIENTS + 16 ?
	    calloc(1, sizeof(*c)) : NULL;
	if (!c) {
		close(fd);
		return;
	}
	c->fd = fd;
	c->active = engine_now(scsi_host.main);
	etimer_init(&c->slow, client_slow);
	list_init(&c->next.link);
	c->next.run = client_next;
	list_add_tail(&control.clients, &c->in_control);
	control.nclients++;
	client_work(c);
}

static void accept_start(void)
{
	control.accepting = true;
	engine_submit(scsi_host.main, &control.accept);
}

static void accept_done(struct ereq *r)
{
	control.accepting = false;
	if (control.fd < 0) {
		if (r->result >= 0)
			close(r->result);
		return;
	}
	if (r->result >= 0) {
		client_new(r->result);
	} else {
		log_peer("control: accept: %s", strerror(-r->result));
		etimer_start(scsi_host.main, &control.pause, ACCEPT_PAUSE_MS);
		return;
	}
	accept_start();
}

static void pause_over(struct etimer *t)
{
	(void)t;
	accept_start();
}

/* ---- life --------------------------------------------------------------- */

/* Does somebody listen at the socket? */
static bool lives(const struct sockaddr_un *un)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool yes;

	if (fd < 0)
		return false;
	yes = !connect(fd, (const struct sockaddr *)un, sizeof(*un)) ||
	      errno == EAGAIN;
	close(fd);
	return yes;
}

static int bind_socket(int fd, const struct sockaddr_un *un)
{
	struct stat st;
	mode_t mask;
	int r;

	if (!lstat(un->sun_path, &st)) {
		if (!S_ISSOCK(st.st_mode))
			return -EEXIST;
		if (lives(un))
			return -EADDRINUSE;
		unlink(un->sun_path);
	}
	mask = umask(0117);		/* 0660 from the first moment on */
	r = bind(fd, (const struct sockaddr *)un, sizeof(*un)) ? -errno : 0;
	umask(mask);
	if (!r && listen(fd, CONTROL_CLIENTS))
		r = -errno;
	return r;
}

static void make_folder(const char *path)
{
	char dir[sizeof(control.path)];
	char *slash;

	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	if (!slash || slash == dir)
		return;
	*slash = '\0';
	make_folders(dir, 0755);	/* bind() will say what is wrong */
}

int control_start(const char *path)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int fd, r;

	if (strlen(path) >= sizeof(un.sun_path))
		return -ENAMETOOLONG;
	memcpy(un.sun_path, path, strlen(path));
	make_folder(path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	r = bind_socket(fd, &un);
	if (r) {
		close(fd);
		return r;
	}
	memcpy(control.path, path, strlen(path) + 1);
	control.fd = fd;
	etimer_init(&control.pause, pause_over);
	control.accept = (struct ereq){
		.op = EREQ_ACCEPT, .fd = fd, .done = accept_done,
	};
	accept_start();
	return 0;
}

bool control_quiet(void)
{
	return control.fd < 0 && !control.accepting && !control.nclients &&
	       !control.works;
}

void control_work_begins(void)
{
	control.works++;
}

void control_work_ends(void)
{
	control.works--;
}

void control_stop(void)
{
	struct client *c, *next;

	if (control.fd < 0)
		return;
	unlink(control.path);
	etimer_stop(&control.pause);
	if (control.accepting)
		engine_cancel(scsi_host.main, &control.accept);
	close(control.fd);
	control.fd = -1;
	list_for_each_safe(c, next, &control.clients, in_control)
		client_close(c);
}
