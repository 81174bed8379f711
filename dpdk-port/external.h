/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file external.h
 * Frames with parts in the program's memory: which devices read them from there. The rest is in
 * port.h.
 */
#ifndef DPDK_PORT_EXTERNAL_H
#define DPDK_PORT_EXTERNAL_H

#include <stdbool.h>
#include <stdint.h>

struct rte_mbuf;
struct rte_mempool;

/**
 * Why a device cannot. It must read any memory that it is allowed to, by the process's own
 * addresses, and make the checksum of what it has read: one made before would not be right if the
 * program writes meanwhile.
 * @param device DPDK device arguments. @param tx_offloads those that are on.
 * @return NULL: it can.
 */
const char *external_refusal(const char *device, uint64_t tx_offloads);

/**
 * A TAP: its driver reads the parts by the processor, for the checksum, before it hands them to
 * Linux. Memory that is gone would end the process there, so that it gets copies.
 */
bool external_is_tap(const char *device);

/**
 * A copy of the frame @p m in one piece, which asks for the same offloads.
 * @return NULL: some of its parts are gone, or there is no room for it.
 */
struct rte_mbuf *external_copy(struct rte_mempool *pool, const struct rte_mbuf *m);

/**
 * These pages will be mapped. DPDK takes pages that are mapped already, also in part, without a
 * word, and would unmap them for whoever comes first.
 * @return 0; -EEXIST: some of them are; -ENOSPC: there are too many maps.
 */
int external_claim(uint64_t begin, uint64_t len);
void external_disclaim(uint64_t begin);

#endif
