/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text keys and their negotiation: target/keys.c. */

#include "target/keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/limits.h"
#include "lib/util.h"
#include "tests/lib/unit.h"

static struct params params;
static uint64_t seen;
static char mem[1024];
static struct text reply;

static void setup(void)
{
	keys_init(&params);
	seen = 0;
	reply = (struct text){ .p = mem, .room = sizeof(mem) };
}

/* Negotiates one pair afresh; what we answer, "" for nothing. */
static const char *negotiate(enum key_scope scope, bool discovery,
			     const char *key, const char *value)
{
	setup();
	if (keys_negotiate(&params, scope, discovery, &seen, key, value,
			   &reply))
		return "error";
	if (!reply.len)
		return "";
	ck_assert_uint_eq(strncmp(mem, key, strlen(key)), 0);
	ck_assert_uint_eq(reply.len, strlen(mem) + 1);
	return mem + strlen(key) + 1;
}

static const struct {
	const char *key, *value, *answer, *in_discovery;
} answers[] = {
	{ "HeaderDigest", "CRC32C,None", "CRC32C", "CRC32C" },
	{ "HeaderDigest", "None,CRC32C", "None", "None" },
	{ "DataDigest", "CRC32C", "CRC32C", "CRC32C" },
	{ "DataDigest", "SHA9,CRC32C", "CRC32C", "CRC32C" },
	{ "DataDigest", "CRC32", "Reject", "Reject" },
	{ "DataDigest", "", "Reject", "Reject" },
	{ "MaxConnections", "8", "1", "Irrelevant" },
	{ "MaxConnections", "0", "Reject", "Irrelevant" },
	{ "InitialR2T", "Yes", "Yes", "Irrelevant" },
	{ "InitialR2T", "No", "No", "Irrelevant" },
	{ "InitialR2T", "no", "Reject", "Irrelevant" },
	{ "ImmediateData", "Yes", "Yes", "Irrelevant" },
	{ "ImmediateData", "No", "No", "Irrelevant" },
	{ "MaxRecvDataSegmentLength", "131072", "", "" },
	{ "MaxRecvDataSegmentLength", "0x10000", "", "" },
	{ "MaxRecvDataSegmentLength", "511", "error", "error" },
	{ "MaxRecvDataSegmentLength", "16777216", "error", "error" },
	{ "MaxRecvDataSegmentLength", "many", "error", "error" },
	{ "MaxBurstLength", "16776192", "1048576", "Irrelevant" },
	{ "MaxBurstLength", "512", "512", "Irrelevant" },
	{ "MaxBurstLength", "511", "Reject", "Irrelevant" },
	{ "MaxBurstLength", "0x40000", "262144", "Irrelevant" },
	{ "MaxBurstLength", "99999999999999999999", "Reject", "Irrelevant" },
	{ "MaxBurstLength", "512~1024", "Reject", "Irrelevant" },
	{ "FirstBurstLength", "65536", "65536", "Irrelevant" },
	{ "FirstBurstLength", "16777215", "262144", "Irrelevant" },
	{ "DefaultTime2Wait", "0", "2", "2" },
	{ "DefaultTime2Wait", "30", "30", "30" },
	{ "DefaultTime2Wait", "3601", "Reject", "Reject" },
	{ "DefaultTime2Retain", "20", "0", "0" },
	{ "MaxOutstandingR2T", "16", "4", "Irrelevant" },
	{ "MaxOutstandingR2T", "1", "1", "Irrelevant" },
	{ "DataPDUInOrder", "No", "Yes", "Irrelevant" },
	{ "DataSequenceInOrder", "Yes", "Yes", "Irrelevant" },
	{ "ErrorRecoveryLevel", "2", "0", "0" },
	{ "IFMarker", "No", "No", "No" },
	{ "OFMarker", "Yes", "No", "No" },
	{ "IFMarkInt", "2048~8192", "Reject", "Reject" },
	{ "OFMarkInt", "2048", "Reject", "Reject" },
	{ "TaskReporting", "FastAbort,ResponseFence,RFC3720", "RFC3720",
	  "Irrelevant" },
	{ "TaskReporting", "FastAbort", "Reject", "Irrelevant" },
	{ "iSCSIProtocolLevel", "2", "2", "Irrelevant" },
	{ "InitiatorAlias", "a host", "", "" },
	{ "X#NodeArchitecture", "any/1", "", "" },
	{ "TargetAlias", "NotUnderstood", "", "" },
	{ "TargetPortalGroupTag", "Reject", "", "" },
	{ "TargetAlias", "mine", "error", "error" },
	{ "SendTargets", "All", "error", "error" },
	{ "MaxBurstLength", "NotUnderstood", "error", "error" },
	{ "MaxBurstLength", "Irrelevant", "error", "error" },
};

