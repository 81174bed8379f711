/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file carrier.h
 * The carrier of a kernel interface. DPDK's AF_PACKET driver always reports its link as up.
 */
#ifndef DPDK_PORT_CARRIER_H
#define DPDK_PORT_CARRIER_H

enum carrier {
	CARRIER_UNKNOWN,
	CARRIER_DOWN,
	CARRIER_UP,
	CARRIER_GONE, /**< the interface does not exist any more */
};

/** @param fd any socket of the interface's network namespace; -1: unknown. */
enum carrier carrier_get(int fd, unsigned ifindex);

#endif
