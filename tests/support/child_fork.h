/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file child_fork.h
 * A child that does not outlive a test which has failed: it would keep the pipe of who waits for
 * the test's output, and whatever else the two share.
 */
#ifndef SUPPORT_CHILD_FORK_H
#define SUPPORT_CHILD_FORK_H

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

/** fork(), for a child that is killed when the calling thread ends. */
static inline pid_t child_fork(void)
{
	pid_t parent = getpid(), child = fork(), seen;

	if (child != 0)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	seen = getppid();
	/* It has ended before that. In a PID namespace of its own a child has no parent to see. */
	if (seen != parent && seen != 0)
		_exit(125);
	return 0;
}

#endif
