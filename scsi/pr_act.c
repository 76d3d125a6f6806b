/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The service actions of PERSISTENT RESERVE OUT (SPC-4), each a change of a
 * table that nobody else sees yet.  Who is to get a unit attention is marked
 * there; never the nexus that asks.
 */

#include "scsi/pr.h"

/* One action: whose it is and what it may change. */
struct act {
	struct scsi_cmd	*cmd;
	const struct pr_request *q;
	struct pr_table	*t;
	struct pr_registrant *me;	/* NULL: not registered */
	bool		 changed;
};

static bool type_valid(uint8_t type)
{
	switch ((enum pr_type)type) {
	case PR_WE:
	case PR_EA:
	case PR_WE_RO:
	case PR_EA_RO:
	case PR_WE_AR:
	case PR_EA_AR:
		return true;
	case PR_NONE:
		break;
	}
	return false;
}

static enum scsi_result check_type(const struct act *a)
{
	if (a->q->scope)
		return bad_field(a->cmd, 2, 7);
	if (!type_valid(a->q->type))
		return bad_field(a->cmd, 2, 3);
	return SCSI_GOOD;
}

static void changed(struct act *a)
{
	a->changed = true;
	a->t->generation++;
}

/* Tells all others that stay. */
static void tell(struct act *a, enum unit_attention ua)
{
	unsigned i;

	for (i = 0; i < a->t->n; i++)
		if (&a->t->r[i] != a->me && !a->t->r[i].gone)
			a->t->r[i].ua = ua;
}

/* The reservation ends; registrants who shared it have to know. */
static void release(struct act *a)
{
	unsigned i;

	if (a->t->type >= PR_WE_RO)
		tell(a, UA_RESV_RELEASED);
	a->t->type = PR_NONE;
	for (i = 0; i < a->t->n; i++)
		a->t->r[i].holder = false;
}

static void hold(struct act *a, struct pr_registrant *r, enum pr_type type)
{
	unsigned i;

	for (i = 0; i < a->t->n; i++)
		a->t->r[i].holder = false;
	r->holder = !pr_all_registrants(type);
	a->t->type = type;
}

/* ---- REGISTER ------------------------------------------------------------ */

/* One entry stands for the initiator port at every target port. */
static void spread(struct act *a, struct pr_registrant *r)
{
	struct pr_table *t = a->t;
	unsigned i;

	r->all_ports = true;
	for (i = 0; i < t->n; i++) {
		struct pr_registrant *o = &t->r[i];

		if (o == r || o->gone || strcmp(o->initiator, r->initiator) ||
		    memcmp(o->isid, r->isid, sizeof(r->isid)))
			continue;
		o->gone = true;
		r->holder = r->holder || o->holder;
	}
}

static enum scsi_result add(struct act *a, const struct nexus_config *n)
{
	struct pr_registrant *r = pr_add(a->t, n, a->q->sa_key);

	if (!r)
		return SCSI_NO_REGISTRATION_ROOM;
	if (a->q->all_ports)
		spread(a, r);
	return SCSI_GOOD;
}

/* As if the same REGISTER had come from that initiator port, which conflicts
 * where it is registered; one named twice is one. */
static enum scsi_result add_other(struct act *a, const struct nexus_config *n,
				  unsigned known)
{
	struct pr_registrant *r = pr_find(a->t, n);

	if (!r)
		return add(a, n);
	return r - a->t->r < known ? SCSI_RESERVED_BY_OTHER : SCSI_GOOD;
}

/* A name alone: the ports of that initiator that are there now. */
static enum scsi_result add_by_name(struct act *a, struct nexus_config *n,
				    unsigned known)
{
	enum scsi_result r = SCSI_INVALID_FIELD_IN_PARAM;
	struct lu *lu = a->cmd->lu;
	struct itl *itl;

	pthread_mutex_lock(&lu->mutex);
	list_for_each(itl, &lu->itls, in_lu) {
		if (strcmp(itl->nexus->config.initiator, n->initiator))
			continue;
		memcpy(n->isid, itl->nexus->config.isid, sizeof(n->isid));
		r = add_other(a, n, known);
		if (r)
			break;
	}
	pthread_mutex_unlock(&lu->mutex);
	return r;
}

static enum scsi_result add_others(struct act *a)
{
	unsigned known = a->t->n - 1;	/* all but the one that asks */
	struct cur c = a->q->ids;
	enum scsi_result r = SCSI_GOOD;

