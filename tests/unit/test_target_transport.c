/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The transport: PDUs cut anywhere, digests, CmdSN, data both ways.
 */
#include "tests/lib/transport_rig.h"

#define READ 0x28
#define WRITE 0x2a
#define WAIT 0x00

/* Reads the Data-In of one command into a buffer of total bytes; checks the
 * numbers of RFC 7143 11.7 and returns the flags of the last PDU. */
static unsigned hear_data(struct peer *p, uint8_t *into, uint32_t total)
{
	uint32_t at = 0, sn = 0, burst = 0, n;
	union bhs b = { .bytes = { 0 } };

	while (at < total) {
		ck_assert_int_eq(hear(p, &b, into + at, total - at),
				 OP_DATA_IN);
		n = be24_get(b.any.data_len);
		ck_assert_uint_eq(be32_get(b.data_in.data_sn), sn++);
		ck_assert_uint_eq(be32_get(b.data_in.buffer_offset), at);
		ck_assert_uint_le(n, keys.MaxRecvDataSegmentLength);
		at += n;
		burst += n;
		ck_assert_uint_le(burst, keys.MaxBurstLength);
		ck_assert_int_eq(!!(b.any.flags & FLAG_FINAL),
				 burst == keys.MaxBurstLength || at == total);
		if (b.any.flags & FLAG_FINAL)
			burst = 0;
	}
	return b.any.flags;
}

static void check_read(struct peer *p, uint32_t total)
{
	union bhs b = command(p, READ, total, total);
	uint8_t *got = malloc(total);
	unsigned flags;

	say(p, &b, NULL, 0);
	flags = hear_data(p, got, total);
	ck_assert_uint_eq(flags & (DATA_IN_STATUS | RSP_OVERFLOW |
				   RSP_UNDERFLOW), DATA_IN_STATUS);
	ck_assert(!memcmp(got, medium, total));
	ck_assert_int_eq(hear_any(p, &b), -1);
	free(got);
}

START_TEST(read_comes_in_bursts_and_its_last_pdu_carries_the_status)
{
	struct peer *p = peer_logged_in();

	check_read(p, 512);
	check_read(p, 65536);
	check_read(p, 200004);
	check_read(p, (2u << 20) + 4);
}
END_TEST

static void expect_response(struct peer *p, unsigned status, unsigned flags,
			    uint32_t residual)
{
	union bhs b;

	ck_assert_int_eq(hear_any(p, &b), OP_SCSI_RESPONSE);
	ck_assert_uint_eq(b.scsi_response.status, status);
	ck_assert_uint_eq(b.any.flags, FLAG_FINAL | flags);
	ck_assert_uint_eq(be32_get(b.scsi_response.residual), residual);
}

START_TEST(residuals_are_counted_against_what_was_expected)
{
	struct peer *p = peer_logged_in();
	union bhs b = command(p, READ, 1024, 4096);
	uint8_t got[4096];

	say(p, &b, NULL, 0);
	ck_assert_int_eq(hear(p, &b, got, sizeof(got)), OP_DATA_IN);
	ck_assert_uint_eq(b.any.flags & RSP_UNDERFLOW, RSP_UNDERFLOW);
	ck_assert_uint_eq(be32_get(b.data_in.residual), 3072);

	b = command(p, READ, 4096, 512);
	say(p, &b, NULL, 0);
	ck_assert_int_eq(hear(p, &b, got, sizeof(got)), OP_DATA_IN);
	ck_assert_uint_eq(b.any.flags & RSP_OVERFLOW, RSP_OVERFLOW);
	ck_assert_uint_eq(be32_get(b.data_in.residual), 3584);

	b = command(p, WAIT, 0, 255);	/* TEST UNIT READY with the R bit */
	b.scsi_command.flags |= CMD_READ;
	say(p, &b, NULL, 0);
	finish(cmds[0], STATUS_GOOD);
	turns();
	expect_response(p, STATUS_GOOD, RSP_UNDERFLOW, 255);
}
END_TEST

