/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file as_init.h
 * As process 1, which the kernel spares the default actions of signals: what a container starts.
 */
#ifndef SUPPORT_AS_INIT_H
#define SUPPORT_AS_INIT_H

#include "support/child_fork.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/** The exit status where no namespace can be had. */
#define AS_INIT_REFUSED 77

/** Who may not have one has one in a user namespace, perhaps, under the number of its own. */
static inline int as_init_namespace(void)
{
	char map[64];
	int fd, n;

	if (unshare(CLONE_NEWPID) == 0)
		return 0;
	n = snprintf(map, sizeof map, "%u %u 1", getuid(), getuid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
		return -1;
	fd = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = write(fd, map, (size_t)n) == n ? 0 : -1;
	close(fd);
	return n;
}

/**
 * End this process, of one thread, with the exit status of @p fn in a PID namespace of its own. Who
 * has children in another namespace cannot look for leaks: that needs such a child.
 */
_Noreturn static inline void as_init(int (*fn)(void))
{
	int status;
	pid_t pid;

	if (as_init_namespace() != 0)
		_exit(AS_INIT_REFUSED);
	pid = child_fork();
	if (pid == 0)
		_exit(getpid() == 1 ? fn() : 98);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		_exit(97);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

#endif
