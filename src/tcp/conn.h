/* SPDX-License-Identifier: BSD-2-Clause */
/** @file conn.h One connection: the TCB of RFC 9293 section 3.3.1 and its states. */
#ifndef TCP_CONN_H
#define TCP_CONN_H

#include "tcp/cc.h"
#include "tcp/mbufs.h"
#include "tcp/ooo_state.h"
#include "tcp/pace.h"
#include "tcp/recovery.h"
#include "tcp/rto.h"
#include "tcp/sendq.h"
#include "tcp/stack.h"

#include <errno.h>
#include <rte_branch_prediction.h>
#include <rte_common.h>

/** LISTEN is not among them: a listener is a thing of its own (listen.h). */
enum tcp_state {
	TCP_CLOSED,
	TCP_SYN_SENT,
	TCP_SYN_RECEIVED,
	TCP_ESTABLISHED,
	TCP_FIN_WAIT_1,
	TCP_FIN_WAIT_2,
	TCP_CLOSE_WAIT,
	TCP_CLOSING,
	TCP_LAST_ACK,
	TCP_TIME_WAIT
};

#define TCP_STATE_BIT(s) (1u << (s))

/** Our own FIN may still have to be sent or acknowledged, and so may text before it. */
#define TCP_STATES_SENDING                                                   \
	(TCP_STATE_BIT(TCP_ESTABLISHED) | TCP_STATE_BIT(TCP_FIN_WAIT_1) |    \
		TCP_STATE_BIT(TCP_CLOSE_WAIT) | TCP_STATE_BIT(TCP_CLOSING) | \
		TCP_STATE_BIT(TCP_LAST_ACK))
/** The peer has not sent its FIN: text may come. */
#define TCP_STATES_RECEIVING                                              \
	(TCP_STATE_BIT(TCP_ESTABLISHED) | TCP_STATE_BIT(TCP_FIN_WAIT_1) | \
		TCP_STATE_BIT(TCP_FIN_WAIT_2))

/** ECN (ecn.h). */
struct tcp_ecn {
	uint32_t recover; /**< ECE counts once until this is acknowledged */
	uint8_t windows;  /**< in a row with ECE though cwnd is as small as it gets */
	bool on : 1;      /**< both sides use it */
	bool asked : 1;   /**< by our last SYN */
	bool echo : 1;    /**< a mark came: ECE goes out until CWR comes */
	bool waiting : 1;
	bool distrusted : 1; /**< the path's marks mean nothing: ours is sent without ECT */
};

/** A time for what is measured in weeks: units of 1.07 s, right for a century. */
static inline uint32_t tcp_coarse(uint64_t ns)
{
	return (uint32_t)(ns >> 30);
}

/**
 * In the order of use: first what every packet needs with which all is well, cache line by cache
 * line; what few ever need comes last and is not fetched ahead (table.h). With tens of thousands of
 * connections a packet costs as many cache misses as it touches lines. test_conn.c watches the
 * size.
 */
struct tcp_conn {
	struct llp llp;
	struct tcp_conn *dirty_next;
	uint8_t state; /**< enum tcp_state */
	uint8_t snd_wscale;
	uint8_t rcv_wscale : 7;
	bool has_unread : 1; /**< unread is what is known of its text (unread.h) */
	uint8_t quick_acks;  /**< segments still to be acknowledged at once */
	uint8_t dupacks;
	uint8_t keepalive_probes : 7;
	bool stalled : 1;       /**< stall tells since when (stall.h) */
	uint8_t syn_sent_n : 7; /**< transmissions of our SYN */
	bool acks_watched : 1;  /**< the user is told of them (llp_watch_acks()) */
	uint8_t challenges : 7;
	bool window_asked : 1; /**< a probe of the closed window left */
	uint8_t ring_log2 : 6; /**< how large a ring to begin with */
	bool closed_last : 1;  /**< in TIME-WAIT only for what is unread, from LAST-ACK */
	bool eof_owed : 1;     /**< the user has not been shown all before the FIN */
	bool dirty : 1;
	bool orphan : 1; /**< the user let go: text that comes is dropped */
	bool ts_on : 1, sack_on : 1, wscale_on : 1;
	/** Its time is no round trip: it waited for the neighbour's address, or was asked for
	 * again. */
	bool syn_unmeasured : 1;
	bool fin_owed : 1;   /**< there was no memory to queue it; no state has changed yet */
	bool fin_queued : 1; /**< the user closed; with records before it, perhaps */
	bool fin_received : 1;
	bool fin_ooo : 1; /**< a FIN beyond a gap: rcv_fin tells where */
	bool ack_now : 1;
	bool write_refused : 1; /**< writable() is owed */
	bool in_readable : 1, resume : 1;
	bool persist : 1;     /**< the retransmission timer probes a closed window */
	bool wnd_moved : 1;   /**< that window has changed since the last probe */
	uint8_t ca_state : 2; /**< enum tcp_ca_state (recovery.h) */
	bool rtx_first : 1;   /**< the next lost record goes out whatever cwnd and pacing say */
	/** Closed before it was established, or its text is gone (external.h): the timer tells. */
	bool closing_early : 1;
	bool hop_dead : 1;     /**< the IP layer could not resolve the next hop */
	bool accept_again : 1; /**< the user could not take it yet: closed, not accepted */
	bool cwr_pending : 1;  /**< the next new text carries CWR */
	bool passive : 1;      /**< not accepted yet: listener tells by which it shall be */