START_TEST(each_key_has_its_answer)
{
	ck_assert_str_eq(negotiate(KEYS_LOGIN, false, answers[_i].key,
				   answers[_i].value), answers[_i].answer);
}
END_TEST

START_TEST(what_is_irrelevant_in_discovery_is_answered_so)
{
	ck_assert_str_eq(negotiate(KEYS_LOGIN, true, answers[_i].key,
				   answers[_i].value),
			 answers[_i].in_discovery);
}
END_TEST

START_TEST(result_is_what_was_answered)
{
	negotiate(KEYS_LOGIN, false, "MaxBurstLength", "0x8000");
	ck_assert_uint_eq(params.MaxBurstLength, 32768);
	negotiate(KEYS_LOGIN, false, "InitialR2T", "No");
	ck_assert_uint_eq(params.InitialR2T, 0);
	negotiate(KEYS_LOGIN, false, "HeaderDigest", "CRC32C");
	ck_assert_uint_eq(params.HeaderDigest, 1);
	negotiate(KEYS_LOGIN, false, "MaxRecvDataSegmentLength", "65536");
	ck_assert_uint_eq(params.MaxRecvDataSegmentLength, 65536);
	negotiate(KEYS_LOGIN, false, "MaxBurstLength", "1");
	ck_assert_uint_eq(params.MaxBurstLength, 262144);
}
END_TEST

START_TEST(defaults_are_those_of_the_standard)
{
	ck_assert_uint_eq(params.HeaderDigest, 0);
	ck_assert_uint_eq(params.InitialR2T, 1);
	ck_assert_uint_eq(params.ImmediateData, 1);
	ck_assert_uint_eq(params.MaxRecvDataSegmentLength, 8192);
	ck_assert_uint_eq(params.own_recv_dsl, 8192);
	ck_assert_uint_eq(params.MaxBurstLength, 262144);
	ck_assert_uint_eq(params.FirstBurstLength, 65536);
	ck_assert_uint_eq(params.DefaultTime2Wait, 2);
	ck_assert_uint_eq(params.DefaultTime2Retain, 20);
	ck_assert_uint_eq(params.MaxOutstandingR2T, 1);
	ck_assert_uint_eq(params.ErrorRecoveryLevel, 0);
}
END_TEST

START_TEST(unknown_key_is_told_to_the_caller)
{
	ck_assert_int_eq(keys_negotiate(&params, KEYS_LOGIN, false, &seen,
					"X-com.example.any", "1", &reply),
			 -ENOENT);
	ck_assert_int_eq(keys_negotiate(&params, KEYS_LOGIN, false, &seen,
					"maxburstlength", "512", &reply),
			 -ENOENT);
	ck_assert_uint_eq(reply.len, 0);
}
END_TEST

START_TEST(key_said_twice_is_an_error)
{
	ck_assert_int_eq(keys_negotiate(&params, KEYS_LOGIN, false, &seen,
					"ImmediateData", "Yes", &reply), 0);
	ck_assert_int_eq(keys_negotiate(&params, KEYS_LOGIN, false, &seen,
					"ImmediateData", "Yes", &reply),
			 -EPROTO);
}
END_TEST

START_TEST(value_over_255_bytes_is_an_error_but_in_a_list)
{
	char value[400];

	memset(value, 'a', sizeof(value));
	value[256] = '\0';
	ck_assert_str_eq(negotiate(KEYS_LOGIN, false, "InitiatorAlias", value),
			 "error");
	value[255] = '\0';
	ck_assert_str_eq(negotiate(KEYS_LOGIN, false, "InitiatorAlias", value),
			 "");
	memset(value, 'a', 300);
	snprintf(value + 300, sizeof(value) - 300, ",CRC32C");
	ck_assert_str_eq(negotiate(KEYS_LOGIN, false, "DataDigest", value),
			 "CRC32C");
}
END_TEST

