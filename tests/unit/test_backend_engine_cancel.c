/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The engines: requests on sockets that are cancelled. */

#include "backend/engine.h"

#include <pthread.h>
#include <sys/eventfd.h>

#include "lib/util.h"
#include "tests/lib/eng_sock.h"
#include "tests/lib/unit.h"

struct canceller {
	struct edefer d;
	struct eng_group *g;
	struct eng_req *q;
	int n;
};

static void cancel_all(struct edefer *d)
{
	struct canceller *c = container_of(d, struct canceller, d);

	for (int i = 0; i < c->n; i++)
		eng_cancel(c->g, &c->q[i]);
}

struct cancel_post {
	struct epost post;
	struct canceller c;
};

static void cancel_posted(struct epost *post)
{
	struct cancel_post *p = container_of(post, struct cancel_post, post);

	cancel_all(&p->c.d);
}

static void *post_it(void *arg)
{
	struct cancel_post *p = arg;

	engine_post(p->c.g->e, &p->post);
	return NULL;
}

/* A receive, an accept and a poll that cannot end by themselves. */
static void endless(struct eng_group *g, struct eng_req q[3], int sv[2], int l)
{
	static char buf[1];
	static struct iovec in;

	in = (struct iovec){ buf, sizeof(buf) };
	q[0].r = recv_of(sv[0], &in, 1);
	q[1].r = (struct ereq){ .op = EREQ_ACCEPT, .fd = l };
	q[2].r = (struct ereq){ .op = EREQ_POLL_IN,
				.fd = eventfd(0, EFD_CLOEXEC) };
	for (int i = 0; i < 3; i++)
		eng_submit(g, &q[i]);
}

START_TEST(cancelled_requests_end_once_and_say_so)
{
	struct engine *e = eng_new(_i);
	struct eng_group g = { .e = e };
	struct eng_req q[3];
	struct cancel_post p = { .post.run = cancel_posted,
				 .c = { .g = &g, .q = q, .n = 3 } };
	struct sockaddr_in addr;
	int sv[2], l = listener(&addr);
	pthread_t thread;

	pair(sv, 0);
	endless(&g, q, sv, l);
	/* from outside, so that the engine has gone to sleep */
	pthread_create(&thread, NULL, post_it, &p);
	engine_run(e);
	pthread_join(thread, NULL);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(q[i].done, 1);
		ck_assert_int_eq(q[i].r.result, -ECANCELED);
	}
	close(q[2].r.fd);
	close(l);
	close_pair(sv);
	engine_free(e);
}
END_TEST

START_TEST(request_can_be_cancelled_in_the_turn_it_was_submitted_in)
{
	struct engine *e = eng_new(_i);
	struct eng_group g = { .e = e };
	struct eng_req q[3];
	struct canceller c = { .d.run = cancel_all, .g = &g, .q = q, .n = 3 };
	struct sockaddr_in addr;
	int sv[2], l = listener(&addr);

	pair(sv, 0);
	list_init(&c.d.link);
	endless(&g, q, sv, l);
	engine_defer(e, &c.d);
	engine_run(e);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(q[i].r.result, -ECANCELED);
	close(q[2].r.fd);
	close(l);
	close_pair(sv);
	engine_free(e);
}
END_TEST

START_TEST(send_that_is_stuck_can_be_cancelled)
{
	struct engine *e = eng_new(_i);
	struct eng_group g = { .e = e };
	static char buf[4 << 20];
	struct iovec out = { buf, sizeof(buf) };
	struct eng_req q;
	struct cancel_post p = { .post.run = cancel_posted,
				 .c = { .g = &g, .q = &q, .n = 1 } };
	pthread_t thread;
	int sv[2];

	pair(sv, 0);
	q.r = send_of(sv[0], &out, 1);
	eng_submit(&g, &q);
	pthread_create(&thread, NULL, post_it, &p);
	engine_run(e);
	pthread_join(thread, NULL);
	ck_assert_int_eq(q.done, 1);
	ck_assert_int_eq(q.r.result, -ECANCELED);
	close_pair(sv);
	engine_free(e);
}
END_TEST

START_TEST(cancelled_request_and_its_successor_do_not_meet)
{
	struct engine *e = eng_new(_i);
	struct eng_group g = { .e = e };
	struct eng_req q;
	char buf[4];
	struct iovec iov;
	int sv[2];

	pair(sv, 0);
	for (int i = 0; i < 200; i++) {
		iov = (struct iovec){ buf, sizeof(buf) };
		q.r = recv_of(sv[0], &iov, 1);
		eng_submit(&g, &q);
		if (i % 2) {
			ck_assert_int_eq(write(sv[1], "a", 1), 1);
		} else {
			eng_cancel(&g, &q);
			eng_cancel(&g, &q);
		}
		engine_run(e);
		ck_assert_int_eq(q.r.result, i % 2 ? 1 : -ECANCELED);
	}
	close_pair(sv);
	engine_free(e);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("engine cancel");

	tcase_set_timeout(tc, 60);
#define BOTH(test) tcase_add_loop_test(tc, test, 0, ENG_KINDS)
	BOTH(cancelled_requests_end_once_and_say_so);
	BOTH(request_can_be_cancelled_in_the_turn_it_was_submitted_in);
	BOTH(send_that_is_stuck_can_be_cancelled);
	BOTH(cancelled_request_and_its_successor_do_not_meet);
	return unit_run("backend/engine cancel", tc);
}
