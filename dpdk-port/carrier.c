/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/carrier.h"

#include "base/sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/ioctl.h>

enum carrier carrier_get(int fd, unsigned ifindex)
{
	struct ifreq r = {.ifr_ifindex = (int)ifindex};

	if (fd < 0)
		return CARRIER_UNKNOWN;
	if (ioctl(fd, SIOCGIFNAME, &r))
		return errno == ENODEV ? CARRIER_GONE : CARRIER_UNKNOWN;
	if (ioctl(fd, SIOCGIFFLAGS, &r))
		return CARRIER_UNKNOWN;
	return r.ifr_flags & IFF_UP && r.ifr_flags & IFF_RUNNING ? CARRIER_UP : CARRIER_DOWN;
}

int carrier_open_downs(const char *name, unsigned ifindex)
{
	char path[64 + IFNAMSIZ];

	snprintf(path, sizeof path, "/sys/class/net/%s/ifindex", name);
	if (sysfs_number(path) != ifindex)
		return -1;
	snprintf(path, sizeof path, "/sys/class/net/%s/carrier_down_count", name);
	return open(path, O_RDONLY | O_CLOEXEC);
}
