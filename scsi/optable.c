/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command table: every command that we implement, once.  cmd.c reads its
 * checks from here, rsoc.c prints it (CDB USAGE DATA).  The commands that
 * matter for speed come first.
 */

#include "scsi/scsi_int.h"

#define FF3	0xff, 0xff, 0xff
#define FF4	0xff, 0xff, 0xff, 0xff
#define FF8	FF4, FF4
#define Z3	0, 0, 0
#define Z4	0, 0, 0, 0
#define GROUP	0x1f		/* GROUP NUMBER is accepted and ignored */
#define DPO_FUA	0x18
#define DPO	0x10
#define BYTCHK	0x06

#define MEDIUM_IN	(OP_PIECES | OP_RANGE | OP_PR_READ)
#define MEDIUM_OUT	(OP_PIECES | OP_RANGE | OP_WRITES)
#define ALWAYS		(OP_NO_LU | OP_NO_MEDIUM | OP_UA_KEEPS | OP_RESV_OK | \
			 OP_WLUN | OP_ANY_PATH)

#define PR_IN(sa, name) \
	{ "PERSISTENT RESERVE IN, " name, 0x5e, sa, 10, \
	  OP_IN | OP_NO_MEDIUM | OP_PR_OK, SHAPE_NONE, 7, 2, \
	  { 0x5e, sa, Z3, 0, 0, 0xff, 0xff, 0 }, pr_in_start }
/* Where scope and type are ignored they may say anything. */
#define PR_OUT(sa, name) \
	{ "PERSISTENT RESERVE OUT, " name, 0x5f, sa, 10, \
	  OP_OUT | OP_NO_MEDIUM | OP_PR_OK, SHAPE_NONE, 5, 4, \
	  { 0x5f, sa, 0xff, 0, 0, FF4, 0 }, pr_out_start }

