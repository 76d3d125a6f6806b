/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Range locks: who waits for whom, in which order, and that nobody is lost. */

#include "scsi/range.h"

#include <pthread.h>

#include "tests/lib/fake_backend.h"
#include "tests/lib/unit.h"

static struct range_set *set;
static struct engine *eng;
static unsigned order;

struct holder {
	struct range	 r;
	unsigned	 granted;	/* 1 for the first of all, 0: not yet */
};

static void setup(void)
{
	struct engine_config config = { .buf_total = 0 };
	int err;

	eng = engine_new(&config, &err);
	set = range_set_new();
	order = 0;
}

static void teardown(void)
{
	ck_assert(range_set_empty(set));
	range_set_free(set);
	engine_free(eng);
}

static void granted(struct range *r)
{
	container_of(r, struct holder, r)->granted = ++order;
}

static struct holder holder(uint64_t lba, uint64_t n, bool exclusive)
{
	return (struct holder){ .r = {
		.lba = lba, .nblocks = n, .exclusive = exclusive,
		.engine = eng, .granted = granted,
	} };
}

static bool lock(struct holder *h)
{
	return range_lock(set, &h->r);
}

static void unlock(struct holder *h)
{
	range_unlock(set, &h->r);
	fake_run();
}

START_TEST(shared_ranges_overlap_freely)
{
	struct holder a = holder(0, 10, false), b = holder(5, 10, false);

	ck_assert(lock(&a));
	ck_assert(lock(&b));
	unlock(&a);
	unlock(&b);
}
END_TEST

START_TEST(an_exclusive_range_waits_for_shared_ones_that_overlap)
{
	struct holder a = holder(0, 10, false), b = holder(9, 1, true);

	ck_assert(lock(&a));
	ck_assert(!lock(&b));
	fake_run();
	ck_assert_uint_eq(b.granted, 0);
	unlock(&a);
	ck_assert_uint_eq(b.granted, 1);
	ck_assert(b.r.held && !b.r.queued);
	unlock(&b);
}
END_TEST

START_TEST(ranges_that_only_touch_do_not_wait)
{
	struct holder a = holder(0, 10, true), b = holder(10, 5, true),
		      c = holder(UINT64_MAX, 1, true);

	ck_assert(lock(&a));
	ck_assert(lock(&b));
	ck_assert(lock(&c));
	unlock(&a);
	unlock(&b);
	unlock(&c);
}
END_TEST

START_TEST(a_shared_range_does_not_overtake_an_exclusive_one_that_waits)
{
	struct holder a = holder(0, 8, false), b = holder(4, 1, true),
		      c = holder(4, 1, false), d = holder(5, 1, false);

	ck_assert(lock(&a));
	ck_assert(!lock(&b));
	ck_assert(!lock(&c));
	ck_assert(lock(&d));		/* does not overlap b */
	unlock(&a);
	ck_assert_uint_eq(b.granted, 1);
	ck_assert_uint_eq(c.granted, 0);
	unlock(&b);
	ck_assert_uint_eq(c.granted, 2);
	unlock(&c);
	unlock(&d);
}
END_TEST

START_TEST(exclusive_ranges_are_granted_first_come_first_served)
{
	struct holder h[5];
	unsigned i;

	for (i = 0; i < 5; i++) {
		h[i] = holder(7, 1, true);
		ck_assert_int_eq(lock(&h[i]), i == 0);
	}
	for (i = 0; i < 5; i++) {
		ck_assert_uint_eq(order, i);
		unlock(&h[i]);
	}
}
END_TEST

/* n holders that wait for one exclusive range held here: every odd one is on
 * another thread. */
static void convoy(struct holder *h, unsigned n, struct engine *other)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		h[i] = holder(0, 1, true);
		if (i % 2)
			h[i].r.engine = other;
		ck_assert_int_eq(lock(&h[i]), !i);
	}
}

START_TEST(exclusive_ranges_of_the_thread_that_unlocks_go_first)
{
	struct engine_config config = { .buf_total = 0 };
	int err;
	struct engine *other = engine_new(&config, &err);
	struct holder h[6];
	static const unsigned turn[6] = { 0, 3, 1, 4, 2, 5 };
	unsigned i, k;

	fake_enter(eng);
	convoy(h, 6, other);
	unlock(&h[0]);
	for (k = 1; k < 6; k++)
		for (i = 1; i < 6; i++)
			if (h[i].granted == k)
				unlock(&h[i]);
	for (i = 1; i < 6; i++)
		ck_assert_uint_eq(h[i].granted, turn[i]);
	engine_free(other);
}
END_TEST

START_TEST(exclusive_ranges_of_another_thread_wait_for_so_many_at_most)
{
	struct engine_config config = { .buf_total = 0 };
	int err;
	struct engine *other = engine_new(&config, &err);
	struct holder foreign = holder(0, 1, true), here[2];
	unsigned i;

	fake_enter(eng);
	foreign.r.engine = other;
	here[0] = holder(0, 1, true);
	ck_assert(lock(&here[0]));
	ck_assert(!lock(&foreign));
	for (i = 0; i < 100 && !foreign.granted; i++) {
		here[!(i % 2)] = holder(0, 1, true);
		ck_assert(!lock(&here[!(i % 2)]));
		unlock(&here[i % 2]);
	}
	ck_assert_uint_ge(i, 2);
	ck_assert_uint_lt(i, 20);
	unlock(&foreign);
	unlock(&here[i % 2]);
	engine_free(other);
}
END_TEST

