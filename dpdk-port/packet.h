/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file packet.h
 * What DPDK's net_af_packet leaves to its users: frames large enough for the MTU, rings that
 * may be locked, and to start without the right to change the interface.
 */
#ifndef DPDK_PORT_PACKET_H
#define DPDK_PORT_PACKET_H

#include "dpdk-port/port.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The largest MTU that a port has without being asked: that of lo is of no use. */
#define PACKET_MTU_DEFAULT_MAX 9216

/** By its name or arguments, an AF_PACKET device? */
bool packet_is_named(const char *device);

/** MTU of the kernel's interface @p ifname; 0 if there is none. At most UINT16_MAX. */
uint16_t packet_interface_mtu(const char *ifname);

/**
 * Add to an AF_PACKET device's arguments what is not there: "framesz" for frames of @p cfg->mtu
 * (0: the interface's, up to PACKET_MTU_DEFAULT_MAX), the
 * "blocksz" that suits it, and a "framecnt" with rings that this process may lock (RLIMIT_MEMLOCK);
 * if that is less than the driver's 512 frames, a warning says so. No more than it is given is
 * needed to call it: the EAL need not run.
 * @return 0 or -ENAMETOOLONG.
 */
int packet_complete(const struct port_config *cfg, char *out, size_t len);

/** Of arguments without the device's name: the bytes of a ring's frame. */
unsigned packet_frame_size(const char *args);

/** The largest MTU that passes through frames of @p frame_size. */
unsigned packet_mtu_max(unsigned frame_size);

/** What a packet buffer must hold for the driver to be content with frames of @p frame_size. */
unsigned packet_buffer_room(unsigned frame_size);

/**
 * True when this process may change the interface: its flags, its MAC address (CAP_NET_ADMIN). With
 * CAP_NET_RAW alone it may send and receive on it.
 */
bool packet_may_change(const char *ifname);

/**
 * rte_eth_dev_start() in a process that may not change the interface: the driver sets the MAC
 * address that the interface has and clears its promiscuous flag, and gives up when it may not.
 * Here it is kept from both, and told that they succeeded.
 * @return what rte_eth_dev_start() said, or -EPERM if the kernel cannot do that (seccomp).
 */
int packet_start(uint16_t port_id);

/**
 * Receive more than what is for the interface's own address, through packet socket @p fd and as
 * long as it is open. Needs no right to change the interface.
 * @param all all frames, whomever for; else all multicast
 * @return 0 or -errno.
 */
int packet_receive(int fd, unsigned if_index, bool all);

/** The same for one more address. */
int packet_receive_address(int fd, unsigned if_index, const uint8_t *mac);

#endif
