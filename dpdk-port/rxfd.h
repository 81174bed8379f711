/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file rxfd.h
 * A descriptor to sleep on until a port receives.
 *
 * DPDK hands one out where the driver has Rx interrupts. The drivers on top of the kernel (TAP,
 * AF_PACKET) hold a descriptor that the kernel makes readable, but do not show it; it is found
 * among the process's own by what the kernel says of each.
 */
#ifndef DPDK_PORT_RXFD_H
#define DPDK_PORT_RXFD_H

#include <stdint.h>

/**
 * The packet socket that is bound to interface @p ifindex, of this process. -1: none, or several,
 * of which one could not tell which will receive.
 */
int rxfd_packet_socket(unsigned ifindex);

/** A signal that a driver waits for, and its handler of it. */
struct rxfd_signal {
	int number;
	void (*handler)(int number); /**< NULL: it waits for none */
};

/**
 * The queue of the TAP interface @p ifname that receives. -1: not found.
 *
 * The driver asks for a signal per packet, which would interrupt system calls of the application,
 * so they are turned off here; call this before the interface is brought up. The driver does
 * without as long as none has come. But one may have: of an interface that was up before, on which
 * the host has sent meanwhile. From then on the driver looks only after another.
 * @param[out] signal call its handler before each poll, in place of the signal.
 */
int rxfd_tap_quiet(const char *ifname, struct rxfd_signal *signal);

#endif
