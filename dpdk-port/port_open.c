/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/capability.h"
#include "dpdk-port/carrier.h"
#include "dpdk-port/descriptors.h"
#include "dpdk-port/device_args.h"
#include "dpdk-port/eal.h"
#include "dpdk-port/external.h"
#include "dpdk-port/intr_gate.h"
#include "dpdk-port/memif.h"
#include "dpdk-port/memif_driver.h"
#include "dpdk-port/memif_guard.h"
#include "dpdk-port/packet.h"
#include "dpdk-port/pci.h"
#include "dpdk-port/pool.h"
#include "dpdk-port/port_private.h"
#include "dpdk-port/rxfd.h"

#include "base/sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <pthread.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT_DESC 512 /* ring entries: enough for a burst, few enough to stay in the cache */
#define MTU_MIN   576

/* Probing goes through the EAL's own tables, and its log has one reader. */
static pthread_mutex_t port_open_lock = PTHREAD_MUTEX_INITIALIZER;
/** How often queues were set up. Under that lock. */
static unsigned port_opened;

struct opening {
	const struct port_config *cfg;
	struct port *p;
	struct port_error *e;
	struct rte_eth_dev_info info;
	char ifname[IF_NAMESIZE]; /**< the kernel's interface under the port, or empty */
	uint16_t mtu;             /**< of the port */
	unsigned frame;           /**< octets that a packet buffer must hold */
	bool fixed;               /**< AF_PACKET: the interface may not be changed */
};

__attribute__((format(printf, 3, 4))) static int port_fail(
	struct opening *o, int error, const char *fmt, ...)
{
	char what[180], reason[400];
	size_t len;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	snprintf(o->e->text, sizeof o->e->text, "port \"%.100s\": %s", o->cfg->device, what);
	/* Where the sentence names what is wrong by itself there is no more to say. */
	if (!eal_log_reason(reason, sizeof reason)) {
		if (error == -EINVAL)
			return error;
		snprintf(reason, sizeof reason, "%s", rte_strerror(-error));
	}
	if (!eal_is_software(o->cfg->device))
		pci_explain(PCI_SYSFS, o->cfg->device, reason, sizeof reason);
	if (strstr(reason, "failed to parse device"))
		snprintf(reason, sizeof reason, "no driver of its knows such a device");
	len = strlen(o->e->text);
	snprintf(o->e->text + len, sizeof o->e->text - len, ": %s", reason);
	return error;
}

/** Of a device's arguments, a path among them. */
#define DEVICE_MAX 4608

/** The device's name: its arguments up to the first comma. */
static void port_device_name(const char *device, char *name, size_t len)
{
	size_t n = strcspn(device, ",");

	snprintf(name, len, "%.*s", (int)n, device);
}

/** The port that device @p name made. @return false if it made none. */
static bool port_find(const char *name, uint16_t *id)
{
	struct rte_eth_dev_info info;
	uint16_t i;

	if (rte_eth_dev_get_port_by_name(name, id) == 0)
		return true;
	RTE_ETH_FOREACH_DEV (i) {
		if (rte_eth_dev_info_get(i, &info) || !info.device ||
			strcmp(rte_dev_name(info.device), name))
			continue;
		*id = i;
		return true;
	}
	return false;
}

/** True when the port is there from before, see port_can_be_closed(), with other arguments. */
static bool port_is_another(const struct opening *o, const char *name)
{
	const char *comma = strchr(o->cfg->device, ',');
	struct rte_eth_dev_info info;
	const struct rte_devargs *args;
	uint16_t id;

	if (!memif_is_named(name) || !port_find(name, &id) || rte_eth_dev_info_get(id, &info))
		return false;
	args = rte_dev_devargs(info.device);
	return args && strcmp(args->args ? args->args : "", comma ? comma + 1 : "");
}

static bool port_driver_is(const struct port *p, const char *name)
{
	return strcmp(p->caps.driver, name) == 0;
}

static bool port_is_memif(const struct port *p)
{
	return port_driver_is(p, "net_memif");
}

