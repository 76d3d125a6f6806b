/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SCSI_SCSI_INT_H
#define SCSI_SCSI_INT_H

/*
 * Inside the SCSI layer: the command table's row, the logical unit, the I_T_L
 * nexus, and the helpers that handlers use.
 */

#include <pthread.h>

#include "lib/cur.h"
#include "scsi/scsi.h"

/* ---- the command table ------------------------------------------------- */

enum op_flag {
	OP_IN		= 1 << 0,	/* Data-In: an answer up to REPLY_MAX */
	OP_OUT		= 1 << 1,	/* Data-Out: length bytes, all of them in
					 * cmd->data before start() */
	OP_PIECES	= 1 << 2,	/* moves its data itself, by pieces */
	OP_RANGE	= 1 << 3,	/* lba and nblocks are checked */
	OP_WRITES	= 1 << 4,	/* changes the medium: write protect */
	OP_NO_LU	= 1 << 5,	/* answers where no logical unit is */
	OP_NO_MEDIUM	= 1 << 6,	/* answers while it is degraded */
	OP_UA_KEEPS	= 1 << 7,	/* runs beside a unit attention */
	OP_RESV_OK	= 1 << 8,	/* runs beside any reservation */
	OP_FUA_DPO	= 1 << 9,	/* byte 1 has DPO (10h) and FUA (08h) */
	OP_BULK		= 1 << 10,	/* yields to everything else */
	OP_ATS		= 1 << 11,	/* exists while the primitive is on */
	OP_CLONE	= 1 << 12,
	OP_ZERO		= 1 << 13,
	OP_DELETE	= 1 << 14,
	OP_EXACT	= 1 << 15,	/* EDTL must be what the CDB asks for */
	OP_WLUN		= 1 << 16,	/* at the well known unit too */
	/* Persistent reservations: runs beside all types, or beside those that
	 * let others read.  Neither: as a write. */
	OP_PR_OK	= 1 << 17,
	OP_PR_READ	= 1 << 18,
	OP_ANY_PATH	= 1 << 19,	/* whatever the port's ALUA state */
};

/* Where LBA and number of blocks stand in the CDB. */
enum cdb_shape { SHAPE_NONE, SHAPE_6, SHAPE_10, SHAPE_12, SHAPE_16,
		 SHAPE_CAW,	/* Data-Out: twice the blocks */
		 SHAPE_WS10, SHAPE_WS16,	/* Data-Out: a block, or none */
		 SHAPE_LBA16 };	/* LBA at 2, no block count */

/* One row for each operation code and service action that we implement. */
struct scsi_op {
	const char	*name;		/* as SPC-4 and SBC-3 spell it */
	uint8_t		 opcode;
	int8_t		 sa;		/* service action, or -1 */
	uint8_t		 len;		/* of the CDB */
	uint32_t	 flags;		/* enum op_flag */
	enum cdb_shape	 shape;
	/* Allocation or parameter list length; size 0: none. */
	uint8_t		 length_at, length_size;
	uint8_t		 usage[16];	/* CDB USAGE DATA: the bits we look at;
					 * opcode and service action as such */
	enum scsi_result (*start)(struct scsi_cmd *cmd);
};

extern const struct scsi_op scsi_ops[];
extern const unsigned scsi_nops;
const struct scsi_op *scsi_op_find(const uint8_t cdb[16]);
/* Does lu offer it now (primitives, thin provisioning)? */
bool scsi_op_offered(const struct scsi_op *op, const struct lu *lu);
/* The first row of an opcode that lu offers, or NULL. */
const struct scsi_op *scsi_opcode_offered(uint8_t opcode, const struct lu *lu);

/* Handlers: start() returns a result, which ends the command, or SCSI_PENDING.
 * By file: */
