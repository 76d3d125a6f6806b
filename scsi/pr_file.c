/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Persistent reservations through power loss (APTPL): the table as bytes, with
 * the identity of the logical unit and a checksum.  Where they are kept is the
 * business of whoever made the logical unit.
 */

#include <errno.h>
#include <stdlib.h>

#include "lib/crc32c.h"
#include "lib/log.h"
#include "scsi/pr.h"

#define MAGIC		"LUNDPR01"
#define MAGIC_LEN	8u
#define CRC_LEN		4u
#define NAA_LEN		16u

enum { HOLDER = 0x01, ALL_PORTS = 0x02 };

static void put_name(struct out *o, const char *name)
{
	size_t len = strlen(name);

	out_be16(o, (uint16_t)len);
	out_bytes(o, name, len);
}

static void put_registrant(struct out *o, const struct pr_registrant *r)
{
	out_be64(o, r->key);
	out_u8(o, (r->holder ? HOLDER : 0) | (r->all_ports ? ALL_PORTS : 0));
	out_bytes(o, r->isid, sizeof(r->isid));
	out_be16(o, r->tpgt);
	out_be16(o, r->rtpi);
	put_name(o, r->initiator);
	put_name(o, r->target);
}

static void put_table(struct out *o, const struct lu *lu,
		      const struct pr_table *t)
{
	unsigned i;

	out_bytes(o, MAGIC, MAGIC_LEN);
	out_bytes(o, lu->config.naa, NAA_LEN);
	out_u8(o, t->type);
	out_be32(o, pr_count(t));
	for (i = 0; i < t->n; i++)
		if (!t->r[i].gone)
			put_registrant(o, &t->r[i]);
}

int pr_image(const struct lu *lu, const struct pr_table *t, void **ret,
	     size_t *ret_len)
{
	struct out o = out_of(NULL, 0);
	size_t len;
	be32 crc;
	void *p;

	*ret = NULL;
	*ret_len = 0;
	if (!t->aptpl || !pr_count(t))
		return 0;
	put_table(&o, lu, t);
	len = o.len + CRC_LEN;
	p = malloc(len);
	if (!p)
		return -ENOMEM;
	o = out_of(p, len);
	put_table(&o, lu, t);
	crc = crc32c(p, o.len);
	out_bytes(&o, &crc, CRC_LEN);
	*ret = p;
	*ret_len = len;
	return 0;
}

/* ---- reading ------------------------------------------------------------- */

static bool take_name(struct cur *c, char name[ISCSI_NAME_MAX])
{
	const be16 *len = cur_take(c, sizeof(*len));
	const void *p;

	if (!len || be16_get(*len) >= ISCSI_NAME_MAX)
		return false;
	p = cur_take(c, be16_get(*len));
	if (!p)
		return false;
	memcpy(name, p, be16_get(*len));
	name[be16_get(*len)] = '\0';
	return true;
}

static bool take_registrant(struct cur *c, struct pr_registrant *r)
{
	const uint8_t *p = cur_take(c, 19);

	if (!p)
		return false;
	r->key = be64_get(BE_AT(be64, p, 0));
	r->holder = p[8] & HOLDER;
	r->all_ports = p[8] & ALL_PORTS;
	memcpy(r->isid, p + 9, sizeof(r->isid));
	r->tpgt = be16_get(BE_AT(be16, p, 15));
	r->rtpi = be16_get(BE_AT(be16, p, 17));
	r->ua = UNIT_ATTENTIONS;
	return r->key && take_name(c, r->initiator) &&
	       take_name(c, r->target);
}

static bool type_known(uint8_t type)
{
	return type <= PR_EA_AR && type != 2 && type != 4;
}

/* NULL: damaged, or another unit's; or no memory, with errno set so. */
static struct pr_table *table_of(const struct lu *lu, const void *bytes,
				 size_t len)
{
	struct pr_table *t;
	const uint8_t *p;
	struct cur c;
	be32 crc;
	uint32_t n;

	errno = EBADMSG;
	if (len < CRC_LEN)
		return NULL;
	crc = crc32c(bytes, len - CRC_LEN);
	if (memcmp((const uint8_t *)bytes + len - CRC_LEN, &crc, CRC_LEN))
		return NULL;
	c = cur_of(bytes, len - CRC_LEN);
	p = cur_take(&c, MAGIC_LEN + NAA_LEN + 5);
	if (!p || memcmp(p, MAGIC, MAGIC_LEN) ||
	    memcmp(p + MAGIC_LEN, lu->config.naa, NAA_LEN))
		return NULL;
	p += MAGIC_LEN + NAA_LEN;
	n = be32_get(BE_AT(be32, p, 1));
	if (!type_known(p[0]) || n > PR_REGISTRANTS)
		return NULL;
	t = pr_copy(&(const struct pr_table){ .type = (enum pr_type)p[0],
					      .aptpl = true }, n);
	while (t && t->n < n) {
		if (take_registrant(&c, &t->r[t->n])) {
			t->n++;
			continue;
		}
		free(t);
		errno = EBADMSG;
		return NULL;
	}
	return t;
}

int lu_load_reservations(struct lu *lu)
{
	const struct lu_events *e = &lu->events;
	void *bytes = NULL;
	size_t len = 0;
	int err;

	err = e->pr_load ? e->pr_load(e->arg, &bytes, &len) : -ENOENT;
	if (err == -ENOENT)
		return 0;
	if (!err) {
		lu->pr.table = table_of(lu, bytes, len);
		err = lu->pr.table ? 0 : -errno;
		free(bytes);
	}
	if (!err || err == -ENOMEM)
		return err;
	log_err("volume %s: its persistent reservations are damaged and lost: "
		"%s", lu->name, strerror(-err));
	e->pr_aside(e->arg);
	return 0;
}