const struct scsi_op scsi_ops[] = {
	{ "READ(16)", 0x88, -1, 16, MEDIUM_IN | OP_FUA_DPO, SHAPE_16, 0, 0,
	  { 0x88, DPO_FUA, FF8, FF4, GROUP, 0 }, read_start },
	{ "WRITE(16)", 0x8a, -1, 16, MEDIUM_OUT | OP_FUA_DPO, SHAPE_16, 0, 0,
	  { 0x8a, DPO_FUA, FF8, FF4, GROUP, 0 }, write_start },
	{ "READ(10)", 0x28, -1, 10, MEDIUM_IN | OP_FUA_DPO, SHAPE_10, 0, 0,
	  { 0x28, DPO_FUA, FF4, GROUP, 0xff, 0xff, 0 }, read_start },
	{ "WRITE(10)", 0x2a, -1, 10, MEDIUM_OUT | OP_FUA_DPO, SHAPE_10, 0, 0,
	  { 0x2a, DPO_FUA, FF4, GROUP, 0xff, 0xff, 0 }, write_start },
	{ "COMPARE AND WRITE", 0x89, -1, 16,
	  OP_OUT | OP_RANGE | OP_WRITES | OP_FUA_DPO | OP_ATS | OP_EXACT,
	  SHAPE_CAW, 0, 0,
	  { 0x89, DPO_FUA, FF8, Z3, 0xff, GROUP, 0 }, caw_start },
	{ "TEST UNIT READY", 0x00, -1, 6, OP_WLUN | OP_PR_OK, SHAPE_NONE, 0, 0,
	  { 0x00 }, test_unit_ready_start },
	{ "REQUEST SENSE", 0x03, -1, 6, ALWAYS | OP_IN, SHAPE_NONE, 4, 1,
	  { 0x03, 0x01, 0, 0, 0xff, 0 }, request_sense_start },
	{ "READ(6)", 0x08, -1, 6, MEDIUM_IN, SHAPE_6, 0, 0,
	  { 0x08, 0x1f, FF3, 0 }, read_start },
	{ "WRITE(6)", 0x0a, -1, 6, MEDIUM_OUT, SHAPE_6, 0, 0,
	  { 0x0a, 0x1f, FF3, 0 }, write_start },
	{ "INQUIRY", 0x12, -1, 6, ALWAYS | OP_IN, SHAPE_NONE, 3, 2,
	  { 0x12, 0x01, FF3, 0 }, inquiry_start },
	{ "MODE SELECT(6)", 0x15, -1, 6, OP_OUT | OP_NO_MEDIUM, SHAPE_NONE,
	  4, 1, { 0x15, 0x11, 0, 0, 0xff, 0 }, mode_select_start },
	{ "RESERVE(6)", 0x16, -1, 6, OP_NO_MEDIUM | OP_PR_OK, SHAPE_NONE, 0, 0,
	  { 0x16 }, reserve_start },
	{ "RELEASE(6)", 0x17, -1, 6, OP_NO_MEDIUM | OP_RESV_OK, SHAPE_NONE,
	  0, 0, { 0x17 }, release_start },
	{ "MODE SENSE(6)", 0x1a, -1, 6,
	  OP_IN | OP_NO_MEDIUM | OP_PR_READ, SHAPE_NONE,
	  4, 1, { 0x1a, 0x08, FF3, 0 }, mode_sense_start },
	{ "START STOP UNIT", 0x1b, -1, 6, OP_NO_MEDIUM, SHAPE_NONE, 0, 0,
	  { 0x1b, 0x01, 0, 0x0f, 0xf7, 0 }, start_stop_start },
	{ "SEND DIAGNOSTIC", 0x1d, -1, 6, OP_OUT, SHAPE_NONE, 3, 2,
	  { 0x1d, 0xf4, 0, 0xff, 0xff, 0 }, send_diagnostic_start },
	{ "READ CAPACITY(10)", 0x25, -1, 10, OP_IN | OP_RESV_OK, SHAPE_NONE,
	  0, 0, { 0x25 }, read_capacity10_start },
	{ "WRITE AND VERIFY(10)", 0x2e, -1, 10, MEDIUM_OUT, SHAPE_10, 0, 0,
	  { 0x2e, DPO | BYTCHK, FF4, GROUP, 0xff, 0xff, 0 },
	  write_verify_start },
	{ "VERIFY(10)", 0x2f, -1, 10, MEDIUM_IN, SHAPE_10, 0, 0,
	  { 0x2f, DPO | BYTCHK, FF4, GROUP, 0xff, 0xff, 0 }, verify_start },
	{ "PRE-FETCH(10)", 0x34, -1, 10, OP_RANGE | OP_PR_READ, SHAPE_10, 0, 0,
	  { 0x34, 0x02, FF4, GROUP, 0xff, 0xff, 0 }, prefetch_start },
	{ "SYNCHRONIZE CACHE(10)", 0x35, -1, 10, OP_RANGE, SHAPE_10, 0, 0,
	  { 0x35, 0x06, FF4, GROUP, 0xff, 0xff, 0 }, sync_cache_start },
	{ "READ DEFECT DATA(10)", 0x37, -1, 10, OP_IN | OP_PR_READ, SHAPE_NONE,
	  7, 2, { 0x37, 0, 0x1f, Z4, 0xff, 0xff, 0 }, read_defects10_start },
	{ "WRITE BUFFER", 0x3b, -1, 10, OP_OUT | OP_NO_MEDIUM, SHAPE_NONE,
	  6, 3, { 0x3b, 0x1f, 0xff, FF3, FF3, 0 }, write_buffer_start },
	{ "READ BUFFER", 0x3c, -1, 10, OP_IN | OP_NO_MEDIUM | OP_PR_READ,
	  SHAPE_NONE, 6, 3,
	  { 0x3c, 0x1f, 0xff, FF3, FF3, 0 }, read_buffer_start },
	{ "WRITE SAME(10)", 0x41, -1, 10,
	  OP_OUT | OP_RANGE | OP_WRITES | OP_BULK | OP_ZERO | OP_EXACT,
	  SHAPE_WS10, 0, 0,
	  { 0x41, 0x18, FF4, GROUP, 0xff, 0xff, 0 }, wsame_start },
	{ "UNMAP", 0x42, -1, 10, OP_OUT | OP_WRITES | OP_BULK | OP_DELETE,
	  SHAPE_NONE, 7, 2,
	  { 0x42, 0x01, Z4, GROUP, 0xff, 0xff, 0 }, unmap_start },
	{ "LOG SELECT", 0x4c, -1, 10, OP_OUT | OP_NO_MEDIUM, SHAPE_NONE, 7, 2,
	  { 0x4c, 0x02, 0xff, 0xff, Z3, 0xff, 0xff, 0 }, log_select_start },
	{ "LOG SENSE", 0x4d, -1, 10,
	  OP_IN | OP_NO_MEDIUM | OP_PR_OK, SHAPE_NONE, 7, 2,
	  { 0x4d, 0, 0xff, 0xff, 0, 0xff, 0xff, 0xff, 0xff, 0 },
	  log_sense_start },
	{ "MODE SELECT(10)", 0x55, -1, 10, OP_OUT | OP_NO_MEDIUM, SHAPE_NONE,
	  7, 2, { 0x55, 0x11, Z4, 0, 0xff, 0xff, 0 }, mode_select_start },
	{ "RESERVE(10)", 0x56, -1, 10,
	  OP_NO_MEDIUM | OP_PR_OK, SHAPE_NONE, 0, 0,
	  { 0x56 }, reserve_start },
	{ "RELEASE(10)", 0x57, -1, 10, OP_NO_MEDIUM | OP_RESV_OK, SHAPE_NONE,
	  0, 0, { 0x57 }, release_start },
	{ "MODE SENSE(10)", 0x5a, -1, 10,
	  OP_IN | OP_NO_MEDIUM | OP_PR_READ, SHAPE_NONE,
	  7, 2, { 0x5a, 0x18, 0xff, 0xff, Z3, 0xff, 0xff, 0 },
	  mode_sense_start },
	PR_IN(0, "READ KEYS"),
	PR_IN(1, "READ RESERVATION"),
	PR_IN(2, "REPORT CAPABILITIES"),
	PR_IN(3, "READ FULL STATUS"),
	PR_OUT(0, "REGISTER"),
	PR_OUT(1, "RESERVE"),
	PR_OUT(2, "RELEASE"),
	PR_OUT(3, "CLEAR"),
	PR_OUT(4, "PREEMPT"),
	PR_OUT(5, "PREEMPT AND ABORT"),
	PR_OUT(6, "REGISTER AND IGNORE EXISTING KEY"),
	PR_OUT(7, "REGISTER AND MOVE"),
	{ "EXTENDED COPY(LID1)", 0x83, 0x00, 16,
	  OP_OUT | OP_BULK | OP_CLONE, SHAPE_NONE, 10, 4,
	  { 0x83, 0x00, Z4, Z4, FF4, 0, 0 }, xcopy_start },
	{ "COPY OPERATION ABORT", 0x83, 0x1c, 16,
	  OP_CLONE, SHAPE_NONE, 0, 0,
	  { 0x83, 0x1c, FF4, Z4, Z4, 0, 0 }, copy_abort_start },
	{ "RECEIVE COPY STATUS(LID1)", 0x84, 0x00, 16,
	  OP_IN | OP_CLONE | OP_PR_OK, SHAPE_NONE, 10, 4,
	  { 0x84, 0x00, 0xff, Z4, Z3, FF4, 0, 0 }, copy_status_start },
	{ "RECEIVE COPY OPERATING PARAMETERS", 0x84, 0x03, 16,
	  OP_IN | OP_CLONE | OP_PR_OK, SHAPE_NONE, 10, 4,
	  { 0x84, 0x03, 0xff, Z4, Z3, FF4, 0, 0 }, copy_params_start },
	{ "RECEIVE COPY FAILURE DETAILS(LID1)", 0x84, 0x04, 16,
	  OP_IN | OP_CLONE | OP_PR_OK, SHAPE_NONE, 10, 4,
	  { 0x84, 0x04, 0xff, Z4, Z3, FF4, 0, 0 }, copy_failed_start },
	{ "ORWRITE(16)", 0x8b, -1, 16, MEDIUM_OUT | OP_FUA_DPO, SHAPE_16, 0, 0,
	  { 0x8b, DPO_FUA, FF8, FF4, GROUP, 0 }, orwrite_start },
	{ "WRITE AND VERIFY(16)", 0x8e, -1, 16, MEDIUM_OUT, SHAPE_16, 0, 0,
	  { 0x8e, DPO | BYTCHK, FF8, FF4, GROUP, 0 }, write_verify_start },
	{ "VERIFY(16)", 0x8f, -1, 16, MEDIUM_IN, SHAPE_16, 0, 0,
	  { 0x8f, DPO | BYTCHK, FF8, FF4, GROUP, 0 }, verify_start },
	{ "PRE-FETCH(16)", 0x90, -1, 16, OP_RANGE | OP_PR_READ, SHAPE_16, 0, 0,
	  { 0x90, 0x02, FF8, FF4, GROUP, 0 }, prefetch_start },
	{ "SYNCHRONIZE CACHE(16)", 0x91, -1, 16, OP_RANGE, SHAPE_16, 0, 0,
	  { 0x91, 0x06, FF8, FF4, GROUP, 0 }, sync_cache_start },
	{ "WRITE SAME(16)", 0x93, -1, 16,
	  OP_OUT | OP_RANGE | OP_WRITES | OP_BULK | OP_ZERO | OP_EXACT,
	  SHAPE_WS16, 0, 0,
	  { 0x93, 0x19, FF8, FF4, GROUP, 0 }, wsame_start },
	{ "READ CAPACITY(16)", 0x9e, 0x10, 16, OP_IN | OP_RESV_OK, SHAPE_NONE,
	  10, 4, { 0x9e, 0x10, Z4, Z4, FF4, 0, 0 }, read_capacity16_start },
	{ "GET LBA STATUS", 0x9e, 0x12, 16,
	  OP_IN | OP_RANGE | OP_PR_READ, SHAPE_LBA16,
	  10, 4, { 0x9e, 0x12, FF8, FF4, 0, 0 }, lba_status_start },
	{ "REPORT LUNS", 0xa0, -1, 12, ALWAYS | OP_IN, SHAPE_NONE, 6, 4,
	  { 0xa0, 0, 0xff, Z3, FF4, 0, 0 }, report_luns_start },
	{ "REPORT IDENTIFYING INFORMATION", 0xa3, 0x05, 12,
	  OP_IN | OP_NO_MEDIUM | OP_PR_OK, SHAPE_NONE, 6, 4,
	  { 0xa3, 0x05, Z4, FF4, 0xfe, 0 }, report_identity_start },
	{ "REPORT TARGET PORT GROUPS", 0xa3, 0x0a, 12,
	  OP_IN | OP_NO_MEDIUM | OP_RESV_OK | OP_ANY_PATH, SHAPE_NONE, 6, 4,
	  { 0xa3, 0xea, Z4, FF4, 0, 0 }, rtpg_start },
	{ "REPORT SUPPORTED OPERATION CODES", 0xa3, 0x0c, 12,
	  OP_IN | OP_NO_MEDIUM | OP_PR_OK, SHAPE_NONE, 6, 4,
	  { 0xa3, 0x0c, 0x87, FF3, FF4, 0, 0 }, rsoc_start },
	{ "REPORT SUPPORTED TASK MANAGEMENT FUNCTIONS", 0xa3, 0x0d, 12,
	  OP_IN | OP_NO_MEDIUM | OP_PR_OK, SHAPE_NONE, 6, 4,
	  { 0xa3, 0x0d, 0x80, Z3, FF4, 0, 0 }, rstmf_start },
	{ "REPORT TIMESTAMP", 0xa3, 0x0f, 12,
	  OP_IN | OP_NO_MEDIUM | OP_PR_OK, SHAPE_NONE, 6, 4,
	  { 0xa3, 0x0f, Z4, FF4, 0, 0 }, report_timestamp_start },
	{ "SET TIMESTAMP", 0xa4, 0x0f, 12, OP_OUT | OP_NO_MEDIUM, SHAPE_NONE,
	  6, 4, { 0xa4, 0x0f, Z4, FF4, 0, 0 }, set_timestamp_start },
	{ "READ(12)", 0xa8, -1, 12, MEDIUM_IN | OP_FUA_DPO, SHAPE_12, 0, 0,
	  { 0xa8, DPO_FUA, FF4, FF4, GROUP, 0 }, read_start },
	{ "WRITE(12)", 0xaa, -1, 12, MEDIUM_OUT | OP_FUA_DPO, SHAPE_12, 0, 0,
	  { 0xaa, DPO_FUA, FF4, FF4, GROUP, 0 }, write_start },
	{ "WRITE AND VERIFY(12)", 0xae, -1, 12, MEDIUM_OUT, SHAPE_12, 0, 0,
	  { 0xae, DPO | BYTCHK, FF4, FF4, GROUP, 0 }, write_verify_start },
	{ "VERIFY(12)", 0xaf, -1, 12, MEDIUM_IN, SHAPE_12, 0, 0,
	  { 0xaf, DPO | BYTCHK, FF4, FF4, GROUP, 0 }, verify_start },
	{ "READ DEFECT DATA(12)", 0xb7, -1, 12, OP_IN | OP_PR_READ, SHAPE_NONE,
	  6, 4, { 0xb7, 0x1f, FF4, FF4, 0, 0 }, read_defects12_start },
};

