/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * MODE SENSE and MODE SELECT, 6 and 10 (SPC-4, SBC-3).  A page is its default
 * bytes, a mask of the changeable bits, and the bits of the logical unit that
 * stand in it.  D_SENSE, QERR, UA_INTLCK_CTRL, SWP and TAS can be changed,
 * until the next reset; WCE where the volume was configured write-back.
 */

#include "scsi/scsi_int.h"

#define PAGE_MAX	32
#define SPF		0x40	/* subpage format: a header of four bytes */
#define ALL_PAGES	0x3f
#define ALL_SUBPAGES	0xff

enum page_control { CURRENT, CHANGEABLE, DEFAULT, SAVED };
enum { CACHING = 0x08, CONTROL = 0x0a, EXCEPTIONS = 0x1c };
#define PROVISIONING 0x02	/* subpage of EXCEPTIONS */

struct mode_page {
	uint8_t code, subpage, len;	/* len: of the whole page */
	uint8_t bytes[PAGE_MAX];	/* default, but for code and length */
	uint8_t mask[PAGE_MAX];
};

#define WCE	0x04	/* caching, byte 2 */
#define D_SENSE	0x04	/* control, byte 2 */
#define QERR	0x06	/* control, byte 3 */
#define SWP	0x08	/* control, byte 4 */
#define UA_INTLCK 0x30	/* UA_INTLCK_CTRL: control, byte 4 */
#define TAS	0x40	/* control, byte 5 */

static const struct mode_page pages[] = {
	/* read-write error recovery: reallocation is automatic */
	{ 0x01, 0, 12, { [2] = 0xc0 }, { 0 } },
	{ CACHING, 0, 20, { 0 }, { [2] = WCE } },
	/* QUEUE ALGORITHM MODIFIER 1, BUSY TIMEOUT PERIOD unlimited */
	{ CONTROL, 0, 12, { [3] = 0x10, [8] = 0xff, [9] = 0xff },
	  { [2] = D_SENSE, [3] = QERR, [4] = UA_INTLCK | SWP, [5] = TAS } },
	/* control extension: nothing of it is set */
	{ CONTROL, 0x01, 32, { 0 }, { 0 } },
	/* informational exceptions control: DEXCPT */
	{ EXCEPTIONS, 0, 12, { [2] = 0x08 }, { 0 } },
	/* logical block provisioning: one threshold, of what is used, on its
	 * way up, told to every nexus; the administrator sets it */
	{ EXCEPTIONS, PROVISIONING, 24, { [16] = 0x01, [17] = 0x02 }, { 0 } },
};

static bool wce_changeable(const struct lu *lu)
{
	return atomic_load(&lu->write_back);
}

static unsigned header_of(const struct mode_page *p)
{
	return p->subpage ? 4 : 2;
}

static void put_header(const struct mode_page *p, uint8_t out[PAGE_MAX])
{
	if (p->subpage) {
		out[0] = p->code | SPF;
		out[1] = p->subpage;
		out[2] = 0;
		out[3] = p->len - 4;
	} else {
		out[0] = p->code;
		out[1] = p->len - 2;
	}
}

/* The threshold descriptor's ENABLED bit and count. */
static void put_threshold(const struct lu *lu, uint8_t out[PAGE_MAX])
{
	unsigned percent = atomic_load(&lu->threshold_percent);
	uint64_t bytes = volume_size(lu->volume);
	be32 sets;

	if (!percent)
		return;
	bytes = bytes / 100 * percent + bytes % 100 * percent / 100;
	sets = be32_of(threshold_sets(bytes));
	out[16] |= 0x80;
	memcpy(out + 20, &sets, sizeof(sets));
}

/* ---- control ------------------------------------------------------------ */

static void put_control(const struct lu *lu, uint8_t out[PAGE_MAX])
{
	out[2] |= atomic_load(&lu->d_sense) ? D_SENSE : 0;
	out[3] |= atomic_load(&lu->qerr) << 1;
	out[4] |= atomic_load(&lu->ua_interlock) << 4;
	out[4] |= atomic_load(&lu->swp) ? SWP : 0;
	out[5] |= atomic_load(&lu->tas) ? TAS : 0;
}

