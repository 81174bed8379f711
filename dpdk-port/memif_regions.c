/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/memif_regions.h"

#include "base/populate.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>

/** Before any other question about @p fd: a file system of the peer's own (FUSE) need not answer.
 */
static int memif_regions_seal(int fd)
{
	struct statfs fs;
	int seals;

	(void)fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK); /* it may have them all already */
	seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || !(seals & F_SEAL_SHRINK))
		return -EPERM;
	if (fstatfs(fd, &fs))
		return -errno;
	return fs.f_type == HUGETLBFS_MAGIC ? -EPERM : 0;
}

static uint64_t memif_regions_bytes(const struct memif_regions *r)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < r->n; i++)
		bytes += r->region[i].len;
	return bytes;
}

static int memif_regions_map(struct memif_regions *r, int fd)
{
	int err = memif_regions_seal(fd);
	struct stat st;
	void *memory;

	if (err)
		return err;
	if (fstat(fd, &st))
		return -errno;
	if (st.st_size == 0)
		return -EPROTO;
	if ((uint64_t)st.st_size > MEMIF_REGIONS_BYTES_MAX - memif_regions_bytes(r))
		return -EFBIG;
	memory = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	r->region[r->n++] = (struct memif_region){memory, (size_t)st.st_size};
	return 0;
}

/** @return false: @p fd is no socket. No file is asked. */
static bool memif_regions_cookie(int fd, uint64_t *cookie)
{
	socklen_t len = sizeof *cookie;

	return getsockopt(fd, SOL_SOCKET, SO_COOKIE, cookie, &len) == 0;
}

int memif_regions_open(struct memif_regions *r, uint16_t id)
{
	int fds[MEMIF_REGIONS_MAX], err = 0;
	int n = memif_driver_files(id, fds);

	memset(r, 0, sizeof *r);
	if (n < 0)
		return n;
	r->channel = memif_driver_channel(id);
	if (!memif_regions_cookie(r->channel, &r->cookie))
		return -ENOTCONN;
	for (int i = 0; i < n && !err; i++)
		err = memif_regions_map(r, fds[i]);
	if (err)
		memif_regions_close(r);
	return err;
}

void memif_regions_populate(const struct memif_regions *r)
{
	size_t len = r->region[0].len;

	if (len > MEMIF_REGIONS_POPULATED_MAX)
		len = MEMIF_REGIONS_POPULATED_MAX;
	/* Where there is no memory for it, pages come as they are used. */
	(void)madvise(r->region[0].memory, len, MADV_POPULATE_WRITE);
}

bool memif_regions_are_current(const struct memif_regions *r)
{
	uint64_t cookie;

	return r->n && memif_regions_cookie(r->channel, &cookie) && cookie == r->cookie;
}

void memif_regions_close(struct memif_regions *r)
{
	while (r->n) {
		r->n--;
		munmap(r->region[r->n].memory, r->region[r->n].len);
	}
}
