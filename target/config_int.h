/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TARGET_CONFIG_INT_H
#define TARGET_CONFIG_INT_H

/*
 * Reading a JSON document into structs by tables of keys.  The reader knows
 * where in the document it is, so that every fault names its path, and it goes
 * on after one, so that all are told.
 */

#include "target/config.h"

struct reader {
	struct conf	*conf;
	struct faults	*faults;
	const char	*dir;		/* of relative secret files */
	size_t		 len;		/* of path */
	char		 path[FAULT_TEXT];
};

enum key_kind {
	KEY_STRING,	/* const char *; min..max bytes */
	KEY_TEXT,	/* char[max + 1]: printable ASCII */
	KEY_BOOL,
	KEY_U32,	/* min..max */
	KEY_SIZE,	/* uint64_t; a number of bytes or text with a unit */
	KEY_WORD,	/* bool: words[0] is false, words[1] true */
	KEY_CUSTOM,
	KEY_IGNORED,
};

struct key {
	const char	*name;
	enum key_kind	 kind;
	size_t		 offset;
	uint32_t	 min, max;
	const char	*words[2];
	void		(*read)(struct reader *r, const json_t *v, void *obj);
	bool		 required;
};

/* For rows of struct key. */
#define FIELD(type, member) .offset = offsetof(struct type, member)
#define RANGE(lo, hi) .min = (lo), .max = (hi)

void read_fault(struct reader *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Goes to a member or an entry; read_leave() takes what they return. */
size_t read_enter(struct reader *r, const char *key);
size_t read_enter_index(struct reader *r, size_t i);
void read_leave(struct reader *r, size_t len);
static inline bool is_comment(const char *key)
{
	return key[0] == '#';
}

/* keys end with a row without a name.  False: v is not an object. */
bool read_object(struct reader *r, const json_t *v, const struct key *keys,
		 void *obj);

/* A zeroed array of n entries of size bytes in *ret; NULL for n 0. */
void *read_array(struct reader *r, size_t n, size_t size);
/* Members of an object that are no comments. */
size_t count_members(const json_t *object);

/* config_target.c */
void read_targets(struct reader *r, const json_t *v, void *obj);
void read_discovery(struct reader *r, const json_t *v, void *obj);
/* config_portal.c */
void read_portals(struct reader *r, const json_t *v, void *obj);
void read_groups(struct reader *r, const json_t *v, void *obj);
/* config_check.c: what cannot be seen from one place. */
void check_conf(struct reader *r);

/* config_prepare.c; each -errno with err. */
int conf_check_change(const struct conf *old, const struct conf *now,
		      struct config_error *err);
/* Compares with the record alone; -ENOENT: there is none, err is not set. */
int conf_check_identity(struct conf_volume *v, struct config_error *err);
int conf_identify(struct conf *now, struct config_error *err);
int conf_give_ports(const struct conf *now, struct config_error *err);

#endif
