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

/**
 * The queue of the TAP interface @p ifname that receives.
 *
 * The driver asks for a signal per packet, which would interrupt system calls of the application.
 * It does without when none has come by the first poll, so they are turned off here: call this
 * before the interface is brought up. -1: not found.
 */
int rxfd_tap_quiet(const char *ifname);

#endif
