/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/memif_regions.h"

#include "dpdk-port/memif_control.h"
#include "dpdk-port/memif_seal.h"

#include "base/populate.h"

#include <errno.h>
#include <string.h>

static uint64_t memif_regions_bytes(const struct memif_regions *r)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < r->n; i++)
		bytes += r->region[i].len;
	return bytes;
}

static int memif_regions_map(struct memif_regions *r, int fd)
{
	uint64_t size;
	int err = memif_seal(fd, &size);
	void *memory;

	if (err)
		return err;
	if (size == 0)
		return -EPROTO;
	if (size > MEMIF_REGIONS_BYTES_MAX - memif_regions_bytes(r))
		return -EFBIG;
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	r->region[r->n++] = (struct memif_region){memory, size};
	return 0;
}

int memif_regions_open(struct memif_regions *r, uint16_t id)
{
	int fds[MEMIF_REGIONS_MAX], err = 0;
	int n = memif_driver_files(id, fds);

	memset(r, 0, sizeof *r);
	if (n < 0)
		return n;
	r->channel = memif_driver_channel(id);
	if (!memif_control_cookie(r->channel, &r->cookie))
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

	return r->n && memif_control_cookie(r->channel, &cookie) && cookie == r->cookie;
}

void memif_regions_close(struct memif_regions *r)
{
	while (r->n) {
		r->n--;
		munmap(r->region[r->n].memory, r->region[r->n].len);
	}
}