/* rw.c */
enum scsi_result read_start(struct scsi_cmd *cmd);
enum scsi_result write_start(struct scsi_cmd *cmd);
enum scsi_result verify_start(struct scsi_cmd *cmd);
enum scsi_result write_verify_start(struct scsi_cmd *cmd);
enum scsi_result orwrite_start(struct scsi_cmd *cmd);	/* orwrite.c */
/* cache.c */
enum scsi_result sync_cache_start(struct scsi_cmd *cmd);
enum scsi_result prefetch_start(struct scsi_cmd *cmd);
/* caw.c, wsame.c, unmap.c, xcopy.c, capacity.c */
enum scsi_result caw_start(struct scsi_cmd *cmd);
enum scsi_result wsame_start(struct scsi_cmd *cmd);
enum scsi_result unmap_start(struct scsi_cmd *cmd);
enum scsi_result xcopy_start(struct scsi_cmd *cmd);
enum scsi_result copy_status_start(struct scsi_cmd *cmd);	/* 84h/00h */
enum scsi_result copy_params_start(struct scsi_cmd *cmd);	/* 84h/03h */
enum scsi_result copy_failed_start(struct scsi_cmd *cmd);	/* 84h/04h */
enum scsi_result copy_abort_start(struct scsi_cmd *cmd);	/* copyop.c */
enum scsi_result lba_status_start(struct scsi_cmd *cmd);
enum scsi_result read_capacity10_start(struct scsi_cmd *cmd);
enum scsi_result read_capacity16_start(struct scsi_cmd *cmd);
/* inquiry.c, luns.c, mode.c, log_pages.c, rsoc.c, alua.c, reserve.c, unit.c */
enum scsi_result inquiry_start(struct scsi_cmd *cmd);
enum scsi_result report_luns_start(struct scsi_cmd *cmd);
enum scsi_result mode_sense_start(struct scsi_cmd *cmd);	/* 6 and 10 */
enum scsi_result mode_select_start(struct scsi_cmd *cmd);
enum scsi_result log_sense_start(struct scsi_cmd *cmd);
enum scsi_result log_select_start(struct scsi_cmd *cmd);
enum scsi_result rsoc_start(struct scsi_cmd *cmd);
enum scsi_result rstmf_start(struct scsi_cmd *cmd);
enum scsi_result rtpg_start(struct scsi_cmd *cmd);
enum scsi_result reserve_start(struct scsi_cmd *cmd);		/* 6 and 10 */
enum scsi_result release_start(struct scsi_cmd *cmd);
/* diag.c, timestamp.c */
enum scsi_result send_diagnostic_start(struct scsi_cmd *cmd);
enum scsi_result read_buffer_start(struct scsi_cmd *cmd);
enum scsi_result write_buffer_start(struct scsi_cmd *cmd);
enum scsi_result report_timestamp_start(struct scsi_cmd *cmd);
enum scsi_result set_timestamp_start(struct scsi_cmd *cmd);
void echo_free(struct nexus *n);
enum scsi_result report_identity_start(struct scsi_cmd *cmd); /* identify.c */
/* defects.c */
enum scsi_result read_defects10_start(struct scsi_cmd *cmd);
enum scsi_result read_defects12_start(struct scsi_cmd *cmd);
/* pr_in.c, pr_out.c */
enum scsi_result pr_in_start(struct scsi_cmd *cmd);
enum scsi_result pr_out_start(struct scsi_cmd *cmd);
enum scsi_result test_unit_ready_start(struct scsi_cmd *cmd);
enum scsi_result request_sense_start(struct scsi_cmd *cmd);
enum scsi_result start_stop_start(struct scsi_cmd *cmd);

/* ---- helpers of handlers ----------------------------------------------- */

/* Ends a command that returned SCSI_PENDING; releases nothing by itself. */
void scsi_done(struct scsi_cmd *cmd, enum scsi_result r);
/* The same, later in the turn: for a command that is not being called now. */
void scsi_done_later(struct scsi_cmd *cmd, enum scsi_result r);
/* taskset.c lets it run: the checks, the data, the handler. */
void scsi_start(struct scsi_cmd *cmd);

/* Refusals with their detail, each one line at the caller. */
enum scsi_result bad_field(struct scsi_cmd *cmd, unsigned byte, unsigned bit);
enum scsi_result bad_param(struct scsi_cmd *cmd, enum scsi_result r,
			   unsigned byte);	/* of the list */
enum scsi_result lba_error(struct scsi_cmd *cmd, uint64_t lba);
enum scsi_result miscompare_at(struct scsi_cmd *cmd, uint64_t offset);
/* errno -> result: the only place. */
enum scsi_result result_of_errno(int err, bool write);
enum scsi_result result_of_breq(const struct breq *b);
/* Fills cmd->sense for cmd->result and cmd->detail; fixed or descriptor. */
void build_sense(struct scsi_cmd *cmd, bool descriptor);
/* The same for any result without detail, into out (SENSE_MAX): its length. */
unsigned sense_bytes(enum scsi_result r, const struct sense_detail *d,
		     bool descriptor, uint8_t *out);
uint8_t result_status(enum scsi_result r);
enum sense_key result_key(enum scsi_result r);
const char *result_name(enum scsi_result r);

/* An OP_IN handler writes its answer with these; what exceeds the allocation
 * length is cut, length fields tell the whole. */