/** Drivers that copy each frame in this process. A memif without copies shows its peer the EAL's.
 */
static bool port_copies(const struct opening *o)
{
	static const char *const drivers[] = {"net_af_packet", "net_null", "net_tap"};

	if (port_is_memif(o->p))
		return !strstr(o->cfg->device, "zero-copy=yes");
	for (size_t i = 0; i < RTE_DIM(drivers); i++)
		if (port_driver_is(o->p, drivers[i]))
			return true;
	return false;
}

static int port_check_file_limit(struct opening *o)
{
	uint64_t size = memif_file_size(o->cfg->device);
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= size)
		return 0;
	return port_fail(o, -EINVAL,
		"the limit of file sizes (ulimit -f) is %ju bytes, and its shared memory takes %ju",
		(uintmax_t)limit.rlim_cur, (uintmax_t)size);
}

/** Drivers say which call failed, not what the process may not. */
static int port_fail_by_driver(struct opening *o, int error, const char *what)
{
	const char *missing = capability_missing(o->cfg->device);

	if (!missing)
		return port_fail(o, error, "%s", what);
	return port_fail(o, error, "%s without the capability %s", what, missing);
}

static int port_probe(struct opening *o)
{
	char name[RTE_DEV_NAME_MAX_LEN];
	int r;

	port_device_name(o->cfg->device, name, sizeof name);
	if (port_is_another(o, name))
		return port_fail(o, -EBUSY, "this process had it open with other arguments");
	r = port_check_file_limit(o);
	if (r)
		return r;
	memif_forget_stale(o->cfg->device);
	r = rte_dev_probe(o->cfg->device);
	/* A device that the EAL probed when it started is there already. */
	if (r && r != -EEXIST && memif_is_served(o->cfg->device))
		return port_fail(o, -EADDRINUSE,
			"another process is the server at its socket; this end needs role=client");
	if (r && r != -EEXIST)
		return port_fail_by_driver(o, r, "DPDK cannot open it");
	if (!port_find(name, &o->p->id))
		return port_fail(o, -ENODEV, "DPDK has no Ethernet port for it");
	r = rte_eth_dev_info_get(o->p->id, &o->info);
	if (r)
		return port_fail(o, r, "its driver does not describe it");
	o->p->device = o->info.device;
	snprintf(o->p->caps.driver, sizeof o->p->caps.driver, "%s", o->info.driver_name);
	/* The kernel takes tags out of what packet sockets receive. */
	o->p->sorts = o->cfg->vlan || (port_driver_is(o->p, "net_af_packet") && !o->cfg->wire);
	o->p->is_memif = port_is_memif(o->p);
	o->p->is_tap = port_driver_is(o->p, "net_tap");
	o->p->copies = port_copies(o);
	o->p->connects = o->p->is_memif && !strstr(o->cfg->device, "role=server") &&
			 !strstr(o->cfg->device, "role=master");
	if (o->info.if_index)
		if_indextoname(o->info.if_index, o->ifname);
	return 0;
}

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

static int port_choose_mtu(struct opening *o)
{
	uint16_t own = 0;

	if (port_driver_is(o->p, "net_af_packet"))
		return port_choose_mtu_packet(o);
	rte_eth_dev_get_mtu(o->p->id, &own);
	o->mtu = o->cfg->mtu ? o->cfg->mtu : own ? own : RTE_ETHER_MTU;
	if (o->mtu < MTU_MIN || o->mtu > o->info.max_mtu) {
		return port_fail(o, -EINVAL, "mtu %u is not within its %u to %u", o->mtu, MTU_MIN,
			o->info.max_mtu);
	}
	o->frame = pool_frame_size(o->mtu);
	return 0;
}

