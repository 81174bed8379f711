/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/carrier.h"
#include "dpdk-port/eal.h"
#include "dpdk-port/intr_gate.h"
#include "dpdk-port/packet.h"
#include "dpdk-port/port_opening.h"

#include "base/sysfs.h"

#include <fcntl.h>
#include <linux/if_packet.h>
#include <string.h>
#include <sys/socket.h>

int port_on_removal(uint16_t id, enum rte_eth_event_type type, void *arg, void *unused)
{
	struct port *p = arg;

	atomic_store_explicit(&p->gone, true, memory_order_relaxed);
	return 0;
}

/** Where the port has an interrupt, or a descriptor of the kernel's, to sleep on. */
static void port_find_rx_fd(struct opening *o)
{
	struct port *p = o->p;
	int fd;

	if (p->rx_fd >= 0)
		return;
	if (port_driver_is(o->p, "net_af_packet")) {
		p->rx_fd = rxfd_packet_socket(o->info.if_index);
		if (p->rx_fd >= 0)
			p->if_index = o->info.if_index;
		return;
	}
	if (!port_want_interrupt(o))
		return;
	fd = rte_eth_dev_rx_intr_ctl_q_get_fd(p->id, 0);
	if (fd < 0 || rte_eth_dev_rx_intr_enable(p->id, 0))
		return;
	rte_eth_dev_rx_intr_disable(p->id, 0);
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	p->rx_fd = fd;
	p->rx_event = true;
	p->legacy_helps = !eal_is_software(o->cfg->device) &&
			  !(o->cfg->eal && strstr(o->cfg->eal, "--vfio-intr"));
}

/** What the host itself sends on the interface is not from the wire. Linux 4.20 and later. */
static void port_ignore_outgoing(int fd)
{
	int on = 1;

	setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on);
}

/** The driver's start; a memif client may come before its server, as to any other link. */
static int port_start_driver(struct opening *o)
{
	struct port *p = o->p;
	int r;

	eal_log_quiet(p->connects);
	r = o->fixed ? packet_start(p->id) : rte_eth_dev_start(p->id);
	eal_log_quiet(false);
	p->started = r == 0;
	if (r == 0 || p->connects)
		return 0;
	return port_fail(
		o, r, o->fixed ? "it does not start without CAP_NET_ADMIN" : "it does not start");
}

/** What is for others than the port's own address: IPv6 neighbours ask by multicast (RFC 4861
 *  section 7.2.1). An AF_PACKET driver would leave the interface promiscuous behind. */
static void port_receive_more(struct opening *o)
{
	struct port *p = o->p;
	bool packet = port_driver_is(p, "net_af_packet") && p->rx_fd >= 0;

	if (packet && o->cfg->wire)
		port_ignore_outgoing(p->rx_fd);
	if (packet && packet_receive(p->rx_fd, o->info.if_index, o->cfg->wire) == 0)
		return;
	if (o->cfg->wire || rte_eth_allmulticast_enable(p->id))
		rte_eth_promiscuous_enable(p->id);
}

static int port_learn_mac(struct opening *o)
{
	struct port *p = o->p;
	struct rte_ether_addr mac;
	int r = rte_eth_macaddr_get(p->id, &mac);

	if (r)
		return port_fail(o, r, "it has no MAC address");
	memcpy(p->caps.mac, mac.addr_bytes, 6);
	/* At the other end of a TAP is the kernel's interface: a neighbour with an address of its
	 * own, to which its driver would give ours. */
	if (p->is_tap)
		p->caps.mac[5] ^= 1;
	if (!o->cfg->mac || !port_keeps_mac(p))
		return 0;
	/* The interface is the host's, and other processes may use it: it receives for us too. */
	if (port_driver_is(p, "net_af_packet")) {
		r = packet_receive_address(p->rx_fd, o->info.if_index, o->cfg->mac);
		if (r)
			return port_fail(o, r, "it does not take another MAC address");
	}
	memcpy(p->caps.mac, o->cfg->mac, 6);
	return 0;
}

/** What the kernel says of the interface under the port. */
static void port_begin_watching(struct opening *o)
{
	struct port *p = o->p;

	if (!o->ifname[0])
		return;
	p->carrier_fd = carrier_open_downs(o->ifname, o->info.if_index);
	p->carrier_downs = sysfs_number_of(p->carrier_fd);
	if (p->is_tap && p->rx_fd < 0)
		p->tap = o->info.if_index;
}

int port_start_device(struct opening *o)
{
	struct port *p = o->p;
	int r;

	if (p->is_tap)
		p->rx_fd = rxfd_tap_quiet(o->ifname, &p->rx_signal);
	if (p->is_memif)
		p->intr_gate = intr_gate_create();
	r = port_start_driver(o);
	if (r)
		return r;
	rte_eth_dev_callback_register(p->id, RTE_ETH_EVENT_INTR_RMV, port_on_removal, p);
	port_find_rx_fd(o);
	p->caps.rx_interrupt = p->rx_fd >= 0;
	port_receive_more(o);
	r = port_learn_mac(o);
	if (r)
		return r;
	port_begin_watching(o);
	port_link(p, NULL);
	return 0;
}
