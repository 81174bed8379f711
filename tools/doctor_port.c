/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/sysfs.h"
#include "base/wait_limit.h"
#include "dpdk-port/capability.h"
#include "dpdk-port/driver_name.h"
#include "dpdk-port/eal.h"
#include "dpdk-port/socket_file.h"
#include "tools/doctor.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define LINK_MS 2000

static bool doctor_port_is(const struct doctor *d, const char *driver)
{
	return driver_name_fits(driver, d->config->port);
}

/** The value of "key=" in the port's arguments. @return false: there is none. */
static bool doctor_port_argument(const struct doctor *d, const char *key, char *out, size_t size)
{
	const char *p = d->config->port;
	size_t n = strlen(key);

	while ((p = strchr(p, ',')) != NULL) {
		p++;
		if (strncmp(p, key, n) == 0 && p[n] == '=') {
			size_t len = strcspn(p + n + 1, ",");

			snprintf(out, size, "%.*s", (int)len, p + n + 1);
			return true;
		}
	}
	return false;
}

/** The Linux interface that it stands on. A vhost's "iface" is the path of a socket. */
static bool doctor_port_interface(const struct doctor *d, char name[IFNAMSIZ])
{
	char value[CONFIG_MAX_PORT];

	if (!doctor_port_argument(d, "iface", value, sizeof value) || strchr(value, '/'))
		return false;
	snprintf(name, IFNAMSIZ, "%.*s", IFNAMSIZ - 1, value);
	return true;
}

/** Named by the address of a PCI device. */
static bool doctor_port_is_pci(const struct doctor *d)
{
	const char *p = d->config->port;

	return !eal_is_software(p) && memchr(p, ':', strcspn(p, ",")) != NULL;
}

/* ---- before it is opened ------------------------------------------------------------------ */

static void doctor_port_look_at_capability(struct doctor *d)
{
	const char *missing = capability_missing(d->config->port);

	if (!missing)
		return;
	doctor_wrong(d, "this process has not the capability %s, which this kind of port needs",
		missing);
	doctor_advise(d, "start it as root, or with that capability in its ambient set (setpriv, "
			 "systemd's AmbientCapabilities=)");
}

/** One bit that ethtool knows. @return -1: not known. */
static int doctor_port_offload(const char *interface, uint32_t command)
{
	struct ethtool_value value = {.cmd = command};
	struct ifreq r = {.ifr_data = (char *)&value};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc;

	if (fd < 0)
		return -1;
	snprintf(r.ifr_name, sizeof r.ifr_name, "%s", interface);
	rc = ioctl(fd, SIOCETHTOOL, &r);
	close(fd);
	return rc != 0 ? -1 : value.data != 0;
}

/** Linux puts segments together before it hands them to us, beyond what a frame may be. */
static void doctor_port_look_at_offloads(struct doctor *d, const char *interface)
{
	static const struct {
		uint32_t command;
		const char *name, *option;
	} joins[] = {
		{ETHTOOL_GGRO, "generic receive offload", "gro"},
		{ETHTOOL_GTSO, "TCP segmentation offload", "tso"},
	};

	for (unsigned i = 0; i < sizeof joins / sizeof joins[0]; i++) {
		if (doctor_port_offload(interface, joins[i].command) != 1)
			continue;
		doctor_note(d,
			"%s is on at %s: Linux may hand over packets that are longer than a frame, "
			"which are lost; off by \"ethtool -K %s %s off\", on both ends of a veth",
			joins[i].name, interface, interface, joins[i].option);
	}
}

static void doctor_port_look_at_interface(struct doctor *d)
{
	char name[IFNAMSIZ];
	struct ifreq r = {0};
	int fd;

	if (!doctor_port_interface(d, name))
		return;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	snprintf(r.ifr_name, sizeof r.ifr_name, "%s", name);
	if (ioctl(fd, SIOCGIFFLAGS, &r) != 0) {
		/* A tap is made when it is opened. */
		if (!doctor_port_is(d, "net_tap")) {
			doctor_wrong(d, "there is no interface \"%s\"", name);
			doctor_advise(d, "look for its name in \"ip link\", in the same network "
					 "namespace");
		}
	} else if ((r.ifr_flags & IFF_UP) == 0 && !doctor_port_is(d, "net_tap")) {
		doctor_wrong(d, "the interface %s is down", name);
		doctor_advise(d, "ip link set %s up", name);
	} else {
		doctor_good(d, "the interface %s is there", name);
		doctor_port_look_at_offloads(d, name);
	}
	close(fd);
}