struct out reply_begin(struct scsi_cmd *cmd);
enum scsi_result reply_end(struct scsi_cmd *cmd, const struct out *o);

/* ---- logical units ----------------------------------------------------- */

/* What the VPD pages print and the checks obey; blocks unless said. */
struct lu_limits {
	uint32_t max_transfer;		/* READ, WRITE, VERIFY */
	uint32_t opt_transfer, opt_granularity;
	uint8_t	 max_caw;
	uint32_t max_unmap_blocks, max_unmap_descriptors;
	uint32_t unmap_granularity, unmap_alignment;
	uint64_t max_write_same;
};

enum unit_attention {			/* the order in which they are told */
	UA_POWER_ON, UA_TARGET_RESET, UA_LU_RESET, UA_NEXUS_LOSS,
	UA_LUNS_CHANGED, UA_INQUIRY_CHANGED, UA_CAPACITY_CHANGED,
	UA_MODE_CHANGED, UA_RESV_PREEMPTED, UA_RESV_RELEASED,
	UA_REGS_PREEMPTED, UA_COMMANDS_CLEARED, UA_ALUA_CHANGED,
	UA_TIMESTAMP_CHANGED, UA_SOFT_THRESHOLD, UA_PREVIOUS_BUSY,
	UA_PREVIOUS_FULL, UA_PREVIOUS_CONFLICT, UNIT_ATTENTIONS,
};

/* Control mode page (SPC-4), as the fields have them; other values are
 * reserved. */
enum qerr { QERR_NONE = 0, QERR_ALL = 1, QERR_NEXUS = 3 };
enum ua_interlock { UA_CLEARS = 0, UA_STAYS = 2, UA_STAYS_AND_TELLS = 3 };

/* What each worker keeps of a logical unit; touched by that worker only,
 * counters are read by others. */
struct lu_worker {
	_Alignas(64) struct list cmds;	/* struct scsi_cmd.in_lu */
	uint64_t	 next_seq;
	struct list	 fences;	/* struct fence_part that wait here */
	_Atomic uint64_t counter[LU_COUNTERS];
	_Atomic uint64_t read_latency[LU_BUCKETS], write_latency[LU_BUCKETS];
};

struct range_set;			/* range.h */
struct pr_table;			/* pr.h */

/* Persistent reservations; under the mutex. */
struct lu_pr {
	struct pr_table	*table;		/* NULL: nobody is registered */
	bool		 busy;		/* somebody has the turn to change it */
	struct list	 waiting;	/* struct pr_out.link */
};

/* Product revision level, INQUIRY bytes 32 to 35. */
#define PRODUCT_REVISION "1.0 "

struct lu {
	const struct scsi_host *host;
	struct volume	*volume;
	atomic_uint	 refs;
	struct lu_config config;	/* naa, vendor, ...: constant */
	char		*name;
	struct lu_events events;

	/* Read by every command with one load each; written by main or under
	 * the mutex. */
	_Atomic uint32_t block_shift;
	_Atomic uint64_t nblocks;
	_Atomic bool	 opened;	/* once: volume_caps() is valid */
	_Atomic bool	 ready;		/* volume online (or failed: reads) */
	_Atomic bool	 failed;	/* writes are refused */
	_Atomic bool	 primitive[PRIMITIVES];
	_Atomic bool	 read_only;
	_Atomic bool	 swp, d_sense, tas;	/* control mode page */
	_Atomic uint8_t	 qerr;		/* enum qerr */
	_Atomic uint8_t	 ua_interlock;	/* enum ua_interlock */
	_Atomic bool	 write_back;	/* as configured: WCE is changeable */
	_Atomic bool	 stopped;	/* START STOP UNIT */
	_Atomic unsigned resets;	/* how many there were */
	_Atomic bool	 clock_set;	/* SET TIMESTAMP */
	_Atomic int64_t	 clock_ahead;	/* ms before the system's clock */
	_Atomic uint64_t reserved_by;	/* SPC-2: nexus id, 0 none */
	/* Constant once opened is set: VPD pages print it, checks obey it. */
	struct lu_limits limits;

	struct range_set *ranges;

	/* Main only. */
	void		(*closed)(void *arg);
	void		*closed_arg;
	struct epost	 last_ref;
	struct lu_threshold {
		struct etimer	timer;
		struct lu_space	space;
		bool		running;	/* space is being fetched */
	} threshold;
	_Atomic unsigned threshold_percent;
	_Atomic bool	 threshold_reached;
	_Atomic unsigned threshold_crossings;

