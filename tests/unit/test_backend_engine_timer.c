/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The wheel of timers, over hours of a clock that the test turns. */

#include "backend/engine_int.h"

#include <stdlib.h>

#include "lib/util.h"
#include "tests/lib/unit.h"

#define TIMERS 500

static struct engine e;
static unsigned fired;
static uint64_t last_due, turn_before;

struct model {
	struct etimer t;
	bool running;
};

static struct model m[TIMERS];

static void fire(struct etimer *t)
{
	struct model *one = container_of(t, struct model, t);

	ck_assert(one->running);
	ck_assert_uint_le(t->due, e.now);
	ck_assert_uint_gt(t->due, turn_before);
	ck_assert_uint_ge(t->due, last_due);
	one->running = false;
	last_due = t->due;
	fired++;
}

static void setup(void)
{
	e.running = true;
	e.now = 123456789012345;
	turn_before = e.now - 1;
	wheel_init(&e.wheel, e.now);
	for (int i = 0; i < TIMERS; i++)
		etimer_init(&m[i].t, fire);
	fired = 0;
}

static void turn_to(uint64_t now)
{
	e.now = now;
	last_due = 0;
	wheel_run(&e.wheel, now);
	for (int i = 0; i < TIMERS; i++)
		/* ck_assert() each time would flood check's pipe */
		if (m[i].running != etimer_running(&m[i].t) ||
		    (m[i].running && m[i].t.due <= now))
			ck_abort_msg("timer %d was missed", i);
	turn_before = now;
}

static void start(struct model *one, uint64_t ms)
{
	one->running = true;
	etimer_start(&e, &one->t, ms);
}

START_TEST(each_timer_fires_in_the_first_turn_that_it_is_due_in)
{
	static const uint64_t spans[] = { 2, 100, 5000, 400000, 30000000 };
	unsigned seed = (unsigned)_i + 1;
	uint64_t span = spans[_i];

	for (int turn = 0; turn < 2000; turn++) {
		for (int k = 0; k < 4; k++) {
			struct model *one = &m[rand_r(&seed) % TIMERS];

			if (rand_r(&seed) % 4) {
				start(one, (uint64_t)rand_r(&seed) % span);
				turn_before = e.now - 1;
			} else {
				etimer_stop(&one->t);
				one->running = false;
			}
		}
		turn_to(e.now + (uint64_t)rand_r(&seed) % span * 40000);
	}
	ck_assert_uint_gt(fired, 100);
}
END_TEST

START_TEST(sleeping_until_told_wakes_for_each_timer_in_time)
{
	unsigned seed = 7, turns = 0;
	uint64_t next;

	for (int i = 0; i < TIMERS; i++)
		start(&m[i], (uint64_t)rand_r(&seed) % 3600000);
	while ((next = wheel_next(&e.wheel)) != WAIT_FOREVER) {
		for (int i = 0; i < TIMERS; i++)
			if (m[i].running && m[i].t.due < next)
				ck_abort_msg("timer %d is overslept", i);
		turn_to(MAX(next, e.now));
		turns++;
	}
	ck_assert_uint_eq(fired, TIMERS);
	/* one for each timer, and a few more to move them down */
	ck_assert_uint_lt(turns, 4 * TIMERS);
}
END_TEST

START_TEST(timer_of_no_time_is_due_in_the_next_turn)
{
	start(&m[0], 0);
	ck_assert_uint_le(wheel_next(&e.wheel), e.now);
	turn_before = e.now - 1;
	turn_to(e.now);
	ck_assert_uint_eq(fired, 1);
	ck_assert_uint_eq(wheel_next(&e.wheel), WAIT_FOREVER);
}
END_TEST

START_TEST(timer_may_be_set_for_longer_than_anyone_lives)
{
	start(&m[0], UINT64_MAX);
	turn_to(e.now + (uint64_t)90 * 365 * 86400 * 1000000000);
	ck_assert_uint_eq(fired, 0);
	turn_to(e.now + (uint64_t)11 * 365 * 86400 * 1000000000);
	ck_assert_uint_eq(fired, 1);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("engine timers");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_loop_test(tc,
		each_timer_fires_in_the_first_turn_that_it_is_due_in, 0, 5);
	tcase_add_test(tc, sleeping_until_told_wakes_for_each_timer_in_time);
	tcase_add_test(tc, timer_of_no_time_is_due_in_the_next_turn);
	tcase_add_test(tc, timer_may_be_set_for_longer_than_anyone_lives);
	return unit_run("backend/engine timers", tc);
}
