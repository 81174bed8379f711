/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file loss.h
 * Loss detection and recovery: which records are believed lost, and when congestion control hears
 * of it. By duplicate ACKs (RFC 5681, RFC 6582) and by SACK (RFC 6675).
 */
#ifndef TCP_LOSS_H
#define TCP_LOSS_H

#include "tcp/conn.h"

/** Mark what @p seg's SACK option reports; SEG.ACK has been taken already. */
void tcp_loss_sack(struct tcp_conn *c, const struct tcp_segment *seg, struct tcp_delivery *d);

/**
 * Draw the conclusions from an ACK that delivered @p d; SND.UNA and the queue are up to date.
 * @param duplicate it was a duplicate ACK as RFC 5681 section 2 defines it.
 */
void tcp_loss_on_ack(struct tcp_conn *c, const struct tcp_delivery *d, bool duplicate);

/** The retransmission timer expired: all that is not SACKed is lost (RFC 6298 section 5.4). */
void tcp_loss_timeout(struct tcp_conn *c);

/** The peer reports a mark (RFC 3168 section 6.1.2): slow down; nothing was lost. */
void tcp_loss_ecn(struct tcp_conn *c);

/** The path's MTU fell: what is in flight and larger was dropped there (RFC 1191 section 6.4). */
void tcp_loss_too_big(struct tcp_conn *c);

#endif
