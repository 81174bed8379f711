/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/external.h"

#include "base/guarded.h"
#include "dpdk-port/driver_name.h"
#include "dpdk-port/eal.h"
#include "dpdk-port/pci.h"
#include "dpdk-port/port_private.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_memory.h>
#include <rte_vfio.h>
#include <string.h>
#include <unistd.h>

/** As many as the EAL keeps. */
#define EXTERNAL_MAPS 256u

/** What the process has mapped for its devices: they share the EAL's container. */
static struct {
	pthread_mutex_t lock;
	unsigned n;
	struct {
		uint64_t begin, end;
	} map[EXTERNAL_MAPS];
} external_maps = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool external_is_tap(const char *device)
{
	return driver_name_fits("net_tap", device);
}

const char *external_refusal(const char *device, uint64_t tx_offloads)
{
	char path[PATH_MAX], driver[64];

	if (eal_is_software(device) && !external_is_tap(device))
		return "its driver copies each frame, or another process reads it";
	if (!(tx_offloads & RTE_ETH_TX_OFFLOAD_MULTI_SEGS))
		return "its driver takes no frames in parts";
	if (!(tx_offloads & RTE_ETH_TX_OFFLOAD_TCP_CKSUM))
		return "it does not make TCP's checksum";
	if (external_is_tap(device))
		return NULL;
	pci_path(PCI_SYSFS, device, path, sizeof path);
	if (!pci_driver(path, driver, sizeof driver) || strcmp(driver, "vfio-pci"))
		return "it is not bound to vfio-pci";
	if (rte_eal_iova_mode() != RTE_IOVA_VA)
		return "the EAL uses physical addresses";
	return NULL;
}

/** The pages that @p len bytes at @p addr lie in. */
static uint64_t external_pages(const void *addr, size_t *len)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)addr & ~(page - 1);

	*len = ((uintptr_t)addr + *len - begin + page - 1) & ~(page - 1);
	return begin;
}

int external_claim(uint64_t begin, uint64_t len)
{
	uint64_t end = begin + len;
	int r = 0;

	pthread_mutex_lock(&external_maps.lock);
	for (unsigned i = 0; i < external_maps.n && !r; i++)
		if (begin < external_maps.map[i].end && external_maps.map[i].begin < end)
			r = -EEXIST;
	if (!r && external_maps.n == EXTERNAL_MAPS)
		r = -ENOSPC;
	if (!r) {
		external_maps.map[external_maps.n].begin = begin;
		external_maps.map[external_maps.n++].end = end;
	}
	pthread_mutex_unlock(&external_maps.lock);
	return r;
}

void external_disclaim(uint64_t begin)
{
	pthread_mutex_lock(&external_maps.lock);
	for (unsigned i = 0; i < external_maps.n; i++)
		if (external_maps.map[i].begin == begin) {
			external_maps.map[i] = external_maps.map[--external_maps.n];
			break;
		}
	pthread_mutex_unlock(&external_maps.lock);
}

/** The EAL has its own mapped, and unmaps it with ours. */
static bool external_is_eal(uint64_t begin, size_t len)
{
	void *first = (void *)(uintptr_t)begin, *last = (void *)(uintptr_t)(begin + len - 1);

	return rte_mem_virt2memseg_list(first) || rte_mem_virt2memseg_list(last);
}

/** Say so once: a program may have many such regions. */
static void external_tell(struct port *p, size_t len, int error)
{
	if (atomic_exchange(&p->map_failed, true))
		return;
	log_printf(p->log, LOG_LEVEL_WARNING,
		"port %u: a region of %zu bytes cannot be mapped for the device, so its payload is "
		"copied: %s%s",
		p->id, len, strerror(error),
		error == EINVAL   ? "; the IOMMU's addresses are too narrow for a process's, which "
				    "have 47 bits"
		: error == ENOMEM ? "; raise \"ulimit -l\""
		: error == ENOSPC ? "; the EAL maps 256 at most"
				  : "");
}

/** What DPDK's function says is in its log only, but the ioctl's errno stays. */
static int external_map(uint64_t begin, size_t len)
{
	int r;

	eal_log_quiet(true);
	rte_errno = errno = 0;
	r = rte_vfio_container_dma_map(RTE_VFIO_DEFAULT_CONTAINER_FD, begin, begin, len);
	if (r)
		r = rte_errno ? -rte_errno : errno ? -errno : -EIO;
	eal_log_quiet(false);
	return r;
}

int port_map(struct port *p, const void *addr, size_t len)
{
	uint64_t begin = external_pages(addr, &len);
	int r;

	if (p->is_tap)
		return 0;
	if (external_is_eal(begin, len))
		return -EEXIST;
	r = external_claim(begin, len);
	if (!r) {
		r = external_map(begin, len);
		if (r)
			external_disclaim(begin);
	}
	if (r && r != -EEXIST)
		external_tell(p, len, -r);
	return r;
}

void port_unmap(struct port *p, const void *addr, size_t len)
{
	uint64_t begin = external_pages(addr, &len);

	if (p->is_tap)
		return;
	/* What stays mapped would pass for a new mapping of other pages. */
	if (!rte_vfio_container_dma_unmap(RTE_VFIO_DEFAULT_CONTAINER_FD, begin, begin, len))
		external_disclaim(begin);
}

struct rte_mempool *port_external_pool(struct port *p)
{
	return p->external;
}

bool port_settle(struct port *p)
{
	bool helps;

	if (!p->started)
		return false;
	port_flush(p);
	helps = rte_eth_tx_done_cleanup(p->id, 0, 0) >= 0 && p->link_up;
	if (helps)
		rte_delay_us_block(1);
	return helps;
}

/* ---- copies -------------------------------------------------------------------------------- */

/** Fill @p to, which has room, with the bytes of @p from. @return false: some are gone. */
static bool external_read(struct rte_mbuf *to, const struct rte_mbuf *from)
{
	for (; from; from = from->next)
		if (!guarded_copy_from(rte_pktmbuf_append(to, from->data_len),
			    rte_pktmbuf_mtod(from, const void *), from->data_len))
			return false;
	return true;
}

struct rte_mbuf *external_copy(struct rte_mempool *pool, const struct rte_mbuf *m)
{
	struct rte_mbuf *copy = rte_pktmbuf_alloc(pool);

	if (!copy)
		return NULL;
	if (m->pkt_len > rte_pktmbuf_tailroom(copy) || !external_read(copy, m)) {
		rte_pktmbuf_free(copy);
		return NULL;
	}
	copy->ol_flags = m->ol_flags & ~(RTE_MBUF_F_EXTERNAL | RTE_MBUF_F_INDIRECT);
	copy->tx_offload = m->tx_offload;
	return copy;
}
