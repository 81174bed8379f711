/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/device_args.h"

#include "dpdk-port/driver_name.h"

#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Those of DPDK 22.11, between blanks. */
static const struct {
	const char *driver, *keys;
} device_args_known[] = {
	{"net_memif", " id role bsize rsize socket socket-abstract owner-uid owner-gid mac secret "
		      "zero-copy "},
	{"net_af_packet", " iface qpairs blocksz framesz framecnt qdisc_bypass "},
	{"net_af_xdp", " iface start_queue queue_count shared_umem xdp_prog busy_budget "
		       "force_copy "},
	{"net_tap", " iface remote mac persist "},
	{"net_null", " size copy no-rx "},
	{"net_ring", " nodeaction internal "},
	{"net_pcap", " rx_pcap tx_pcap rx_iface rx_iface_in tx_iface iface phy_mac infinite_rx "},
};

/** Of a memif, a server's at even places; the last two are the driver's old words. */
static const char *const device_args_roles[] = {"server", "client", "master", "slave"};

/** The keys of the driver. NULL: not known here. */
static const char *device_args_keys_of(const char *device)
{
	for (size_t i = 0; i < sizeof device_args_known / sizeof device_args_known[0]; i++)
		if (driver_name_fits(device_args_known[i].driver, device))
			return device_args_known[i].keys;
	return NULL;
}

static bool device_args_has_key(const char *keys, const char *key, size_t len)
{
	for (const char *at = keys + 1; *at; at += strcspn(at, " ") + 1)
		if (strcspn(at, " ") == len && !strncmp(at, key, len))
			return true;
	return false;
}

/** A Linux interface's name? Those of DPDK's buses all have a mark in it. */
static bool device_args_is_interface(const char *device)
{
	return if_nametoindex(device) || (*device && !strpbrk(device, "_:.-, \t"));
}

/** The role of memif @p device, one of device_args_roles; -1: there is none such. */
static int device_args_role_of(const char *role, size_t size)
{
	for (size_t i = 0; i < sizeof device_args_roles / sizeof device_args_roles[0]; i++)
		if (strlen(device_args_roles[i]) == size &&
			!strncmp(role, device_args_roles[i], size))
			return (int)i;
	return -1;
}

static bool device_args_check_memif(const char *device, char *why, size_t len)
{
	const char *role = strstr(device, ",role=");
	size_t size;
	int i;

	if (!role) /* the client's */
		return true;
	role += strlen(",role=");
	size = strcspn(role, ",");
	i = device_args_role_of(role, size);
	if (i < 0) {
		snprintf(why, len,
			"its role is \"%.*s\"; expected server (the end that is started first) or "
			"client",
			(int)(size < 60 ? size : 60), role);
		return false;
	}
	/* The memory is the client's; the driver of a server is no faster for it. */
	if (i % 2 == 0 && strstr(device, ",zero-copy=yes")) {
		snprintf(why, len,
			"zero-copy=yes is for the other end, with role=client: the frames lie in "
			"its memory");
		return false;
	}
	return true;
}

/** The kernel spreads what comes over all sockets of the driver's, and one is read. */
static bool device_args_check_af_packet(const char *device, char *why, size_t len)
{
	const char *pairs = device;

	/* The driver takes the last one. */
	while ((pairs = strstr(pairs, ",qpairs=")) != NULL) {
		pairs += strlen(",qpairs=");
		if (strtoul(pairs, NULL, 10) <= 1)
			continue;
		snprintf(why, len,
			"it has one queue each way, and what comes by others would be lost; "
			"expected qpairs=1, or none");
		return false;
	}
	return true;
}

/** What of a driver's arguments the driver itself does not check, or not so that one learns. */
static bool device_args_check_values(const char *device, size_t name_len, char *why, size_t len)
{
	if (driver_name_fits("net_af_", device) && !strstr(device, ",iface=")) {
		snprintf(why, len,
			"it does not say of which interface; expected such as %.*s,iface=eth1",
			(int)(name_len < 60 ? name_len : 60), device);
		return false;
	}
	if (driver_name_fits("net_af_packet", device))
		return device_args_check_af_packet(device, why, len);
	return !driver_name_fits("net_memif", device) || device_args_check_memif(device, why, len);
}

bool device_args_check(const char *device, char *why, size_t len)
{
	size_t name_len = strcspn(device, ",");
	const char *keys = device_args_keys_of(device), *arg = device + name_len;

	if (!keys && device_args_is_interface(device)) {
		snprintf(why, len,
			"that is no device of DPDK's; for a Linux interface write "
			"port = net_af_packet0,iface=%.15s, and for the host's own TCP "
			"port = kernel",
			device);
		return false;
	}
	while (keys && *arg == ',') {
		size_t size = strcspn(++arg, ","), key = strcspn(arg, "=,");

		if (key == size) {
			snprintf(why, len,
				"\"%.*s\" has no value; expected NAME=VALUE, with one of",
				(int)(size < 60 ? size : 60), arg);
		} else if (!device_args_has_key(keys, arg, key)) {
			snprintf(why, len, "it has no argument \"%.*s\"; expected one of",
				(int)(key < 60 ? key : 60), arg);
		} else {
			arg += size;
			continue;
		}
		snprintf(why + strlen(why), len - strlen(why), "%.*s", (int)strlen(keys) - 1, keys);
		return false;
	}
	return !keys || device_args_check_values(device, name_len, why, len);
}
