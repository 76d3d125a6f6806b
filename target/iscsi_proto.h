/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TARGET_ISCSI_PROTO_H
#define TARGET_ISCSI_PROTO_H

/*
 * The wire of RFC 7143: one struct for each PDU's basic header segment, in the
 * order of its section 11, and the numbers that go into them.  Every field is
 * big-endian and unaligned, which be.h's types take care of.
 */

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/be.h"

#define BHS_LEN		48u
#define AHS_MAX		(255u * 4)
#define DIGEST_LEN	4u
#define TAG_NONE	0xffffffffu	/* reserved ITT and TTT */
/* What may be sent before the keys were negotiated (13.12). */
#define DSL_DEFAULT	8192u

enum opcode {				/* 11.2.1.2 */
	OP_NOP_OUT		= 0x00,
	OP_SCSI_COMMAND		= 0x01,
	OP_TMF_REQUEST		= 0x02,
	OP_LOGIN_REQUEST	= 0x03,
	OP_TEXT_REQUEST		= 0x04,
	OP_DATA_OUT		= 0x05,
	OP_LOGOUT_REQUEST	= 0x06,
	OP_SNACK		= 0x10,
	OP_NOP_IN		= 0x20,
	OP_SCSI_RESPONSE	= 0x21,
	OP_TMF_RESPONSE		= 0x22,
	OP_LOGIN_RESPONSE	= 0x23,
	OP_TEXT_RESPONSE	= 0x24,
	OP_DATA_IN		= 0x25,
	OP_LOGOUT_RESPONSE	= 0x26,
	OP_R2T			= 0x31,
	OP_ASYNC		= 0x32,
	OP_REJECT		= 0x3f,
};

#define OPCODE_MASK	0x3f
#define OPCODE_IMMEDIATE 0x40		/* I bit */

/* Byte 1.  F is bit 7 of every PDU. */
enum bhs_flag {
	FLAG_FINAL		= 0x80,
	/* SCSI Command */
	CMD_READ		= 0x40,
	CMD_WRITE		= 0x20,
	CMD_ATTR		= 0x07,
	/* SCSI Response and Data-In */
	RSP_BIDI_OVERFLOW	= 0x10,
	RSP_BIDI_UNDERFLOW	= 0x08,
	RSP_OVERFLOW		= 0x04,
	RSP_UNDERFLOW		= 0x02,
	DATA_IN_ACK		= 0x40,
	DATA_IN_STATUS		= 0x01,
	/* Login */
	LOGIN_TRANSIT		= 0x80,
	LOGIN_CONTINUE		= 0x40,
	LOGIN_CSG		= 0x0c,
	LOGIN_NSG		= 0x03,
	/* Text */
	TEXT_CONTINUE		= 0x40,
	/* task management: the function, logout: the reason */
	TMF_FUNCTION		= 0x7f,
	LOGOUT_REASON		= 0x7f,
};

#define LOGIN_CSG_SHIFT	2

enum login_stage {			/* 11.12.3 */
	STAGE_SECURITY		= 0,
	STAGE_OPERATIONAL	= 1,
	STAGE_FULL_FEATURE	= 3,
};

enum login_status {			/* 11.13.5, class << 8 | detail */
	LOGIN_SUCCESS		= 0x0000,
	LOGIN_MOVED_TEMPORARILY	= 0x0101,
	LOGIN_MOVED_PERMANENTLY	= 0x0102,
	LOGIN_INITIATOR_ERROR	= 0x0200,
	LOGIN_AUTH_FAILED	= 0x0201,
	LOGIN_FORBIDDEN		= 0x0202,
	LOGIN_NOT_FOUND		= 0x0203,
	LOGIN_REMOVED		= 0x0204,
	LOGIN_BAD_VERSION	= 0x0205,
	LOGIN_TOO_MANY_CONNS	= 0x0206,
	LOGIN_MISSING_PARAMETER	= 0x0207,
	LOGIN_CANNOT_INCLUDE	= 0x0208,
	LOGIN_BAD_SESSION_TYPE	= 0x0209,
	LOGIN_NO_SESSION	= 0x020a,
	LOGIN_INVALID_REQUEST	= 0x020b,
	LOGIN_TARGET_ERROR	= 0x0300,
	LOGIN_UNAVAILABLE	= 0x0301,
	LOGIN_NO_RESOURCES	= 0x0302,
};

