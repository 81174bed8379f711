/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file rack.h
 * RACK's loss detection (RFC 8985 section 6): a record is lost when one that was sent later has
 * arrived and a reordering window has passed. Works on the queue's chain of records by time sent;
 * costs what it marks. Times in ns.
 */
#ifndef TCP_RACK_H
#define TCP_RACK_H

#include "tcp/sendq.h"

/** RFC 8985 section 5.2, RFC 5681 section 3.2. */
#define TCP_DUP_THRESH 3

struct tcp_rack {
	uint64_t xmit_ts; /**< when the delivered record that was sent last was sent */
	uint64_t rtt;     /**< of the last record delivered with a certain time of transmission */
	uint32_t end_seq; /**< of the record of xmit_ts: breaks ties */
	uint32_t fack;    /**< highest end of sequence delivered */
	uint32_t dsack_round;
	uint8_t reo_wnd_mult, reo_wnd_persist;
	bool reordering_seen;
	bool in_dsack_round;
};

/** What a look for losses found. */
struct tcp_rack_loss {
	uint32_t lost; /**< sequence space newly lost */
	/** When the latest of those that were retransmissions was sent; 0: none. */
	uint64_t relost;
	uint64_t next; /**< when the next will be lost, if no news comes; 0: none */
};

/** @p una: SND.UNA at the beginning. */
void tcp_rack_init(struct tcp_rack *k, uint32_t una);

/** Section 6.2, steps 2 and 3: @p d was delivered. */
void tcp_rack_delivered(
	struct tcp_rack *k, const struct tcp_delivery *d, uint32_t snd_una, uint64_t now);

/** Section 6.2, step 4: an ACK had a D-SACK that stands for a retransmission of ours. */
void tcp_rack_dsack(struct tcp_rack *k, uint32_t snd_nxt);

/** Section 6.2, step 4: fast or RTO recovery is over. */
void tcp_rack_recovered(struct tcp_rack *k);

/**
 * Section 6.2, step 4: the reordering window.
 * @param min_rtt 0 if not known.
 */
uint64_t tcp_rack_reo_wnd(const struct tcp_rack *k, uint64_t min_rtt, uint64_t srtt,
	bool in_recovery, uint32_t segs_sacked);

/**
 * Section 6.2, step 5. The timer is for the first record that may become lost, not, as there, for
 * the last: that finds each at its time and needs no walk over those that wait.
 */
struct tcp_rack_loss tcp_rack_detect(
	const struct tcp_rack *k, struct tcp_sendq *q, uint64_t reo_wnd, uint64_t now);

/** Section 6.3: the retransmission timer expired. @return sequence space newly lost. */
uint32_t tcp_rack_timeout(
	const struct tcp_rack *k, struct tcp_sendq *q, uint64_t reo_wnd, uint64_t now);

#endif
