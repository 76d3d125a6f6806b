/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * When is a request answered?  A kind of volume whose acts end when the test
 * says so, on engines whose turns the test makes.
 */

#include <errno.h>

#include "backend/backend_int.h"
#include "tests/lib/manual_engine.h"
#include "tests/lib/unit.h"

static struct engine *e1, *e2;
static struct volume *v;
static struct list acts;		/* requests that the kind has got */
static int open_error;
static unsigned opens, closes, changes;
static enum volume_state told;
static bool is_closed;

/* One request and what became of it. */
struct req {
	struct breq	b;
	bool		written, done;
	int		error;
	char		data[512];
};

static void act(struct volume *vol, struct breq *b)
{
	ck_assert_ptr_eq(vol, v);
	list_add_tail(&acts, &b->link);
}

static int kind_open(struct volume *vol)
{
	opens++;
	vol->caps = (struct volume_caps){
		.block_size = 512, .unmap = METHOD_PUNCH_HOLE,
		.unmap_granularity = 4096, .unmap_zeroes = true,
	};
	return open_error;
}

static void kind_close(struct volume *vol)
{
	(void)vol;
	closes++;
}

static const struct volume_ops kind = {
	.kind = "fake", .open = kind_open, .close = kind_close,
	.read = act, .write = act, .flush = act, .zero = act, .unmap = act,
	.write_same = act, .copy = act,
};

static void on_changed(struct volume *vol, enum volume_state s, void *arg)
{
	(void)vol;
	(void)arg;
	changes++;
	told = s;
}

static void on_closed(struct volume *vol, void *arg)
{
	(void)vol;
	(void)arg;
	is_closed = true;
}

static void make(const struct volume_config *config)
{
	const struct volume_events events = {
		.changed = on_changed, .closed = on_closed,
	};

	v = volume_new_ops(config, &events, e1, &kind, NULL);
	ck_assert_ptr_nonnull(v);
	manual_enter(e1);
	volume_open(v);
	manual_wait(e1);
}

static const struct volume_config through = {
	.name = "v", .path = "fake:", .size = 1 << 20,
};
static const struct volume_config direct = {
	.name = "v", .path = "fake:", .size = 1 << 20, .direct = true,
};
static const struct volume_config back = {
	.name = "v", .path = "fake:", .size = 1 << 20, .write_back = true,
};

static void setup(void)
{
	e1 = engine_new(NULL, NULL);
	e2 = engine_new(NULL, NULL);
	list_init(&acts);
	open_error = 0;
	opens = closes = changes = 0;
	is_closed = false;
	make(&through);
}

static void drop(void)
{
	manual_enter(e1);
	volume_close(v);
	manual_advance(e1, 1);
	while (!is_closed)
		manual_wait(e1);
	volume_free(v);
	is_closed = false;
}

static void remake(const struct volume_config *config)
{
	drop();
	make(config);
}

static void teardown(void)
{
	ck_assert(list_empty(&acts));
	drop();
	engine_free(e1);
	engine_free(e2);
}

static void on_written(struct breq *b)
{
	struct req *r = container_of(b, struct req, b);

	ck_assert(!r->written && !r->done);
	r->written = true;
}

static void on_done(struct breq *b)
{
	struct req *r = container_of(b, struct req, b);

	ck_assert(!r->done);
	ck_assert_ptr_eq(engine_self(), b->engine);
	r->done = true;
	r->error = b->error;
}

static void submit(struct req *r, struct engine *e, enum breq_op op,
		   unsigned flags)
{
	*r = (struct req){
		.b = {
			.op = op, .flags = flags, .off = 0, .len = 512,
			.data = r->data, .pattern = 512, .src = v,
			.written = on_written, .done = on_done,
		},
	};
	manual_enter(e);
	volume_submit(v, &r->b);
	ck_assert(!r->done);
}

