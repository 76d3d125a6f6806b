/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The target ports that serve each volume: one for each target that maps it and
 * each portal group.  Hosts read them in REPORT TARGET PORT GROUPS and want to
 * see the same on every path, in use or not.
 */

#include "target/volumes.h"

/* Is this portal the first of its group? */
static bool first_of_group(const struct conf *c, unsigned at)
{
	unsigned i;

	for (i = 0; i < at; i++)
		if (c->portals[i].group == c->portals[at].group)
			return false;
	return true;
}

static unsigned ports_of(const struct conf *c, const char *volume,
			 struct lu_port ports[LU_PORTS])
{
	unsigned t, p, n = 0;
	uint16_t group;

	for (t = 0; t < c->ntargets; t++) {
		if (!conf_maps(&c->targets[t], volume))
			continue;
		for (p = 0; p < c->nportals && n < LU_PORTS; p++) {
			if (!first_of_group(c, p))
				continue;
			group = (uint16_t)c->portals[p].group;
			ports[n++] = (struct lu_port){
				.rtpi = port_id(c->targets[t].iqn, group),
				.group = group,
				.state = conf_group_state(c, group),
			};
		}
	}
	return n;
}

void vols_tell_ports(const struct conf *now)
{
	struct lu_port ports[LU_PORTS];
	unsigned i, n;

	for (i = 0; i < now->nvolumes; i++) {
		struct lu *lu = vol_lu(now->volumes[i].name);

		if (!lu)
			continue;
		n = ports_of(now, now->volumes[i].name, ports);
		lu_set_ports(lu, ports, n);
		lu_unref(lu);
	}
}
