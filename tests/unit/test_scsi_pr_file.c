/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Persistent reservations through power loss, and the turns of those who change
 * them: the rig's units get a keeper that can fail.
 */

#include <errno.h>
#include <stdlib.h>

#include "scsi/scsi_int.h"
#include "tests/lib/pr.h"
#include "tests/lib/unit.h"

static struct keeper {
	uint8_t	 bytes[65536];
	size_t	 len;
	unsigned stored, aside;
	int	 err;			/* of storing */
} kept;

static int keep(void *arg, const void *bytes, size_t len)
{
	(void)arg;
	kept.stored++;
	if (kept.err)
		return kept.err;
	ck_assert_uint_le(len, sizeof(kept.bytes));
	if (len)
		memcpy(kept.bytes, bytes, len);
	kept.len = len;
	return 0;
}

static int load(void *arg, void **ret, size_t *ret_len)
{
	(void)arg;
	if (!kept.len)
		return -ENOENT;
	*ret = malloc(kept.len);
	ck_assert(*ret != NULL);
	memcpy(*ret, kept.bytes, kept.len);
	*ret_len = kept.len;
	return 0;
}

static void aside(void *arg)
{
	(void)arg;
	kept.aside++;
	kept.len = 0;
}

static void setup(void)
{
	memset(&kept, 0, sizeof(kept));
	rig_setup();
	rig.lu[0]->events.pr_store = keep;
	rig.lu[0]->events.pr_load = load;
	rig.lu[0]->events.pr_aside = aside;
}

static struct rig_cmd *reg(unsigned nexus, uint64_t key, uint64_t sa_key,
			   uint8_t flags)
{
	return pr_out_list(nexus, REGISTER, pr_list(key, sa_key, flags), NULL,
			   0);
}

/* What a start of the daemon does: the unit knows nothing but what was kept. */
static int restart(void)
{
	int err;

	pthread_mutex_lock(&rig.lu[0]->mutex);
	free(rig.lu[0]->pr.table);
	rig.lu[0]->pr.table = NULL;
	err = lu_load_reservations(rig.lu[0]);
	reserved_refresh(rig.lu[0]);
	pthread_mutex_unlock(&rig.lu[0]->mutex);
	return err;
}

START_TEST(without_aptpl_nothing_is_kept)
{
	ck_assert(rig_good(reg(0, 0, 0xa, 0)));
	pr_reserve(0, 0xa, WE);
	ck_assert_uint_eq(kept.stored, 0);
	ck_assert_int_eq(restart(), 0);
	ck_assert(pr_keys() == 0 && pr_type() == 0);
}
END_TEST

START_TEST(with_aptpl_all_is_there_again)
{
	static const uint8_t types[] = { WE, EA, WE_RO, EA_RO, WE_AR, EA_AR };

	ck_assert(rig_good(reg(0, 0, 0xa, APTPL)));
	ck_assert(rig_good(reg(1, 0, 0xb, APTPL | ALL_TG_PT)));
	pr_reserve(1, 0xb, types[_i]);
	ck_assert_int_eq(restart(), 0);
	ck_assert_uint_eq(pr_generation(), 0);
	ck_assert(pr_keys() == 2 && pr_has(0xa) && pr_has(0xb));
	ck_assert_uint_eq(pr_type(), types[_i]);
	ck_assert_uint_eq(pr_holder_key(), types[_i] < WE_AR ? 0xb : 0);
	ck_assert_uint_eq(pr_conflicts(rig_write(0, 0, 1, 7)),
			  types[_i] < WE_RO);
	fake_auto(rig.vol[0], true);
	fake_run();
	ck_assert(rig_good(rig_write(1, 0, 1, 7)));
	/* PTPL_A */
	ck_assert_uint_eq(pr_in(0, CAPABILITIES, 8)->in[3] & 1, 1);
}
END_TEST

START_TEST(the_last_register_says_whether_it_is_kept)
{
	ck_assert(rig_good(reg(0, 0, 0xa, APTPL)));
	ck_assert_uint_gt(kept.len, 0);
	ck_assert(rig_good(reg(1, 0, 0xb, 0)));
	ck_assert_uint_eq(kept.len, 0);
	ck_assert_uint_eq(pr_in(0, CAPABILITIES, 8)->in[3] & 1, 0);
}
END_TEST

START_TEST(what_is_cleared_is_forgotten)
{
	ck_assert(rig_good(reg(0, 0, 0xa, APTPL)));
	ck_assert(rig_good(pr_out(0, CLEAR, 0, 0xa, 0)));
	ck_assert_uint_eq(kept.len, 0);
}
END_TEST

START_TEST(what_cannot_be_stored_changes_nothing)
{
	ck_assert(rig_good(reg(0, 0, 0xa, APTPL)));
	kept.err = -ENOSPC;
	ck_assert(rig_sense(pr_out(0, RESERVE, WE, 0xa, 0), 0x4, 0x44, 0x00));
	ck_assert(rig_sense(reg(1, 0, 0xb, 0), 0x4, 0x44, 0x00));
	ck_assert(pr_type() == 0 && pr_keys() == 1 && pr_generation() == 1);
	kept.err = 0;
	pr_reserve(0, 0xa, WE);
	ck_assert_uint_eq(pr_type(), WE);
}
END_TEST