	pthread_mutex_t	 mutex;		/* itls; held short */
	struct list	 itls;		/* struct itl.in_lu */
	struct lu_pr	 pr;
	struct lu_port	 ports[LU_PORTS];	/* lu_set_ports() */
	unsigned	 nports;
	struct lu_worker worker[];	/* host->nworkers */
};

/* What commands are to a reservation, whether SPC-2's or persistent. */
enum resv_class {
	RESV_OTHER	= 1 << 0,	/* neither reads nor writes */
	RESV_READ	= 1 << 1,
	RESV_WRITE	= 1 << 2,
};

/* An I_T_L nexus: one LUN of one nexus. */
struct itl {
	struct nexus	*nexus;
	struct lu	*lu;
	uint16_t	 lun;
	bool		 read_only;
	_Atomic uint32_t ua;		/* pending, 1 << enum unit_attention */
	_Atomic unsigned access;	/* enum alua_state of its port */
	/* enum resv_class that a reservation denies it; 0: none does */
	_Atomic unsigned denied;
	struct list	 in_lu;		/* lu->itls, under lu->mutex */
	struct list	 waiting;	/* commands behind a gate, in order */
	unsigned	 commands;	/* in the layer, those that wait too */
	unsigned	 running;	/* of these, executing */
	struct copyop	*copyops;	/* copyop.c; NULL: none yet */
	bool		 ordered;	/* an ORDERED command runs */
	struct edefer	 drain;		/* look at waiting again */
	struct gate	*gate;		/* reinstatement, nexus.c */
	bool		 gated;		/* the predecessor is not gone */
	bool		 gate_late;	/* for more than 5 s: BUSY */
	struct etimer	 gate_timer;
	bool		 unmapped;	/* nexus_unmap() runs */
	void		(*gone)(void *arg);
	void		*gone_arg;
	struct edefer	 gone_defer;
};

/* LUN fields as SAM-5 has them: peripheral and flat addressing mean the same. */
#define LUN_NONE	(-1)		/* a form that we do not know */
#define LUN_REPORT_LUNS	(-2)		/* the well known logical unit C1 01 */
int lun_decode(const uint8_t lun[8]);
void lun_encode(uint16_t lun, uint8_t out[8]);
struct itl *nexus_find(const struct nexus *n, int lun);

struct nexus {
	const struct scsi_host *host;
	struct nexus_config config;
	uint64_t	 id;
	struct engine	*engine;	/* of its worker */
	struct itl	**itl;		/* sorted by LUN */
	unsigned	 nitl, itl_room;
	unsigned	 commands;
	struct list	 no_lu;			/* struct scsi_cmd.in_lu */
	bool		 losing;		/* nexus_lose() runs */
	void		(*lost)(void *arg);
	void		*lost_arg;
	struct edefer	 lost_defer;
	struct echo	*echo;			/* diag.c; NULL: none yet */
};

/* Posts a unit attention to all I_T_L nexuses of lu but that of except (may be
 * NULL). */
void ua_post(struct lu *lu, enum unit_attention ua, const struct nexus *except);
void ua_post_itl(struct itl *itl, enum unit_attention ua);
/* The first one's result, or SCSI_GOOD; ua_take() takes it off. */
enum scsi_result ua_peek(const struct itl *itl);
enum scsi_result ua_take(struct itl *itl);
/* For a CHECK CONDITION that tells it: taken off unless they are interlocked,
 * when only REQUEST SENSE takes it. */
enum scsi_result ua_report(struct itl *itl);
/* A command ended with that status: told later, where the interlock asks for
 * it. */
void ua_of_status(struct itl *itl, enum scsi_status status);
/* Forgets one on all I_T_L nexuses of n: REPORT LUNS was answered. */
void ua_clear(struct nexus *n, enum unit_attention ua);

/* taskset.c */
void taskset_add(struct scsi_cmd *cmd);
bool taskset_enter(struct scsi_cmd *cmd);	/* false: it waits */
void taskset_remove(struct scsi_cmd *cmd);
void taskset_abort(struct scsi_cmd *cmd, bool tas);
/* cmd, which is gone, ended with CHECK CONDITION: aborts what QERR says. */
void taskset_qerr(const struct scsi_cmd *cmd);
void taskset_drain(struct edefer *drain);	/* struct itl.drain */
void taskset_busy(struct itl *itl);		/* ends those that wait */
/* nexus.c: the last command of an I_T_L nexus, or of a nexus, is gone. */
void itl_idle(struct itl *itl);

/* alua.c; the state with lu's mutex.  What who comes by such a path is told:
 * SCSI_GOOD where commands are served. */
