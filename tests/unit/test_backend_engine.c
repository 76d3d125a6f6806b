/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The engines: posts, deferred work, timers, start and end. */

#include "backend/engine.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/buf.h"
#include "lib/util.h"
#include "tests/lib/eng.h"
#include "tests/lib/unit.h"

#define POSTERS 4
#define POSTS 2000

struct poster {
	struct engine *e;
	pthread_t thread;
	struct numbered {
		struct epost post;
		struct poster *from;
		int n;
	} posts[POSTS];
	int next;
	int *left;
};

static void posted(struct epost *post)
{
	struct numbered *n = container_of(post, struct numbered, post);
	struct poster *p = n->from;

	ck_assert_int_eq(n->n, p->next);
	p->next++;
	if (!--*p->left)
		engine_stop(p->e);
}

static void *post_all(void *arg)
{
	struct poster *p = arg;

	for (int i = 0; i < POSTS; i++) {
		p->posts[i].post.run = posted;
		p->posts[i].from = p;
		p->posts[i].n = i;
		engine_post(p->e, &p->posts[i].post);
		if (i % 64 == 0)
			sched_yield();	/* let the engine fall asleep */
	}
	return NULL;
}

START_TEST(posts_of_each_thread_arrive_once_and_in_order)
{
	static struct poster posters[POSTERS];
	struct engine *e = eng_new(_i);
	int left = POSTERS * POSTS;

	for (int i = 0; i < POSTERS; i++) {
		posters[i] = (struct poster){ .e = e, .left = &left };
		ck_assert_int_eq(pthread_create(&posters[i].thread, NULL,
						post_all, &posters[i]), 0);
	}
	engine_run(e);
	for (int i = 0; i < POSTERS; i++)
		pthread_join(posters[i].thread, NULL);
	for (int i = 0; i < POSTERS; i++)
		ck_assert_int_eq(posters[i].next, POSTS);
	engine_free(e);
}
END_TEST

/* Two engines that throw one post back and forth: each throw finds the other
 * one asleep or about to be. */
struct rally {
	struct epost post;
	struct engine *e[2];
	int at, left;
};

static void thrown(struct epost *post)
{
	struct rally *y = container_of(post, struct rally, post);

	ck_assert_ptr_eq(engine_self(), y->e[y->at]);
	if (!y->left--) {
		engine_stop(y->e[0]);
		engine_stop(y->e[1]);
		return;
	}
	y->at = !y->at;
	engine_post(y->e[y->at], &y->post);
}

static void *run_engine(void *arg)
{
	engine_run(arg);
	return NULL;
}

START_TEST(no_wake_up_is_lost_between_two_engines)
{
	struct rally y = { .post.run = thrown, .left = 5000 };
	pthread_t thread;

	y.e[0] = eng_new(_i);
	y.e[1] = eng_new(_i);
	engine_post(y.e[0], &y.post);
	pthread_create(&thread, NULL, run_engine, y.e[1]);
	engine_run(y.e[0]);
	pthread_join(thread, NULL);
	engine_free(y.e[0]);
	engine_free(y.e[1]);
}
END_TEST

struct step {
	struct edefer d;
	struct engine *e;
	char name;
};

static char trace[64];
static size_t traced;

static void note(char c)
{
	ck_assert_uint_lt(traced, sizeof(trace) - 1);
	trace[traced++] = c;
	trace[traced] = 0;
}

static void step_run(struct edefer *d)
{
	note(container_of(d, struct step, d)->name);
}

static void stop_run(struct edefer *d)
{
	step_run(d);
	engine_stop(container_of(d, struct step, d)->e);
}

static void step_init(struct step *s, struct engine *e, char name,
		      void (*run)(struct edefer *d))
{
	list_init(&s->d.link);
	s->d.run = run;
	s->e = e;
	s->name = name;
}

static void first_run(struct edefer *d)
{
	struct step *s = container_of(d, struct step, d);

	step_run(d);
	engine_turn_end(s->e, &s[3].d);
	engine_defer(s->e, &s[2].d);
	engine_defer(s->e, &s[2].d);
	engine_defer(s->e, &s[1].d);
	engine_defer(s->e, &s[4].d);
	edefer_cancel(&s[4].d);
	note('.');
}

