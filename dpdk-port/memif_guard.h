/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file memif_guard.h
 * The process's control channels of memifs (memif_control.h), as there is one driver in it: for who
 * stands in front of its calls. Refusals are told to DPDK's log.
 */
#ifndef DPDK_PORT_MEMIF_GUARD_H
#define DPDK_PORT_MEMIF_GUARD_H

#include <sys/socket.h>
#include <sys/types.h>

/** DPDK's recvmsg() of @p m, which memif_send_is_message() was true of, gave @p n. @return what it
 * is told. */
ssize_t memif_guard_received(int fd, const struct msghdr *m, ssize_t n);

/** DPDK sends @p m. */
void memif_guard_sent(int fd, const struct msghdr *m);

/** A port of the driver's was stopped. In the EAL's interrupt thread (eal_call_in_turn()). */
void memif_guard_sweep(void);

#endif