START_TEST(after_login_only_few_keys_are_negotiated)
{
	ck_assert_str_eq(negotiate(KEYS_FULL_FEATURE, false,
				   "MaxRecvDataSegmentLength", "4096"), "");
	ck_assert_uint_eq(params.MaxRecvDataSegmentLength, 4096);
	ck_assert_str_eq(negotiate(KEYS_FULL_FEATURE, false, "HeaderDigest",
				   "CRC32C"), "Reject");
	ck_assert_uint_eq(params.HeaderDigest, 0);
	ck_assert_str_eq(negotiate(KEYS_FULL_FEATURE, false, "MaxBurstLength",
				   "512"), "Reject");
}
END_TEST

START_TEST(security_stage_takes_keys_of_any_stage_only)
{
	ck_assert_str_eq(negotiate(KEYS_SECURITY, false, "InitiatorAlias",
				   "a"), "");
	ck_assert_str_eq(negotiate(KEYS_SECURITY, false, "InitialR2T", "No"),
			 "error");
}
END_TEST

START_TEST(keys_of_any_stage_may_be_said_in_each)
{
	negotiate(KEYS_SECURITY, false, "InitiatorAlias", "a");
	keys_new_stage(&seen);
	ck_assert_int_eq(keys_negotiate(&params, KEYS_LOGIN, false, &seen,
					"InitiatorAlias", "a", &reply), 0);
	ck_assert_int_eq(keys_negotiate(&params, KEYS_LOGIN, false, &seen,
					"InitiatorAlias", "a", &reply),
			 -EPROTO);
}
END_TEST

START_TEST(our_declarations_are_made_once)
{
	keys_declare(&params, &seen, &reply);
	ck_assert_str_eq(mem, "MaxRecvDataSegmentLength=262144");
	ck_assert_uint_eq(params.own_recv_dsl, MAX_RECV_DSL);
	reply.len = 0;
	keys_declare(&params, &seen, &reply);
	ck_assert_uint_eq(reply.len, 0);
}
END_TEST

START_TEST(first_burst_is_kept_within_max_burst)
{
	keys_negotiate(&params, KEYS_LOGIN, false, &seen, "MaxBurstLength",
		       "32768", &reply);
	keys_negotiate(&params, KEYS_LOGIN, false, &seen, "FirstBurstLength",
		       "65536", &reply);
	ck_assert_int_eq(keys_finish(&params, seen), 0);
	ck_assert_uint_eq(params.FirstBurstLength, 32768);

	setup();	/* FirstBurstLength not said */
	keys_negotiate(&params, KEYS_LOGIN, false, &seen, "MaxBurstLength",
		       "32768", &reply);
	ck_assert_int_eq(keys_finish(&params, seen), 0);
	ck_assert_uint_eq(params.FirstBurstLength, 32768);

	setup();	/* said larger, and answered before */
	keys_negotiate(&params, KEYS_LOGIN, false, &seen, "FirstBurstLength",
		       "65536", &reply);
	keys_negotiate(&params, KEYS_LOGIN, false, &seen, "MaxBurstLength",
		       "32768", &reply);
	ck_assert_int_eq(keys_finish(&params, seen), -EPROTO);
}
END_TEST

START_TEST(text_to_send_stays_within_its_room)
{
	reply.room = 7;
	text_put(&reply, "Ab", "cd");		/* Ab=cd and a NUL: 6 */
	ck_assert_uint_eq(reply.len, 6);
	ck_assert(!reply.overflow);
	text_put(&reply, "A", "");
	ck_assert(reply.overflow);
	ck_assert_uint_eq(reply.len, 6);
}
END_TEST

START_TEST(text_on_the_heap_grows_up_to_a_limit)
{
	struct text t = { .p = NULL };
	unsigned n = 0;

	while (text_reserve(&t, 6, 10000)) {
		text_put(&t, "Ab", "cd");
		n++;
	}
	ck_assert_uint_eq(n, 10000 / 6);
	ck_assert(!t.overflow);
	free(t.p);
}
END_TEST

/* Cuts a text; "A=b C=d" for its pairs, "!" in the end when it is bad. */
static const char *cut(const char *text, size_t len)
{
	static char out[256];
	char *copy = malloc(len + 1);
	struct text_iter it = { copy, copy + len };
	char *key, *value;
	size_t n = 0;
	bool bad;

	memcpy(copy, text, len);
	copy[len] = '\0';
	out[0] = '\0';
	while (text_next(&it, &key, &value, &bad))
		n += (size_t)snprintf(out + n, sizeof(out) - n, "%s%s=%s",
				      n ? " " : "", key, value);
	if (bad)
		snprintf(out + n, sizeof(out) - n, "!");
	free(copy);
	return out;
}

#define CUT(text) cut(text, sizeof(text) - 1)

