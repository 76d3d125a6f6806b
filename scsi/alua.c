/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Implicit ALUA (SPC-4 5.16): the target ports of a logical unit, in groups
 * that have a state each, and REPORT TARGET PORT GROUPS, which tells the same
 * on every path: the ports that lu_set_ports() named and those through which
 * the unit is in use.
 */

#include "scsi/scsi_int.h"

/* Sorted by group, then by port. */
struct ports {
	unsigned n;
	struct lu_port port[LU_PORTS];
};

static bool is_before(const struct lu_port *a, const struct lu_port *b)
{
	return a->group != b->group ? a->group < b->group : a->rtpi < b->rtpi;
}

static void port_add(struct ports *p, const struct lu_port *port)
{
	unsigned i;

	for (i = p->n; i > 0 && is_before(port, &p->port[i - 1]); i--)
		;
	if ((i > 0 && !is_before(&p->port[i - 1], port)) || p->n == LU_PORTS)
		return;
	memmove(p->port + i + 1, p->port + i,
		(p->n - i) * sizeof(p->port[0]));
	p->port[i] = *port;
	p->n++;
}

enum alua_state alua_state(const struct lu *lu, uint16_t group)
{
	unsigned i;

	for (i = 0; i < lu->nports; i++)
		if (lu->ports[i].group == group)
			return lu->ports[i].state;
	return ALUA_OPTIMIZED;
}

static void ports_of(struct lu *lu, struct ports *p)
{
	struct itl *itl;
	unsigned i;

	p->n = 0;
	pthread_mutex_lock(&lu->mutex);
	for (i = 0; i < lu->nports; i++)
		port_add(p, &lu->ports[i]);
	list_for_each(itl, &lu->itls, in_lu)
		port_add(p, &(struct lu_port){
			.rtpi = itl->nexus->config.rtpi,
			.group = itl->nexus->config.tpgt,
			.state = (enum alua_state)atomic_load(&itl->access),
		});
	pthread_mutex_unlock(&lu->mutex);
}

void lu_set_ports(struct lu *lu, const struct lu_port *ports, unsigned n)
{
	bool changed = false;
	struct itl *itl;
	unsigned i;

	n = MIN(n, LU_PORTS);
	pthread_mutex_lock(&lu->mutex);
	for (i = 0; i < n; i++)
		changed |= alua_state(lu, ports[i].group) != ports[i].state;
	lu->nports = n;
	if (n)
		memcpy(lu->ports, ports, n * sizeof(ports[0]));
	list_for_each(itl, &lu->itls, in_lu)
		atomic_store(&itl->access,
			     alua_state(lu, itl->nexus->config.tpgt));
	pthread_mutex_unlock(&lu->mutex);
	if (changed)
		ua_post(lu, UA_ALUA_CHANGED, NULL);
}

enum scsi_result alua_refusal(enum alua_state s)
{
	switch (s) {
	case ALUA_OPTIMIZED:
	case ALUA_NON_OPTIMIZED:
		break;
	case ALUA_UNAVAILABLE:
		return SCSI_PORT_UNAVAILABLE;
	case ALUA_TRANSITIONING:
		return SCSI_PORT_TRANSITION;
	}
	return SCSI_GOOD;
}

/* ---- REPORT TARGET PORT GROUPS ----------------------------------------- */

enum {
	T_SUP = 0x80, U_SUP = 0x08, AN_SUP = 0x02, AO_SUP = 0x01,
	BY_IMPLICIT = 0x02,		/* status code: what changed it */
};

/* A group and its ports; the first port of the next one. */
static unsigned put_group(struct out *o, const struct ports *p, unsigned first)
{
	const struct lu_port *port = &p->port[first];
	unsigned end = first, i;

	while (end < p->n && p->port[end].group == port->group)
		end++;
	out_u8(o, port->state);
	out_u8(o, T_SUP | U_SUP | AN_SUP | AO_SUP);
	out_be16(o, port->group);
	out_u8(o, 0);
	out_u8(o, port->state == ALUA_OPTIMIZED ? 0 : BY_IMPLICIT);
	out_u8(o, 0);
	out_u8(o, end - first);
	for (i = first; i < end; i++) {
		out_be16(o, 0);
		out_be16(o, p->port[i].rtpi);
	}
	return end;
}

enum scsi_result rtpg_start(struct scsi_cmd *cmd)
{
	unsigned format = cmd->cdb[1] >> 5, at = 0;
	struct out o = reply_begin(cmd);
	struct ports ports;

	if (format > 1)
		return bad_field(cmd, 1, 7);
	ports_of(cmd->lu, &ports);
	out_be32(&o, 0);
	if (format) {			/* extended header */
		out_u8(&o, 0x10);
		out_fill(&o, 0, 3);	/* no implicit transition time */
	}
	while (at < ports.n)
		at = put_group(&o, &ports, at);
	out_patch_be32(&o, 0, (uint32_t)(o.len - 4));
	return reply_end(cmd, &o);
}