/* Answers R2Ts of one command until its response comes; data is all of it. */
static void feed_r2ts(struct peer *p, const uint8_t *data, size_t chunk)
{
	uint32_t sn = 0;
	union bhs r2t, d;

	while (hear_any(p, &r2t) == OP_R2T) {
		uint32_t off = be32_get(r2t.r2t.buffer_offset);
		uint32_t len = be32_get(r2t.r2t.desired_len), at = 0, dsn = 0;

		ck_assert_uint_eq(be32_get(r2t.r2t.r2t_sn), sn++);
		ck_assert_uint_ne(be32_get(r2t.r2t.ttt), TAG_NONE);
		ck_assert_uint_le(len, keys.MaxBurstLength);
		while (at < len) {
			uint32_t n = MIN(len - at, 12288);

			d = data_out(be32_get(r2t.r2t.itt),
				     be32_get(r2t.r2t.ttt), dsn++, off + at);
			at += n;
			d.any.flags = at == len ? FLAG_FINAL : 0;
			say_cut(p, &d, data + off + at - n, n, chunk);
		}
	}
	ck_assert_uint_eq(bhs_opcode(&r2t), OP_SCSI_RESPONSE);
	ck_assert_uint_eq(r2t.scsi_response.status, STATUS_GOOD);
	ck_assert_uint_eq(be32_get(r2t.scsi_response.residual), 0);
}

static const struct {
	uint32_t total, immediate, unsolicited, r2ts, piece;
} writes[] = {
	{ 512, 512, 0, 1, PIECE_MAX },
	{ 4096, 0, 0, 1, PIECE_MAX },
	{ 131072, 8192, 57344, 1, PIECE_MAX },
	{ 131072, 0, 65536, 4, PIECE_MAX },
	{ 131072, 8192, 57344, 1, 16384 },	/* pieces below what came */
	{ 3145728, 8192, 0, 4, PIECE_MAX },
	{ 2097152, 4096, 61440, 2, 2097152 },	/* a buffer that must grow */
	{ 100000, 100, 0, 1, PIECE_MAX },
};

static void check_write(struct peer *p, int i, size_t chunk)
{
	uint32_t total = writes[i].total, at = writes[i].immediate, dsn = 0;
	union bhs b = command(p, WRITE, total, total), d;
	be32 piece = be32_of(writes[i].piece);
	uint32_t itt = be32_get(b.any.itt);
	uint8_t *data = pattern(total);

	memset(medium, 0, total);
	memcpy(b.scsi_command.cdb + 6, &piece, 4);
	if (writes[i].unsolicited)
		b.any.flags &= (uint8_t)~FLAG_FINAL;
	say_cut(p, &b, data, at, chunk);
	while (at < writes[i].immediate + writes[i].unsolicited) {
		uint32_t n = 4096;

		d = data_out(itt, TAG_NONE, dsn++, at);
		if (at + n >= writes[i].immediate + writes[i].unsolicited)
			d.any.flags = FLAG_FINAL;
		say_cut(p, &d, data + at, n, chunk);
		at += n;
	}
	feed_r2ts(p, data, chunk);
	ck_assert(!memcmp(medium, data, total));
	free(data);
}

START_TEST(write_data_arrives_whole_however_it_was_sent)
{
	struct peer *p;

	keys.MaxOutstandingR2T = writes[_i].r2ts;
	p = peer_logged_in();
	check_write(p, _i, SIZE_MAX);
	check_write(p, _i, 1000);
	check_write(p, _i, 70000);
}
END_TEST

START_TEST(stream_may_be_cut_at_every_byte)
{
	struct peer *p;
	size_t chunk;

	keys.HeaderDigest = keys.DataDigest = 1;
	p = peer_logged_in();
	for (chunk = 1; chunk < 700; chunk += chunk < 70 ? 1 : 41)
		check_write(p, 0, chunk);
	check_write(p, 7, 3);
}
END_TEST

START_TEST(several_pdus_in_one_receive_all_run)
{
	struct peer *p = peer_logged_in();
	uint8_t all[10 * BHS_LEN];
	union bhs b;
	unsigned i;

	for (i = 0; i < 10; i++) {
		b = command(p, WAIT, 0, 0);
		memcpy(all + i * BHS_LEN, &b, BHS_LEN);
	}
	feed(p, all, sizeof(all), SIZE_MAX);
	ck_assert_uint_eq(ncmds, 10);
	while (ncmds)
		finish(cmds[0], STATUS_GOOD);
	turns();
	for (i = 0; i < 10; i++)
		expect_response(p, STATUS_GOOD, 0, 0);
}
END_TEST

/* ---- digests ----------------------------------------------------------- */

START_TEST(header_digest_error_ends_the_connection)
{
	struct peer *p;
	union bhs b;
	uint8_t *bytes;
	size_t n;

	keys.HeaderDigest = 1;
	p = peer_logged_in();
	b = command(p, WAIT, 0, 0);
	bytes = pdu_bytes(p, &b, NULL, 0, &n);
	bytes[20] ^= 1;
	feed(p, bytes, n, SIZE_MAX);
	free(bytes);
	ck_assert(p->gone);
	ck_assert_uint_eq(submitted, 0);
}
END_TEST

