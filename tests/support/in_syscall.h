/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file in_syscall.h
 * Until a thread of this process sleeps where a test wants it to.
 */
#ifndef SUPPORT_IN_SYSCALL_H
#define SUPPORT_IN_SYSCALL_H

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/**
 * Wait until the kernel says that the thread is in system call @p number.
 * @param tid of the thread, which it sets itself; 0 as long as it has not.
 */
static inline void wait_until_in_syscall(const _Atomic pid_t *tid, long number)
{
	char path[64], text[16] = "", expected[16];
	ssize_t n;
	int fd;

	while (*tid == 0)
		sched_yield();
	snprintf(path, sizeof path, "/proc/self/task/%d/syscall", (int)*tid);
	snprintf(expected, sizeof expected, "%ld ", number);
	do {
		sched_yield();
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0) {
			perror(path);
			abort();
		}
		n = read(fd, text, sizeof text - 1);
		close(fd);
		text[n < 0 ? 0 : n] = '\0';
	} while (strncmp(text, expected, strlen(expected)) != 0);
}

#endif
