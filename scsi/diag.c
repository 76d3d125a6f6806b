/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * SEND DIAGNOSTIC, READ BUFFER and WRITE BUFFER (SPC-4).  The self-test reads
 * the first block; of the buffers there is the echo buffer, one for each I_T_L
 * nexus's initiator, that is each nexus.
 */

#include <stdlib.h>

#include "lib/buf.h"
#include "scsi/io_int.h"

/* ---- SEND DIAGNOSTIC --------------------------------------------------- */

enum { SELFTEST = 0x04, FOREGROUND_SHORT = 5, FOREGROUND_EXTENDED = 6 };

static void tested(struct breq *b)
{
	struct scsi_cmd *cmd = container_of(b, struct scsi_cmd, breq);

	buf_put(cmd_bufs(cmd), b->data, (uint32_t)b->len);
	scsi_done(cmd, b->error ? SCSI_SELF_TEST_FAILED : SCSI_GOOD);
}

enum scsi_result send_diagnostic_start(struct scsi_cmd *cmd)
{
	unsigned code = cmd->cdb[1] >> 5;

	if (cmd->length)
		return bad_field(cmd, 3, 7);	/* there are no pages */
	if (cmd->cdb[1] & SELFTEST ? code :
	    code && code != FOREGROUND_SHORT && code != FOREGROUND_EXTENDED)
		return bad_field(cmd, 1, 7);
	if (!code && !(cmd->cdb[1] & SELFTEST))
		return SCSI_GOOD;
	cmd_bytes(cmd, BREQ_READ, 0, cmd_block(cmd));
	cmd->breq.data = buf_get(cmd_bufs(cmd), cmd_block(cmd), BUF_NORMAL);
	if (!cmd->breq.data)
		return SCSI_BUSY_RESOURCES;
	cmd->breq.done = tested;
	volume_submit(cmd->lu->volume, &cmd->breq);
	return SCSI_PENDING;
}

/* ---- READ BUFFER, WRITE BUFFER ----------------------------------------- */

enum { MODE_ECHO = 0x0a, MODE_ECHO_DESCRIPTOR = 0x0b };

#define ECHO_MAX 4096u

struct echo {
	uint32_t len;
	uint8_t	 data[ECHO_MAX];
};

void echo_free(struct nexus *n)
{
	free(n->echo);
	n->echo = NULL;
}

/* Buffer identifier and offset mean nothing to an echo buffer. */
static enum scsi_result check_buffer(struct scsi_cmd *cmd)
{
	unsigned i;

	for (i = 2; i < 6; i++)
		if (cmd->cdb[i])
			return bad_field(cmd, i, 7);
	return SCSI_GOOD;
}

enum scsi_result write_buffer_start(struct scsi_cmd *cmd)
{
	struct nexus *n = cmd->nexus;
	enum scsi_result r = check_buffer(cmd);

	if (cmd->cdb[1] != MODE_ECHO)
		return bad_field(cmd, 1, 4);
	if (r)
		return r;
	if (cmd->wanted > ECHO_MAX)
		return bad_field(cmd, 6, 7);
	if (!n->echo)
		n->echo = malloc(sizeof(struct echo));
	if (!n->echo)
		return SCSI_BUSY_RESOURCES;
	n->echo->len = cmd->length;
	if (cmd->length)
		memcpy(n->echo->data, cmd->data, cmd->length);
	return SCSI_GOOD;
}

static void put_descriptor(struct out *o)
{
	out_u8(o, 0);			/* EBOS: nobody else overwrites it */
	out_u8(o, 0);
	out_be16(o, ECHO_MAX);
}

enum scsi_result read_buffer_start(struct scsi_cmd *cmd)
{
	const struct echo *e = cmd->nexus->echo;
	enum scsi_result r = check_buffer(cmd);
	struct out o = reply_begin(cmd);

	if (cmd->cdb[1] != MODE_ECHO && cmd->cdb[1] != MODE_ECHO_DESCRIPTOR)
		return bad_field(cmd, 1, 4);
	if (r)
		return r;
	if (cmd->cdb[1] == MODE_ECHO_DESCRIPTOR)
		put_descriptor(&o);
	else if (!e)
		return SCSI_COMMAND_SEQUENCE_ERROR;
	else
		out_bytes(&o, e->data, e->len);
	return reply_end(cmd, &o);
}