START_TEST(any_damage_is_noticed_and_put_aside)
{
	static uint8_t good[65536];
	size_t len, at;

	ck_assert(rig_good(reg(0, 0, 0xa, APTPL)));
	pr_reserve(0, 0xa, WE);
	len = kept.len;
	memcpy(good, kept.bytes, len);
	for (at = 0; at < len; at++) {
		memcpy(kept.bytes, good, len);
		kept.bytes[at] ^= 0x10;
		kept.len = len;
		kept.aside = 0;
		ck_assert_int_eq(restart(), 0);
		ck_assert_msg(kept.aside == 1, "byte %zu", at);
	}
	for (at = 1; at < len; at++) {
		memcpy(kept.bytes, good, len);
		kept.len = at;
		kept.aside = 0;
		ck_assert_int_eq(restart(), 0);
		ck_assert_msg(kept.aside == 1, "%zu bytes", at);
	}
	memcpy(kept.bytes, good, len);
	kept.len = len;
	ck_assert_int_eq(restart(), 0);
	ck_assert_uint_eq(pr_type(), WE);
}
END_TEST

START_TEST(what_was_kept_for_another_unit_is_put_aside)
{
	ck_assert(rig_good(reg(0, 0, 0xa, APTPL)));
	rig.lu[0]->config.naa[15] ^= 1;
	ck_assert_int_eq(restart(), 0);
	ck_assert_uint_eq(kept.aside, 1);
	ck_assert_uint_eq(pr_keys(), 0);
}
END_TEST

/* ---- turns --------------------------------------------------------------- */

/* A REGISTER AND IGNORE that is submitted, while nothing runs yet. */
static struct rig_cmd *submit(unsigned nexus, uint64_t sa_key)
{
	struct pr_list l = pr_list(0, sa_key, APTPL);
	struct rig_cmd *c = cdb_new(nexus, 0, cdb_pr_out(REGISTER_IGNORE, 0,
							 sizeof(l)));

	memcpy(c->out, l.b, sizeof(l));
	c->scsi.dir_in = false;
	c->scsi.dir_out = true;
	c->scsi.edtl = sizeof(l);
	fake_enter(c->scsi.nexus->engine);
	scsi_submit(&c->scsi);
	return c;
}

START_TEST(changes_from_two_workers_are_made_in_their_order)
{
	struct rig_cmd *a = submit(0, 0xa), *b = submit(1, 0xb);
	struct rig_cmd *c = submit(0, 0xc);

	ck_assert(!a->done && !b->done && !c->done);
	fake_run();
	ck_assert(rig_good(a) && rig_good(b) && rig_good(c));
	ck_assert_uint_eq(kept.stored, 3);
	ck_assert(pr_keys() == 2 && pr_has(0xc) && pr_has(0xb));
	ck_assert_uint_eq(pr_generation(), 3);
}
END_TEST

START_TEST(one_that_is_aborted_before_its_turn_changes_nothing)
{
	struct rig_cmd *a = submit(0, 0xa), *b = submit(1, 0xb);
	struct rig_cmd *c = submit(1, 0xc);

	fake_enter(b->scsi.nexus->engine);
	scsi_abort(&b->scsi);
	fake_run();
	ck_assert(rig_good(a) && b->scsi.aborted && rig_good(c));
	ck_assert(pr_keys() == 2 && !pr_has(0xb));
}
END_TEST

START_TEST(one_that_is_aborted_while_it_is_stored_passes_its_turn_on)
{
	struct rig_cmd *a = submit(0, 0xa), *b = submit(1, 0xb);

	fake_enter(a->scsi.nexus->engine);
	scsi_abort(&a->scsi);
	fake_run();
	ck_assert(a->done == 1 && a->scsi.aborted && rig_good(b));
	ck_assert(pr_has(0xb));
}
END_TEST

START_TEST(one_whose_store_fails_passes_its_turn_on)
{
	struct rig_cmd *a, *b;

	kept.err = -EIO;
	a = submit(0, 0xa);
	b = submit(1, 0xb);
	fake_run();
	ck_assert(rig_sense(a, 0x4, 0x44, 0x00) &&
		  rig_sense(b, 0x4, 0x44, 0x00));
	ck_assert_uint_eq(pr_keys(), 0);
}
END_TEST

START_TEST(reserve_6_does_not_slip_in_between)
{
	struct rig_cmd *a = submit(0, 0xa);
	struct rig_cmd *r = cdb_new(1, 0, cdb_reserve6());

	r->scsi.dir_in = r->scsi.dir_out = false;
	r->scsi.edtl = 0;
	fake_enter(r->scsi.nexus->engine);
	scsi_submit(&r->scsi);
	fake_run();
	ck_assert(rig_good(a) && pr_conflicts(r));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("through power loss");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, rig_teardown);
	tcase_add_test(tc, without_aptpl_nothing_is_kept);
	tcase_add_loop_test(tc, with_aptpl_all_is_there_again, 0, 6);
	tcase_add_test(tc, the_last_register_says_whether_it_is_kept);
	tcase_add_test(tc, what_is_cleared_is_forgotten);
	tcase_add_test(tc, what_cannot_be_stored_changes_nothing);
	tcase_add_test(tc, any_damage_is_noticed_and_put_aside);
	tcase_add_test(tc, what_was_kept_for_another_unit_is_put_aside);
	tcase_add_test(tc, changes_from_two_workers_are_made_in_their_order);
	tcase_add_test(tc,
		one_that_is_aborted_before_its_turn_changes_nothing);
	tcase_add_test(tc,
		one_that_is_aborted_while_it_is_stored_passes_its_turn_on);
	tcase_add_test(tc, one_whose_store_fails_passes_its_turn_on);
	tcase_add_test(tc, reserve_6_does_not_slip_in_between);
	return unit_run("scsi_pr_file", tc);
}