START_TEST(text_is_cut_into_pairs)
{
	ck_assert_str_eq(CUT(""), "");
	ck_assert_str_eq(CUT("A=b\0"), "A=b");
	ck_assert_str_eq(CUT("A=b\0C=\0D=e=f\0"), "A=b C= D=e=f");
	ck_assert_str_eq(CUT("A=b\0\0\0"), "A=b");
	ck_assert_str_eq(CUT("A-b.c+d@e_9=b\0"), "A-b.c+d@e_9=b");
}
END_TEST

START_TEST(what_is_no_pair_is_bad)
{
	ck_assert_str_eq(CUT("A=b"), "!");
	ck_assert_str_eq(CUT("A=b\0C"), "A=b!");
	ck_assert_str_eq(CUT("A=b\0C\0D=e\0"), "A=b!");
	ck_assert_str_eq(CUT("=b\0"), "!");
	ck_assert_str_eq(CUT("a=b\0"), "!");
	ck_assert_str_eq(CUT("sENDtARGETS=aLL\0"), "!");
	ck_assert_str_eq(CUT("A b=c\0"), "!");
	ck_assert_str_eq(CUT("1=c\0"), "!");
}
END_TEST

START_TEST(keys_end_at_63_characters)
{
	char text[80];

	memset(text, 'A', sizeof(text));
	memcpy(text + 63, "=1", 3);
	ck_assert_uint_eq(strlen(cut(text, 66)), 65);
	memset(text, 'A', sizeof(text));
	memcpy(text + 64, "=1", 3);
	ck_assert_str_eq(cut(text, 67), "!");
}
END_TEST

START_TEST(numbers_are_decimal_or_hexadecimal)
{
	static const struct {
		const char *text;
		int64_t	    value;	/* -1: none */
	} numbers[] = {
		{ "0", 0 }, { "512", 512 }, { "0x1F", 31 }, { "0X1f", 31 },
		{ "4294967295", 4294967295 }, { "4294967296", -1 },
		{ "0xffffffff", 4294967295 }, { "0x100000000", -1 },
		{ "", -1 }, { "0x", -1 }, { "-1", -1 }, { "+1", -1 },
		{ "1f", -1 }, { " 1", -1 }, { "1 ", -1 }, { "1,2", -1 },
	};
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		uint32_t x = 0;
		bool ok = text_number(numbers[i].text, strlen(numbers[i].text),
				      &x);

		ck_assert_int_eq(ok ? (int64_t)x : -1, numbers[i].value);
	}
}
END_TEST

START_TEST(words_of_a_list_are_compared_whole)
{
	ck_assert(text_in_list("CHAP,None", "None"));
	ck_assert(text_in_list("CHAP,None", "CHAP"));
	ck_assert(text_in_list("None", "None"));
	ck_assert(!text_in_list("CHAPS,Nones", "None"));
	ck_assert(!text_in_list("Non", "None"));
	ck_assert(!text_in_list("", "None"));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("keys");
	int n = (int)ARRAY_SIZE(answers);

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_loop_test(tc, each_key_has_its_answer, 0, n);
	tcase_add_loop_test(tc, what_is_irrelevant_in_discovery_is_answered_so,
			    0, n);
	tcase_add_test(tc, result_is_what_was_answered);
	tcase_add_test(tc, defaults_are_those_of_the_standard);
	tcase_add_test(tc, unknown_key_is_told_to_the_caller);
	tcase_add_test(tc, key_said_twice_is_an_error);
	tcase_add_test(tc, value_over_255_bytes_is_an_error_but_in_a_list);
	tcase_add_test(tc, after_login_only_few_keys_are_negotiated);
	tcase_add_test(tc, security_stage_takes_keys_of_any_stage_only);
	tcase_add_test(tc, keys_of_any_stage_may_be_said_in_each);
	tcase_add_test(tc, our_declarations_are_made_once);
	tcase_add_test(tc, first_burst_is_kept_within_max_burst);
	tcase_add_test(tc, text_to_send_stays_within_its_room);
	tcase_add_test(tc, text_on_the_heap_grows_up_to_a_limit);
	tcase_add_test(tc, text_is_cut_into_pairs);
	tcase_add_test(tc, what_is_no_pair_is_bad);
	tcase_add_test(tc, keys_end_at_63_characters);
	tcase_add_test(tc, numbers_are_decimal_or_hexadecimal);
	tcase_add_test(tc, words_of_a_list_are_compared_whole);
	return unit_run("keys", tc);
}
