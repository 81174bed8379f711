/* SPDX-License-Identifier: BSD-2-Clause */
/** @file option.h Sockets, and the options that they get. */
#ifndef SOCK_OPTION_H
#define SOCK_OPTION_H

#include "base/ip_addr.h"

#include <stdbool.h>
#include <stdint.h>

struct sock_stack;
struct sock_stack_config;

/**
 * A non-blocking TCP socket of @p family with the options of every connection; those that a
 * listener accepts inherit them.
 * @return the descriptor, above those that programs with select() need, or -errno.
 */
int sock_open(struct sock_stack *s, int family);

/** Set an integer option. @return 0 or -errno. */
int sock_option(int fd, int level, int name, int value);

/** What closing it does: reset the connection, or end it in good order. */
void sock_option_reset_on_close(int fd, bool reset);

/**
 * Reset the connection of @p fd, or end its listening, now: closing it does that only when no child
 * has a copy of the descriptor, which it has until it executes another program.
 */
void sock_option_disconnect(int fd);

/** DSCP << 2. */
void sock_option_tos(int fd, int family, uint8_t tos);

/** @param name as in the configuration; one that the kernel does not have is passed over. */
void sock_option_congestion_control(struct sock_stack *s, int fd, const char *name);

/** Bytes that one segment carries now. */
uint32_t sock_option_mss(int fd);

/** Bytes that the peer has not acknowledged. */
uint32_t sock_option_unacked(int fd);

/** The same. @return false: it is not known. */
bool sock_option_outq(int fd, uint32_t *n);

/** The error that waits on the socket. @return 0 or a negative errno. */
int sock_option_error(int fd);

/** Tell once that there are no descriptors left. @return @p rc. */
int sock_no_descriptor(struct sock_stack *s, int rc);

#endif
