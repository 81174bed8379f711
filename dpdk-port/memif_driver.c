/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/memif_driver.h"

#include <errno.h>
#include <poll.h>
#include <rte_ethdev.h>
#include <rte_interrupts.h>
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

/** How the private data of the driver's port begins. */
struct memif_driver_internals {
	uint32_t id, role, flags;
	const char *socket;
	char secret[24];
	const struct rte_intr_handle *const *channel;
};

/** How the shared data of an Ethernet port of DPDK begins. */
struct memif_driver_data {
	char name[64];
	void *queues[2];
	uint16_t n_queues[2], sriov[3];
	const struct memif_driver_internals *internals;
};

/** How an Ethernet port of DPDK begins. */
struct memif_driver_device {
	void *functions[6];
	const struct memif_driver_data *data;
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

/** Port @p id. @return NULL: nothing is known of it. */
static const struct memif_driver_device *memif_driver_device(uint16_t id)
{
	char name[RTE_ETH_NAME_MAX_LEN];

	if (!memif_driver_is_known() || rte_eth_dev_get_name_by_port(id, name))
		return NULL;
	return rte_eth_dev_get_by_name(name);
}

int memif_driver_files(uint16_t id, int fds[MEMIF_REGIONS_MAX])
{
	const struct memif_driver_device *device = memif_driver_device(id);
	int n;

	if (!device)
		return -ENOENT;
	if (device->private->n == 0 || device->private->n > MEMIF_REGIONS_MAX)
		return -EPROTO;
	for (n = 0; n < device->private->n; n++) {
		if (!device->private->regions[n])
			return -EPROTO;
		fds[n] = device->private->regions[n]->fd;
	}
	return n;
}

int memif_driver_channel(uint16_t id)
{
	const struct memif_driver_device *device = memif_driver_device(id);
	const struct rte_intr_handle *const *channel =
		device ? device->data->internals->channel : NULL;

	return channel ? rte_intr_fd_get(*channel) : -1;
}

bool memif_driver_has_input(uint16_t id)
{
	/* As that thread asks. */
	struct pollfd p = {.fd = memif_driver_channel(id), .events = POLLIN | POLLPRI | POLLRDHUP};

	return p.fd >= 0 && poll(&p, 1, 0) > 0;
}
