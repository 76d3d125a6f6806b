/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TARGET_CONN_INT_H
#define TARGET_CONN_INT_H

/*
 * Inside the transport: how a connection receives and sends, the table of
 * PDUs, the pools.
 */

#include "target/session.h"
#include "target/task.h"

/* ---- receive: conn_rx.c ------------------------------------------------ */

/* Large enough for the longest header: an idle connection waits with it. */
#define RX_SMALL	1088u
static_assert(RX_SMALL > BHS_LEN + AHS_MAX + DIGEST_LEN, "a header fits");

/* Taken from the worker's pool while bytes come. */
#define RX_BUF		(64u << 10)

/* A segment of this length is received to its place alone, with a little room
 * for the next header; shorter ones are worth a copy. */
#define RX_DIRECT	(64u << 10)

enum rx_step { RX_HEADER, RX_BODY, RX_TAIL };
enum rx_buf_kind { RX_BUF_SMALL, RX_BUF_POOL, RX_BUF_HEAP };

/* Where the data segment goes. */
enum rx_sink { SINK_NONE, SINK_DROP, SINK_TASK, SINK_CONTROL };

struct conn_rx {
	struct conn	*conn;
	struct ereq	 req;
	struct iovec	 iov[2];
	bool		 in_flight;
	bool		 stopped;	/* parked: receives no more */
	bool		 draining;	/* everything that comes is dropped */
	bool		 shrink;	/* cancelled to give the buffer back */
	bool		 cancelled;
	bool		 waiting;	/* for a buffer of control data */
	bool		 in_run;	/* rx_run() is at work */
	bool		 busy;		/* bytes have come: worth a large buffer */

	enum rx_buf_kind kind;
	uint8_t		*buf;
	uint32_t	 cap;		/* one byte less than there is, for a NUL */
	uint32_t	 head, tail;	/* bytes not parsed yet */
	struct list	 in_busy;	/* pool's: those with a pool buffer */

	enum rx_step	 step;
	enum rx_sink	 sink;
	union bhs	 bhs;
	uint8_t		 ahs_reject;	/* why its AHS is refused, or 0 */
	const struct pdu_op *op;	/* NULL: dropped */
	uint32_t	 data_len;
	uint8_t		*body;		/* next byte of the data segment's place */
	uint32_t	 body_left;
	uint32_t	 crc;
	struct task	*task;		/* SINK_TASK: it may not be freed now */
	uint8_t		*control;	/* SINK_CONTROL: start of the segment */
	uint32_t	 control_size;	/* its buffer; 0: in the receive buffer */
	struct buf_waiter waiter;
	uint8_t		 small[RX_SMALL + 1];
};

int rx_init(struct conn *c);
void rx_fini(struct conn *c);
/* Parses what is there and receives on. */
void rx_run(struct conn *c);
void rx_cancel(struct conn *c);
/* Gives buffers of connections that became idle back. */
void rx_sweep(struct etimer *t);
/* The unparsed bytes of a parked connection, and back again (takes bytes over,
 * from malloc(); n may be 0). */
uint8_t *rx_take_bytes(struct conn *c, uint32_t *ret_n);
void rx_give_bytes(struct conn *c, uint8_t *bytes, uint32_t n);

/* ---- send: conn_tx.c --------------------------------------------------- */

#define TX_IOV 512

struct tx_batch {
	struct ereq	 req;
	struct conn	*conn;
	struct iovec	 iov[TX_IOV];
};

struct conn_tx {
	struct conn	*conn;
	struct list	 queue;		/* not given to the engine yet */
	struct list	 sending;
	struct tx_batch	*batch;		/* the send under way, or NULL */
	struct edefer	 flush;
	const char	*close_reason;	/* closes when all is sent; or NULL */
	bool		 shut;		/* our end of the stream is sent */
	bool		 failed;	/* conn_fail(): nothing is sent any more */
};

int tx_init(struct conn *c);
void tx_fini(struct conn *c);
void tx_cancel(struct conn *c);
void tx_drop(struct conn *c);		/* nothing of it may be under way */
bool tx_quiet(const struct conn *c);

/* ---- pools: pdu.c ------------------------------------------------------ */

struct slab;

struct pool {
	size_t		 size;
	unsigned	 per_slab;
	struct slab	*slabs;
	void		*free;
};

struct pdu_pool {
	struct worker	*worker;
	struct pool	 pdus, tasks, batches;
	struct list	 busy;		/* struct conn_rx.in_busy */
	struct etimer	 sweep;
};

void *pool_get(struct pool *p);		/* NULL: out of memory */
void pool_put(struct pool *p, void *obj);

/* ---- dispatch: conn_fsm.c ---------------------------------------------- */

enum conn_event { EV_LOGGED_IN, EV_LOGOUT, EV_LOST };

/* Changes the state; false: the event has no place in it (logged). */
bool conn_event(struct conn *c, enum conn_event ev);

enum pdu_legal {
	IN_LOGIN	= 1 << 0,
	IN_NORMAL	= 1 << 1,	/* full feature phase, normal session */
	IN_DISCOVERY	= 1 << 2,
};

struct pdu_op {
	uint8_t		 opcode;
	const char	*name;
	uint8_t		 legal;		/* enum pdu_legal */
	bool		 ordered;	/* has a CmdSN, and waits for its turn */
	/* The header is there: may set rx->sink to SINK_TASK or SINK_DROP. */
	void		 (*begin)(struct conn *c, const union bhs *bhs);
	/* All of it is there. */
	void		 (*handle)(struct conn *c, struct pdu_in *p);
};

/* Never NULL: what we do not know has a row of its own, which rejects. */
const struct pdu_op *pdu_op_of(unsigned opcode);
bool pdu_legal(const struct conn *c, const struct pdu_op *op);
bool conn_discovery(const struct conn *c);

/* ---- conn.c ------------------------------------------------------------ */

/* One engine request ended. */
void conn_io_done(struct conn *c);
/* Something that a closed connection waited for is gone: it looks again, soon,
 * whether it may be freed. */
void conn_cleanup_soon(struct conn *c);
bool conn_closing(const struct conn *c);
/* Out of memory for what c should say: from now on it says nothing, and soon it
 * is closed.  Not at once, since the SCSI layer may be our caller. */
void conn_fail(struct conn *c);

static inline void count_up(_Atomic uint64_t *n, uint64_t by)
{
	atomic_fetch_add_explicit(n, by, memory_order_relaxed);
}

#endif
