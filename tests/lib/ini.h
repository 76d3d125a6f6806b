/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_LIB_INI_H
#define TESTS_LIB_INI_H

/*
 * An initiator, by libiscsi: sessions, raw CDBs in and out, several commands in
 * flight, all with deadlines.  A session belongs to one thread.  Sessions that
 * a case leaves open are dropped after it.
 */

#include <stdint.h>
#include <iscsi/iscsi.h>
#include <iscsi/scsi-lowlevel.h>

#include "lib/be.h"
#include "tests/lib/harness.h"

struct ini {
	struct iscsi_context	*iscsi;
	bool			 up, kept;
	struct ini		*next;
};

struct ini_options {
	const char	*target;
	const char	*initiator;	/* NULL: HOST */
	const char	*portal;	/* NULL: the daemon's */
	uint32_t	 isid;		/* 0: a new one each time */
	const char	*user, *password;
	const char	*target_user, *target_password;	/* mutual CHAP */
	enum iscsi_header_digest digest;
	bool		 no_immediate, initial_r2t, discovery;
};

/* NULL: refused or no connection; ini_error() says why. */
struct ini *ini_login(struct daemon *d, const struct ini_options *o);
#define ini_open(d, ...) \
	ini_login(d, &(const struct ini_options){ __VA_ARGS__ })
const char *ini_error(void);
int ini_logout(struct ini *i);	/* frees it as well */
void ini_drop(struct ini *i);	/* closes the socket, without a logout */
/* It stays when the case ends. */
void ini_keep(struct ini *i);
/* The file descriptor is closed on the target's side, within ms? */
bool ini_wait_down(struct ini *i, unsigned ms);

enum { NO_STATUS = -1 };	/* still in flight, or lost */

struct cmd {
	uint8_t		 cdb[16];
	uint8_t		 cdb_len;
	const void	*out;		/* Data-Out */
	size_t		 out_len;
	void		*in;		/* Data-In */
	size_t		 in_len;
	/* the answer */
	int		 status;
	size_t		 got;		/* Data-In bytes */
	int		 residual;	/* > 0 underflow, < 0 overflow */
	uint8_t		 sense[252];
	unsigned	 sense_len;
	uint64_t	 ms;		/* it took */
	bool		 ended;
	struct scsi_task *task;
	void		(*on_end)(struct cmd *c);
	void		*priv;
};

/* Sends it; the answer comes while ini_poll() runs.  c lives until then. */
int ini_start(struct ini *i, int lun, struct cmd *c);
/* Serves the session for at most ms, or until something came. */
void ini_poll(struct ini *i, int ms);
/* Waits for its end; its status, NO_STATUS when none came in time. */
int ini_wait(struct ini *i, struct cmd *c, unsigned ms);
/* Both, with the usual deadline. */
int ini_run(struct ini *i, int lun, struct cmd *c);
/* The same again and again while UNIT ATTENTION is the answer. */
int ini_settle(struct ini *i, int lun);
/* A task management function; the response, or -1 when none came. */
int ini_tmf(struct ini *i, int lun, enum iscsi_task_mgmt_funcs f,
	    const struct cmd *referenced, unsigned ms);

/* Sense in either format. */
unsigned sense_key(const struct cmd *c);
unsigned sense_asc(const struct cmd *c);	/* ASC << 8 | ASCQ */
bool sense_info(const struct cmd *c, uint64_t *ret);	/* VALID and value */
/* The sense key specific field pointer, or -1. */
int sense_field(const struct cmd *c);

/* Commands. */
struct cmd cmd_raw(const char *hex, void *in, size_t in_len);
struct cmd cmd_tur(void);
struct cmd cmd_inquiry(int page, void *in, uint16_t len);	/* -1: standard */
struct cmd cmd_read(uint64_t lba, uint32_t blocks, void *in, size_t len);
struct cmd cmd_write(uint64_t lba, uint32_t blocks, const void *out,
		     size_t len);
/* out: both halves. */
struct cmd cmd_caw(uint64_t lba, uint8_t blocks, const void *out, size_t len);
enum { WS_NDOB = 1, WS_UNMAP = 8, WS_ANCHOR = 16 };
struct cmd cmd_write_same(uint64_t lba, uint32_t blocks, unsigned flags,
			  const void *out, size_t len);
struct cmd cmd_sync(void);
struct cmd cmd_capacity(void *in32);
/* The parameter list is made in buf (at least 8 + 16 * n bytes). */
struct unmap_range {
	uint64_t lba;
	uint32_t blocks;
};
struct cmd cmd_unmap(const struct unmap_range *r, unsigned n, uint8_t *buf);

/* For tests: run and demand. */
#define expect_good(i, lun, c) do { \
	struct cmd *c_ = (c); \
	ini_run(i, lun, c_); \
	ck_assert_msg(c_->status == 0, "status %d, sense %x/%04x", \
		      c_->status, sense_key(c_), sense_asc(c_)); \
} while (0)
#define expect_sense(i, lun, c, key, asc) do { \
	struct cmd *c_ = (c); \
	ini_run(i, lun, c_); \
	check_sense(c_, key, asc); \
} while (0)
#define check_sense(c, key, asc) \
	ck_assert_msg((c)->status == 2 && sense_key(c) == (key) && \
		      sense_asc(c) == (asc), \
		      "status %d, sense %x/%04x, not %x/%04x", (c)->status, \
		      sense_key(c), sense_asc(c), (unsigned)(key), \
		      (unsigned)(asc))

#endif
