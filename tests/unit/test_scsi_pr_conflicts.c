/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Who may do what beside a persistent reservation: every command that is there,
 * by every type, for the holder, a registrant and somebody else.
 */

#include "scsi/scsi_int.h"
#include "tests/lib/pr.h"
#include "tests/lib/unit.h"

/*
 * SPC-4 and SBC-3, commands allowed in the presence of various reservations.
 * Allowed or Conflict, in the order of the columns there: Write Exclusive and
 * Exclusive Access from any other nexus; a registered nexus beside registrants
 * only and all registrants types; of these the Write Exclusive and Exclusive
 * Access ones from a nexus that is not registered.
 */
struct row {
	uint8_t		opcode;
	int8_t		sa;
	uint8_t		byte4;	/* START STOP UNIT: START */
	const char	*allowed;
};

static const struct row rows[] = {
	{ 0x00, -1, 0, "AAAAA" },	/* TEST UNIT READY */
	{ 0x03, -1, 0, "AAAAA" },	/* REQUEST SENSE */
	{ 0x04, -1, 0, "CCACC" },	/* FORMAT UNIT */
	{ 0x08, -1, 0, "ACAAC" },	/* READ(6) */
	{ 0x0a, -1, 0, "CCACC" },	/* WRITE(6) */
	{ 0x12, -1, 0, "AAAAA" },	/* INQUIRY */
	{ 0x15, -1, 0, "CCACC" },	/* MODE SELECT(6) */
	{ 0x16, -1, 0, "CCACC" },	/* RESERVE(6) */
	{ 0x17, -1, 0, "CCACC" },	/* RELEASE(6) */
	{ 0x1a, -1, 0, "ACAAC" },	/* MODE SENSE(6) */
	{ 0x1b, -1, 1, "AAAAA" },	/* START STOP UNIT, START=1 */
	{ 0x1b, -1, 0, "CCACC" },	/* START=0 */
	{ 0x1b, -1, 0x21, "CCACC" },	/* a power condition */
	{ 0x1d, -1, 0, "CCACC" },	/* SEND DIAGNOSTIC */
	{ 0x25, -1, 0, "AAAAA" },	/* READ CAPACITY(10) */
	{ 0x28, -1, 0, "ACAAC" },	/* READ(10) */
	{ 0x2a, -1, 0, "CCACC" },	/* WRITE(10) */
	{ 0x2e, -1, 0, "CCACC" },	/* WRITE AND VERIFY(10) */
	{ 0x2f, -1, 0, "ACAAC" },	/* VERIFY(10) */
	{ 0x34, -1, 0, "ACAAC" },	/* PRE-FETCH(10) */
	{ 0x35, -1, 0, "CCACC" },	/* SYNCHRONIZE CACHE(10) */
	{ 0x37, -1, 0, "ACAAC" },	/* READ DEFECT DATA(10) */
	{ 0x3b, -1, 0, "CCACC" },	/* WRITE BUFFER */
	{ 0x3c, -1, 0, "ACAAC" },	/* READ BUFFER */
	{ 0x41, -1, 0, "CCACC" },	/* WRITE SAME(10) */
	{ 0x42, -1, 0, "CCACC" },	/* UNMAP */
	{ 0x48, 0x01, 0, "CCACC" },	/* SANITIZE */
	{ 0x48, 0x02, 0, "CCACC" },
	{ 0x48, 0x1f, 0, "CCACC" },
	{ 0x4c, -1, 0, "CCACC" },	/* LOG SELECT */
	{ 0x4d, -1, 0, "AAAAA" },	/* LOG SENSE */
	{ 0x55, -1, 0, "CCACC" },	/* MODE SELECT(10) */
	{ 0x56, -1, 0, "CCACC" },	/* RESERVE(10) */
	{ 0x57, -1, 0, "CCACC" },	/* RELEASE(10) */
	{ 0x5a, -1, 0, "ACAAC" },	/* MODE SENSE(10) */
	{ 0x5e, 0x00, 0, "AAAAA" },	/* PERSISTENT RESERVE IN */
	{ 0x5e, 0x01, 0, "AAAAA" },
	{ 0x5e, 0x02, 0, "AAAAA" },
	{ 0x5e, 0x03, 0, "AAAAA" },
	{ 0x83, 0x00, 0, "CCACC" },	/* EXTENDED COPY(LID1) */
	{ 0x83, 0x01, 0, "CCACC" },	/* EXTENDED COPY(LID4) */
	{ 0x83, 0x10, 0, "CCACC" },	/* POPULATE TOKEN */
	{ 0x83, 0x11, 0, "CCACC" },	/* WRITE USING TOKEN */
	{ 0x83, 0x1c, 0, "CCACC" },	/* COPY OPERATION ABORT */
	{ 0x84, 0x00, 0, "AAAAA" },	/* RECEIVE COPY RESULTS */
	{ 0x84, 0x01, 0, "AAAAA" },
	{ 0x84, 0x03, 0, "AAAAA" },
	{ 0x84, 0x04, 0, "AAAAA" },
	{ 0x84, 0x05, 0, "AAAAA" },
	{ 0x84, 0x06, 0, "AAAAA" },
	{ 0x84, 0x07, 0, "AAAAA" },
	{ 0x84, 0x08, 0, "AAAAA" },
	{ 0x88, -1, 0, "ACAAC" },	/* READ(16) */
	{ 0x89, -1, 0, "CCACC" },	/* COMPARE AND WRITE */
	{ 0x8a, -1, 0, "CCACC" },	/* WRITE(16) */
	{ 0x8b, -1, 0, "CCACC" },	/* ORWRITE(16) */
	{ 0x8e, -1, 0, "CCACC" },	/* WRITE AND VERIFY(16) */
	{ 0x8f, -1, 0, "ACAAC" },	/* VERIFY(16) */
	{ 0x90, -1, 0, "ACAAC" },	/* PRE-FETCH(16) */
	{ 0x91, -1, 0, "CCACC" },	/* SYNCHRONIZE CACHE(16) */
	{ 0x93, -1, 0, "CCACC" },	/* WRITE SAME(16) */
	{ 0x9c, -1, 0, "CCACC" },	/* WRITE ATOMIC(16) */
	{ 0x9e, 0x10, 0, "AAAAA" },	/* READ CAPACITY(16) */
	{ 0x9e, 0x12, 0, "ACAAC" },	/* GET LBA STATUS */
	{ 0xa0, -1, 0, "AAAAA" },	/* REPORT LUNS */
	{ 0xa3, 0x05, 0, "AAAAA" },	/* REPORT IDENTIFYING INFORMATION */
	{ 0xa3, 0x0a, 0, "AAAAA" },	/* REPORT TARGET PORT GROUPS */
	{ 0xa3, 0x0c, 0, "AAAAA" },	/* REPORT SUPPORTED OPERATION CODES */
	{ 0xa3, 0x0d, 0, "AAAAA" },	/* ... TASK MANAGEMENT FUNCTIONS */
	{ 0xa3, 0x0f, 0, "AAAAA" },	/* REPORT TIMESTAMP */
	{ 0xa4, 0x0f, 0, "CCACC" },	/* SET TIMESTAMP */
	{ 0xa8, -1, 0, "ACAAC" },	/* READ(12) */
	{ 0xaa, -1, 0, "CCACC" },	/* WRITE(12) */
	{ 0xae, -1, 0, "CCACC" },	/* WRITE AND VERIFY(12) */
	{ 0xaf, -1, 0, "ACAAC" },	/* VERIFY(12) */
	{ 0xb7, -1, 0, "ACAAC" },	/* READ DEFECT DATA(12) */
};

