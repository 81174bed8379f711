/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file device_args.h
 * The arguments of the software devices that people write by hand. Drivers of DPDK ignore what they
 * do not know, or only report that something is wrong.
 */
#ifndef DPDK_PORT_DEVICE_ARGS_H
#define DPDK_PORT_DEVICE_ARGS_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Are the arguments of @p device among those that its driver knows? True for drivers that are not
 * known here.
 * @param[out] why when not, what is wrong and what would be right, to follow the device's name.
 */
bool device_args_check(const char *device, char *why, size_t len);

#endif
