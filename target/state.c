/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The state folder; see state.h. */

#include "target/state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include "lib/log.h"

static struct {
	char		 dir[PATH_MAX - 128];
	int		 lock;
	pthread_mutex_t	 mutex;		/* of what follows */
	json_t		*ports;		/* ports.json; NULL: not read yet */
} state = { .lock = -1, .mutex = PTHREAD_MUTEX_INITIALIZER };

void state_look(const char *dir)
{
	snprintf(state.dir, sizeof(state.dir), "%s", dir);
}

int state_open(const char *dir)
{
	char path[PATH_MAX];
	int err;

	state_look(dir);
	snprintf(path, sizeof(path), "%s/identities", state.dir);
	err = make_folders(state.dir, 0700);
	if (!err)
		err = make_folders(path, 0700);
	snprintf(path, sizeof(path), "%s/reservations", state.dir);
	if (!err)
		err = make_folders(path, 0700);
	if (err)
		return err;
	snprintf(path, sizeof(path), "%s/lock", state.dir);
	state.lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (state.lock < 0)
		return -errno;
	if (flock(state.lock, LOCK_EX | LOCK_NB)) {
		err = errno == EWOULDBLOCK ? -EBUSY : -errno;
		close(state.lock);
		state.lock = -1;
	}
	return err;
}

const char *state_dir(void)
{
	return state.dir;
}

void state_close(void)
{
	pthread_mutex_lock(&state.mutex);
	json_decref(state.ports);
	state.ports = NULL;
	pthread_mutex_unlock(&state.mutex);
	if (state.lock >= 0)
		close(state.lock);
	state.lock = -1;
}

/* ---- identities --------------------------------------------------------- */

int identity_make(struct identity *ret)
{
	struct identity id = { .naa_len = 16 };
	uint64_t x;

	if (getrandom(id.naa, sizeof(id.naa), 0) != sizeof(id.naa))
		return -errno;
	/*
	 * NAA 6h, IEEE Registered Extended: 24 bits of company id, of which
	 * the locally administered bit stands at 02 0000h; 100 are random.
	 */
	id.naa[0] = 0x60;
	id.naa[1] = 0x20;
	id.naa[2] = 0x00;
	id.naa[3] &= 0x0f;
	memcpy(&x, id.naa + 8, sizeof(x));
	snprintf(id.serial, sizeof(id.serial), "%016llx",
		 (unsigned long long)__builtin_bswap64(x));
	*ret = id;
	return 0;
}

const char *naa_text(const uint8_t *naa, unsigned len, char *buf)
{
	unsigned i;

	buf[0] = '\0';
	for (i = 0; i < len; i++)
		snprintf(buf + 2 * i, 3, "%02x", naa[i]);
	return buf;
}

static void identity_path(const char *volume, char *path)
{
	snprintf(path, PATH_MAX, "%s/identities/%s.json", state.dir, volume);
}

static int naa_of_text(const char *s, struct identity *id)
{
	size_t i, n = s ? strlen(s) : 0;

	if (n != 16 && n != 32)
		return -EINVAL;
	for (i = 0; i < n / 2; i++)
		if (sscanf(s + 2 * i, "%2hhx", &id->naa[i]) != 1)
			return -EINVAL;
	id->naa_len = (uint8_t)(n / 2);
	return 0;
}

int identity_load(const char *volume, struct identity *ret)
{
	struct identity id = { 0 };
	const char *serial;
	char path[PATH_MAX];
	json_t *doc;
	int err;

	identity_path(volume, path);
	if (access(path, F_OK))
		return -errno;
	doc = json_load_file(path, 0, NULL);
	serial = json_string_value(json_object_get(doc, "serial"));
	err = naa_of_text(json_string_value(json_object_get(doc, "naa")), &id);
	if (!err && (!serial || strlen(serial) >= sizeof(id.serial)))
		err = -EINVAL;
	if (!err) {
		snprintf(id.serial, sizeof(id.serial), "%s", serial);
		*ret = id;
	}
	json_decref(doc);
	return err;
}

int identity_save(const char *volume, const struct identity *id)
{
	char path[PATH_MAX], naa[33];
	json_t *doc;
	int err;

	naa_text(id->naa, id->naa_len, naa);
	doc = json_pack("{s:s, s:s}", "naa", naa, "serial", id->serial);
	if (!doc)
		return -ENOMEM;
	identity_path(volume, path);
	err = file_replace_json(path, doc, 0600);
	json_decref(doc);
	return err;
}

void identity_remove(const char *volume)
{
	char path[PATH_MAX];

	identity_path(volume, path);
	if (unlink(path) && errno != ENOENT)
		log_err("cannot remove %s: %m", path);
	/* the next volume of that name is another */
	reservations_save(volume, NULL, 0);
}

/* ---- relative target port identifiers ----------------------------------- */

/* { "next": 3, "ports": { "iqn...,1": 2 } }: next only ever grows. */
static json_t *ports_load(const char *path)
{
	json_error_t where;
	json_t *doc;

	if (access(path, F_OK))
		return json_pack("{s:i, s:{}}", "next", 1, "ports");
	doc = json_load_file(path, 0, &where);
	if (json_is_integer(json_object_get(doc, "next")) &&
	    json_is_object(json_object_get(doc, "ports")))
		return doc;
	log_err("%s is damaged: %s", path, doc ? "not ours" : where.text);
	json_decref(doc);
	return NULL;
}

static json_int_t port_give(const char *path, const char *key)
{
	json_t *ports = json_object_get(state.ports, "ports");
	json_int_t n;
	int err;

	n = json_integer_value(json_object_get(state.ports, "next"));
	if (n < 1 || n > UINT16_MAX) {
		log_err("no relative target port identifier is left");
		return 0;
	}
	json_object_set_new(ports, key, json_integer(n));
	json_object_set_new(state.ports, "next", json_integer(n + 1));
	err = file_replace_json(path, state.ports, 0600);
	if (!err)
		return n;
	/* the number stays used: it may be on the medium */
	json_object_del(ports, key);
	log_err("cannot write %s: %s", path, strerror(-err));
	return 0;
}

uint16_t port_id(const char *iqn, uint16_t group)
{
	char path[PATH_MAX], key[320];
	json_int_t n = 0;

	snprintf(path, sizeof(path), "%s/ports.json", state.dir);
	snprintf(key, sizeof(key), "%s,%u", iqn, group);
	pthread_mutex_lock(&state.mutex);
	if (!state.ports)
		state.ports = ports_load(path);
	if (state.ports) {
		n = json_integer_value(json_object_get(
			json_object_get(state.ports, "ports"), key));
		if (!n)
			n = port_give(path, key);
	}
	pthread_mutex_unlock(&state.mutex);
	return (uint16_t)n;
}
