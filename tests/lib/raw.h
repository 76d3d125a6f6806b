/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_LIB_RAW_H
#define TESTS_LIB_RAW_H

/*
 * An initiator that sends what it is told to, right or wrong: PDUs over a plain
 * TCP socket, with digests and CHAP of every algorithm.  For what libiscsi
 * cannot do or would never do.
 */

#include "target/iscsi_proto.h"
#include "tests/lib/harness.h"

enum { RAW_TIMEOUT = -1, RAW_CLOSED = -2, RAW_BAD_DIGEST = -3 };

#define RAW_DATA_MAX (1u << 20)

struct raw {
	int		 fd;
	bool		 header_digest, data_digest;
	uint32_t	 itt;		/* of the next request */
	uint32_t	 cmd_sn, exp_stat_sn;
	uint32_t	 exp_cmd_sn, max_cmd_sn;	/* as last told */
	/* Login: class << 8 | detail; -1: no answer at all.  Keys that the
	 * target sent, one a line. */
	int		 login_status;
	uint16_t	 tsih;
	char		 keys[8192];
	/* the PDU received last */
	union bhs	 bhs;
	uint8_t		 data[RAW_DATA_MAX];
	size_t		 data_len;
	struct raw	*next;
};

struct raw_options {
	const char	*target;	/* NULL: discovery */
	const char	*initiator;	/* NULL: HOST */
	const char	*user, *secret;
	const char	*challenge;	/* CHAP_C of ours; "": theirs sent back */
	int		 algorithm;	/* CHAP_A: 5 MD5, 6, 7, 8; 0 is 5 */
	bool		 header_digest, data_digest;
	const char	*keys;		/* more, "KEY=VALUE\n" each */
	uint32_t	 isid;
	const char	*address;	/* NULL: 127.0.0.1 */
	int		 port;		/* 0: the daemon's */
	uint32_t	 first_cmd_sn;
};

/* A connection without login; NULL: none. */
struct raw *raw_connect(struct daemon *d, const struct raw_options *o);
/* Connects and logs in: look at login_status. */
struct raw *raw_login(struct daemon *d, const struct raw_options *o);
#define raw_open(d, ...) \
	raw_login(d, &(const struct raw_options){ __VA_ARGS__ })
/* Only the status of such a login, the connection is closed again. */
int raw_try(struct daemon *d, const struct raw_options *o);
#define login_status_of(d, ...) \
	raw_try(d, &(const struct raw_options){ __VA_ARGS__ })
void raw_close(struct raw *r);
/* The value of a key that the target sent, in a buffer of its own; or "". */
const char *raw_key(struct raw *r, const char *key);

/* Sends a PDU: data_len of the header is set, padding and digests are added. */
int raw_send(struct raw *r, union bhs *b, const void *data, size_t len);
/* Just bytes. */
int raw_bytes(struct raw *r, const void *bytes, size_t len);
/* The next PDU's opcode (r->bhs, r->data), or RAW_TIMEOUT, RAW_CLOSED, ... */
int raw_recv(struct raw *r, int ms);
/* The same, passing over all that is not of this opcode. */
int raw_recv_opcode(struct raw *r, int opcode, int ms);
/* Is the connection closed within ms? */
bool raw_wait_closed(struct raw *r, int ms);

/* Takes the next ITT and CmdSN. */
void raw_request(struct raw *r, union bhs *b, uint8_t opcode, bool immediate);
/* A SCSI Command of LUN lun with immediate data; its ITT. */
struct raw_cmd {
	int		 lun;
	uint8_t		 cdb[16];
	uint8_t		 flags;		/* CMD_READ, CMD_WRITE */
	uint32_t	 edtl;
	const void	*data;
	size_t		 data_len;
	bool		 not_final;	/* F=0: unsolicited Data-Out follow */
};
uint32_t raw_command(struct raw *r, const struct raw_cmd *c);
int raw_data_out(struct raw *r, const union bhs *r2t, uint32_t off,
		 const void *data, size_t len);
/* Whole commands of 512-byte blocks; the SCSI status, or negative. */
int raw_write(struct raw *r, int lun, uint64_t lba, const void *buf,
	      uint32_t blocks);
int raw_read(struct raw *r, int lun, uint64_t lba, void *buf, uint32_t blocks);
int raw_tur(struct raw *r, int lun);
/* TEST UNIT READY until no UNIT ATTENTION is left. */
int raw_settle(struct raw *r, int lun);
/* A task management request; its response, or negative. */
int raw_tmf(struct raw *r, int function, int lun, uint32_t itt,
	    uint32_t ref_cmd_sn);
/* NOP-Out and its answer: 0. */
int raw_ping(struct raw *r);

#endif
