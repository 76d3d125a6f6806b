/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The document's top level and its volumes.  A struct conf is made in one go:
 * read by tables, then checked as a whole.
 */

#include "target/config_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/secret.h"
#include "lib/util.h"

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void read_naa(struct reader *r, const json_t *v, void *obj)
{
	struct conf_volume *vol = obj;
	const char *s = json_string_value(v);
	size_t i, n = s ? strlen(s) : 0;
	int hi, lo;

	if (n != 16 && n != 32) {
		read_fault(r, "must be 16 or 32 hexadecimal digits");
		return;
	}
	for (i = 0; i < n / 2; i++) {
		hi = hex_digit(s[2 * i]);
		lo = hex_digit(s[2 * i + 1]);
		if (hi < 0 || lo < 0) {
			read_fault(r, "must be 16 or 32 hexadecimal digits");
			return;
		}
		vol->naa[i] = (uint8_t)(hi << 4 | lo);
	}
	/* SPC-4: NAA 6h has 16 bytes, 2h, 3h and 5h have 8 */
	hi = vol->naa[0] >> 4;
	if (n == 32 ? hi != 6 : hi != 2 && hi != 3 && hi != 5) {
		read_fault(r, "its first digit must be %s",
			   n == 32 ? "6" : "2, 3 or 5");
		return;
	}
	vol->naa_len = (uint8_t)(n / 2);
	snprintf(vol->naa_text, sizeof(vol->naa_text), "%s", s);
}

static void read_block_size(struct reader *r, const json_t *v, void *obj)
{
	struct conf_volume *vol = obj;
	json_int_t n = json_integer_value(v);

	if (n != 512 && n != 4096)
		read_fault(r, "must be 512 or 4096");
	else
		vol->block_size = (uint32_t)n;
}

static void read_physical(struct reader *r, const json_t *v, void *obj)
{
	struct conf_volume *vol = obj;
	json_int_t n = json_integer_value(v);

	if (n < 512 || n > (json_int_t)MiB || !is_pow2((uint64_t)n))
		read_fault(r, "must be a power of two, 512 to 1048576");
	else
		vol->physical_block_size = (uint32_t)n;
}

static void read_vaai(struct reader *r, const json_t *v, void *obj)
{
	struct conf_volume *vol = obj;
	struct key keys[PRIMITIVES + 1] = { { 0 } };
	bool on[PRIMITIVES];
	size_t i;

	for (i = 0; i < PRIMITIVES; i++) {
		on[i] = true;
		keys[i] = (struct key){
			.name = lu_primitive_names[i], .kind = KEY_BOOL,
			.offset = i * sizeof(on[0]),
		};
	}
	read_object(r, v, keys, on);
	for (i = 0; i < PRIMITIVES; i++)
		vol->off[i] = !on[i];
}

static const struct key volume_keys[] = {
	{ "path", KEY_STRING, FIELD(conf_volume, path), RANGE(1, 4095),
	  .required = true },
	{ "size", KEY_SIZE, FIELD(conf_volume, size) },
	{ "thick", KEY_BOOL, FIELD(conf_volume, thick) },
	{ "block-size", KEY_CUSTOM, .read = read_block_size },
	{ "physical-block-size", KEY_CUSTOM, .read = read_physical },
	{ "durability", KEY_WORD, FIELD(conf_volume, write_back),
	  .words = { "write-through", "write-back" } },
	{ "io", KEY_WORD, FIELD(conf_volume, direct),
	  .words = { "buffered", "direct" } },
	{ "read-only", KEY_BOOL, FIELD(conf_volume, read_only) },
	{ "naa", KEY_CUSTOM, .read = read_naa },
	{ "serial", KEY_TEXT, FIELD(conf_volume, serial), RANGE(1, 32) },
	{ "vendor", KEY_TEXT, FIELD(conf_volume, vendor), RANGE(1, 8) },
	{ "product", KEY_TEXT, FIELD(conf_volume, product), RANGE(1, 16) },
	{ "vaai", KEY_CUSTOM, .read = read_vaai },
	{ "threshold", KEY_U32, FIELD(conf_volume, threshold), RANGE(0, 100) },
	{ 0 },
};