const unsigned scsi_nops = ARRAY_SIZE(scsi_ops);

const struct scsi_op *scsi_op_find(const uint8_t cdb[16])
{
	const struct scsi_op *op;

	for (op = scsi_ops; op < scsi_ops + scsi_nops; op++)
		if (op->opcode == cdb[0] &&
		    (op->sa < 0 || op->sa == (cdb[1] & 0x1f)))
			return op;
	return NULL;
}

bool scsi_op_offered(const struct scsi_op *op, const struct lu *lu)
{
	static const struct { uint32_t flag; enum lu_primitive p; } of[] = {
		{ OP_ATS, PRIM_ATS }, { OP_CLONE, PRIM_CLONE },
		{ OP_ZERO, PRIM_ZERO }, { OP_DELETE, PRIM_DELETE },
	};
	unsigned i;

	if (!lu || !(op->flags & (OP_ATS | OP_CLONE | OP_ZERO | OP_DELETE)))
		return true;
	if (op->flags & OP_DELETE && !lu_thin(lu))
		return false;
	for (i = 0; i < ARRAY_SIZE(of); i++)
		if (op->flags & of[i].flag)
			return atomic_load_explicit(&lu->primitive[of[i].p],
						    memory_order_relaxed);
	return true;
}

const struct scsi_op *scsi_opcode_offered(uint8_t opcode, const struct lu *lu)
{
	const struct scsi_op *op;

	for (op = scsi_ops; op < scsi_ops + scsi_nops; op++)
		if (op->opcode == opcode && scsi_op_offered(op, lu))
			return op;
	return NULL;
}
