/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The kind "null:": stores nothing and reads as zeros.  For measuring all that
 * is not the medium.
 */

#include "backend/backend_int.h"

#include <errno.h>
#include <string.h>

static int null_open(struct volume *v)
{
	if (!v->config.size || v->config.size % 512)
		return -EINVAL;
	v->stable_writes = true;
	v->caps = (struct volume_caps){
		.block_size = 512,
		.physical_block_size = 4096,
		.unmap_granularity = 4096,
		.unmap_zeroes = true,
		.read_only = v->config.read_only,
		.zero = METHOD_DISCARDED,
		.unmap = METHOD_DISCARDED,
		.copy = METHOD_DISCARDED,
	};
	return 0;
}

static int null_resize(struct volume *v, uint64_t size)
{
	if (!size)
		return -EINVAL;
	atomic_store(&v->size, size);
	return 0;
}

static int null_space(struct volume *v, struct volume_space *ret)
{
	(void)v;
	*ret = (struct volume_space){ 0 };
	return 0;
}

/* The buffer is somebody's old data otherwise. */
static void null_read(struct volume *v, struct breq *b)
{
	(void)v;
	memset(b->data, 0, b->len);
	breq_complete(b, 0);
}

static void null_discard(struct volume *v, struct breq *b)
{
	(void)v;
	breq_complete(b, 0);
}

static void null_extent(struct volume *v, struct breq *b)
{
	(void)v;
	b->mapped = false;
	b->run = b->len;
	breq_complete(b, 0);
}

const struct volume_ops null_ops = {
	.kind		= "null",
	.open		= null_open,
	.resize		= null_resize,
	.space		= null_space,
	.read		= null_read,
	.write		= null_discard,
	.zero		= null_discard,
	.unmap		= null_discard,
	.write_same	= null_discard,
	.copy		= null_discard,
	.extent		= null_extent,
};
