/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_LIB_CDB_H
#define TESTS_LIB_CDB_H

/*
 * CDBs by name, so that no test pokes at bytes, and three ways to run one on
 * the rig.  What a builder has no argument for is zero; CDB_SET() pokes where a
 * test is about the poke.
 */

#include <stdint.h>

#include "tests/lib/rig.h"

struct cdb {
	uint8_t b[16];
};

#define STANDARD_INQUIRY (-1)

struct cdb cdb_tur(void);
struct cdb cdb_request_sense(bool descriptor, uint8_t len);
struct cdb cdb_inquiry(int page, uint16_t len);
struct cdb cdb_mode_sense6(unsigned pc, uint8_t page, uint8_t len);
struct cdb cdb_mode_sense10(unsigned pc, uint8_t page, uint16_t len);
struct cdb cdb_mode_select6(uint8_t len);
struct cdb cdb_mode_select10(uint16_t len);
struct cdb cdb_report_luns(uint8_t select_report, uint32_t len);
struct cdb cdb_read_capacity10(void);
struct cdb cdb_read_capacity16(uint32_t len);
struct cdb cdb_log_sense(uint8_t page, uint16_t len);
struct cdb cdb_rsoc(uint8_t options, uint8_t opcode, uint16_t sa,
		    uint32_t len);
struct cdb cdb_rstmf(bool extended, uint32_t len);
struct cdb cdb_rtpg(bool extended, uint32_t len);
struct cdb cdb_reserve6(void);
struct cdb cdb_release6(void);
struct cdb cdb_reserve10(void);
struct cdb cdb_release10(void);
struct cdb cdb_start_stop(uint8_t how);
struct cdb cdb_read10(uint32_t lba, uint16_t n);
struct cdb cdb_read16(uint64_t lba, uint32_t n);
struct cdb cdb_write10(uint32_t lba, uint16_t n);
struct cdb cdb_write16(uint64_t lba, uint32_t n);
struct cdb cdb_caw(uint64_t lba, uint8_t n);

/* The same CDB with byte at set. */
struct cdb cdb_with(struct cdb c, unsigned at, uint8_t value);

/* A command that is made but not submitted. */
struct rig_cmd *cdb_new(unsigned nexus, unsigned lun, struct cdb c);
/* Submitted and run: without data, with len bytes expected, with len bytes of
 * data given. */
struct rig_cmd *run(unsigned nexus, unsigned lun, struct cdb c);
struct rig_cmd *run_in(unsigned nexus, unsigned lun, struct cdb c,
		       uint32_t len);
struct rig_cmd *run_out(unsigned nexus, unsigned lun, struct cdb c,
			const void *data, uint32_t len);

/* Big-endian numbers in what came. */
uint16_t in16(const struct rig_cmd *c, unsigned at);
uint32_t in32(const struct rig_cmd *c, unsigned at);
uint64_t in64(const struct rig_cmd *c, unsigned at);
/* The sense data point at a bit of a byte of the CDB. */
bool points_at(const struct rig_cmd *c, unsigned byte, unsigned bit);
/* They point at a byte of the parameter list. */
bool points_at_param(const struct rig_cmd *c, unsigned byte);
/* Posts nothing else: TEST UNIT READY takes unit attentions off until GOOD;
 * how many there were. */
unsigned drain_attentions(unsigned nexus, unsigned lun);
/* The test mapped or unmapped LUNs: the rig counts references anew. */
void maps_changed(void);

#endif