	uint32_t snd_una, snd_nxt, rcv_nxt;
	uint32_t rcv_adv;       /**< right edge of the window that we have told */
	uint32_t last_ack_sent; /**< RFC 7323 section 4.3 */
	union {
		struct tcp_tuple id;
		struct ip_path path; /**< begins with the same addresses and ports */
	};

	/* All that a timer looks at which finds its deadline moved. */
	struct tcp_stack *s;
	/** One timer on the wheel serves all deadlines; it may run early, never late. */
	struct timer timer;
	uint64_t rtx_at, delack_at, life_at;

	/* Receive sequence variables, and the receive buffer's measurement (buffer.h). */
	uint32_t ts_recent, ts_offset;
	uint32_t ts_echo;      /**< the newest echo of our time stamps */
	uint32_t ts_recent_at; /**< tcp_coarse() */
	/** Largest text of the peer's segments: what a full segment is (RFC 5681); and of those
	 * that came in the present measurement. */
	uint16_t rcv_mss, rcv_mss_now;
	uint32_t rcv_buffer;   /**< its size */
	uint32_t read_need;    /**< the user wants to see no less */
	uint32_t rcv_rtt;      /**< ns, as a receiver sees it */
	uint32_t measure_seq;  /**< what the user had taken when this measurement began, */
	uint32_t measured;     /**< and the most that it took in one */
	uint32_t rx_claim;     /**< packets of the stack's budget beyond the minimum */
	uint32_t confirmed_ms; /**< when the next hop was last told that it works */
	uint64_t heard_at;     /**< the last acceptable segment */
	uint64_t measure_at;   /**< when the present measurement of what the user takes ends */

	struct tcp_mbufs recvq;          /**< in order, not taken by the user yet */
	struct tcp_ooo_state *ooo_state; /**< what came out of order, or twice; NULL: nothing */
	struct tcp_pmtu *pmtu;     /**< what is being done about the path's MTU; NULL: nothing */
	struct rte_mbuf *reserved; /**< a record being written, not queued yet */
	/** Since when an answer is missing: that the oldest text began to wait, or the first
	 * question that any segment answers. What came since is the answer to that. */
	uint64_t progress_at;
	uint32_t segments_out, segments_in;

	/* Send sequence variables. */
	uint32_t snd_max; /**< beyond snd_nxt only by a FIN that probes a window */
	uint32_t snd_wnd, snd_wl1, snd_wl2, max_snd_wnd;
	uint32_t push_seq;     /**< the user has let go of what begins before this */
	uint32_t cwnd_limited; /**< snd_nxt when cwnd last held us back */
	uint32_t emss;
	uint16_t mtu;           /**< of packets that we send now: emss follows from it */
	uint16_t path_mtu;      /**< of the IP layer, when it was looked at last */
	uint16_t reserved_join; /**< bytes being appended to the last record */
	int16_t soft_error;     /**< to report instead of -ETIMEDOUT */
	uint32_t dup_bytes;     /**< left the network, by duplicate ACKs without SACK */
	uint32_t recover;       /**< recovery ends when this is acknowledged */
	struct tcp_sendq sendq; /**< the record in it has a line for itself */

	uint64_t bytes_sent, bytes_acked, bytes_received;
	struct tcp_rto rto;
	uint16_t peer_mss;               /**< from its SYN, options not counted (RFC 6691) */
	uint16_t largest_acked, big_len; /**< text of segments that arrived: ever, lately */
	uint16_t spurious_recoveries;    /**< no more than can be counted so */
	struct tcp_rate rate;
	struct tcp_pace pace;
	struct tcp_recovery rec;
	uint32_t big_ms; /**< when big_len came */
	uint32_t dsacks;
	struct tcp_ecn ecn;
	struct tcp_cc cc; /**< the end of it, what is done about losses, is not for every packet */

