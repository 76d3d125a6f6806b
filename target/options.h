/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TARGET_OPTIONS_H
#define TARGET_OPTIONS_H

/* The command line of lund. */

#include <jansson.h>
#include <stdbool.h>

#include "backend/engine.h"
#include "lib/log.h"

struct options {
	char		*file;		/* absolute */
	bool		 file_named;	/* by -c: it must be there */
	char		*socket, *state_dir, *pidfile;
	char		*user;		/* NULL: the configuration's, or none */
	json_t		*portals;	/* --portal; NULL: none */
	unsigned	 workers;
	enum engine_kind engine;
	enum log_level	 level;
	bool		 check, daemon, syslog;
};

/* 0: go on; else the program ends with *ret_status, having said why. */
int options_read(int argc, char **argv, struct options *ret, int *ret_status);
void options_free(struct options *o);

#endif
