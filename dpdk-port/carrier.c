/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/carrier.h"

#include <errno.h>
#include <net/if.h>
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
