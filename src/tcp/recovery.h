/* SPDX-License-Identifier: BSD-2-Clause */
/** @file recovery.h What a connection remembers to find losses, repair them, and take it back. */
#ifndef TCP_RECOVERY_H
#define TCP_RECOVERY_H

#include "tcp/min_rtt.h"
#include "tcp/prr.h"
#include "tcp/rack.h"

/**
 * The state of congestion control, as Linux has it. Its Disorder, in which ACKs only hint at a
 * loss, is not stored: dupacks and the send queue tell. States from RECOVERY on repair losses.
 */
enum tcp_ca_state {
	TCP_CA_OPEN,
	TCP_CA_CWR,      /**< the window comes down for an ECN-Echo (RFC 3168 section 6.1.2) */
	TCP_CA_RECOVERY, /**< fast recovery (RFC 6675 section 5) */
	TCP_CA_LOSS      /**< after a timeout, until recover is acknowledged (RFC 6298) */
};

/** What the retransmission timer waits for (RFC 8985 section 8); probes of windows apart. */
enum tcp_timer_kind {
	TCP_TIMER_RTO,
	TCP_TIMER_PROBE,  /**< a tail loss probe (RFC 8985 section 7) */
	TCP_TIMER_REORDER /**< the reordering window (RFC 8985 section 6.2, step 5) */
};

/** F-RTO's steps (RFC 5682 section 3.1). */
enum tcp_frto {
	TCP_FRTO_OFF,
	TCP_FRTO_WAIT, /**< step 2: the first record is sent again, and alone */
	TCP_FRTO_TRY   /**< step 3: up to two new ones are sent, nothing else */
};

struct tcp_recovery {
	struct tcp_rack rack;
	struct tcp_min_rtt min_rtt;
	/* The last reduction of the window, as long as it may turn out to have been wrong. */
	bool undo_on : 1;
	bool undo_timeout : 1; /**< it was a timeout */
	bool rexmitted : 1;    /**< something was sent again since */
	bool late : 1;         /**< what was sent again had only been late */
	bool genuine : 1;      /**< something sent again was needed */

	bool tlp_out : 1;      /**< a tail loss probe is not acknowledged yet */
	bool tlp_rexmit : 1;   /**< it was no new text */
	bool tlp_unfit : 1;    /**< no round trip was measured since one was due */
	uint8_t timer : 2;     /**< enum tcp_timer_kind */
	uint8_t frto : 2;      /**< enum tcp_frto */
	uint8_t frto_left : 2; /**< new records that step 3 may still send */
	uint16_t tlp_probes;   /**< no more than can be counted so */
	uint64_t rto_from;     /**< what the retransmission timeout counts from */
};

/** The rest of it, which an ACK does not look at that tells nothing bad: conn.h. */
struct tcp_repair {
	uint64_t reduced_at; /**< the last reduction: what is sent since and lost is another loss */
	struct tcp_prr prr;
	uint32_t undo_from; /**< SND.UNA when it began, */
	/** And the end of what was in flight until recovery was over: ACKs beyond it tell no more,
	 *  those that they overtook may. */
	uint32_t undo_until;
	uint32_t undo_bytes; /**< sent again since, and not reported as duplicates */
	uint32_t tlp_end;    /**< RFC 8985: TLP.end_seq */
	uint32_t tlp_flight; /**< what was in flight when that was sent which the probe repeats */
};

#endif
