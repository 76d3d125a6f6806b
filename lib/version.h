/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIB_VERSION_H
#define LIB_VERSION_H

/* The version of both programs, and the product revision level of INQUIRY. */
#define LUND_VERSION "0.1"

#endif
