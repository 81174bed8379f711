/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file cc.h
 * Congestion control as a table of functions. A module sees what each ACK told and what was lost;
 * it keeps cwnd, ssthresh and the pacing rate. It decides neither what is sent when (output.c,
 * pace.h) nor what was lost (loss.h).
 *
 * Sizes in bytes, times in ns, rates in bytes per second.
 */
#ifndef TCP_CC_H
#define TCP_CC_H

#include "tcp/hystart.h"
#include "tcp/rate.h"

#include <stdbool.h>
#include <stdint.h>

/** No window grows beyond this: RFC 7323 section 2.3 allows no more in flight. */
#define TCP_CWND_MAX 0x40000000u

struct tcp_cc;
struct tcp_bbr;

/** What one ACK told, after the scoreboard, RTT and rate sample are up to date. */
struct tcp_cc_ack {
	uint64_t now;
	uint64_t srtt, min_rtt;
	uint64_t rtt;             /**< this ACK's own sample, 0: none */
	uint32_t acked;           /**< newly acknowledged, as far as windows may grow by it */
	uint32_t delivered;       /**< newly delivered: acknowledged or SACKed for the first time */
	uint32_t lost;            /**< newly marked lost */
	uint32_t prior_in_flight; /**< before this ACK */
	uint32_t in_flight;       /**< after it */
	uint32_t snd_una, snd_nxt;          /**< for counting round trips */
	bool cwnd_limited;                  /**< cwnd is what held us back in this window */
	bool in_recovery;                   /**< loss recovery sets cwnd now (RFC 6937) */
	bool ece;                           /**< with ECN-Echo (RFC 3168 section 6.1) */
	const struct tcp_rate_sample *rate; /**< never NULL; interval 0: none */
};

/** Why a window is reduced. */
enum tcp_cc_signal { TCP_CC_LOSS, TCP_CC_ECN };

/** A module's state, for display; fields that it does not have are zero. */
struct tcp_cc_info {
	const char *name, *phase; /**< "bbr", "ProbeBW_Up" */
	uint64_t bandwidth;       /**< that it believes the path to have */
};

/** A module. Those that may be NULL are; each is called through its wrapper below. */
struct tcp_cc_ops {
	const char *name;
	/**
	 * cwnd and pacing rate are the module's alone, also in recovery: no PRR, no ssthresh rule,
	 * no pacing from the window.
	 */
	bool owns_cwnd;
	void (*init)(struct tcp_cc *cc, uint64_t now);
	void (*fini)(struct tcp_cc *cc); /**< NULL: nothing to free */
	void (*ack)(struct tcp_cc *cc, const struct tcp_cc_ack *a);
	void (*congestion)(
		struct tcp_cc *cc, enum tcp_cc_signal why, uint32_t in_flight, uint64_t now);
	void (*timeout)(struct tcp_cc *cc, uint32_t in_flight, uint64_t now);
	void (*recovered)(struct tcp_cc *cc, uint64_t now);              /**< may be NULL */
	void (*undo)(struct tcp_cc *cc, uint64_t now);                   /**< may be NULL */
	void (*restart)(struct tcp_cc *cc, uint64_t idle, uint64_t now); /**< may be NULL */
	void (*info)(const struct tcp_cc *cc, struct tcp_cc_info *out);  /**< may be NULL */
};

/** CUBIC's own, as a spurious reduction has to be undone (RFC 9438 section 4.9). Times in ms. */
struct tcp_cubic {
	uint32_t epoch;  /**< when this period of growth began; 0: not yet */
	uint32_t paused; /**< since when the window is not used, and time stands still; 0: it is */
	uint32_t k;      /**< from the epoch until the plateau */
	uint32_t w_max;  /**< 0: not known yet, or not any more after a timeout */
	uint32_t origin; /**< the plateau's height */
	uint32_t w_est;  /**< what Reno would have */
	uint32_t cwnd_prior; /**< cwnd before the last reduction */
	uint32_t acked;      /**< towards w_est's growth */
};

struct tcp_cc {
	const struct tcp_cc_ops *ops;
	uint32_t cwnd, ssthresh;
	uint32_t smss;
	uint32_t quota; /**< acknowledged, or fractions of bytes gained, towards the next step */
	bool held_back; /**< by the module on purpose: rates measured now are not the path's */
	bool queue;     /**< CUBIC: packets queue on the path */
	uint32_t used;  /**< most that was in flight since the window was last reduced */
	union {
		struct {
			struct tcp_cubic cubic;
			union { /* the first slow start ends before anything is reduced */
				struct tcp_hystart hystart;
				struct tcp_cubic prior_cubic;
			};
		};
		struct tcp_bbr *bbr;
	} u;
	uint64_t pacing_rate; /**< of a module that owns it; see tcp_cc_pacing_rate() */
	/** Before the last reduction; 0: there is none that could be undone. */
	uint32_t prior_cwnd, prior_ssthresh;
};