enum iscsi_response {			/* SCSI Response, 11.4.3 */
	RESPONSE_COMPLETED	= 0x00,
	RESPONSE_TARGET_FAILURE	= 0x01,
};

enum tmf_function {			/* 11.5.1, beyond scsi.h's enum tmf */
	TMF_TASK_REASSIGN	= 8,
	TMF_QUERY_TASK		= 9,	/* RFC 7144 */
};

/* A response of 11.6.1 beyond enum tmf_response. */
#define TMF_NO_REASSIGN		4

enum logout_reason {			/* 11.14.1 */
	LOGOUT_SESSION		= 0,
	LOGOUT_CONNECTION	= 1,
	LOGOUT_RECOVERY		= 2,
};

enum logout_response {			/* 11.15.1 */
	LOGOUT_CLOSED		= 0,
	LOGOUT_NO_CID		= 1,
	LOGOUT_NO_RECOVERY	= 2,
	LOGOUT_FAILED		= 3,
};

enum async_event {			/* 11.9.1 */
	ASYNC_SCSI		= 0,
	ASYNC_LOGOUT_REQUEST	= 1,
	ASYNC_CONN_DROPPED	= 2,
	ASYNC_SESSION_DROPPED	= 3,
	ASYNC_NEGOTIATE		= 4,
};

enum reject_reason {			/* 11.17.1 */
	REJECT_DATA_DIGEST	= 0x02,
	REJECT_SNACK		= 0x03,
	REJECT_PROTOCOL		= 0x04,
	REJECT_NOT_SUPPORTED	= 0x05,
	REJECT_IMMEDIATE	= 0x06,
	REJECT_IN_PROGRESS	= 0x07,
	REJECT_BAD_DATA_ACK	= 0x08,
	REJECT_INVALID_FIELD	= 0x09,
	REJECT_RESOURCES	= 0x0a,
	REJECT_NEGOTIATION_RESET = 0x0b,
	REJECT_WAITING_LOGOUT	= 0x0c,
};

enum ahs_type {				/* 11.2.2.1 */
	AHS_EXTENDED_CDB	= 1,
	AHS_BIDI_READ_LENGTH	= 2,
};

/* What all PDUs have at the same place. */
struct bhs_any {
	uint8_t	opcode, flags, b2, b3;
	uint8_t	ahs_len;		/* in words of 4 bytes */
	be24	data_len;
	uint8_t	lun[8];
	be32	itt;
	uint8_t	b20[28];
};

/* Every PDU of an initiator but Data-Out, which has no CmdSN. */
struct bhs_request {
	uint8_t	opcode, flags, b2, b3;
	uint8_t	ahs_len;
	be24	data_len;
	uint8_t	lun[8];
	be32	itt, b20, cmd_sn, exp_stat_sn;
	uint8_t	b32[16];
};

/* Every PDU of a target. */
struct bhs_answer {
	uint8_t	opcode, flags, b2, b3;
	uint8_t	ahs_len;
	be24	data_len;
	uint8_t	lun[8];
	be32	itt, b20, stat_sn, exp_cmd_sn, max_cmd_sn;
	uint8_t	b36[12];
};

struct bhs_scsi_command {		/* 11.3 */
	uint8_t	opcode, flags, rsvd2[2];
	uint8_t	ahs_len;
	be24	data_len;
	uint8_t	lun[8];
	be32	itt, edtl, cmd_sn, exp_stat_sn;
	uint8_t	cdb[16];
};

