/* SPDX-License-Identifier: BSD-2-Clause */
/** @file eal_log.h The stream for DPDK's log. Private to eal.c. */
#ifndef DPDK_PORT_EAL_LOG_H
#define DPDK_PORT_EAL_LOG_H

#include <stdio.h>

/**
 * A stream that sends its lines to the sink of eal_log_to().
 * @param level RTE_LOG_* of its lines; 0: each line's level in rte_log().
 * @return NULL: no memory.
 */
FILE *eal_log_stream(int level);

#endif
