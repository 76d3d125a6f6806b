/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_LIB_LOGIN_SAY_H
#define TESTS_LIB_LOGIN_SAY_H

/* An initiator that says what a test makes it say, over login_fake.h. */

#include "target/iscsi_proto.h"
#include "tests/lib/login_fake.h"

#define NAMES "InitiatorName=iqn.2026-11.example:host\0" \
	"TargetName=iqn.2026-11.example:disk\0"
#define SECURITY	(STAGE_SECURITY << LOGIN_CSG_SHIFT)
#define OPERATIONAL	(STAGE_OPERATIONAL << LOGIN_CSG_SHIFT)
#define TO_OPERATIONAL	(LOGIN_TRANSIT | STAGE_OPERATIONAL)
#define TO_FULL		(LOGIN_TRANSIT | STAGE_FULL_FEATURE)

/* A literal with its NULs inside; the last one is the literal's own. */
#define SAY(flags, text) say(flags, text, sizeof(text) - 1)

static struct bhs_login_request request;

static void login_setup(void)
{
	fake_setup();
	request = (struct bhs_login_request){
		.opcode	= OP_LOGIN_REQUEST | OPCODE_IMMEDIATE,
		.isid	= { 0x00, 0x02, 0x3d, 0, 0, 1 },
		.itt	= be32_of(0x77),
		.cid	= be16_of(3),
		.cmd_sn	= be32_of(100),
	};
}

static inline void say(unsigned flags, const char *text, size_t len)
{
	union bhs bhs;

	memset(&bhs, 0, sizeof(bhs));
	request.flags = (uint8_t)flags;
	bhs.login_request = request;
	fake.len = 0;
	fake_deliver(&bhs, text, len, login_request);
}

static inline unsigned status(void)
{
	return be16_get(fake.bhs.login_response.status);
}

static inline unsigned flags_sent(void)
{
	return fake.bhs.login_response.flags;
}

static inline void expect_refusal(unsigned code)
{
	ck_assert_uint_eq(status(), code);
	ck_assert_uint_eq(flags_sent(), 0);
	ck_assert(fake.closing);
	ck_assert_uint_eq(fake.begun, 0);
	ck_assert(!fake.logged_in);
}

#endif
