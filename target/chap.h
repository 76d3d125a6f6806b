/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TARGET_CHAP_H
#define TARGET_CHAP_H

/*
 * CHAP as iSCSI carries it (RFC 7143 12.1.3, RFC 1994): the target challenges,
 * the initiator answers with a hash over identifier, secret and challenge.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/keys.h"
#include "target/tgt.h"

enum chap_algorithm {		/* IANA, PPP authentication algorithms */
	CHAP_MD5	= 5,
	CHAP_SHA1	= 6,
	CHAP_SHA256	= 7,
	CHAP_SHA3_256	= 8,
};

#define CHAP_OFFERED(number) (1u << ((number) - CHAP_MD5))

#define CHAP_DIGEST_MAX	32

/* The longest that a challenge of an initiator may be, RFC 7143 6.1. */
#define CHAP_CHALLENGE_MAX 1024

/* One challenge; good for one answer. */
struct chap {
	uint8_t		algorithm, id;
	uint8_t		offered;	/* CHAP_OFFERED() of the initiator's */
	uint8_t		len;		/* of the challenge */
	uint8_t		challenge[CHAP_DIGEST_MAX];
};

/*
 * Takes the strongest algorithm of an initiator's CHAP_A list and makes a
 * random challenge as long as its digest.  -ENOENT: none is ours; -EIO: no
 * random numbers.
 */
int chap_start(struct chap *c, const char *list);
/* Puts CHAP_A, CHAP_I and CHAP_C. */
void chap_offer(const struct chap *c, struct text *reply);
/* The answer that a secret gives: its length, or -EIO. */
int chap_digest(const struct chap *c, const uint8_t *secret, size_t len,
		uint8_t *ret_digest);
/* Is response (hex or base64) what one of the users called name would send?
 * An answer of another length than asked for is tried by the algorithm of that
 * length, if the initiator offered it: some know just one, and offer several.
 * A name or a secret that looks encoded is tried as it stands and decoded.
 * Takes the same time for a wrong name and a wrong secret.  NULL: no. */
const struct chap_user *chap_verify(const struct chap *c,
				    const struct chap_user *users, int n,
				    const char *name, const char *response);
/*
 * The other direction: answers the initiator's CHAP_I and CHAP_C with CHAP_N
 * and CHAP_R of the user's mutual name and secret.  -EINVAL: malformed; -EPERM:
 * the challenge is our own, c's; -EIO.
 */
int chap_answer(const struct chap *c, const struct chap_user *user,
		const char *id, const char *challenge, struct text *reply);

/* Decodes 0x... or 0b... into buf: the number of bytes, or -EINVAL when it is
 * neither or does not fit. */
int chap_decode(const char *text, uint8_t *buf, size_t room);

#endif