static const uint8_t types[] = { WE, EA, WE_RO, EA_RO, WE_AR, EA_AR };

static const struct row *row_of(const struct scsi_op *op)
{
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].opcode == op->opcode && rows[i].sa == op->sa)
			return &rows[i];
	return NULL;
}

static bool implemented(const struct row *r)
{
	unsigned i;

	for (i = 0; i < scsi_nops; i++)
		if (scsi_ops[i].opcode == r->opcode && scsi_ops[i].sa == r->sa)
			return true;
	return false;
}

/* Nothing is moved and nothing asked for; only a conflict is looked at. */
static bool conflicts(unsigned nexus, const struct row *r)
{
	struct rig_cmd *c = rig_new(nexus, 0);

	c->scsi.cdb[0] = r->opcode;
	if (r->sa >= 0)
		c->scsi.cdb[1] = (uint8_t)r->sa;
	c->scsi.cdb[4] = r->byte4;
	rig_submit(c, 0, false);
	ck_assert_msg(c->done, "%02x/%d does not end", r->opcode, r->sa);
	return c->scsi.status == STATUS_RESERVATION_CONFLICT;
}

static bool allowed(const struct row *r, uint8_t type, bool registered)
{
	bool exclusive = type == EA || type == EA_RO || type == EA_AR;

	if (type == WE || type == EA)
		return r->allowed[exclusive] == 'A';
	if (registered)
		return r->allowed[2] == 'A';
	return r->allowed[3 + exclusive] == 'A';
}

