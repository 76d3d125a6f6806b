/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The engines' sockets: accept, receive, send, poll. */

#include "backend/engine.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "lib/util.h"
#include "tests/lib/eng_sock.h"
#include "tests/lib/unit.h"

START_TEST(receive_gives_what_has_come)
{
	struct engine *e = eng_new(_i);
	char a[4] = "", b[60] = "";
	struct iovec iov[2] = { { a, 3 }, { b, sizeof(b) } };
	int sv[2];

	pair(sv, 0);
	ck_assert_int_eq(write(sv[1], "abcdef", 6), 6);
	ck_assert_int_eq(eng_do(e, recv_of(sv[0], iov, 2)), 6);
	ck_assert_str_eq(a, "abc");
	ck_assert_str_eq(b, "def");
	close_pair(sv);
	engine_free(e);
}
END_TEST

static void *write_later(void *arg)
{
	int *sv = arg;

	ck_assert_int_eq(write(sv[1], "x", 1), 1);
	return NULL;
}

START_TEST(receive_waits_for_data_on_either_kind_of_socket)
{
	static const int flags[] = { 0, SOCK_NONBLOCK };
	struct engine *e = eng_new(_i);
	pthread_t thread;
	int sv[2];

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		char c = 0;
		struct iovec iov = { &c, 1 };
		struct eng_group g = { .e = e };
		struct eng_req q;

		pair(sv, flags[i]);
		q.r = recv_of(sv[0], &iov, 1);
		eng_submit(&g, &q);
		pthread_create(&thread, NULL, write_later, sv);
		engine_run(e);
		pthread_join(thread, NULL);
		ck_assert_int_eq(q.r.result, 1);
		ck_assert_int_eq(c, 'x');
		close_pair(sv);
	}
	engine_free(e);
}
END_TEST

START_TEST(end_of_the_stream_is_zero_bytes_again_and_again)
{
	struct engine *e = eng_new(_i);
	char buf[8];
	int sv[2];

	pair(sv, 0);
	ck_assert_int_eq(write(sv[1], "ab", 2), 2);
	close(sv[1]);
	for (int i = 0; i < 3; i++) {
		struct iovec iov = { buf, sizeof(buf) };

		ck_assert_int_eq(eng_do(e, recv_of(sv[0], &iov, 1)),
				 i ? 0 : 2);
	}
	close(sv[0]);
	engine_free(e);
}
END_TEST

/* One end of a connection that receives for ever, as a session does: data that
 * comes while the engine sleeps, runs or receives must all arrive. */
struct reader {
	struct ereq r;
	struct engine *e;
	struct edefer again;
	struct iovec iov;
	unsigned char buf[4096];
	size_t got;
};

static void reader_again(struct edefer *d)
{
	struct reader *rd = container_of(d, struct reader, again);

	rd->iov = (struct iovec){ rd->buf, sizeof(rd->buf) };
	rd->r.iov = &rd->iov;
	rd->r.niov = 1;
	engine_submit(rd->e, &rd->r);
}

static void reader_done(struct ereq *r)
{
	struct reader *rd = container_of(r, struct reader, r);

	ck_assert_int_ge(r->result, 0);
	if (!r->result) {
		engine_stop(rd->e);
		return;
	}
	for (int i = 0; i < r->result; i++)
		ck_assert_uint_eq(rd->buf[i], (rd->got + (unsigned)i) & 0xff);
	rd->got += (unsigned)r->result;
	engine_turn_end(rd->e, &rd->again);
}

static void reader_start(struct reader *rd, struct engine *e, int fd)
{
	memset(rd, 0, sizeof(*rd));
	rd->e = e;
	rd->r = (struct ereq){ .op = EREQ_RECV, .fd = fd,
			       .done = reader_done };
	list_init(&rd->again.link);
	rd->again.run = reader_again;
	reader_again(&rd->again);
}

#define TRICKLE 300000

static void *trickle(void *arg)
{
	int fd = *(int *)arg;
	unsigned char buf[700];
	size_t sent = 0, n;

	while (sent < TRICKLE) {
		n = MIN(sizeof(buf), TRICKLE - sent);
		n = MIN(n, 1 + sent % 611);
		for (size_t i = 0; i < n; i++)
			buf[i] = (unsigned char)(sent + i);
		ck_assert_int_eq(write(fd, buf, n), (ssize_t)n);
		sent += n;
	}
	close(fd);
	return NULL;
}

