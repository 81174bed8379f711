/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/memif_driver.h"

#include <rte_ethdev.h>
#include <rte_version.h>

/** How a region of the driver begins. */
struct memif_driver_region {
	void *memory;
	uint64_t size;
	int fd;
};

/** What the driver has for each port in each process. */
struct memif_driver_private {
	const struct memif_driver_region *regions[256];
	uint16_t n;
};

/** How an Ethernet port of DPDK begins. */
struct memif_driver_device {
	void *functions[6];
	void *data;
	const struct memif_driver_private *private;
};

/** Of librte_ethdev, for drivers. */
struct memif_driver_device *rte_eth_dev_get_by_name(const char *name);

static bool memif_driver_is_known(void)
{
	return rte_version_year() == 22 && rte_version_month() == 11;
}

static const struct memif_queue *memif_driver_queue(void *const *queues, uint16_t id)
{
	const struct memif_queue *q = memif_driver_is_known() && queues ? queues[0] : NULL;

	return q && q->port == id ? q : NULL;
}

const struct memif_queue *memif_driver_rx_queue(uint16_t id)
{
	return memif_driver_queue(rte_eth_fp_ops[id].rxq.data, id);
}

const struct memif_queue *memif_driver_tx_queue(uint16_t id)
{
	return memif_driver_queue(rte_eth_fp_ops[id].txq.data, id);
}

unsigned memif_driver_files(uint16_t id, int fds[MEMIF_REGIONS_MAX])
{
	const struct memif_driver_device *device = NULL;
	char name[RTE_ETH_NAME_MAX_LEN];
	unsigned n;

	if (memif_driver_is_known() && rte_eth_dev_get_name_by_port(id, name) == 0)
		device = rte_eth_dev_get_by_name(name);
	if (!device)
		return 0;
	if (device->private->n > MEMIF_REGIONS_MAX)
		return device->private->n;
	for (n = 0; n < device->private->n; n++) {
		if (!device->private->regions[n])
			return 0;
		fds[n] = device->private->regions[n]->fd;
	}
	return n;
}
