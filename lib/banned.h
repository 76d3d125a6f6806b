/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIB_BANNED_H
#define LIB_BANNED_H

/*
 * Functions that the product does not call, since they cannot be told where
 * the memory ends.  The Makefile includes this file before every source file;
 * the system's headers come first, for they declare what is poisoned here.
 */

#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#undef alloca

#pragma GCC poison strcpy strcat strncpy strncat strtok stpcpy
#pragma GCC poison sprintf vsprintf gets alloca
#pragma GCC poison wcscpy wcscat
#pragma GCC poison atoi atol atoll
#pragma GCC poison mktemp tmpnam

#endif
