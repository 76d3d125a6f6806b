/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_LIB_RIG_H
#define TESTS_LIB_RIG_H

/*
 * For tests of commands on the medium: two logical units over fake volumes, two
 * workers, a nexus on each that sees both units at LUN 0 and 1, and a transport
 * that moves data at once or, when told to hold, when the test says so.
 *
 * The medium's byte at off is rig_byte(off) at first, and all of it is mapped.
 */

#include "scsi/scsi.h"
#include "tests/lib/fake_backend.h"

#define RIG_BLOCKS	16384u		/* of 512 bytes: 8 MiB */
#define RIG_DATA	(4u << 20)	/* the most that a command moves */

struct rig {
	struct scsi_host host;
	struct lu	*lu[2];
	struct volume	*vol[2];
	struct nexus	*nexus[2];
	bool		 hidden;	/* find_lu() finds nothing */
	bool		 found_ro;	/* and says so of what it finds */
	unsigned	 ncmds;
	unsigned	 refs[2];	/* of the units, when nothing runs */
};

/* One command and what its initiator sees of it. */
struct rig_cmd {
	struct scsi_cmd	 scsi;
	uint8_t		*out, *in;	/* RIG_DATA bytes each */
	uint32_t	 nin;		/* bytes of Data-In that came */
	unsigned	 done;		/* times that it ended */
	bool		 hold;		/* data does not move by itself */
	bool		 waits;		/* for data to move */
	uint32_t	 out_off, out_len;	/* what was asked for */
	struct edefer	 again;
	struct rig	*rig;
};

extern struct rig rig;

void rig_setup(void);		/* a fixture: everything online */
/* The other half: nothing may run, wait or be held; all is freed. */
void rig_teardown(void);
uint8_t rig_byte(uint64_t off);

/* A command of a nexus to a LUN, with a CDB of rig_cdb_*() and EDTL for data
 * in or out.  Freed by rig_teardown(). */
struct rig_cmd *rig_new(unsigned nexus, unsigned lun);
/* The same with so many bytes for data each way: the most that its EDTL may
 * be. */
struct rig_cmd *rig_new_of(unsigned nexus, unsigned lun, size_t data);
void rig_submit(struct rig_cmd *c, uint32_t edtl, bool in);
void rig_move(struct rig_cmd *c);	/* held data moves, and it goes on */
void rig_abort(struct rig_cmd *c);

/* Builders: opcode and fields of the usual shapes. */
struct rig_cmd *rig_10(struct rig_cmd *c, uint8_t op, uint32_t lba, uint16_t n);
struct rig_cmd *rig_16(struct rig_cmd *c, uint8_t op, uint64_t lba, uint32_t n);
/* What many tests want: a submitted command with whole EDTL. */
struct rig_cmd *rig_read(unsigned nexus, uint64_t lba, uint32_t n);
/* out is filled with byte */
struct rig_cmd *rig_write(unsigned nexus, uint64_t lba, uint32_t n, int byte);
/* Compares with what the medium holds now; writes byte. */
struct rig_cmd *rig_caw(unsigned nexus, uint64_t lba, uint8_t n, int byte);

/* What the sense data of c say; the fixed format is expected. */
bool rig_sense(const struct rig_cmd *c, unsigned key, unsigned asc,
	       unsigned ascq);
bool rig_good(const struct rig_cmd *c);		/* ended once, with GOOD */
/* Are the len bytes of the medium at off all byte? */
bool rig_all(unsigned lun, uint64_t off, uint64_t len, int byte);
/* No range is held or waited for, no reference is kept. */
bool rig_idle(void);
bool rig_untouched(unsigned lun, uint64_t off, uint64_t len);

#endif
