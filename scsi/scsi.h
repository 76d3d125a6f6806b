/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SCSI_SCSI_H
#define SCSI_SCSI_H

/*
 * The SCSI layer as a transport sees it: logical units over volumes, I_T
 * nexuses, commands, task management.  It knows nothing of PDUs or sockets.
 *
 * Threads: a nexus and its commands belong to one worker; their functions are
 * called, and their callbacks run, on that worker's engine.  A logical unit is
 * shared by all workers.  Functions on a logical unit say "main" (the main
 * thread) or "any thread".
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/backend.h"
#include "lib/be.h"
#include "lib/cur.h"
#include "lib/limits.h"
#include "lib/list.h"

struct copyop;
struct itl;
struct lu;
struct nexus;
struct scsi_cmd;
struct scsi_op;

/* The workers, made once before any logical unit. */
struct scsi_host {
	unsigned	 nworkers;
	struct engine	*worker[MAX_WORKERS];
	struct engine	*main;
};

/* ---- results and status ------------------------------------------------ */

enum scsi_status {			/* SAM-5, status codes */
	STATUS_GOOD			= 0x00,
	STATUS_CHECK_CONDITION		= 0x02,
	STATUS_BUSY			= 0x08,
	STATUS_RESERVATION_CONFLICT	= 0x18,
	STATUS_TASK_SET_FULL		= 0x28,
	STATUS_TASK_ABORTED		= 0x40,
};

enum sense_key {			/* SPC-4, sense keys */
	KEY_NO_SENSE		= 0x0,
	KEY_RECOVERED_ERROR	= 0x1,
	KEY_NOT_READY		= 0x2,
	KEY_MEDIUM_ERROR	= 0x3,
	KEY_HARDWARE_ERROR	= 0x4,
	KEY_ILLEGAL_REQUEST	= 0x5,
	KEY_UNIT_ATTENTION	= 0x6,
	KEY_DATA_PROTECT	= 0x7,
	KEY_COPY_ABORTED	= 0xa,
	KEY_ABORTED_COMMAND	= 0xb,
	KEY_MISCOMPARE		= 0xe,
};

/* Every way a command can end: one row of result.def each. */
enum scsi_result {
#define RESULT(name, status, key, asc, ascq) SCSI_##name,
#include "scsi/result.def"
#undef RESULT
	SCSI_RESULTS,
	SCSI_PENDING,		/* not an end: scsi_done() will be called */
};

#define SENSE_MAX 96		/* fixed format with two forwarded senses */

/* ---- the transport ----------------------------------------------------- */

/*
 * How data moves between a command and its initiator, a piece (at most
 * PIECE_MAX bytes, COMPARE AND WRITE BUF_MAX) at a time, in cmd->data, which
 * the transport lends.  get_buffer(), data_out() and data_in() return true when
 * it is done at once; otherwise they return false and the transport later calls
 * cmd->resume(cmd) from the loop, also when cmd->aborted was set meanwhile
 * (then the bytes may be missing).
 */
struct scsi_transport {
	/* cmd->data gets room for len bytes, at least; what it held is gone,
	 * unless it has room already: then nothing changes. */
	bool (*get_buffer)(struct scsi_cmd *cmd, uint32_t len);
	/* Makes room as get_buffer() does, if there is not enough, and fetches
	 * Data-Out bytes [off, off + len) to cmd->data.  Pieces are asked for
	 * in ascending order without gaps; off + len does not exceed
	 * cmd->edtl. */
	bool (*data_out)(struct scsi_cmd *cmd, uint32_t off, uint32_t len);
	/* Sends cmd->data[0, len) as Data-In at off; when done the buffer may
	 * be filled again.  Not for the last piece: it goes with done(). */
	bool (*data_in)(struct scsi_cmd *cmd, uint32_t off, uint32_t len);
	/*
	 * The command has ended: cmd->status, sense and data_in_len are set.
	 * With GOOD status the transport first sends the last data_in_len
	 * bytes of Data-In from cmd->data, which end the cmd->moved bytes sent
	 * in all.  The transport owns the command again; when cmd->aborted is
	 * set it sends nothing for it.
	 */
	void (*done)(struct scsi_cmd *cmd);
	/* The command was aborted; if it waits for the transport (a buffer,
	 * Data-Out), resume it now, from the loop.  May be NULL. */
	void (*aborted)(struct scsi_cmd *cmd);
};

