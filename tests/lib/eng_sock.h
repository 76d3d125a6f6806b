/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_LIB_ENG_SOCK_H
#define TESTS_LIB_ENG_SOCK_H

/* Sockets and requests on them, for tests of the engines. */

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/lib/eng.h"

static inline struct ereq recv_of(int fd, struct iovec *iov, int niov)
{
	return (struct ereq){ .op = EREQ_RECV, .fd = fd, .iov = iov,
			      .niov = niov };
}

static inline struct ereq send_of(int fd, struct iovec *iov, int niov)
{
	return (struct ereq){ .op = EREQ_SEND, .fd = fd, .iov = iov,
			      .niov = niov };
}

static inline void pair(int sv[2], int flags)
{
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | flags, 0, sv), 0);
}

static inline void close_pair(int sv[2])
{
	close(sv[0]);
	close(sv[1]);
}

static inline int listener(struct sockaddr_in *addr)
{
	socklen_t len = sizeof(*addr);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*addr = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	ck_assert_int_eq(bind(fd, (struct sockaddr *)addr, len), 0);
	ck_assert_int_eq(listen(fd, 16), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)addr, &len), 0);
	return fd;
}

#endif
