/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The floor's framing: see floor.h. */

#include <stdio.h>
#include <string.h>

#include "tests/bench/floor.h"
#include "tests/bench/lean.h"

static void floor_request(struct lean *c, struct slot *s)
{
	struct lean_pdu *p = &c->cmd[s->tag].request;
	bool write = s->dir == DATA_OUT;
	struct floor_head h = {
		.op = write ? FLOOR_WRITE : FLOOR_READ,
		.len = s->len, .off = s->off, .tag = s->tag,
	};

	memcpy(p->head, &h, sizeof(h));
	lean_put(c, p, s->out, write ? s->len : 0);
}

static bool floor_head(struct lean *c, const void *head)
{
	struct floor_head h;

	memcpy(&h, head, sizeof(h));
	if (!(h.op & FLOOR_DONE) || h.tag >= c->session->depth) {
		fprintf(stderr, "load: not the floor's answer\n");
		return false;
	}
	c->slot = &c->session->slot[h.tag];
	if (h.op == (FLOOR_READ | FLOOR_DONE)) {
		c->left = h.len;
		c->into = c->slot->in;
		c->slot->moved = h.len;
	}
	return true;
}

static bool floor_end(struct lean *c)
{
	c->slot->status = 0;
	slot_done(c->slot);
	return true;
}

const struct framing floor_framing = {
	.head_len = BHS_LEN,
	.request = floor_request, .head = floor_head, .end = floor_end,
};