enum alua_state alua_state(const struct lu *lu, uint16_t group);
enum scsi_result alua_refusal(enum alua_state s);
/* reserve.c */
void lu_release(struct lu *lu, uint64_t nexus);
void lu_reset_reserved(struct lu *lu);
/* pr.c: works out struct itl.denied anew; with the mutex. */
void reserved_refresh(struct lu *lu);
void reserved_refresh_itl(struct itl *itl);
/* Would a command of that class of n conflict on lu?  Any thread. */
bool lu_conflicts(struct lu *lu, const struct nexus *n, unsigned class);
/* Is anybody registered, and is n one for whom RESERVE and RELEASE do nothing
 * and are good?  With the mutex. */
bool lu_registered(struct lu *lu, const struct nexus *n, bool *ret_exempt);
/* pr_file.c: what was kept of them; -ENOMEM. */
int lu_load_reservations(struct lu *lu);
/* mode.c: the control mode page as a reset leaves it. */
void lu_reset_modes(struct lu *lu);
/* lu_change.c: MODE SELECT of WCE, on any worker; done() there. */
void lu_change_wce(struct scsi_cmd *cmd, bool on,
		   void (*done)(struct scsi_cmd *cmd, int err));
void lu_threshold_init(struct lu *lu);
void lu_threshold_stop(struct lu *lu);
/* lu.c */
enum scsi_result lu_readiness(const struct lu *lu);
/* The limits, also before the volume was opened for the first time. */
struct lu_limits lu_get_limits(const struct lu *lu);
/* Logical blocks per physical block, as a power of two. */
unsigned lu_physical_exponent(const struct lu *lu);
bool lu_rotational(const struct lu *lu);
/* Threshold sets of logical block provisioning: 2^this many blocks, 1 MiB; 0:
 * there are none, for lack of thin provisioning. */
unsigned lu_threshold_exponent(const struct lu *lu);
/* Bytes in threshold sets, as the fields of 32 bits tell them. */
uint32_t threshold_sets(uint64_t bytes);

/* How the primitives stand on lu right now. */
bool lu_thin(const struct lu *lu);		/* LBPME */
bool lu_unmap_zeroes(const struct lu *lu);	/* LBPRZ */
bool lu_anchors(const struct lu *lu);		/* ANC_SUP */
static inline uint64_t lu_bytes(const struct lu *lu, uint64_t blocks)
{
	return blocks << atomic_load_explicit(&lu->block_shift,
					      memory_order_relaxed);
}

static inline void lu_count(struct scsi_cmd *cmd, enum lu_counter c, uint64_t n)
{
	_Atomic uint64_t *p = &cmd->lu->worker[cmd->nexus->config.worker]
				       .counter[c];

	atomic_store_explicit(p, atomic_load_explicit(p, memory_order_relaxed) +
			      n, memory_order_relaxed);
}

/*
 * The fence: after the new state was published, runs on every worker, marks the
 * commands on lu that match() picks (NULL: all) among those that are there, as
 * aborted when abort is set, and calls done() on engine's thread, never from
 * inside lu_fence(), when the last of them is gone.  Commands of the caller's
 * own worker are marked at once.  Fences may overlap.
 */
struct fence;
struct fence_part {		/* one worker's; in lu_worker.fences */
	struct epost	 post;
	struct list	 link;
	struct fence	*fence;
	uint64_t	 seq;		/* concerns the commands before it */
	unsigned	 left;		/* of these, still there */
};

struct fence {
	struct lu	*lu;
	bool		(*match)(const struct fence *f,
				 const struct scsi_cmd *cmd);
	uint64_t	 nexus_id;	/* for match() */
	bool		 abort, tas;
	/* Posted to a nexus whose command was aborted, unless it is nexus_id's
	 * or TAS; UNIT_ATTENTIONS: none. */
	enum unit_attention ua;
	void		(*done)(struct fence *f);
	void		*arg;
	struct engine	*engine;	/* of the caller */

	struct epost	 post;
	atomic_uint	 pending;	/* parts not done */
	struct fence_part part[];
};

/* For lu, which stays referenced until fence_free().  NULL: no memory. */
struct fence *fence_new(struct lu *lu, struct engine *engine);
void fence_free(struct fence *f);
bool fence_match_nexus(const struct fence *f, const struct scsi_cmd *cmd);
void lu_fence(struct fence *f);

/* Is it still worth going on?  Every step function asks between acts. */
static inline bool cmd_aborted(const struct scsi_cmd *cmd)
{
	return cmd->aborted;
}

#endif