/* The byte with a reserved value, or 0. */
static unsigned bad_control(const uint8_t *page)
{
	if ((page[3] & QERR) >> 1 == 2)
		return 3;
	if ((page[4] & UA_INTLCK) >> 4 == 1)
		return 4;
	return 0;
}

/* Did it change anything? */
static bool set_control(struct lu *lu, const uint8_t *page)
{
	bool d_sense = page[2] & D_SENSE, swp = page[4] & SWP;
	bool tas = page[5] & TAS, changed = false;
	uint8_t qerr = (page[3] & QERR) >> 1;
	uint8_t interlock = (page[4] & UA_INTLCK) >> 4;

	changed |= atomic_exchange(&lu->d_sense, d_sense) != d_sense;
	changed |= atomic_exchange(&lu->swp, swp) != swp;
	changed |= atomic_exchange(&lu->tas, tas) != tas;
	changed |= atomic_exchange(&lu->qerr, qerr) != qerr;
	changed |= atomic_exchange(&lu->ua_interlock, interlock) != interlock;
	return changed;
}

void lu_reset_modes(struct lu *lu)
{
	static const uint8_t none[PAGE_MAX];

	set_control(lu, none);
}

/* -------------------------------------------------------------------------- */

static bool page_offered(const struct lu *lu, const struct mode_page *p)
{
	return p->code != EXCEPTIONS || !p->subpage || lu_thin(lu);
}

/* The page with header, as page control pc wants it. */
static void page_bytes(const struct lu *lu, const struct mode_page *p,
		       enum page_control pc, uint8_t out[PAGE_MAX])
{
	memcpy(out, pc == CHANGEABLE ? p->mask : p->bytes, PAGE_MAX);
	put_header(p, out);
	if (p->subpage) {
		if (p->code == EXCEPTIONS && pc == CURRENT)
			put_threshold(lu, out);
		return;
	}
	if (p->code == CACHING && pc == CHANGEABLE && !wce_changeable(lu))
		out[2] = 0;
	if (p->code == CACHING && pc == DEFAULT && wce_changeable(lu))
		out[2] |= WCE;
	if (pc != CURRENT)
		return;
	if (p->code == CACHING && volume_write_back(lu->volume))
		out[2] |= WCE;
	if (p->code == CONTROL)
		put_control(lu, out);
}

/* ---- MODE SENSE -------------------------------------------------------- */

static bool sense10(const struct scsi_cmd *cmd)
{
	return cmd->op->len == 10;
}

static uint8_t device_specific(const struct scsi_cmd *cmd)
{
	bool protect = cmd->itl->read_only ||
		       atomic_load(&cmd->lu->read_only) ||
		       atomic_load(&cmd->lu->swp);

	return 0x10 | (protect ? 0x80 : 0);	/* DPOFUA, WP */
}

/* SBC-3: short block descriptors, or long ones where LLBAA allows. */
static void block_descriptor(const struct lu *lu, bool longer, struct out *o)
{
	uint64_t n = atomic_load(&lu->nblocks);
	uint32_t bs = (uint32_t)lu_bytes(lu, 1);

	if (longer) {
		out_be64(o, n);
		out_be32(o, 0);
		out_be32(o, bs);
	} else {
		out_be32(o, (uint32_t)MIN(n, UINT32_MAX));
		out_be32(o, bs);	/* one byte reserved, three of length */
	}
}

static void mode_header(struct scsi_cmd *cmd, struct out *o)
{
	bool longer = cmd->cdb[1] & 0x10 && sense10(cmd);	/* LLBAA */
	bool none = cmd->cdb[1] & 0x08;				/* DBD */
	uint8_t len = none ? 0 : longer ? 16 : 8;

	if (sense10(cmd)) {
		out_be16(o, 0);
		out_u8(o, 0);
		out_u8(o, device_specific(cmd));
		out_u8(o, longer && !none);		/* LONGLBA */
		out_u8(o, 0);
		out_be16(o, len);
	} else {
		out_u8(o, 0);
		out_u8(o, 0);
		out_u8(o, device_specific(cmd));
		out_u8(o, len);
	}
	if (len)
		block_descriptor(cmd->lu, longer, o);
}

