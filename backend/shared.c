/* SPDX-License-Identifier: GPL-2.0-or-later */

/* How much of a file it shares with others: by FIEMAP, some extents a call. */

#include "backend/backend_int.h"

#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#define EXTENTS	256u

/* Adds up the extents of map; where the next call begins, or 0 at the end. */
static uint64_t add_up(const struct fiemap *map, uint64_t *shared)
{
	const struct fiemap_extent *e = NULL;
	unsigned i;

	for (i = 0; i < map->fm_mapped_extents; i++) {
		e = &map->fm_extents[i];
		if (e->fe_flags & FIEMAP_EXTENT_SHARED)
			*shared += e->fe_length;
	}
	if (!e || e->fe_flags & FIEMAP_EXTENT_LAST)
		return 0;
	return e->fe_logical + e->fe_length;
}

uint64_t shared_bytes(int fd)
{
	struct fiemap *map = malloc(sizeof(*map) +
				    EXTENTS * sizeof(map->fm_extents[0]));
	uint64_t at = 0, shared = 0;

	if (!map)
		return 0;
	do {
		*map = (struct fiemap){
			.fm_start = at, .fm_length = FIEMAP_MAX_OFFSET - at,
			.fm_extent_count = EXTENTS,
		};
		if (ioctl(fd, FS_IOC_FIEMAP, map) < 0)
			break;
		at = add_up(map, &shared);
	} while (at);
	free(map);
	return shared;
}
