/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TARGET_ADDR_H
#define TARGET_ADDR_H

/*
 * Socket addresses as text and in comparisons.  An IPv4 address that was mapped
 * into IPv6 counts as the IPv4 address that it is.  Any thread.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define ISCSI_PORT 3260		/* the default, RFC 7143 15 */

struct cidr {
	int	 family;
	uint8_t	 addr[16];
	unsigned bits;
};

/* "192.0.2.0/24", "2001:db8::/32"; without a slash one address.  -EINVAL. */
int cidr_parse(const char *text, struct cidr *ret);
bool cidr_match(const struct cidr *c, const struct sockaddr *a);

/* "ADDR", "ADDR:PORT", "[ADDR6]", "[ADDR6]:PORT" or a bare ADDR6; the port is
 * ISCSI_PORT unless said.  -EINVAL. */
int addr_parse(const char *text, struct sockaddr_storage *ret);
/* The address itself: a mapped IPv4 one as IPv4. */
void addr_unmap(const struct sockaddr *a, struct sockaddr_storage *ret);
uint16_t addr_port(const struct sockaddr *a);
void addr_set_port(struct sockaddr_storage *a, uint16_t port);
bool addr_is_wildcard(const struct sockaddr *a);
/* Address and port alike? */
bool addr_equal(const struct sockaddr *a, const struct sockaddr *b);
socklen_t addr_len(const struct sockaddr *a);
/* The address without its port, no brackets; at least ADDR_TEXT bytes. */
const char *addr_host(const struct sockaddr *a, char *buf);

#endif