/* ---- commands ---------------------------------------------------------- */

enum task_attribute { ATTR_UNTAGGED, ATTR_SIMPLE, ATTR_ORDERED, ATTR_HEAD,
		      ATTR_ACA };

/* A range of blocks of a logical unit that a command holds; see range.h. */
struct range {
	uint64_t	 lba, nblocks;
	bool		 exclusive, barge, held, queued;
	struct list	 link;
	struct engine	*engine;
	void		(*granted)(struct range *r);
	struct epost	 post;		/* brings granted(), or defer does */
	struct edefer	 defer;
};

/* What a refusal wants to say beyond its result: set by the helpers of
 * scsi_int.h, turned into sense by one function. */
struct sense_detail {
	bool		 info_valid;
	uint64_t	 info;		/* INFORMATION */
	bool		 field_valid, in_cdb, bit_valid;
	uint16_t	 field;		/* FIELD POINTER */
	uint8_t		 bit;
	bool		 segment_valid;	/* COPY ABORTED: segment number */
	uint16_t	 segment;
	enum scsi_result forwarded;	/* SCSI_GOOD: none */
	bool		 forwarded_dst;	/* of the destination, else source */
	bool		 progress_valid;
	uint16_t	 progress;
};

/* EXTENDED COPY, descriptors in all: bytes of so many CSCDs and segments of the
 * longer kind. */
#define XCOPY_LIST_MAX	(XCOPY_CSCDS * 32 + XCOPY_SEGMENTS * 32)

/* What the handlers of compound commands keep between their steps. */
struct rw_state {
	uint32_t	 total;		/* bytes to move, what EDTL leaves */
};

struct bulk_state {		/* a long range in pieces: wsame.c, unmap.c */
	enum breq_op	 op;
	uint64_t	 lba, left;	/* blocks: next piece, rest */
	uint64_t	 piece;
	bool		 rest;		/* the pieces done await a flush */
	uint16_t	 index, count;	/* UNMAP descriptors */
	bool		 (*next)(struct scsi_cmd *cmd);	/* may be NULL */
	int		 bytes;		/* enum lu_counter */
};

struct caw_state {
	uint8_t		*medium;	/* what was read, len bytes */
	uint32_t	 len;
	bool		 writes;	/* its write is not on the medium yet */
};

struct verify_state {
	uint8_t		*medium;	/* room bytes */
	uint32_t	 room;
	uint8_t		 bytchk;
	bool		 writes, fetches;	/* the medium, Data-Out */
	uint64_t	 total;		/* bytes to verify */
};

struct orwrite_state {
	uint8_t		*medium;	/* room bytes */
	uint32_t	 room, total;	/* total: bytes to write */
};

struct lba_status_state {
	struct out	 out;
	uint64_t	 lba, left;	/* blocks: not looked at yet */
	uint64_t	 run_lba, run;	/* looked at, not told yet */
	uint8_t		 run_status;	/* PROVISIONING STATUS */
	uint16_t	 descs, acts;
};

struct xcopy_state {
	struct lu	*cscd[XCOPY_CSCDS];	/* held; NULL: not reachable */
	bool		 cscd_ro[XCOPY_CSCDS];
	uint16_t	 ncscd, nsegment, segment;
	uint32_t	 seg_at;	/* of the current one, in the list */
	uint64_t	 src_off, dst_off, left;	/* bytes */
	uint64_t	 piece;
	bool		 backward;	/* overlap: from the end on */
	bool		 rest;		/* of a segment, after BREQ_PART */
	struct lu	*src, *dst;
	struct range	 dst_range, src_range;
	uint8_t		 list_id, list_id_usage;
};

struct pr_state {
	struct pr_out	*out;		/* pr_out.c */
};

struct scsi_cmd {
	/* Set by the transport before scsi_submit(). */
	struct nexus	*nexus;
	const struct scsi_transport *transport;
	uint8_t		 lun[8];
	uint8_t		 cdb[16];
	enum task_attribute attr;
	bool		 dir_in, dir_out;	/* R and W flags */
	uint32_t	 edtl;		/* Expected Data Transfer Length */
	uint8_t		*data;		/* lent; see struct scsi_transport */
	uint32_t	 data_size;	/* its room */

