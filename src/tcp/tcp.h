/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file tcp.h
 * TCP (RFC 9293) over the IP layer of one engine, as an LLP (llp/llp.h) for MPA and for plain
 * streams. Sans-I/O: the IP layer hands segments in, the timers live on the engine's wheel, and
 * tcp_set_now() tells the time before anything else is called in a round.
 *
 * Not thread-safe: used under the engine's lock.
 */
#ifndef TCP_TCP_H
#define TCP_TCP_H

#include "base/log.h"
#include "base/random.h"
#include "base/timer.h"
#include "base/walk.h"
#include "ip/ip.h"
#include "llp/llp.h"
#include "tcp/choices.h"

struct tcp_stack;
struct tcp_cc_ops;

/** Text that leaves from the program's memory (external.h). */
struct tcp_external_config {
	struct rte_mempool *pool; /**< mbufs without room of their own, at most 32,767; NULL: off */
	/** Let the port's device read that memory, by its own addresses. May be called without the
	 *  engine's lock. @return 0: it does. */
	int (*map)(void *ctx, const void *addr, size_t len);
	void (*unmap)(void *ctx, const void *addr, size_t len);
	/** Let the port give back what it has sent, and wait for that a moment. @return false: it
	 * is no use to ask again. */
	bool (*settle)(void *ctx);
	/** Drop of what waits for the port's device, and was not given to it, the frames that
	 *  @p is_of says. */
	void (*drop)(void *ctx, bool (*is_of)(const struct rte_mbuf *m, const void *arg),
		const void *arg);
	void *ctx;
};

struct tcp_stack_config {
	struct tcp_external_config external;
	struct ip_stack *ip;
	struct timer_wheel *wheel;
	struct rte_mempool *pool; /**< data and header packets; data room for MTU + headers */
	struct random_source random;
	const struct log_sink *log;
	const char *congestion_control; /**< a name from tcp_cc_find(); NULL: the default */
	uint32_t max_connections;       /**< 0: 65,536 */
	uint32_t send_buffer;     /**< bytes queued per connection at most; 0: as the path asks */
	uint32_t receive_buffer;  /**< receive window; 0: as the path asks; at least 128 KiB */
	uint32_t send_packets;    /**< of all connections' queues; 0: 3/8 of the pool */
	uint32_t receive_packets; /**< that may wait to be read; 0: 3/8 of the pool */
	/** RFC 8985 section 7.2: TLP.max_ack_delay; 0: 50, as those deployed wait 40, mostly. */
	uint32_t max_ack_delay_ms;
	uint32_t time_wait_ms;    /**< 0: 60,000 (2 MSL with an MSL of 30 s) */
	uint32_t syn_retries;     /**< 0: 6 */
	uint32_t user_timeout_ms; /**< RFC 9293 section 3.8.3 (R2); 0: 100,000 */
	uint32_t keepalive_ms;    /**< idle time before probes; 0: off */
	/** How long a peer that answers may keep its window closed and take nothing; 0: for ever.
	 */
	uint32_t zero_window_timeout_ms;
	uint32_t max_orphans; /**< closed by the user, not by the peer yet; 0: a quarter */
	uint32_t max_half_open_per_peer; /**< IPv6: per network of 64 bits; 0: as many */
	uint32_t max_stalled_per_peer;   /**< connections (stall.h), likewise; 0: any number */
	uint32_t max_half_open;          /**< handshakes from outside, all listeners; 0: 4096 */
	enum tcp_syn_cookies syn_cookies;
	enum tcp_ecn_mode ecn;
	bool no_timestamps, no_sack, no_window_scale; /**< do not offer or accept the option */
	bool no_pacing; /**< send what the window allows at once; not for bbr, which lives by its
			   rate */
};

/** @return 0, -ENOMEM, -EINVAL (unknown congestion control). */
int tcp_stack_create(const struct tcp_stack_config *cfg, uint64_t now, struct tcp_stack **out);

/**
 * Send a reset on each connection, and nothing else: the process ends, and its peers shall hear of
 * it. What comes in afterwards must not be given to this stack.
 */
void tcp_stack_reset_all(struct tcp_stack *s);

/** Aborts what is open. */
void tcp_stack_destroy(struct tcp_stack *s);

/** The time of this round, in ns; never goes back. */
void tcp_set_now(struct tcp_stack *s, uint64_t now);

/**
 * The round is over: send the ACKs that it made due (one for each connection, whatever number of
 * segments came), what the windows now allow, tell writable(), and free closed connections. Call
 * it after ip_input() and the timers of every round, before the port is flushed.
 */
void tcp_round_end(struct tcp_stack *s);

/**
 * May tcp_round_end() wait until somebody comes by? What is left is books alone: nothing is to be
 * sent or told to a user, and no ACK is due. A round in which nothing happened is not asked about.
 */
bool tcp_round_end_may_wait(const struct tcp_stack *s);

/** The stack as MPA and the RNIC use it. */
struct llp_stack *tcp_llp_stack(struct tcp_stack *s);

