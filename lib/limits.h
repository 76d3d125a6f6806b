/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIB_LIMITS_H
#define LIB_LIMITS_H

/* Every resource limit of the daemon, each with the reason for its value. */

/* One worker per CPU; more than this many CPUs gain nothing on one box. */
#define MAX_WORKERS		64

/* READ and WRITE move in pieces of this size (bytes): larger ones save no
 * system calls that matter and hold memory longer. */
#define PIECE_MAX		(1u << 20)

/* An answer that is not medium data (INQUIRY, REPORT LUNS, ...), bytes: READ
 * FULL STATUS of 256 registrants is the longest. */
#define REPLY_MAX		(64u << 10)

/* A parameter list (MODE SELECT, UNMAP, EXTENDED COPY, PR OUT), bytes. */
#define PARAM_MAX		(64u << 10)

/* Data buffers of one worker, bytes, by default, and the part of them kept for
 * headers, answers and COMPARE AND WRITE. */
#define BUF_TOTAL_DEFAULT	(64u << 20)
#define BUF_RESERVE		(8u << 20)

/* Commands of one session that wait or run: what ESXi's and Linux' queues
 * (128) need, with room so that MaxCmdSN need not follow every command. */
#define CMDSN_WINDOW		256

/* RFC 7143 keys as we offer them, bytes: what initiators offer themselves. */
#define MAX_RECV_DSL		(256u << 10)
#define MAX_BURST		(1u << 20)
#define FIRST_BURST		(256u << 10)
#define MAX_OUTSTANDING_R2T	4

/* What one session may be asked for at a time, bytes: much more than a network
 * holds; but who never sends it leaves most buffers of the worker to others. */
#define AWAITED_MAX		(4u << 20)

/* A sequence of Data-Out that was asked for, or announced, comes to its end
 * within this time (ms), or the connection ends: it holds buffers that others
 * need, and hosts have given the command up by then. */
#define DATA_OUT_MS		60000

/* Bytes beside PDUs that wait for their CmdSN's turn, of a session: with one
 * connection only an odd initiator sends out of order. */
#define CMDSN_HELD_MAX		(1u << 20)

/* ABORT TASK of a CmdSN that is not longer ago is answered as done: ESXi resets
 * the logical unit when it hears that a task which it knows never was. */
#define ENDED_CMDSNS		2048

/* Login: PDUs of one stage, bytes of keys in all, seconds: a host needs about
 * six, 4 KiB and under one second. */
#define LOGIN_PDUS_MAX		16
#define LOGIN_TEXT_MAX		(16u << 10)
#define LOGIN_SECONDS		30

/* Keys in one Login Request: RFC 7143 has 35, the rest are makers' own. */
#define LOGIN_KEYS_MAX		256

/* The answer to a wrong secret waits so much longer with each one (ms), up to
 * what hosts wait for (ESXi: 5 s); addresses and names remembered, for so long
 * without another failure. */
#define LOGIN_DELAY_STEP_MS	200u
#define LOGIN_DELAY_MAX_MS	3000u
#define LOGIN_FAILURES		1024
#define LOGIN_FORGET_MS		300000u

/* An answer to SendTargets, bytes: 10,000 targets with four portals each. */
#define TEXT_OUT_MAX		(4u << 20)

/* An initiator that is silent for so long is asked by NOP-In whether it lives,
 * and has so long to answer: hosts ask us about as often. */
#define NOP_SILENCE_MS		30000
#define NOP_ANSWER_MS		30000

/* Sessions and connections of the whole daemon, and those that have not logged
 * in yet: 1,000 hosts with room. */
#define MAX_SESSIONS		4096
#define MAX_HALF_OPEN		256

/* The same for one address: half, so that no host shuts out the others; still
 * enough for 1,000 hosts behind an address translation. */
#define MAX_CONNS_PER_ADDRESS	(MAX_SESSIONS / 2)
#define MAX_HALF_OPEN_PER_ADDRESS (MAX_HALF_OPEN / 2)

/* iSCSI names, RFC 7143 4.2.7: 223 bytes and the end. */
#define ISCSI_NAME_MAX		224

/* Registrants of a logical unit with persistent reservations: eight paths of
 * each of 64 hosts. */
#define PR_REGISTRANTS		512

/* LUNs of a target; flat addressing ends at 16383. */
#define MAX_LUNS		1024
#define LUN_MAX			16383

/* Target ports of a logical unit that REPORT TARGET PORT GROUPS tells: the
 * TARGET PORT COUNT field is one byte. */
#define LU_PORTS		255u

/* Commands of a session that came back wait so long for the dead one's to end
 * before they are answered BUSY: hosts try again sooner than they give up. */
#define REINSTATE_MS		5000

/* EXTENDED COPY: what RECEIVE COPY OPERATING PARAMETERS and the VPD page say.
 * ESXi sends 2 CSCDs and one segment; segments as long as a host may wait for.
 * An entry of the results is kept for so many nanoseconds. */
#define XCOPY_CSCDS		8
#define XCOPY_SEGMENTS		64
#define XCOPY_SEGMENT_MAX	(256u << 20)	/* bytes */
#define XCOPY_CONCURRENT	64		/* copies with a list identifier */
#define XCOPY_RESULT_NS		(60 * (uint64_t)1000000000)

/* Blocking threads of a volume: a hung one stalls itself and nothing else. */
#define VOLUME_THREADS		4

/* Workers of io-wq per ring, and the requests of one volume that may take one:
 * a hung volume leaves room for fifteen others. */
#define IOWQ_WORKERS		256
#define IOWQ_PER_VOLUME		16

/* Bulk work: target time of a piece (ns), smallest and largest piece. */
#define BULK_PIECE_NS		10000000u
#define BULK_PIECE_MIN		((uint64_t)1 << 20)
#define BULK_PIECE_MAX		((uint64_t)1 << 30)

/* A degraded volume is tried again after this many milliseconds. */
#define VOLUME_RETRY_MS		2000

/* Clients of the control socket, a line of theirs (bytes: a configuration of
 * 10,000 LUNs), and how long one may take to read an answer. */
#define CONTROL_CLIENTS		64
#define CONTROL_LINE_MAX	(4u << 20)
#define CONTROL_SEND_SECONDS	30

#endif