/** LRO is never asked for: it would hide where segments, and so FPDUs, begin. */
static void port_choose_tso(struct opening *o, struct rte_eth_conf *conf)
{
	const uint64_t needs = RTE_ETH_TX_OFFLOAD_TCP_CKSUM | RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	uint16_t most = o->info.tx_desc_lim.nb_seg_max;

	if ((conf->txmode.offloads & needs) != needs ||
		!(o->info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_TCP_TSO))
		return;
	conf->txmode.offloads |= RTE_ETH_TX_OFFLOAD_TCP_TSO;
	o->p->caps.tx_tso = o->p->gathers = true;
	o->p->tso.most = most ? most : TSO_SEGMENTS_MAX;
}

/** Offloads worth having. Fast free stays off: buffers have external memory and references. */
static void port_choose_offloads(struct opening *o, struct rte_eth_conf *conf)
{
	const uint64_t rx = RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_TCP_CKSUM;
	const uint64_t tx = RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_CKSUM;

	conf->rxmode.offloads = o->info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
	conf->txmode.offloads = o->info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	/* TAP's are computed by its driver in software, and cost it a copy. */
	if (!o->p->is_tap)
		conf->rxmode.offloads |= o->info.rx_offload_capa & rx;
	if (!o->p->is_tap || o->cfg->gather)
		conf->txmode.offloads |= o->info.tx_offload_capa & tx;
	o->p->caps.rx_cksum = conf->rxmode.offloads & RTE_ETH_RX_OFFLOAD_TCP_CKSUM;
	o->p->caps.tx_ipv4_cksum = conf->txmode.offloads & RTE_ETH_TX_OFFLOAD_IPV4_CKSUM;
	o->p->caps.tx_tcp_cksum = conf->txmode.offloads & RTE_ETH_TX_OFFLOAD_TCP_CKSUM;
	if (!o->p->is_tap)
		port_choose_tso(o, conf);
}

/**
 * A driver without MULTI_SEGS may take a frame's length for that of its first segment, and send
 * what lies behind that. A TAP's reads all, but see external_is_tap().
 */
static uint16_t port_most_segs(const struct opening *o, uint64_t tx_offloads)
{
	const struct rte_eth_desc_lim *l = &o->info.tx_desc_lim;
	uint16_t most = UINT16_MAX;

	if (o->p->is_tap || !(tx_offloads & RTE_ETH_TX_OFFLOAD_MULTI_SEGS))
		return 1;
	if (l->nb_seg_max)
		most = l->nb_seg_max;
	return l->nb_mtu_seg_max ? RTE_MIN(most, l->nb_mtu_seg_max) : most;
}

static void port_choose_external(struct opening *o, uint64_t tx_offloads)
{
	const char *why = external_refusal(o->cfg->device, tx_offloads);

	o->p->caps.external = o->cfg->gather && !why;
	if (o->cfg->gather && why)
		log_printf(o->cfg->log, LOG_LEVEL_WARNING,
			"port %s: gather is on and has no effect: %s", o->cfg->device, why);
}

/** Software devices have no interrupt but by their kernel descriptors, see port_find_rx_fd(), and a
 *  memif by its peer, see port_watch(). */
static bool port_want_interrupt(const struct opening *o)
{
	return !eal_is_software(o->cfg->device) || strncmp(o->cfg->device, "virtio_user", 11) == 0;
}

/** A kernel's interface keeps its own MAC address beside the port's: see port_learn_mac(). */
static bool port_keeps_mac(const struct port *p)
{
	return p->is_tap || port_driver_is(p, "net_af_packet");
}