START_TEST(nothing_is_lost_of_data_that_trickles_in)
{
	struct engine *e = eng_new(_i);
	struct reader rd;
	pthread_t thread;
	int sv[2];

	pair(sv, 0);
	reader_start(&rd, e, sv[0]);
	pthread_create(&thread, NULL, trickle, &sv[1]);
	engine_run(e);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(rd.got, TRICKLE);
	close(sv[0]);
	engine_free(e);
}
END_TEST

#define BIG (10u << 20)

struct slow {
	int fd;
	unsigned char *got;
};

static void *read_slowly(void *arg)
{
	struct slow *s = arg;
	size_t got = 0;
	ssize_t n;

	while (got < BIG) {
		n = read(s->fd, s->got + got, MIN(BIG - got, 9973u));
		ck_assert_int_gt(n, 0);
		got += (size_t)n;
		if (got % 7 == 0)
			sched_yield();
	}
	return NULL;
}

START_TEST(large_gathered_send_arrives_whole_and_in_order)
{
	enum { PARTS = 3 * IOV_MAX + 17 };
	static struct iovec iov[PARTS];
	struct engine *e = eng_new(_i % 2);
	unsigned char *data = malloc(BIG);
	struct slow s = { .got = calloc(1, BIG) };
	size_t part = BIG / PARTS, at = 0;
	pthread_t thread;
	int sv[2];

	pair(sv, _i / 2 ? SOCK_NONBLOCK : 0);
	s.fd = sv[1];
	ck_assert_int_eq(fcntl(sv[1], F_SETFL, 0), 0);
	for (size_t i = 0; i < BIG; i++)
		data[i] = (unsigned char)(i * 2654435761u >> 24);
	for (int i = 0; i < PARTS; i++, at += part)
		iov[i] = (struct iovec){ data + at, part };
	iov[PARTS - 1].iov_len = BIG - (size_t)(PARTS - 1) * part;
	pthread_create(&thread, NULL, read_slowly, &s);
	ck_assert_int_eq(eng_do(e, send_of(sv[0], iov, PARTS)), 0);
	pthread_join(thread, NULL);
	ck_assert_int_eq(memcmp(data, s.got, BIG), 0);
	free(data);
	free(s.got);
	close_pair(sv);
	engine_free(e);
}
END_TEST

START_TEST(send_to_a_closed_peer_is_an_error_and_no_signal)
{
	struct engine *e = eng_new(_i);
	struct iovec iov = { (char[]){ "x" }, 1 };
	int sv[2];

	pair(sv, 0);
	close(sv[1]);
	ck_assert_int_eq(eng_do(e, send_of(sv[0], &iov, 1)), -EPIPE);
	close(sv[0]);
	engine_free(e);
}
END_TEST

START_TEST(send_of_nothing_is_done)
{
	struct engine *e = eng_new(_i);
	int sv[2];

	pair(sv, 0);
	ck_assert_int_eq(eng_do(e, send_of(sv[0], NULL, 0)), 0);
	close_pair(sv);
	engine_free(e);
}
END_TEST

static int connect_to(struct sockaddr_in *addr)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_int_eq(connect(fd, (struct sockaddr *)addr, sizeof(*addr)),
			 0);
	return fd;
}

START_TEST(accept_gives_one_connection_each)
{
	struct engine *e = eng_new(_i);
	struct sockaddr_in addr;
	int l = listener(&addr), fds[3], got;

	for (int i = 0; i < 3; i++)
		fds[i] = connect_to(&addr);
	for (int i = 0; i < 3; i++) {
		got = eng_do(e, (struct ereq){ .op = EREQ_ACCEPT, .fd = l });
		ck_assert_int_ge(got, 0);
		ck_assert(fcntl(got, F_GETFD) & FD_CLOEXEC);
		close(got);
		close(fds[i]);
	}
	close(l);
	engine_free(e);
}
END_TEST

