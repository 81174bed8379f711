/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/pci.h"

#include "base/sysfs.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PCI_CLASS_NETWORK 0x02 /* base class, the first of its three octets */

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

static const struct {
	unsigned vendor, device; /**< device 0: the others */
	const char *driver;
} pci_shared[] = {
	{0x15b3, 0x1003, "mlx4_core"}, /* ConnectX-3 */
	{0x15b3, 0x1004, "mlx4_core"}, /* its VFs */
	{0x15b3, 0x1007, "mlx4_core"}, /* ConnectX-3 Pro */
	{0x15b3, 0, "mlx5_core"},
	{0x1414, 0, "mana"},
};

/** What sysfs says of the device at @p path. */
static uint64_t pci_number(const char *path, const char *name)
{
	char file[PATH_MAX + 8];

	snprintf(file, sizeof file, "%s/%s", path, name);
	return sysfs_number(file);
}

const char *pci_shared_driver(const char *path)
{
	uint64_t vendor = pci_number(path, "vendor"), device = pci_number(path, "device");

	if (pci_number(path, "class") >> 16 != PCI_CLASS_NETWORK)
		return NULL;
	for (size_t i = 0; i < sizeof pci_shared / sizeof *pci_shared; i++)
		if (pci_shared[i].vendor == vendor &&
			(pci_shared[i].device == device || !pci_shared[i].device))
			return pci_shared[i].driver;
	return NULL;
}

static void pci_explain_binding(const char *sysfs, const char *device, char *reason, size_t len)
{
	char path[PATH_MAX], driver[64];
	const char *shared;

	pci_path(sysfs, device, path, sizeof path);
	if (!pci_driver(path, driver, sizeof driver)) {
		snprintf(reason, len, "there is no such PCI device");
		return;
	}
	shared = pci_shared_driver(path);
	if (shared ? strcmp(driver, shared) == 0 : pci_is_handed_over(driver))
		return;
	snprintf(reason, len, "it is bound to %s instead of %s",
		*driver ? driver : "no driver of Linux's", shared ? shared : "vfio-pci");
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