	/* The end, for transport->done(). */
	uint8_t		 status;
	uint8_t		 sense_len;
	uint8_t		 sense[SENSE_MAX];
	uint32_t	 data_in_len;	/* bytes of cmd->data still to send */
	uint32_t	 moved;		/* Data-In in all, or Data-Out taken */
	/* Bytes that the CDB asked to move; with edtl it gives the residual:
	 * overflow when greater, underflow by what moved when not. */
	uint64_t	 wanted;

	/* Set at any time by scsi_abort() and the task management functions. */
	bool		 aborted;
	bool		 tas;		/* aborted by another nexus, TAS=1: send
					 * TASK ABORTED, do not stay silent */

	/* The layer's own. */
	struct itl	*itl;
	struct lu	*lu;		/* NULL: no logical unit at that LUN */
	const struct scsi_op *op;
	void		(*resume)(struct scsi_cmd *cmd);
	uint64_t	 lba, nblocks;
	uint32_t	 length;	/* allocation or parameter list */
	uint64_t	 seq;		/* order of arrival at the unit */
	uint64_t	 started;	/* ns, engine_now() */
	struct list	 in_lu;		/* lu's commands on this worker */
	struct list	 in_wait;	/* itl's commands that wait */
	bool		 executing;	/* does not wait behind others */
	bool		 ended;		/* scsi_done() was called */
	bool		 submitting;	/* inside scsi_submit(): done() later */
	struct edefer	 defer;
	enum scsi_result result;
	struct sense_detail detail;
	struct breq	 breq;
	struct range	 range;
	/* Set while the command waits for something of this layer (a range):
	 * takes it off the queue and sees to it that the command ends, from
	 * the loop.  NULL: it waits for nothing that can be taken back. */
	void		(*cancel)(struct scsi_cmd *cmd);
	struct copyop	*copyop;	/* that it does, or NULL */
	int		 step;
	uint64_t	 done_bytes;	/* of the medium, by pieces */
	uint64_t	 caw_seq;	/* READ: range.h */
	union {
		struct rw_state    rw;
		struct bulk_state  bulk;
		struct caw_state   caw;
		struct verify_state verify;
		struct orwrite_state orwrite;
		struct lba_status_state lba_status;
		struct xcopy_state xcopy;
		struct pr_state    pr;
	} x;
};

/*
 * Hands a command over; the transport owns it again from done(), which is never
 * called from inside scsi_submit().  Commands of a nexus are submitted in the
 * order of their CmdSN.
 */
void scsi_submit(struct scsi_cmd *cmd);
/* ABORT TASK: done() comes as soon as the command has certainly written or
 * certainly never will. */
void scsi_abort(struct scsi_cmd *cmd);
/* A command that the transport owns ends with TASK SET FULL, for lack of
 * buffers: sets its end. */
void scsi_full(struct scsi_cmd *cmd);

/* ---- nexuses ----------------------------------------------------------- */

struct nexus_config {
	char		 initiator[ISCSI_NAME_MAX];
	char		 target[ISCSI_NAME_MAX];
	uint8_t		 isid[6];
	uint16_t	 tpgt;		/* target portal group tag */
	uint16_t	 rtpi;		/* relative target port identifier */
	unsigned	 worker;	/* index into scsi_host.worker */
	/*
	 * Third-party copy: the logical unit that an 83h designator names,
	 * among all that this initiator may see now; referenced, or NULL.
	 */
	struct lu	*(*find_lu)(void *arg, const uint8_t *designator,
				    size_t len, bool *ret_read_only);
	void		*arg;
};

struct nexus *nexus_new(const struct scsi_host *host,
			const struct nexus_config *config);
/* Only when it has no commands; usually in the done() of nexus_lose(). */
void nexus_free(struct nexus *n);
/* Shows a logical unit (a reference is taken) at a LUN.  Posts 29/00 to the new
 * I_T_L nexus; with announce, 3F/0E to the others.  -EEXIST, -ENOMEM. */
int nexus_map(struct nexus *n, uint16_t lun, struct lu *lu, bool read_only,
	      bool announce);
/* Takes it away: commands that run are aborted, then done() (may be NULL) runs;
 * later ones get 5/25/00.  -ENOENT. */
int nexus_unmap(struct nexus *n, uint16_t lun, void (*done)(void *arg),
		void *arg);
