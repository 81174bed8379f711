/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/capability.h"

#include "dpdk-port/driver_name.h"

#include <linux/capability.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *driver, *name;
	unsigned number;
} capability_needs[] = {
	{"net_af_packet", "CAP_NET_RAW", CAP_NET_RAW},
	{"net_af_xdp", "CAP_NET_ADMIN", CAP_NET_ADMIN},
	{"net_tap", "CAP_NET_ADMIN", CAP_NET_ADMIN},
};

static bool capability_is_effective(unsigned number)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, data) != 0)
		return true; /* no look, no complaint */
	return (data[number / 32].effective >> number % 32 & 1) != 0;
}

const char *capability_missing(const char *device)
{
	for (size_t i = 0; i < sizeof capability_needs / sizeof capability_needs[0]; i++)
		if (driver_name_fits(capability_needs[i].driver, device) &&
			!capability_is_effective(capability_needs[i].number))
			return capability_needs[i].name;
	return NULL;
}
