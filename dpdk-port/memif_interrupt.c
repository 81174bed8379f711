/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/memif_interrupt.h"

#include <dirent.h>
#include <errno.h>
#include <rte_ethdev.h>
#include <rte_interrupts.h>
#include <rte_version.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The head of a ring, memif protocol 2.0. What both ends share is shared with a stranger. */
#define RING_COOKIE   0x3E31F20u
#define RING_MASK_INT 1u

struct memif_ring {
	_Atomic uint32_t cookie;
	_Atomic uint16_t flags;
	_Atomic uint16_t head;
};

/** How a queue of the driver begins in DPDK 22.11. */
struct memif_queue {
	const struct rte_mempool *pool;
	void *device;
	uint32_t type;
	uint16_t region; /**< number of the file; rings are in the first */
	uint16_t port;
	uint32_t ring_offset; /**< in the file */
	uint16_t last_head, last_tail;
	void *buffers;
	uint64_t packets, octets;
	const struct rte_intr_handle *interrupt;
};

static const struct memif_queue *memif_interrupt_queue(uint16_t id)
{
	return rte_eth_fp_ops[id].rxq.data ? rte_eth_fp_ops[id].rxq.data[0] : NULL;
}

static bool memif_interrupt_is_file(int fd)
{
	char path[32], name[16];
	ssize_t n;

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	n = readlink(path, name, sizeof name);
	return n > 7 && !memcmp(name, "/memfd:", 7);
}

static void memif_interrupt_unmap(struct memif_interrupt *interrupt)
{
	munmap(interrupt->map, interrupt->len);
	interrupt->ring = NULL;
}

/** Map the ring's head at @p offset of @p fd. @return 0, or -errno; -ENOENT: there is none. */
static int memif_interrupt_map(int fd, uint32_t offset, struct memif_interrupt *interrupt)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), from = offset & ~(page - 1);

	interrupt->len = offset - from + sizeof *interrupt->ring;
	interrupt->map =
		mmap(NULL, interrupt->len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)from);
	if (interrupt->map == MAP_FAILED)
		return -errno;
	interrupt->ring = (struct memif_ring *)(void *)((char *)interrupt->map + (offset - from));
	if (atomic_load_explicit(&interrupt->ring->cookie, memory_order_relaxed) == RING_COOKIE)
		return 0;
	memif_interrupt_unmap(interrupt);
	return -ENOENT;
}

static bool memif_interrupt_is_file_of(
	const struct memif_interrupt *interrupt, const struct stat *st)
{
	return st->st_dev == interrupt->dev && st->st_ino == interrupt->ino;
}

/** Look at one descriptor. @return as memif_interrupt_map(); -ENOTUNIQ: another has a ring, too. */
static int memif_interrupt_try(int fd, uint32_t offset, struct memif_interrupt *interrupt)
{
	struct memif_interrupt other = {0};
	struct stat st;

	/* The size is the peer's choice, and may change; the driver takes the same risk. */
	if (!memif_interrupt_is_file(fd) || fstat(fd, &st) ||
		(uint64_t)st.st_size < (uint64_t)offset + sizeof *interrupt->ring)
		return -ENOENT;
	if (!interrupt->ring) {
		interrupt->file = fd;
		interrupt->dev = st.st_dev;
		interrupt->ino = st.st_ino;
		return memif_interrupt_map(fd, offset, interrupt);
	}
	/* Both ends of one connection may be in this process. */
	if (memif_interrupt_is_file_of(interrupt, &st) || memif_interrupt_map(fd, offset, &other))
		return -ENOENT;
	memif_interrupt_unmap(&other);
	return -ENOTUNIQ;
}

/** Find the file with a ring at @p offset among the process's descriptors. */
static int memif_interrupt_find(uint32_t offset, struct memif_interrupt *interrupt)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *de;
	int r = 0;

	if (!d)
		return -errno;
	while (r != -ENOTUNIQ && (de = readdir(d))) {
		if (de->d_name[0] != '.')
			r = memif_interrupt_try(atoi(de->d_name), offset, interrupt);
	}
	closedir(d);
	if (r == -ENOTUNIQ)
		memif_interrupt_unmap(interrupt);
	return interrupt->ring ? 0 : -ENOENT;
}

int memif_interrupt_open(
	struct memif_interrupt *interrupt, uint16_t id, const struct rte_mempool *pool)
{
	const struct memif_queue *q;
	int r;

	memset(interrupt, 0, sizeof *interrupt);
	interrupt->fd = -1;
	if (rte_version_year() != 22 || rte_version_month() != 11)
		return -ENOTSUP;
	q = memif_interrupt_queue(id);
	/* What it should be is known of some of it, and the handle is looked at only then. */
	if (!q || q->pool != pool || q->port != id || q->region != 0 ||
		rte_intr_fd_get(q->interrupt) < 0)
		return -ENOENT;
	r = memif_interrupt_find(q->ring_offset, interrupt);
	if (!r)
		interrupt->fd = rte_intr_fd_get(q->interrupt);
	return r;
}

bool memif_interrupt_is_current(const struct memif_interrupt *interrupt, uint16_t id)
{
	const struct memif_queue *q = memif_interrupt_queue(id);
	struct stat st;

	return q && rte_intr_fd_get(q->interrupt) == interrupt->fd &&
	       fstat(interrupt->file, &st) == 0 && memif_interrupt_is_file_of(interrupt, &st);
}

void memif_interrupt_close(struct memif_interrupt *interrupt)
{
	if (interrupt->ring)
		memif_interrupt_unmap(interrupt);
}

void memif_interrupt_arm(const struct memif_interrupt *interrupt)
{
	if (interrupt->ring)
		atomic_fetch_and(&interrupt->ring->flags, (uint16_t)~RING_MASK_INT);
}

void memif_interrupt_mask(const struct memif_interrupt *interrupt)
{
	uint64_t n;

	if (!interrupt->ring)
		return;
	atomic_fetch_or(&interrupt->ring->flags, RING_MASK_INT);
	if (read(interrupt->fd, &n, sizeof n) < 0)
		return; /* the driver has taken it */
}
