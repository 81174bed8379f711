/* SPDX-License-Identifier: BSD-2-Clause */
/** @file eal_log.h The stream that DPDK writes its log to. Only eal.c needs it. */
#ifndef DPDK_PORT_EAL_LOG_H
#define DPDK_PORT_EAL_LOG_H

#include <stdio.h>

/**
 * A stream that writes its lines where eal_log_to() says.
 * @param level RTE_LOG_*, of what is printed to it; 0: that of the line in rte_log().
 * @return NULL: no memory.
 */
FILE *eal_log_stream(int level);

#endif
