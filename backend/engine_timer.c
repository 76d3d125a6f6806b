/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Timers on a wheel of wheels: starting and stopping one costs the same for
 * four timers and for four thousand.
 *
 * A timer lies on the level of the highest 6-bit digit in which its tick
 * differs from the wheel's own, so the first slot in use on the lowest level in
 * use is always the next one.  When the wheel reaches a slot of a higher level,
 * its timers move down.
 */

#include "backend/engine_int.h"

#include <assert.h>

#define TICK_SHIFT	20
#define DIGIT_BITS	6

/* A century: keeps the sum of now and any timeout from overflowing. */
#define TIMEOUT_MAX_MS	((uint64_t)100 * 365 * 86400 * 1000)

void wheel_init(struct wheel *w, uint64_t now)
{
	w->tick = now >> TICK_SHIFT;
	for (int level = 0; level < WHEEL_LEVELS; level++) {
		w->used[level] = 0;
		for (int i = 0; i < WHEEL_SLOTS; i++)
			list_init(&w->slots[level][i]);
	}
	list_init(&w->expired);
}

static void wheel_add(struct wheel *w, struct etimer *t)
{
	uint64_t tick = MAX(t->due >> TICK_SHIFT, w->tick);
	uint64_t differ = (tick ^ w->tick) | 1;
	int level = (63 - __builtin_clzll(differ)) / DIGIT_BITS;
	unsigned i = tick >> (level * DIGIT_BITS) & (WHEEL_SLOTS - 1);
	struct list *slot = &w->slots[level][i], *at = slot;

	/* The lowest level is kept in order, so that timers fire in order. */
	if (level == 0)
		while (at->prev != slot &&
		       list_entry(at->prev, struct etimer, link)->due > t->due)
			at = at->prev;
	list_insert_before(at, &t->link);
	w->used[level] |= (uint64_t)1 << i;
}

/* The next slot that holds timers: its level, or -1.  Slots whose timers were
 * stopped are cleared on the way. */
static int wheel_first(struct wheel *w, unsigned *ret_slot)
{
	for (int level = 0; level < WHEEL_LEVELS; level++) {
		while (w->used[level]) {
			unsigned i = (unsigned)__builtin_ctzll(w->used[level]);

			if (!list_empty(&w->slots[level][i])) {
				*ret_slot = i;
				return level;
			}
			w->used[level] &= ~((uint64_t)1 << i);
		}
	}
	return -1;
}

/* The first tick of a slot. */
static uint64_t slot_tick(const struct wheel *w, int level, unsigned i)
{
	int shift = level * DIGIT_BITS;

	return (w->tick >> shift & ~(uint64_t)(WHEEL_SLOTS - 1)) << shift |
	       (uint64_t)i << shift;
}

uint64_t wheel_next(struct wheel *w)
{
	unsigned i;
	int level = wheel_first(w, &i);

	if (level < 0)
		return WAIT_FOREVER;
	if (level == 0)
		return list_first(&w->slots[0][i], struct etimer, link)->due;
	return slot_tick(w, level, i) << TICK_SHIFT;
}

/* Moves the timers of the slot that are due to w->expired. */
static void slot_expire(struct wheel *w, struct list *slot, uint64_t now)
{
	while (!list_empty(slot)) {
		struct etimer *t = list_first(slot, struct etimer, link);

		if (t->due > now)
			return;
		list_del(&t->link);
		list_add_tail(&w->expired, &t->link);
	}
}

static void slot_move_down(struct wheel *w, struct list *slot)
{
	while (!list_empty(slot)) {
		struct etimer *t = list_first(slot, struct etimer, link);

		list_del(&t->link);
		wheel_add(w, t);
	}
}

void wheel_run(struct wheel *w, uint64_t now)
{
	uint64_t target = MAX(now >> TICK_SHIFT, w->tick);

	for (;;) {
		unsigned i;
		int level = wheel_first(w, &i);

		if (level < 0 || slot_tick(w, level, i) > target)
			break;
		w->tick = slot_tick(w, level, i);
		if (level > 0) {
			slot_move_down(w, &w->slots[level][i]);
			continue;
		}
		slot_expire(w, &w->slots[0][i], now);
		if (!list_empty(&w->slots[0][i]))
			break;
	}
	w->tick = target;

	while (!list_empty(&w->expired)) {
		struct etimer *t = list_first(&w->expired, struct etimer, link);

		list_del(&t->link);
		t->fire(t);
	}
}

void etimer_init(struct etimer *t, void (*fire)(struct etimer *t))
{
	list_init(&t->link);
	t->due = 0;
	t->fire = fire;
}

void etimer_start(struct engine *e, struct etimer *t, uint64_t ms)
{
	assert(t->fire);
	list_del(&t->link);
	t->due = engine_now(e) + MIN(ms, TIMEOUT_MAX_MS) * 1000000;
	wheel_add(&e->wheel, t);
}

void etimer_stop(struct etimer *t)
{
	list_del(&t->link);
}

bool etimer_running(const struct etimer *t)
{
	return list_linked(&t->link);
}