static void say_damaged(struct peer *p, union bhs *b, const void *data,
			size_t len)
{
	size_t n;
	uint8_t *bytes = pdu_bytes(p, b, data, len, &n);

	bytes[n - 1] ^= 1;
	feed(p, bytes, n, SIZE_MAX);
	free(bytes);
}

static void expect_reject(struct peer *p, unsigned reason, const union bhs *bad)
{
	uint8_t header[BHS_LEN];
	union bhs b;

	ck_assert_int_eq(hear(p, &b, header, sizeof(header)), OP_REJECT);
	ck_assert_uint_eq(b.reject.reason, reason);
	ck_assert(!memcmp(header, bad, BHS_LEN));
}

START_TEST(command_with_damaged_data_may_be_sent_again)
{
	uint8_t data[512] = { 1, 2, 3 };
	struct peer *p;
	union bhs b;

	keys.DataDigest = 1;
	p = peer_logged_in();
	b = command(p, WRITE, 512, 512);
	say_damaged(p, &b, data, sizeof(data));
	expect_reject(p, REJECT_DATA_DIGEST, &b);
	ck_assert_uint_eq(submitted, 0);
	say(p, &b, data, sizeof(data));
	expect_response(p, STATUS_GOOD, 0, 0);
	ck_assert(!memcmp(medium, data, sizeof(data)));
}
END_TEST

/* RFC 7143 11.4.7.2 */
static void expect_sense(struct peer *p, unsigned asc, unsigned ascq)
{
	uint8_t sense[64];
	union bhs b;

	ck_assert_int_eq(hear(p, &b, sense, sizeof(sense)), OP_SCSI_RESPONSE);
	ck_assert_uint_eq(b.scsi_response.status, STATUS_CHECK_CONDITION);
	ck_assert_uint_eq(be24_get(b.any.data_len), 20);
	ck_assert_uint_eq(sense[1], 18);
	ck_assert_uint_eq(sense[2 + 2], KEY_ABORTED_COMMAND);
	ck_assert_uint_eq(sense[2 + 12], asc);
	ck_assert_uint_eq(sense[2 + 13], ascq);
}

static union bhs start_write(struct peer *p, uint32_t total)
{
	union bhs b = command(p, WRITE, total, total);

	memset(medium, 0, total);
	say(p, &b, NULL, 0);
	ck_assert_int_eq(hear_any(p, &b), OP_R2T);
	return b;
}

START_TEST(damaged_data_out_ends_the_command_when_the_sequence_ends)
{
	uint8_t data[1024], zero[1024] = { 0 };
	struct peer *p;
	union bhs r2t, d;

	memset(data, 7, sizeof(data));
	keys.DataDigest = 1;
	p = peer_logged_in();
	r2t = start_write(p, 1024);
	d = data_out(be32_get(r2t.r2t.itt), be32_get(r2t.r2t.ttt), 0, 0);
	say_damaged(p, &d, data, 512);
	expect_reject(p, REJECT_DATA_DIGEST, &d);
	ck_assert_int_eq(hear_any(p, &d), -1);
	d = data_out(be32_get(r2t.r2t.itt), be32_get(r2t.r2t.ttt), 1, 512);
	d.any.flags = FLAG_FINAL;
	say(p, &d, data, 512);
	expect_sense(p, 0x47, 0x05);
	ck_assert(!memcmp(medium, zero, sizeof(zero)));
	check_read(p, 512);
}
END_TEST

/* ---- Data-Out against its numbers -------------------------------------- */

static const struct {
	uint32_t sn, offset, len;
	bool	 final;
	uint8_t	 asc, ascq;
} faults[] = {
	{ 27, 0, 1024, true, 0x47, 0x05 },
	{ 0xffffffff, 0, 1024, true, 0x47, 0x05 },
	{ 0, 512, 512, true, 0x0c, 0x0d },
	{ 0, 0xffffff00, 512, true, 0x0c, 0x0d },
	{ 0, 1024, 512, true, 0x0c, 0x0d },
	{ 0, 0, 2048, true, 0x0c, 0x0d },
	{ 0, 0, 512, true, 0x0c, 0x0d },	/* too little */
};

START_TEST(data_out_with_wrong_numbers_writes_nothing)
{
	uint8_t data[2048], zero[1024] = { 0 };
	struct peer *p = peer_logged_in();
	union bhs r2t = start_write(p, 1024), d;

	memset(data, 7, sizeof(data));
	d = data_out(be32_get(r2t.r2t.itt), be32_get(r2t.r2t.ttt),
		     faults[_i].sn, faults[_i].offset);
	d.any.flags = faults[_i].final ? FLAG_FINAL : 0;
	say(p, &d, data, faults[_i].len);
	expect_sense(p, faults[_i].asc, faults[_i].ascq);
	ck_assert(!memcmp(medium, zero, sizeof(zero)));
	check_read(p, 512);
}
END_TEST

