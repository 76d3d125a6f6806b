/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TARGET_KEYS_H
#define TARGET_KEYS_H

/*
 * Text keys: cutting "Key=Value" pairs out of a data segment, and the
 * negotiation of RFC 7143 13 as a table that one function walks.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The operational parameters of a connection and its session, as numbers;
 * spelled as in RFC 7143 13.  keys_init() gives the RFC's defaults. */
struct params {
	uint32_t HeaderDigest, DataDigest;	/* 0 None, 1 CRC32C */
	uint32_t MaxConnections;
	uint32_t InitialR2T, ImmediateData;
	uint32_t MaxRecvDataSegmentLength;	/* the initiator's: what we may send */
	uint32_t own_recv_dsl;			/* ours: what it may send */
	uint32_t MaxBurstLength, FirstBurstLength;
	uint32_t DefaultTime2Wait, DefaultTime2Retain;
	uint32_t MaxOutstandingR2T;
	uint32_t DataPDUInOrder, DataSequenceInOrder;
	uint32_t ErrorRecoveryLevel;
	uint32_t IFMarker, OFMarker;
};

/* Text to send: grows by put, never over its room (the caller's memory). */
#define TEXT_VALUE_MAX	255	/* of a simple value, RFC 7143 6.1 */
#define TEXT_LIST_MAX	8192	/* of a list or a binary value */

struct text {
	char	*p;
	size_t	 len, room;
	bool	 overflow;
};

void text_put(struct text *t, const char *key, const char *value);
void text_put_number(struct text *t, const char *key, uint32_t value);
/* For text on the heap: room for more bytes, but never over max in all. */
bool text_reserve(struct text *t, size_t more, size_t max);
/* A decimal or hexadecimal constant of len bytes (RFC 7143 6.1) as a number
 * below 2^32. */
bool text_number(const char *s, size_t len, uint32_t *ret);
/* Is word one of the values of a comma-separated list? */
bool text_in_list(const char *list, const char *word);

/* Walks the pairs of a data segment: true with the next pair (both end in NUL,
 * inside the segment), false at its end; *ret_bad when what is left is not a
 * list of pairs. */
struct text_iter {
	char	*p, *end;
};

bool text_next(struct text_iter *it, char **ret_key, char **ret_value,
	       bool *ret_bad);

/* The stages of login, and after it: which keys may be used differs. */
enum key_scope { KEYS_SECURITY, KEYS_LOGIN, KEYS_FULL_FEATURE };

void keys_init(struct params *p);

/*
 * Negotiates one pair of the initiator's and puts our answer into reply.
 * seen: one bit per row of the table, kept by the caller over the login, so
 * that a key sent twice is found.  0, or -EPROTO: a value that ends the login
 * (status 0200h), -ENOENT: not a key of the table (the caller answers
 * NotUnderstood).
 */
int keys_negotiate(struct params *p, enum key_scope scope, bool discovery,
		   uint64_t *seen, const char *key, const char *value,
		   struct text *reply);
/* Puts what we declare unasked (MaxRecvDataSegmentLength), once. */
void keys_declare(struct params *p, uint64_t *seen, struct text *reply);
/* A new stage of login: keys of any stage may be said again. */
void keys_new_stage(uint64_t *seen);
/* What keys demand of each other, when all are there; -EPROTO if not kept. */
int keys_finish(struct params *p, uint64_t seen);

#endif
