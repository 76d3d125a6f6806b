/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * LOG SENSE and LOG SELECT (SPC-4): the pages that hosts poll, and no more.
 */

#include <stdlib.h>

#include "scsi/scsi_int.h"

#define NO_TEMPERATURE	0xff	/* the sensor gives no value */

/* What a page is made of; space where the page wants it. */
struct log_ask {
	const struct lu	 *lu;
	uint16_t	 from;		/* PARAMETER POINTER */
	struct volume_space space;
};

/* The header of a parameter, unless it stands before those asked for.  All are
 * lists: which values of them, by PC, is no question. */
static bool parameter(const struct log_ask *a, struct out *o, uint16_t code,
		      uint8_t len)
{
	if (code < a->from)
		return false;
	out_be16(o, code);
	out_u8(o, 0x03);		/* FORMAT AND LINKING: a binary list */
	out_u8(o, len);
	return true;
}

static void supported(const struct log_ask *a, struct out *o);
static void supported_subpages(const struct log_ask *a, struct out *o);

static void temperature(const struct log_ask *a, struct out *o)
{
	if (!parameter(a, o, 0x0000, 2))
		return;
	out_u8(o, 0);
	out_u8(o, NO_TEMPERATURE);
}

/* SBC-3 6.3.4: in threshold sets, with the scope of what is counted. */
static void resources(const struct log_ask *a, struct out *o, uint16_t code,
		      uint64_t bytes, uint8_t scope)
{
	if (!parameter(a, o, code, 8))
		return;
	out_be32(o, threshold_sets(bytes));
	out_u8(o, scope);
	out_fill(o, 0, 3);
}

/* A device tells nothing of what is left. */
static void provisioning(const struct log_ask *a, struct out *o)
{
	enum { DEDICATED = 1, SHARED = 2 };

	if (a->space.fs_total)
		resources(a, o, 0x0001, a->space.fs_free, SHARED);
	resources(a, o, 0x0002, a->space.allocated, DEDICATED);
}

/* The soft threshold stands here while it is exceeded. */
static void exceptions(const struct log_ask *a, struct out *o)
{
	bool reached = atomic_load(&a->lu->threshold_reached);

	if (!parameter(a, o, 0x0000, 4))
		return;
	out_u8(o, reached ? 0x38 : 0);		/* ASC, ASCQ */
	out_u8(o, reached ? 0x07 : 0);
	out_u8(o, NO_TEMPERATURE);
	out_u8(o, 0);
}

#define SUBPAGES	0xff

static const struct log_page {
	uint8_t code, subpage;
	uint16_t last;		/* the last parameter's code */
	bool	thin, space;	/* for thin provisioning; wants its space */
	void	(*fill)(const struct log_ask *a, struct out *o);
} pages[] = {
	{ 0x00, 0, 0, false, false, supported },
	{ 0x00, SUBPAGES, 0, false, false, supported_subpages },
	{ 0x0c, 0, 0x0002, true, true, provisioning },
	{ 0x0d, 0, 0, false, false, temperature },
	{ 0x2f, 0, 0, false, false, exceptions },
};

static bool offered(const struct log_page *p, const struct lu *lu)
{
	return !p->thin || lu_thin(lu);
}

static void supported(const struct log_ask *a, struct out *o)
{
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(pages); i++)
		if (!pages[i].subpage && offered(&pages[i], a->lu))
			out_u8(o, pages[i].code);
}

static void supported_subpages(const struct log_ask *a, struct out *o)
{
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(pages); i++) {
		if (!offered(&pages[i], a->lu))
			continue;
		out_u8(o, pages[i].code);
		out_u8(o, pages[i].subpage);
	}
}

static enum scsi_result answer(struct scsi_cmd *cmd, const struct log_page *p,
			       const struct log_ask *a)
{
	struct out o = reply_begin(cmd);

	out_u8(&o, p->code | (p->subpage ? 0x40 : 0));	/* SPF */
	out_u8(&o, p->subpage);
	out_be16(&o, 0);
	p->fill(a, &o);
	out_patch_be16(&o, 2, (uint16_t)(o.len - 4));
	return reply_end(cmd, &o);
}

/* A page that waits for a file system to tell its space. */
struct log_wait {
	struct lu_space	  space;
	struct scsi_cmd	 *cmd;
	const struct log_page *page;
};

static uint16_t pointer(const struct scsi_cmd *cmd)
{
	return be16_get(BE_AT(be16, cmd->cdb, 5));
}

static void space_told(struct lu_space *s)
{
	struct log_wait *w = container_of(s, struct log_wait, space);
	struct log_ask a = { w->cmd->lu, pointer(w->cmd), s->space };
	enum scsi_result r = result_of_errno(s->work.error, false);

	if (!r)
		r = answer(w->cmd, w->page, &a);
	scsi_done(w->cmd, r);
	free(w);
}

static enum scsi_result ask_space(struct scsi_cmd *cmd,
				  const struct log_page *p)
{
	struct log_wait *w = malloc(sizeof(*w));

	if (!w)
		return SCSI_BUSY_RESOURCES;
	*w = (struct log_wait){ .space.done = space_told, .cmd = cmd,
				.page = p };
	lu_get_space(cmd->lu, &w->space);
	return SCSI_PENDING;
}

/* The page of the CDB, or NULL with the byte at fault. */
static const struct log_page *page_of(const struct scsi_cmd *cmd,
				      unsigned *ret_bad)
{
	uint8_t code = cmd->cdb[2] & 0x3f, subpage = cmd->cdb[3];
	unsigned i;

	*ret_bad = 2;
	for (i = 0; i < ARRAY_SIZE(pages); i++) {
		if (pages[i].code != code || !offered(&pages[i], cmd->lu))
			continue;
		if (pages[i].subpage == subpage)
			return &pages[i];
		*ret_bad = 3;
	}
	return NULL;
}

enum scsi_result log_sense_start(struct scsi_cmd *cmd)
{
	struct log_ask a = { .lu = cmd->lu, .from = pointer(cmd) };
	const struct log_page *p;
	unsigned bad;

	p = page_of(cmd, &bad);
	if (!p)
		return bad_field(cmd, bad, bad == 2 ? 5 : 7);
	if (a.from > p->last)
		return bad_field(cmd, 5, 7);
	return p->space ? ask_space(cmd, p) : answer(cmd, p, &a);
}

/* No parameter can be set, and none counts what could be reset. */
enum scsi_result log_select_start(struct scsi_cmd *cmd)
{
	bool reset = cmd->cdb[1] & 0x02;		/* PCR */
	unsigned bad;

	if (reset && cmd->length)
		return bad_field(cmd, 1, 1);
	if (cmd->length)
		return bad_param(cmd, SCSI_INVALID_FIELD_IN_PARAM, 0);
	if (!page_of(cmd, &bad))
		return bad_field(cmd, bad, bad == 2 ? 5 : 7);
	return SCSI_GOOD;
}
