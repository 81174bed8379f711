/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/pci.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/** Drivers of Linux's that leave a device to a process. */
static const char *const pci_handing_over[] = {"vfio-pci", "uio_pci_generic", "igb_uio"};

bool pci_is_unmapped(const char *reason)
{
	return strstr(reason, "DMA remapping") != NULL;
}

bool pci_is_handed_over(const char *driver)
{
	for (size_t i = 0; i < sizeof pci_handing_over / sizeof *pci_handing_over; i++)
		if (strcmp(driver, pci_handing_over[i]) == 0)
			return true;
	return false;
}

void pci_path(const char *sysfs, const char *device, char *path, size_t len)
{
	int n;

	if (strncmp(device, "pci:", 4) == 0)
		device += 4;
	n = (int)strcspn(device, ",");
	snprintf(path, len, "%s/%s%.*s", sysfs,
		strchr(device, ':') == strrchr(device, ':') ? "0000:" : "", n, device);
}

bool pci_driver(const char *path, char *driver, size_t len)
{
	char link[PATH_MAX + 8], target[PATH_MAX];
	const char *base;
	ssize_t n;

	if (access(path, F_OK))
		return false;
	snprintf(link, sizeof link, "%s/driver", path);
	n = readlink(link, target, sizeof target - 1);
	target[n > 0 ? n : 0] = '\0';
	base = strrchr(target, '/');
	snprintf(driver, len, "%.63s", base ? base + 1 : target);
	return true;
}

static void pci_explain_binding(const char *sysfs, const char *device, char *reason, size_t len)
{
	char path[PATH_MAX], driver[64];

	pci_path(sysfs, device, path, sizeof path);
	if (!pci_driver(path, driver, sizeof driver)) {
		snprintf(reason, len, "there is no such PCI device");
		return;
	}
	if (pci_is_handed_over(driver))
		return;
	snprintf(reason, len, "it is bound to %s instead of vfio-pci",
		*driver ? driver : "no driver of Linux's");
}

void pci_explain(const char *sysfs, const char *device, char *reason, size_t len)
{
	if (pci_is_unmapped(reason) && strstr(reason, "error 12"))
		snprintf(reason, len,
			"its memory cannot be mapped for the device: the limit of locked memory "
			"(ulimit -l) is too small");
	else if (strstr(reason, "Cannot find device") || strstr(reason, "cannot attach the device"))
		pci_explain_binding(sysfs, device, reason, len);
}