/* Is the kind at work on an operation, and how often? */
static unsigned at_work(enum breq_op op)
{
	struct breq *b;
	unsigned n = 0;

	list_for_each(b, &acts, link)
		n += b->op == op;
	return n;
}

static struct breq *oldest(enum breq_op op)
{
	struct breq *b;

	list_for_each(b, &acts, link)
		if (b->op == op)
			return b;
	ck_abort_msg("no act of that kind");
}

static void act_ends(struct breq *b, int err)
{
	list_del(&b->link);
	manual_enter(b->engine);
	breq_complete(b, err);
}

static void flush_ends(int err)
{
	struct breq *b = oldest(BREQ_FLUSH);

	act_ends(b, err);
	manual_turn(b->engine);
	manual_turn(e1);
	manual_turn(e2);
}

START_TEST(good_needs_a_flush_that_started_after_the_write_ended)
{
	struct req first, second;

	submit(&first, e1, BREQ_WRITE, 0);
	submit(&second, e1, BREQ_WRITE, 0);
	act_ends(&first.b, 0);
	manual_turn(e1);		/* a flush starts */
	ck_assert_uint_eq(at_work(BREQ_FLUSH), 1);
	act_ends(&second.b, 0);		/* while it runs */
	manual_turn(e1);
	ck_assert_uint_eq(at_work(BREQ_FLUSH), 1);
	flush_ends(0);
	ck_assert(first.done);
	ck_assert(second.written && !second.done);
	flush_ends(0);			/* the one that started afterwards */
	ck_assert(second.done);
}
END_TEST

START_TEST(write_that_has_not_ended_starts_no_flush)
{
	struct req r;

	submit(&r, e1, BREQ_WRITE, 0);
	manual_turn(e1);
	ck_assert_uint_eq(at_work(BREQ_FLUSH), 0);
	act_ends(&r.b, 0);
	ck_assert(!r.done);
	manual_turn(e1);
	flush_ends(0);
	ck_assert(r.done && !r.error);
}
END_TEST

START_TEST(writes_that_end_in_one_turn_share_a_flush)
{
	struct req r[8];
	int i;

	for (i = 0; i < 8; i++)
		submit(&r[i], e1, BREQ_WRITE, 0);
	for (i = 0; i < 8; i++)
		act_ends(&r[i].b, 0);
	manual_turn(e1);
	ck_assert_uint_eq(at_work(BREQ_FLUSH), 1);
	flush_ends(0);
	for (i = 0; i < 8; i++)
		ck_assert(r[i].done && !r[i].error);
	ck_assert_uint_eq(at_work(BREQ_FLUSH), 0);
}
END_TEST

START_TEST(writes_that_end_during_a_flush_share_the_next)
{
	struct req r[5];
	int i;

	for (i = 0; i < 5; i++)
		submit(&r[i], e1, BREQ_WRITE, 0);
	for (i = 0; i < 5; i++) {
		act_ends(&r[i].b, 0);
		manual_turn(e1);
	}
	flush_ends(0);
	ck_assert(r[0].done && !r[1].done);
	ck_assert_uint_eq(at_work(BREQ_FLUSH), 1);
	flush_ends(0);
	for (i = 1; i < 5; i++)
		ck_assert(r[i].done);
}
END_TEST

START_TEST(engines_share_a_flush_and_each_answers_its_own)
{
	struct req r[3];

	submit(&r[0], e1, BREQ_WRITE, 0);
	submit(&r[1], e2, BREQ_WRITE, 0);
	submit(&r[2], e2, BREQ_WRITE, 0);
	act_ends(&r[0].b, 0);
	manual_turn(e1);
	act_ends(&r[1].b, 0);
	act_ends(&r[2].b, 0);
	manual_turn(e2);
	ck_assert_uint_eq(at_work(BREQ_FLUSH), 1);
	flush_ends(0);
	ck_assert(r[0].done && !r[1].done);
	flush_ends(0);
	ck_assert(r[1].done && r[2].done);
}
END_TEST

