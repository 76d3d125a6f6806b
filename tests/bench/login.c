/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A TCP connection and, for iSCSI, the shortest login: straight to the
 * operational stage, without authentication, RFC 7143 6. */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include "target/iscsi_proto.h"
#include "tests/bench/load.h"

#define KEYS_MAX 8192
#define STALL_SECONDS 60

bool login_tcp(const struct options *o, int *fd)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	struct timeval stall = { .tv_sec = STALL_SECONDS };
	int one = 1, size = 4 << 20;

	a.sin_port = htons((uint16_t)o->port);
	if (inet_pton(AF_INET, o->host, &a.sin_addr) != 1 ||
	    ntohl(a.sin_addr.s_addr) >> 24 != 127) {
		fprintf(stderr, "load: not a loopback address: %s\n", o->host);
		return false;
	}
	*fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (*fd < 0)
		return false;
	setsockopt(*fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(*fd, SOL_SOCKET, SO_RCVTIMEO, &stall, sizeof(stall));
	if (o->bs >= 65536)
		setsockopt(*fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	if (!connect(*fd, (struct sockaddr *)&a, sizeof(a)))
		return true;
	perror("load: connect");
	close(*fd);
	return false;
}

static bool recv_all(int fd, void *buf, size_t len)
{
	size_t have = 0;
	ssize_t n;

	while (have < len) {
		n = recv(fd, (char *)buf + have, len - have, 0);
		if (n <= 0)
			return false;
		have += (size_t)n;
	}
	return true;
}

/* Keys are text with a NUL behind each; text has line ends instead. */
static bool send_request(struct login *l, uint8_t flags, unsigned isid,
			 const char *text)
{
	char data[1024] = "";
	struct bhs_login_request b = {
		.opcode = OP_LOGIN_REQUEST | OPCODE_IMMEDIATE,
		.flags = flags,
		.isid = { 0x80, 0, 0, (uint8_t)(isid >> 16),
			  (uint8_t)(isid >> 8), (uint8_t)isid },
		.itt = be32_of(1),
		.cmd_sn = be32_of(l->cmd_sn),
		.exp_stat_sn = be32_of(l->exp_stat_sn),
	};
	size_t len = strlen(text), i;
	struct iovec iov[2] = { { &b, sizeof(b) },
				{ data, (len + 3) & ~(size_t)3 } };

	for (i = 0; i < len; i++)
		data[i] = text[i] == '\n' ? 0 : text[i];
	b.data_len = be24_of((uint32_t)len);
	return writev(l->fd, iov, 2) ==
		(ssize_t)(iov[0].iov_len + iov[1].iov_len);
}

static bool recv_answer(struct login *l, struct bhs_login_response *b,
			char *keys)
{
	uint32_t len;

	if (!recv_all(l->fd, b, sizeof(*b)) ||
	    b->opcode != OP_LOGIN_RESPONSE)
		return false;
	len = be24_get(b->data_len);
	if (len > KEYS_MAX - 4 || !recv_all(l->fd, keys, (len + 3) & ~3u))
		return false;
	keys[len] = 0;
	keys[len + 1] = 0;
	l->exp_stat_sn = be32_get(b->stat_sn) + 1;
	l->max_cmd_sn = be32_get(b->max_cmd_sn);
	return be16_get(b->status) == LOGIN_SUCCESS;
}

static void take_keys(struct login *l, const char *keys)
{
	const char *k = keys, *v;

	for (; *k; k += strlen(k) + 1) {
		v = strchr(k, '=');
		if (!v++)
			continue;
		if (!strncmp(k, "MaxRecvDataSegmentLength=", 25))
			l->mrdsl = (uint32_t)strtoul(v, NULL, 10);
		else if (!strncmp(k, "FirstBurstLength=", 17))
			l->first_burst = (uint32_t)strtoul(v, NULL, 10);
		else if (!strncmp(k, "MaxBurstLength=", 15))
			l->max_burst = (uint32_t)strtoul(v, NULL, 10);
		else if (!strncmp(k, "ImmediateData=", 14))
			l->immediate_data = *v == 'Y';
		else if (!strncmp(k, "HeaderDigest=", 13))
			l->header_digest = *v == 'C';
		else if (!strncmp(k, "DataDigest=", 11))
			l->data_digest = *v == 'C';
	}
}

static int offer(const struct options *o, char *text, size_t size)
{
	const char *digest = o->digests ? "CRC32C,None" : "None";

	return snprintf(text, size,
			"InitiatorName=iqn.2026-11.example.bench:load\n"
			"TargetName=%s\nSessionType=Normal\n"
			"HeaderDigest=%s\nDataDigest=%s\n"
			"InitialR2T=No\nImmediateData=Yes\n"
			"MaxBurstLength=1048576\nFirstBurstLength=262144\n"
			"MaxRecvDataSegmentLength=%u\nMaxOutstandingR2T=1\n"
			"MaxConnections=1\nErrorRecoveryLevel=0\n"
			"DefaultTime2Wait=0\nDefaultTime2Retain=0\n"
			"DataPDUInOrder=Yes\nDataSequenceInOrder=Yes\n",
			o->iqn, digest, digest, o->mrdsl);
}

bool login_iscsi(const struct options *o, unsigned isid, struct login *l)
{
	char text[1024], keys[KEYS_MAX];
	uint8_t flags = LOGIN_TRANSIT | STAGE_OPERATIONAL << LOGIN_CSG_SHIFT |
			STAGE_FULL_FEATURE;
	struct bhs_login_response b;
	unsigned round;

	*l = (struct login){ .cmd_sn = 1, .mrdsl = DSL_DEFAULT,
			     .first_burst = 65536, .max_burst = 262144,
			     .immediate_data = true };
	if (!login_tcp(o, &l->fd))
		return false;
	offer(o, text, sizeof(text));
	for (round = 0; round < 4; round++) {
		if (!send_request(l, flags, isid, text) ||
		    !recv_answer(l, &b, keys))
			break;
		take_keys(l, keys);
		if (b.flags & LOGIN_TRANSIT)
			return true;
		text[0] = 0;
	}
	close(l->fd);
	fprintf(stderr, "load: login refused or lost\n");
	return false;
}

void login_end(struct login *l)
{
	struct bhs_logout_request b = {
		.opcode = OP_LOGOUT_REQUEST | OPCODE_IMMEDIATE,
		.flags = FLAG_FINAL | LOGOUT_SESSION,
		.itt = be32_of(2),
		.cmd_sn = be32_of(l->cmd_sn),
		.exp_stat_sn = be32_of(l->exp_stat_sn),
	};
	struct bhs_logout_response answer;

	if (!l->header_digest &&
	    send(l->fd, &b, sizeof(b), MSG_NOSIGNAL) == sizeof(b))
		recv_all(l->fd, &answer, sizeof(answer));
	close(l->fd);
}
