/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One JSON-RPC call over the control socket: a document a line, there and back.
 */
#include "cli/cli_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int connect_to(const char *path)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(sa.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(sa.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0) {
		int err = errno;

		close(fd);
		errno = err;
		return -1;
	}
	return fd;
}

static int send_line(int fd, json_t *request)
{
	char *text = json_dumps(request, JSON_COMPACT);
	size_t len, at = 0;

	if (!text) {
		errno = ENOMEM;
		return -1;
	}
	len = strlen(text);
	text[len] = '\n';	/* takes the place of the NUL */
	while (at < len + 1) {
		ssize_t n = send(fd, text + at, len + 1 - at, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		at += (size_t)n;
	}
	explicit_bzero(text, len);	/* it may hold a secret */
	free(text);
	return at == len + 1 ? 0 : -1;
}

/* The answer's line, NUL terminated, or NULL with errno. */
static char *receive_line(int fd)
{
	size_t len = 0, room = 65536;
	char *buf = malloc(room);

	while (buf) {
		ssize_t n = recv(fd, buf + len, room - len - 1, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			if (n == 0)
				errno = ECONNRESET;
			break;
		}
		len += (size_t)n;
		buf[len] = '\0';
		if (buf[len - 1] == '\n')
			return buf;
		if (room - len < 4096) {
			char *more = realloc(buf, room * 2);

			if (!more)
				break;
			buf = more;
			room *= 2;
		}
	}
	free(buf);
	return NULL;
}

static int take_answer(const char *line, json_t **ret_result, char **ret_reason)
{
	json_error_t e;
	json_t *answer = json_loads(line, JSON_DECODE_ANY, &e);
	json_t *error = json_object_get(answer, "error");
	json_t *result = json_object_get(answer, "result");
	int status = EXIT_DONE;

	if (error || !result) {
		const char *why = json_string_value(
			json_object_get(error, "message"));

		*ret_reason = strdup(why ? why : "the answer makes no sense");
		status = EXIT_REFUSED;
	} else {
		*ret_result = json_incref(result);
	}
	json_decref(answer);
	return status;
}

int cli_call(const char *socket, const char *method, json_t *params,
	     json_t **ret_result, char **ret_reason)
{
	json_t *request = json_pack("{s:s, s:i, s:s, s:O}",
				    "jsonrpc", "2.0", "id", 1,
				    "method", method, "params", params);
	int status = EXIT_NO_DAEMON;
	char *line = NULL;
	int fd;

	if (!request) {
		errno = ENOMEM;
		return EXIT_NO_DAEMON;
	}
	fd = connect_to(socket);
	if (fd >= 0) {
		if (send_line(fd, request) == 0)
			line = receive_line(fd);
		if (line)
			status = take_answer(line, ret_result, ret_reason);
		close(fd);
	}
	free(line);
	json_decref(request);
	return status;
}
