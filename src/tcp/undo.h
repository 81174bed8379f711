/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file undo.h
 * Was the reduction wrong? Recoveries and timeouts that reordering or delay caused are found by
 * echoed timestamps (Eifel, RFC 3522), by D-SACK (RFC 2883, RFC 3708) and by F-RTO (RFC 5682), and
 * taken back.
 */
#ifndef TCP_UNDO_H
#define TCP_UNDO_H

#include "tcp/loss.h"

/** A reduction was made, by a timeout or by ACKs. */
void tcp_undo_begin(struct tcp_conn *c, bool timeout);

/** @p len bytes are sent again. */
void tcp_undo_rexmit(struct tcp_conn *c, uint32_t len);

/** @return whether @p seg tells of a duplicate (RFC 2883 section 4), and which. */
bool tcp_undo_dsack(const struct tcp_segment *seg, struct tcp_range *dup);

/** Take from an ACK what it tells. @return whether the reduction was taken back. */
bool tcp_undo_on_ack(struct tcp_conn *c, const struct tcp_ack_info *n);

#endif
