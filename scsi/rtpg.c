/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * REPORT TARGET PORT GROUPS (SPC-4): implicit ALUA with a single group,
 * active/optimized.  Its ports are those that lu_set_ports() named and those
 * through which the logical unit is in use, so that every path tells the same.
 */

#include "scsi/scsi_int.h"

#define GROUP_ID	1

struct ports {
	unsigned n;
	uint16_t rtpi[LU_PORTS];	/* ascending */
};

static void port_add(struct ports *p, uint16_t rtpi)
{
	unsigned i;

	for (i = p->n; i > 0 && p->rtpi[i - 1] > rtpi; i--)
		;
	if ((i > 0 && p->rtpi[i - 1] == rtpi) || p->n == LU_PORTS)
		return;
	memmove(p->rtpi + i + 1, p->rtpi + i,
		(p->n - i) * sizeof(p->rtpi[0]));
	p->rtpi[i] = rtpi;
	p->n++;
}

static void ports_of(struct lu *lu, struct ports *p)
{
	struct itl *itl;
	unsigned i;

	p->n = 0;
	pthread_mutex_lock(&lu->mutex);
	for (i = 0; i < lu->nports; i++)
		port_add(p, lu->ports[i]);
	list_for_each(itl, &lu->itls, in_lu)
		port_add(p, itl->nexus->config.rtpi);
	pthread_mutex_unlock(&lu->mutex);
}

void lu_set_ports(struct lu *lu, const uint16_t *rtpi, unsigned n)
{
	pthread_mutex_lock(&lu->mutex);
	lu->nports = MIN(n, LU_PORTS);
	memcpy(lu->ports, rtpi, lu->nports * sizeof(rtpi[0]));
	pthread_mutex_unlock(&lu->mutex);
}

enum scsi_result rtpg_start(struct scsi_cmd *cmd)
{
	unsigned format = cmd->cdb[1] >> 5, i;
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
	out_u8(&o, 0x00);		/* active/optimized */
	out_u8(&o, 0x01);		/* AO_SUP alone */
	out_be16(&o, GROUP_ID);
	out_fill(&o, 0, 3);
	out_u8(&o, ports.n);
	for (i = 0; i < ports.n; i++) {
		out_be16(&o, 0);
		out_be16(&o, ports.rtpi[i]);
	}
	out_patch_be32(&o, 0, (uint32_t)(o.len - 4));
	return reply_end(cmd, &o);
}
