/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SCSI_PR_H
#define SCSI_PR_H

/*
 * Persistent reservations (SPC-4): who is registered with a logical unit, who
 * holds it, and how that changes.
 *
 * A table is never changed once it was published.  A PERSISTENT RESERVE OUT
 * waits for its turn, changes a copy, has it stored where APTPL asks for that,
 * and publishes it: what fails on the way has changed nothing.  The pointer to
 * the table is read under the unit's mutex, or by whoever has the turn.
 */

#include "scsi/scsi_int.h"

enum pr_type {
	PR_NONE		= 0,
	PR_WE		= 1,	/* Write Exclusive */
	PR_EA		= 3,	/* Exclusive Access */
	PR_WE_RO	= 5,	/* - Registrants Only */
	PR_EA_RO	= 6,
	PR_WE_AR	= 7,	/* - All Registrants */
	PR_EA_AR	= 8,
};

enum pr_in_action { PR_READ_KEYS, PR_READ_RESERVATION, PR_REPORT_CAPABILITIES,
		    PR_READ_FULL_STATUS };
enum pr_out_action { PR_REGISTER, PR_RESERVE, PR_RELEASE, PR_CLEAR,
		     PR_PREEMPT, PR_PREEMPT_ABORT, PR_REGISTER_IGNORE,
		     PR_REGISTER_MOVE };

#define PR_PARAM_LEN	24u	/* without TransportIDs */

/* One I_T nexus; with all_ports one initiator port at every target port. */
struct pr_registrant {
	uint64_t	 key;
	char		 initiator[ISCSI_NAME_MAX];
	/* Empty: REGISTER AND MOVE named the port, and rtpi alone is known. */
	char		 target[ISCSI_NAME_MAX];
	uint8_t		 isid[6];
	uint16_t	 tpgt, rtpi;
	bool		 all_ports;
	bool		 holder;	/* of a type other than all registrants */
	/* Marks of a change, until it is published. */
	bool		 gone;
	enum unit_attention ua;		/* UNIT_ATTENTIONS: none */
};

struct pr_table {
	enum pr_type	 type;
	bool		 aptpl;		/* kept through power loss */
	uint32_t	 generation;
	unsigned	 n, room;
	struct pr_registrant r[];
};

/* What a PERSISTENT RESERVE OUT asks for. */
struct pr_request {
	enum pr_out_action sa;
	uint8_t		 scope, type;
	uint64_t	 key, sa_key;
	bool		 spec_i_pt, all_ports, aptpl, unreg;
	uint16_t	 rtpi;
	struct cur	 ids;		/* TransportIDs, in cmd->data */
};

struct pr_id {
	char		 initiator[ISCSI_NAME_MAX];
	bool		 any_isid;	/* the name alone was given */
	uint8_t		 isid[6];
};

/* pr.c.  With the mutex or the turn. */
const struct pr_table *pr_now(const struct lu *lu);
bool pr_all_registrants(enum pr_type type);
bool pr_is(const struct pr_registrant *r, const struct nexus_config *n);
/* Among those that are not gone. */
struct pr_registrant *pr_find(struct pr_table *t, const struct nexus_config *n);
bool pr_holds(const struct pr_table *t, const struct pr_registrant *r);
/* A copy with room for more; NULL: no memory. */
struct pr_table *pr_copy(const struct pr_table *t, unsigned more);
/* NULL: too many. */
struct pr_registrant *pr_add(struct pr_table *t, const struct nexus_config *n,
			     uint64_t key);
unsigned pr_count(const struct pr_table *t);	/* not gone */
/* Posts the unit attentions that next is marked with and puts it in force; the
 * registrants that are gone remain behind its first n. */
void pr_publish(struct lu *lu, struct pr_table *next);

/* pr_act.c: changes next as q asks; *ret_changed stays false when there is
 * nothing to do. */
enum scsi_result pr_act(struct scsi_cmd *cmd, const struct pr_request *q,
			struct pr_table *next, bool *ret_changed);

/* pr_parse.c */
enum scsi_result pr_parse(struct scsi_cmd *cmd, struct pr_request *q);

/* pr_id.c */
void pr_id_put(struct out *o, const struct pr_registrant *r);
/* The next TransportID of a list in cmd->data. */
enum scsi_result pr_id_take(struct scsi_cmd *cmd, struct cur *c,
			    struct pr_id *ret);

/* pr_file.c.  The image of a table, malloc()ed; *ret_len 0 and NULL: there is
 * nothing to keep.  -ENOMEM. */
int pr_image(const struct lu *lu, const struct pr_table *t, void **ret,
	     size_t *ret_len);

#endif
