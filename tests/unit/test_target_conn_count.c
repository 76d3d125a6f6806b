/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many connections there may be: target/conn_count.c. */

#include <arpa/inet.h>

#include "tests/lib/transport_rig.h"

static unsigned begin_from(uint32_t address, unsigned times)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(address) };
	unsigned n = 0;

	while (times--)
		n += registry_conn_begin((struct sockaddr *)&a);
	return n;
}

START_TEST(half_open_connections_of_one_address_are_bounded)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(1) };
	unsigned n = begin_from(1, MAX_HALF_OPEN);

	ck_assert_uint_eq(n, MAX_HALF_OPEN_PER_ADDRESS);
	ck_assert_uint_eq(begin_from(2, 1), 1);
	registry_conn_logged_in((struct sockaddr *)&a);
	ck_assert_uint_eq(begin_from(1, 2), 1);
	registry_conn_logged_in((struct sockaddr *)&a);
	registry_conn_end((struct sockaddr *)&a);
	ck_assert_uint_eq(begin_from(1, 2), 1);
}
END_TEST

START_TEST(connections_of_one_address_are_bounded)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(1) };
	unsigned i;

	for (i = 0; i < MAX_CONNS_PER_ADDRESS; i++) {
		ck_assert_uint_eq(begin_from(1, 1), 1);
		registry_conn_logged_in((struct sockaddr *)&a);
	}
	ck_assert_uint_eq(begin_from(1, 1), 0);
	ck_assert_uint_eq(begin_from(2, 1), 1);
	while (i--)
		registry_conn_end((struct sockaddr *)&a);
	ck_assert_uint_eq(begin_from(1, 1), 1);
}
END_TEST

START_TEST(half_open_connections_are_bounded)
{
	const struct sockaddr nowhere = { .sa_family = AF_UNIX };
	unsigned i, n = 0;
	int fd[2];

	/* descriptors of nobody: they are closed at once */
	for (i = 0; i < MAX_HALF_OPEN; i++)
		n += registry_conn_begin(&nowhere);
	ck_assert_uint_eq(n, MAX_HALF_OPEN);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	conn_new(&workers[0], fd[0], 1);
	ck_assert(list_empty(&workers[0].conns));
	close(fd[1]);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("conn_count");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_test(tc, half_open_connections_are_bounded);
	tcase_add_test(tc, half_open_connections_of_one_address_are_bounded);
	tcase_add_test(tc, connections_of_one_address_are_bounded);
	return unit_run("conn_count", tc);
}
