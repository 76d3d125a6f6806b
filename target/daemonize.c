/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The pipe says "+" when the child is ready, else why it is not; it then ends
 * with the child, so that who reads the reason finds nothing of it left. */

#include "target/daemonize.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/util.h"

static int ready_fd = -1;

static void wait_for_child(int fd)
{
	char text[1024] = "";
	size_t used = 0;
	ssize_t n;

	while (used < sizeof(text) - 1 && text[0] != '+' &&
	       (n = read(fd, text + used, sizeof(text) - 1 - used)) > 0)
		used += (size_t)n;
	text[used] = '\0';
	if (text[0] == '+')
		exit(EXIT_SUCCESS);
	fprintf(stderr, "lund: %s\n", used ? text : "ended at its start");
	exit(EXIT_FAILURE);
}

static void detach_streams(void)
{
	int fd = open("/dev/null", O_RDWR);

	if (fd < 0)
		return;
	dup2(fd, STDIN_FILENO);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

void daemonize(void)
{
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) || (pid = fork()) < 0) {
		perror("lund: cannot go to the background");
		exit(EXIT_FAILURE);
	}
	if (pid) {
		close(fds[1]);
		wait_for_child(fds[0]);
	}
	close(fds[0]);
	ready_fd = fds[1];
	setsid();
	/* no session's leader any more: no terminal can be got by accident */
	pid = fork();
	if (pid)
		_exit(pid < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
	if (chdir("/"))
		perror("lund: /");
	detach_streams();
}

static void tell(const char *text)
{
	ssize_t n;

	if (ready_fd < 0)
		return;
	n = write(ready_fd, text, strlen(text));
	(void)n;
}

void daemon_ready(void)
{
	tell("+");
	if (ready_fd >= 0)
		close(ready_fd);
	ready_fd = -1;
}

void daemon_failed(const char *why)
{
	tell(why);
}
