/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Keeps the commands of all sessions in flight for a while. */

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/bench/load.h"

#define ERRORS_MAX	1000u
#define PROBE_NS	1000000u	/* between two probes */

enum { KEY_ATTENTION = 0x6, KEY_MISCOMPARED = 0xe };
enum { STATUS_CHECK = 0x02, STATUS_BUSY_ = 0x08, STATUS_FULL = 0x28 };

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void slot_done(struct slot *s)
{
	s->session->in_flight--;
	s->done(s);
}

static void submit(struct slot *s)
{
	s->status = -1;
	s->sense_key = 0;
	s->moved = 0;
	s->session->in_flight++;
	s->session->client->submit(s->session->conn, s);
}

static void ignore_done(struct slot *s)
{
	(void)s;
}

/* The first commands of a nexus meet unit attentions. */
int run_one(struct session *s, struct slot *slot)
{
	unsigned tries;

	for (tries = 0; tries < 20; tries++) {
		slot->done = ignore_done;
		submit(slot);
		do {
			if (!s->client->flush(s->conn) ||
			    !s->client->receive(s->conn, POLLIN, true))
				return -1;
		} while (s->in_flight);
		if (slot->status != STATUS_CHECK ||
		    slot->sense_key != KEY_ATTENTION)
			break;
	}
	return slot->status;
}

static void load_done(struct slot *slot);

static void start_next(struct session *s, struct slot *slot)
{
	struct load *l = s->load;

	if (l->stopping || !work_next(s, slot))
		return;
	slot->started = l->now ? l->now : now_ns();
	slot->done = load_done;
	submit(slot);
}

static void count_good(struct load *l, struct slot *slot, bool reread)
{
	work_check(slot);
	if (reread)
		return;
	if (slot->work == WORK_CAW && !slot->session->is_probe)
		l->successes++;
	if (!l->measuring || slot->session->is_probe)
		return;
	l->ops++;
	l->bytes += slot->work <= WORK_UNMAP || slot->work == WORK_XCOPY ?
		l->opt.bs : slot->len;
}

/* True: to be done again. */
static bool count_bad(struct load *l, struct slot *slot)
{
	if (slot->status == STATUS_BUSY_ || slot->status == STATUS_FULL ||
	    (slot->status == STATUS_CHECK &&
	     slot->sense_key == KEY_ATTENTION)) {
		l->retries += l->measuring;
		return true;
	}
	if (slot->work == WORK_CAW && slot->status == STATUS_CHECK &&
	    slot->sense_key == KEY_MISCOMPARED) {
		l->retries += l->measuring;
		slot->rereads = true;
		return false;
	}
	if (!l->errors++)
		snprintf(l->first_error, sizeof(l->first_error),
			 "%02xh:status=%02xh,sense=%x/%02x/%02x",
			 slot->cdb[0], (unsigned)slot->status & 0xff,
			 slot->sense_key, slot->asc, slot->ascq);
	l->stopping |= l->errors >= ERRORS_MAX;
	return false;
}

static void load_done(struct slot *slot)
{
	struct session *s = slot->session;
	struct load *l = s->load;
	bool reread = slot->work == WORK_CAW && slot->rereads;

	if (!l->now)
		l->now = now_ns();
	l->commands += l->measuring;
	if (slot->status && count_bad(l, slot)) {
		slot->done = load_done;
		if (!l->stopping)
			submit(slot);
		return;
	}
	if (!slot->status)
		count_good(l, slot, reread);
	if (l->measuring && !reread)
		hist_add(s->is_probe ? &l->probe : &l->hist,
			 l->now - slot->started);
	if (!s->is_probe || slot->rereads != reread)
		start_next(s, slot);
}

static bool session_open(struct load *l, unsigned i)
{
	struct session *s = &l->session[i];
	size_t buf = MAX(l->opt.bs, 16384u);
	unsigned j;

	s->opt = &l->opt;
	s->client = l->opt.client;
	s->load = l;
	s->index = i;
	s->is_probe = i >= l->nsessions;
	s->depth = s->is_probe ? 1 : l->opt.depth;
	s->rng = 0x2545f4914f6cdd1du * (i + 1);
	s->slot = calloc(s->depth, sizeof(*s->slot));
	if (!s->slot)
		return false;
	for (j = 0; j < s->depth; j++) {
		s->slot[j] = (struct slot){ .session = s, .tag = j,
					    .rereads = true };
		s->slot[j].buf = aligned_alloc(4096, round_up(buf, 4096));
		if (!s->slot[j].buf)
			return false;
		memset(s->slot[j].buf, 0, buf);
	}
	s->conn = s->client->open(s);
	return s->conn;
}

