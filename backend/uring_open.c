/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Opening a ring: the best set-up that the kernel has, and whether the kernel
 * suffices at all.
 */

#include "backend/uring_int.h"

#include <errno.h>

#include "lib/util.h"

/* A turn rarely has more; what does not fit waits in `pending`. */
#define SQ_ENTRIES	512
/* Sockets with a receive armed, and the disks: the kernel keeps what does not
 * fit, at a price. */
#define CQ_ENTRIES	8192

/* Everything that uring.c may ask for. */
static bool ring_suffices(struct io_uring *ring)
{
	static const int needed[] = {
		IORING_OP_ACCEPT, IORING_OP_RECV, IORING_OP_SEND,
		IORING_OP_RECVMSG, IORING_OP_SENDMSG, IORING_OP_POLL_ADD,
		IORING_OP_READ, IORING_OP_WRITE, IORING_OP_READV,
		IORING_OP_WRITEV, IORING_OP_FSYNC, IORING_OP_FALLOCATE,
		IORING_OP_ASYNC_CANCEL,
	};
	struct io_uring_probe *probe;
	/* RSRC_TAGS came with multishot polls, which have no flag. */
	unsigned features = IORING_FEAT_NODROP | IORING_FEAT_EXT_ARG |
			    IORING_FEAT_RSRC_TAGS;
	bool ok = (ring->features & features) == features;

	probe = io_uring_get_probe_ring(ring);
	if (!probe)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
		if (!io_uring_opcode_supported(probe, needed[i]))
			ok = false;
	io_uring_free_probe(probe);
	return ok;
}

/* The ring starts disabled: SINGLE_ISSUER binds it to the thread that enables
 * it, the one that runs the engine. */
int uring_open(struct io_uring *ring)
{
	static const unsigned best_first[] = {
		IORING_SETUP_SUBMIT_ALL | IORING_SETUP_SINGLE_ISSUER |
			IORING_SETUP_DEFER_TASKRUN,
		IORING_SETUP_SUBMIT_ALL | IORING_SETUP_COOP_TASKRUN,
		0,
	};
	int err = -ENOSYS;

	for (size_t i = 0; i < ARRAY_SIZE(best_first); i++) {
		struct io_uring_params p = {
			.flags = best_first[i] | IORING_SETUP_R_DISABLED |
				 IORING_SETUP_CQSIZE,
			.cq_entries = CQ_ENTRIES,
		};

		err = io_uring_queue_init_params(SQ_ENTRIES, ring, &p);
		if (err != -EINVAL)
			break;
	}
	if (err)
		return err;
	if (ring_suffices(ring))
		return 0;
	io_uring_queue_exit(ring);
	return -ENOSYS;
}