	while (!r && cur_left(&c)) {
		unsigned at = (unsigned)(c.p - a->cmd->data);
		struct nexus_config n = a->cmd->nexus->config;
		struct pr_id id;

		r = pr_id_take(a->cmd, &c, &id);
		if (r)
			break;
		memcpy(n.initiator, id.initiator, sizeof(n.initiator));
		memcpy(n.isid, id.isid, sizeof(n.isid));
		r = id.any_isid ? add_by_name(a, &n, known) :
				  add_other(a, &n, known);
		if (r == SCSI_INVALID_FIELD_IN_PARAM)
			bad_param(a->cmd, r, at);
	}
	return r;
}

static void unregister(struct act *a)
{
	bool held = pr_holds(a->t, a->me);

	a->me->gone = true;
	if (held && (a->me->holder || !pr_count(a->t)))
		release(a);
}

static enum scsi_result act_register(struct act *a)
{
	const struct pr_request *q = a->q;
	enum scsi_result r = SCSI_GOOD;

	if (q->sa == PR_REGISTER && q->key != (a->me ? a->me->key : 0))
		return SCSI_RESERVED_BY_OTHER;
	if (a->me && q->spec_i_pt)
		return bad_param(a->cmd, SCSI_INVALID_FIELD_IN_PARAM, 20);
	if (!a->me && !q->sa_key)
		return SCSI_GOOD;
	a->t->aptpl = q->aptpl;
	if (!q->sa_key) {
		unregister(a);
	} else if (a->me) {
		a->me->key = q->sa_key;
		if (q->all_ports)
			spread(a, a->me);
	} else {
		r = add(a, &a->cmd->nexus->config);
		if (!r)
			r = add_others(a);
	}
	changed(a);
	return r;
}

/* ---- RESERVE, RELEASE, CLEAR --------------------------------------------- */

static enum scsi_result act_reserve(struct act *a)
{
	enum scsi_result r = check_type(a);

	if (r)
		return r;
	if (a->t->type)
		return pr_holds(a->t, a->me) &&
		       (uint8_t)a->t->type == a->q->type ?
		       SCSI_GOOD : SCSI_RESERVED_BY_OTHER;
	hold(a, a->me, (enum pr_type)a->q->type);
	a->changed = true;		/* PRGENERATION stays */
	return SCSI_GOOD;
}

static enum scsi_result act_release(struct act *a)
{
	if (!pr_holds(a->t, a->me))
		return SCSI_GOOD;
	if (a->q->scope || a->q->type != (uint8_t)a->t->type)
		return SCSI_INVALID_RELEASE;
	release(a);
	a->changed = true;		/* PRGENERATION stays */
	return SCSI_GOOD;
}

static enum scsi_result act_clear(struct act *a)
{
	unsigned i;

	tell(a, UA_RESV_PREEMPTED);
	for (i = 0; i < a->t->n; i++)
		a->t->r[i].gone = true;
	a->t->type = PR_NONE;
	changed(a);
	return SCSI_GOOD;
}

/* ---- PREEMPT ------------------------------------------------------------- */

/* Does it take the reservation over, or remove registrations only? */
static bool takes_over(const struct act *a)
{
	unsigned i;

	if (pr_all_registrants(a->t->type))
		return !a->q->sa_key;
	for (i = 0; i < a->t->n; i++)
		if (a->t->r[i].holder)
			return a->t->r[i].key == a->q->sa_key;
	return false;
}

static unsigned remove_preempted(struct act *a, bool takes)
{
	unsigned i, n = 0;

	for (i = 0; i < a->t->n; i++) {
		struct pr_registrant *r = &a->t->r[i];

		/* key 0: everybody, of all registrants */
		if (a->q->sa_key && r->key != a->q->sa_key)
			continue;
		if (r == a->me && takes)
			continue;
		r->gone = true;
		if (r != a->me)
			r->ua = UA_REGS_PREEMPTED;
		n++;
	}
	return n;
}

static enum scsi_result act_preempt(struct act *a)
{
	const struct pr_request *q = a->q;
	bool takes = takes_over(a);
	enum scsi_result r = takes ? check_type(a) : SCSI_GOOD;
	unsigned n;

