/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Mappings of volumes into targets. */

#include "target/ctl_int.h"

#include <stdio.h>
#include <string.h>

json_t *lun_json(const struct conf_target *t, const struct conf_mapping *m)
{
	return json_pack("{s:s, s:i, s:s, s:o, s:b}", "target", t->iqn,
			 "lun", m->lun, "volume", m->volume,
			 "initiator", text_or_null(m->initiator),
			 "read-only", m->read_only);
}

static bool lun_used(const struct conf_target *t, int64_t lun)
{
	unsigned i;

	for (i = 0; i < t->nluns; i++)
		if (t->luns[i].lun == lun)
			return true;
	return false;
}

static int64_t lowest_free(const struct conf_target *t)
{
	int64_t lun = 0;

	while (lun_used(t, lun))
		lun++;
	return lun;
}

static json_t *mapping_doc(struct ctl_call *c)
{
	const char *initiator = ctl_str(c, "initiator");
	json_t *m;

	if (!initiator && !ctl_bool(c, "read-only"))
		return json_string(ctl_str(c, "volume"));
	m = json_pack("{s:s}", "volume", ctl_str(c, "volume"));
	if (initiator)
		json_object_set_new(m, "initiator", json_string(initiator));
	if (ctl_bool(c, "read-only"))
		json_object_set_new(m, "read-only", json_true());
	return m;
}

static const struct conf_mapping *find_mapping(const struct conf_target *t,
					       int64_t lun,
					       const char *initiator)
{
	const struct conf_mapping *m;
	unsigned i;

	for (i = 0; t && i < t->nluns; i++) {
		m = &t->luns[i];
		if (m->lun == lun && !m->initiator == !initiator &&
		    (!initiator || !strcmp(m->initiator, initiator)))
			return m;
	}
	return NULL;
}

/* May a mapping be added to a LUN that is there?  Only for named initiators,
 * and before the mapping that is for everybody. */
static bool may_add(struct ctl_call *c, const struct conf_target *t,
		    int64_t lun)
{
	const char *initiator = ctl_str(c, "initiator");

	if (!lun_used(t, lun))
		return true;
	if (!initiator) {
		ctl_fail(c, "LUN %d of %s is in use", (int)lun, t->iqn);
		return false;
	}
	if (find_mapping(t, lun, initiator)) {
		ctl_fail(c, "LUN %d of %s is in use for %.223s", (int)lun,
			 t->iqn, initiator);
		return false;
	}
	return true;
}

static void add_mapping(json_t *luns, const char *key, json_t *mapping)
{
	json_t *list;
	size_t n;

	if (!json_object_get(luns, key)) {
		if (json_is_string(mapping)) {
			json_object_set_new(luns, key, mapping);
			return;
		}
		json_object_set_new(luns, key, json_array());
	}
	list = doc_list(luns, key);
	n = json_array_size(list);
	/* the first that fits counts: one for everybody stays the last */
	if (n && !json_object_get(json_array_get(list, n - 1), "initiator"))
		n--;
	json_array_insert_new(list, n, mapping);
}

void ctl_lun_add(struct ctl_call *c)
{
	const struct conf_target *t = ctl_target(c);
	const char *initiator = ctl_str(c, "initiator");
	char iqn[ISCSI_NAME_MAX], key[16];
	json_t *doc;
	int64_t lun;

	if (!t || !ctl_volume(c, "volume"))
		return;
	memcpy(iqn, t->iqn, sizeof(iqn));
	lun = ctl_int(c, "lun", -1);
	if (!ctl_has(c, "lun"))
		lun = lowest_free(t);
	if (lun < 0 || lun > LUN_MAX) {
		ctl_fail(c, "a LUN is 0 to %d", LUN_MAX);
		return;
	}
	if (!may_add(c, t, lun))
		return;
	snprintf(key, sizeof(key), "%d", (int)lun);
	doc = config_copy();
	add_mapping(doc_object(doc_target(doc, iqn), "luns"), key,
		    mapping_doc(c));
	if (!ctl_commit(c, doc))
		return;
	t = conf_find_target(config_now(), iqn);
	ctl_ok(c, lun_json(t, find_mapping(t, lun, initiator)));
}

/* Takes one initiator's mapping out of a LUN's list. */
static bool remove_one(json_t *luns, const char *key, const char *initiator)
{
	json_t *list = doc_list(luns, key), *m;
	const char *s;
	size_t i;

	json_array_foreach(list, i, m) {
		s = json_string_value(json_object_get(m, "initiator"));
		if (!s || strcmp(s, initiator))
			continue;
		json_array_remove(list, i);
		if (!json_array_size(list))
			json_object_del(luns, key);
		return true;
	}
	return false;
}

void ctl_lun_remove(struct ctl_call *c)
{
	const struct conf_target *t = ctl_target(c);
	const char *initiator = ctl_str(c, "initiator");
	int64_t lun = ctl_int(c, "lun", 0);
	json_t *doc, *luns;
	char key[32];

	if (!t)
		return;
	if (!lun_used(t, lun)) {
		ctl_fail(c, "%s has no LUN %lld", t->iqn, (long long)lun);
		return;
	}
	snprintf(key, sizeof(key), "%lld", (long long)lun);
	doc = config_copy();
	luns = doc_object(doc_target(doc, t->iqn), "luns");
	if (!initiator) {
		json_object_del(luns, key);
	} else if (!remove_one(luns, key, initiator)) {
		json_decref(doc);
		ctl_fail(c, "LUN %s of %s has no mapping for %.223s", key,
			 t->iqn, initiator);
		return;
	}
	if (ctl_commit(c, doc))
		ctl_ok(c, json_true());
}

static void add_luns(json_t *list, const struct conf_target *t)
{
	unsigned i;

	for (i = 0; i < t->nluns; i++)
		json_array_append_new(list, lun_json(t, &t->luns[i]));
}

void ctl_lun_list(struct ctl_call *c)
{
	ctl_list_targets(c, add_luns);
}
