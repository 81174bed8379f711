/* SPDX-License-Identifier: BSD-2-Clause */
/** @file priority.h Scheduling of threads that carry packets. */
#ifndef DPDK_PORT_PRIORITY_H
#define DPDK_PORT_PRIORITY_H

/**
 * Ask the kernel to run the calling thread soon after each sleep, even if another one spins on the
 * same core, and to end its sleeps in time. All of these are hints. An ordinary user gets less.
 */
void priority_ask(void);

#endif