extern const struct tcp_cc_ops tcp_cc_newreno;
extern const struct tcp_cc_ops tcp_cc_cubic;
extern const struct tcp_cc_ops tcp_cc_bbr;

/** "cubic", "newreno" or "bbr"; NULL: the default. @return NULL if there is no such name. */
const struct tcp_cc_ops *tcp_cc_find(const char *name);

/** Begin, with the initial window of RFC 6928, or one segment if the SYN was lost, more than once.
 */
void tcp_cc_init(struct tcp_cc *cc, const struct tcp_cc_ops *ops, uint32_t smss, bool syn_lost,
	uint64_t now);

/** Another module takes over where the one of before was, with its windows. */
void tcp_cc_switch(struct tcp_cc *cc, const struct tcp_cc_ops *ops, uint64_t now);

/** False until tcp_cc_init(): only ops is of use then. */
static inline bool tcp_cc_begun(const struct tcp_cc *cc)
{
	return cc->smss != 0; /* cwnd may be 0 in recovery, when all is believed lost */
}

/** The end: free what the module has. Harmless before tcp_cc_init() and when repeated. */
void tcp_cc_fini(struct tcp_cc *cc);

/** An ACK that acknowledged, SACKed or lost something. */
void tcp_cc_on_ack(struct tcp_cc *cc, const struct tcp_cc_ack *a);

/**
 * Loss was detected by ACKs, or ECN-Echo arrived: once per window. Sets ssthresh; cwnd comes down
 * to it by proportional rate reduction, which is the caller's (RFC 6937).
 * @param in_flight SND.NXT - SND.UNA (RFC 5681's FlightSize).
 */
void tcp_cc_congestion(struct tcp_cc *cc, enum tcp_cc_signal why, uint32_t in_flight, uint64_t now);

/** The retransmission timer expired, the first time for this data: cwnd is one segment. */
void tcp_cc_timeout(struct tcp_cc *cc, uint32_t in_flight, uint64_t now);

/** Recovery, from loss or timeout, is over. */
void tcp_cc_recovered(struct tcp_cc *cc, uint64_t now);

/** The last congestion() or timeout() was spurious: as if it had not been. */
void tcp_cc_undo(struct tcp_cc *cc, uint64_t now);

/**
 * The window is reduced rightly whatever the last congestion() or timeout() was: no undo() of it. A
 * module that owns its cwnd has its own answer to each signal, and takes back no other.
 */
void tcp_cc_confirm(struct tcp_cc *cc);

/** Sending begins again after nothing was in flight for @p idle. */
void tcp_cc_restart(struct tcp_cc *cc, uint64_t idle, uint64_t rto, uint64_t now);

/** The segment size changed with the path: keep the window within its lower bound. */
void tcp_cc_set_smss(struct tcp_cc *cc, uint32_t smss);

/**
 * How fast to send now; 0: not paced. With @p in_flight outstanding and the round trip @p srtt.
 * Costs a division: not for each packet.
 */
uint64_t tcp_cc_pacing_rate(const struct tcp_cc *cc, uint32_t in_flight, uint64_t srtt);

void tcp_cc_get_info(const struct tcp_cc *cc, struct tcp_cc_info *out);

/* ---- for modules ------------------------------------------------------------------------- */

/** RFC 6928 section 2: min(10 SMSS, max(2 SMSS, 14600)). */
uint32_t tcp_cc_initial_window(uint32_t smss);

/**
 * May cwnd grow by this ACK (RFC 5681 section 3.1, RFC 7661 section 4.3)? Not in recovery, and not
 * when the window was not used. In slow start it may become twice what was in flight at a time:
 * pacing spreads what doubles over a round trip, so that the window is full only at its end, and
 * the last ACKs of a burst find little of it left.
 */
bool tcp_cc_may_grow(struct tcp_cc *cc, const struct tcp_cc_ack *a);

/**
 * Slow start with HyStart++ (hystart.h). @return bytes acknowledged that are left for avoidance.
 */
uint32_t tcp_cc_slow_start(struct tcp_cc *cc, const struct tcp_cc_ack *a);

/** max(@p w, 2 SMSS): RFC 5681 equation 4. */
uint32_t tcp_cc_floor(const struct tcp_cc *cc, uint64_t w);

#endif