/** What a person or a test wants to know of one connection. Times in ns, sizes in bytes. */
struct tcp_info {
	const char *state; /**< "ESTABLISHED", ... */
	uint64_t srtt, rttvar, rto;
	uint32_t cwnd, ssthresh, snd_wnd, rcv_wnd, emss, mtu, flight;
	uint32_t send_buffer, receive_buffer; /**< their limits now */
	uint64_t bytes_sent, bytes_acked, bytes_received;
	uint64_t segments_out, segments_in, retransmits, timeouts, fast_recoveries, out_of_order;
	uint64_t min_rtt;      /**< of the last minutes; 0: none yet */
	uint64_t reo_wnd;      /**< how much reordering is taken for no loss (RFC 8985) */
	uint32_t lost, sacked; /**< of the flight; lost: until acknowledged */
	uint64_t tlp_probes, dsacks;
	uint64_t spurious_recoveries, spurious_timeouts; /**< found to be, and taken back */
	bool reordering_seen;
	uint32_t ce_received, ece_received; /**< text marked by the network; marks echoed to us */
	bool timestamps, sack, window_scale, ecn;
	const char *congestion_control, *phase; /**< "cubic", "slow start" */
	/** "open", "disorder" (ACKs hint at a loss), "cwr", "recovery", "loss", as Linux has them.
	 */
	const char *ca_state;
	/** Bytes per second; 0: not paced; no sample yet; the module does not estimate it. */
	uint64_t pacing_rate, delivery_rate, bandwidth;
	bool app_limited; /**< delivery_rate's sample: the network was not the limit */
};

/** @p l must be a connection of a TCP stack. */
void tcp_get_info(const struct llp *l, struct tcp_info *out);

/**
 * Let @p l go on with another congestion control, from the window that it has. To name the one in
 * use changes nothing.
 * @return 0, or -EINVAL if there is none of that name.
 */
int tcp_set_congestion_control(struct llp *l, const char *name);

/** The same for the connections that @p l, of a TCP stack, makes from now on. */
int tcp_listener_set_congestion_control(struct llp_listener *l, const char *name);

/** Another limit of the handshakes of @p l, of a TCP stack. Those that there are go on. */
void tcp_listener_set_backlog(struct llp_listener *l, unsigned backlog);

/** What @p l sends from now on has the traffic class @p tos, but for the ECN bits: they are TCP's.
 */
void tcp_set_tos(struct llp *l, uint8_t tos);

/** The same of the handshakes of @p l, of a TCP stack, and of the connections that it makes then.
 */
void tcp_listener_set_tos(struct llp_listener *l, uint8_t tos);

/** Connection @p i, handshakes from outside last, for listings; false past the end. */
bool tcp_connection_get(struct tcp_stack *s, unsigned i, struct ip_endpoint *local,
	struct ip_endpoint *remote, struct tcp_info *info);

/** Where a walk over connections is; zero-initialised at its beginning. */
struct tcp_walk {
	uint32_t at[2]; /**< private */
};

/** What is found in a step of a walk. */
struct tcp_walk_item {
	struct ip_endpoint local, remote;
	struct tcp_info info;
	uint32_t queued; /**< bytes that the user wrote and the peer has not acknowledged */
	uint32_t unread; /**< bytes that wait for the user, in order */
};

/**
 * The next step of a walk over all connections, handshakes from outside not among them; see
 * tcp_table_walk().
 */
enum walk tcp_connection_walk(
	const struct tcp_stack *s, struct tcp_walk *w, struct tcp_walk_item *item);

struct tcp_stats {
	uint64_t segments_in, segments_out, bytes_in, bytes_out, retransmits, timeouts;
	uint64_t bad_cksum, bad_header, no_connection, out_of_order, duplicate, paws_drops;
	uint64_t out_of_order_drops; /**< no memory to keep them: never SACKed */
	uint64_t out_of_window;      /**< not acceptable by their sequence numbers */
	uint64_t bad_ack;            /**< without an acknowledgment, or with an impossible one */
	uint64_t syns_ignored;       /**< on a connection that is there (RFC 5961 section 4.2) */
	uint64_t text_unwanted;      /**< behind the peer's FIN, or when the user has gone */
	uint64_t no_memory;          /**< the next text: for the peer, it was lost */
	uint64_t taken_ooo;          /**< segments that the user took before their turn */
	uint64_t reneged;            /**< packets dropped after they were SACKed */
	uint64_t challenge_acks, challenge_acks_limited, resets_in, resets_out, resets_ignored;
	uint64_t half_open, half_recycled; /**< now; dropped for others */
	uint64_t orphans_recycled;
	uint64_t zero_window_timeouts; /**< connections ended by the time-out of that name */
	uint64_t stalls_ended;         /**< connections with closed windows, ended for others */
	uint64_t unread_ended;         /**< the same, with text that nobody took (unread.h) */
	uint64_t syn_cookies_sent, syn_cookies_received, syn_cookies_failed;
	uint64_t connects, accepts, accept_overflows, connections, pool_empty, icmp_ignored;
	uint64_t path_too_big, black_holes, pmtu_probes, pmtu_raised;
	uint64_t external_out;      /**< segments with text in the program's memory (external.h) */
	uint64_t external_backoffs; /**< times that a connection lost so many that it copies */
};

const struct tcp_stats *tcp_stack_stats(const struct tcp_stack *s);

#endif
