/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIB_BE_H
#define LIB_BE_H

/*
 * Big-endian wire integers with types of their own: alignment 1, no padding,
 * and not an integer to the compiler, so that a forgotten conversion does not
 * compile.
 */

#include <stdint.h>
#include <string.h>

typedef struct { uint8_t b[2]; } be16;
typedef struct { uint8_t b[3]; } be24;
typedef struct { uint8_t b[4]; } be32;
typedef struct { uint8_t b[8]; } be64;

static inline uint16_t be16_get(be16 v)
{
	return (uint16_t)(v.b[0] << 8 | v.b[1]);
}

static inline uint32_t be24_get(be24 v)
{
	return (uint32_t)v.b[0] << 16 | (uint32_t)v.b[1] << 8 | v.b[2];
}

static inline uint32_t be32_get(be32 v)
{
	uint32_t x;

	memcpy(&x, v.b, sizeof(x));
	return __builtin_bswap32(x);
}

static inline uint64_t be64_get(be64 v)
{
	uint64_t x;

	memcpy(&x, v.b, sizeof(x));
	return __builtin_bswap64(x);
}

static inline be16 be16_of(uint16_t x)
{
	return (be16){ { (uint8_t)(x >> 8), (uint8_t)x } };
}

static inline be24 be24_of(uint32_t x)
{
	return (be24){ { (uint8_t)(x >> 16), (uint8_t)(x >> 8), (uint8_t)x } };
}

static inline be32 be32_of(uint32_t x)
{
	be32 v;

	x = __builtin_bswap32(x);
	memcpy(v.b, &x, sizeof(x));
	return v;
}

static inline be64 be64_of(uint64_t x)
{
	be64 v;

	x = __builtin_bswap64(x);
	memcpy(v.b, &x, sizeof(x));
	return v;
}

/* A wire integer inside a byte array: be32_get(BE_AT(be32, cdb, 2)). */
#define BE_AT(type, bytes, at) (*(const type *)((const uint8_t *)(bytes) + (at)))

#endif
