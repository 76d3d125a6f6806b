/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The floor: a responder with a target's work on sockets and file and nothing
 * else, to compare targets with.  One thread; epoll with preadv and pwritev as
 * soon as a request is there, or io_uring with everything on one ring.
 */

#include "tests/bench/floor_int.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void *floor_buffer(size_t len)
{
	void *p = aligned_alloc(4096, (len + 4095) & ~(size_t)4095);

	if (!p) {
		perror("floor");
		exit(1);
	}
	memset(p, 0, len);
	return p;
}

int floor_accepted(int fd)
{
	int one = 1, size = 4 << 20;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	return fd;
}

static int listen_at(uint16_t port)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	a.sin_port = htons(port);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 64) ||
	    getsockname(fd, (struct sockaddr *)&a, &len)) {
		perror("floor: listen");
		exit(1);
	}
	printf("port %u\n", ntohs(a.sin_port));
	fflush(stdout);
	return fd;
}

static const struct option long_options[] = {
	{ "engine", 1, NULL, 'e' }, { "port", 1, NULL, 'p' },
	{ "file", 1, NULL, 'f' }, { "depth", 1, NULL, 'd' },
	{ "bs", 1, NULL, 'b' }, { NULL, 0, NULL, 0 },
};

int main(int argc, char **argv)
{
	struct floor f = { .file = -1, .depth = 128, .bs = 4096 };
	bool uring = false;
	uint16_t port = 0;
	int c;

	signal(SIGPIPE, SIG_IGN);
	while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		switch (c) {
		case 'e': uring = *optarg != 'e'; break;
		case 'p': port = (uint16_t)strtoul(optarg, NULL, 10); break;
		case 'd': f.depth = (unsigned)strtoul(optarg, NULL, 10); break;
		case 'b': f.bs = (uint32_t)strtoul(optarg, NULL, 10); break;
		case 'f':
			f.file = open(optarg, O_RDWR);
			if (f.file >= 0)
				break;
			perror(optarg);
			return 1;
		default:
			fprintf(stderr, "floor [--engine epoll|io_uring]"
				" [--port N] [--file PATH] [--depth N]"
				" [--bs BYTES]\n");
			return 2;
		}
	}
	f.listener = listen_at(port);
	if (uring)
		floor_uring(&f);
	else
		floor_epoll(&f);
	return 1;
}
