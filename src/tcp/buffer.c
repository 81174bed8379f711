/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/buffer.h"

#include <rte_mempool.h>

/**
 * No path carries more than this, 256 Gbit/s. Between two processes of one machine nothing is ever
 * lost. Windows would grow without end there, and the queue would only leave the caches.
 */
#define PATH_BYTES_PER_NS 32
#define SHORT_PATH_BUFFER (1u << 20)
/**
 * Of short segments fewer bytes leave the caches, as each has a buffer around its text, and under
 * ESP another beside it. So many are enough for a peer that answers at once; not for one that has
 * to wait for a core.
 */
#define SHORT_PATH_SEGMENTS 256u
#define PROMPT_ROUND_TRIP   TCP_MS

/** A packet costs more than its text: what a short record counts against the send buffer. */
#define RECORD_MIN_COST 256
/** What may be queued beyond the peer's window at most, for when it moves on. */
#define WINDOW_AHEAD (64u * 1024)
/** Until a round trip was measured. */
#define RTT_UNKNOWN (100 * TCP_MS)
/** Nothing came for so long after a round trip: the connection is idle. */
#define RECLAIM_IDLE (2000 * TCP_MS)
/** Places of the table that one connection looks at when it wants more than its share. */
#define RECLAIM_SLOTS 16
/** Longer ones are measured in parts. */
#define RTT_MOST (4000 * TCP_MS)
/** Time stamps tick in milliseconds: what they say about less is noise. */
#define RTT_BY_TIMESTAMP (2 * TCP_MS)
/** Full segments' text in one round trip that makes its time stamps' echo a round trip time, and
 * the largest of its segments what a full one is, whatever flags they have. */
#define RTT_SEGMENTS 8

void tcp_buffer_init_stack(struct tcp_stack *s)
{
	struct tcp_stack_config *cfg = &s->cfg;
	uint32_t pool = cfg->pool->size;
	uint64_t most;

	/* An eighth of the pool stays for packets that come in and go out. */
	s->tx_limit = cfg->send_packets ? cfg->send_packets : pool / 8 * 3;
	s->tx_hard_limit = s->tx_limit + s->tx_limit / 6;
	s->rx_limit = cfg->receive_packets ? cfg->receive_packets : pool / 8 * 3;
	s->rx_hard_limit = s->rx_limit + s->rx_limit / 6;
	if (cfg->receive_buffer) {
		cfg->receive_buffer = u32_max(cfg->receive_buffer, TCP_RECEIVE_BUFFER_MIN);
		cfg->receive_buffer = u32_min(cfg->receive_buffer, TCP_BUFFER_MAX);
		most = cfg->receive_buffer;
	} else {
		most = (uint64_t)s->rx_limit * TCP_SHARE / (TCP_SHARE + 1) * s->room +
		       TCP_RECEIVE_BUFFER_MIN;
		most = u64_min(most, TCP_BUFFER_MAX);
	}
	cfg->send_buffer = u32_min(cfg->send_buffer, TCP_BUFFER_MAX);
	/* Without scaling no more than 64 KiB can be told; with it, the least that reaches: small
	 * units tell small windows exactly. */
	while (!cfg->no_window_scale && s->rcv_wscale < TCP_WSCALE_MAX &&
		(UINT64_C(65535) << s->rcv_wscale) < most)
		s->rcv_wscale++;
}

void tcp_buffer_init(struct tcp_conn *c)
{
	uint32_t fixed = c->s->cfg.receive_buffer;

	c->rcv_buffer = fixed ? fixed : TCP_RECEIVE_BUFFER_MIN;
	c->measure_at = TIMER_NEVER;
}

static void tcp_buffer_set_rtt(struct tcp_conn *c, uint64_t rtt)
{
	c->rcv_rtt = (uint32_t)u64_min(rtt, RTT_MOST);
}

/** What waits behind gaps. */
static uint32_t tcp_buffer_behind_gaps(const struct tcp_conn *c)
{
	return c->ooo_state ? c->ooo_state->ooo.bytes : 0;
}

/** All that came, ever, but what the user could take and did not. */
static uint32_t tcp_buffer_came(const struct tcp_conn *c)
{
	return c->rcv_nxt - c->recvq.bytes + tcp_buffer_behind_gaps(c);
}

static void tcp_buffer_begin_measuring(struct tcp_conn *c)
{
	c->measure_seq = tcp_buffer_came(c);
	c->measure_at = c->s->now + c->rcv_rtt;
}