enum scsi_result mode_sense_start(struct scsi_cmd *cmd)
{
	enum page_control pc = (enum page_control)(cmd->cdb[2] >> 6);
	uint8_t code = cmd->cdb[2] & 0x3f, subpage = cmd->cdb[3];
	struct out o = reply_begin(cmd);
	uint8_t bytes[PAGE_MAX];
	bool known = false, found = false;
	unsigned i;

	if (pc == SAVED)
		return SCSI_SAVING_NOT_SUPPORTED;
	mode_header(cmd, &o);
	for (i = 0; i < ARRAY_SIZE(pages); i++) {
		if (!page_offered(cmd->lu, &pages[i]) ||
		    (code != pages[i].code && code != ALL_PAGES))
			continue;
		known = true;
		if (subpage != pages[i].subpage && subpage != ALL_SUBPAGES)
			continue;
		page_bytes(cmd->lu, &pages[i], pc, bytes);
		out_bytes(&o, bytes, pages[i].len);
		found = true;
	}
	if (!found)
		return known ? bad_field(cmd, 3, 7) : bad_field(cmd, 2, 5);
	if (sense10(cmd))
		out_patch_be16(&o, 0, (uint16_t)(o.len - 2));
	else
		out_patch(&o, 0, &(uint8_t){ (uint8_t)(o.len - 1) }, 1);
	return reply_end(cmd, &o);
}

/* ---- MODE SELECT ------------------------------------------------------- */

/* What a good parameter list asks for. */
struct wish {
	uint8_t page[ARRAY_SIZE(pages)][PAGE_MAX];
	bool	set[ARRAY_SIZE(pages)];
};

static unsigned offset_of(const struct scsi_cmd *cmd, const struct cur *c)
{
	return (unsigned)(c->p - cmd->data);
}

/* Header and block descriptor: they may only say what is so. */
static enum scsi_result select_header(struct scsi_cmd *cmd, struct cur *c)
{
	unsigned size = sense10(cmd) ? 8 : 4, len, at;
	const uint8_t *h = cur_take(c, size), *d;
	uint64_t want, have = atomic_load(&cmd->lu->nblocks);
	uint32_t bs;
	bool longer;

	if (!h)
		return SCSI_PARAM_LENGTH_ERROR;
	len = size == 8 ? be16_get(BE_AT(be16, h, 6)) : h[3];
	longer = size == 8 && h[4] & 0x01;
	if (!len)
		return SCSI_GOOD;
	if (len != (longer ? 16u : 8u))
		return bad_param(cmd, SCSI_INVALID_FIELD_IN_PARAM, size - 1);
	at = offset_of(cmd, c);
	d = cur_take(c, len);
	if (!d)
		return SCSI_PARAM_LENGTH_ERROR;
	want = longer ? be64_get(BE_AT(be64, d, 0)) :
			be32_get(BE_AT(be32, d, 0));
	bs = longer ? be32_get(BE_AT(be32, d, 12)) :
		      be24_get(BE_AT(be24, d, 5));
	if (bs && bs != lu_bytes(cmd->lu, 1))
		return bad_param(cmd, SCSI_INVALID_FIELD_IN_PARAM,
				 at + (longer ? 12 : 5));
	if (want && want != have && want != (longer ? UINT64_MAX : UINT32_MAX))
		return bad_param(cmd, SCSI_INVALID_FIELD_IN_PARAM, at);
	return SCSI_GOOD;
}