	if (r)
		return r;
	if (!q->sa_key && !takes)
		return bad_param(a->cmd, SCSI_INVALID_FIELD_IN_PARAM, 8);
	n = remove_preempted(a, takes);
	if (takes) {
		if ((uint8_t)a->t->type != q->type)
			tell(a, UA_RESV_RELEASED);
		hold(a, a->me, (enum pr_type)q->type);
	} else if (!n) {
		return SCSI_RESERVED_BY_OTHER;
	} else if (!pr_count(a->t)) {
		a->t->type = PR_NONE;
	}
	changed(a);
	return SCSI_GOOD;
}

/* ---- REGISTER AND MOVE --------------------------------------------------- */

/* The target port with a relative identifier; by it alone when nobody uses the
 * port now. */
static bool port_of(struct lu *lu, uint16_t rtpi, struct nexus_config *n)
{
	bool found = false;
	struct itl *itl;
	unsigned i;

	if (n->rtpi == rtpi)
		return true;
	n->rtpi = rtpi;
	n->target[0] = '\0';
	n->tpgt = 0;
	pthread_mutex_lock(&lu->mutex);
	for (i = 0; i < lu->nports; i++)
		found = found || lu->ports[i].rtpi == rtpi;
	list_for_each(itl, &lu->itls, in_lu) {
		if (itl->nexus->config.rtpi != rtpi)
			continue;
		memcpy(n->target, itl->nexus->config.target,
		       sizeof(n->target));
		n->tpgt = itl->nexus->config.tpgt;
		found = true;
		break;
	}
	pthread_mutex_unlock(&lu->mutex);
	return found;
}

/* Whom it moves to: another nexus than the one that asks. */
static enum scsi_result move_to(struct act *a, struct nexus_config *n)
{
	struct cur c = a->q->ids;
	struct pr_id id;
	enum scsi_result r = pr_id_take(a->cmd, &c, &id);

	if (r)
		return r;
	if (cur_left(&c))
		return bad_param(a->cmd, SCSI_INVALID_FIELD_IN_PARAM, 20);
	memcpy(n->initiator, id.initiator, sizeof(n->initiator));
	memcpy(n->isid, id.isid, sizeof(n->isid));
	if (!port_of(a->cmd->lu, a->q->rtpi, n))
		return bad_param(a->cmd, SCSI_INVALID_FIELD_IN_PARAM, 18);
	if (id.any_isid || pr_find(a->t, n) == a->me)
		return bad_param(a->cmd, SCSI_INVALID_FIELD_IN_PARAM,
				 PR_PARAM_LEN);
	return SCSI_GOOD;
}

static enum scsi_result act_move(struct act *a)
{
	struct nexus_config n = a->cmd->nexus->config;
	struct pr_registrant *to;
	enum scsi_result r;

	if (!a->me->holder)
		return SCSI_RESERVED_BY_OTHER;	/* all registrants too */
	if (!a->q->sa_key)
		return bad_param(a->cmd, SCSI_INVALID_FIELD_IN_PARAM, 8);
	r = move_to(a, &n);
	if (r)
		return r;
	to = pr_find(a->t, &n);
	if (!to)
		to = pr_add(a->t, &n, a->q->sa_key);
	if (!to)
		return SCSI_NO_REGISTRATION_ROOM;
	to->key = a->q->sa_key;
	hold(a, to, a->t->type);
	a->me->gone = a->q->unreg;
	a->t->aptpl = a->q->aptpl;
	changed(a);
	return SCSI_GOOD;
}

/* -------------------------------------------------------------------------- */

enum scsi_result pr_act(struct scsi_cmd *cmd, const struct pr_request *q,
			struct pr_table *next, bool *ret_changed)
{
	struct act a = { .cmd = cmd, .q = q, .t = next };
	enum scsi_result r = SCSI_RESERVED_BY_OTHER;
	bool known;

	a.me = pr_find(next, &cmd->nexus->config);
	known = a.me && a.me->key == q->key;
	switch (q->sa) {
	case PR_REGISTER:
	case PR_REGISTER_IGNORE:
		r = act_register(&a);
		break;
	case PR_RESERVE:
		r = known ? act_reserve(&a) : r;
		break;
	case PR_RELEASE:
		r = known ? act_release(&a) : r;
		break;
	case PR_CLEAR:
		r = known ? act_clear(&a) : r;
		break;
	case PR_PREEMPT:
	case PR_PREEMPT_ABORT:
		r = known ? act_preempt(&a) : r;
		break;
	case PR_REGISTER_MOVE:
		r = known ? act_move(&a) : r;
		break;
	}
	*ret_changed = !r && a.changed;
	return r;
}
