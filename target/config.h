/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TARGET_CONFIG_H
#define TARGET_CONFIG_H

/*
 * The configuration.  The JSON document is the model: verbs of the control
 * socket edit a copy of it and give it to config_commit(), which reads it into
 * the typed struct conf, prepares, saves, and applies the difference.  Main
 * thread; a struct conf is never changed once it was read.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "scsi/scsi.h"
#include "target/addr.h"
#include "target/state.h"
#include "target/tgt.h"

#define CONF_VOLUME_NAME_MAX 65

struct conf_volume {
	char		 name[CONF_VOLUME_NAME_MAX];
	const char	*path;
	uint64_t	 size;		/* 0: as the file or device says */
	bool		 thick, direct, read_only, write_back;
	uint32_t	 block_size, physical_block_size;
	char		 naa_text[33];	/* "": as recorded */
	uint8_t		 naa[16], naa_len;
	char		 serial[33], vendor[9], product[17];
	bool		 off[PRIMITIVES];	/* switched off */
	uint32_t	 threshold;
	struct identity	 id;		/* config_prepare.c: as recorded */
};

struct conf_mapping {
	uint16_t	 lun;
	const char	*volume;
	const char	*initiator;	/* NULL: everybody */
	bool		 read_only;
};

struct conf_rule {
	const char	*initiator;
	const char	*address;	/* NULL: from everywhere */
	struct cidr	 cidr;
};

struct conf_user {
	const char	*user, *initiator;	/* initiator NULL: everybody */
	const char	*secret_file;
	const char	*mutual_user, *mutual_secret_file;	/* both or none */
	uint8_t		 secret[CHAP_SECRET_MAX];
	uint8_t		 mutual_secret[CHAP_SECRET_MAX];
	uint16_t	 secret_len, mutual_len;
};

struct conf_target {
	char		 iqn[ISCSI_NAME_MAX];
	const char	*alias;
	bool		 disabled;
	const char	*redirect;	/* logins go there, addr.h; NULL: no */
	bool		 redirect_permanent;
	struct conf_mapping *luns;	/* those of one LUN adjoin */
	struct conf_rule *rules;
	struct conf_user *users;	/* lib/secret.h */
	unsigned	 nluns, nrules, nusers;
};

struct conf_portal {
	char		 text[ADDR_TEXT];	/* as written */
	struct sockaddr_storage addr;
	uint32_t	 group;
	bool		 hidden;	/* not announced */
};

struct conf_group {		/* a portal group that is not as usual */
	uint16_t	 tag;
	enum alua_state	 state;
};

/* Strings belong to doc. */
struct conf {
	json_t		*doc;
	const char	*user;		/* at the start alone: user.h */
	struct conf_group *groups;
	unsigned	 ngroups;
	struct conf_volume *volumes;
	struct conf_target *targets;
	struct conf_portal *portals;
	struct conf_user *discovery;
	unsigned	 nvolumes, ntargets, nportals, ndiscovery;
};

/* Faults of a document, each with its JSON path. */
#define FAULTS_MAX 200
#define FAULT_TEXT 512

struct faults {
	char		*text[FAULTS_MAX];
	unsigned	 n;
};

void faults_free(struct faults *f);

/*
 * Reads a document (a reference is taken); dir: where relative secret files
 * start.  The portals of override, where it is not NULL, stand for those of
 * the document.  NULL when anything is wrong: faults tells what.
 */
struct conf *conf_read(json_t *doc, const json_t *override, const char *dir,
		       struct faults *faults);
void conf_free(struct conf *c);		/* NULL allowed */

const struct conf_volume *conf_find_volume(const struct conf *c,
					   const char *name);
/* The words of lu_set_ports()'s states: 0 or -EINVAL; and back. */
int alua_state_of(const char *word, enum alua_state *ret);
const char *alua_state_word(enum alua_state state);
enum alua_state conf_group_state(const struct conf *c, uint16_t tag);
const struct conf_target *conf_find_target(const struct conf *c,
					   const char *iqn);
/* Has t a LUN that is this volume, for whomever? */
bool conf_maps(const struct conf_target *t, const char *volume);

/* NULL when fine, else what is wrong with the name. */
const char *check_iscsi_name(const char *name);
const char *check_volume_name(const char *name);
/* Does name match a pattern of '*' and '?'?  Case does not count. */
bool pattern_match(const char *pattern, const char *name);

/* ---- the running configuration ------------------------------------------ */

struct config_options {
	const char	*file;		/* absolute */
	bool		 may_be_absent;	/* the default one */
	const char	*state_dir;
	json_t		*portals;	/* --portal; NULL: the document's */
};

/* One line for people. */
struct config_error {
	char text[FAULT_TEXT];
};

/* Reads a file into a document: NULL with the line of a syntax error. */
json_t *config_parse_file(const char *file, struct config_error *err);
/* Every fault of a document as the daemon would see it. */
void config_check(json_t *doc, const char *file, struct faults *faults);
/* --check: the faults of a file; a file that cannot be read is one. */
void config_check_file(const struct config_options *o, struct faults *faults);

/* Reads the file and applies it; 0 or -1 with err. */
int config_start(const struct config_options *o, struct config_error *err);
/* The same once more: SIGHUP. */
int config_reload(struct config_error *err);
/* Writes the document to file (NULL: its own). */
int config_save(const char *file, struct config_error *err);
/* Lets go of everything at the end, after vols_close(). */
void config_stop(void);

/*
 * Replaces the document.  A reference is taken.  All or nothing: it is checked,
 * prepared (identities recorded, portals bound), saved, then applied.  0, or -1
 * with err and nothing changed.
 */
int config_commit(json_t *doc, bool save, struct config_error *err);

/* Only reads it: NULL with the first fault. */
struct conf *config_read(json_t *doc, struct config_error *err);
/* config_commit() with other portals in place of those of --portal. */
int config_commit_portals(json_t *doc, json_t *portals,
			  struct config_error *err);
const json_t *config_override(void);	/* --portal; NULL: not given */

const json_t *config_doc(void);
const struct conf *config_now(void);	/* main thread */
json_t *config_copy(void);	/* a deep copy of the document, to be edited */
const char *config_file(void);
const char *config_state_dir(void);

#endif
