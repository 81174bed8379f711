/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file held.h
 * Private: the buffers that connections have, within the stack's memory. Half is for what comes and
 * half for what goes, so that neither takes the other's. While they are few they are whole; then
 * what is in them when a connection waits is all that is kept.
 *
 * What strangers leave half-said is bounded: for more, the connection that waits longest gives way
 * of the peer whose buffers have most bytes, unless it does with less. What goes is ours, and each
 * connection may have one record: there only one that its peer has not taken anything of for a
 * second gives way.
 */
#ifndef SOCK_HELD_H
#define SOCK_HELD_H

#include "sock/conn.h"

/** @return 0 or -ENOMEM. */
int sock_held_init(struct sock_held *h, uint64_t most, const struct siphash_key *key);
void sock_held_fini(struct sock_held *h);

/** Have a whole buffer for what comes; what is left in a cut one moves. @return false: no memory.
 */
bool sock_rx_take(struct sock_conn *c);

/** Give it back, if there is one. */
void sock_rx_give(struct sock_conn *c);

/** Something stays in it until more comes or the user wants it. The connection may end for that. */
void sock_rx_keep(struct sock_conn *c);

/** The user has taken something: the connection has not waited. */
void sock_rx_went_on(struct sock_conn *c);

/** Have a buffer for at least @p len bytes that go. @return false: no memory. */
bool sock_tx_take(struct sock_conn *c, uint32_t len);

/** Give it back, if there is one. */
void sock_tx_give(struct sock_conn *c);

/** The kernel has taken what it has room for, and the rest stays. */
void sock_tx_keep(struct sock_conn *c);

#endif