	struct tcp_repair repair;
	struct exact_timer pace_timer; /**< runs while something waits for its time (pace.h) */
	/** An orphan's, as one in TIME-WAIT is whose user has read all: those are never stalled and
	 * have nothing unread. Once closed, in the stack's dead list. */
	union {
		struct tcp_conn **queue_pprev;
		struct tcp_unread *unread; /**< if has_unread */
	};
	union {
		struct tcp_conn *queue_next;
		struct tcp_listener *listener; /**< if passive */
		struct tcp_stall *stall;       /**< if stalled */
	};
	struct tcp_external_loan *loan; /**< of text in the program's memory; NULL: none yet */
	uint32_t rcv_fin;               /**< where the peer's FIN is, beyond a gap */
	uint32_t challenge_ms;          /**< when the present allowance of challenge ACKs began */
	uint32_t retransmits, timeouts, fast_recoveries, out_of_order;
	uint32_t ce_received, ece_received; /**< marks, and echoes of ours (ecn.h) */
} __rte_aligned(TCP_CACHE_LINE);

/** What a packet may need of a connection with which all is well. */
#define TCP_CONN_HOT                                                      \
	((offsetof(struct tcp_conn, cc.u.cubic.k) + TCP_CACHE_LINE - 1) & \
		~(size_t)(TCP_CACHE_LINE - 1))

_Static_assert(offsetof(struct tcp_conn, path) == 64 && offsetof(struct tcp_conn, s) == 128 &&
		       offsetof(struct tcp_conn, ts_recent) == 192 &&
		       offsetof(struct tcp_conn, recvq) == 256 &&
		       offsetof(struct tcp_conn, sendq.one) % 64 == 0,
	"a cache line for each purpose");
_Static_assert(offsetof(struct ip_path, ports) == offsetof(struct tcp_tuple, lport),
	"a path begins with what identifies its connection");

static inline struct tcp_conn *tcp_conn_of(const struct llp *l)
{
	return (struct tcp_conn *)(uintptr_t)l;
}

static inline bool tcp_in(const struct tcp_conn *c, unsigned states)
{
	return (TCP_STATE_BIT(c->state) & states) != 0;
}

static inline bool tcp_synchronized(const struct tcp_conn *c)
{
	return c->state >= TCP_ESTABLISHED;
}

/** The receive window that the peer knows of. */
static inline uint32_t tcp_rcv_wnd(const struct tcp_conn *c)
{
	return c->rcv_adv - c->rcv_nxt;
}

static inline uint32_t tcp_flight(const struct tcp_conn *c)
{
	return c->snd_nxt - c->snd_una;
}

/** The peer has closed its window over what was sent: it has no room for the oldest of that. */
static inline bool tcp_is_shut_in_flight(const struct tcp_conn *c)
{
	return unlikely(c->snd_wnd < c->emss) && c->sendq.nxt &&
	       tcp_record_end(tcp_sendq_at(&c->sendq, 0)) - c->snd_una > c->snd_wnd;
}

/** The peer's window has no room for the oldest text that waits for its ACK, or to be sent. */
static inline bool tcp_is_shut(const struct tcp_conn *c)
{
	return c->persist || tcp_is_shut_in_flight(c);
}

/** Bytes believed to be in the network (RFC 6675 section 4, SetPipe). */
static inline uint32_t tcp_pipe(const struct tcp_conn *c)
{
	const struct tcp_sendq *q = &c->sendq;
	uint32_t p = tcp_flight(c) - q->sacked - q->lost + q->rexmit;

	return p > c->dup_bytes ? p - c->dup_bytes : 0;
}

/** Losses are being repaired. */
static inline bool tcp_ca_recovering(const struct tcp_conn *c)
{
	return c->ca_state >= TCP_CA_RECOVERY;
}

/** Proportional rate reduction sets the window (prr.h). */
static inline bool tcp_ca_reducing(const struct tcp_conn *c)
{
	return c->ca_state == TCP_CA_CWR || c->ca_state == TCP_CA_RECOVERY;
}

/** SACK blocks that fit beside the other options. */
static inline unsigned tcp_sack_blocks(const struct tcp_conn *c)
{
	return c->ts_on ? TCP_SACK_MAX - 1 : TCP_SACK_MAX;
}