static void walk(uint8_t type, bool registered)
{
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];

		if (!implemented(r))
			continue;
		ck_assert_msg(conflicts(1, r) == !allowed(r, type, registered),
			      "%02x/%d, byte 4 %02x, type %d, %s", r->opcode,
			      r->sa, r->byte4, type,
			      registered ? "registrant" : "other");
	}
}

START_TEST(the_table_knows_every_command)
{
	unsigned i;

	for (i = 0; i < scsi_nops; i++)
		ck_assert_msg(scsi_ops[i].opcode == 0x5f ||
			      row_of(&scsi_ops[i]), "%s", scsi_ops[i].name);
}
END_TEST

START_TEST(the_holder_may_do_everything)
{
	unsigned i;

	fake_auto(rig.vol[0], true);
	pr_register(0, 0xa);
	pr_reserve(0, 0xa, types[_i]);
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (implemented(&rows[i]))
			ck_assert_msg(!conflicts(0, &rows[i]), "%02x",
				      rows[i].opcode);
}
END_TEST

START_TEST(a_registrant_may_do_what_the_standard_says)
{
	fake_auto(rig.vol[0], true);
	pr_register(0, 0xa);
	pr_register(1, 0xb);
	pr_reserve(0, 0xa, types[_i]);
	walk(types[_i], true);
}
END_TEST

START_TEST(others_may_do_what_the_standard_says)
{
	fake_auto(rig.vol[0], true);
	pr_register(0, 0xa);
	pr_reserve(0, 0xa, types[_i]);
	walk(types[_i], false);
}
END_TEST

START_TEST(registrations_alone_deny_nothing)
{
	fake_auto(rig.vol[0], true);
	pr_register(0, 0xa);
	ck_assert(rig_good(run(1, 0, cdb_tur())));
	ck_assert(rig_good(rig_read(1, 0, 1)));
	ck_assert(rig_good(rig_write(1, 0, 1, 7)));
}
END_TEST

START_TEST(a_reservation_is_of_one_logical_unit)
{
	static const uint8_t block[512];

	fake_auto(rig.vol[1], true);
	pr_register(0, 0xa);
	pr_reserve(0, 0xa, EA);
	ck_assert(rig_good(run_out(1, 1, cdb_write10(0, 1), block, 512)));
}
END_TEST

START_TEST(a_nexus_that_comes_later_is_denied_too)
{
	pr_register(0, 0xa);
	pr_reserve(0, 0xa, WE);
	fake_enter(rig.host.worker[1]);
	nexus_unmap(rig.nexus[1], 0, NULL, NULL);
	fake_run();
	nexus_map(rig.nexus[1], 0, rig.lu[0], false, false);
	drain_attentions(1, 0);
	ck_assert(pr_conflicts(rig_write(1, 0, 1, 7)));
	maps_changed();
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("conflicts");
	int n = ARRAY_SIZE(types);

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_test(tc, the_table_knows_every_command);
	tcase_add_loop_test(tc, the_holder_may_do_everything, 0, n);
	tcase_add_loop_test(tc, a_registrant_may_do_what_the_standard_says, 0,
			    n);
	tcase_add_loop_test(tc, others_may_do_what_the_standard_says, 0, n);
	tcase_add_test(tc, registrations_alone_deny_nothing);
	tcase_add_test(tc, a_reservation_is_of_one_logical_unit);
	tcase_add_test(tc, a_nexus_that_comes_later_is_denied_too);
	return unit_run("scsi_pr_conflicts", tc);
}