/* The page that a header of the list names; -1: none.  PS is ignored. */
static int page_index(const struct lu *lu, const uint8_t *h)
{
	uint8_t subpage = h[0] & SPF ? h[1] : 0;
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(pages); i++)
		if (pages[i].code == (h[0] & 0x3f) &&
		    pages[i].subpage == subpage &&
		    !pages[i].subpage == !(h[0] & SPF) &&
		    page_offered(lu, &pages[i]))
			return (int)i;
	return -1;
}

/* Nothing but changeable bits may differ from what is so now. */
static enum scsi_result check_page(struct scsi_cmd *cmd, unsigned at,
				   const struct mode_page *p,
				   const uint8_t *page)
{
	uint8_t now[PAGE_MAX], mask[PAGE_MAX];
	unsigned k;

	page_bytes(cmd->lu, p, CURRENT, now);
	page_bytes(cmd->lu, p, CHANGEABLE, mask);
	for (k = header_of(p); k < p->len; k++)
		if ((page[k] ^ now[k]) & ~mask[k])
			return bad_param(cmd, SCSI_INVALID_FIELD_IN_PARAM,
					 at + k);
	k = p->code == CONTROL && !p->subpage ? bad_control(page) : 0;
	if (k)
		return bad_param(cmd, SCSI_INVALID_FIELD_IN_PARAM, at + k);
	return SCSI_GOOD;
}

static enum scsi_result select_page(struct scsi_cmd *cmd, struct cur *c,
				    struct wish *wish)
{
	unsigned at = offset_of(cmd, c), size, len;
	const uint8_t *h = cur_take(c, 2);
	int i;

	if (!h)
		return SCSI_PARAM_LENGTH_ERROR;
	i = page_index(cmd->lu, h);
	if (i < 0)
		return bad_param(cmd, SCSI_INVALID_FIELD_IN_PARAM, at);
	size = header_of(&pages[i]);
	if (size == 4 && !cur_take(c, 2))
		return SCSI_PARAM_LENGTH_ERROR;
	len = size == 4 ? be16_get(BE_AT(be16, h, 2)) : h[1];
	if (len != pages[i].len - size)
		return bad_param(cmd, SCSI_INVALID_FIELD_IN_PARAM,
				 at + size - 1);
	if (!cur_take(c, len))
		return SCSI_PARAM_LENGTH_ERROR;
	memcpy(wish->page[i], h, pages[i].len);
	wish->set[i] = true;
	return check_page(cmd, at, &pages[i], h);
}

static void wce_done(struct scsi_cmd *cmd, int err)
{
	if (!err)
		ua_post(cmd->lu, UA_MODE_CHANGED, cmd->nexus);
	scsi_done(cmd, result_of_errno(err, true));
}

static enum scsi_result apply(struct scsi_cmd *cmd, const struct wish *wish)
{
	struct lu *lu = cmd->lu;
	bool changed = false, wce = volume_write_back(lu->volume);
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(pages); i++) {
		const uint8_t *p = wish->page[i];

		if (!wish->set[i] || pages[i].subpage)
			continue;
		if (pages[i].code == CONTROL)
			changed |= set_control(lu, p);
		else if (pages[i].code == CACHING)
			wce = p[2] & WCE;
	}
	if (changed)
		ua_post(lu, UA_MODE_CHANGED, cmd->nexus);
	if (wce == volume_write_back(lu->volume))
		return SCSI_GOOD;
	lu_change_wce(cmd, wce, wce_done);
	return SCSI_PENDING;
}

enum scsi_result mode_select_start(struct scsi_cmd *cmd)
{
	struct cur c = cur_of(cmd->data, cmd->length);
	struct wish wish = { 0 };
	enum scsi_result r;

	if (!(cmd->cdb[1] & 0x10))
		return bad_field(cmd, 1, 4);	/* PF */
	if (cmd->cdb[1] & 0x01)
		return bad_field(cmd, 1, 0);	/* SP: nothing is saved */
	if (!cmd->length)
		return SCSI_GOOD;
	r = select_header(cmd, &c);
	while (!r && cur_left(&c))
		r = select_page(cmd, &c, &wish);
	return r ? r : apply(cmd, &wish);
}