START_TEST(deferred_work_runs_in_order_and_turn_ends_run_last)
{
	struct engine *e = eng_new(_i);
	struct step s[5];

	traced = 0;
	step_init(&s[0], e, 'a', first_run);
	step_init(&s[1], e, 'c', step_run);
	step_init(&s[2], e, 'b', step_run);
	step_init(&s[3], e, 'z', stop_run);
	step_init(&s[4], e, '!', step_run);
	engine_defer(e, &s[0].d);
	engine_run(e);
	ck_assert_str_eq(trace, "a.bcz");
	engine_free(e);
}
END_TEST

static void again_run(struct edefer *d)
{
	struct step *s = container_of(d, struct step, d);

	engine_defer(s->e, d);
}

struct stopper {
	struct etimer t;
	struct engine *e;
};

static void stopper_fire(struct etimer *t)
{
	engine_stop(container_of(t, struct stopper, t)->e);
}

START_TEST(work_that_defers_itself_for_ever_starves_nobody)
{
	struct engine *e = eng_new(_i);
	struct stopper s = { .e = e };
	struct step again;

	step_init(&again, e, 'x', again_run);
	engine_defer(e, &again.d);
	etimer_init(&s.t, stopper_fire);
	etimer_start(e, &s.t, 2);
	engine_run(e);
	edefer_cancel(&again.d);
	engine_free(e);
}
END_TEST

struct self_poster {
	struct epost post;
	struct engine *e;
	int left;
	bool inside;
};

static void self_posted(struct epost *post)
{
	struct self_poster *s = container_of(post, struct self_poster, post);

	ck_assert(!s->inside);
	if (!s->left--) {
		engine_stop(s->e);
		return;
	}
	s->inside = true;
	engine_post(s->e, post);
	s->inside = false;
}

START_TEST(post_to_the_own_engine_runs_later)
{
	struct engine *e = eng_new(_i);
	struct self_poster s = { .post.run = self_posted, .e = e, .left = 10 };

	engine_post(e, &s.post);
	engine_run(e);
	ck_assert_int_eq(s.left, -1);
	engine_free(e);
}
END_TEST

struct clock {
	struct etimer t;
	struct engine *e;
	char name;
	bool last;
};

static void clock_fire(struct etimer *t)
{
	struct clock *c = container_of(t, struct clock, t);

	ck_assert(!etimer_running(t));
	ck_assert_uint_ge(engine_now(c->e), t->due);
	note(c->name);
	if (c->last)
		engine_stop(c->e);
}

static void clock_init(struct clock *c, struct engine *e, char name)
{
	*c = (struct clock){ .e = e, .name = name };
	etimer_init(&c->t, clock_fire);
}

START_TEST(timers_fire_in_the_order_of_their_times)
{
	static const unsigned ms[] = { 90, 0, 3, 70, 3, 1, 66, 2 };
	struct engine *e = eng_new(_i);
	struct clock c[ARRAY_SIZE(ms)];

	traced = 0;
	for (size_t i = 0; i < ARRAY_SIZE(ms); i++) {
		clock_init(&c[i], e, (char)('a' + i));
		etimer_start(e, &c[i].t, ms[i]);
		ck_assert(etimer_running(&c[i].t));
	}
	c[0].last = true;
	engine_run(e);
	ck_assert_str_eq(trace, "bfhcegda");
	engine_free(e);
}
END_TEST

START_TEST(timer_started_anew_fires_once_and_stopped_one_never)
{
	struct engine *e = eng_new(_i);
	struct clock c[3];

	traced = 0;
	for (int i = 0; i < 3; i++)
		clock_init(&c[i], e, (char)('a' + i));
	etimer_start(e, &c[0].t, 1);
	etimer_start(e, &c[1].t, 1);
	etimer_start(e, &c[2].t, 3);
	etimer_start(e, &c[0].t, 5);
	etimer_stop(&c[1].t);
	etimer_stop(&c[1].t);
	ck_assert(!etimer_running(&c[1].t));
	c[0].last = true;
	engine_run(e);
	ck_assert_str_eq(trace, "ca");
	engine_free(e);
}
END_TEST

struct pair {
	struct etimer a, b;
	struct engine *e;
};

static void stop_the_other(struct etimer *t)
{
	struct pair *p = container_of(t, struct pair, a);

	etimer_stop(&p->b);
	engine_stop(p->e);
}

static void never(struct etimer *t)
{
	(void)t;
	ck_abort_msg("a stopped timer fired");
}

START_TEST(timer_can_be_stopped_by_one_that_is_due_with_it)
{
	struct engine *e = eng_new(_i);
	struct pair p = { .e = e };

	etimer_init(&p.a, stop_the_other);
	etimer_init(&p.b, never);
	etimer_start(e, &p.a, 1);
	etimer_start(e, &p.b, 1);
	engine_run(e);
	engine_free(e);
}
END_TEST

