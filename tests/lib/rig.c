/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Logical units, nexuses and a transport for tests of commands; see rig.h. */

#include "tests/lib/rig.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/buf.h"
#include "scsi/range.h"
#include "scsi/scsi_int.h"

#define COMMANDS 1024

struct rig rig;
static struct rig_cmd *cmds[COMMANDS];

uint8_t rig_byte(uint64_t off)
{
	return (uint8_t)(off / 512 * 7 + off % 512 + 1);
}

/* ---- the transport ----------------------------------------------------- */

static struct rig_cmd *of(struct scsi_cmd *cmd)
{
	return container_of(cmd, struct rig_cmd, scsi);
}

static bool get_buffer(struct scsi_cmd *cmd, uint32_t len)
{
	assert(len <= BUF_MAX && !of(cmd)->done);
	if (cmd->data_size >= len)
		return true;
	free(cmd->data);
	cmd->data = malloc(len);
	cmd->data_size = len;
	return true;
}

static void take_out(struct rig_cmd *c)
{
	get_buffer(&c->scsi, MAX(c->out_len, 1u));
	memcpy(c->scsi.data, c->out + c->out_off, c->out_len);
}

static bool data_out(struct scsi_cmd *cmd, uint32_t off, uint32_t len)
{
	struct rig_cmd *c = of(cmd);

	assert(range_fits(off, len, cmd->edtl) && cmd->dir_out && !c->done);
	c->out_off = off;
	c->out_len = len;
	if (!c->hold)
		take_out(c);
	c->waits = c->hold;
	return !c->hold;
}

static void give_in(struct rig_cmd *c, uint32_t len)
{
	assert(c->scsi.dir_in && range_fits(c->nin, len, c->scsi.edtl));
	memcpy(c->in + c->nin, c->scsi.data, len);
	c->nin += len;
}

static bool data_in(struct scsi_cmd *cmd, uint32_t off, uint32_t len)
{
	struct rig_cmd *c = of(cmd);

	assert(off == c->nin && !c->done);
	give_in(c, len);
	c->out_len = 0;
	c->waits = c->hold;
	return !c->hold;
}

static void again(struct edefer *d)
{
	struct rig_cmd *c = container_of(d, struct rig_cmd, again);

	if (!c->waits)
		return;
	c->waits = false;
	c->scsi.resume(&c->scsi);
}

static void aborted(struct scsi_cmd *cmd)
{
	struct rig_cmd *c = of(cmd);

	if (c->waits)
		engine_defer(cmd->nexus->engine, &c->again);
}

static void done(struct scsi_cmd *cmd)
{
	struct rig_cmd *c = of(cmd);

	c->done++;
	if (cmd->data_in_len && !cmd->aborted)
		give_in(c, cmd->data_in_len);
	free(cmd->data);
	cmd->data = NULL;
	cmd->data_size = 0;
}

static const struct scsi_transport transport = {
	.get_buffer = get_buffer, .data_out = data_out, .data_in = data_in,
	.done = done, .aborted = aborted,
};

/* ---- the fixture ------------------------------------------------------- */

static struct lu *find_lu(void *arg, const uint8_t *designator, size_t len,
			  bool *ret_ro)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < 2 && !rig.hidden; i++) {
		if (len != rig.lu[i]->config.naa_len ||
		    memcmp(designator, rig.lu[i]->config.naa, len))
			continue;
		*ret_ro = rig.found_ro;
		return lu_ref(rig.lu[i]);
	}
	return NULL;
}

/* What the medium holds at first: made once, before check forks. */
static uint8_t medium[RIG_BLOCKS * 512];

__attribute__((constructor)) static void medium_fill(void)
{
	size_t off;

	for (off = 0; off < sizeof(medium); off++)
		medium[off] = rig_byte(off);
}

static void make_lu(unsigned i)
{
	static const char *const names[] = { "zero", "one" };
	struct lu_config config = {
		.volume = { .name = names[i], .path = names[i],
			    .size = RIG_BLOCKS * 512 },
		.naa = { 0x62, (uint8_t)i }, .naa_len = 16,
		.serial = "1", .vendor = "LUND", .product = "VOLUME",
		.primitive = { true, true, true, true },
	};
	struct lu_events events = { .arg = NULL };

	rig.lu[i] = lu_new(&rig.host, &config, &events);
	rig.vol[i] = fake_volume(names[i]);
	lu_open(rig.lu[i]);
	fake_run();
	memcpy(fake_data(rig.vol[i]), medium, sizeof(medium));
	fake_map_all(rig.vol[i]);
}

