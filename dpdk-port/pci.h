/* SPDX-License-Identifier: BSD-2-Clause */
/** @file pci.h Explains why a PCI device does not open, where DPDK's message misleads. */
#ifndef DPDK_PORT_PCI_H
#define DPDK_PORT_PCI_H

#include <stdbool.h>
#include <stddef.h>

#define PCI_SYSFS "/sys/bus/pci/devices"

/** True for DPDK's error that memory is not mapped for devices, after which it goes on. */
bool pci_is_unmapped(const char *reason);

/**
 * Replace DPDK's @p reason by a better one: the limit of locked memory is too small, there is no
 * such device, or it is bound to another Linux driver than vfio-pci. Other reasons stay.
 * @param sysfs PCI_SYSFS
 * @param device DPDK device arguments
 */
void pci_explain(const char *sysfs, const char *device, char *reason, size_t len);

#endif