void tcp_buffer_establish(struct tcp_conn *c)
{
	tcp_buffer_set_rtt(c, c->rto.srtt ? c->rto.srtt : RTT_UNKNOWN);
	c->measured = 10u * c->rcv_mss; /* RFC 6928: what the peer's first round trip brings */
	tcp_buffer_begin_measuring(c);
}

/** What buffers of @p bytes above the minimum may cost in packets. */
static uint32_t tcp_buffer_packets_for(const struct tcp_conn *c, uint32_t bytes)
{
	return bytes > TCP_RECEIVE_BUFFER_MIN ? (bytes - TCP_RECEIVE_BUFFER_MIN) / c->rcv_mss + 1
					      : 0;
}

static void tcp_buffer_claim(struct tcp_conn *c, uint32_t packets)
{
	c->s->rx_claimed += packets - c->rx_claim;
	c->rx_claim = packets;
}

void tcp_buffer_release(struct tcp_conn *c)
{
	tcp_buffer_claim(c, 0);
	c->measure_at = TIMER_NEVER;
}

/** The most that the receive buffer may be, beside what the others claim. */
static uint32_t tcp_buffer_fair_share(const struct tcp_conn *c)
{
	uint32_t others = c->s->rx_claimed - c->rx_claim, limit = c->s->rx_limit;
	uint64_t packets = others < limit ? limit - others : 0;

	packets = packets * TCP_SHARE / (TCP_SHARE + 1) * c->rcv_mss + TCP_RECEIVE_BUFFER_MIN;
	return (uint32_t)u64_min(packets, UINT64_C(65535) << c->rcv_wscale);
}

/**
 * The budget is short: look at a few connections, others each time, and take back what idle ones
 * claim. Their buffers grow again when they are used.
 */
static void tcp_buffer_reclaim(struct tcp_stack *s)
{
	for (unsigned i = 0; i < RECLAIM_SLOTS; i++) {
		struct tcp_conn *c = tcp_slot_conn(s->table.slot[s->reclaim_at++ & s->table.mask]);

		if (!c || !c->rx_claim || s->now < c->measure_at + RECLAIM_IDLE)
			continue;
		tcp_buffer_claim(c, 0);
		c->rcv_buffer = TCP_RECEIVE_BUFFER_MIN;
		c->measured = c->rcv_buffer / 2;
	}
}

static void tcp_buffer_resize(struct tcp_conn *c, uint64_t want)
{
	uint32_t share = tcp_buffer_fair_share(c);

	if (want > share)
		tcp_buffer_reclaim(c->s);
	c->rcv_buffer = (uint32_t)u64_max(u64_min(want, share), TCP_RECEIVE_BUFFER_MIN);
	tcp_buffer_claim(c, tcp_buffer_packets_for(c, c->rcv_buffer));
}

/**
 * The round trip time as a receiver sees it, without text of its own that could be timed: the echo
 * of our time stamps (RFC 7323 section 4), or what one window per round trip leaves as possible.
 */
static void tcp_buffer_measure_rtt(struct tcp_conn *c, uint32_t taken)
{
	uint64_t bound, elapsed = c->s->now - c->measure_at + c->rcv_rtt;
	uint64_t rtt = c->rto.srtt ? c->rto.srtt : c->rcv_rtt;

	if (c->ts_on) {
		uint32_t ticks = c->s->now_ms + c->ts_offset - c->ts_echo;
		uint64_t sample = ticks * TCP_MS;

		if (sample >= RTT_BY_TIMESTAMP && sample < TCP_RTO_MAX) {
			if (sample > c->rcv_rtt)
				sample = c->rcv_rtt + (sample - c->rcv_rtt) / 4;
			tcp_buffer_set_rtt(c, sample);
			return;
		}
		rtt = u64_min(rtt, RTT_BY_TIMESTAMP);
	}
	bound = elapsed * c->rcv_buffer / taken;
	tcp_buffer_set_rtt(c, u64_max(u64_min(rtt, bound), 1000));
}

/**
 * Has all come in short segments that would have filled full ones? Less than that may be a few
 * short messages.
 */
static void tcp_buffer_measure_segments(struct tcp_conn *c, uint32_t taken)
{
	if (taken >= (uint32_t)RTT_SEGMENTS * c->rcv_mss)
		c->rcv_mss = (uint16_t)u32_max(c->rcv_mss_now, TCP_RCV_MSS_MIN);
	c->rcv_mss_now = 0;
}

/**
 * Dynamic right-sizing: the next round trip may bring twice what this one did, and then more. What
 * waits behind a gap, for a round trip or, if the repair is lost too, for several, has extra room:
 * twice what waits, as a late repair takes longest. Otherwise a path that loses a percent finds the
 * window closed in most round trips.
 */
