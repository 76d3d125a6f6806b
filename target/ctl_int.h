/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TARGET_CTL_INT_H
#define TARGET_CTL_INT_H

/* What the handlers of the control socket share: editing the document. */

#include "target/config.h"
#include "target/control_int.h"
#include "target/volumes.h"

/* The target or volume that a parameter names; NULL after refusing the call. */
const struct conf_target *ctl_target(struct ctl_call *c);
const struct conf_volume *ctl_volume(struct ctl_call *c, const char *param);

/* Answers with what add() puts for the target that the call names, or for each
 * when it names none. */
void ctl_list_targets(struct ctl_call *c,
		      void (*add)(json_t *list, const struct conf_target *t));

/* A member of an object of the document, made where it is absent. */
json_t *doc_object(json_t *parent, const char *key);
json_t *doc_target(json_t *doc, const char *iqn);
json_t *doc_volume(json_t *doc, const char *name);
/* A member that may be one thing or a list, made a list. */
json_t *doc_list(json_t *parent, const char *key);

/* Commits and saves doc, whose reference is taken over.  False: the call was
 * refused. */
bool ctl_commit(struct ctl_call *c, json_t *doc);
/* Refuses a call with all faults; frees them. */
void ctl_fail_faults(struct ctl_call *c, struct faults *faults);
/* true, false, or what people write for them; -EINVAL. */
int ctl_switch(const json_t *v, bool *ret);

json_t *target_json(const struct conf_target *t);	/* as in target.list */
json_t *lun_json(const struct conf_target *t, const struct conf_mapping *m);
json_t *rule_json(const struct conf_target *t, const struct conf_rule *r);
json_t *user_json(const char *iqn, const struct conf_user *u);
json_t *sessions_json(const char *iqn);		/* NULL: all */
json_t *size_json(uint64_t bytes);	/* "64M", or a number */
json_t *text_or_null(const char *s);
/* What a peer called itself: bytes that are no UTF-8 as '?'. */
json_t *peer_text(const char *s);

/* Volumes as objects, allocated space included: it is fetched, then the call is
 * answered, with the first alone when one is true. */
void ctl_volumes(struct ctl_call *c, json_t *names, bool one);

#endif
