/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_BENCH_LOAD_H
#define TESTS_BENCH_LOAD_H

/*
 * The load generator.  load.c reads the options and reports, run.c keeps the
 * commands of all sessions in flight, work.c decides what the next command is
 * and whether it came out right, and a client carries it: lean.c (iSCSI with
 * one receive and one gathered send per wake-up, or the floor's own framing),
 * or libiscsi.c.  One thread drives all of it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/util.h"
#include "tests/bench/hist.h"

enum work {
	WORK_READ, WORK_WRITE, WORK_MIX, WORK_WSAME, WORK_UNMAP, WORK_CAW,
	WORK_XCOPY, WORK_TUR, WORK_NOP, WORK_LOGIN, WORK_IDLE, WORKS,
};

extern const char *const work_names[WORKS];

struct options {
	char		 host[64], iqn[224];
	int		 port, lun, dst_lun;	/* dst_lun -1: the same */
	unsigned	 luns;			/* from lun on, in turn */
	const struct client *client;
	enum work	 work, probe;		/* probe WORKS: none */
	unsigned	 sessions, depth, read_percent;
	uint32_t	 bs;			/* bytes per command */
	uint64_t	 off, size;		/* of the LUN; size 0: all */
	uint64_t	 dst_off;
	double		 seconds, warm;
	bool		 random, once, contend, unmap_bit, fua;
	bool		 single;		/* a send per command */
	bool		 digests, verify;
	uint32_t	 mrdsl;
	int		 pid;			/* the target's */
};

enum data_dir { DATA_NONE, DATA_IN, DATA_OUT };

/*
 * One command.  work.c fills it, a client carries it and calls slot_done() when
 * its status is there.  A client may use tag and the bytes at client.
 */
struct slot {
	struct session	*session;
	unsigned	 tag;
	enum work	 work;
	uint8_t		 cdb[16];
	int		 lun;
	enum data_dir	 dir;
	uint32_t	 len;		/* of the data */
	const uint8_t	*out;
	uint8_t		*in;		/* NULL: take it and forget it */
	uint64_t	 off;		/* bytes, of a READ or WRITE */
	/* what came of it */
	int		 status;	/* of SCSI, or -1 */
	uint8_t		 sense_key, asc, ascq;
	uint32_t	 moved;
	uint64_t	 started;	/* ns */
	/* run.c's and work.c's */
	uint8_t		*buf;		/* of its own, bs bytes and more */
	uint64_t	 counter;	/* COMPARE AND WRITE: of its block */
	bool		 rereads;	/* the counter, after a miscompare */
	void		(*done)(struct slot *s);
	void		*client;
};

/* An initiator's side of one session. */
struct client {
	const char	*name;
	bool		 is_floor;
	/* Connects and logs in; NULL says why on stderr. */
	void		*(*open)(struct session *s);
	void		(*close)(void *c);
	void		(*submit)(void *c, struct slot *s);
	/* Sends what was submitted; false: the session is lost. */
	bool		(*flush)(void *c);
	int		(*fd)(void *c);
	short		(*events)(void *c);	/* of poll() */
	/* Receives what there is, ends slots; wait: sleeps for it. */
	bool		(*receive)(void *c, short events, bool wait);
};

extern const struct client lean_client, floor_client, libiscsi_client;

struct session {
	const struct options *opt;
	const struct client *client;
	void		*conn;
	unsigned	 index, depth, in_flight, turn, pass;
	bool		 is_probe;
	struct slot	*slot;
	uint64_t	 cursor, end;	/* sequential: its part of the LUN */
	uint64_t	 rng;
	uint64_t	 next_probe;	/* ns */
	struct load	*load;
};

/* proc.c: what /proc tells of a process. */
struct proc {
	uint64_t	 cpu_ns;
	uint64_t	 rss_kib;
	unsigned	 threads;
};

struct load {
	struct options	 opt;
	struct session	*session;
	unsigned	 nsessions;
	uint32_t	 block_size;
	uint64_t	 size;		/* of the part in use */
	uint8_t		*pattern;
	uint8_t		 naa[2][20], naa_len[2];
	struct hist	 hist, probe;
	uint64_t	 start, stop;	/* measured from, until; ns */
	uint64_t	 now;		/* of this wake-up; 0: not looked yet */
	struct proc	 proc[2];	/* the target at start and stop */
	uint64_t	 own_cpu;	/* ns between them */
	bool		 measuring, stopping;
	uint64_t	 ops, commands, retries, errors, bytes;
	uint64_t	 successes;	/* COMPARE AND WRITE, from the start */
	uint64_t	 bad;		/* verification */
	char		 first_error[96];
};

static inline uint64_t random64(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return *state = x;
}

uint64_t now_ns(void);

/* run.c: opens the sessions and keeps them busy; false: could not. */
bool run_open(struct load *l);
bool run_load(struct load *l);
void run_close(struct load *l);
/* One command on a session with nothing in flight; its status, or -1. */
int run_one(struct session *s, struct slot *slot);
void slot_done(struct slot *s);
/* Connections by the second, and memory of sessions that do nothing. */
bool run_logins(struct load *l);
bool run_idle(struct load *l);

/* work.c */
bool work_prepare(struct load *l);
/* Fills the slot with the next command; false: there is none left. */
bool work_next(struct session *s, struct slot *slot);
/* The slot's command ended GOOD; was what it read right? */
void work_check(struct slot *slot);
/* After the run: reads back, counts l->bad. */
bool work_verify(struct load *l);

/* cdb.c: fill cdb, dir and len. */
void cdb_rw(struct slot *s, bool write, uint64_t lba, uint32_t blocks);
void cdb_wsame(struct slot *s, uint64_t lba, uint32_t blocks, bool unmap);
void cdb_caw(struct slot *s, uint64_t lba);
void cdb_plain(struct slot *s, uint8_t opcode);
void cdb_inquiry(struct slot *s, uint8_t page, uint16_t len);
void cdb_capacity16(struct slot *s);
/* Those with a parameter list write it to list. */
void cdb_unmap(struct slot *s, uint8_t *list, uint64_t lba, uint32_t blocks);
struct copy_range {
	const uint8_t	*src_naa, *dst_naa;
	uint8_t		 src_len, dst_len;
	uint64_t	 src, dst;		/* LBAs */
	uint32_t	 blocks, block_size;
};
void cdb_xcopy(struct slot *s, uint8_t *list, const struct copy_range *r);

/* login.c: a connected, logged in socket and what was agreed. */
struct login {
	int		 fd;
	uint32_t	 cmd_sn, exp_stat_sn, max_cmd_sn;
	uint32_t	 mrdsl;		/* the target's, for what we send */
	uint32_t	 first_burst, max_burst;
	bool		 immediate_data, header_digest, data_digest;
};
bool login_tcp(const struct options *o, int *fd);
bool login_iscsi(const struct options *o, unsigned isid, struct login *l);
void login_end(struct login *l);	/* logs out and closes */

bool proc_read(int pid, struct proc *p);
/* CPU time between two looks; 0 when threads that had run are gone. */
uint64_t proc_cpu_ns(const struct proc p[2]);
uint64_t proc_own_cpu_ns(void);

#endif
