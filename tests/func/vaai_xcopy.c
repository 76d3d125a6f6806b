/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * EXTENDED COPY moves bytes within a LUN, between LUNs and between targets, on
 * file systems with and without shared extents; holes stay holes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/copylist.h"

#define IQN	"iqn.2026-11.example.test:copy"
#define IQN2	"iqn.2026-11.example.test:copy2"
#define MIB	2048u			/* blocks */
#define CHUNK	(1u << 20)

static struct daemon *d;

/* Places to keep volumes; each has two, LUNs 2n and 2n + 1. */
static struct place {
	const char	*fs;		/* NULL: the state folder */
	const char	*methods;	/* what vaai status may say */
	const char	*dir;
	bool		 ready;
	uint8_t		 naa[2][16];
} places[] = {
	{ NULL, "reflink copy_file_range read-write", NULL, false, {} },
	{ "ext4", "copy_file_range read-write", NULL, false, {} },
	{ "xfs", "reflink", NULL, false, {} },
	{ "btrfs", "reflink", NULL, false, {} },
	{ "loop", "read-write", NULL, false, {} },
};
#define PLACES (int)(sizeof(places) / sizeof(places[0]))

static uint8_t buf[CHUNK];

static void fill(struct ini *i, int lun, uint64_t lba, unsigned mib,
		 uint64_t seed)
{
	for (; mib; mib--, lba += MIB) {
		struct cmd c = cmd_write(lba, MIB, buf, CHUNK);

		pattern_fill(buf, CHUNK, lba, seed);
		expect_good(i, lun, &c);
	}
}

/* The blocks at lba hold what was filled in at from. */
static void holds(struct ini *i, int lun, uint64_t lba, uint64_t from,
		  unsigned blocks, uint64_t seed)
{
	ssize_t at;

	while (blocks) {
		unsigned n = blocks < MIB ? blocks : MIB;
		struct cmd c = cmd_read(lba, n, buf, n * 512);

		expect_good(i, lun, &c);
		at = pattern_diff(buf, n * 512, from, seed);
		ck_assert_msg(at < 0, "LUN %d: wrong %zd bytes after %llu",
			      lun, at, (unsigned long long)lba);
		lba += n;
		from += n;
		blocks -= n;
	}
}

static struct ini *open_place(int k)
{
	struct ini *i;

	if (!places[k].ready) {
		skip_case("no %s here", places[k].fs);
		return NULL;
	}
	i = ini_open(d, .target = IQN);
	ck_assert_msg(i != NULL, "%s", ini_error());
	ck_assert_int_eq(ini_settle(i, 2 * k), 0);
	ck_assert_int_eq(ini_settle(i, 2 * k + 1), 0);
	return i;
}

START_TEST(a_copy_within_a_lun_is_byte_for_byte)
{
	struct ini *i = open_place(_i);
	struct copylist l;
	struct cmd c;

	if (!i)
		return;
	fill(i, 2 * _i, 0, 8, 1);
	fill(i, 2 * _i, 16 * MIB, 8, 2);
	copylist_begin(&l);
	copylist_cscd(&l, places[_i].naa[0]);
	copylist_segment(&l, 0, 0, 0, 16 * MIB, 4 * MIB);
	c = copylist_cmd(&l);
	expect_good(i, 2 * _i, &c);
	holds(i, 2 * _i, 16 * MIB, 0, 4 * MIB, 1);
	holds(i, 2 * _i, 20 * MIB, 20 * MIB, 4 * MIB, 2);
	holds(i, 2 * _i, 0, 0, 8 * MIB, 1);
	/* what is written to the copy later does not change the source */
	fill(i, 2 * _i, 16 * MIB, 4, 3);
	holds(i, 2 * _i, 0, 0, 8 * MIB, 1);
	ini_logout(i);
}
END_TEST

