/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Counters: `stats` and `vaai status`. */

#include "target/ctl_int.h"

#include <stdio.h>
#include <string.h>

/* Commands of a bucket took less than this many microseconds: scsi.h. */
static uint64_t bucket_end(unsigned i)
{
	static const unsigned quarter[] = { 1000, 1189, 1414, 1682 };

	i++;
	return ((uint64_t)quarter[i % 4] << (i / 4)) / 1000;
}

/* The latency that so many per mille of the commands did not exceed; 0 when
 * there were none. */
static uint64_t percentile(const uint64_t *buckets, unsigned per_mille)
{
	uint64_t total = 0, seen = 0;
	unsigned i;

	for (i = 0; i < LU_BUCKETS; i++)
		total += buckets[i];
	for (i = 0; i < LU_BUCKETS && total; i++) {
		seen += buckets[i];
		if (seen * 1000 >= total * per_mille)
			return bucket_end(i);
	}
	return 0;
}

static void add_percentiles(json_t *o, const char *what,
			    const uint64_t *buckets)
{
	static const struct {
		const char *name;
		unsigned per_mille;
	} rows[] = {
		{ "p50", 500 }, { "p90", 900 }, { "p99", 990 },
		{ "p999", 999 },
	};
	char key[32];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		snprintf(key, sizeof(key), "%s_%s_us", what, rows[i].name);
		json_object_set_new(o, key, json_integer((json_int_t)
			percentile(buckets, rows[i].per_mille)));
	}
}

static json_t *stats_of(const char *name, struct lu *lu)
{
	json_t *o = json_pack("{s:s}", "volume", name);
	struct lu_stats stats;
	unsigned i;

	lu_get_stats(lu, &stats);
	for (i = 0; i < LU_COUNTERS; i++)
		json_object_set_new(o, lu_counter_names[i],
				    json_integer((json_int_t)stats.counter[i]));
	add_percentiles(o, "read", stats.read_latency);
	add_percentiles(o, "write", stats.write_latency);
	return o;
}

/* Calls of() for each running volume that name stands for. */
static json_t *each_volume(const char *name, const struct conf_target *t,
			   json_t *(*of)(const char *name, struct lu *lu))
{
	const struct conf *now = config_now();
	json_t *list = json_array();
	const char *volume;
	struct lu *lu;
	unsigned i;

	for (i = 0; i < now->nvolumes; i++) {
		volume = now->volumes[i].name;
		if (name && (t ? !conf_maps(t, volume) : strcmp(name, volume)))
			continue;
		lu = vol_lu(volume);
		if (lu)
			json_array_append_new(list, of(volume, lu));
		lu_unref(lu);
	}
	return list;
}

void ctl_stats(struct ctl_call *c)
{
	const char *name = ctl_str(c, "name");
	const struct conf_target *t = NULL;

	if (name)
		t = conf_find_target(config_now(), name);
	if (name && !t && !conf_find_volume(config_now(), name))
		ctl_fail(c, "no volume or target %.223s", name);
	else
		ctl_ok(c, each_volume(name, t, stats_of));
}

static json_t *vaai_of(const char *name, struct lu *lu)
{
	static const struct {
		enum lu_counter used, bytes;
	} counter[PRIMITIVES] = {
		[PRIM_ATS] = { LU_ATS, LU_ATS_BYTES },
		[PRIM_CLONE] = { LU_CLONE, LU_CLONE_BYTES },
		[PRIM_ZERO] = { LU_ZERO, LU_ZERO_BYTES },
		[PRIM_DELETE] = { LU_DELETE, LU_DELETE_BYTES },
	};
	json_t *o = json_pack("{s:s}", "volume", name), *p;
	struct lu_stats stats;
	struct lu_info info;
	unsigned i;

	lu_get_info(lu, &info);
	lu_get_stats(lu, &stats);
	for (i = 0; i < PRIMITIVES; i++) {
		p = json_pack("{s:b, s:b}", "supported", info.supported[i],
			      "enabled", info.primitive[i]);
		if (info.method[i])
			json_object_set_new(p, "method",
					    json_string(info.method[i]));
		json_object_set_new(p, "used", json_integer((json_int_t)
			stats.counter[counter[i].used]));
		json_object_set_new(p, "bytes", json_integer((json_int_t)
			stats.counter[counter[i].bytes]));
		json_object_set_new(o, lu_primitive_names[i], p);
	}
	return o;
}

void ctl_vaai_status(struct ctl_call *c)
{
	const char *name = ctl_str(c, "volume");

	if (name && !ctl_volume(c, "volume"))
		return;
	ctl_ok(c, each_volume(name, NULL, vaai_of));
}