static bool doctor_port_same_address(const struct sockaddr *sa, const struct ip_addr *a)
{
	if (sa->sa_family == AF_INET)
		return ip_addr_is_v4(a) &&
		       memcmp(&((const struct sockaddr_in *)sa)->sin_addr, a->b + 12, 4) == 0;
	if (sa->sa_family == AF_INET6)
		return !ip_addr_is_v4(a) &&
		       memcmp(&((const struct sockaddr_in6 *)sa)->sin6_addr, a->b, 16) == 0;
	return false;
}

/** Linux hears what the port hears, on whichever of its interfaces an address is. */
static bool doctor_port_is_beside_kernel(const struct doctor *d)
{
	char name[IFNAMSIZ];

	return doctor_port_is(d, "net_af_") || doctor_port_is(d, "net_tap") ||
	       doctor_port_interface(d, name);
}

/** The kernel answers for its addresses too: connections to us would be reset by it. */
static void doctor_port_kernel_addresses(struct doctor *d)
{
	struct ifaddrs *list;
	char text[IP_ADDR_STRLEN];

	if (!doctor_port_is_beside_kernel(d) || getifaddrs(&list) != 0)
		return;
	for (const struct ifaddrs *i = list; i; i = i->ifa_next) {
		for (unsigned n = 0; i->ifa_addr && n < d->config->num_addresses; n++) {
			const struct ip_addr *a = &d->config->address[n].addr;

			if (!doctor_port_same_address(i->ifa_addr, a))
				continue;
			doctor_wrong(d,
				"Linux itself has our address %s, on %s, and will answer in "
				"our place",
				ip_addr_format(a, text), i->ifa_name);
			doctor_advise(d,
				"take it from Linux (\"ip addr del %s/%u dev %s\"), or choose "
				"another for \"address\"",
				text, d->config->address[n].prefix_len, i->ifa_name);
		}
	}
	freeifaddrs(list);
}

void doctor_look_at_system(struct doctor *d)
{
	doctor_port_look_at_capability(d);
	if (doctor_port_is_pci(d)) {
		struct doctor_pci_host host = doctor_pci_this_host();

		doctor_look_at_pci(d, &host);
	}
	doctor_port_look_at_interface(d);
	doctor_port_kernel_addresses(d);
	if (socket_file_is_awaited(d->config->port))
		doctor_note(d,
			"the port opens when a vhost has connected to its socket: this waits for "
			"it");
}

/* ---- open, or not -------------------------------------------------------------------------- */

/** A memif's socket is a file in a directory, unless it is abstract. @return false: it is there. */
static bool doctor_port_lacks_directory(const struct doctor *d, char *directory, size_t size)
{
	char *slash;

	if (!doctor_port_is(d, "net_memif") || !strstr(d->config->port, "socket-abstract=no") ||
		!doctor_port_argument(d, "socket", directory, size))
		return false;
	slash = strrchr(directory, '/');
	if (!slash || slash == directory)
		return false;
	*slash = '\0';
	return access(directory, W_OK | X_OK) != 0;
}

void doctor_explain_port(struct doctor *d)
{
	char socket_path[CONFIG_MAX_PORT];
	char name[IFNAMSIZ];

	if (capability_missing(d->config->port))
		doctor_advise(d, "give it the capability first, see above");
	else if (doctor_port_lacks_directory(d, socket_path, sizeof socket_path))
		doctor_advise(d,
			"put the socket into a directory that is there and that this user may "
			"write to; %s is not",
			socket_path);
	else if (doctor_port_is(d, "net_memif") && strstr(d->config->port, "role=client"))
		doctor_advise(d,
			"start the process with role=server and the same socket first; both "
			"say socket-abstract=no, or neither");
	else if (doctor_port_is(d, "net_memif") &&
		 doctor_port_argument(d, "socket", socket_path, sizeof socket_path) &&
		 access(socket_path, F_OK) == 0)
		doctor_advise(d,
			"another process may serve %s already: give each port a socket, or "
			"an id=, of its own",
			socket_path);
	else if (doctor_port_is(d, "net_tap"))
		doctor_advise(d,
			"see that /dev/net/tun is there, and that no other process has this "
			"tap open");
	else if (doctor_port_is(d, "net_af_") && !doctor_port_interface(d, name))
		doctor_advise(d, "say which interface: \"port = %s,iface=eth1\"", d->config->port);
	else if (doctor_port_is(d, "net_af_"))
		doctor_advise(d, "see that the interface is there and up, and that no other "
				 "process has this queue of it open");
	else if (!doctor_port_is_pci(d))
		doctor_advise(d, "look at the kinds of ports and their arguments in "
				 "docs/configuration.md, or uiwarp.conf(5)");
	else if (d->pci_is_ready)
		doctor_advise(d,
			"the device can be had, so no driver of DPDK's that is "
			"installed takes it, perhaps: apt-get install librte-meta-net (\"lspci -nn "
			"-s "
			"%s\" says what it is)",
			d->config->port);
	else
		doctor_advise(d, "mend first what is wrong with the PCI device, see above");
}

