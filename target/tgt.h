/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TARGET_TGT_H
#define TARGET_TGT_H

/*
 * The configured world as logins and discovery see it: targets, who may use
 * them, secrets, portals.  The main thread changes it (config.c); any thread
 * may ask the functions below, each of which takes the configuration's lock for
 * a moment.  Answers are copies.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "lib/limits.h"

struct lu;
struct session;

enum tgt_verdict {
	TGT_OK,
	TGT_NOT_FOUND,		/* login status 0203h */
	TGT_NOT_ALLOWED,	/* 0202h: no rule lets this initiator in */
	TGT_UNAVAILABLE,	/* 0301h: disabled or being changed */
};

/* What a login is checked against.  Pointers are the caller's. */
struct tgt_peer {
	const char		*initiator;	/* iSCSI name */
	const struct sockaddr	*remote, *local;
	uint16_t		 group;		/* portal group it came in by */
};

enum tgt_verdict tgt_check(const char *iqn, const struct tgt_peer *peer);

#define CHAP_NAME_MAX	512
#define CHAP_SECRET_MAX	256
#define CHAP_SECRET_MIN	12	/* RFC 7143 9.2.1; we cannot see IPsec */
#define CHAP_USERS_MAX	16

struct chap_user {
	char	 name[CHAP_NAME_MAX];
	uint8_t	 secret[CHAP_SECRET_MAX];
	uint16_t secret_len;
	/* what the target says of itself when it is asked to; length 0: it
	 * must not be asked */
	char	 mutual_name[CHAP_NAME_MAX];
	uint8_t	 mutual_secret[CHAP_SECRET_MAX];
	uint16_t mutual_len;
};

/*
 * The users of a target, or of discovery (iqn NULL), that this initiator may
 * authenticate as: how many (at most CHAP_USERS_MAX) are in users; 0: no
 * authentication is asked for.  -ENOENT: there are users, but none for this
 * initiator: the login fails.
 */
int tgt_chap_users(const char *iqn, const char *initiator,
		   struct chap_user *users);

/* The alias of a target into buf (at least ALIAS_TEXT bytes); false: none. */
#define ALIAS_TEXT 256
bool tgt_alias(const char *iqn, char *buf);

/* Where logins to a target shall go instead, for TargetAddress, into buf
 * (ADDR_TEXT bytes); false: nowhere. */
bool tgt_redirect(const char *iqn, char *buf, bool *ret_permanent);

/*
 * A session of a target begins, on its worker, before its first command: access
 * is checked once more, the LUNs that it may see are mapped into its nexus, and
 * later changes of the map reach it.  TGT_OK, or why not.
 */
enum tgt_verdict tgt_session_begin(struct session *s);
/* On its worker.  After it no call from the configuration comes. */
void tgt_session_end(struct session *s);
/* On its worker, when the configuration asked for it: makes the nexus's map
 * what it should be now, or ends the session if it may be there no more. */
void tgt_session_refresh(struct session *s);
/*
 * Third-party copy: nexus_config.find_lu of a session's nexus (arg: the
 * session), on its worker.  The logical unit with that NAA designator among
 * those of the session and those of other targets whose rules this session
 * would pass now; referenced, or NULL.
 */
struct lu *tgt_find_lu(void *session, const uint8_t *designator, size_t len,
		       bool *ret_read_only);
/* The relative target port identifier of a target in a portal group: given
 * once, recorded in the state folder, never reused. */
uint16_t tgt_rtpi(const char *iqn, uint16_t group);

/* Discovery: emit(arg, iqn) for each target that this peer may use. */
void tgt_discover(const struct tgt_peer *peer,
		  void (*emit)(void *arg, const char *iqn), void *arg);
/* emit(arg, "192.0.2.1:3260", group) for each portal to announce to this peer:
 * a wildcard portal as the address that the peer reached, IPv6 in brackets,
 * only addresses of the family the peer came by. */
void portal_announce(const struct tgt_peer *peer,
		     void (*emit)(void *arg, const char *address,
				  uint16_t group),
		     void *arg);

/* "1.2.3.4:3260" or "[::1]:3260" into buf (at least ADDR_TEXT bytes). */
#define ADDR_TEXT 64
const char *addr_text(const struct sockaddr *a, char *buf);

#endif