START_TEST(who_does_not_conflict_passes_those_that_wait)
{
	struct holder a = holder(0, 4, true), b = holder(0, 4, true),
		      c = holder(8, 4, true);

	ck_assert(lock(&a));
	ck_assert(!lock(&b));
	ck_assert(lock(&c));
	unlock(&a);
	unlock(&b);
	unlock(&c);
}
END_TEST

START_TEST(a_cancelled_range_lets_those_behind_it_in)
{
	struct holder a = holder(0, 4, false), b = holder(0, 4, true),
		      c = holder(0, 4, false);

	ck_assert(lock(&a));
	ck_assert(!lock(&b));
	ck_assert(!lock(&c));
	ck_assert(range_cancel(set, &b.r));
	fake_run();
	ck_assert_uint_eq(b.granted, 0);
	ck_assert_uint_eq(c.granted, 1);
	unlock(&a);
	unlock(&c);
}
END_TEST

START_TEST(a_range_whose_grant_is_on_the_way_cannot_be_cancelled)
{
	struct holder a = holder(0, 4, true), b = holder(0, 4, true);

	ck_assert(lock(&a));
	ck_assert(!lock(&b));
	range_unlock(set, &a.r);
	ck_assert(!range_cancel(set, &b.r));
	fake_run();
	ck_assert_uint_eq(b.granted, 1);
	unlock(&b);
}
END_TEST

START_TEST(a_second_range_passes_those_that_wait_for_the_first)
{
	struct holder a = holder(0, 4, false), b = holder(0, 8, true),
		      c = holder(4, 4, false);

	ck_assert(lock(&a));
	ck_assert(!lock(&b));		/* waits for a */
	c.r.barge = true;		/* a's holder wants this one too */
	ck_assert(lock(&c));
	unlock(&c);
	unlock(&a);
	ck_assert_uint_eq(b.granted, 1);
	unlock(&b);
}
END_TEST

START_TEST(a_second_range_waits_for_an_exclusive_one_that_is_held)
{
	struct holder a = holder(0, 4, true), b = holder(0, 4, false);

	ck_assert(lock(&a));
	b.r.barge = true;
	ck_assert(!lock(&b));
	unlock(&a);
	ck_assert_uint_eq(b.granted, 1);
	unlock(&b);
}
END_TEST

START_TEST(the_sequence_tells_a_write_before_within_and_after)
{
	uint64_t before = range_seq(set), within;

	ck_assert(!range_seq_changed(set, before));
	range_seq_begin(set);
	within = range_seq(set);
	ck_assert(range_seq_changed(set, before));
	ck_assert(range_seq_changed(set, within));
	range_seq_begin(set);		/* a second one at the same time */
	ck_assert(range_seq_changed(set, range_seq(set)));
	range_seq_end(set);
	range_seq_end(set);
	ck_assert(range_seq_changed(set, before));
	ck_assert(range_seq_changed(set, within));
	ck_assert(!range_seq_changed(set, range_seq(set)));
}
END_TEST

#define ROUNDS 20000

struct thread {
	pthread_t	 id;
	struct holder	 h[ROUNDS];	/* a grant may be on the way to each */
	unsigned	 at_once;
};

static void *worker(void *arg)
{
	struct thread *t = arg;
	unsigned i;

	for (i = 0; i < ROUNDS; i++) {
		struct range *r = &t->h[i].r;

		t->h[i] = holder(i % 4, 2, i % 3);
		if (range_lock(set, r)) {
			t->at_once++;
			range_unlock(set, r);
		} else if (!range_cancel(set, r)) {
			range_unlock(set, r);	/* its message comes later */
		}
	}
	return NULL;
}

START_TEST(threads_leave_nothing_behind)
{
	struct thread *t = calloc(2, sizeof(*t));
	unsigned i;

	ck_assert_ptr_nonnull(t);
	for (i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_create(&t[i].id, NULL, worker, &t[i]),
				 0);
	for (i = 0; i < 2; i++)
		pthread_join(t[i].id, NULL);
	fake_run();
	ck_assert_uint_gt(t[0].at_once + t[1].at_once, 0);
	free(t);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("range");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, shared_ranges_overlap_freely);
	tcase_add_test(tc,
		an_exclusive_range_waits_for_shared_ones_that_overlap);
	tcase_add_test(tc, ranges_that_only_touch_do_not_wait);
	tcase_add_test(tc,
		a_shared_range_does_not_overtake_an_exclusive_one_that_waits);
	tcase_add_test(tc,
		exclusive_ranges_are_granted_first_come_first_served);
	tcase_add_test(tc,
		exclusive_ranges_of_the_thread_that_unlocks_go_first);
	tcase_add_test(tc,
		exclusive_ranges_of_another_thread_wait_for_so_many_at_most);
	tcase_add_test(tc, who_does_not_conflict_passes_those_that_wait);
	tcase_add_test(tc, a_cancelled_range_lets_those_behind_it_in);
	tcase_add_test(tc,
		a_range_whose_grant_is_on_the_way_cannot_be_cancelled);
	tcase_add_test(tc, a_second_range_passes_those_that_wait_for_the_first);
	tcase_add_test(tc,
		a_second_range_waits_for_an_exclusive_one_that_is_held);
	tcase_add_test(tc, the_sequence_tells_a_write_before_within_and_after);
	tcase_add_test(tc, threads_leave_nothing_behind);
	return unit_run("range", tc);
}
