/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Copy operations: their table, COPY OPERATION ABORT, resets. */

#include "scsi/copyop.h"

#include <errno.h>
#include <string.h>

#include "scsi/scsi_int.h"
#include "tests/lib/rig.h"
#include "tests/lib/unit.h"
#include "tests/lib/xcopy.h"

/* Two blocks one after the other, so that there is a place between. */
static struct rig_cmd *copy(unsigned nexus, uint8_t list_id)
{
	struct rig_cmd *c = xcopy_new(nexus, 0);

	xcopy_list_id(c, list_id, 0);
	xcopy_cscd(c, 0);
	xcopy_segment_add(c, 0, 0, 1, 0, 8);
	xcopy_segment_add(c, 0, 0, 1, 0, 16);
	return xcopy_submit(c);
}

static struct rig_cmd *stop(unsigned nexus, uint32_t list_id)
{
	struct rig_cmd *c = rig_new(nexus, 0);
	be32 id = be32_of(list_id);

	c->scsi.cdb[0] = 0x83;
	c->scsi.cdb[1] = 0x1c;
	memcpy(c->scsi.cdb + 2, &id, sizeof(id));
	rig_submit(c, 0, false);
	return c;
}

static struct copyop *op(unsigned nexus, uint32_t list_id)
{
	return copyop_find(nexus_find(rig.nexus[nexus], 0), list_id);
}

START_TEST(an_abort_ends_the_copy_between_pieces_and_is_answered_after_it)
{
	struct rig_cmd *c = copy(0, 5), *a = stop(0, 5);

	ck_assert_uint_eq(a->done, 0);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_sense(c, KEY_COPY_ABORTED, 0x00, 0x06));
	ck_assert(rig_good(a));
	ck_assert_uint_eq(op(0, 5)->segments, 1);
	ck_assert_uint_eq(op(0, 5)->bytes, 512);
	ck_assert(rig_untouched(0, 16 * 512, 512));
}
END_TEST

START_TEST(an_abort_ends_a_copy_that_waits_for_its_blocks)
{
	struct rig_cmd *w = rig_caw(1, 8, 1, 'x'), *c = copy(0, 5);
	struct rig_cmd *a;

	ck_assert(!op(0, 5)->stop);
	a = stop(0, 5);
	fake_run();
	ck_assert(rig_sense(c, KEY_COPY_ABORTED, 0x00, 0x06));
	ck_assert(rig_good(a));
	fake_complete(rig.vol[0], 0);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(w));
	ck_assert(rig_untouched(0, 16 * 512, 512));
}
END_TEST

START_TEST(an_abort_of_what_does_not_run_is_refused)
{
	ck_assert(rig_sense(stop(0, 5), KEY_ILLEGAL_REQUEST, 0x24, 0x00));
	fake_auto(rig.vol[0], true);
	ck_assert(rig_good(copy(0, 5)));
	ck_assert(rig_sense(stop(0, 5), KEY_ILLEGAL_REQUEST, 0x24, 0x00));
}
END_TEST

START_TEST(an_abort_reaches_copies_of_its_own_nexus_only)
{
	struct rig_cmd *c = copy(0, 5);

	ck_assert(rig_sense(stop(1, 5), KEY_ILLEGAL_REQUEST, 0x24, 0x00));
	fake_complete(rig.vol[0], 0);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
}
END_TEST

START_TEST(an_abort_that_is_aborted_leaves_the_copy_stopping)
{
	struct rig_cmd *c = copy(0, 5), *a = stop(0, 5);

	rig_abort(a);
	fake_run();
	ck_assert_uint_eq(a->done, 1);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_sense(c, KEY_COPY_ABORTED, 0x00, 0x06));
}
END_TEST

START_TEST(an_abort_after_the_last_piece_finds_the_copy_done)
{
	struct rig_cmd *c = copy(0, 5), *a;

	fake_complete(rig.vol[0], 0);
	a = stop(0, 5);
	fake_complete(rig.vol[0], 0);
	ck_assert(rig_good(c));
	ck_assert(rig_good(a));
}
END_TEST

static unsigned answered;

static void tmf_done(struct scsi_tmf *t)
{
	(void)t;
	answered++;
}

START_TEST(resets_forget_what_ended)
{
	static const struct { enum tmf function; bool other; } t[] = {
		{ TMF_LOGICAL_UNIT_RESET, true },
		{ TMF_TARGET_WARM_RESET, true },
		{ TMF_I_T_NEXUS_RESET, false },
	};
	struct scsi_tmf f = { .nexus = rig.nexus[0],
			      .function = t[_i].function, .done = tmf_done };

	fake_auto(rig.vol[0], true);
	ck_assert(rig_good(copy(0, 5)));
	ck_assert(rig_good(copy(1, 5)));
	ck_assert_ptr_nonnull(op(0, 5));
	answered = 0;
	scsi_task_management(&f);
	fake_run();
	ck_assert_uint_eq(answered, 1);
	ck_assert_ptr_null(op(0, 5));
	ck_assert_int_eq(op(1, 5) == NULL, t[_i].other);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("copy operations");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_test(tc,
		an_abort_ends_the_copy_between_pieces_and_is_answered_after_it);
	tcase_add_test(tc, an_abort_ends_a_copy_that_waits_for_its_blocks);
	tcase_add_test(tc, an_abort_of_what_does_not_run_is_refused);
	tcase_add_test(tc, an_abort_reaches_copies_of_its_own_nexus_only);
	tcase_add_test(tc, an_abort_that_is_aborted_leaves_the_copy_stopping);
	tcase_add_test(tc, an_abort_after_the_last_piece_finds_the_copy_done);
	tcase_add_loop_test(tc, resets_forget_what_ended, 0, 3);
	return unit_run("scsi_copyop", tc);
}
