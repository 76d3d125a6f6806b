/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Intrusive lists: lib/list.h. */

#include "lib/list.h"

#include <string.h>

#include "tests/lib/unit.h"

struct item {
	char name;
	struct list in_test;
};

static struct list head, other;
static struct item a, b, c;

static void setup(void)
{
	list_init(&head);
	list_init(&other);
	a.name = 'a';
	b.name = 'b';
	c.name = 'c';
	list_init(&a.in_test);
	list_init(&b.in_test);
	list_init(&c.in_test);
}

/* The names on a list, in order. */
static const char *names(struct list *l)
{
	static char text[8];
	struct item *i;
	size_t n = 0;

	list_for_each(i, l, in_test)
		text[n++] = i->name;
	text[n] = '\0';
	return text;
}

START_TEST(tail_is_last_and_head_is_first)
{
	list_add_tail(&head, &b.in_test);
	list_add_tail(&head, &c.in_test);
	list_add_head(&head, &a.in_test);
	ck_assert_str_eq(names(&head), "abc");
	ck_assert_ptr_eq(list_first(&head, struct item, in_test), &a);
}
END_TEST

START_TEST(item_goes_before_the_one_named)
{
	list_add_tail(&head, &a.in_test);
	list_add_tail(&head, &c.in_test);
	list_insert_before(&c.in_test, &b.in_test);
	ck_assert_str_eq(names(&head), "abc");
}
END_TEST

START_TEST(link_tells_whether_it_is_on_a_list)
{
	ck_assert(!list_linked(&a.in_test));
	list_add_tail(&head, &a.in_test);
	ck_assert(list_linked(&a.in_test));
	list_del(&a.in_test);
	ck_assert(!list_linked(&a.in_test));
	ck_assert(list_empty(&head));
}
END_TEST

START_TEST(removing_what_is_on_no_list_does_nothing)
{
	list_del(&a.in_test);
	list_del(&a.in_test);
	ck_assert(!list_linked(&a.in_test));
}
END_TEST

START_TEST(walk_survives_removal_of_the_present_item)
{
	struct item *i, *tmp;

	list_add_tail(&head, &a.in_test);
	list_add_tail(&head, &b.in_test);
	list_add_tail(&head, &c.in_test);
	list_for_each_safe(i, tmp, &head, in_test)
		if (i != &b)
			list_del(&i->in_test);
	ck_assert_str_eq(names(&head), "b");
}
END_TEST

START_TEST(splice_moves_all_to_the_tail)
{
	list_add_tail(&head, &a.in_test);
	list_add_tail(&other, &b.in_test);
	list_add_tail(&other, &c.in_test);
	list_splice_tail(&head, &other);
	ck_assert_str_eq(names(&head), "abc");
	ck_assert(list_empty(&other));
	list_splice_tail(&head, &other);
	ck_assert_str_eq(names(&head), "abc");
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("list");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, tail_is_last_and_head_is_first);
	tcase_add_test(tc, item_goes_before_the_one_named);
	tcase_add_test(tc, link_tells_whether_it_is_on_a_list);
	tcase_add_test(tc, removing_what_is_on_no_list_does_nothing);
	tcase_add_test(tc, walk_survives_removal_of_the_present_item);
	tcase_add_test(tc, splice_moves_all_to_the_tail);
	return unit_run("lib/list", tc);
}