START_TEST(urgent_write_makes_itself_stable_beside_a_running_flush)
{
	struct req slow, urgent;

	submit(&slow, e1, BREQ_WRITE, 0);
	act_ends(&slow.b, 0);
	manual_turn(e1);
	submit(&urgent, e1, BREQ_WRITE, BREQ_URGENT);
	ck_assert(breq_wants_sync(&urgent.b));
	ck_assert_uint_eq(atomic_load(&v->urgent), 1);
	act_ends(&urgent.b, 0);
	manual_turn(e1);
	ck_assert(urgent.done && urgent.written && !urgent.error);
	ck_assert_uint_eq(atomic_load(&v->urgent), 0);
	ck_assert(!slow.done);
	flush_ends(0);
}
END_TEST

START_TEST(lone_direct_write_is_its_own_flush_and_several_share_one)
{
	struct req r[2];

	remake(&direct);
	submit(&r[0], e1, BREQ_WRITE, 0);
	ck_assert(breq_wants_sync(&r[0].b));
	submit(&r[1], e1, BREQ_WRITE, 0);
	ck_assert(!breq_wants_sync(&r[1].b));
	act_ends(&r[0].b, 0);
	act_ends(&r[1].b, 0);
	manual_turn(e1);
	ck_assert(r[0].done && !r[1].done);
	flush_ends(0);
}
END_TEST

static const enum breq_op changing[] = {
	BREQ_WRITE, BREQ_ZERO, BREQ_UNMAP, BREQ_WRITE_SAME, BREQ_COPY,
};

START_TEST(every_change_of_the_medium_waits_for_a_flush)
{
	struct req r;

	submit(&r, e1, changing[_i], 0);
	act_ends(&r.b, 0);
	manual_turn(e1);
	ck_assert(r.written && !r.done);
	flush_ends(0);
	ck_assert(r.done && !r.error);
}
END_TEST

START_TEST(write_back_answers_at_once)
{
	struct req r;

	remake(&back);
	submit(&r, e1, changing[_i], 0);
	ck_assert(!breq_wants_sync(&r.b));
	act_ends(&r.b, 0);
	manual_turn(e1);
	ck_assert(r.done && !r.error);
	ck_assert_uint_eq(at_work(BREQ_FLUSH), 0);
}
END_TEST

START_TEST(write_back_honours_fua)
{
	struct req r;

	remake(&back);
	submit(&r, e1, changing[_i], BREQ_FUA);
	act_ends(&r.b, 0);
	manual_turn(e1);
	if (breq_wants_sync(&r.b)) {
		ck_assert_int_eq(r.b.op, BREQ_WRITE);
	} else {
		ck_assert(!r.done);
		flush_ends(0);
	}
	ck_assert(r.done && !r.error);
}
END_TEST

START_TEST(flush_request_waits_for_a_flush_that_starts_later)
{
	struct req w, f;

	submit(&w, e1, BREQ_WRITE, 0);
	act_ends(&w.b, 0);
	manual_turn(e1);
	submit(&f, e1, BREQ_FLUSH, 0);
	manual_turn(e1);
	flush_ends(0);
	ck_assert(w.done && !f.done);
	flush_ends(0);
	ck_assert(f.done && !f.error);
}
END_TEST

START_TEST(failed_act_is_answered_without_flush_and_not_written)
{
	struct req r;

	submit(&r, e1, BREQ_WRITE, 0);
	act_ends(&r.b, -ENOSPC);
	manual_turn(e1);
	ck_assert(r.done && !r.written);
	ck_assert_int_eq(r.error, -ENOSPC);
	ck_assert_uint_eq(at_work(BREQ_FLUSH), 0);
	ck_assert_int_eq(volume_state(v), VOLUME_ONLINE);
}
END_TEST

