/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/config_kernel.h"

#include "host/config_error.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

/** Kept for the loopback network's, of each family. */
#define LOOPBACKS 2

bool config_is_kernel(const struct config *c)
{
	return strcmp(c->port, CONFIG_KERNEL) == 0;
}

/* ---- what does not go together --------------------------------------------------------------- */

int config_kernel_check(const struct config *c, struct config_error *e)
{
	static const uint8_t no_mac[6];
	const struct {
		const char *key, *instead;
		bool given;
	} keys[] = {
		{"gateway", "a route of the host's (ip route)", c->num_gateways != 0},
		{"mtu", "that of the host's interfaces (ip link)", c->mtu != 0},
		{"vlan", "an interface of the host's for it (ip link)", c->vlan != 0},
		{"mac", "that of the host's interfaces", memcmp(c->mac, no_mac, 6) != 0},
		{"eal", "none, as there is no EAL", c->eal[0] != '\0'},
		{"ipsec", "the host's own IPsec (ip xfrm)", c->ipsec[0] != '\0'},
		{"capture", "tcpdump on the host's interface", c->capture[0] != '\0'},
	};

	for (unsigned i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (keys[i].given)
			return config_complain(e, -EINVAL, NULL,
				"\"%s\" is given, but \"port\" is kernel; expected %s", keys[i].key,
				keys[i].instead);
	return 0;
}

/* ---- the host's addresses -------------------------------------------------------------------- */

static unsigned config_kernel_prefix(const struct sockaddr *mask)
{
	const uint8_t *p = NULL;
	unsigned bytes = 0, bits = 0;

	if (mask && mask->sa_family == AF_INET) {
		p = (const uint8_t *)&((const struct sockaddr_in *)(const void *)mask)->sin_addr;
		bytes = 4;
	} else if (mask && mask->sa_family == AF_INET6) {
		p = (const uint8_t *)&((const struct sockaddr_in6 *)(const void *)mask)->sin6_addr;
		bytes = 16;
	}
	for (unsigned i = 0; i < bytes; i++)
		bits += (unsigned)__builtin_popcount(p[i]);
	return bits;
}

/** @return false: it has none that is of use. */
static bool config_kernel_address(const struct ifaddrs *i, struct config_address *out)
{
	const struct sockaddr *sa = i->ifa_addr;

	if (!sa || !(i->ifa_flags & IFF_UP))
		return false;
	if (sa->sa_family == AF_INET)
		out->addr =
			ip_addr_from_v4(&((const struct sockaddr_in *)(const void *)sa)->sin_addr);
	else if (sa->sa_family == AF_INET6)
		out->addr = ip_addr_from_v6(
			&((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr);
	else
		return false;
	out->prefix_len = config_kernel_prefix(i->ifa_netmask);
	return !ip_addr_is_link_local(&out->addr);
}

static bool config_kernel_has(const struct config *c, const struct ip_addr *a)
{
	for (unsigned i = 0; i < c->num_addresses; i++)
		if (ip_addr_equal(&c->address[i].addr, a))
			return true;
	return false;
}

/** Add those of one family that lead somewhere, or do not. */
static void config_kernel_add(
	struct config *c, const struct ifaddrs *all, bool loopback, bool v4, unsigned most)
{
	struct config_address a;

	for (const struct ifaddrs *i = all; i && c->num_addresses < most; i = i->ifa_next)
		if (config_kernel_address(i, &a) && ip_addr_is_v4(&a.addr) == v4 &&
			ip_addr_is_loopback(&a.addr) == loopback && !config_kernel_has(c, &a.addr))
			c->address[c->num_addresses++] = a;
}

static int config_kernel_fill(struct config *c, const struct ifaddrs *all, struct config_error *e)
{
	config_kernel_add(c, all, false, true, CONFIG_MAX_ADDRESSES - LOOPBACKS);
	config_kernel_add(c, all, false, false, CONFIG_MAX_ADDRESSES - LOOPBACKS);
	config_kernel_add(c, all, true, true, CONFIG_MAX_ADDRESSES - 1);
	config_kernel_add(c, all, true, false, CONFIG_MAX_ADDRESSES);
	if (c->num_addresses)
		return 0;
	return config_complain(e, -EADDRNOTAVAIL, NULL,
		"no interface of this host is up and has an address; expected one at least, such "
		"as lo after \"ip link set lo up\"");
}

/** All of 127.0.0.0/8 is the host's, though an interface names one address. */
static bool config_kernel_matches(const struct config_address *has, const struct ip_addr *a)
{
	if (ip_addr_is_loopback(a))
		return ip_addr_in_prefix(a, &has->addr, has->prefix_len);
	return ip_addr_equal(&has->addr, a);
}

static bool config_kernel_is_host(const struct ifaddrs *all, const struct ip_addr *a, char *name)
{
	struct config_address got;

	for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
		if (!config_kernel_address(i, &got) || !config_kernel_matches(&got, a))
			continue;
		if (name)
			snprintf(name, IF_NAMESIZE, "%s", i->ifa_name);
		return true;
	}
	return false;
}

int config_kernel_addresses(struct config *c, struct config_error *e)
{
	struct ifaddrs *all;
	char text[IP_ADDR_STRLEN];
	int rc = 0;

	if (getifaddrs(&all) != 0)
		return config_complain(e, -errno, NULL,
			"the host's interfaces cannot be listed: %s", strerror(errno));
	c->host_addresses = c->num_addresses == 0;
	if (c->host_addresses)
		rc = config_kernel_fill(c, all, e);
	for (unsigned i = 0; rc == 0 && i < c->num_addresses; i++)
		if (!config_kernel_is_host(all, &c->address[i].addr, NULL))
			rc = config_complain(e, -EADDRNOTAVAIL, NULL,
				"\"address\" is %s, which no interface of this host has that is "
				"up; with \"port\" kernel expected one of its own, or none for all "
				"of them",
				ip_addr_format(&c->address[i].addr, text));
	freeifaddrs(all);
	return rc;
}

bool config_kernel_interface(const struct ip_addr *a, char *name)
{
	struct ifaddrs *all;
	bool found;

	if (getifaddrs(&all) != 0)
		return false;
	found = config_kernel_is_host(all, a, name);
	freeifaddrs(all);
	return found;
}
