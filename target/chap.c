/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * CHAP, one way: see chap.h.  The hashes and the random numbers are OpenSSL's.
 * Called by login_auth.c.
 */

#include "target/chap.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <string.h>

#include "lib/util.h"

struct algorithm {
	uint8_t		number, len;
	const EVP_MD	*(*md)(void);
};

/* The strongest first. */
static const struct algorithm algorithms[] = {
	{ CHAP_SHA3_256, 32, EVP_sha3_256 },
	{ CHAP_SHA256, 32, EVP_sha256 },
	{ CHAP_SHA1, 20, EVP_sha1 },
	{ CHAP_MD5, 16, EVP_md5 },
};

static bool offered(const char *list, uint8_t number)
{
	for (;; list++) {
		size_t n = strcspn(list, ",");
		uint32_t x;

		if (text_number(list, n, &x) && x == number)
			return true;
		list += n;
		if (!*list)
			return false;
	}
}

static const struct algorithm *algorithm_of(uint8_t number)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(algorithms); i++)
		if (algorithms[i].number == number)
			return &algorithms[i];
	return NULL;
}

int chap_start(struct chap *c, const char *list)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(algorithms); i++)
		if (offered(list, algorithms[i].number))
			break;
	if (i == ARRAY_SIZE(algorithms))
		return -ENOENT;
	*c = (struct chap){
		.algorithm	= algorithms[i].number,
		.len		= algorithms[i].len,
	};
	if (RAND_bytes(&c->id, 1) != 1 || RAND_bytes(c->challenge, c->len) != 1)
		return -EIO;
	return 0;
}

void chap_offer(const struct chap *c, struct text *reply)
{
	static const char digits[] = "0123456789abcdef";
	char hex[2 + 2 * CHAP_DIGEST_MAX + 1] = "0x";
	size_t i;

	for (i = 0; i < c->len; i++) {
		hex[2 + 2 * i] = digits[c->challenge[i] >> 4];
		hex[3 + 2 * i] = digits[c->challenge[i] & 15];
	}
	text_put_number(reply, "CHAP_A", c->algorithm);
	text_put_number(reply, "CHAP_I", c->id);
	text_put(reply, "CHAP_C", hex);
}

int chap_digest(const struct chap *c, const uint8_t *secret, size_t len,
		uint8_t *ret_digest)
{
	const struct algorithm *a = algorithm_of(c->algorithm);
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	int r = -EIO;

	if (ctx && a && EVP_DigestInit_ex(ctx, a->md(), NULL) &&
	    EVP_DigestUpdate(ctx, &c->id, 1) &&
	    EVP_DigestUpdate(ctx, secret, len) &&
	    EVP_DigestUpdate(ctx, c->challenge, c->len) &&
	    EVP_DigestFinal_ex(ctx, ret_digest, NULL))
		r = a->len;
	EVP_MD_CTX_free(ctx);
	return r;
}

static int hex_digit(char ch)
{
	if (ch >= '0' && ch <= '9')
		return ch - '0';
	if (ch >= 'a' && ch <= 'f')
		return ch - 'a' + 10;
	if (ch >= 'A' && ch <= 'F')
		return ch - 'A' + 10;
	return -1;
}

static int decode_hex(const char *s, uint8_t *buf, size_t room)
{
	size_t n = strlen(s), i;
	size_t at = n & 1;	/* odd: a leading 0 is left out */

	if (!n || (n + 1) / 2 > room)
		return -EINVAL;
	memset(buf, 0, (n + 1) / 2);
	for (i = 0; i < n; i++, at++) {
		int d = hex_digit(s[i]);

		if (d < 0)
			return -EINVAL;
		buf[at / 2] = (uint8_t)(buf[at / 2] << 4 | d);
	}
	return (int)((n + 1) / 2);
}

static int base64_digit(char ch)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"abcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = ch ? strchr(digits, ch) : NULL;

	return at ? (int)(at - digits) : -1;
}

static int decode_base64(const char *s, uint8_t *buf, size_t room)
{
	size_t n = strcspn(s, "="), pad = strlen(s) - n, i, len = 0;
	uint32_t bits = 0;

	/* padding may be absent, but is right when there */
	if (!n || n % 4 == 1 || strspn(s + n, "=") != pad ||
	    (pad && (pad > 2 || (n + pad) % 4)))
		return -EINVAL;
	for (i = 0; i < n; i++) {
		int d = base64_digit(s[i]);

		if (d < 0)
			return -EINVAL;
		bits = bits << 6 | (uint32_t)d;
		if (i % 4 == 0)
			continue;
		if (len == room)
			return -EINVAL;
		buf[len++] = (uint8_t)(bits >> (6 - 2 * (i % 4)));
	}
	return (int)len;
}

int chap_decode(const char *text, uint8_t *buf, size_t room)
{
	if (text[0] != '0')
		return -EINVAL;
	switch (text[1]) {
	case 'x':
	case 'X':
		return decode_hex(text + 2, buf, room);
	case 'b':
	case 'B':
		return decode_base64(text + 2, buf, room);
	default:
		return -EINVAL;
	}
}

static bool name_matches(const struct chap_user *user, const char *name)
{
	uint8_t raw[CHAP_NAME_MAX];
	int n;

	if (!strcmp(user->name, name))
		return true;
	n = chap_decode(name, raw, sizeof(raw));
	return n > 0 && (size_t)n == strlen(user->name) &&
	       !memcmp(raw, user->name, (size_t)n);
}

static bool secret_matches(const struct chap *c, const uint8_t *secret,
			   size_t len, const uint8_t *answer)
{
	uint8_t digest[EVP_MAX_MD_SIZE];
	bool same;

	if (chap_digest(c, secret, len, digest) != c->len)
		return false;
	same = !CRYPTO_memcmp(digest, answer, c->len);
	OPENSSL_cleanse(digest, sizeof(digest));
	return same;
}

bool chap_verify(const struct chap *c, const struct chap_user *users, int n,
		 const char *name, const char *response)
{
	uint8_t answer[CHAP_DIGEST_MAX];
	bool known = false, ok = false;
	int i;

	if (chap_decode(response, answer, sizeof(answer)) != c->len)
		return false;
	for (i = 0; i < n; i++) {
		if (!name_matches(&users[i], name))
			continue;
		known = true;
		ok |= secret_matches(c, users[i].secret, users[i].secret_len,
				     answer);
	}
	if (!known)
		secret_matches(c, (const uint8_t *)"", 0, answer);
	return ok;
}
