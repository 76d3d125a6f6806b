/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Memory for secrets: pages of its own, since the kernel leaves out of a core
 * file whole pages. */

#include "lib/secret.h"

#include <string.h>
#include <sys/mman.h>

void *secret_alloc(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	madvise(p, size, MADV_DONTDUMP);
	return p;
}

void secret_free(void *p, size_t size)
{
	if (!p)
		return;
	explicit_bzero(p, size);
	munmap(p, size);
}
