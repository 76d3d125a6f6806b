/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Persistent reservations: the table of registrants, and what it and SPC-2's
 * RESERVE deny to each I_T nexus.  That is worked out when something changes,
 * so that a command looks at one word.
 */

#include "scsi/pr.h"

#include <stdlib.h>

const struct pr_table *pr_now(const struct lu *lu)
{
	static const struct pr_table empty;

	return lu->pr.table ? lu->pr.table : &empty;
}

bool pr_all_registrants(enum pr_type type)
{
	return type == PR_WE_AR || type == PR_EA_AR;
}

bool pr_is(const struct pr_registrant *r, const struct nexus_config *n)
{
	if (memcmp(r->isid, n->isid, sizeof(r->isid)) ||
	    strcmp(r->initiator, n->initiator))
		return false;
	if (r->all_ports)
		return true;
	if (!r->target[0] || !n->target[0])
		return r->rtpi == n->rtpi;
	return r->tpgt == n->tpgt && !strcmp(r->target, n->target);
}

static const struct pr_registrant *find(const struct pr_table *t,
					const struct nexus_config *n)
{
	unsigned i;

	for (i = 0; i < t->n; i++)
		if (!t->r[i].gone && pr_is(&t->r[i], n))
			return &t->r[i];
	return NULL;
}

struct pr_registrant *pr_find(struct pr_table *t, const struct nexus_config *n)
{
	const struct pr_registrant *r = find(t, n);

	return r ? &t->r[r - t->r] : NULL;
}

bool pr_holds(const struct pr_table *t, const struct pr_registrant *r)
{
	return t->type && (pr_all_registrants(t->type) || r->holder);
}

unsigned pr_count(const struct pr_table *t)
{
	unsigned i, n = 0;

	for (i = 0; i < t->n; i++)
		n += !t->r[i].gone;
	return n;
}

/* ---- a table that is being made ----------------------------------------- */

struct pr_table *pr_copy(const struct pr_table *t, unsigned more)
{
	unsigned room = t->n + more;
	struct pr_table *copy = calloc(1, sizeof(*copy) +
				       room * sizeof(copy->r[0]));
	unsigned i;

	if (!copy)
		return NULL;
	memcpy(copy, t, sizeof(*t));
	for (i = 0; i < t->n; i++) {
		copy->r[i] = t->r[i];
		copy->r[i].gone = false;
		copy->r[i].ua = UNIT_ATTENTIONS;
	}
	copy->room = room;
	return copy;
}

struct pr_registrant *pr_add(struct pr_table *t, const struct nexus_config *n,
			     uint64_t key)
{
	struct pr_registrant *r;

	if (t->n == t->room || pr_count(t) >= PR_REGISTRANTS)
		return NULL;
	r = &t->r[t->n++];
	*r = (struct pr_registrant){
		.key = key, .tpgt = n->tpgt, .rtpi = n->rtpi,
		.ua = UNIT_ATTENTIONS,
	};
	memcpy(r->initiator, n->initiator, sizeof(r->initiator));
	memcpy(r->target, n->target, sizeof(r->target));
	memcpy(r->isid, n->isid, sizeof(r->isid));
	return r;
}

/* Those that are gone to the end, the others in their order. */
static void compact(struct pr_table *t)
{
	unsigned i, n = 0;

	for (i = 0; i < t->n; i++) {
		struct pr_registrant r = t->r[i];

		if (r.gone)
			continue;
		t->r[i] = t->r[n];
		t->r[n++] = r;
	}
	t->n = n;
}

static void post_attentions(struct lu *lu, const struct pr_table *t)
{
	struct itl *itl;
	unsigned i;

	list_for_each(itl, &lu->itls, in_lu)
		for (i = 0; i < t->n; i++)
			if (t->r[i].ua != UNIT_ATTENTIONS &&
			    pr_is(&t->r[i], &itl->nexus->config))
				ua_post_itl(itl, t->r[i].ua);
}

void pr_publish(struct lu *lu, struct pr_table *next)
{
	pthread_mutex_lock(&lu->mutex);
	post_attentions(lu, next);
	compact(next);
	free(lu->pr.table);
	lu->pr.table = next;
	reserved_refresh(lu);
	pthread_mutex_unlock(&lu->mutex);
}

/* ---- what it denies ------------------------------------------------------ */

/* Which classes of commands a reservation of that type denies to others. */
static const uint8_t denies[] = {
	[PR_WE]		= RESV_WRITE,
	[PR_EA]		= RESV_WRITE | RESV_READ,
	[PR_WE_RO]	= RESV_WRITE,
	[PR_EA_RO]	= RESV_WRITE | RESV_READ,
	[PR_WE_AR]	= RESV_WRITE,
	[PR_EA_AR]	= RESV_WRITE | RESV_READ,
};

static unsigned denied(const struct lu *lu, const struct nexus *n)
{
	uint64_t by = atomic_load(&lu->reserved_by);
	const struct pr_table *t = pr_now(lu);
	const struct pr_registrant *r;

	if (by && by != n->id)
		return RESV_OTHER | RESV_READ | RESV_WRITE;
	if (!t->type)
		return 0;
	r = find(t, &n->config);
	if (r && (r->holder || t->type >= PR_WE_RO))
		return 0;
	return denies[t->type];
}

void reserved_refresh_itl(struct itl *itl)
{
	atomic_store(&itl->denied, denied(itl->lu, itl->nexus));
}

void reserved_refresh(struct lu *lu)
{
	struct itl *itl;

	list_for_each(itl, &lu->itls, in_lu)
		reserved_refresh_itl(itl);
}

bool lu_conflicts(struct lu *lu, const struct nexus *n, unsigned class)
{
	bool conflicts;

	pthread_mutex_lock(&lu->mutex);
	conflicts = denied(lu, n) & class;
	pthread_mutex_unlock(&lu->mutex);
	return conflicts;
}

/* SPC-4, exceptions to the behaviour of SPC-2: who holds the unit, or is
 * registered where that is as good, is told that RESERVE and RELEASE did it. */
bool lu_registered(struct lu *lu, const struct nexus *n, bool *ret_exempt)
{
	const struct pr_table *t = pr_now(lu);
	const struct pr_registrant *r = find(t, &n->config);

	*ret_exempt = r && t->type && (r->holder || t->type >= PR_WE_RO);
	return t->n || lu->pr.busy;
}