/* A flush fails that covers r[0]; r[1] ended while it ran, r[2] is still with
 * the kind. */
static void fail_flush(struct req *r, int err)
{
	int i;

	for (i = 0; i < 3; i++)
		submit(&r[i], i == 1 ? e2 : e1, BREQ_WRITE, 0);
	act_ends(&r[0].b, 0);
	manual_turn(e1);
	act_ends(&r[1].b, 0);
	manual_turn(e2);
	flush_ends(err);
}

START_TEST(failed_flush_fails_all_that_it_may_have_lost)
{
	struct req r[3];

	fail_flush(r, -EIO);
	ck_assert(r[0].done && r[1].done && !r[2].done);
	ck_assert_int_eq(r[0].error, -EIO);
	ck_assert_int_eq(r[1].error, -EIO);
	act_ends(&r[2].b, 0);
	manual_turn(e1);
	ck_assert_int_eq(r[2].error, -EIO);
	ck_assert_uint_eq(at_work(BREQ_FLUSH), 0);	/* none is tried again */
	ck_assert_int_eq(volume_state(v), VOLUME_FAILED);
	ck_assert_int_eq(volume_error(v), -EIO);
	ck_assert_uint_eq(changes, 1);
	ck_assert_int_eq(told, VOLUME_FAILED);
}
END_TEST

START_TEST(failed_volume_refuses_changes_and_flushes_but_reads)
{
	struct req r[3], later;
	size_t i;

	fail_flush(r, -EIO);
	act_ends(&r[2].b, 0);
	for (i = 0; i < sizeof(changing) / sizeof(changing[0]); i++) {
		submit(&later, e2, changing[i], 0);
		manual_turn(e2);
		ck_assert_int_eq(later.error, -EIO);
	}
	submit(&later, e2, BREQ_FLUSH, 0);
	manual_turn(e2);
	ck_assert(later.done);
	ck_assert_int_eq(later.error, -EIO);
	submit(&later, e2, BREQ_READ, 0);
	act_ends(&later.b, 0);
	manual_turn(e2);
	ck_assert(later.done && !later.error);
	manual_turn(e1);
}
END_TEST

START_TEST(operator_brings_a_failed_volume_back)
{
	struct req r[3], later;

	fail_flush(r, -EIO);
	manual_enter(e1);
	volume_set_online(v);
	manual_turn(e1);
	ck_assert_int_eq(told, VOLUME_ONLINE);
	submit(&later, e1, BREQ_WRITE, 0);
	act_ends(&later.b, 0);
	act_ends(&r[2].b, 0);		/* began before the failure */
	manual_turn(e1);
	ck_assert_int_eq(r[2].error, -EIO);
	flush_ends(0);
	ck_assert(later.done && !later.error);
}
END_TEST

START_TEST(flush_without_space_is_told_to_all_and_the_volume_stays_online)
{
	struct req r[3], later;

	fail_flush(r, -ENOSPC);
	ck_assert_int_eq(r[0].error, -ENOSPC);
	ck_assert_int_eq(r[1].error, -ENOSPC);
	act_ends(&r[2].b, 0);
	manual_turn(e1);
	ck_assert_int_eq(r[2].error, -ENOSPC);
	ck_assert_int_eq(volume_state(v), VOLUME_ONLINE);
	submit(&later, e1, BREQ_WRITE, 0);
	act_ends(&later.b, 0);
	manual_turn(e1);
	flush_ends(0);
	ck_assert(later.done && !later.error);
}
END_TEST

START_TEST(flush_without_space_fails_a_volume_that_answered_before)
{
	struct req r;

	remake(&back);
	submit(&r, e1, BREQ_FLUSH, 0);
	manual_turn(e1);
	flush_ends(-ENOSPC);
	ck_assert_int_eq(r.error, -EIO);
	ck_assert_int_eq(volume_state(v), VOLUME_FAILED);
}
END_TEST

