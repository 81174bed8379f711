/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file cc.h
 * Congestion control as a table of functions (RFC 5681). A module sees acknowledged bytes and
 * congestion events, and keeps cwnd and ssthresh; when to send what is not its business.
 */
#ifndef TCP_CC_H
#define TCP_CC_H

#include <stdbool.h>
#include <stdint.h>

struct tcp_cc_ops;

/** Sizes in bytes, times in ns. */
struct tcp_cc {
	const struct tcp_cc_ops *ops;
	uint32_t cwnd, ssthresh;
	uint32_t smss;
	union {
		struct {
			uint32_t acked; /**< in congestion avoidance, towards the next smss */
		} newreno;
		struct {
			uint64_t epoch; /**< when this period of growth began; 0: not yet */
			uint64_t k;
			uint32_t w_max;
			uint32_t w_est;
			uint32_t est_acked;
		} cubic;
	} u;
};

struct tcp_cc_ops {
	const char *name;
	void (*init)(struct tcp_cc *cc);
	/** @p acked new bytes were acknowledged outside recovery, and cwnd was what limited us. */
	void (*ack)(struct tcp_cc *cc, uint32_t acked, uint64_t srtt, uint64_t now);
	/** Loss was detected by ACKs: set ssthresh and cwnd. Once per window. */
	void (*congestion)(struct tcp_cc *cc, uint32_t flight, uint64_t now);
	/** The retransmission timer expired for data in @p flight for the first time. */
	void (*timeout)(struct tcp_cc *cc, uint32_t flight, uint64_t now);
};

extern const struct tcp_cc_ops tcp_cc_newreno;
extern const struct tcp_cc_ops tcp_cc_cubic;

/** "newreno" or "cubic"; NULL: the default. @return NULL if there is no such name. */
const struct tcp_cc_ops *tcp_cc_find(const char *name);

/** Begin, with the initial window of RFC 6928, or one segment when the SYN was lost. */
void tcp_cc_init(struct tcp_cc *cc, const struct tcp_cc_ops *ops, uint32_t smss, bool syn_lost);

/** The segment size changed with the path: keep the window within its lower bound. */
void tcp_cc_set_smss(struct tcp_cc *cc, uint32_t smss);

/** Slow start: one segment more for each acknowledged (RFC 5681 equation 2, whole bytes). */
uint32_t tcp_cc_slow_start(struct tcp_cc *cc, uint32_t acked);

/** max(@p w, 2 SMSS): RFC 5681 equation 4. */
uint32_t tcp_cc_floor(const struct tcp_cc *cc, uint32_t w);

#endif
