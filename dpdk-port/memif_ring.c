/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/memif_ring.h"

#include "base/populate.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <rte_version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define RING_COOKIE 0x3E31F20u

_Static_assert(offsetof(struct memif_ring, desc) == 128, "two cache lines, then descriptors");
_Static_assert(sizeof(struct memif_desc) == 16, "four in a cache line");

const struct memif_queue *memif_ring_queue(void *const *queues, uint16_t id)
{
	const struct memif_queue *q;

	if (rte_version_year() != 22 || rte_version_month() != 11 || !queues)
		return NULL;
	q = queues[0];
	return q && q->port == id && q->region == 0 ? q : NULL;
}

static bool memif_ring_is_file(int fd)
{
	char path[32], name[16];
	ssize_t n;

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	n = readlink(path, name, sizeof name);
	return n > 7 && !memcmp(name, "/memfd:", 7);
}

static void memif_ring_unmap(struct memif_ring_map *m)
{
	munmap(m->map, m->len);
	m->ring = NULL;
}

/** Map what is at @p offset of @p fd. @return 0, or -errno; -ENOENT: no ring. */
static int memif_ring_map_at(int fd, uint32_t offset, size_t size, struct memif_ring_map *m)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), from = offset & ~(page - 1);

	m->len = offset - from + size;
	m->map = mmap(NULL, m->len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)from);
	if (m->map == MAP_FAILED)
		return -errno;
	m->ring = (struct memif_ring *)(void *)((char *)m->map + (offset - from));
	if (atomic_load_explicit(&m->ring->cookie, memory_order_relaxed) == RING_COOKIE)
		return 0;
	memif_ring_unmap(m);
	return -ENOENT;
}

static bool memif_ring_is_file_of(const struct memif_ring_map *m, const struct stat *st)
{
	return st->st_dev == m->dev && st->st_ino == m->ino;
}

/** Look at one descriptor. @return as memif_ring_map_at(); -ENOTUNIQ: another has a ring, too. */
static int memif_ring_try(int fd, uint32_t offset, size_t size, struct memif_ring_map *m)
{
	struct memif_ring_map other = {0};
	struct stat st;

	/* The size is the peer's choice, and may change; the driver takes the same risk. */
	if (!memif_ring_is_file(fd) || fstat(fd, &st) ||
		(uint64_t)st.st_size < (uint64_t)offset + size)
		return -ENOENT;
	if (!m->ring) {
		m->file = fd;
		m->dev = st.st_dev;
		m->ino = st.st_ino;
		return memif_ring_map_at(fd, offset, size, m);
	}
	/* Both ends of one connection may be in this process. */
	if (memif_ring_is_file_of(m, &st) || memif_ring_map_at(fd, offset, size, &other))
		return -ENOENT;
	memif_ring_unmap(&other);
	return -ENOTUNIQ;
}

int memif_ring_open(struct memif_ring_map *m, const struct memif_queue *q, size_t size)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *de;
	int r = 0;

	memset(m, 0, sizeof *m);
	if (!d)
		return -errno;
	while (r != -ENOTUNIQ && (de = readdir(d))) {
		if (de->d_name[0] != '.')
			r = memif_ring_try(atoi(de->d_name), q->ring_offset, size, m);
	}
	closedir(d);
	if (r == -ENOTUNIQ)
		memif_ring_unmap(m);
	return m->ring ? 0 : -ENOENT;
}

/** Is it a mapping of the file? @p line is one of /proc/self/maps. */
static bool memif_ring_is_mapping(
	const struct memif_ring_map *m, const char *line, uintptr_t *from, uintptr_t *to)
{
	unsigned major, minor;
	uintmax_t inode;

	return sscanf(line, "%" SCNxPTR "-%" SCNxPTR " rw%*s %*s %x:%x %ju", from, to, &major,
		       &minor, &inode) == 5 &&
	       makedev(major, minor) == m->dev && inode == m->ino;
}

/**
 * Have the kernel back all pages now, and map them, here and where the driver has them. Else each
 * frame of the first way around the ring waits for a page at both ends, and that is a thousand of
 * them. Where there is no memory for it, or the kernel is older than 5.14, pages come as they are
 * used; the same if the driver unmaps its meanwhile.
 */
static void memif_ring_populate(const struct memif_ring_map *m)
{
	FILE *f = fopen("/proc/self/maps", "re");
	uintptr_t from, to;
	char line[256];

	while (f && fgets(line, sizeof line, f))
		if (memif_ring_is_mapping(m, line, &from, &to))
			(void)madvise((void *)from, to - from, MADV_POPULATE_WRITE);
	if (f)
		fclose(f);
}

int memif_ring_open_all(struct memif_ring_map *m, const struct memif_queue *q, size_t size)
{
	int r = memif_ring_open(m, q, size);
	struct stat st;

	if (r)
		return r;
	memif_ring_unmap(m);
	if (fstat(m->file, &st))
		return -errno;
	m->len = (size_t)st.st_size;
	m->map = mmap(NULL, m->len, PROT_READ | PROT_WRITE, MAP_SHARED, m->file, 0);
	if (m->map == MAP_FAILED)
		return -errno;
	m->ring = (struct memif_ring *)(void *)((char *)m->map + q->ring_offset);
	memif_ring_populate(m);
	return 0;
}

bool memif_ring_is_current(const struct memif_ring_map *m)
{
	struct stat st;

	return fstat(m->file, &st) == 0 && memif_ring_is_file_of(m, &st);
}

void memif_ring_close(struct memif_ring_map *m)
{
	if (m->ring)
		memif_ring_unmap(m);
}