START_TEST(far_timers_wait_and_cost_no_time)
{
	static struct clock far[4096];
	struct engine *e = eng_new(_i);
	struct stopper s = { .e = e };

	traced = 0;
	for (size_t i = 0; i < ARRAY_SIZE(far); i++) {
		clock_init(&far[i], e, '!');
		etimer_start(e, &far[i].t, (uint64_t)1 << (10 + i % 54));
	}
	etimer_init(&s.t, stopper_fire);
	etimer_start(e, &s.t, 20);
	engine_run(e);
	ck_assert_uint_eq(traced, 0);
	for (size_t i = 0; i < ARRAY_SIZE(far); i++)
		etimer_stop(&far[i].t);
	engine_free(e);
}
END_TEST

static void *stop_it(void *arg)
{
	engine_stop(arg);
	return NULL;
}

START_TEST(engine_stopped_by_another_thread_can_run_again)
{
	struct engine *e = eng_new(_i);
	pthread_t thread;

	for (int i = 0; i < 20; i++) {
		pthread_create(&thread, NULL, stop_it, e);
		engine_run(e);
		pthread_join(thread, NULL);
	}
	ck_assert_ptr_null(engine_self());
	engine_free(e);
}
END_TEST

START_TEST(engine_made_here_runs_on_another_thread)
{
	struct engine *e = eng_new(_i);
	struct stopper s = { .e = e };
	pthread_t thread;

	etimer_init(&s.t, stopper_fire);
	etimer_start(e, &s.t, 1);
	pthread_create(&thread, NULL, run_engine, e);
	pthread_join(thread, NULL);
	engine_free(e);
}
END_TEST

START_TEST(forced_kind_is_what_one_gets)
{
	struct engine *e = eng_new(_i);

	ck_assert_str_eq(engine_name(e), _i ? "aio" : "io_uring");
	ck_assert_ptr_null(engine_bufs(e));
	engine_free(e);
}
END_TEST

START_TEST(engine_has_the_buffers_that_it_was_made_with)
{
	struct engine_config config = { .kind = ENGINE_AUTO,
					.buf_total = BUF_MAX };
	int err = 0;
	struct engine *e = engine_new(&config, &err);

	ck_assert_ptr_nonnull(e);
	ck_assert_uint_eq(bufpool_total(engine_bufs(e)), BUF_MAX);
	engine_free(e);
	engine_free(NULL);
}
END_TEST

/* What a container does that forbids io_uring: the calls do not exist. */
static void forbid_io_uring(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { ARRAY_SIZE(code), code };

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog), 0);
}

START_TEST(without_io_uring_aio_is_taken_or_the_lack_told)
{
	struct engine_config config = { .kind = ENGINE_AUTO };
	struct engine *e;
	int err = 0;

	forbid_io_uring();
	e = engine_new(&config, &err);
	ck_assert_ptr_nonnull(e);
	ck_assert_str_eq(engine_name(e), "aio");
	engine_free(e);
	config.kind = ENGINE_URING;
	ck_assert_ptr_null(engine_new(&config, &err));
	ck_assert_int_eq(err, -ENOSYS);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("engine");

	tcase_set_timeout(tc, 60);
#define BOTH(test) tcase_add_loop_test(tc, test, 0, ENG_KINDS)
	BOTH(posts_of_each_thread_arrive_once_and_in_order);
	BOTH(no_wake_up_is_lost_between_two_engines);
	BOTH(deferred_work_runs_in_order_and_turn_ends_run_last);
	BOTH(work_that_defers_itself_for_ever_starves_nobody);
	BOTH(post_to_the_own_engine_runs_later);
	BOTH(timers_fire_in_the_order_of_their_times);
	BOTH(timer_started_anew_fires_once_and_stopped_one_never);
	BOTH(timer_can_be_stopped_by_one_that_is_due_with_it);
	BOTH(far_timers_wait_and_cost_no_time);
	BOTH(engine_stopped_by_another_thread_can_run_again);
	BOTH(engine_made_here_runs_on_another_thread);
	BOTH(forced_kind_is_what_one_gets);
	if (!getenv("CK_FORK") || strcmp(getenv("CK_FORK"), "no") != 0)
		tcase_add_test(tc,
			without_io_uring_aio_is_taken_or_the_lack_told);
	tcase_add_test(tc, engine_has_the_buffers_that_it_was_made_with);
	return unit_run("backend/engine", tc);
}
