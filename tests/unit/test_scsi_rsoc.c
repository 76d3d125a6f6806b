/* SPDX-License-Identifier: GPL-2.0-or-later */

/* REPORT SUPPORTED OPERATION CODES and TASK MANAGEMENT FUNCTIONS. */

#include <string.h>

#include "scsi/scsi_int.h"
#include "tests/lib/cdb.h"
#include "tests/lib/unit.h"

enum { ALL, ONE_OPCODE, ONE_ACTION, ONE_COMMAND, RCTD = 0x80 };

static struct rig_cmd *rsoc(uint8_t options, uint8_t opcode, uint16_t sa)
{
	return run_in(0, 0, cdb_rsoc(options, opcode, sa, 65535), 65535);
}

/* Is the opcode in the whole list? */
static bool listed(uint8_t opcode)
{
	struct rig_cmd *c = rsoc(ALL, 0, 0);
	unsigned at;

	for (at = 4; at < c->nin; at += 8)
		if (c->in[at] == opcode)
			return true;
	return false;
}

START_TEST(the_list_and_the_single_answers_agree)
{
	struct rig_cmd *all = rsoc(ALL, 0, 0), *c;
	unsigned at;

	ck_assert_int_eq(in32(all, 0), all->nin - 4);
	ck_assert_int_eq(in32(all, 0) / 8, scsi_nops);
	for (at = 4; at < all->nin; at += 8) {
		uint8_t op = all->in[at];
		uint16_t sa = in16(all, at + 2);
		bool has = all->in[at + 5] & 0x01;

		ck_assert(has || !sa);
		ck_assert_int_eq(all->in[at + 5] & 0x02, 0);
		c = rsoc(has ? ONE_ACTION : ONE_OPCODE, op, sa);
		ck_assert(rig_good(c));
		ck_assert_int_eq(c->in[1], 0x03);
		ck_assert_int_eq(in16(c, 2), in16(all, at + 6));
		ck_assert_int_eq(c->in[4], op);
		if (has)
			ck_assert_int_eq(c->in[5] & 0x1f, sa);
		c = rsoc(has ? ONE_OPCODE : ONE_ACTION, op, sa);
		ck_assert(rig_sense(c, 0x5, 0x24, 0x00));
		ck_assert_int_eq(rsoc(ONE_COMMAND, op, sa)->in[1], 0x03);
	}
}
END_TEST

START_TEST(timeouts_come_when_they_are_asked_for)
{
	struct rig_cmd *c = rsoc(ALL | RCTD, 0, 0);
	unsigned at;

	for (at = 4; at < c->nin; at += 20) {
		ck_assert_int_eq(c->in[at + 5] & 0x02, 0x02);
		ck_assert_int_eq(in16(c, at + 8), 0x000a);
	}
	ck_assert_int_eq(at, c->nin);
	c = rsoc(ONE_OPCODE | RCTD, 0x28, 0);
	ck_assert_int_eq(c->in[1], 0x83);
	ck_assert_int_eq(c->nin, 4 + 10 + 12);
}
END_TEST

START_TEST(what_is_not_there_is_not_supported)
{
	ck_assert_int_eq(rsoc(ONE_OPCODE, 0xee, 0)->in[1], 0x01);
	ck_assert_int_eq(rsoc(ONE_ACTION, 0x9e, 0x1f)->in[1], 0x01);
	ck_assert_int_eq(rsoc(ONE_COMMAND, 0x28, 1)->in[1], 0x01);
	ck_assert(rig_sense(rsoc(5, 0, 0), 0x5, 0x24, 0x00));
}
END_TEST

START_TEST(primitives_that_are_off_are_not_listed)
{
	static const struct { enum lu_primitive p; uint8_t op; } of[] = {
		{ PRIM_ATS, 0x89 }, { PRIM_CLONE, 0x83 }, { PRIM_CLONE, 0x84 },
		{ PRIM_ZERO, 0x93 }, { PRIM_DELETE, 0x42 },
	};

	ck_assert(listed(of[_i].op));
	lu_set_primitive(rig.lu[0], of[_i].p, false);
	drain_attentions(0, 0);
	ck_assert(!listed(of[_i].op));
	ck_assert_int_eq(rsoc(ONE_COMMAND, of[_i].op, 0)->in[1], 0x01);
}
END_TEST

START_TEST(dpo_and_fua_bits_are_those_of_the_mode_header)
{
	static const uint8_t fua[] = { 0x28, 0x2a, 0x88, 0x8a, 0xa8, 0xaa,
				       0x89 };

	ck_assert_int_eq(rsoc(ONE_OPCODE, fua[_i], 0)->in[5] & 0x18, 0x18);
	ck_assert_int_eq(run_in(0, 0, cdb_mode_sense6(0, 8, 32), 32)->in[2] &
			 0x10, 0x10);
}
END_TEST

START_TEST(every_row_of_the_table_is_sound)
{
	const struct scsi_op *op;

	for (op = scsi_ops; op < scsi_ops + scsi_nops; op++) {
		ck_assert_int_eq(op->usage[0], op->opcode);
		ck_assert_ptr_eq(scsi_op_find((const uint8_t[16]){
			op->opcode, op->sa < 0 ? 0 : (uint8_t)op->sa }), op);
		ck_assert_int_eq(op->usage[op->len - 1], 0);	/* NACA */
		if (op->sa >= 0)
			ck_assert_int_eq(op->usage[1] & 0x1f, op->sa);
		if (op->flags & OP_FUA_DPO)
			ck_assert_int_eq(op->usage[1] & 0x18, 0x18);
		ck_assert_int_le(op->length_at + op->length_size, op->len);
		ck_assert(!(op->flags & OP_IN && op->flags & OP_OUT));
	}
}
END_TEST

START_TEST(task_management_functions_are_reported)
{
	struct rig_cmd *c = run_in(0, 0, cdb_rstmf(false, 64), 64);

	ck_assert_int_eq(c->nin, 4);
	ck_assert_int_eq(c->in[0], 0xde);
	ck_assert_int_eq(c->in[1], 0x07);
	ck_assert_int_eq(c->in[3], 0);
	c = run_in(0, 0, cdb_rstmf(true, 64), 64);
	ck_assert_int_eq(c->nin, 16);
	ck_assert_int_eq(c->in[3], 0x0c);
	ck_assert(rig_sense(run_in(0, 0, cdb_rstmf(false, 3), 3), 0x5, 0x24,
			    0x00));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("operation codes");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_test(tc, the_list_and_the_single_answers_agree);
	tcase_add_test(tc, timeouts_come_when_they_are_asked_for);
	tcase_add_test(tc, what_is_not_there_is_not_supported);
	tcase_add_loop_test(tc, primitives_that_are_off_are_not_listed, 0, 5);
	tcase_add_loop_test(tc, dpo_and_fua_bits_are_those_of_the_mode_header,
			    0, 7);
	tcase_add_test(tc, every_row_of_the_table_is_sound);
	tcase_add_test(tc, task_management_functions_are_reported);
	return unit_run("scsi_rsoc", tc);
}
