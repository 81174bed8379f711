/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file stack.h
 * The whole RNIC of this process put together: port, engine, IP, TCP, RNIC, the engine's thread.
 */
#ifndef PROVIDER_STACK_H
#define PROVIDER_STACK_H

#include "host/config.h"
#include "rnic/rnic.h"

struct stack;

/**
 * Open the port and start. The calling thread's affinity and signal mask, and the process's
 * stdout, are as before when it returns.
 * @return 0, or a negative errno with a sentence in @p e (DPDK's own reason for a bad port).
 */
int stack_open(const struct config *c, struct stack **out, struct config_error *e);

/** Stop the thread, close what is open, the port last. */
void stack_close(struct stack *s);

/**
 * The process ends by _exit(): see that peers get what was sent before its connections were closed,
 * and a reset on the others. Takes a second at most and frees nothing, as a signal handler may
 * call it. A thread that is inside a verb then never comes back from it.
 */
void stack_before_end(void);

/**
 * The process ends by a signal, for a handler of it: reset what is connected, and end the process
 * by @p sig. The action of @p sig must be the default. Happens at once, or when the thread that is
 * inside the engine leaves it, which may be this one. What was closed in good order is not waited
 * for.
 * @return false: there is no stack to do so.
 */
bool stack_end_by(int sig);

struct rnic *stack_rnic(struct stack *s);
const struct config *stack_config(const struct stack *s);

/** The MAC address in use. */
void stack_mac(const struct stack *s, uint8_t mac[6]);

/** IP MTU of the port, and its speed in Mb/s (0: unknown). */
void stack_link(const struct stack *s, uint16_t *mtu, uint32_t *speed, bool *up);

/**
 * After fork(), in the child: nothing of the stack may be touched any more; every later call
 * into it fails with -ENODEV. Set by a pthread_atfork() handler.
 */
bool stack_is_orphan(const struct stack *s);

#endif
