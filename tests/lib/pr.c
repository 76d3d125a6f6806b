/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Persistent reservations for unit tests; see pr.h. */

#include "tests/lib/pr.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "scsi/scsi_int.h"

#define REPLY 65535

struct cdb cdb_pr_in(uint8_t sa, uint16_t len)
{
	return (struct cdb){ { 0x5e, sa, 0, 0, 0, 0, 0, (uint8_t)(len >> 8),
			       (uint8_t)len } };
}

struct cdb cdb_pr_out(uint8_t sa, uint8_t type, uint32_t len)
{
	return (struct cdb){ { 0x5f, sa, type, 0, 0, (uint8_t)(len >> 24),
			       (uint8_t)(len >> 16), (uint8_t)(len >> 8),
			       (uint8_t)len } };
}

struct pr_list pr_list(uint64_t key, uint64_t sa_key, uint8_t flags)
{
	struct pr_list l = { { 0 } };
	be64 k = be64_of(key), s = be64_of(sa_key);

	memcpy(l.b, &k, sizeof(k));
	memcpy(l.b + 8, &s, sizeof(s));
	l.b[20] = flags;
	return l;
}

uint32_t pr_transport_id(uint8_t *p, const char *name, const char *isid)
{
	char text[300];
	uint32_t len;

	len = (uint32_t)snprintf(text, sizeof(text), "%s%s%s", name,
				 isid ? ",i,0x" : "", isid ? isid : "") + 1;
	len = MAX((len + 3) & ~3u, 20u);
	memset(p, 0, 4 + len);
	p[0] = isid ? 0x45 : 0x05;
	p[2] = (uint8_t)(len >> 8);
	p[3] = (uint8_t)len;
	memcpy(p + 4, text, strlen(text));
	return 4 + len;
}

struct rig_cmd *pr_in(unsigned nexus, uint8_t sa, uint16_t len)
{
	return run_in(nexus, 0, cdb_pr_in(sa, len), len);
}

static struct rig_cmd *out(unsigned nexus, struct cdb c, const void *data,
			   uint32_t len)
{
	return run_out(nexus, 0, c, data, len);
}

struct rig_cmd *pr_out(unsigned nexus, uint8_t sa, uint8_t type, uint64_t key,
		       uint64_t sa_key)
{
	struct pr_list l = pr_list(key, sa_key, 0);

	return out(nexus, cdb_pr_out(sa, type, sizeof(l)), l.b, sizeof(l));
}

struct rig_cmd *pr_out_list(unsigned nexus, uint8_t sa, struct pr_list l,
			    const void *more, uint32_t n)
{
	static uint8_t all[65536];

	assert(n <= sizeof(all) - sizeof(l));
	memcpy(all, l.b, sizeof(l));
	if (n)
		memcpy(all + sizeof(l), more, n);
	return out(nexus, cdb_pr_out(sa, 0, (uint32_t)sizeof(l) + n), all,
		   (uint32_t)sizeof(l) + n);
}

void pr_register(unsigned nexus, uint64_t key)
{
	struct rig_cmd *c = pr_out(nexus, REGISTER, 0, 0, key);

	assert(rig_good(c));
}

void pr_reserve(unsigned nexus, uint64_t key, uint8_t type)
{
	struct rig_cmd *c = pr_out(nexus, RESERVE, type, key, 0);

	assert(rig_good(c));
}

/* By nexus 0, whose unit attentions stay. */
static struct rig_cmd *look(uint8_t sa, uint16_t len)
{
	struct itl *itl = nexus_find(rig.nexus[0], 0);
	uint32_t ua = atomic_exchange(&itl->ua, 0);
	struct rig_cmd *c = pr_in(0, sa, len);

	atomic_store(&itl->ua, ua);
	return c;
}

unsigned pr_keys(void)
{
	return in32(look(KEYS, REPLY), 4) / 8;
}

bool pr_has(uint64_t key)
{
	struct rig_cmd *c = look(KEYS, REPLY);
	unsigned at;

	for (at = 8; at < c->nin; at += 8)
		if (in64(c, at) == key)
			return true;
	return false;
}

uint32_t pr_generation(void)
{
	return in32(look(KEYS, 8), 0);
}

uint8_t pr_type(void)
{
	struct rig_cmd *c = look(RESERVATION, 24);

	return in32(c, 4) ? c->in[21] : 0;
}

uint64_t pr_holder_key(void)
{
	return in64(look(RESERVATION, 24), 8);
}

bool pr_conflicts(const struct rig_cmd *c)
{
	return c->done == 1 &&
	       c->scsi.status == STATUS_RESERVATION_CONFLICT &&
	       !c->scsi.sense_len;
}

unsigned pr_attention(unsigned nexus)
{
	struct rig_cmd *c = run(nexus, 0, cdb_tur());

	if (c->scsi.status != STATUS_CHECK_CONDITION ||
	    (c->scsi.sense[2] & 0xf) != 0x6)
		return 0;
	return (unsigned)c->scsi.sense[12] << 8 | c->scsi.sense[13];
}
