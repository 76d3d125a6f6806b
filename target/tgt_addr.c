/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Addresses: text, comparisons, CIDR; see addr.h. */

#include "target/addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/tgt.h"

void addr_unmap(const struct sockaddr *a, struct sockaddr_storage *ret)
{
	struct sockaddr_in6 in6;
	struct sockaddr_in in = { .sin_family = AF_INET };

	memset(ret, 0, sizeof(*ret));
	memcpy(ret, a, addr_len(a));
	if (a->sa_family != AF_INET6)
		return;
	memcpy(&in6, a, sizeof(in6));
	if (!IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr))
		return;
	in.sin_port = in6.sin6_port;
	memcpy(&in.sin_addr, in6.sin6_addr.s6_addr + 12, 4);
	memset(ret, 0, sizeof(*ret));
	memcpy(ret, &in, sizeof(in));
}

socklen_t addr_len(const struct sockaddr *a)
{
	switch (a->sa_family) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return sizeof(struct sockaddr_in6);
	}
	return sizeof(a->sa_family);
}

/* The bytes of an address: 4, 16, or 0 for another family. */
static unsigned addr_bytes(const struct sockaddr *a, uint8_t *ret)
{
	struct sockaddr_storage plain;
	struct sockaddr_in6 in6;
	struct sockaddr_in in;

	addr_unmap(a, &plain);
	switch (plain.ss_family) {
	case AF_INET:
		memcpy(&in, &plain, sizeof(in));
		memcpy(ret, &in.sin_addr, 4);
		return 4;
	case AF_INET6:
		memcpy(&in6, &plain, sizeof(in6));
		memcpy(ret, &in6.sin6_addr, 16);
		return 16;
	}
	return 0;
}

uint16_t addr_port(const struct sockaddr *a)
{
	struct sockaddr_in in;

	/* sin_port and sin6_port stand at the same place */
	if (a->sa_family != AF_INET && a->sa_family != AF_INET6)
		return 0;
	memcpy(&in, a, sizeof(in));
	return ntohs(in.sin_port);
}

void addr_set_port(struct sockaddr_storage *a, uint16_t port)
{
	struct sockaddr_in in;

	memcpy(&in, a, sizeof(in));
	in.sin_port = htons(port);
	memcpy(a, &in, sizeof(in));
}

bool addr_is_wildcard(const struct sockaddr *a)
{
	static const uint8_t zero[16];
	uint8_t b[16];
	unsigned n = addr_bytes(a, b);

	return n && !memcmp(b, zero, n);
}

bool addr_equal(const struct sockaddr *a, const struct sockaddr *b)
{
	uint8_t x[16], y[16];
	unsigned n = addr_bytes(a, x);

	return n && n == addr_bytes(b, y) && !memcmp(x, y, n) &&
	       addr_port(a) == addr_port(b);
}

const char *addr_host(const struct sockaddr *a, char *buf)
{
	struct sockaddr_storage plain;
	char zone[IF_NAMESIZE];
	struct sockaddr_in6 in6;
	uint8_t b[16];
	size_t n;

	buf[0] = '\0';
	addr_unmap(a, &plain);
	if (!addr_bytes(a, b) || !inet_ntop(plain.ss_family, b, buf, ADDR_TEXT))
		return buf;
	if (plain.ss_family == AF_INET6) {
		memcpy(&in6, &plain, sizeof(in6));
		n = strlen(buf);
		if (in6.sin6_scope_id &&
		    if_indextoname(in6.sin6_scope_id, zone))
			snprintf(buf + n, ADDR_TEXT - n, "%%%s", zone);
	}
	return buf;
}

const char *addr_text(const struct sockaddr *a, char *buf)
{
	char host[ADDR_TEXT];

	addr_host(a, host);
	/* the longest address, its zone, brackets and port have 70 bytes at
	 * most on paper, and fit in reality */
	snprintf(buf, ADDR_TEXT, strchr(host, ':') ? "[%.54s]:%u" : "%.54s:%u",
		 host, addr_port(a));
	return buf;
}

static int parse_host(const char *host, struct sockaddr_storage *ret)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in in = { .sin_family = AF_INET };
	char plain[ADDR_TEXT];
	const char *zone = strchr(host, '%');

	memset(ret, 0, sizeof(*ret));
	if (inet_pton(AF_INET, host, &in.sin_addr) == 1) {
		memcpy(ret, &in, sizeof(in));
		return 0;
	}
	snprintf(plain, sizeof(plain), "%.*s",
		 zone ? (int)(zone - host) : (int)strlen(host), host);
	if (inet_pton(AF_INET6, plain, &in6.sin6_addr) != 1)
		return -EINVAL;
	if (zone) {
		in6.sin6_scope_id = if_nametoindex(zone + 1);
		if (!in6.sin6_scope_id)
			return -EINVAL;
	}
	memcpy(ret, &in6, sizeof(in6));
	return 0;
}

static int parse_port(const char *text, uint16_t *ret)
{
	unsigned long n;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	n = strtoul(text, &end, 10);
	if (*end || n > UINT16_MAX)
		return -EINVAL;
	*ret = (uint16_t)n;
	return 0;
}

int addr_parse(const char *text, struct sockaddr_storage *ret)
{
	const char *host = text, *end, *port = NULL;
	struct sockaddr_storage addr;
	uint16_t n = ISCSI_PORT;
	char buf[ADDR_TEXT];

	if (*text == '[') {
		host = text + 1;
		end = strchr(text, ']');
		if (!end || (end[1] && end[1] != ':'))
			return -EINVAL;
		port = end[1] ? end + 2 : NULL;
	} else {
		end = strchr(text, ':');
		if (!end || end != strrchr(text, ':'))
			end = text + strlen(text);	/* or a bare IPv6 one */
		port = *end ? end + 1 : NULL;
	}
	if ((size_t)(end - host) >= sizeof(buf))
		return -EINVAL;
	snprintf(buf, sizeof(buf), "%.*s", (int)(end - host), host);
	if (parse_host(buf, &addr) || (port && parse_port(port, &n)))
		return -EINVAL;
	addr_set_port(&addr, n);
	*ret = addr;
	return 0;
}

int cidr_parse(const char *text, struct cidr *ret)
{
	const char *slash = strchr(text, '/');
	struct sockaddr_storage a;
	char host[ADDR_TEXT];
	struct cidr c = { 0 };
	uint16_t bits;
	unsigned n;

	snprintf(host, sizeof(host), "%.*s",
		 slash ? (int)(slash - text) : (int)strlen(text), text);
	if (parse_host(host, &a))
		return -EINVAL;
	n = addr_bytes((struct sockaddr *)&a, c.addr);
	bits = (uint16_t)(n * 8);
	if (slash && (parse_port(slash + 1, &bits) || bits > n * 8))
		return -EINVAL;
	c.family = n == 4 ? AF_INET : AF_INET6;
	c.bits = bits;
	*ret = c;
	return 0;
}

bool cidr_match(const struct cidr *c, const struct sockaddr *a)
{
	uint8_t b[16], mask;
	unsigned n = addr_bytes(a, b), whole = c->bits / 8;

	if (n != (c->family == AF_INET ? 4u : 16u))
		return false;
	if (memcmp(b, c->addr, whole))
		return false;
	if (c->bits % 8 == 0)
		return true;
	mask = (uint8_t)(0xff << (8 - c->bits % 8));
	return !((b[whole] ^ c->addr[whole]) & mask);
}