/* Nexus loss: aborts all of its commands, drops its SPC-2 reservations; done()
 * when the last command is gone.  Reinstatement and a lost connection alike. */
void nexus_lose(struct nexus *n, void (*done)(void *arg), void *arg);
/*
 * Reinstatement: on each logical unit, commands of n wait (BUSY after 5 s)
 * until those of old, which may live on another worker and must be in
 * nexus_lose(), are gone.  Called before the first command of n.
 */
void nexus_succeed(struct nexus *n, uint64_t old_id);
uint64_t nexus_id(const struct nexus *n);	/* never used twice */
/* Moves an idle nexus (no commands, no reinstatement under way) to another
 * worker; called on the old one or on the new one. */
void nexus_rehome(struct nexus *n, unsigned worker);
bool nexus_settled(const struct nexus *n);	/* it may be moved now */

/* ---- task management --------------------------------------------------- */

enum tmf {				/* SAM-5; values of RFC 7143 11.5.1 */
	TMF_ABORT_TASK		= 1,
	TMF_ABORT_TASK_SET	= 2,
	TMF_CLEAR_ACA		= 3,
	TMF_CLEAR_TASK_SET	= 4,
	TMF_LOGICAL_UNIT_RESET	= 5,
	TMF_TARGET_WARM_RESET	= 6,
	TMF_TARGET_COLD_RESET	= 7,
	TMF_QUERY_TASK_SET	= 10,	/* RFC 7144 */
	TMF_I_T_NEXUS_RESET	= 11,
	TMF_QUERY_ASYNC_EVENT	= 12,
};

enum tmf_response {			/* RFC 7143 11.6.1 */
	TMF_COMPLETE		= 0,
	TMF_NO_TASK		= 1,
	TMF_NO_LUN		= 2,
	TMF_NOT_SUPPORTED	= 5,
	TMF_SUCCEEDED		= 7,	/* RFC 7144: what was asked for is so */
	TMF_REJECTED		= 255,
};

/* ABORT TASK is the transport's (it knows the tags) by scsi_abort(); all others
 * go here.  The caller lends the struct until done(), on the nexus's worker,
 * when every affected command of every nexus is gone. */
struct scsi_tmf {
	struct nexus	*nexus;
	enum tmf	 function;
	uint8_t		 lun[8];
	enum tmf_response response;
	uint8_t		 info[3];	/* Additional Response Information */
	void		(*done)(struct scsi_tmf *t);
	unsigned	 pending;	/* the layer's own */
	struct edefer	 defer;
	void		*priv;
};

void scsi_task_management(struct scsi_tmf *t);

/* ---- logical units ----------------------------------------------------- */

enum lu_primitive { PRIM_ATS, PRIM_CLONE, PRIM_ZERO, PRIM_DELETE, PRIMITIVES };

extern const char *const lu_primitive_names[PRIMITIVES];	/* "ats", ... */

struct lu_config {
	struct volume_config volume;
	uint32_t	 block_size;	/* 512, 4096; 0: the device's, or 512 */
	uint32_t	 physical_block_size;	/* 0: as found */
	uint8_t		 naa[16];
	uint8_t		 naa_len;		/* 8 or 16 */
	char		 serial[33];		/* ASCII; unit serial number */
	char		 vendor[9], product[17];
	bool		 primitive[PRIMITIVES];
	uint8_t		 threshold;		/* percent, 0: none */
};

struct lu_events {
	void (*opened)(struct lu *lu, int err, void *arg);	/* main */
	void (*changed)(struct lu *lu, enum volume_state s, void *arg);
	/*
	 * Persistent reservations through power loss, bytes that mean nothing
	 * to whoever keeps them; NULL: they are not kept.  pr_load() runs
	 * inside lu_new(): 0 with malloc()ed bytes, -ENOENT or -errno; when
	 * they are damaged pr_aside() puts them away.  pr_store() runs on any
	 * thread and may block: what it was given last is stable when it
	 * returns 0; len 0 forgets.
	 */
	int (*pr_load)(void *arg, void **ret, size_t *ret_len);
	void (*pr_aside)(void *arg);
	int (*pr_store)(void *arg, const void *bytes, size_t len);
	void *arg;
};

/* Main.  One reference is the caller's.  Opening goes on by itself; until it
 * succeeds the logical unit answers 2/04/01. */
