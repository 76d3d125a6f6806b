/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Connections counted: in all, of those that have not logged in, and the same
 * for each address, so that no one host can shut out the others.
 */

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "target/registry_int.h"

/* An address with connections; under the registry's lock. */
struct host {
	struct host	*next;
	struct in6_addr	 addr;
	unsigned	 conns, half_open;
};

/* IPv4 as mapped into IPv6; false: neither. */
static bool key_of(const struct sockaddr *a, struct in6_addr *ret)
{
	const struct sockaddr_in6 *in6 = (const void *)a;
	const struct sockaddr_in *in = (const void *)a;

	if (a->sa_family == AF_INET6) {
		*ret = in6->sin6_addr;
		return true;
	}
	if (a->sa_family != AF_INET)
		return false;
	*ret = (struct in6_addr){ .s6_addr = { [10] = 0xff, [11] = 0xff } };
	memcpy(&ret->s6_addr[12], &in->sin_addr, 4);
	return true;
}

/* Where the host is linked, or would be. */
static struct host **find(struct registry *r, const struct in6_addr *key)
{
	struct host **at;
	unsigned hash = 0, i;

	for (i = 0; i < sizeof(key->s6_addr); i++)
		hash = hash * 31 + key->s6_addr[i];
	for (at = &r->hosts[hash % HOST_BUCKETS]; *at; at = &(*at)->next)
		if (!memcmp(&(*at)->addr, key, sizeof(*key)))
			break;
	return at;
}

static struct host *host_of(struct registry *r, const struct sockaddr *remote)
{
	struct in6_addr key;

	return key_of(remote, &key) ? *find(r, &key) : NULL;
}

/* One connection more, if it may be; *ret_why when not. */
static bool host_begin(struct registry *r, const struct sockaddr *remote,
		       const char **ret_why)
{
	struct in6_addr key;
	struct host **at, *h;

	if (!key_of(remote, &key))
		return true;
	at = find(r, &key);
	h = *at;
	if (!h) {
		h = *at = calloc(1, sizeof(*h));
		if (!h) {
			*ret_why = "out of memory";
			return false;
		}
		h->addr = key;
	}
	if (h->half_open >= MAX_HALF_OPEN_PER_ADDRESS)
		*ret_why = "too many of its address have not logged in";
	else if (h->conns >= MAX_CONNS_PER_ADDRESS)
		*ret_why = "too many of its address";
	else
		h->half_open++, h->conns++;
	return !*ret_why;
}

bool registry_conn_begin(const struct sockaddr *remote)
{
	struct registry *r = registry_lock();
	const char *why = NULL;
	char address[ADDR_TEXT];
	bool ok;

	if (r->half_open >= MAX_HALF_OPEN)
		why = "too many have not logged in";
	ok = !r->closed && !why && host_begin(r, remote, &why);
	if (ok) {
		r->half_open++;
		r->nconns++;
	}
	registry_unlock(r);
	if (why)
		log_peer("connection of %s refused: %s",
			 addr_text(remote, address), why);
	return ok;
}

void registry_conn_logged_in(const struct sockaddr *remote)
{
	struct registry *r = registry_lock();
	struct host *h = host_of(r, remote);

	r->half_open--;
	if (h)
		h->half_open--;
	registry_unlock(r);
}

void registry_conn_end(const struct sockaddr *remote)
{
	struct registry *r = registry_lock();
	struct host *h = host_of(r, remote);

	if (h && !--h->conns) {
		*find(r, &h->addr) = h->next;
		free(h);
	}
	r->nconns--;
	shutdown_check(r);
	registry_unlock(r);
}
