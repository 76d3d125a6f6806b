/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIB_LIST_H
#define LIB_LIST_H

/*
 * Intrusive doubly linked lists.  One link per list, named after the list
 * (in_conn, in_lu).  A link that is on no list is initialised by list_init()
 * and points to itself, so list_del() of it does nothing and list_linked()
 * tells.
 */

#include <stdbool.h>

#include "lib/util.h"

struct list {
	struct list *prev, *next;
};

static inline void list_init(struct list *l)
{
	l->prev = l->next = l;
}

static inline bool list_empty(const struct list *l)
{
	return l->next == l;
}

static inline bool list_linked(const struct list *l)
{
	return l->next != l;
}

static inline void list_insert_before(struct list *at, struct list *l)
{
	l->prev = at->prev;
	l->next = at;
	at->prev->next = l;
	at->prev = l;
}

static inline void list_add_tail(struct list *head, struct list *l)
{
	list_insert_before(head, l);
}

static inline void list_add_head(struct list *head, struct list *l)
{
	list_insert_before(head->next, l);
}

static inline void list_del(struct list *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
	list_init(l);
}

/* Moves all of from to the tail of to; from is empty afterwards. */
static inline void list_splice_tail(struct list *to, struct list *from)
{
	if (list_empty(from))
		return;
	from->next->prev = to->prev;
	to->prev->next = from->next;
	from->prev->next = to;
	to->prev = from->prev;
	list_init(from);
}

#define list_entry(l, type, member) container_of(l, type, member)

#define list_first(head, type, member) list_entry((head)->next, type, member)

#define list_for_each(pos, head, member)				\
	for ((pos) = list_entry((head)->next, __typeof__(*(pos)), member); \
	     &(pos)->member != (head);					\
	     (pos) = list_entry((pos)->member.next, __typeof__(*(pos)), member))

/* The body may remove pos, and nothing else. */
#define list_for_each_safe(pos, tmp, head, member)			\
	for ((pos) = list_entry((head)->next, __typeof__(*(pos)), member), \
	     (tmp) = list_entry((pos)->member.next, __typeof__(*(pos)), member); \
	     &(pos)->member != (head);					\
	     (pos) = (tmp),						\
	     (tmp) = list_entry((pos)->member.next, __typeof__(*(pos)), member))

#endif
