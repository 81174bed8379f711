/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file cc_bbr.h
 * BBR, version 3 (draft-ietf-ccwg-bbr): a model of the path, from rate samples and round trips, and
 * a state machine that paces after it and probes for more. The model is in cc_bbr_model.c, with the
 * purpose of each part and its differences from the draft; the machine is in cc_bbr.c.
 *
 * Bytes, ns, bytes per second; gains and fractions in 1/256. Counts of bytes delivered are modulo
 * 2^32.
 */
#ifndef TCP_CC_BBR_H
#define TCP_CC_BBR_H

#include "tcp/cc.h"

#define BBR_UNIT     256u
#define BBR_INFINITE UINT32_MAX

enum bbr_state {
	BBR_STARTUP,
	BBR_DRAIN,
	BBR_DOWN, /**< ProbeBW_DOWN and so on: in this order */
	BBR_CRUISE,
	BBR_REFILL,
	BBR_UP,
	BBR_PROBE_RTT
};

/** Of what probe the ACKs that come now speak. */
enum bbr_ack_phase {
	BBR_ACKS_INIT,
	BBR_ACKS_REFILLING,
	BBR_ACKS_PROBE_STARTING,
	BBR_ACKS_PROBE_FEEDBACK,
	BBR_ACKS_PROBE_STOPPING
};

/** The greatest of the last rounds: two halves of a window. */
struct bbr_max {
	uint32_t young, old, since;
};

struct tcp_bbr {
	/* The path. */
	uint64_t max_bw[2]; /**< greatest sample of the last probing cycle and of this one */
	uint64_t bw;        /**< what is believed now: within the long and short term's bounds */
	uint64_t bw_lo;     /**< short term; UINT64_MAX: none */
	uint64_t bw_latest; /**< greatest of this round */
	uint64_t min_rtt, min_rtt_at;
	uint64_t rtt_slack; /**< more than min_rtt by no more than this: there is no queue */
	uint64_t probe_rtt_min, probe_rtt_min_at; /**< of the time since PROBE_RTT was due */
	uint32_t inflight_hi;                     /**< long term bound; BBR_INFINITE: none */
	uint32_t inflight_lo;                     /**< short term */
	uint32_t inflight_latest;
	struct bbr_max extra_acked; /**< beyond what the rate explains: ACK aggregation */
	uint64_t extra_since;
	uint32_t extra_delivered;

	/* Rounds: round trips counted in data, for growth and for losses. */
	uint32_t round_count, next_round; /**< it ends when what is sent after is delivered */
	uint32_t loss_round, loss_round_lost, loss_round_delivered, loss_round_ce;
	uint32_t ecn_alpha; /**< share of what is marked, smoothed */
	uint8_t loss_events;
	bool round_start, loss_round_start;
	bool too_much_lost; /**< in the loss round that has just ended */
	bool too_much_marked;

	/* Is the pipe full? */
	uint64_t full_bw;
	uint8_t full_bw_count;
	bool full_bw_now, full_bw_reached;

	/* The machine. */
	uint8_t state, ack_phase; /**< enum bbr_state, bbr_ack_phase */
	bool probe_samples;       /**< what is delivered now was sent while probing */
	bool idle_restart, probe_rtt_round_done, after_timeout;
	uint32_t pacing_gain, cwnd_gain;
	uint64_t cycle_at, probe_wait; /**< when this phase began; ns from DOWN to REFILL */
	uint32_t rounds_since_probe;
	uint32_t up_growth, up_rest; /**< of inflight_hi for a window acknowledged */
	uint8_t up_rounds;
	uint64_t probe_rtt_done_at; /**< 0: not yet that low */
	uint32_t saved_cwnd;        /**< from before PROBE_RTT or a timeout */
	uint32_t seed;

	/* For an undo. */
	uint64_t undo_bw_lo;
	uint32_t undo_inflight_lo, undo_inflight_hi;
};

static inline bool bbr_probes_bandwidth(const struct tcp_bbr *b)
{
	return b->state == BBR_STARTUP || b->state == BBR_REFILL || b->state == BBR_UP;
}

static inline bool bbr_in_probe_bw(const struct tcp_bbr *b)
{
	return b->state >= BBR_DOWN && b->state <= BBR_UP;
}

/* ---- the model --------------------------------------------------------------------------- */

void bbr_model_init(struct tcp_cc *cc, uint64_t now);

uint64_t bbr_max_bw(const struct tcp_bbr *b);

/** A probing cycle is over: forget the one before the last. */
void bbr_next_bw_cycle(struct tcp_bbr *b);

/** Count a round from now on. */
void bbr_start_round(struct tcp_bbr *b, uint32_t delivered);

/** What the ACK tells of rates, losses, marks and aggregation. */
void bbr_update_model(struct tcp_cc *cc, const struct tcp_cc_ack *a);

/** The ACK is dealt with: what is latest begins anew if a round did. */
void bbr_advance_latest(struct tcp_bbr *b, const struct tcp_cc_ack *a);

/** @return true if PROBE_RTT is due. */
bool bbr_update_min_rtt(struct tcp_bbr *b, const struct tcp_cc_ack *a);

/** More is lost or marked, of what was in flight with the newest one delivered, than is healthy. */
bool bbr_inflight_too_high(const struct tcp_cc *cc, const struct tcp_cc_ack *a);

void bbr_reset_congestion_signals(struct tcp_bbr *b);
void bbr_reset_lower_bounds(struct tcp_bbr *b);
void bbr_reset_full_bw(struct tcp_bbr *b, uint64_t full_bw);

/** @p gain times the bandwidth-delay product, in bytes. */
uint32_t bbr_bdp(const struct tcp_cc *cc, uint64_t bw, uint32_t gain);

/** The same with room for what pacing and the peer's ACKs clump together. */
uint32_t bbr_inflight(const struct tcp_cc *cc, uint64_t bw, uint32_t gain);

/** min(BDP, cwnd). */
uint32_t bbr_target_inflight(const struct tcp_cc *cc);

/** inflight_hi less some, left for others. */
uint32_t bbr_inflight_with_headroom(const struct tcp_cc *cc);

#endif
