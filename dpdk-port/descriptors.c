/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#define DESCRIPTORS_MAX 64

int descriptors_check(unsigned n, unsigned *free)
{
	int fd[DESCRIPTORS_MAX], r = 0;

	*free = 0;
	if (n > DESCRIPTORS_MAX)
		n = DESCRIPTORS_MAX;
	/* By opening them: how many there are depends on others, too. */
	while (*free < n && !r) {
		int next = *free == 0 ? eventfd(0, EFD_CLOEXEC) : fcntl(fd[0], F_DUPFD_CLOEXEC, 0);

		if (next >= 0)
			fd[(*free)++] = next;
		else
			r = errno == ENFILE ? -ENFILE : -EMFILE;
	}
	for (unsigned i = 0; i < *free; i++)
		close(fd[i]);
	return r;
}

uintmax_t descriptors_limit(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) != 0 ? 0 : limit.rlim_cur;
}