/** A memif's peer may come a little later: its client looks for it every now and then. */
static bool doctor_port_await_link(struct doctor *d)
{
	const struct timespec nap = {.tv_nsec = 10000000};
	struct wait_limit limit;
	bool up;

	wait_limit_start(&limit, LINK_MS * UINT64_C(1000000), net_now(d->net));
	while (!(up = net_link(d->net, NULL)) && !wait_limit_over(&limit, net_now(d->net)))
		nanosleep(&nap, NULL);
	return up;
}

/** What sysfs says of a Linux interface. */
static unsigned doctor_port_number(const char *interface, const char *what)
{
	char path[64 + IFNAMSIZ];

	snprintf(path, sizeof path, "/sys/class/net/%s/%s", interface, what);
	return (unsigned)sysfs_number(path);
}

/** Does @p name, a VLAN or the like, stand on @p other? */
static bool doctor_port_stands_on(const char *name, const char *other)
{
	char path[64 + 2 * IFNAMSIZ];

	snprintf(path, sizeof path, "/sys/class/net/%s/lower_%s", name, other);
	return access(path, F_OK) == 0;
}

/** What the link of a Linux interface wants: what it stands on, a veth's other end, or a cable. */
static void doctor_port_advise_link_of(struct doctor *d, const char *name)
{
	unsigned own = doctor_port_number(name, "ifindex");
	unsigned on = doctor_port_number(name, "iflink");
	char other[IFNAMSIZ] = "";
	bool is_here = on && if_indextoname(on, other);

	if (!on || on == own)
		doctor_advise(d,
			"plug in the cable of %s, or switch on the port at its other end, until "
			"\"ethtool %s\" says \"Link detected: yes\"",
			name, name);
	else if (is_here && doctor_port_stands_on(name, other) &&
		 (doctor_port_number(other, "flags") & IFF_UP))
		doctor_port_advise_link_of(d, other);
	else if (is_here &&
		 (doctor_port_stands_on(name, other) || doctor_port_number(other, "iflink") == own))
		doctor_advise(d, "ip link set %s up", other);
	else /* if the number is one of ours too, by chance, it does not lead back */
		doctor_advise(d,
			"\"ip link set INTERFACE up\" in the network namespace of the other end of "
			"%s, whose number there is %u (\"ip link\" shows numbers)",
			name, on);
}

static void doctor_port_advise_link(struct doctor *d)
{
	char name[IFNAMSIZ];

	if (doctor_port_is(d, "net_memif"))
		doctor_advise(d,
			"nobody is at the other end of the memif: start that process, with "
			"the other role and the same socket and id");
	else if (doctor_port_interface(d, name))
		doctor_port_advise_link_of(d, name);
	else
		doctor_advise(d, "plug in the cable, or switch on the port at its other end; on a "
				 "Linux host there: ip link set INTERFACE up");
}

void doctor_look_at_port(struct doctor *d)
{

	doctor_good(d, "the port opens: %s, packets of up to %u bytes", d->config->port,
		net_mtu(d->net));
	if (doctor_port_await_link(d)) {
		doctor_good(d, "its link is up");
		return;
	}
	doctor_wrong(d, "the link of the port is down");
	doctor_port_advise_link(d);
}

/** Counters of the whole run, as they tell of the other side. */
void doctor_look_at_frames(struct doctor *d)
{
	struct ip_stats s;

	engine_lock(net_engine(d->net));
	s = *ip_stack_stats(net_ip(d->net));
	engine_unlock(net_engine(d->net));
	if (s.rx_cksum_unfilled != 0) {
		doctor_wrong(d,
			"%llu packets came with wrong checksums, which their sender had left "
			"to hardware that is not there, as Linux does on a veth or TAP",
			(unsigned long long)s.rx_cksum_unfilled);
		doctor_advise(d, "on the sender's side: \"ethtool -K DEVICE tx off\"");
	} else if (s.rx_bad_cksum != 0) {
		doctor_wrong(d, "%llu packets came with wrong checksums",
			(unsigned long long)s.rx_bad_cksum);
		doctor_advise(d, "something on the way damages packets: cable, memory, a tunnel");
	}
	if (s.rx_cut != 0) {
		doctor_wrong(d,
			"%llu packets came that are longer than a frame of the port, as Linux puts "
			"segments together, and were lost",
			(unsigned long long)s.rx_cut);
		doctor_advise(d, "\"ethtool -K DEVICE gro off lro off\" here, and at a veth \"tso "
				 "off gso off\" on the other side");
	}
	if (s.rx_packets == 0)
		doctor_note(d, "not one packet was received on the port");
}
