/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_LIB_PR_H
#define TESTS_LIB_PR_H

/*
 * Persistent reservations for unit tests on the rig: every helper runs one
 * command on LUN 0 and returns it.
 */

#include "tests/lib/cdb.h"

enum { KEYS, RESERVATION, CAPABILITIES, FULL_STATUS };
enum {
	REGISTER, RESERVE, RELEASE, CLEAR, PREEMPT, PREEMPT_ABORT,
	REGISTER_IGNORE, REGISTER_MOVE,
};
enum { SPEC_I_PT = 8, ALL_TG_PT = 4, APTPL = 1 };
enum { WE = 1, EA = 3, WE_RO = 5, EA_RO = 6, WE_AR = 7, EA_AR = 8 };

struct cdb cdb_pr_in(uint8_t sa, uint16_t len);
struct cdb cdb_pr_out(uint8_t sa, uint8_t type, uint32_t len);
/* The 24 bytes. */
struct pr_list {
	uint8_t b[24];
};
struct pr_list pr_list(uint64_t key, uint64_t sa_key, uint8_t flags);
/* A TransportID of a port at p, of a name when isid is NULL; its length. */
uint32_t pr_transport_id(uint8_t *p, const char *name, const char *isid);

struct rig_cmd *pr_in(unsigned nexus, uint8_t sa, uint16_t len);
struct rig_cmd *pr_out(unsigned nexus, uint8_t sa, uint8_t type, uint64_t key,
		       uint64_t sa_key);
/* The list, and n bytes behind it. */
struct rig_cmd *pr_out_list(unsigned nexus, uint8_t sa, struct pr_list l,
			    const void *more, uint32_t n);
/* REGISTER of key, which must be good. */
void pr_register(unsigned nexus, uint64_t key);
void pr_reserve(unsigned nexus, uint64_t key, uint8_t type);

unsigned pr_keys(void);			/* how many are registered */
bool pr_has(uint64_t key);
uint32_t pr_generation(void);
uint8_t pr_type(void);			/* 0: no reservation */
uint64_t pr_holder_key(void);
bool pr_conflicts(const struct rig_cmd *c);
/* The unit attention of the nexus's LUN 0, ASC << 8 | ASCQ; 0: none. */
unsigned pr_attention(unsigned nexus);

#endif
