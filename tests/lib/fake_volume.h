/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_LIB_FAKE_VOLUME_H
#define TESTS_LIB_FAKE_VOLUME_H

/* The fake's disk: fake_backend.c keeps volumes, fake_disk.c their requests. */

#include "tests/lib/fake_int.h"

#define FAKE_UNIT 512u		/* what is mapped or not */

struct volume {
	struct list	 link;
	char		*name, *path;
	struct volume_events events;
	struct engine	*main;
	enum volume_state state;
	int		 error, open_error;
	struct volume_caps caps;
	struct volume_space space;
	bool		 write_back, is_auto, closing;
	uint64_t	 size, piece;
	uint8_t		*data;
	uint8_t		*mapped;	/* one byte a unit */
	struct list	 breqs;		/* struct breq.link, oldest first */
	unsigned	 submitted, of_op[BREQ_OPS];
	unsigned	 fail_at;	/* count of submitted, 0: none */
	int		 fail_err;
};

/* Ends a request on the engine that submitted it. */
void fake_end(struct breq *b, int err);
void fake_close_if_idle(struct volume *v);

#endif
