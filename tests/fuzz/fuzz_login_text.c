/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Login text as a peer may send it: cut into pairs, then each negotiated.  The
 * first byte says in which phase and kind of session.
 */

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "target/chap.h"
#include "target/keys.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_pair(struct params *p, unsigned how, uint64_t *seen,
		      const char *key, const char *value)
{
	char mem[256];
	struct text reply = { .p = mem, .room = sizeof(mem) };
	uint8_t raw[64];

	keys_negotiate(p, (enum key_scope)(how % 3), how & 4, seen, key, value,
		       &reply);
	assert(reply.len <= reply.room);
	assert(chap_decode(value, raw, sizeof(raw)) <= (int)sizeof(raw));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text_iter it;
	struct params params;
	uint64_t seen = 0;
	char *copy, *key, *value;
	bool bad;

	if (!size)
		return 0;
	copy = malloc(size);
	if (!copy)
		return 0;
	memcpy(copy, data + 1, size - 1);
	copy[size - 1] = '\0';
	it = (struct text_iter){ copy, copy + size - 1 };
	keys_init(&params);
	while (text_next(&it, &key, &value, &bad))
		take_pair(&params, data[0], &seen, key, value);
	keys_finish(&params, seen);
	assert(bad || params.FirstBurstLength >= 512);
	free(copy);
	return 0;
}