void tcp_buffer_measure(struct tcp_conn *c)
{
	uint32_t now = tcp_buffer_came(c), waits = tcp_buffer_behind_gaps(c);
	/* Less than before: what waited was dropped. */
	uint32_t taken = seq_gt(now, c->measure_seq) ? now - c->measure_seq : 0;
	uint64_t twice = 2 * (uint64_t)taken + 16 * c->rcv_mss + 2 * (uint64_t)waits,
		 want = c->rcv_buffer;

	if (taken >= (uint32_t)RTT_SEGMENTS * c->rcv_mss)
		tcp_buffer_measure_rtt(c, taken);
	if (c->rcv_mss_now)
		tcp_buffer_measure_segments(c, taken);
	if (c->s->cfg.receive_buffer) {
		tcp_buffer_begin_measuring(c);
		return;
	}
	if (taken > c->measured) {
		/* By the time that the peer hears of it, a slow start has doubled again. */
		want = u64_max(want, twice + 2 * twice * u64_min(taken - c->measured, c->measured) /
						     c->measured);
		c->measured = taken;
	} else if (waits) {
		want = u64_max(want, twice);
	}
	tcp_buffer_resize(c, want);
	/* Cut by its share, it may grow again from there. */
	c->measured = u32_min(c->measured, c->rcv_buffer / 2);
	tcp_buffer_begin_measuring(c);
}

/** What is of use on a path without length. */
static uint32_t tcp_snd_buffer_short_path(const struct tcp_conn *c)
{
	bool prompt = c->rto.srtt != 0 && c->rto.srtt < PROMPT_ROUND_TRIP;

	return prompt ? u32_min(SHORT_PATH_SEGMENTS * c->emss, SHORT_PATH_BUFFER)
		      : SHORT_PATH_BUFFER;
}

uint32_t tcp_snd_buffer(const struct tcp_conn *c)
{
	uint32_t fixed = c->s->cfg.send_buffer, wanted, least;
	uint64_t useful;

	if (fixed)
		return fixed;
	least = c->s->tx_held < c->s->tx_limit / 2 ? TCP_SEND_BUFFER_MIN : TCP_SEND_BUFFER_SHORT;
	/* What is in flight, and as much again, which the next round trip will ask for. */
	wanted = u32_max(2 * u32_min(c->cc.cwnd, TCP_BUFFER_MAX / 2), least);
	useful = PATH_BYTES_PER_NS * tcp_min_rtt_get(&c->rec.min_rtt);
	return (uint32_t)u64_min(wanted, u64_max(useful, tcp_snd_buffer_short_path(c)));
}

uint32_t tcp_buffer_send_limit(const struct tcp_conn *c)
{
	uint32_t limit = tcp_snd_buffer(c), wnd = c->snd_wnd, ahead;

	if (!tcp_synchronized(c)) /* the peer has told no window yet */
		return limit;
	/* A peer must not have us hold what it does not take: what it asked for waits in user
	 * memory, where it costs nothing. */
	ahead = u32_max(u32_min(wnd / 4, WINDOW_AHEAD), TCP_SEND_BUFFER_CLOSED * c->emss);
	return u32_min(limit, wnd + ahead);
}

/** Is there a packet for @p c in what all connections may queue? */
static bool tcp_buffer_budget_allows(const struct tcp_conn *c)
{
	const struct tcp_stack *s = c->s;
	uint32_t count = c->sendq.count;

	if (count < TCP_SEND_FLOOR)
		return s->tx_held < s->tx_hard_limit;
	return s->tx_held < s->tx_limit && count / TCP_SHARE < s->tx_limit - s->tx_held;
}

/** A connection that takes what it is sent was refused a packet: one that does not may have to
 * give. */
static void tcp_buffer_want(const struct tcp_conn *c)
{
	uint32_t wanted = c->sendq.count + 1;

	if (!c->stalled && (!c->s->tx_wanted || wanted < c->s->tx_wanted))
		c->s->tx_wanted = wanted;
}

bool tcp_buffer_may_queue(const struct tcp_conn *c, uint32_t len)
{
	const struct tcp_sendq *q = &c->sendq;
	uint32_t limit = tcp_buffer_send_limit(c), with_peer = q->sacked;
	/* What the peer holds beyond a gap does not wait for the network: repairs of a loss must
	 * not stop what is new. */
	if (q->count && (q->bytes - u32_min(with_peer, q->bytes) + len > limit ||
				q->count >= (limit + with_peer) / RECORD_MIN_COST))
		return false;
	if (likely(tcp_buffer_budget_allows(c)))
		return true;
	tcp_buffer_want(c);
	return false;
}
