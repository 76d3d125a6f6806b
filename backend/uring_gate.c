/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Gates: asking a file system, in the midst of a turn, whether a write to it
 * would wait.  See struct egate in engine.h.
 */

#include "backend/engine_int.h"
#include "backend/uring_int.h"
#include "lib/util.h"

/* A write that took so long has waited, for dirty pages to go out or for the
 * journal, and the next ones are likely to wait as well. */
#define SLOW_NS		1000000u
#define SHUT_NS		100000000u

static void answered(struct ereq *r)
{
	struct egate *g = container_of(r, struct egate, ask);

	g->asked = false;
	g->used(g, false);
}

static bool ask(struct engine *e, struct io_uring *ring, struct egate *g)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	if (!sqe)
		return false;
	g->ask = (struct ereq){
		.op = EREQ_WRITE, .fd = g->fd, .done = answered,
	};
	list_init(&g->ask.link);
	io_uring_prep_write(sqe, g->fd, NULL, 0, 0);
	io_uring_sqe_set_data(sqe, &g->ask);
	g->asked = true;
	g->used(g, true);
	e->busy++;
	io_uring_submit(ring);
	return true;
}

/* Did the kernel say "open" within the call that asked?  The answer is taken
 * off the ring when it is the next there, and reaped in its time when not. */
static bool says_open(struct engine *e, struct io_uring *ring, struct egate *g)
{
	struct io_uring_cqe *cqe;
	unsigned head, n = 0;

	io_uring_for_each_cqe(ring, head, cqe) {
		bool open = cqe->res == 0;

		if (n++ == 0 && cqe->user_data == (uintptr_t)&g->ask) {
			io_uring_cq_advance(ring, 1);
			e->busy--;
			answered(&g->ask);
			return open;
		}
		if (cqe->user_data == (uintptr_t)&g->ask)
			return open;
	}
	return false;
}

bool uring_gate_open(struct engine *e, struct io_uring *ring, struct egate *g,
		     uint64_t turn)
{
	if (g->turn == turn)
		return g->open;
	if (g->asked || e->now < g->shut_until || !ask(e, ring, g))
		return false;
	g->turn = turn;
	g->open = says_open(e, ring, g);
	engine_clock(e);
	return g->open;
}

void uring_gate_took(struct engine *e, struct egate *g)
{
	uint64_t since = e->now;

	engine_clock(e);
	if (e->now - since < SLOW_NS)
		return;
	g->open = false;
	g->shut_until = e->now + SHUT_NS;
}