START_TEST(tcp_connections_may_reuse_the_number_of_a_closed_one)
{
	struct engine *e = eng_new(_i);
	struct sockaddr_in addr;
	int l = listener(&addr), fd, got;

	for (int i = 0; i < 50; i++) {
		char c = 0, x = (char)i;
		struct iovec in = { &c, 1 }, out = { &x, 1 };
		struct eng_group g = { .e = e };
		struct eng_req rx;

		fd = connect_to(&addr);
		got = eng_do(e, (struct ereq){ .op = EREQ_ACCEPT, .fd = l });
		ck_assert_int_ge(got, 0);
		rx.r = recv_of(got, &in, 1);
		eng_submit(&g, &rx);
		ck_assert_int_eq(write(fd, &x, 1), 1);
		engine_run(e);
		ck_assert_int_eq(rx.r.result, 1);
		ck_assert_int_eq(c, x);
		ck_assert_int_eq(eng_do(e, send_of(got, &out, 1)), 0);
		close(got);
		close(fd);
	}
	close(l);
	engine_free(e);
}
END_TEST

START_TEST(poll_ends_when_there_is_something_to_read)
{
	struct engine *e = eng_new(_i);
	uint64_t one = 1;
	int fd = eventfd(0, EFD_CLOEXEC);

	ck_assert_int_eq(write(fd, &one, sizeof(one)), sizeof(one));
	/* twice: nothing was read, so it is readable still */
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(eng_do(e, (struct ereq){ .op = EREQ_POLL_IN,
							  .fd = fd }), 0);
	close(fd);
	engine_free(e);
}
END_TEST

START_TEST(both_directions_of_a_socket_wait_at_once)
{
	struct engine *e = eng_new(_i);
	struct eng_group g = { .e = e };
	unsigned char *data = calloc(1, BIG);
	struct slow s = { .got = calloc(1, BIG) };
	struct iovec out = { data, BIG }, in;
	struct eng_req tx, rx;
	pthread_t thread;
	char c;
	int sv[2];

	pair(sv, 0);
	s.fd = sv[1];
	in = (struct iovec){ &c, 1 };
	rx.r = recv_of(sv[0], &in, 1);
	tx.r = send_of(sv[0], &out, 1);
	eng_submit(&g, &rx);
	eng_submit(&g, &tx);
	pthread_create(&thread, NULL, read_slowly, &s);
	ck_assert_int_eq(write(sv[1], "y", 1), 1);
	engine_run(e);
	pthread_join(thread, NULL);
	ck_assert_int_eq(rx.r.result, 1);
	ck_assert_int_eq(tx.r.result, 0);
	free(data);
	free(s.got);
	close_pair(sv);
	engine_free(e);
}
END_TEST

START_TEST(request_on_no_descriptor_ends_with_its_error)
{
	struct engine *e = eng_new(_i);
	char c;
	struct iovec iov = { &c, 1 };

	ck_assert_int_eq(eng_do(e, recv_of(1000, &iov, 1)), -EBADF);
	ck_assert_int_eq(eng_do(e, (struct ereq){ .op = EREQ_POLL_IN,
						  .fd = 1000 }), -EBADF);
	ck_assert_int_eq(eng_do(e, (struct ereq){ .op = EREQ_ACCEPT,
						  .fd = 1000 }), -EBADF);
	engine_free(e);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("engine sockets");

	tcase_set_timeout(tc, 60);
#define BOTH(test) tcase_add_loop_test(tc, test, 0, ENG_KINDS)
	BOTH(receive_gives_what_has_come);
	BOTH(receive_waits_for_data_on_either_kind_of_socket);
	BOTH(end_of_the_stream_is_zero_bytes_again_and_again);
	BOTH(nothing_is_lost_of_data_that_trickles_in);
	tcase_add_loop_test(tc, large_gathered_send_arrives_whole_and_in_order,
			    0, 2 * ENG_KINDS);
	BOTH(send_to_a_closed_peer_is_an_error_and_no_signal);
	BOTH(send_of_nothing_is_done);
	BOTH(accept_gives_one_connection_each);
	BOTH(tcp_connections_may_reuse_the_number_of_a_closed_one);
	BOTH(poll_ends_when_there_is_something_to_read);
	BOTH(both_directions_of_a_socket_wait_at_once);
	BOTH(request_on_no_descriptor_ends_with_its_error);
	return unit_run("backend/engine sockets", tc);
}
