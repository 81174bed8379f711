/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file pci.h
 * PCI devices as Linux's sysfs shows them, and why one does not open, where DPDK's message
 * misleads.
 */
#ifndef DPDK_PORT_PCI_H
#define DPDK_PORT_PCI_H

#include <stdbool.h>
#include <stddef.h>

#define PCI_SYSFS "/sys/bus/pci/devices"

/** True for DPDK's error that memory is not mapped for devices, after which it goes on. */
bool pci_is_unmapped(const char *reason);

/**
 * Where sysfs has a device: by its address with the domain, which DPDK does without.
 * @param sysfs PCI_SYSFS
 * @param device DPDK device arguments
 */
void pci_path(const char *sysfs, const char *device, char *path, size_t len);

/**
 * The driver of Linux's that the device at @p path is bound to.
 * @param driver its name, "" where there is none; 64 bytes are enough
 * @return false: there is no such device.
 */
bool pci_driver(const char *path, char *driver, size_t len);

/** True for the drivers of Linux's that leave a device to a process. */
bool pci_is_handed_over(const char *driver);

/**
 * For a NIC that a process shares with Linux, such as NVIDIA's ConnectX: the driver of Linux's that
 * it must be bound to, by whose RDMA device DPDK's goes. @param path of pci_path().
 * @return NULL: it is none, or not known; it must be handed over.
 */
const char *pci_shared_driver(const char *path);

/**
 * Replace DPDK's @p reason by a better one: the limit of locked memory is too small, there is no
 * such device, or it is bound to another Linux driver than it must be. Other reasons stay.
 * @param sysfs PCI_SYSFS
 * @param device DPDK device arguments
 */
void pci_explain(const char *sysfs, const char *device, char *reason, size_t len);

#endif
