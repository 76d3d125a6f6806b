/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long answers to wrong secrets wait: target/login_delay.c. */

#include <arpa/inet.h>
#include <stdio.h>

#include "lib/util.h"
#include "target/login_int.h"
#include "tests/lib/unit.h"

#define HOST "iqn.2026-11.example:host"

static struct sockaddr_storage from(const char *address)
{
	struct sockaddr_storage a = { .ss_family = AF_INET };
	struct sockaddr_in6 *in6 = (void *)&a;

	if (inet_pton(AF_INET, address, &((struct sockaddr_in *)&a)->sin_addr))
		return a;
	a.ss_family = AF_INET6;
	ck_assert_int_eq(inet_pton(AF_INET6, address, &in6->sin6_addr), 1);
	return a;
}

static unsigned wrong_secret(const char *address, const char *name,
			     uint64_t now)
{
	struct sockaddr_storage a = from(address);

	return login_delay((struct sockaddr *)&a, name, now);
}

START_TEST(answers_wait_longer_each_time_up_to_a_limit)
{
	unsigned i;

	for (i = 1; i < 100; i++)
		ck_assert_uint_eq(wrong_secret("192.0.2.1", HOST, i),
				  MIN(i * LOGIN_DELAY_STEP_MS,
				      LOGIN_DELAY_MAX_MS));
}
END_TEST

START_TEST(other_addresses_and_names_do_not_wait)
{
	wrong_secret("192.0.2.1", HOST, 1);
	wrong_secret("192.0.2.1", HOST, 1);
	ck_assert_uint_eq(wrong_secret("192.0.2.2", HOST "2", 2),
			  LOGIN_DELAY_STEP_MS);
}
END_TEST

START_TEST(neither_another_name_nor_another_address_makes_it_shorter)
{
	wrong_secret("192.0.2.1", HOST, 1);
	ck_assert_uint_eq(wrong_secret("192.0.2.1", HOST "2", 2),
			  2 * LOGIN_DELAY_STEP_MS);
	ck_assert_uint_eq(wrong_secret("192.0.2.3", HOST, 3),
			  2 * LOGIN_DELAY_STEP_MS);
}
END_TEST

START_TEST(addresses_of_one_ipv6_network_are_one)
{
	wrong_secret("2001:db8::1", HOST, 1);
	ck_assert_uint_eq(wrong_secret("2001:db8::2", HOST "2", 2),
			  2 * LOGIN_DELAY_STEP_MS);
	ck_assert_uint_eq(wrong_secret("2001:db8:0:1::2", HOST "3", 2),
			  LOGIN_DELAY_STEP_MS);
}
END_TEST

START_TEST(a_mapped_address_is_the_ipv4_one)
{
	wrong_secret("192.0.2.1", HOST, 1);
	ck_assert_uint_eq(wrong_secret("::ffff:192.0.2.1", HOST "2", 2),
			  2 * LOGIN_DELAY_STEP_MS);
}
END_TEST

START_TEST(what_is_long_ago_is_forgotten)
{
	wrong_secret("192.0.2.1", HOST, 1);
	wrong_secret("192.0.2.1", HOST, 2);
	ck_assert_uint_eq(wrong_secret("192.0.2.1", HOST, 3 + LOGIN_FORGET_MS),
			  LOGIN_DELAY_STEP_MS);
}
END_TEST

START_TEST(many_addresses_and_names_take_no_more_memory)
{
	char name[64];
	unsigned i;

	for (i = 0; i < 100000; i++) {
		snprintf(name, sizeof(name), HOST "%u", i);
		ck_assert_uint_ge(wrong_secret("192.0.2.1", name, i),
				  LOGIN_DELAY_STEP_MS);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("login_delay");

	tcase_add_test(tc, answers_wait_longer_each_time_up_to_a_limit);
	tcase_add_test(tc, other_addresses_and_names_do_not_wait);
	tcase_add_test(tc,
		neither_another_name_nor_another_address_makes_it_shorter);
	tcase_add_test(tc, addresses_of_one_ipv6_network_are_one);
	tcase_add_test(tc, a_mapped_address_is_the_ipv4_one);
	tcase_add_test(tc, what_is_long_ago_is_forgotten);
	tcase_add_test(tc, many_addresses_and_names_take_no_more_memory);
	return unit_run("login_delay", tc);
}
