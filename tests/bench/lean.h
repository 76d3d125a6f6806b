/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_BENCH_LEAN_H
#define TESTS_BENCH_LEAN_H

/*
 * The lean client: lean.c moves bytes, one receive and one gathered send per
 * wake-up, and a framing makes and reads the headers: lean_iscsi.c, or
 * lean_floor.c.  Both headers have 48 bytes.
 */

#include <sys/uio.h>

#include "target/iscsi_proto.h"
#include "tests/bench/load.h"

#define OUT_MAX		64	/* Data-Out PDUs of one R2T */

/* A header with its digest, and what follows its data: padding, digest. */
struct lean_pdu {
	uint8_t		head[BHS_LEN + DIGEST_LEN];
	uint8_t		tail[3 + DIGEST_LEN];
};

struct lean_cmd {
	struct lean_pdu	 request;
	struct lean_pdu	 out[OUT_MAX];
};

struct lean;

struct framing {
	unsigned head_len;		/* on the wire: with the digest */
	/* Sends a slot's command, by lean_put(). */
	void (*request)(struct lean *c, struct slot *s);
	/* A header came; sets left, into and slot. */
	bool (*head)(struct lean *c, const void *head);
	/* All of its data came. */
	bool (*end)(struct lean *c);
};

struct lean {
	struct session	*session;
	const struct framing *framing;
	struct login	 login;
	unsigned	 head_len;
	/* to be sent: out[first .. nout) */
	struct iovec	*out;
	unsigned	 first, nout, out_size;
	/* received, not yet looked at: buf[at .. have) */
	uint8_t		*buf;
	size_t		 at, have;
	/* the PDU under way: its data still to come, where they go (NULL:
	 * nowhere), then padding and digest */
	bool		 in_body;
	union bhs	 bhs;
	struct slot	*slot;
	uint32_t	 left, trail_left, trail_len;
	uint8_t		*into;
	uint8_t		 trail[8], sense[256];
	uint32_t	 crc;
	/* slots that the CmdSN window does not let out yet, oldest first */
	struct slot	**waiting;
	unsigned	 nwaiting;
	struct lean_cmd	*cmd;		/* one per slot */
	struct lean_pdu	 pong;
};

extern const struct framing iscsi_framing, floor_framing;

/* A PDU to the send list: header, data, padding and digests. */
void lean_put(struct lean *c, struct lean_pdu *p, const void *data,
	      uint32_t len);
void lean_drain_waiting(struct lean *c);

#endif
