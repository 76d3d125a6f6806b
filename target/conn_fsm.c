/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Two tables: the states of a connection (RFC 7143 8.1.4, whose transition
 * numbers stand in the rows) and the PDUs that may come, with the states in
 * which each is legal.
 */

#include "lib/log.h"
#include "target/session_int.h"

static const char *const state_names[] = {
	[CONN_IN_LOGIN]		= "IN_LOGIN",
	[CONN_LOGGED_IN]	= "LOGGED_IN",
	[CONN_IN_LOGOUT]	= "IN_LOGOUT",
	[CONN_CLEANUP]		= "CLEANUP_WAIT",
};

static const char *const event_names[] = {
	[EV_LOGGED_IN]	= "login final",
	[EV_LOGOUT]	= "logout",
	[EV_LOST]	= "lost",
};

struct edge {
	enum conn_state	 from;
	enum conn_event	 event;
	enum conn_state	 to;
};

static const struct edge edges[] = {
	{ CONN_IN_LOGIN,	EV_LOGGED_IN,	CONN_LOGGED_IN },	/* T5 */
	{ CONN_IN_LOGIN,	EV_LOST,	CONN_CLEANUP },	/* T7 */
	{ CONN_LOGGED_IN,	EV_LOGOUT,	CONN_IN_LOGOUT },	/* T9 */
	{ CONN_LOGGED_IN,	EV_LOST,	CONN_CLEANUP },	/* T15 */
	{ CONN_IN_LOGOUT,	EV_LOST,	CONN_CLEANUP },	/* T13 */
};

bool conn_event(struct conn *c, enum conn_event ev)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(edges); i++) {
		if (edges[i].from != c->state || edges[i].event != ev)
			continue;
		c->state = edges[i].to;
		return true;
	}
	log_peer("connection in %s: %s has no place here",
		 state_names[c->state], event_names[ev]);
	return false;
}

/* Until there is a session, ExpCmdSN is what the initiator numbers by. */
static void login_begin(struct conn *c, const union bhs *b)
{
	c->login_cmd_sn = be32_get(b->login_request.cmd_sn);
	c->exp_stat_sn = be32_get(b->login_request.exp_stat_sn);
}

static const struct pdu_op pdu_ops[] = {
	{ OP_NOP_OUT, "NOP-Out", IN_NORMAL | IN_DISCOVERY, true,
	  NULL, nop_out },
	{ OP_SCSI_COMMAND, "SCSI Command", IN_NORMAL, true,
	  task_begin, task_command },
	{ OP_TMF_REQUEST, "Task Management Function Request", IN_NORMAL, true,
	  NULL, tmf_request },
	{ OP_LOGIN_REQUEST, "Login Request", IN_LOGIN, false,
	  login_begin, login_request },
	{ OP_TEXT_REQUEST, "Text Request", IN_NORMAL | IN_DISCOVERY, true,
	  NULL, text_request },
	{ OP_DATA_OUT, "SCSI Data-Out", IN_NORMAL, false,
	  data_out_begin, data_out_pdu },
	{ OP_LOGOUT_REQUEST, "Logout Request", IN_NORMAL | IN_DISCOVERY, true,
	  NULL, logout_request },
	{ OP_SNACK, "SNACK Request", IN_NORMAL, false, NULL, snack_request },
};

static const struct pdu_op unknown_op = {
	0xff, "unknown opcode", IN_NORMAL | IN_DISCOVERY, false,
	NULL, unknown_request,
};

const struct pdu_op *pdu_op_of(unsigned opcode)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(pdu_ops); i++)
		if (pdu_ops[i].opcode == opcode)
			return &pdu_ops[i];
	return &unknown_op;
}

bool conn_discovery(const struct conn *c)
{
	return c->session && c->session->discovery;
}

bool pdu_legal(const struct conn *c, const struct pdu_op *op)
{
	switch (c->state) {
	case CONN_IN_LOGIN:
		return op->legal & IN_LOGIN;
	case CONN_LOGGED_IN:
		return op->legal & (conn_discovery(c) ? IN_DISCOVERY :
							IN_NORMAL);
	case CONN_IN_LOGOUT:
		/* Data-Out of commands that the Logout ends */
		return op->opcode == OP_DATA_OUT;
	case CONN_CLEANUP:
		break;
	}
	return false;
}