START_TEST(failed_stable_write_fails_what_waits_for_a_flush)
{
	struct req waiting, urgent;

	submit(&waiting, e1, BREQ_WRITE, 0);
	act_ends(&waiting.b, 0);
	manual_turn(e1);
	submit(&urgent, e1, BREQ_WRITE, BREQ_URGENT);
	act_ends(&urgent.b, -EIO);
	manual_turn(e1);
	ck_assert_int_eq(urgent.error, -EIO);
	flush_ends(0);			/* success means nothing now */
	ck_assert_int_eq(waiting.error, -EIO);
	ck_assert_int_eq(volume_state(v), VOLUME_FAILED);
}
END_TEST

START_TEST(stable_write_without_space_fails_alone)
{
	struct req waiting, urgent;

	submit(&waiting, e1, BREQ_WRITE, 0);
	act_ends(&waiting.b, 0);
	manual_turn(e1);
	submit(&urgent, e1, BREQ_WRITE, BREQ_URGENT);
	act_ends(&urgent.b, -ENOSPC);
	manual_turn(e1);
	ck_assert_int_eq(urgent.error, -ENOSPC);
	flush_ends(0);
	ck_assert(waiting.done && !waiting.error);
	ck_assert_int_eq(volume_state(v), VOLUME_ONLINE);
}
END_TEST

static int durability;

static void durability_set(void *arg, int err)
{
	(void)arg;
	durability = err;
}

START_TEST(change_to_write_through_flushes_first)
{
	struct req early, late;

	remake(&back);
	submit(&early, e1, BREQ_WRITE, 0);
	durability = 1;
	volume_set_write_back(v, false, durability_set, NULL);
	manual_turn(e1);
	ck_assert_int_eq(durability, 1);
	act_ends(&early.b, 0);		/* too late for that flush */
	manual_turn(e1);
	ck_assert(!early.done);
	submit(&late, e1, BREQ_WRITE, 0);
	flush_ends(0);
	ck_assert_int_eq(durability, 0);
	ck_assert(!volume_write_back(v) && !early.done);
	act_ends(&late.b, 0);
	manual_turn(e1);
	flush_ends(0);
	ck_assert(early.done);
	flush_ends(0);
	ck_assert(late.done);
}
END_TEST

START_TEST(change_to_write_back_takes_effect_at_once)
{
	struct req r;

	volume_set_write_back(v, true, durability_set, NULL);
	submit(&r, e1, BREQ_WRITE, 0);
	act_ends(&r.b, 0);
	manual_turn(e1);
	ck_assert(r.done);
	flush_ends(0);
}
END_TEST

START_TEST(closing_waits_for_requests_and_refuses_new_ones)
{
	struct req r, late;

	submit(&r, e2, BREQ_WRITE, 0);
	manual_enter(e1);
	volume_close(v);
	manual_advance(e1, 10);
	ck_assert(!is_closed);
	submit(&late, e2, BREQ_READ, 0);
	manual_turn(e2);
	ck_assert_int_eq(late.error, -ENODEV);
	act_ends(&r.b, 0);
	manual_turn(e2);
	manual_advance(e1, 10);
	ck_assert(!is_closed);		/* the flush still runs */
	flush_ends(0);
	ck_assert(r.done && !r.error);
	manual_advance(e1, 10);
	while (!is_closed)
		manual_wait(e1);
	ck_assert_uint_eq(closes, 1);
	volume_free(v);
	is_closed = false;
	make(&through);			/* for the fixture */
}
END_TEST

static void retry(void)
{
	manual_advance(e1, VOLUME_RETRY_MS);
	while (v->opening)
		manual_wait(e1);
}

