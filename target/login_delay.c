/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * How long the answer to a wrong secret is held back: longer with each one from
 * the same address or in the same initiator's name, so that guessing is slow
 * from wherever it comes.  A table of fixed size; what was not heard of lately
 * makes room.  A right secret is never delayed.
 */

#include <netinet/in.h>
#include <pthread.h>
#include <string.h>

#include "lib/util.h"
#include "target/login_int.h"

#define WAYS 4

struct failures {
	uint64_t	 key, last;	/* ms */
	unsigned	 n;
};

static struct {
	pthread_mutex_t	 lock;
	struct failures	 slots[LOGIN_FAILURES];
} table = { .lock = PTHREAD_MUTEX_INITIALIZER };

static uint64_t mix(uint64_t hash, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	while (n--)
		hash = (hash ^ *p++) * 0x100000001b3;
	return hash ^ hash >> 29;
}

/* An IPv6 host has a whole /64 to choose from. */
static uint64_t key_of_address(const struct sockaddr *a)
{
	const struct sockaddr_in6 *in6 = (const void *)a;
	const struct sockaddr_in *in = (const void *)a;
	const uint8_t *at = in6->sin6_addr.s6_addr;

	if (a->sa_family == AF_INET)
		return mix(1, &in->sin_addr, 4);
	if (a->sa_family != AF_INET6)
		return 1;
	if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr))
		return mix(1, at + 12, 4);
	return mix(2, at, 8);
}

/* One more failure; how many they are now. */
static unsigned count(uint64_t key, uint64_t now)
{
	struct failures *set, *f;
	unsigned i;

	set = &table.slots[key % (LOGIN_FAILURES / WAYS) * WAYS];
	for (f = set, i = 0; i < WAYS; i++) {
		if (set[i].n && set[i].key == key) {
			f = &set[i];
			break;
		}
		if (set[i].last < f->last)
			f = &set[i];
	}
	if (f->key != key || now - f->last > LOGIN_FORGET_MS)
		f->n = 0;
	f->key = key;
	f->last = now;
	f->n += f->n < 1000;
	return f->n;
}

unsigned login_delay(const struct sockaddr *from, const char *initiator,
		     uint64_t now_ms)
{
	unsigned n, by_name;

	pthread_mutex_lock(&table.lock);
	n = count(key_of_address(from), now_ms);
	by_name = count(mix(3, initiator, strlen(initiator)), now_ms);
	pthread_mutex_unlock(&table.lock);
	return MIN(MAX(n, by_name) * LOGIN_DELAY_STEP_MS, LOGIN_DELAY_MAX_MS);
}
