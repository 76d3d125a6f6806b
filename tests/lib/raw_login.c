/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The raw initiator's login, with CHAP of every algorithm that targets know.
 */
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/raw.h"

struct login {
	struct raw			*r;
	const struct raw_options	*o;
	uint8_t				 isid[6];
	uint32_t			 itt;
	char				 text[4096];
	size_t				 len;
};

static void add(struct login *l, const char *key, const char *value)
{
	int n = snprintf(l->text + l->len, sizeof(l->text) - l->len, "%s=%s",
			 key, value);

	l->len += (size_t)n + 1;
}

/* "KEY=VALUE\n" each. */
static void add_lines(struct login *l, const char *lines)
{
	size_t n;

	for (; lines && *lines; lines += n + (lines[n] == '\n')) {
		n = strcspn(lines, "\n");
		memcpy(l->text + l->len, lines, n);
		l->len += n;
		l->text[l->len++] = '\0';
	}
}

static void take_keys(struct raw *r)
{
	size_t at = strlen(r->keys), i;

	for (i = 0; i < r->data_len && at < sizeof(r->keys) - 1; i++)
		r->keys[at++] = r->data[i] ? (char)r->data[i] : '\n';
	r->keys[at] = '\0';
}

const char *raw_key(struct raw *r, const char *key)
{
	static char value[8192];
	const char *p = r->keys, *found = NULL;
	size_t n = strlen(key);

	while (p && *p) {
		if (!strncmp(p, key, n) && p[n] == '=')
			found = p + n + 1;
		p = strchr(p, '\n');
		p = p ? p + 1 : NULL;
	}
	if (!found)
		return "";
	snprintf(value, sizeof(value), "%.*s", (int)strcspn(found, "\n"),
		 found);
	return value;
}

/* One request and its whole answer; 0 or -1 with r->login_status set. */
static int turn(struct login *l, unsigned csg, int nsg)
{
	struct raw *r = l->r;
	union bhs b = { .login_request = {
		.opcode = OP_LOGIN_REQUEST | OPCODE_IMMEDIATE,
		.itt = be32_of(l->itt),
		.cmd_sn = be32_of(r->cmd_sn),
	} };
	bool more;

	b.login_request.flags = (uint8_t)(csg << LOGIN_CSG_SHIFT);
	if (nsg >= 0)
		b.login_request.flags |= (uint8_t)(LOGIN_TRANSIT | nsg);
	memcpy(b.login_request.isid, l->isid, 6);
	do {
		b.login_request.exp_stat_sn = be32_of(r->exp_stat_sn);
		raw_send(r, &b, l->text, l->len);
		l->len = 0;
		if (raw_recv(r, DEADLINE_MS) != OP_LOGIN_RESPONSE)
			return -1;
		take_keys(r);
		r->login_status = be16_get(r->bhs.login_response.status);
		more = r->bhs.login_response.flags & LOGIN_CONTINUE;
	} while (more && !r->login_status);
	r->tsih = be16_get(r->bhs.login_response.tsih);
	return r->login_status ? -1 : 0;
}

static size_t from_hex(const char *text, uint8_t *out, size_t size)
{
	size_t n = 0;
	unsigned byte;

	if (strncmp(text, "0x", 2) && strncmp(text, "0X", 2))
		return 0;
	for (text += 2; n < size && sscanf(text, "%2x", &byte) == 1; text += 2)
		out[n++] = (uint8_t)byte;
	return n;
}

static int chap_response(struct login *l, char *hex, size_t size)
{
	const EVP_MD *md[9] = { [5] = EVP_md5(), [6] = EVP_sha1(),
				[7] = EVP_sha256(), [8] = EVP_sha3_256() };
	int a = l->o->algorithm ? l->o->algorithm : 5;
	uint8_t in[2048], out[EVP_MAX_MD_SIZE];
	size_t n = 0, k = strlen(l->o->secret);
	unsigned len = 0, i;

	in[n++] = (uint8_t)atoi(raw_key(l->r, "CHAP_I"));
	memcpy(in + n, l->o->secret, k);
	n += k;
	k = from_hex(raw_key(l->r, "CHAP_C"), in + n, sizeof(in) - n);
	if (k == 0 || !EVP_Digest(in, n + k, out, &len, md[a], NULL))
		return -1;
	k = (size_t)snprintf(hex, size, "0x");
	for (i = 0; i < len; i++)
		k += (size_t)snprintf(hex + k, size - k, "%02x", out[i]);
	return 0;
}

static void add_names(struct login *l)
{
	add(l, "InitiatorName", l->o->initiator ? l->o->initiator : HOST);
	add(l, "SessionType", l->o->target ? "Normal" : "Discovery");
	if (l->o->target)
		add(l, "TargetName", l->o->target);
}

static int authenticate(struct login *l)
{
	char text[256];

	add_names(l);
	add(l, "AuthMethod", "CHAP");
	if (turn(l, STAGE_SECURITY, -1))
		return -1;
	snprintf(text, sizeof(text), "%d",
		 l->o->algorithm ? l->o->algorithm : 5);
	add(l, "CHAP_A", text);
	if (turn(l, STAGE_SECURITY, -1) || chap_response(l, text, sizeof(text)))
		return -1;
	add(l, "CHAP_N", l->o->user);
	add(l, "CHAP_R", text);
	if (l->o->challenge) {
		add(l, "CHAP_I", "42");
		add(l, "CHAP_C", l->o->challenge[0] ? l->o->challenge :
						      raw_key(l->r, "CHAP_C"));
	}
	return turn(l, STAGE_SECURITY, STAGE_OPERATIONAL);
}

static int negotiate(struct login *l)
{
	const struct raw_options *o = l->o;
	int n;

	add(l, "HeaderDigest", o->header_digest ? "CRC32C" : "None");
	add(l, "DataDigest", o->data_digest ? "CRC32C" : "None");
	add_lines(l, o->keys);
	for (n = 0; n < 10; n++) {
		if (turn(l, STAGE_OPERATIONAL, STAGE_FULL_FEATURE))
			return -1;
		if (l->r->bhs.login_response.flags & LOGIN_TRANSIT)
			return 0;
	}
	return -1;
}

struct raw *raw_login(struct daemon *d, const struct raw_options *o)
{
	static uint32_t next_isid = 1;
	struct login *l = calloc(1, sizeof(*l));
	uint32_t isid = o->isid ? o->isid : next_isid++;
	struct raw *r = l ? raw_connect(d, o) : NULL;

	if (!r) {
		free(l);
		return NULL;
	}
	l->r = r;
	l->o = o;
	l->itt = r->itt++;
	memcpy(l->isid, (uint8_t[6]){ 0x80, 0x12, (uint8_t)(isid >> 16),
		(uint8_t)(isid >> 8), (uint8_t)isid, 0 }, 6);
	if (o->user) {
		if (authenticate(l))
			goto end;
	} else {
		add_names(l);
	}
	if (negotiate(l) && r->login_status == 0)
		r->login_status = -1;
	r->header_digest = !strcmp(raw_key(r, "HeaderDigest"), "CRC32C");
	r->data_digest = !strcmp(raw_key(r, "DataDigest"), "CRC32C");
end:
	free(l);
	return r;
}

int raw_try(struct daemon *d, const struct raw_options *o)
{
	struct raw *r = raw_login(d, o);
	int status = r ? r->login_status : -1;

	raw_close(r);
	return status;
}
