/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file device_args.h
 * Checks the arguments of software devices. DPDK's drivers ignore unknown arguments, or do not tell
 * which one is wrong.
 */
#ifndef DPDK_PORT_DEVICE_ARGS_H
#define DPDK_PORT_DEVICE_ARGS_H

#include <stdbool.h>
#include <stddef.h>

/**
 * True if the driver of @p device knows all of its arguments, or if the driver is not known here.
 * @param[out] why if false: what is wrong and what would be right, to follow the device's name.
 */
bool device_args_check(const char *device, char *why, size_t len);

#endif
