/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file stack.h
 * Builds the RNIC of this process: port, engine, IP, TCP, RNIC, the engine's thread.
 */
#ifndef PROVIDER_STACK_H
#define PROVIDER_STACK_H

#include "host/config.h"
#include "rnic/rnic.h"

struct stack;

/**
 * Open the port and start. The calling thread's affinity and signal mask and the process's stdout
 * are restored.
 * @return 0, or a negative errno with a sentence in @p e. For a bad port it has DPDK's reason.
 */
int stack_open(const struct config *c, struct stack **out, struct config_error *e);

/** Stop the thread, close what is open, the port last. */
void stack_close(struct stack *s);

/**
 * The process ends by _exit(). Let sent data reach peers on connections that were closed, and reset
 * all others. It takes at most a second and frees nothing, so a signal handler may call it. Threads
 * inside a verb never return from it.
 */
void stack_before_end(void);

/**
 * For a signal handler: reset all connections, and end the process by @p sig. The action of @p sig
 * must be the default. It happens at once, or when the thread inside the engine leaves it, which
 * may be this thread. Closed connections are not waited for.
 * @return false: there is no stack.
 */
bool stack_end_by(int sig);

struct rnic *stack_rnic(struct stack *s);
const struct config *stack_config(const struct stack *s);

/** The MAC address in use. */
void stack_mac(const struct stack *s, uint8_t mac[6]);

/** IP MTU of the port, and its speed in Mb/s (0: unknown). */
void stack_link(const struct stack *s, uint16_t *mtu, uint32_t *speed, bool *up);

/**
 * True in a child after fork(). The stack must not be used there, and calls fail with -ENODEV. Set
 * by a pthread_atfork() handler.
 */
bool stack_is_orphan(const struct stack *s);

/** True once exit() has stopped it: nothing moves any more. */
bool stack_has_left(const struct stack *s);

/**
 * When exit() has stopped it, call @p fn, on the thread of exit(), which may have come from a
 * signal handler. Set once, before others use the stack.
 */
void stack_set_left_handler(struct stack *s, void (*fn)(void *arg), void *arg);

#endif
