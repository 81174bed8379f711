/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file tlp.h
 * Tail loss probes (RFC 8985 section 7): when ACKs fail to come, one segment more asks for one, so
 * that a loss at the end of a flight is found as any other, without a timeout.
 */
#ifndef TCP_TLP_H
#define TCP_TLP_H

#include "tcp/loss.h"

/** Shall the timer that is to run now send a probe (section 7.2)? */
bool tcp_tlp_wanted(const struct tcp_conn *c);

/** How long from now, in ns. */
uint64_t tcp_tlp_pto(const struct tcp_conn *c);

/** It is time: section 7.3. */
void tcp_tlp_timeout(struct tcp_conn *c);

/** Section 7.4: what this ACK says of the probe, and whether it repaired a loss. */
void tcp_tlp_on_ack(struct tcp_conn *c, const struct tcp_ack_info *n);

#endif
