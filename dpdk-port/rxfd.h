/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file rxfd.h
 * A descriptor to sleep on until a port receives.
 *
 * DPDK provides one if the driver has Rx interrupts. The drivers on top of the kernel (TAP,
 * AF_PACKET) have a suitable descriptor but do not provide it. It is searched for among the
 * process's descriptors.
 */
#ifndef DPDK_PORT_RXFD_H
#define DPDK_PORT_RXFD_H

#include <stdbool.h>
#include <stdint.h>

/**
 * This process's packet socket that is bound to interface @p ifindex. -1: there is none, or
 * several.
 */
int rxfd_packet_socket(unsigned ifindex);

/** A signal that a driver waits for, and its handler. */
struct rxfd_signal {
	int number;
	void (*handler)(int number); /**< NULL: it waits for none */
};

/**
 * Find the receive queue of the TAP interface @p ifname. -1: not found.
 *
 * The driver asks for a signal per packet, which would interrupt system calls of the application.
 * So signals are turned off here. Call this before the interface is brought up. The driver works
 * without signals until the first has come. One may have come already, if the interface was up
 * before and the host has sent on it. Then the driver receives only after another signal.
 * @param[out] signal its handler must be called before each poll, instead of the signal.
 */
int rxfd_tap_quiet(const char *ifname, struct rxfd_signal *signal);

/** True when the interface of TAP queue @p fd was deleted: it polls in error from then on. */
bool rxfd_tap_is_gone(int fd);

#endif