static void read_volume(struct reader *r, const char *name, const json_t *v,
			struct conf_volume *vol)
{
	const char *bad = check_volume_name(name);
	uint32_t bs;

	if (bad)
		read_fault(r, "%s", bad);
	snprintf(vol->name, sizeof(vol->name), "%s", name);
	read_object(r, v, volume_keys, vol);
	bs = vol->block_size ? vol->block_size : 512;
	if (vol->size % bs)
		read_fault(r, "size is not a multiple of its blocks of %u "
			   "bytes", bs);
	if (vol->physical_block_size && vol->physical_block_size < bs)
		read_fault(r, "physical-block-size is less than block-size");
	if (vol->path && !strcmp(vol->path, "null:") && !vol->size)
		read_fault(r, "a volume over null: needs a size");
}

static void read_volumes(struct reader *r, const json_t *v, void *obj)
{
	struct conf *c = obj;
	const char *name;
	json_t *member;
	size_t old;

	if (!json_is_object(v)) {
		read_fault(r, "must be an object");
		return;
	}
	c->volumes = read_array(r, count_members(v), sizeof(*c->volumes));
	if (!c->volumes)
		return;
	json_object_foreach((json_t *)v, name, member) {
		if (is_comment(name))
			continue;
		old = read_enter(r, name);
		read_volume(r, name, member, &c->volumes[c->nvolumes++]);
		read_leave(r, old);
	}
}

static void read_version(struct reader *r, const json_t *v, void *obj)
{
	(void)obj;
	if (!json_is_integer(v) || json_integer_value(v) != 1)
		read_fault(r, "must be 1");
}

static const struct key top_keys[] = {
	{ "version", KEY_CUSTOM, .read = read_version },
	{ "user", KEY_STRING, FIELD(conf, user), RANGE(1, 255) },
	/* conf_read() reads them: they may be overridden */
	{ .name = "portals", .kind = KEY_IGNORED },
	{ "volumes", KEY_CUSTOM, .read = read_volumes },
	{ "port-groups", KEY_CUSTOM, .read = read_groups },
	{ "targets", KEY_CUSTOM, .read = read_targets },
	{ "discovery", KEY_CUSTOM, .read = read_discovery },
	{ 0 },
};

static void read_document(struct reader *r, const json_t *override)
{
	struct conf *c = r->conf;
	const json_t *portals = json_object_get(c->doc, "portals");
	json_t *standard;
	size_t old;

	if (!read_object(r, c->doc, top_keys, c))
		return;
	old = read_enter(r, override ? "--portal" : "portals");
	if (override || portals) {
		read_portals(r, override ? override : portals, c);
	} else {
		standard = json_pack("[s]", "[::]:3260");
		read_portals(r, standard, c);
		json_decref(standard);
	}
	read_leave(r, old);
	check_conf(r);
}

struct conf *conf_read(json_t *doc, const json_t *override, const char *dir,
		       struct faults *faults)
{
	struct reader *r = calloc(1, sizeof(*r));
	unsigned before = faults->n;
	struct conf *c = calloc(1, sizeof(*c));

	if (!r || !c) {
		free(r);
		free(c);
		return NULL;	/* no fault: no memory */
	}
	*r = (struct reader){ .conf = c, .faults = faults, .dir = dir };
	c->doc = json_incref(doc);
	read_document(r, override);
	free(r);
	if (faults->n > before) {
		conf_free(c);
		return NULL;
	}
	return c;
}

void conf_free(struct conf *c)
{
	unsigned i;

	if (!c)
		return;
	for (i = 0; i < c->ntargets; i++) {
		free(c->targets[i].luns);
		free(c->targets[i].rules);
		secret_free(c->targets[i].users,
			    c->targets[i].nusers * sizeof(struct conf_user));
	}
	secret_free(c->discovery, c->ndiscovery * sizeof(struct conf_user));
	free(c->targets);
	free(c->volumes);
	free(c->portals);
	free(c->groups);
	json_decref(c->doc);
	free(c);
}
