/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file driver_name.h
 * Which software driver a device is of, by the device's name.
 */
#ifndef DPDK_PORT_DRIVER_NAME_H
#define DPDK_PORT_DRIVER_NAME_H

#include <stdbool.h>

/**
 * True if DPDK gives @p device to @p driver: by the front of its name, whatever follows. Several
 * drivers of net_ have an old name too, with eth_.
 */
bool driver_name_fits(const char *driver, const char *device);

#endif
