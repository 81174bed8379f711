/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/memif_seal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

int memif_seal(int fd, uint64_t *size)
{
	struct statfs fs;
	struct stat st;
	int seals;

	/* Before any other question: a file system of the peer's own (FUSE) need not answer. */
	(void)fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK); /* it may have them all already */
	seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || !(seals & F_SEAL_SHRINK))
		return -EPERM;
	if (fstatfs(fd, &fs) || fstat(fd, &st))
		return -errno;
	*size = (uint64_t)st.st_size;
	return fs.f_type == HUGETLBFS_MAGIC ? -EPERM : 0;
}