START_TEST(a_copy_between_luns_is_byte_for_byte_and_names_its_method)
{
	struct ini *i = open_place(_i);
	struct copylist l;
	const char *method;
	struct cmd c;

	if (!i)
		return;
	fill(i, 2 * _i, 0, 16, 11);
	fill(i, 2 * _i + 1, 0, 4, 12);
	copylist_begin(&l);
	copylist_cscd(&l, places[_i].naa[0]);
	copylist_cscd(&l, places[_i].naa[1]);
	copylist_segment(&l, 0, 4 * MIB, 1, 8 * MIB, 8 * MIB);
	c = copylist_cmd(&l);
	expect_good(i, 2 * _i + 1, &c);
	holds(i, 2 * _i + 1, 8 * MIB, 4 * MIB, 8 * MIB, 11);
	holds(i, 2 * _i + 1, 0, 0, 4 * MIB, 12);
	/* the source may be asked, too */
	copylist_begin(&l);
	copylist_cscd(&l, places[_i].naa[0]);
	copylist_cscd(&l, places[_i].naa[1]);
	copylist_segment(&l, 0, 0, 1, 0, 4 * MIB);
	c = copylist_cmd(&l);
	expect_good(i, 2 * _i, &c);
	holds(i, 2 * _i + 1, 0, 0, 4 * MIB, 11);
	adm_ok(d, "vaai status p%db", _i);
	method = json_text(d->json, "0.clone.method");
	ck_assert_msg(*method && strstr(places[_i].methods, method),
		      "%s: method %s", places[_i].fs, method);
	ck_assert_int_gt(json_number(d->json, "0.clone.used"), 0);
	ck_assert_int_ge(json_number(d->json, "0.clone.bytes"), 8 << 20);
	if (!strcmp(places[_i].methods, "reflink")) {
		adm_ok(d, "volume show p%db", _i);
		ck_assert_int_ge(json_number(d->json, "shared"), 8 << 20);
	}
	ini_logout(i);
}
END_TEST

START_TEST(unaligned_blocks_are_copied_as_well)
{
	struct ini *i = open_place(_i);
	struct copylist l;
	struct cmd c;

	if (!i)
		return;
	fill(i, 2 * _i, 0, 4, 21);
	fill(i, 2 * _i + 1, 0, 4, 22);
	copylist_begin(&l);
	copylist_cscd(&l, places[_i].naa[0]);
	copylist_cscd(&l, places[_i].naa[1]);
	copylist_segment(&l, 0, 3, 1, 1001, 3001);
	c = copylist_cmd(&l);
	expect_good(i, 2 * _i + 1, &c);
	holds(i, 2 * _i + 1, 0, 0, 1001, 22);
	holds(i, 2 * _i + 1, 1001, 3, 3001, 21);
	holds(i, 2 * _i + 1, 4002, 4002, 4 * MIB - 4002, 22);
	ini_logout(i);
}
END_TEST

START_TEST(several_segments_are_done_in_order)
{
	struct ini *i = open_place(_i);
	struct copylist l;
	struct cmd c;
	unsigned n;

	if (!i)
		return;
	fill(i, 2 * _i, 0, 16, 31);
	copylist_begin(&l);
	copylist_cscd(&l, places[_i].naa[0]);
	copylist_cscd(&l, places[_i].naa[1]);
	/* the order of the blocks turned round */
	for (n = 0; n < 16; n++)
		copylist_segment(&l, 0, n * MIB, 1, (15 - n) * MIB, MIB);
	c = copylist_cmd(&l);
	expect_good(i, 2 * _i + 1, &c);
	for (n = 0; n < 16; n++)
		holds(i, 2 * _i + 1, (15 - n) * MIB, n * MIB, MIB, 31);
	/* the second segment reads what the first wrote */
	copylist_begin(&l);
	copylist_cscd(&l, places[_i].naa[0]);
	copylist_segment(&l, 0, 0, 0, 20 * MIB, MIB);
	copylist_segment(&l, 0, 20 * MIB, 0, 21 * MIB, MIB);
	c = copylist_cmd(&l);
	expect_good(i, 2 * _i, &c);
	holds(i, 2 * _i, 21 * MIB, 0, MIB, 31);
	ini_logout(i);
}
END_TEST