struct lu *lu_new(const struct scsi_host *host, const struct lu_config *config,
		  const struct lu_events *events);
void lu_open(struct lu *lu);
/* Main.  Gives up the caller's reference.  When the others are gone too (it was
 * unmapped everywhere, copies ended) the volume is closed, then done() runs,
 * never from inside. */
void lu_close(struct lu *lu, void (*done)(void *arg), void *arg);
struct lu *lu_ref(struct lu *lu);	/* any thread */
void lu_unref(struct lu *lu);		/* any thread; NULL allowed */

/* Live changes, main; VPD pages follow at once, unit attentions are posted to
 * every I_T_L nexus.  Those with done() answer later, on main. */
typedef void lu_done(void *arg, int err);	/* 0 or -errno */
void lu_set_primitive(struct lu *lu, enum lu_primitive p, bool on);
void lu_set_read_only(struct lu *lu, bool on);
void lu_set_write_back(struct lu *lu, bool on, lu_done *done, void *arg);
void lu_set_online(struct lu *lu);
void lu_set_threshold(struct lu *lu, unsigned percent);
/* All target ports that serve lu (at most LU_PORTS are told).  Main. */
enum alua_state {			/* SPC-4, asymmetric access state */
	ALUA_OPTIMIZED = 0, ALUA_NON_OPTIMIZED = 1,
	ALUA_UNAVAILABLE = 3, ALUA_TRANSITIONING = 15,
};

struct lu_port {
	uint16_t	 rtpi;		/* relative target port identifier */
	uint16_t	 group;		/* target port group: of one state */
	enum alua_state	 state;
};
void lu_set_ports(struct lu *lu, const struct lu_port *ports, unsigned n);
/* Shrinking is the caller's decision. */
void lu_resize(struct lu *lu, uint64_t size, lu_done *done, void *arg);

/* For people; any thread.  Strings live as long as the logical unit. */
struct lu_info {
	const char	*name, *path, *kind, *state, *vendor, *product, *serial;
	uint8_t		 naa[16], naa_len;
	int		 error;		/* why degraded or failed */
	uint64_t	 size;		/* bytes */
	uint32_t	 block_size, physical_block_size;
	bool		 write_back, read_only, thick, direct;
	bool		 primitive[PRIMITIVES];		/* switched on */
	bool		 supported[PRIMITIVES];		/* and possible here */
	const char	*method[PRIMITIVES];
	unsigned	 threshold;
};

void lu_get_info(struct lu *lu, struct lu_info *ret);
/* Fetches allocated and free space on a blocking thread; done() on main. */
struct lu_space {
	struct vwork	 work;
	struct lu	*lu;
	bool		 count_shared;	/* in: shared is wanted, too */
	uint64_t	 shared;	/* volume_shared() */
	struct volume_space space;
	void		(*done)(struct lu_space *s);	/* work.error */
};
void lu_get_space(struct lu *lu, struct lu_space *s);

/* Counters; each worker has its own set, the sum is told. */
enum lu_counter {
	LU_READS, LU_READ_BYTES, LU_WRITES, LU_WRITE_BYTES, LU_OTHERS,
	LU_ERRORS,		/* CHECK CONDITION, but for UNIT ATTENTION
				 * and MISCOMPARE */
	LU_CONFLICTS, LU_ABORTS,
	LU_ATS, LU_ATS_BYTES, LU_ATS_MISCOMPARES,
	LU_CLONE, LU_CLONE_BYTES, LU_ZERO, LU_ZERO_BYTES,
	LU_DELETE, LU_DELETE_BYTES,
	LU_NO_SPACE,		/* ended 7/27/07 */
	LU_THRESHOLDS,		/* crossings of the soft threshold */
	LU_COUNTERS,
};

extern const char *const lu_counter_names[LU_COUNTERS];	/* "reads", ... */

/* Latency histogram: bucket i counts commands of [2^(i/4), 2^((i+1)/4)) us. */
#define LU_BUCKETS 100

struct lu_stats {
	uint64_t counter[LU_COUNTERS];
	uint64_t read_latency[LU_BUCKETS], write_latency[LU_BUCKETS];
};

void lu_get_stats(struct lu *lu, struct lu_stats *ret);	/* any thread */

#endif
