/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file packet.h
 * What DPDK's net_af_packet leaves to its users: frames that are large enough for the MTU, rings
 * that may be locked, and starting without the right to change the interface.
 */
#ifndef DPDK_PORT_PACKET_H
#define DPDK_PORT_PACKET_H

#include "dpdk-port/port.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The largest default MTU of a port. The MTU of lo is larger and of no use. */
#define PACKET_MTU_DEFAULT_MAX 9216

/** True if @p device is an AF_PACKET device, by its name or arguments. */
bool packet_is_named(const char *device);

/** MTU of the kernel's interface @p ifname; 0 if there is none. At most UINT16_MAX. */
uint16_t packet_interface_mtu(const char *ifname);

/**
 * Complete the arguments of an AF_PACKET device: "framesz" for frames of @p cfg->mtu (0: the
 * interface's, up to PACKET_MTU_DEFAULT_MAX), a suitable "blocksz", and a "framecnt" with rings
 * that this process may lock (RLIMIT_MEMLOCK). If that is less than the driver's 512 frames, a
 * warning is logged. The EAL need not run.
 * @return 0 or -ENAMETOOLONG.
 */
int packet_complete(const struct port_config *cfg, char *out, size_t len);

/** Bytes of a ring's frame, from arguments without the device's name. */
unsigned packet_frame_size(const char *args);

/** The largest MTU that passes through frames of @p frame_size. */
unsigned packet_mtu_max(unsigned frame_size);

/** Bytes that a packet buffer must hold for frames of @p frame_size. */
unsigned packet_buffer_room(unsigned frame_size);

/**
 * True when this process may change the interface: its flags, its MAC address (CAP_NET_ADMIN). With
 * CAP_NET_RAW alone it may send and receive on it.
 */
bool packet_may_change(const char *ifname);

/**
 * rte_eth_dev_start() in a process that may not change the interface. The driver sets the MAC
 * address that the interface has already, clears its promiscuous flag, and fails if it may not.
 * Here both system calls are made to do nothing and succeed.
 * @return as rte_eth_dev_start(), or -EPERM if the kernel has no support for that (seccomp).
 */
int packet_start(uint16_t port_id);

/**
 * Receive frames for other addresses than the interface's, through packet socket @p fd and as long
 * as it is open. Needs no right to change the interface.
 * @param all true: all frames; false: all multicast
 * @return 0 or -errno.
 */
int packet_receive(int fd, unsigned if_index, bool all);

/** Receive frames for the address @p mac, likewise. */
int packet_receive_address(int fd, unsigned if_index, const uint8_t *mac);

#endif
