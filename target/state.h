/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TARGET_STATE_H
#define TARGET_STATE_H

/*
 * The state folder: what the daemon itself must remember.  identities/NAME.json
 * holds the NAA designator and the serial number of a volume, reservations/NAME
 * its persistent reservations while a host asked for that, ports.json the
 * relative target port identifiers.  One daemon at a time may use a folder.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Replaces a file whole: temporary file beside it, fsync, rename, fsync of the
 * folder.  What path is a link to is replaced, not the link.  An old file's
 * mode and owner are kept, a new one gets mode.  0 or -errno, and then the old
 * file is as it was.
 */
int file_replace(const char *path, const char *data, size_t len, mode_t mode);
int file_replace_json(const char *path, const json_t *doc, mode_t mode);
/* Removes it, on stable storage; 0 also when there was none. */
int file_remove(const char *path);
/* mkdir -p; 0 or -errno. */
int make_folders(const char *path, mode_t mode);

/* Makes the folder where it is absent and locks it.  0, -EBUSY: another daemon
 * has it, or -errno. */
int state_open(const char *dir);
/* Says only where it is, to read from it: nothing is made or locked. */
void state_look(const char *dir);
void state_close(void);
const char *state_dir(void);

struct identity {
	uint8_t	naa[16], naa_len;
	char	serial[33];
};

/* A new one: NAA 6h, company id locally administered, the rest random. */
int identity_make(struct identity *ret);
/* 0, -ENOENT, -EINVAL (not one of ours), -errno. */
int identity_load(const char *volume, struct identity *ret);
/* Recorded and on stable storage when it returns 0. */
int identity_save(const char *volume, const struct identity *id);
/* Only when the volume was deleted by the operator; its reservations too. */
void identity_remove(const char *volume);
/*
 * Persistent reservations of a volume, bytes of the SCSI layer.  load: 0 with
 * malloc()ed bytes, -ENOENT, -errno.  aside: damaged, renamed for people to
 * look at.  save: on stable storage when it returns 0; without bytes the file
 * goes.
 */
int reservations_load(const char *volume, void **ret, size_t *ret_len);
void reservations_aside(const char *volume);
int reservations_save(const char *volume, const void *bytes, size_t len);
/* NAA as digits; room for 33 bytes. */
const char *naa_text(const uint8_t *naa, unsigned len, char *buf);

/*
 * The relative target port identifier of a target in a portal group: 1 to
 * 65535, given once, recorded, never reused.  0 when there is none to be had.
 * Any thread.  The first time it waits for the disk, so the configuration asks
 * for every pair ahead of the logins.
 */
uint16_t port_id(const char *iqn, uint16_t group);

#endif