/** Our FIN has been sent and acknowledged, and with it all. */
static inline bool tcp_fin_acked(const struct tcp_conn *c)
{
	return c->fin_queued && !c->fin_owed && c->sendq.count == 0;
}

/**
 * Make a connection in @p state and put it into the table; nothing is sent.
 * @return 0, -ENETUNREACH, -EADDRNOTAVAIL, -EADDRINUSE (the tuple exists), -ENOMEM.
 */
int tcp_conn_new(struct tcp_stack *s, const struct tcp_tuple *id, enum tcp_state state,
	struct tcp_conn **out);

/** Could a connection be made now, or room for one? */
bool tcp_conn_room(const struct tcp_stack *s);

/** Our initial sequence number (RFC 6528 section 3). */
uint32_t tcp_conn_iss(const struct tcp_stack *s, const struct tcp_tuple *id);

/** Another one than tcp_conn_new() has chosen. */
void tcp_conn_set_iss(struct tcp_conn *c, uint32_t iss);

/** The timestamp that connection @p id would send now. */
uint32_t tcp_conn_tsval(const struct tcp_stack *s, const struct tcp_tuple *id);

/** RFC 9293 section 3.7.1 (MUST-15): the MSS of a peer that names none. */
uint16_t tcp_conn_default_mss(const struct tcp_tuple *id);

/** Take over what the peer's SYN offers, as far as we offer or accept it. */
void tcp_conn_take_syn(struct tcp_conn *c, const struct tcp_segment *seg);

/** The handshake is over: ESTABLISHED, timers and congestion control begin. */
void tcp_conn_establish(struct tcp_conn *c);

/** To be looked at when the round ends: an ACK, output, writable(). */
void tcp_conn_mark_dirty(struct tcp_conn *c);

/** EMSS after the MTU or the peer's MSS became known or changed. */
void tcp_conn_update_emss(struct tcp_conn *c);

/** See that the queue has a ring, and room in it. @return 0 or -ENOMEM. */
int tcp_conn_lend_ring(struct tcp_conn *c);

/** See that one more record can be queued. @return 0 or -ENOMEM. */
static inline int tcp_conn_send_room(struct tcp_conn *c)
{
	uint32_t n = c->sendq.count;

	if (n >= c->sendq.cap && tcp_conn_lend_ring(c))
		return -ENOMEM;
	if (n >= c->sendq.most)
		c->sendq.most = n + 1;
	return 0;
}

/** Nothing is queued any more: give the ring back. */
void tcp_conn_return_ring(struct tcp_conn *c);

/** Queue our FIN; the state changes at once (RFC 9293 section 3.10.4), or once there is memory. */
void tcp_conn_queue_fin(struct tcp_conn *c);

/**
 * There is text in order, and a user that may take it. After the peer's FIN no more will come: what
 * is less than the user needs, it never takes.
 */
static inline bool tcp_conn_has_reader(const struct tcp_conn *c)
{
	return !c->orphan && c->recvq.count && c->recvq.bytes >= c->read_need;
}

/**
 * Both FINs are done: TIME-WAIT, or from LAST-ACK CLOSED, and the user hears closed(0); but first
 * it reads what came.
 */
void tcp_conn_time_wait(struct tcp_conn *c);

/** The user has seen what there is to read, and has taken of it what it wants for now. */
void tcp_conn_was_read(struct tcp_conn *c);

/** Free the text that its user has not taken, and will not. */
void tcp_conn_drop_unread(struct tcp_conn *c);

/** The user let go of it: it ends by itself, and must not wait in too great a company. */
void tcp_conn_orphan(struct tcp_conn *c);

/** TIME-WAIT begins anew: the peer sent its FIN again. */
void tcp_conn_restart_time_wait(struct tcp_conn *c);

/** The end: out of the table, everything freed when the round ends; closed(@p error). */
void tcp_conn_close(struct tcp_conn *c, int error);

/** Free what has ended. */
void tcp_conn_reap(struct tcp_stack *s);

/** "ESTABLISHED", ... */
const char *tcp_state_name(enum tcp_state state);

void tcp_conn_info(const struct tcp_conn *c, struct tcp_info *out);

/**
 * There is no progress (RFC 1122 section 2.3.2.1): perhaps the next hop does not take our packets.
 * @return true: the owner of its address is not settled, see ip_doubt().
 */
static inline bool tcp_conn_doubt_path(struct tcp_conn *c)
{
	return ip_doubt(c->s->cfg.ip, &c->id.remote, c->s->now);
}

#endif