struct bhs_scsi_response {		/* 11.4 */
	uint8_t	opcode, flags, response, status;
	uint8_t	ahs_len;
	be24	data_len;
	uint8_t	rsvd8[8];
	be32	itt, snack_tag, stat_sn, exp_cmd_sn, max_cmd_sn;
	be32	exp_data_sn, bidi_residual, residual;
};

struct bhs_tmf_request {		/* 11.5 */
	uint8_t	opcode, flags, rsvd2[2];
	uint8_t	ahs_len;
	be24	data_len;
	uint8_t	lun[8];
	be32	itt, ref_task_tag, cmd_sn, exp_stat_sn;
	be32	ref_cmd_sn, exp_data_sn;
	uint8_t	rsvd40[8];
};

struct bhs_tmf_response {		/* 11.6 */
	uint8_t	opcode, flags, response, rsvd3;
	uint8_t	ahs_len;
	be24	data_len;
	uint8_t	info[3];		/* RFC 7144, with QUERY functions */
	uint8_t	rsvd11[5];
	be32	itt, rsvd20, stat_sn, exp_cmd_sn, max_cmd_sn;
	uint8_t	rsvd36[12];
};

struct bhs_data_out {			/* 11.7 */
	uint8_t	opcode, flags, rsvd2[2];
	uint8_t	ahs_len;
	be24	data_len;
	uint8_t	lun[8];
	be32	itt, ttt, rsvd24, exp_stat_sn, rsvd32;
	be32	data_sn, buffer_offset, rsvd44;
};

struct bhs_data_in {			/* 11.7 */
	uint8_t	opcode, flags, rsvd2, status;
	uint8_t	ahs_len;
	be24	data_len;
	uint8_t	lun[8];
	be32	itt, ttt, stat_sn, exp_cmd_sn, max_cmd_sn;
	be32	data_sn, buffer_offset, residual;
};

struct bhs_r2t {			/* 11.8 */
	uint8_t	opcode, flags, rsvd2[2];
	uint8_t	ahs_len;
	be24	data_len;
	uint8_t	lun[8];
	be32	itt, ttt, stat_sn, exp_cmd_sn, max_cmd_sn;
	be32	r2t_sn, buffer_offset, desired_len;
};

struct bhs_async {			/* 11.9 */
	uint8_t	opcode, flags, rsvd2[2];
	uint8_t	ahs_len;
	be24	data_len;
	uint8_t	lun[8];
	be32	itt, rsvd20, stat_sn, exp_cmd_sn, max_cmd_sn;
	uint8_t	event, vcode;
	be16	parameter1, parameter2, parameter3;
	uint8_t	rsvd44[4];
};

struct bhs_text_request {		/* 11.10 */
	uint8_t	opcode, flags, rsvd2[2];
	uint8_t	ahs_len;
	be24	data_len;
	uint8_t	lun[8];
	be32	itt, ttt, cmd_sn, exp_stat_sn;
	uint8_t	rsvd32[16];
};

struct bhs_text_response {		/* 11.11 */
	uint8_t	opcode, flags, rsvd2[2];
	uint8_t	ahs_len;
	be24	data_len;
	uint8_t	lun[8];
	be32	itt, ttt, stat_sn, exp_cmd_sn, max_cmd_sn;
	uint8_t	rsvd36[12];
};

struct bhs_login_request {		/* 11.12 */
	uint8_t	opcode, flags, version_max, version_min;
	uint8_t	ahs_len;
	be24	data_len;
	uint8_t	isid[6];
	be16	tsih;
	be32	itt;
	be16	cid, rsvd22;
	be32	cmd_sn, exp_stat_sn;
	uint8_t	rsvd32[16];
};

struct bhs_login_response {		/* 11.13 */
	uint8_t	opcode, flags, version_max, version_active;
	uint8_t	ahs_len;
	be24	data_len;
	uint8_t	isid[6];
	be16	tsih;
	be32	itt, rsvd20, stat_sn, exp_cmd_sn, max_cmd_sn;
	be16	status;			/* enum login_status */
	uint8_t	rsvd38[10];
};

