/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIB_CRC32C_H
#define LIB_CRC32C_H

/*
 * CRC32C as iSCSI digests use it (RFC 7143 13.1), by ISA-L.  Running: start
 * with crc32c_init(), add pieces, end with crc32c_final(), whose bytes go to
 * the wire in the order that crc32c_final() returns them in.
 */

#include <stddef.h>
#include <stdint.h>

#include "lib/be.h"

uint32_t crc32c_init(void);
uint32_t crc32c_add(uint32_t crc, const void *data, size_t len);

/* The digest as it stands on the wire: least significant byte first. */
be32 crc32c_final(uint32_t crc);

static inline be32 crc32c(const void *data, size_t len)
{
	return crc32c_final(crc32c_add(crc32c_init(), data, len));
}

#endif
