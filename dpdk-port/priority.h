/* SPDX-License-Identifier: BSD-2-Clause */
/** @file priority.h What a thread that carries packets asks of the kernel's scheduler. */
#ifndef DPDK_PORT_PRIORITY_H
#define DPDK_PORT_PRIORITY_H

/**
 * Ask that the calling thread be let in soon after each sleep, though another spins on the same
 * core, and that its sleeps end when they should. All are hints; as an ordinary user it gets less.
 */
void priority_ask(void);

#endif
