/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Every method of the control socket with its parameters: what is checked
 * before a handler runs, and what daemon.methods tells.
 */

#include "target/control_int.h"

#include <string.h>

#define MUST(name, type) { name, type, true }
#define MAY(name, type) { name, type, false }

static const struct ctl_method methods[] = {
	{ "target.create",
	  { MUST("target", CTL_STRING), MAY("alias", CTL_STRING) },
	  ctl_target_create, "make a target" },
	{ "target.delete",
	  { MUST("target", CTL_STRING), MAY("force", CTL_BOOL) },
	  ctl_target_delete, "remove a target; force ends its sessions" },
	{ "target.list", { { 0 } }, ctl_target_list, "all targets" },
	{ "target.show", { MUST("target", CTL_STRING) },
	  ctl_target_show, "one target with its LUNs, rules and sessions" },
	{ "target.set", { MUST("target", CTL_STRING), MUST("set", CTL_OBJECT) },
	  ctl_target_set, "change keys of a target: alias, enabled, redirect, "
	  "redirect-permanent" },
	{ "target.enable", { MUST("target", CTL_STRING) },
	  ctl_target_enable, "let initiators log in again" },
	{ "target.disable",
	  { MUST("target", CTL_STRING), MAY("force", CTL_BOOL) },
	  ctl_target_disable, "refuse logins; force ends the sessions" },

	{ "volume.create",
	  { MUST("name", CTL_STRING), MAY("path", CTL_STRING),
	    MAY("size", CTL_SIZE), MAY("thick", CTL_BOOL),
	    MAY("block-size", CTL_SIZE), MAY("physical-block-size", CTL_SIZE),
	    MAY("durability", CTL_STRING), MAY("io", CTL_STRING),
	    MAY("read-only", CTL_BOOL), MAY("naa", CTL_STRING),
	    MAY("serial", CTL_STRING), MAY("vendor", CTL_STRING),
	    MAY("product", CTL_STRING) },
	  ctl_volume_create, "make a volume; its file too when absent" },
	{ "volume.delete",
	  { MUST("name", CTL_STRING), MAY("erase", CTL_BOOL),
	    MAY("force", CTL_BOOL) },
	  ctl_volume_delete,
	  "remove a volume; erase its file, force unmaps it first" },
	{ "volume.list", { { 0 } }, ctl_volume_list, "all volumes" },
	{ "volume.show", { MUST("name", CTL_STRING) },
	  ctl_volume_show, "one volume" },
	{ "volume.resize",
	  { MUST("name", CTL_STRING), MAY("size", CTL_SIZE),
	    MAY("force", CTL_BOOL) },
	  ctl_volume_resize, "grow a volume; force allows to shrink it" },
	{ "volume.set",
	  { MUST("name", CTL_STRING), MUST("set", CTL_OBJECT),
	    MAY("force", CTL_BOOL) },
	  ctl_volume_set, "change keys of a live volume" },

	{ "lun.add",
	  { MUST("target", CTL_STRING), MUST("volume", CTL_STRING),
	    MAY("lun", CTL_INT), MAY("initiator", CTL_STRING),
	    MAY("read-only", CTL_BOOL) },
	  ctl_lun_add, "map a volume into a target" },
	{ "lun.remove",
	  { MUST("target", CTL_STRING), MUST("lun", CTL_INT),
	    MAY("initiator", CTL_STRING) },
	  ctl_lun_remove, "take a LUN away" },
	{ "lun.list", { MAY("target", CTL_STRING) }, ctl_lun_list, "all LUNs" },

	{ "acl.allow",
	  { MUST("target", CTL_STRING), MUST("initiator", CTL_STRING),
	    MAY("address", CTL_STRING) },
	  ctl_acl_allow, "let initiators log in" },
	{ "acl.revoke",
	  { MUST("target", CTL_STRING), MUST("initiator", CTL_STRING),
	    MAY("address", CTL_STRING) },
	  ctl_acl_revoke, "take a rule back" },
	{ "acl.list", { MAY("target", CTL_STRING) },
	  ctl_acl_list, "all rules" },
	{ "acl.check",
	  { MUST("target", CTL_STRING), MUST("initiator", CTL_STRING),
	    MAY("address", CTL_STRING) },
	  ctl_acl_check, "what such an initiator would see, and why" },

	{ "chap.set",
	  { MUST("target", CTL_STRING), MUST("user", CTL_STRING),
	    MUST("secret", CTL_STRING), MAY("initiator", CTL_STRING),
	    MAY("mutual", CTL_STRING), MAY("mutual-secret", CTL_STRING) },
	  ctl_chap_set, "ask for authentication (target: or \"discovery\")" },
	{ "chap.clear", { MUST("target", CTL_STRING), MAY("user", CTL_STRING) },
	  ctl_chap_clear, "ask for none any more" },
	{ "chap.list", { MAY("target", CTL_STRING) },
	  ctl_chap_list, "users, never their secrets" },

	{ "portal.add",
	  { MUST("address", CTL_STRING), MAY("group", CTL_INT),
	    MAY("no-advertise", CTL_BOOL) },
	  ctl_portal_add, "listen at ADDR[:PORT]" },
	{ "portal.remove", { MUST("address", CTL_STRING) },
	  ctl_portal_remove, "listen there no more" },
	{ "portal.state",
	  { MUST("group", CTL_INT), MUST("state", CTL_STRING) },
	  ctl_portal_state, "ALUA state of a portal group" },
	{ "portal.list", { { 0 } }, ctl_portal_list, "all portals" },

	{ "session.list", { MAY("target", CTL_STRING) },
	  ctl_session_list, "sessions with their connections" },
	{ "session.show", { MUST("id", CTL_INT) },
	  ctl_session_show, "one session with its negotiated keys" },
	{ "session.end", { MUST("id", CTL_INT) },
	  ctl_session_end, "drop a session" },
	{ "session.refused", { { 0 } },
	  ctl_session_refused, "the last refused logins" },
	{ "session.move", { MUST("id", CTL_INT), MUST("worker", CTL_INT) },
	  ctl_session_move, "serve a session by another worker" },

	{ "vaai.status", { MAY("volume", CTL_STRING) },
	  ctl_vaai_status, "the four primitives of each volume" },
	{ "stats", { MAY("name", CTL_STRING) },
	  ctl_stats, "counters of a volume, a target's volumes, or all" },

	{ "config.show", { { 0 } }, ctl_config_show, "the running document" },
	{ "config.save", { MAY("file", CTL_STRING) },
	  ctl_config_save, "write it to its file, or to another" },
	{ "config.load",
	  { MAY("file", CTL_STRING), MAY("document", CTL_OBJECT) },
	  ctl_config_load, "apply the difference to another document" },
	{ "config.check",
	  { MAY("file", CTL_STRING), MAY("document", CTL_OBJECT) },
	  ctl_config_check, "say every fault of a document" },

	{ "daemon.version", { { 0 } }, ctl_daemon_version, "what runs" },
	{ "daemon.limits", { { 0 } }, ctl_daemon_limits,
	  "what it keeps to, whoever asks for more, and why" },
	{ "daemon.ping", { { 0 } }, ctl_daemon_ping, "answers true" },
	{ "daemon.methods", { { 0 } }, ctl_daemon_methods, "this table" },
};

const struct ctl_method *ctl_methods(size_t *ret_n)
{
	*ret_n = ARRAY_SIZE(methods);
	return methods;
}

const struct ctl_method *ctl_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(methods); i++)
		if (!strcmp(methods[i].name, name))
			return &methods[i];
	return NULL;
}