struct bhs_logout_request {		/* 11.14 */
	uint8_t	opcode, flags, rsvd2[2];
	uint8_t	ahs_len;
	be24	data_len;
	uint8_t	rsvd8[8];
	be32	itt;
	be16	cid, rsvd22;
	be32	cmd_sn, exp_stat_sn;
	uint8_t	rsvd32[16];
};

struct bhs_logout_response {		/* 11.15 */
	uint8_t	opcode, flags, response, rsvd3;
	uint8_t	ahs_len;
	be24	data_len;
	uint8_t	rsvd8[8];
	be32	itt, rsvd20, stat_sn, exp_cmd_sn, max_cmd_sn;
	be32	rsvd36;
	be16	time2wait, time2retain;
	be32	rsvd44;
};

struct bhs_reject {			/* 11.17 */
	uint8_t	opcode, flags, reason, rsvd3;
	uint8_t	ahs_len;
	be24	data_len;
	uint8_t	rsvd8[8];
	be32	itt, rsvd20, stat_sn, exp_cmd_sn, max_cmd_sn;
	be32	data_sn;
	uint8_t	rsvd40[8];
};

struct bhs_nop_out {			/* 11.18 */
	uint8_t	opcode, flags, rsvd2[2];
	uint8_t	ahs_len;
	be24	data_len;
	uint8_t	lun[8];
	be32	itt, ttt, cmd_sn, exp_stat_sn;
	uint8_t	rsvd32[16];
};

struct bhs_nop_in {			/* 11.19 */
	uint8_t	opcode, flags, rsvd2[2];
	uint8_t	ahs_len;
	be24	data_len;
	uint8_t	lun[8];
	be32	itt, ttt, stat_sn, exp_cmd_sn, max_cmd_sn;
	uint8_t	rsvd36[12];
};

union bhs {
	uint8_t				bytes[BHS_LEN];
	struct bhs_any			any;
	struct bhs_request		request;
	struct bhs_answer		answer;
	struct bhs_scsi_command		scsi_command;
	struct bhs_scsi_response	scsi_response;
	struct bhs_tmf_request		tmf_request;
	struct bhs_tmf_response		tmf_response;
	struct bhs_data_out		data_out;
	struct bhs_data_in		data_in;
	struct bhs_r2t			r2t;
	struct bhs_async		async;
	struct bhs_text_request		text_request;
	struct bhs_text_response	text_response;
	struct bhs_login_request	login_request;
	struct bhs_login_response	login_response;
	struct bhs_logout_request	logout_request;
	struct bhs_logout_response	logout_response;
	struct bhs_reject		reject;
	struct bhs_nop_out		nop_out;
	struct bhs_nop_in		nop_in;
};

#define BHS_IS_48(name) \
	static_assert(sizeof(struct bhs_##name) == BHS_LEN, #name)

BHS_IS_48(any);
BHS_IS_48(request);
BHS_IS_48(answer);
BHS_IS_48(scsi_command);
BHS_IS_48(scsi_response);
BHS_IS_48(tmf_request);
BHS_IS_48(tmf_response);
BHS_IS_48(data_out);
BHS_IS_48(data_in);
BHS_IS_48(r2t);
BHS_IS_48(async);
BHS_IS_48(text_request);
BHS_IS_48(text_response);
BHS_IS_48(login_request);
BHS_IS_48(login_response);
BHS_IS_48(logout_request);
BHS_IS_48(logout_response);
BHS_IS_48(reject);
BHS_IS_48(nop_out);
BHS_IS_48(nop_in);

static inline unsigned bhs_opcode(const union bhs *b)
{
	return b->any.opcode & OPCODE_MASK;
}

static inline bool bhs_immediate(const union bhs *b)
{
	return b->any.opcode & OPCODE_IMMEDIATE;
}

#endif