START_TEST(data_out_of_nobody_is_dropped)
{
	struct peer *p = peer_logged_in();
	uint8_t data[512] = { 9 };
	union bhs d = data_out(0x7777, 5, 0, 0);

	d.any.flags = FLAG_FINAL;
	say(p, &d, data, sizeof(data));
	ck_assert_int_eq(hear_any(p, &d), -1);
	check_read(p, 512);
}
END_TEST

/* Takes all buffers that commands may have; the last call gives them back. */
static void hog(bool take)
{
	static void *held[64];
	static size_t sizes[64];
	static unsigned n;
	size_t size;

	for (size = BUF_MAX; take && size >= BUF_MIN; size /= 2)
		while ((held[n] = buf_get(workers[0].engine->bufs, size,
					  BUF_NORMAL)))
			sizes[n++] = size;
	while (!take && n--)
		worker_buf_put(&workers[0], held[n], sizes[n]);
	turns();
}

START_TEST(unsolicited_data_without_a_buffer_ends_task_set_full)
{
	struct peer *p = peer_logged_in();
	union bhs b = command(p, WRITE, 65536, 65536), d;
	uint8_t *data = pattern(65536);

	hog(true);
	b.any.flags &= (uint8_t)~FLAG_FINAL;
	say(p, &b, data, 8192);
	d = data_out(be32_get(b.any.itt), TAG_NONE, 0, 8192);
	d.any.flags = FLAG_FINAL;
	say(p, &d, data + 8192, 57344);
	expect_response(p, STATUS_TASK_SET_FULL, RSP_UNDERFLOW, 65536);
	ck_assert_uint_eq(submitted, 0);
	hog(false);
	check_write(p, 2, SIZE_MAX);
	free(data);
}
END_TEST

START_TEST(r2t_goes_out_only_when_there_is_a_buffer)
{
	struct peer *p = peer_logged_in();
	union bhs b = command(p, WRITE, 65536, 65536);
	uint8_t *data = pattern(65536);

	hog(true);
	say(p, &b, NULL, 0);
	ck_assert_int_eq(hear_any(p, &b), -1);
	hog(false);
	feed_r2ts(p, data, SIZE_MAX);
	free(data);
}
END_TEST

/* Lets seconds pass; every ten the host shows that it lives. */
static void live_on(struct peer *p, unsigned seconds)
{
	unsigned s;
	union bhs b;

	for (s = 0; s < seconds && !p->gone; s += 10) {
		pass(10000);
		if (p->gone)
			break;
		b = request(p, OP_NOP_OUT, true);
		b.nop_out.ttt = be32_of(TAG_NONE);
		say(p, &b, NULL, 0);
		while (hear_any(p, &b) >= 0)
			;
	}
}

START_TEST(host_that_does_not_send_its_data_is_given_up)
{
	struct peer *p = peer_logged_in();
	union bhs b = command(p, WRITE, 65536, 65536);

	live_on(p, 300);
	ck_assert(!p->gone);
	say(p, &b, NULL, 0);
	ck_assert_int_eq(hear_any(p, &b), OP_R2T);
	live_on(p, 50);
	ck_assert(!p->gone);
	live_on(p, 60);
	ck_assert(p->gone);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("transport");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_test(tc,
		read_comes_in_bursts_and_its_last_pdu_carries_the_status);
	tcase_add_test(tc, residuals_are_counted_against_what_was_expected);
	tcase_add_loop_test(tc, write_data_arrives_whole_however_it_was_sent,
			    0, ARRAY_SIZE(writes));
	tcase_add_test(tc, stream_may_be_cut_at_every_byte);
	tcase_add_test(tc, several_pdus_in_one_receive_all_run);
	tcase_add_test(tc, header_digest_error_ends_the_connection);
	tcase_add_test(tc, command_with_damaged_data_may_be_sent_again);
	tcase_add_test(tc,
		damaged_data_out_ends_the_command_when_the_sequence_ends);
	tcase_add_loop_test(tc, data_out_with_wrong_numbers_writes_nothing,
			    0, ARRAY_SIZE(faults));
	tcase_add_test(tc, data_out_of_nobody_is_dropped);
	tcase_add_test(tc,
		unsolicited_data_without_a_buffer_ends_task_set_full);
	tcase_add_test(tc, r2t_goes_out_only_when_there_is_a_buffer);
	tcase_add_test(tc, host_that_does_not_send_its_data_is_given_up);
	return unit_run("transport", tc);
}
