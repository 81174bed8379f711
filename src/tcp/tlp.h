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

/** It is time: section 7.3. @return false: it cannot be sent, and the timeout is next. */
bool tcp_tlp_timeout(struct tcp_conn *c);

/** Section 7.4: what this ACK says of the probe, and whether it repaired a loss. */
void tcp_tlp_on_ack(struct tcp_conn *c, const struct tcp_ack_info *n);

/**
 * An ACK says again that all has arrived (section 7.4.2, case 2): the probe's answer, at a peer
 * without D-SACK. Nothing was lost.
 */
static inline void tcp_tlp_answered_twice(struct tcp_conn *c)
{
	if (c->rec.tlp_out && c->snd_una == c->repair.tlp_end)
		c->rec.tlp_out = false;
}

#endif
