/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file intr_gate.h
 * Keeps the EAL's interrupt thread from running while an engine uses the port.
 *
 * When its peer goes, memif's handler on that thread unmaps the rings, even in the middle of a
 * burst: a fault in the application. While the gate is shut the interrupt thread waits in a handler
 * of ours; what is pending is handled in intr_gate_pass(), which is called under the engine's lock,
 * when nobody is in a burst.
 *
 * One per process, as there is one such thread: a second memif port goes without.
 */
#ifndef DPDK_PORT_INTR_GATE_H
#define DPDK_PORT_INTR_GATE_H

struct intr_gate;

/** @return NULL if there is one already, or no memory. */
struct intr_gate *intr_gate_create(void);

/** Opens it first. NULL does nothing, here and below. */
void intr_gate_destroy(struct intr_gate *g);

/** Wait until the interrupt thread waits in the gate. Nothing if it does already. */
void intr_gate_shut(struct intr_gate *g);

/** Let it handle what is pending and come back. Nothing while the gate is open. */
void intr_gate_pass(struct intr_gate *g);

/** Let it run freely. */
void intr_gate_open(struct intr_gate *g);

/**
 * Open the gate that this process has, whosever it is: something is to be done by the interrupt
 * thread. Its owner shuts it again in its next look.
 */
void intr_gate_let_go(void);

#endif
