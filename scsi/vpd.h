/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SCSI_VPD_H
#define SCSI_VPD_H

/* The table of VPD pages (vpd.c) and what INQUIRY needs of it. */

#include "scsi/scsi_int.h"

struct vpd_page {
	uint8_t code;
	bool	no_lu;		/* answers where no logical unit is */
	/* NULL: always there */
	bool	(*offered)(const struct lu *lu);
	/* Puts what follows the four bytes of header. */
	void	(*fill)(struct scsi_cmd *cmd, struct out *o);
};

/* The page, if lu (NULL: none) has it now. */
const struct vpd_page *vpd_find(const struct lu *lu, uint8_t code);

/* Text, left aligned and padded with spaces. */
void out_ascii(struct out *o, const char *text, size_t width);

#endif