static int port_configure(struct opening *o)
{
	struct rte_eth_conf conf = {0};
	uint32_t most = o->info.max_rx_pktlen;
	int r;

	port_choose_offloads(o, &conf);
	o->p->most_segs = port_most_segs(o, conf.txmode.offloads);
	port_choose_external(o, conf.txmode.offloads);
	/* Drivers that know only the standard frame take no other number here. */
	if (o->mtu <= o->info.max_mtu && most && most >= (uint32_t)o->mtu + RTE_ETHER_HDR_LEN)
		conf.rxmode.mtu = o->mtu;
	conf.intr_conf.rxq = port_want_interrupt(o);
	conf.intr_conf.rmv = o->info.dev_flags && *o->info.dev_flags & RTE_ETH_DEV_INTR_RMV;
	r = rte_eth_dev_configure(o->p->id, 1, 1, &conf);
	if (r && conf.intr_conf.rxq) {
		conf.intr_conf.rxq = 0;
		r = rte_eth_dev_configure(o->p->id, 1, 1, &conf);
	}
	if (r)
		return port_fail(o, r, "it takes no configuration");
	if (!port_driver_is(o->p, "net_af_packet")) {
		uint16_t now = 0;

		rte_eth_dev_get_mtu(o->p->id, &now);
		r = now == o->mtu ? 0 : rte_eth_dev_set_mtu(o->p->id, o->mtu);
		if (r && r != -ENOTSUP)
			return port_fail(o, r, "it does not take mtu %u", o->mtu);
	}
	o->p->caps.mtu = o->mtu;
	if (o->cfg->mac && !port_keeps_mac(o->p)) {
		struct rte_ether_addr a;

		memcpy(a.addr_bytes, o->cfg->mac, 6);
		r = rte_eth_dev_default_mac_addr_set(o->p->id, &a);
		if (r)
			return port_fail(o, r, "it does not take another MAC address");
	}
	return 0;
}

/** On the EAL's interrupt thread. */
static int port_on_removal(uint16_t id, enum rte_eth_event_type type, void *arg, void *unused)
{
	struct port *p = arg;

	atomic_store_explicit(&p->gone, true, memory_order_relaxed);
	return 0;
}

/** A ring uses all buffers in turn. */
static void port_tell_ring(const struct opening *o)
{
	if (!pool_is_stack(o->p->pool))
		log_printf(o->cfg->log, LOG_LEVEL_WARNING,
			"port %s: DPDK's mempool_stack is not in this process: packet buffers are "
			"in a ring, and seldom in the CPU's cache",
			o->cfg->device);
}

static int port_create_pool(struct opening *o, const char *name, int socket)
{
	struct port *p = o->p;
	int r;

	p->pool = pool_create(name, o->frame, o->cfg->memory_mib, socket, p->copies);
	if (p->pool) {
		port_tell_ring(o);
		return 0;
	}
	r = pool_failed(-rte_errno);
	return port_fail(o, r, "no %s for its packet buffers",
		r == -ENODEV                      ? POOL_NO_DRIVER
		: eal_is_software(o->cfg->device) ? "memory"
						  : "hugepages");
}

static int port_setup_queues(struct opening *o)
{
	struct port *p = o->p;
	struct rte_eth_txconf conf = o->info.default_txconf;
	uint16_t rx = PORT_DESC, tx = PORT_DESC;
	char name[RTE_MEMPOOL_NAMESIZE], reason[400];
	int socket = rte_eth_dev_socket_id(p->id), r;

	/* Each of its own: port_free_pool() may have left some. */
	snprintf(name, sizeof name, "uiwarp-%u.%u", p->id, ++port_opened);
	r = port_create_pool(o, name, socket);
	if (r)
		return r;
	snprintf(name, sizeof name, "uiwarp-%u.%u-ext", p->id, port_opened);
	if (p->caps.external && !(p->external = pool_create_external(name, socket)))
		return port_fail(o, -rte_errno, "no memory for buffers of parts of frames");
	r = rte_eth_dev_adjust_nb_rx_tx_desc(p->id, &rx, &tx);
	if (r)
		return port_fail(o, r, "it has no room for descriptors");
	r = rte_eth_rx_queue_setup(p->id, 0, rx, (unsigned)socket, NULL, p->pool);
	if (r)
		return port_fail_by_driver(o, r, "it has no receive queue");
	/* Else drivers do not tell of the last frames until more are sent: port_settle(). */
	if (p->caps.external && conf.tx_rs_thresh > 1)
		conf.tx_rs_thresh = 1;
	r = rte_eth_tx_queue_setup(p->id, 0, tx, (unsigned)socket, &conf);
	if (r)
		return port_fail(o, r, "it has no transmit queue");
	/* What is not mapped for the device it cannot read or write. DPDK goes on all the same. */
	if (eal_log_look(reason, sizeof reason) && pci_is_unmapped(reason))
		return port_fail(o, -ENOMEM, "it cannot reach its packet buffers");
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
	p->carrier_fd = carrier_open_changes(o->ifname, o->info.if_index);
	p->carrier_changes = sysfs_number_of(p->carrier_fd);
	if (p->is_tap && p->rx_fd < 0)
		p->tap = o->info.if_index;
}