START_TEST(degraded_volume_is_tried_again_until_it_heals)
{
	struct req r;

	drop();
	open_error = -ENOENT;
	opens = 0;
	make(&through);
	ck_assert_int_eq(volume_state(v), VOLUME_DEGRADED);
	ck_assert_int_eq(volume_error(v), -ENOENT);
	submit(&r, e1, BREQ_READ, 0);
	manual_turn(e1);
	ck_assert_int_eq(r.error, -ENODEV);
	retry();
	ck_assert_uint_eq(opens, 2);
	ck_assert_uint_eq(changes, 0);
	open_error = 0;
	retry();
	ck_assert_int_eq(told, VOLUME_ONLINE);
	ck_assert_uint_eq(changes, 1);
	submit(&r, e1, BREQ_READ, 0);
	act_ends(&r.b, 0);
	manual_turn(e1);
	ck_assert(r.done && !r.error);
}
END_TEST

START_TEST(request_beyond_the_end_is_refused)
{
	struct req r = { .b = { .op = BREQ_READ, .off = UINT64_MAX - 511,
				.len = 1024, .data = r.data, .done = on_done } };

	manual_enter(e1);
	volume_submit(v, &r.b);
	manual_turn(e1);
	ck_assert_int_eq(r.error, -EIO);
}
END_TEST

START_TEST(volume_whose_opening_is_under_way_can_be_closed)
{
	drop();
	v = volume_new_ops(&through, &(struct volume_events){
			   .closed = on_closed }, e1, &kind, NULL);
	manual_enter(e1);
	volume_open(v);
	volume_close(v);
	while (!is_closed) {
		manual_wait(e1);
		manual_advance(e1, 10);
	}
	ck_assert_uint_eq(opens, 2);
	volume_free(v);
	is_closed = false;
	make(&through);			/* for the fixture */
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("flush");
	int n = sizeof(changing) / sizeof(changing[0]);

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc,
		       good_needs_a_flush_that_started_after_the_write_ended);
	tcase_add_test(tc, write_that_has_not_ended_starts_no_flush);
	tcase_add_test(tc, writes_that_end_in_one_turn_share_a_flush);
	tcase_add_test(tc, writes_that_end_during_a_flush_share_the_next);
	tcase_add_test(tc, engines_share_a_flush_and_each_answers_its_own);
	tcase_add_test(tc,
		       urgent_write_makes_itself_stable_beside_a_running_flush);
	tcase_add_test(tc,
		       lone_direct_write_is_its_own_flush_and_several_share_one);
	tcase_add_loop_test(tc, every_change_of_the_medium_waits_for_a_flush,
			    0, n);
	tcase_add_loop_test(tc, write_back_answers_at_once, 0, n);
	tcase_add_loop_test(tc, write_back_honours_fua, 0, n);
	tcase_add_test(tc, flush_request_waits_for_a_flush_that_starts_later);
	tcase_add_test(tc,
		       failed_act_is_answered_without_flush_and_not_written);
	tcase_add_test(tc, failed_flush_fails_all_that_it_may_have_lost);
	tcase_add_test(tc,
		       failed_volume_refuses_changes_and_flushes_but_reads);
	tcase_add_test(tc, operator_brings_a_failed_volume_back);
	tcase_add_test(tc,
		flush_without_space_is_told_to_all_and_the_volume_stays_online);
	tcase_add_test(tc,
		       flush_without_space_fails_a_volume_that_answered_before);
	tcase_add_test(tc, failed_stable_write_fails_what_waits_for_a_flush);
	tcase_add_test(tc, stable_write_without_space_fails_alone);
	tcase_add_test(tc, change_to_write_through_flushes_first);
	tcase_add_test(tc, change_to_write_back_takes_effect_at_once);
	tcase_add_test(tc, closing_waits_for_requests_and_refuses_new_ones);
	tcase_add_test(tc, degraded_volume_is_tried_again_until_it_heals);
	tcase_add_test(tc, request_beyond_the_end_is_refused);
	tcase_add_test(tc, volume_whose_opening_is_under_way_can_be_closed);
	return unit_run("backend_flush", tc);
}
