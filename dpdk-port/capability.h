/* SPDX-License-Identifier: BSD-2-Clause */
/** @file capability.h What Linux wants of a process that opens a kind of port. */
#ifndef DPDK_PORT_CAPABILITY_H
#define DPDK_PORT_CAPABILITY_H

/** The capability that @p device needs and this thread has not, as "CAP_NET_RAW"; NULL: none. */
const char *capability_missing(const char *device);

#endif
