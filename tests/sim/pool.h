/* SPDX-License-Identifier: BSD-2-Clause */
/** @file pool.h A pool of packets that is asked for each of them whether there is one. */
#ifndef TESTS_SIM_POOL_H
#define TESTS_SIM_POOL_H

#include <stdbool.h>
#include <stdint.h>

struct rte_mempool;

/** @param no_packet true: this time there is none. @return never NULL. */
struct rte_mempool *sim_pool_create(uint32_t n, uint32_t room, bool (*no_packet)(void));

#endif