static void make_nexus(unsigned i)
{
	struct nexus_config config = {
		.initiator = "iqn.2026-11.test:i",
		.target = "iqn.2026-11.test:t",
		.tpgt = 1, .rtpi = 1, .worker = i, .find_lu = find_lu,
	};
	unsigned lun;

	config.isid[5] = (uint8_t)i;
	rig.nexus[i] = nexus_new(&rig.host, &config);
	for (lun = 0; lun < 2; lun++) {
		nexus_map(rig.nexus[i], (uint16_t)lun, rig.lu[lun], false,
			  false);
		atomic_store(&nexus_find(rig.nexus[i], (int)lun)->ua, 0);
	}
}

void rig_setup(void)
{
	struct engine_config config = {
		.buf_total = 8u << 20, .buf_reserve = 2u << 20,
	};
	int err;
	unsigned i;

	memset(&rig, 0, sizeof(rig));
	rig.host.nworkers = 2;
	rig.host.main = engine_new(&config, &err);
	for (i = 0; i < 2; i++)
		rig.host.worker[i] = engine_new(&config, &err);
	fake_enter(rig.host.main);
	for (i = 0; i < 2; i++)
		make_lu(i);
	for (i = 0; i < 2; i++) {
		fake_enter(rig.host.worker[i]);
		make_nexus(i);
	}
	fake_run();
	for (i = 0; i < 2; i++)
		rig.refs[i] = atomic_load(&rig.lu[i]->refs);
}

static void lost(void *arg)
{
	*(bool *)arg = true;
}

void rig_teardown(void)
{
	bool gone[2] = { false, false }, closed[2] = { false, false };
	unsigned i;

	fake_run();
	assert(rig_idle());
	for (i = 0; i < 2; i++) {
		assert(!fake_pending(rig.vol[i]));
		assert(!bufpool_used(engine_bufs(rig.host.worker[i])));
		fake_enter(rig.host.worker[i]);
		nexus_lose(rig.nexus[i], lost, &gone[i]);
	}
	fake_run();
	for (i = 0; i < 2; i++) {
		assert(gone[i]);
		fake_enter(rig.host.worker[i]);
		nexus_free(rig.nexus[i]);
	}
	fake_enter(rig.host.main);
	for (i = 0; i < 2; i++)
		lu_close(rig.lu[i], lost, &closed[i]);
	fake_run();
	assert(closed[0] && closed[1]);
	assert(!fake_volumes());
	for (i = 0; i < rig.ncmds; i++) {
		assert(cmds[i]->done == 1);
		free(cmds[i]->out);
		free(cmds[i]->in);
		free(cmds[i]);
	}
	for (i = 0; i < 2; i++)
		engine_free(rig.host.worker[i]);
	engine_free(rig.host.main);
}

/* ---- commands ---------------------------------------------------------- */

struct rig_cmd *rig_new_of(unsigned nexus, unsigned lun, size_t data)
{
	struct rig_cmd *c = calloc(1, sizeof(*c));

	assert(c && rig.ncmds < COMMANDS);
	c->rig = &rig;
	c->out = calloc(1, data);
	c->in = calloc(1, data);
	list_init(&c->again.link);
	c->again.run = again;
	/* what a pooled command holds from its last use does not matter */
	memset(&c->scsi, 0xa5, sizeof(c->scsi));
	memset(c->scsi.lun, 0, sizeof(c->scsi.lun));
	memset(c->scsi.cdb, 0, sizeof(c->scsi.cdb));
	c->scsi.nexus = rig.nexus[nexus];
	c->scsi.transport = &transport;
	c->scsi.lun[1] = (uint8_t)lun;
	c->scsi.attr = ATTR_SIMPLE;
	c->scsi.data = NULL;
	c->scsi.data_size = 0;
	cmds[rig.ncmds++] = c;
	return c;
}

