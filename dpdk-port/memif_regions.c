/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/memif_regions.h"

#include "base/populate.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static int memif_regions_map(struct memif_regions *r, int fd)
{
	struct memif_region *region = &r->region[r->n];
	struct stat st;
	void *memory;

	/* A file that shrinks would be a fault when it is read. Clients of DPDK seal theirs; for
	 * others it is done here, where it can be. */
	(void)fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK);
	if (fstat(fd, &st))
		return -errno;
	memory = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	*region = (struct memif_region){memory, (size_t)st.st_size};
	if (r->n++ == 0) {
		r->file = fd;
		r->dev = st.st_dev;
		r->ino = st.st_ino;
	}
	return 0;
}

int memif_regions_open(struct memif_regions *r, uint16_t id)
{
	int fds[MEMIF_REGIONS_MAX], err = 0;
	unsigned n = memif_driver_files(id, fds);

	memset(r, 0, sizeof *r);
	if (!n)
		return -ENOENT;
	if (n > MEMIF_REGIONS_MAX)
		return -EPROTO;
	for (unsigned i = 0; i < n && !err; i++)
		err = memif_regions_map(r, fds[i]);
	if (err)
		memif_regions_close(r);
	else /* where there is no memory for it, pages come as they are used */
		(void)madvise(r->region[0].memory, r->region[0].len, MADV_POPULATE_WRITE);
	return err;
}

bool memif_regions_are_current(const struct memif_regions *r)
{
	struct stat st;

	return r->n && fstat(r->file, &st) == 0 && st.st_dev == r->dev && st.st_ino == r->ino;
}

void memif_regions_close(struct memif_regions *r)
{
	while (r->n) {
		r->n--;
		munmap(r->region[r->n].memory, r->region[r->n].len);
	}
}
