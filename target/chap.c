/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * CHAP in both directions: see chap.h.  The hashes and the random numbers are
 * OpenSSL's.  Called by login_auth.c.
 */

#include "target/chap.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <string.h>
#include <sys/uio.h>

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

	*c = (struct chap){};
	for (i = ARRAY_SIZE(algorithms); i-- > 0;) {
		if (!offered(list, algorithms[i].number))
			continue;
		c->offered |= CHAP_OFFERED(algorithms[i].number);
		c->algorithm = algorithms[i].number;
		c->len = algorithms[i].len;
	}
	if (!c->offered)
		return -ENOENT;
	if (RAND_bytes(&c->id, 1) != 1 || RAND_bytes(c->challenge, c->len) != 1)
		return -EIO;
	return 0;
}

/* At most CHAP_DIGEST_MAX bytes. */
static void put_hex(struct text *reply, const char *key, const uint8_t *bytes,
		    size_t len)
{
	static const char digits[] = "0123456789abcdef";
	char hex[2 + 2 * CHAP_DIGEST_MAX + 1] = "0x";
	size_t i;

	for (i = 0; i < len; i++) {
		hex[2 + 2 * i] = digits[bytes[i] >> 4];
		hex[3 + 2 * i] = digits[bytes[i] & 15];
	}
	text_put(reply, key, hex);
}

void chap_offer(const struct chap *c, struct text *reply)
{
	text_put_number(reply, "CHAP_A", c->algorithm);
	text_put_number(reply, "CHAP_I", c->id);
	put_hex(reply, "CHAP_C", c->challenge, c->len);
}

/* H(identifier, secret, challenge), RFC 1994 4.1; its length, or -EIO. */
static int digest_of(const struct algorithm *a, uint8_t id,
		     const struct iovec part[2], uint8_t *ret_digest)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	int r = -EIO;

	if (ctx && a && EVP_DigestInit_ex(ctx, a->md(), NULL) &&
	    EVP_DigestUpdate(ctx, &id, 1) &&
	    EVP_DigestUpdate(ctx, part[0].iov_base, part[0].iov_len) &&
	    EVP_DigestUpdate(ctx, part[1].iov_base, part[1].iov_len) &&
	    EVP_DigestFinal_ex(ctx, ret_digest, NULL))
		r = a->len;
	EVP_MD_CTX_free(ctx);
	return r;
}

int chap_digest(const struct chap *c, const uint8_t *secret, size_t len,
		uint8_t *ret_digest)
{
	const struct iovec part[2] = {
		{ (void *)secret, len }, { (void *)c->challenge, c->len },
	};

	return digest_of(algorithm_of(c->algorithm), c->id, part, ret_digest);
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

static bool digest_matches(const struct chap *c, const uint8_t *secret,
			   size_t len, const uint8_t *answer)
{
	uint8_t digest[EVP_MAX_MD_SIZE];
	bool same;
	int n = chap_digest(c, secret, len, digest);

	if (n < 0)
		return false;
	same = !CRYPTO_memcmp(digest, answer, (size_t)n);
	OPENSSL_cleanse(digest, sizeof(digest));
	return same;
}

/* The bytes that a secret of "0x" and hexadecimal digits stands for: how many,
 * or 0 when it is none or they would be too few. */
static size_t decoded_secret(const uint8_t *secret, size_t len, uint8_t *raw)
{
	char text[CHAP_SECRET_MAX + 1];
	int n = 0;

	if (len > 2 && len <= CHAP_SECRET_MAX && !(len & 1) &&
	    !memcmp(secret, "0x", 2) && !memchr(secret, '\0', len)) {
		memcpy(text, secret, len);
		text[len] = '\0';
		n = chap_decode(text, raw, CHAP_SECRET_MAX);
		OPENSSL_cleanse(text, sizeof(text));
	}
	return n < CHAP_SECRET_MIN ? 0 : (size_t)n;
}

static bool secret_matches(const struct chap *c, const uint8_t *secret,
			   size_t len, const uint8_t *answer)
{
	uint8_t raw[CHAP_SECRET_MAX];
	size_t n = decoded_secret(secret, len, raw);
	bool same = digest_matches(c, secret, len, answer);

	if (n)
		same |= digest_matches(c, raw, n, answer);
	OPENSSL_cleanse(raw, sizeof(raw));
	return same;
}

/* The algorithm of an answer of len bytes: the one that was asked for, or
 * another that the initiator offered.  NULL: none. */
static const struct algorithm *answered(const struct chap *c, int len)
{
	const struct algorithm *a = algorithm_of(c->algorithm);
	size_t i;

	for (i = 0; a->len != len && i < ARRAY_SIZE(algorithms); i++)
		if (c->offered & CHAP_OFFERED(algorithms[i].number))
			a = &algorithms[i];
	return a->len == len ? a : NULL;
}

const struct chap_user *chap_verify(const struct chap *c,
				    const struct chap_user *users, int n,
				    const char *name, const char *response)
{
	const struct chap_user *found = NULL;
	uint8_t answer[CHAP_DIGEST_MAX];
	const struct algorithm *a =
		answered(c, chap_decode(response, answer, sizeof(answer)));
	struct chap by = *c;
	bool known = false;
	int i;

	if (!a)
		return NULL;
	by.algorithm = a->number;
	for (i = 0; i < n; i++) {
		if (!name_matches(&users[i], name))
			continue;
		known = true;
		if (secret_matches(&by, users[i].secret, users[i].secret_len,
				   answer))
			found = &users[i];
	}
	if (!known)
		secret_matches(&by, (const uint8_t *)"", 0, answer);
	return found;
}

int chap_answer(const struct chap *c, const struct chap_user *user,
		const char *id, const char *challenge, struct text *reply)
{
	uint8_t theirs[CHAP_CHALLENGE_MAX], raw[CHAP_SECRET_MAX];
	uint8_t digest[EVP_MAX_MD_SIZE];
	struct iovec part[2];
	uint32_t number;
	int n, len;
	size_t nraw;

	n = chap_decode(challenge, theirs, sizeof(theirs));
	if (n <= 0 || !text_number(id, strlen(id), &number) || number > 255)
		return -EINVAL;
	if (n == c->len && !memcmp(theirs, c->challenge, c->len))
		return -EPERM;
	nraw = decoded_secret(user->mutual_secret, user->mutual_len, raw);
	part[0].iov_base = nraw ? raw : (void *)user->mutual_secret;
	part[0].iov_len = nraw ? nraw : user->mutual_len;
	part[1] = (struct iovec){ theirs, (size_t)n };
	len = digest_of(algorithm_of(c->algorithm), (uint8_t)number, part,
			digest);
	OPENSSL_cleanse(raw, sizeof(raw));
	if (len < 0)
		return len;
	text_put(reply, "CHAP_N", user->mutual_name);
	put_hex(reply, "CHAP_R", digest, (size_t)len);
	return 0;
}
