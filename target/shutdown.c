/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The end of all sessions: each initiator is asked to log out (RFC 7143 11.9.1,
 * event 1), after the grace the rest is dropped, and when the last connection
 * is freed the main thread hears of it.
 */

#include "target/registry_int.h"

struct half_open_post {
	struct epost	 post;
	struct worker	*worker;
};

static void empty_run(struct epost *post)
{
	struct registry *r = registry_lock();
	void (*on_empty)(void) = r->on_empty;

	(void)post;
	r->on_empty = NULL;
	etimer_stop(&r->grace);
	registry_unlock(r);
	if (on_empty)
		on_empty();
}

void shutdown_check(struct registry *r)
{
	if (!r->closed || r->nconns || r->empty_post.run)
		return;
	r->empty_post.run = empty_run;
	engine_post(scsi_host.main, &r->empty_post);
}

static void ask_all(struct registry *r, unsigned ask, const char *reason,
		    unsigned seconds)
{
	struct session *s;

	list_for_each(s, &r->all, in_registry) {
		if (!s->registered)
			continue;
		s->order.end_reason = reason;
		s->order.logout_seconds = seconds;
		registry_ask(s, ask);
	}
}

static void grace_over(struct etimer *t)
{
	struct registry *r = registry_lock();

	(void)t;
	ask_all(r, ASK_END, "the daemon stops", 0);
	registry_unlock(r);
}

/* Those that are logging in know of no session: they are dropped at once. */
static void half_open_run(struct epost *post)
{
	struct half_open_post *h = container_of(post, struct half_open_post,
						post);
	struct conn *c;

	h->worker->stopping = true;
	list_for_each(c, &h->worker->conns, in_worker)
		if (!c->session)
			conn_close(c, "the daemon stops");
}

/* Once: the daemon stops but one time, maybe before the worker looks. */
static void drop_half_open(struct worker *w)
{
	static struct half_open_post posts[MAX_WORKERS];
	struct half_open_post *h = &posts[w->index];

	h->post.run = half_open_run;
	h->worker = w;
	engine_post(w->engine, &h->post);
}

void sessions_shutdown(unsigned grace_ms, void (*done)(void))
{
	struct registry *r = registry_lock();
	unsigned i;

	r->closed = true;
	r->on_empty = done;
	ask_all(r, ASK_LOGOUT, NULL, grace_ms / 1000);
	etimer_init(&r->grace, grace_over);
	etimer_start(scsi_host.main, &r->grace, grace_ms);
	shutdown_check(r);
	registry_unlock(r);
	for (i = 0; i < scsi_host.nworkers; i++)
		drop_half_open(&workers[i]);
}