struct rig_cmd *rig_new(unsigned nexus, unsigned lun)
{
	return rig_new_of(nexus, lun, RIG_DATA);
}

void rig_submit(struct rig_cmd *c, uint32_t edtl, bool in)
{
	c->scsi.dir_in = edtl && in;
	c->scsi.dir_out = edtl && !in;
	c->scsi.edtl = edtl;
	fake_enter(c->scsi.nexus->engine);
	scsi_submit(&c->scsi);
	assert(!c->done);
	fake_run();
}

void rig_move(struct rig_cmd *c)
{
	assert(c->waits);
	fake_enter(c->scsi.nexus->engine);
	if (c->out_len)
		take_out(c);
	c->waits = false;
	c->scsi.resume(&c->scsi);
	fake_run();
}

void rig_abort(struct rig_cmd *c)
{
	fake_enter(c->scsi.nexus->engine);
	if (!c->done)
		scsi_abort(&c->scsi);
	fake_run();
}

static void put_be(uint8_t *at, unsigned size, uint64_t v)
{
	while (size--) {
		at[size] = (uint8_t)v;
		v >>= 8;
	}
}

struct rig_cmd *rig_10(struct rig_cmd *c, uint8_t op, uint32_t lba, uint16_t n)
{
	c->scsi.cdb[0] = op;
	put_be(c->scsi.cdb + 2, 4, lba);
	put_be(c->scsi.cdb + 7, 2, n);
	return c;
}

struct rig_cmd *rig_16(struct rig_cmd *c, uint8_t op, uint64_t lba, uint32_t n)
{
	c->scsi.cdb[0] = op;
	put_be(c->scsi.cdb + 2, 8, lba);
	put_be(c->scsi.cdb + 10, 4, n);
	return c;
}

struct rig_cmd *rig_read(unsigned nexus, uint64_t lba, uint32_t n)
{
	struct rig_cmd *c = rig_16(rig_new(nexus, 0), 0x88, lba, n);

	rig_submit(c, n * 512, true);
	return c;
}

struct rig_cmd *rig_write(unsigned nexus, uint64_t lba, uint32_t n, int byte)
{
	struct rig_cmd *c = rig_16(rig_new(nexus, 0), 0x8a, lba, n);

	memset(c->out, byte, n * 512);
	rig_submit(c, n * 512, false);
	return c;
}

struct rig_cmd *rig_caw(unsigned nexus, uint64_t lba, uint8_t n, int byte)
{
	struct rig_cmd *c = rig_16(rig_new(nexus, 0), 0x89, lba, 0);

	c->scsi.cdb[13] = n;
	memcpy(c->out, fake_data(rig.vol[0]) + lba * 512, n * 512u);
	memset(c->out + n * 512u, byte, n * 512u);
	rig_submit(c, 2 * n * 512u, false);
	return c;
}

bool rig_idle(void)
{
	unsigned i;

	for (i = 0; i < 2; i++)
		if (!range_set_empty(rig.lu[i]->ranges) ||
		    atomic_load(&rig.lu[i]->refs) != rig.refs[i])
			return false;
	return true;
}

/* ---- what came of it --------------------------------------------------- */

bool rig_sense(const struct rig_cmd *c, unsigned key, unsigned asc,
	       unsigned ascq)
{
	const uint8_t *s = c->scsi.sense;

	return c->done == 1 && c->scsi.status == STATUS_CHECK_CONDITION &&
	       c->scsi.sense_len >= 18 && (s[0] & 0x7f) == 0x70 &&
	       (s[2] & 0xf) == key && s[12] == asc && s[13] == ascq;
}

bool rig_good(const struct rig_cmd *c)
{
	return c->done == 1 && c->scsi.status == STATUS_GOOD &&
	       !c->scsi.aborted;
}

bool rig_all(unsigned lun, uint64_t off, uint64_t len, int byte)
{
	const uint8_t *p = fake_data(rig.vol[lun]) + off;

	while (len--)
		if (*p++ != (uint8_t)byte)
			return false;
	return true;
}

bool rig_untouched(unsigned lun, uint64_t off, uint64_t len)
{
	for (; len--; off++)
		if (fake_data(rig.vol[lun])[off] != rig_byte(off))
			return false;
	return true;
}
