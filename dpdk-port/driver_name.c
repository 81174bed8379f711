/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/driver_name.h"

#include <string.h>

bool driver_name_fits(const char *driver, const char *device)
{
	size_t len = strlen(driver);

	if (strncmp(driver, "net_", 4) == 0 && strncmp(device, "eth_", 4) == 0)
		return strncmp(device + 4, driver + 4, len - 4) == 0;
	return strncmp(device, driver, len) == 0;
}