static int port_start_device(struct opening *o)
{
	struct port *p = o->p;
	int r;

	if (o->p->is_tap)
		p->rx_fd = rxfd_tap_quiet(o->ifname, &p->rx_signal);
	if (port_is_memif(o->p))
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

static int port_open_steps(struct opening *o)
{
	int (*const steps[])(struct opening *) = {
		port_probe, port_choose_mtu, port_configure, port_setup_queues, port_start_device};
	int r = 0;

	for (size_t i = 0; i < RTE_DIM(steps) && r == 0; i++) {
		/* Errors of a step that succeeded after all are no reason for a later one's: DPDK
		 * logs one for each PCI device that it has probed when it started. */
		eal_log_watch();
		r = steps[i](o);
	}
	return r;
}

/**
 * A memif server cannot be closed: its listening socket stays registered with the EAL's interrupt
 * thread after it is freed. It stays, stopped, and is used again when it is opened again.
 */
static bool port_can_be_closed(const struct port *p)
{
	return !port_is_memif(p) || p->connects;
}

static void port_stop_device(void *port)
{
	const struct port *p = port;

	rte_eth_dev_stop(p->id);
	if (port_is_memif(p))
		memif_guard_sweep();
}

static void port_stop_and_close(void *port)
{
	const struct port *p = port;

	port_stop_device(port);
	if (port_can_be_closed(p))
		rte_eth_dev_close(p->id);
}

/** A memif's own handler comes first, for which that thread gets the time. But not for ever: its
 * peer may send without an end. */
#define PORT_WAY_US    1000
#define PORT_WAY_GIVEN 1000

struct port_shutdown {
	struct port *p;
	void (*how)(void *port);
	unsigned gave_way;
	bool over;
};

static void port_shut_down_memif(void *shutdown)
{
	struct port_shutdown *s = shutdown;

	if (memif_driver_has_input(s->p->id) && s->gave_way++ < PORT_WAY_GIVEN)
		return;
	s->how(s->p);
	s->over = true;
}

/**
 * memif's handler of a peer that goes looks at what is freed here, without a lock: it runs in the
 * EAL's interrupt thread, so this does too.
 */
static void port_shut_down(struct port *p, void (*how)(void *port))
{
	struct port_shutdown s = {.p = p, .how = how};

	port_drop(p);
	if (!port_is_memif(p)) {
		how(p);
		return;
	}
	eal_call_in_turn(port_shut_down_memif, &s);
	while (!s.over)
		eal_call_in_later_turn(PORT_WAY_US, port_shut_down_memif, &s);
}

/**
 * A driver that cannot stop its device keeps what that may read or write, for ever. Parts of frames
 * are among it, and what they are attached to is not unmapped then.
 */
static void port_free_pool(const struct port *p, struct rte_mempool *pool)
{
	unsigned kept = pool ? rte_mempool_in_use_count(pool) : 0;

	if (!kept)
		rte_mempool_free(pool);
	else
		log_printf(p->log, LOG_LEVEL_WARNING,
			"port %u: %u of its packet buffers were not given back, so their memory "
			"stays taken",
			p->id, kept);
}

/** Undo what port_open() did, as far as it came. */
static void port_dismantle(struct port *p)
{
	if (p->carrier_fd >= 0)
		close(p->carrier_fd);
	memif_link_free(&p->memif);
	intr_gate_destroy(p->intr_gate);
	if (p->id < RTE_MAX_ETHPORTS) {
		rte_eth_dev_callback_unregister(p->id, RTE_ETH_EVENT_INTR_RMV, port_on_removal, p);
		port_shut_down(p, port_stop_and_close);
	}
	if (p->device && port_can_be_closed(p))
		rte_dev_remove(p->device);
	port_free_pool(p, p->external);
	port_free_pool(p, p->pool);
	eal_log_release(p->log);
	rte_free(p);
}

void port_stop(struct port *p)
{
	p->started = false;
	port_shut_down(p, port_stop_device);
}

void port_close(struct port *p)
{
	pthread_mutex_lock(&port_open_lock);
	port_dismantle(p);
	pthread_mutex_unlock(&port_open_lock);
}

/** What a driver, or the EAL, makes of too few is not said in words. */
static int port_check_descriptors(const struct port_config *cfg, struct port_error *e)
{
	unsigned free;
	int r = descriptors_check(DESCRIPTORS_OF_PORT, &free);

	if (r == -EMFILE)
		snprintf(e->text, sizeof e->text,
			"port \"%.100s\": it needs %u descriptors, of which %u are free: raise "
			"\"ulimit "
			"-n\", which is %ju",
			cfg->device, DESCRIPTORS_OF_PORT, free, descriptors_limit());
	else if (r)
		snprintf(e->text, sizeof e->text, "port \"%.100s\": %s", cfg->device, strerror(-r));
	return r;
}

int port_open(const struct port_config *config, struct port **out, struct port_error *e)
{
	char device[DEVICE_MAX], rest[2], wrong[256];
	struct port_config own = *config;
	const struct port_config *cfg = &own;
	struct opening o = {.cfg = cfg, .e = e};
	int r;

	if (packet_is_named(config->device))
		r = packet_complete(config, device, sizeof device);
	else
		r = memif_absolute(config->device, device, sizeof device);
	if (r) {
		snprintf(e->text, sizeof e->text, "port \"%.100s\": its arguments: %s",
			config->device, strerror(-r));
		return r;
	}
	own.device = device;
	if (!device_args_check(device, wrong, sizeof wrong)) {
		snprintf(e->text, sizeof e->text, "port \"%.100s\": %s", config->device, wrong);
		return -EINVAL;
	}
	r = port_check_descriptors(config, e);
	if (!r)
		r = eal_start(cfg, e);
	if (r)
		return r;
	o.p = rte_zmalloc("port", sizeof *o.p, RTE_CACHE_LINE_SIZE);
	if (!o.p) {
		snprintf(e->text, sizeof e->text, "port \"%.120s\": no memory", cfg->device);
		return -ENOMEM;
	}
	o.p->log = cfg->log;
	o.p->rx_fd = o.p->carrier_fd = -1;
	o.p->vlan = cfg->vlan;
	o.p->id = RTE_MAX_ETHPORTS;
	pthread_mutex_lock(&port_open_lock);
	eal_log_to(cfg->log);
	r = port_open_steps(&o);
	eal_log_reason(rest, sizeof rest);
	if (r)
		port_dismantle(o.p);
	pthread_mutex_unlock(&port_open_lock);
	if (r)
		return r;
	log_printf(cfg->log, LOG_LEVEL_INFO,
		"port %s: %s, mtu %u, %02x:%02x:%02x:%02x:%02x:%02x%s%s%s%s%s", cfg->device,
		o.p->caps.driver, o.p->caps.mtu, o.p->caps.mac[0], o.p->caps.mac[1],
		o.p->caps.mac[2], o.p->caps.mac[3], o.p->caps.mac[4], o.p->caps.mac[5],
		o.p->caps.rx_interrupt ? ", sleeps on receive" : "",
		o.p->caps.rx_cksum ? ", receive checksums" : "",
		o.p->caps.tx_tcp_cksum ? ", transmit checksums" : "",
		o.p->caps.tx_tso ? ", TCP segmentation" : "",
		o.p->caps.external ? ", gathers" : "");
	o.p->holding = holding_of(cfg->device, o.p->is_tap ? o.ifname : "");
	holding_keep_private(&o.p->holding);
	*out = o.p;
	return 0;
}
