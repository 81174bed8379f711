/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/capability.h"
#include "dpdk-port/descriptors.h"
#include "dpdk-port/device_args.h"
#include "dpdk-port/eal.h"
#include "dpdk-port/memif.h"
#include "dpdk-port/packet.h"
#include "dpdk-port/pci.h"
#include "dpdk-port/port_opening.h"
#include "dpdk-port/socket_file.h"

#include <errno.h>
#include <pthread.h>
#include <rte_alarm.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/** How long a peer may take to connect before it is said that it is waited for. */
#define PEER_PATIENCE_US 1000000

/* Probing goes through the EAL's own tables, and its log has one reader. */
static pthread_mutex_t port_open_lock = PTHREAD_MUTEX_INITIALIZER;

int port_fail(struct opening *o, int error, const char *fmt, ...)
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

/** True when the port is there from before, see port_shutdown.c, with other arguments. */
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

bool port_driver_is(const struct port *p, const char *name)
{
	return strcmp(p->caps.driver, name) == 0;
}

/** Drivers that copy each frame in this process. A memif without copies shows its peer the EAL's.
 */
static bool port_copies(const struct opening *o)
{
	static const char *const drivers[] = {"net_af_packet", "net_null", "net_tap"};

	if (o->p->is_memif)
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

int port_fail_by_driver(struct opening *o, int error, const char *what)
{
	const char *missing = capability_missing(o->cfg->device);

	if (!missing)
		return port_fail(o, error, "%s", what);
	return port_fail(o, error, "%s without the capability %s", what, missing);
}

static void port_tell_awaited(void *arg)
{
	const struct opening *o = arg;

	log_printf(o->cfg->log, LOG_LEVEL_WARNING,
		"port \"%.200s\": it waits until a vhost connects to its socket", o->cfg->device);
}

/** A driver that waits says nothing, and to who has no patience it is a program that hangs. */
static int port_probe_device(struct opening *o)
{
	bool told = socket_file_is_awaited(o->cfg->device) &&
		    rte_eal_alarm_set(PEER_PATIENCE_US, port_tell_awaited, o) == 0;
	int r = rte_dev_probe(o->cfg->device);

	if (told)
		rte_eal_alarm_cancel(port_tell_awaited, o);
	return r;
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
	socket_file_forget_stale(o->cfg->device);
	r = port_probe_device(o);
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
	o->p->is_memif = port_driver_is(o->p, "net_memif");
	o->p->is_tap = port_driver_is(o->p, "net_tap");
	o->p->copies = port_copies(o);
	o->p->connects = o->p->is_memif && !strstr(o->cfg->device, "role=server") &&
			 !strstr(o->cfg->device, "role=master");
	if (o->info.if_index)
		if_indextoname(o->info.if_index, o->ifname);
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
