/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file carrier.h
 * Whether an interface of the kernel's has its carrier. DPDK's AF_PACKET driver says "up" whatever
 * happens to the interface below it.
 */
#ifndef DPDK_PORT_CARRIER_H
#define DPDK_PORT_CARRIER_H

enum carrier {
	CARRIER_UNKNOWN,
	CARRIER_DOWN,
	CARRIER_UP,
	CARRIER_GONE, /**< there is no such interface any more */
};

/** @param fd any socket of the interface's network namespace; -1: unknown. */
enum carrier carrier_get(int fd, unsigned ifindex);

#endif