START_TEST(holes_stay_holes)
{
	struct ini *i = open_place(_i);
	char name[16];
	struct copylist l;
	int64_t before, after;
	struct cmd c;

	if (!i || !strcmp(places[_i].fs ? places[_i].fs : "", "loop"))
		return;		/* a device has no allocated size */
	snprintf(name, sizeof(name), "p%db", _i);
	/* the destination's part is full, the source's a hole with 1 MiB */
	fill(i, 2 * _i + 1, 64 * MIB, 32, 41);
	c = cmd_write_same(64 * MIB, 16 * MIB, WS_UNMAP | WS_NDOB, NULL, 0);
	expect_good(i, 2 * _i, &c);
	c = cmd_write_same(80 * MIB, 16 * MIB, WS_UNMAP | WS_NDOB, NULL, 0);
	expect_good(i, 2 * _i, &c);
	fill(i, 2 * _i, 70 * MIB, 1, 42);
	before = volume_number(d, name, "allocated");
	copylist_begin(&l);
	copylist_cscd(&l, places[_i].naa[0]);
	copylist_cscd(&l, places[_i].naa[1]);
	copylist_segment(&l, 0, 64 * MIB, 1, 64 * MIB, 16 * MIB);
	copylist_segment(&l, 0, 80 * MIB, 1, 80 * MIB, 16 * MIB);
	c = copylist_cmd(&l);
	expect_good(i, 2 * _i + 1, &c);
	after = volume_number(d, name, "allocated");
	holds(i, 2 * _i + 1, 70 * MIB, 70 * MIB, MIB, 42);
	c = cmd_read(90 * MIB, MIB, buf, CHUNK);
	expect_good(i, 2 * _i + 1, &c);
	ck_assert_int_eq(zero_diff(buf, CHUNK), -1);
	ck_assert_msg(after <= before - (28 << 20), "allocated: %lld, %lld",
		      (long long)before, (long long)after);
	ini_logout(i);
}
END_TEST

START_TEST(a_copy_between_targets_works_for_a_host_of_both)
{
	struct ini *i, *j;
	struct copylist l;
	struct cmd c;

	i = open_place(0);
	j = ini_open(d, .target = IQN2);
	ck_assert(i && j);
	ck_assert_int_eq(ini_settle(j, 0), 0);
	fill(i, 0, 0, 4, 51);
	copylist_begin(&l);
	copylist_cscd(&l, places[0].naa[0]);
	ck_assert_int_eq(volume_naa(d, "far", places[0].naa[1]), 0);
	copylist_cscd(&l, places[0].naa[1]);
	copylist_segment(&l, 0, 0, 1, MIB, 4 * MIB);
	c = copylist_cmd(&l);
	expect_good(j, 0, &c);
	holds(j, 0, MIB, 0, 4 * MIB, 51);
	fill(i, 0, 0, 4, 52);
	c = copylist_cmd(&l);
	expect_good(i, 0, &c);
	holds(j, 0, MIB, 0, 4 * MIB, 52);
	ini_logout(i);
	ini_logout(j);
	ck_assert_int_eq(volume_naa(d, "p0b", places[0].naa[1]), 0);
}
END_TEST

static int prepare_place(int k)
{
	struct place *p = &places[k];
	char name[16], args[256];
	int n;

	if (p->fs && strcmp(p->fs, "loop")) {
		p->dir = fs_mount(d, p->fs, 768);
		if (!p->dir)
			return 0;
	}
	for (n = 0; n < 2; n++) {
		snprintf(name, sizeof(name), "p%d%c", k, 'a' + n);
		snprintf(args, sizeof(args), "--size 128M");
		if (p->dir)
			snprintf(args, sizeof(args), "--size 128M --path %s/%s",
				 p->dir, name);
		if (p->fs && !p->dir) {
			const char *dev = loop_attach(d, 128, 512);

			if (!dev)
				return 0;
			snprintf(args, sizeof(args), "--path %s", dev);
		}
		if (adm_lun(d, IQN, 2 * k + n, name, args) ||
		    volume_naa(d, name, p->naa[n]))
			return -1;
	}
	p->ready = true;
	return 0;
}

static int prepare(void)
{
	int k;

	if (adm_target(d, IQN) || adm_target(d, IQN2) ||
	    adm_lun(d, IQN2, 0, "far", "--size 128M"))
		return -1;
	for (k = 0; k < PLACES; k++) {
		if (prepare_place(k))
			return -1;
	}
	return 0;
}

int main(void)
{
	TCase *tc = tcase_create("xcopy");

	d = daemon_start(NULL);
	if (!d || prepare())
		return EXIT_FAILURE;
	tcase_add_loop_test(tc, a_copy_within_a_lun_is_byte_for_byte, 0,
			    PLACES);
	tcase_add_loop_test(tc,
		a_copy_between_luns_is_byte_for_byte_and_names_its_method, 0,
		PLACES);
	tcase_add_loop_test(tc, unaligned_blocks_are_copied_as_well, 0, PLACES);
	tcase_add_loop_test(tc, several_segments_are_done_in_order, 0, PLACES);
	tcase_add_loop_test(tc, holes_stay_holes, 0, PLACES);
	tcase_add_test(tc, a_copy_between_targets_works_for_a_host_of_both);
	return func_run("vaai_xcopy", tc);
}
