/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/packet.h"
#include "dpdk-port/pool.h"
#include "dpdk-port/port_opening.h"

#include <errno.h>

#define MTU_MIN 576

/**
 * AF_PACKET sends and receives through frames of a fixed size and cannot be asked about it: a
 * larger frame is dropped. It must not change the interface's MTU either, which is the host's.
 */
static int port_choose_mtu_packet(struct opening *o)
{
	const struct rte_devargs *args = rte_dev_devargs(o->info.device);
	unsigned framesz = packet_frame_size(args && args->args ? args->args : "");
	unsigned below = packet_interface_mtu(o->ifname);
	unsigned wanted = o->cfg->mtu, most = packet_mtu_max(framesz);

	o->fixed = !packet_may_change(o->ifname);
	o->frame = packet_buffer_room(framesz);
	o->mtu = (uint16_t)(wanted ? wanted : RTE_MIN(below, (unsigned)PACKET_MTU_DEFAULT_MAX));
	if (below && o->mtu > below)
		return port_fail(o, -EINVAL, "mtu %u is more than interface %s has, %u", o->mtu,
			o->ifname, below);
	if (o->frame > POOL_FRAME_MAX || most < MTU_MIN)
		return port_fail(o, -EINVAL, "its frames of framesz=%u are too %s", framesz,
			most < MTU_MIN ? "small" : "large");
	if (o->mtu && o->mtu <= most)
		return 0;
	if (wanted)
		return port_fail(o, -EINVAL,
			"framesz=%u is too small for mtu %u: without framesz and blocksz they "
			"follow from mtu",
			framesz, wanted);
	o->mtu = (uint16_t)RTE_MIN(most, (unsigned)RTE_ETHER_MTU);
	if (below)
		log_printf(o->cfg->log, LOG_LEVEL_WARNING,
			"port %s: frames of framesz=%u are used with an MTU of %u, not the %u that "
			"%s has",
			o->cfg->device, framesz, o->mtu, below, o->ifname);
	return 0;
}

int port_choose_mtu(struct opening *o)
{
	uint16_t own = 0, most;

	if (port_driver_is(o->p, "net_af_packet"))
		return port_choose_mtu_packet(o);
	rte_eth_dev_get_mtu(o->p->id, &own);
	most = (uint16_t)RTE_MIN(o->info.max_mtu, (unsigned)POOL_MTU_MAX);
	if (!own)
		own = RTE_ETHER_MTU;
	o->mtu = o->cfg->mtu ? o->cfg->mtu : RTE_MIN(own, most);
	if (o->mtu < MTU_MIN || o->mtu > most)
		return port_fail(
			o, -EINVAL, "mtu %u is not within its %u to %u", o->mtu, MTU_MIN, most);
	o->frame = pool_frame_size(o->mtu);
	return 0;
}
