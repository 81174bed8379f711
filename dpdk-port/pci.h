/* SPDX-License-Identifier: BSD-2-Clause */
/** @file pci.h Why a PCI device does not open, where DPDK's own words mislead. */
#ifndef DPDK_PORT_PCI_H
#define DPDK_PORT_PCI_H

#include <stdbool.h>
#include <stddef.h>

#define PCI_SYSFS "/sys/bus/pci/devices"

/** True for DPDK's error that memory is not mapped for devices: it logs that, and goes on. */
bool pci_is_unmapped(const char *reason);

/**
 * Put better words in place of DPDK's @p reason: that the limit of locked memory is too small, that
 * there is no such device, or which driver of Linux's it is bound to instead of vfio-pci. Others
 * stay.
 * @param sysfs PCI_SYSFS
 * @param device DPDK device arguments
 */
void pci_explain(const char *sysfs, const char *device, char *reason, size_t len);

#endif
