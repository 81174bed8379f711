/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file eal.h A DPDK environment small enough for unit tests: no huge pages, no devices, no root.
 */
#ifndef TESTS_SUPPORT_EAL_H
#define TESTS_SUPPORT_EAL_H

struct rte_mbuf;
struct rte_mempool;

/** Start the EAL once per process, with 256 MiB of ordinary memory. Exits with a message on
 * failure. */
void test_eal_init(void);

/** The same with another size of address space. Unused space takes no memory. */
void test_eal_init_with(unsigned megabytes);

/** A pool of @p n mbufs with @p room bytes of data each after RTE_PKTMBUF_HEADROOM. */
struct rte_mempool *test_pool(const char *name, unsigned n, unsigned room);

/** Mbufs that are not in @p pool: 0 when nothing leaked. */
unsigned test_pool_missing(const struct rte_mempool *pool);

/** A packet with the bytes of a literal. */
struct rte_mbuf *test_packet(struct rte_mempool *pool, const void *bytes, unsigned len);

#endif