bool run_open(struct load *l)
{
	unsigned n = l->nsessions + (l->opt.probe != WORKS), i;
	size_t len = MAX(l->opt.bs, 4096u);

	l->session = calloc(n, sizeof(*l->session));
	l->pattern = aligned_alloc(4096, round_up(len, 4096));
	if (!l->session || !l->pattern)
		return false;
	for (i = 0; i < len; i++)
		l->pattern[i] = (uint8_t)(i * 131 + 7);
	for (i = 0; i < n; i++)
		if (!session_open(l, i))
			return false;
	return true;
}

void run_close(struct load *l)
{
	unsigned i, j;

	for (i = 0; i < l->nsessions + (l->opt.probe != WORKS); i++) {
		struct session *s = &l->session[i];

		if (s->conn)
			s->client->close(s->conn);
		for (j = 0; s->slot && j < s->depth; j++)
			free(s->slot[j].buf);
		free(s->slot);
	}
	free(l->session);
	free(l->pattern);
}

static void start_all(struct load *l)
{
	uint64_t part = l->size / l->nsessions / l->opt.bs * l->opt.bs;
	unsigned i, j;

	for (i = 0; i < l->nsessions; i++) {
		struct session *s = &l->session[i];

		s->cursor = l->opt.off + i * part;
		s->end = s->cursor + part;
		for (j = 0; j < s->depth; j++)
			start_next(s, &s->slot[j]);
		s->client->flush(s->conn);
	}
}

static bool busy(const struct load *l)
{
	unsigned i;

	for (i = 0; i < l->nsessions; i++)
		if (l->session[i].in_flight)
			return true;
	return l->opt.probe != WORKS && l->session[i].in_flight;
}

static void maybe_probe(struct load *l)
{
	struct session *s = &l->session[l->nsessions];
	uint64_t now = now_ns();

	if (s->in_flight || now < s->next_probe)
		return;
	s->next_probe = now + PROBE_NS;
	l->now = now;
	start_next(s, &s->slot[0]);
	s->client->flush(s->conn);
}

static bool turn_of(struct session *s, short events, bool wait)
{
	s->load->now = 0;
	return s->client->receive(s->conn, events, wait) &&
		s->client->flush(s->conn);
}

static bool turn(struct load *l, struct pollfd *p)
{
	unsigned n = l->nsessions + (l->opt.probe != WORKS), i;

	if (n == 1)
		return turn_of(&l->session[0], POLLIN, true);
	if (l->opt.probe != WORKS)
		maybe_probe(l);
	for (i = 0; i < n; i++) {
		struct session *s = &l->session[i];

		p[i].fd = s->client->fd(s->conn);
		p[i].events = s->client->events(s->conn);
	}
	if (poll(p, n, l->opt.probe != WORKS ? 1 : 60000) < 0)
		return false;
	for (i = 0; i < n; i++)
		if (p[i].revents &&
		    !turn_of(&l->session[i], p[i].revents, false))
			return false;
	return true;
}

static void look_at_clock(struct load *l)
{
	uint64_t now = now_ns();

	if (!l->measuring && !l->stopping && now >= l->start) {
		l->measuring = true;
		l->start = now;
		proc_read(l->opt.pid, &l->proc[0]);
		l->own_cpu = proc_own_cpu_ns();
	}
	if (l->measuring && (now >= l->stop || l->stopping || !busy(l))) {
		l->measuring = false;
		l->stopping = true;
		l->stop = now;
		proc_read(l->opt.pid, &l->proc[1]);
		l->own_cpu = proc_own_cpu_ns() - l->own_cpu;
	}
}

static bool counters_clear(struct load *l)
{
	struct slot *slot = &l->session[0].slot[0];
	unsigned i, n = l->opt.contend ? 1 : l->nsessions * l->opt.depth;

	for (i = 0; i < n; i++) {
		slot->work = WORK_WRITE;
		slot->lun = l->opt.lun;
		memset(slot->buf, 0, l->block_size);
		slot->out = slot->buf;
		cdb_rw(slot, true, l->opt.off / l->block_size + i, 1);
		if (run_one(&l->session[0], slot))
			return false;
	}
	return true;
}

bool run_load(struct load *l)
{
	struct pollfd *p = calloc(l->nsessions + 1, sizeof(*p));
	bool good = p;

	if (l->opt.work == WORK_CAW && !counters_clear(l))
		good = false;
	l->start = now_ns() + (uint64_t)(l->opt.warm * 1e9);
	l->stop = l->start + (uint64_t)(l->opt.seconds * 1e9);
	if (good)
		start_all(l);
	look_at_clock(l);
	while (good && busy(l)) {
		good = turn(l, p);
		look_at_clock(l);
	}
	look_at_clock(l);
	free(p);
	return good;
}
