/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file intr_gate.h
 * Stops the EAL's interrupt thread while an engine uses the port.
 *
 * When the peer disconnects, memif's handler on that thread unmaps the rings, even during a burst,
 * which would be a fault in the application. While the gate is shut the interrupt thread waits in a
 * handler of ours. Pending interrupts are handled in intr_gate_pass(), which is called under the
 * engine's lock, outside of bursts.
 *
 * There is one gate in a process, as there is one such thread. A second memif port has none.
 */
#ifndef DPDK_PORT_INTR_GATE_H
#define DPDK_PORT_INTR_GATE_H

struct intr_gate;

/** @return NULL: there is one already, or no memory. */
struct intr_gate *intr_gate_create(void);

/** Open and free it. NULL does nothing, here and below. */
void intr_gate_destroy(struct intr_gate *g);

/** Wait until the interrupt thread waits in the gate. */
void intr_gate_shut(struct intr_gate *g);

/** Let the thread handle pending interrupts and return. Does nothing while the gate is open. */
void intr_gate_pass(struct intr_gate *g);

/** Let the thread run. */
void intr_gate_open(struct intr_gate *g);

/**
 * Open the process's gate, if any, because the interrupt thread has something to do. The owner of
 * the gate shuts it again when it next looks after its port.
 */
void intr_gate_let_go(void);

#endif
