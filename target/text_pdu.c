/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The answers of Login and Text as PDUs: a text may be longer than what an
 * initiator takes at a time, so that each PDU carries a part of it.
 */

#include <stdlib.h>
#include <string.h>

#include "target/conn.h"

static void part_sent(struct pdu_out *p)
{
	free(p->data);
}

struct pdu_out *text_pdu(struct conn *c, const struct text *text, size_t *at,
			 size_t n)
{
	struct pdu_out *p;
	char *part = NULL;

	if (n) {
		part = malloc(n);
		if (!part)
			return NULL;
		memcpy(part, text->p + *at, n);
		*at += n;
	}
	p = pdu_new(c);
	if (!p) {
		free(part);
		return NULL;
	}
	p->data = part;
	p->data_len = (uint32_t)n;
	p->sent = part_sent;
	return p;
}
