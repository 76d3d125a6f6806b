/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIB_SECRET_H
#define LIB_SECRET_H

/* Memory for secrets: zeroed, not in core files, wiped when it is freed. */

#include <stddef.h>

/* NULL: no memory. */
void *secret_alloc(size_t size);
/* The same size; NULL allowed. */
void secret_free(void *p, size_t size);

#endif
