/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file carrier.h
 * The carrier of a kernel interface. DPDK's AF_PACKET driver always reports its link as up.
 *
 * Linux tells of it with a delay, of up to a second where it goes, and tells nothing where it comes
 * back meanwhile. But it counts at once.
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

/**
 * Open what tells how often the carrier of interface @p name, of the number @p ifindex in this
 * network namespace, has gone.
 * @return a descriptor for sysfs_number_of(); -1: /sys is not there, or is another namespace's.
 */
int carrier_open_downs(const char *name, unsigned ifindex);

#endif
