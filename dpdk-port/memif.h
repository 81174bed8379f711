/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file memif.h
 * What a killed process leaves of a memif.
 */
#ifndef DPDK_PORT_MEMIF_H
#define DPDK_PORT_MEMIF_H

#include <stdbool.h>

/**
 * Remove the socket file of an earlier memif server that is gone: DPDK would take it for a living
 * one's and not open the port. One with a listener stays, and so does what is no socket.
 *
 * @param device  arguments of a DPDK device of any kind
 * @return true if a file was removed
 */
bool memif_forget_stale(const char *device);

#endif
