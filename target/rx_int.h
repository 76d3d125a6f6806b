/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TARGET_RX_INT_H
#define TARGET_RX_INT_H

/* Between conn_rx.c, which moves bytes, and rx_parse.c, which knows PDUs. */

#include "target/session_int.h"

/* One act of parsing; false: more bytes are needed, or a buffer. */
bool rx_step(struct conn_rx *rx);
/* Is the connection to be parked, and is this a place to stop at? */
bool rx_should_stop(struct conn_rx *rx);
/* n more bytes of the segment: from src, or received to their place (NULL). */
void rx_body_add(struct conn_rx *rx, const uint8_t *src, uint32_t n);
void rx_control_put(struct conn_rx *rx);

/* Does the next receive begin with a data segment's rest? */
static inline bool rx_direct(const struct conn_rx *rx)
{
	return rx->step == RX_BODY && rx->body && rx->body_left;
}

#endif
