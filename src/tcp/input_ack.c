/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/ecn.h"
#include "tcp/input.h"
#include "tcp/loss.h"
#include "tcp/output.h"
#include "tcp/pmtu.h"
#include "tcp/stall.h"
#include "tcp/timers.h"
#include "tcp/tlp.h"

/** How often the neighbour's entry is told that it works. */
#define CONFIRM_INTERVAL_MS 1000

static uint32_t tcp_ack_window(const struct tcp_conn *c, const struct tcp_segment *seg)
{
	return (uint32_t)seg->wnd << c->snd_wscale;
}

/**
 * RFC 9293 section 3.10.7.4: only if SND.UNA =< SEG.ACK, and from segments newer than the one that
 * set it last; of what SEG.SEQ and SEG.ACK do not tell apart, time stamps do. SEG.ACK comes first:
 * what the peer sends again has an old SEG.SEQ, and with SND.UNA alone the window would move on.
 */
static bool tcp_ack_update_window(struct tcp_conn *c, const struct tcp_segment *seg)
{
	uint32_t wnd = tcp_ack_window(c, seg);
	bool changed = wnd != c->snd_wnd;

	if (seq_lt(seg->ack, c->snd_una) || (c->ts_on && seq_lt(seg->tsval, c->ts_recent)) ||
		(!seq_lt(c->snd_wl2, seg->ack) && seq_lt(seg->seq, c->snd_wl1)))
		return false;
	c->snd_wnd = wnd;
	c->snd_wl1 = seg->seq;
	c->snd_wl2 = seg->ack;
	if (wnd > c->max_snd_wnd)
		c->max_snd_wnd = wnd;
	return changed;
}

/** How many round trips a flight like this one measures, as a power of two (RFC 7323, app. G). */
static unsigned tcp_ack_samples_log2(uint32_t flight, uint32_t emss)
{
	uint32_t n = flight / (2 * emss);

	return n ? 31 - (unsigned)__builtin_clz(n) : 0;
}

/** RTTM (RFC 7323 section 4.1): also where Karn's rule forbids the other. @return ns, or 0. */
static uint64_t tcp_ack_measure_by_echo(struct tcp_conn *c, const struct tcp_ack_info *n)
{
	const struct tcp_record *r = &n->d.newest;
	int32_t ms = (int32_t)(c->s->now_ms + c->ts_offset - n->seg->tsecr);

	if (!c->ts_on || !(n->seg->has & TCP_HAS_TS) || !n->seg->tsecr || ms < 0)
		return 0;
	/* It answers the record's last transmission: our own clock tells more. */
	if (n->d.any && (uint32_t)(r->sent_at / TCP_MS) == c->s->now_ms - (uint32_t)ms)
		return c->s->now - r->sent_at;
	/* Of a path shorter than its ticks a timestamp says just that. */
	if (ms < 2 && c->rto.srtt && c->rto.srtt < TCP_MS) {
		tcp_rto_collapse(&c->rto);
		return 0;
	}
	return ms ? (uint64_t)ms * TCP_MS : TCP_MS;
}

/** @return the round trip that this ACK tells, in ns; 0: none. */
static uint64_t tcp_ack_measure(struct tcp_conn *c, const struct tcp_ack_info *n)
{
	uint64_t sent_at = n->d.rtt_sent_at, rtt = c->s->now - sent_at;

	if (sent_at)
		tcp_min_rtt_sample(&c->rec.min_rtt, rtt, c->s->now_ms);
	else if (!n->d.acked || !(rtt = tcp_ack_measure_by_echo(c, n)))
		return 0;
	tcp_rto_sample_often(
		&c->rto, rtt, tcp_ack_samples_log2(tcp_flight(c) + n->d.acked, c->emss));
	c->rec.tlp_unfit = false;
	return sent_at ? rtt : 0;
}

static void tcp_ack_confirm_path(struct tcp_conn *c, const struct tcp_ack_info *n)
{
	if (c->s->now_ms - c->confirmed_ms < CONFIRM_INTERVAL_MS)
		return;
	c->confirmed_ms = c->s->now_ms;
	ip_path_confirm(c->s->cfg.ip, &c->path, n->d.any ? n->d.newest.sent_at : 0, c->s->now);
}

/** New bytes are acknowledged: SND.UNA was @p una. */
static void tcp_ack_advanced(struct tcp_conn *c, const struct tcp_ack_info *n, uint32_t una)
{
	if (seq_gt(c->snd_una, c->snd_nxt))
		c->snd_nxt = c->snd_una; /* a FIN behind the window was taken */
	c->bytes_acked += c->snd_una - una;
	/* What is probed, or sent into a closed window, is not late but unwanted. */
	if (c->persist || !c->snd_wnd)
		tcp_rto_collapse(&c->rto);
	tcp_rto_progress(&c->rto);
	c->progress_at = c->rec.rto_from = c->s->now; /* RFC 6298 sections 5.2 and 5.3 */
	c->soft_error = 0;
	c->persist = false;
	if (unlikely(c->stalled))
		tcp_stall_progress(c);
	tcp_ack_confirm_path(c, n);
}

/** How things stood before an ACK. */
struct before {
	uint32_t una;
	bool reducing, timed_out;
};

/**
 * What the window may grow by: what is acknowledged (RFC 5681 section 3.1), but for what was SACKed
 * before: limited transmit has sent something new for that already. What is SACKed now may be the
 * sign of a loss, unless the path reorders, where it is what has arrived; as Linux.
 */
static uint32_t tcp_ack_growth(
	const struct tcp_conn *c, const struct tcp_ack_info *n, bool timed_out)
{
	/* RFC 3465 section 2.3: after a timeout, an ACK may cover what came long ago. */
	if (timed_out)
		return u32_min(n->d.acked, c->cc.smss);
	return c->rec.rack.reordering_seen ? n->d.delivered : u32_min(n->d.acked, n->d.delivered);
}

static void tcp_ack_tell_congestion_control(
	struct tcp_conn *c, const struct tcp_ack_info *n, const struct before *b, uint64_t rtt)
{
	uint32_t lost = tcp_rate_newly_lost(c);
	struct tcp_rate_sample rate;
	const struct tcp_cc_ack a = {
		.now = c->s->now,
		.srtt = c->rto.srtt,
		.min_rtt = tcp_min_rtt_get(&c->rec.min_rtt),
		.rtt = rtt,
		.acked = tcp_ack_growth(c, n, b->timed_out),
		.delivered = n->d.delivered,
		.lost = lost,
		.prior_in_flight = n->prior_pipe,
		.in_flight = tcp_pipe(c),
		.snd_una = c->snd_una,
		.snd_nxt = c->snd_nxt,
		.cwnd_limited = seq_leq(b->una, c->cwnd_limited),
		.in_recovery = b->reducing || tcp_ca_reducing(c),
		.ece = (n->seg->flags & TCP_ECE) && tcp_ecn_capable(c),
		.rate = &rate,
	};

	/* What was SACKed before is not delivered again, but lets the window grow when it is
	 * acknowledged. */
	if (!n->d.delivered && !n->d.acked && !lost)
		return;
	tcp_rate_take(c, &n->d, &rate);
	tcp_cc_on_ack(&c->cc, &a);
	if (c->cc.held_back)
		tcp_rate_app_limited(c, a.in_flight);
	if (!a.cwnd_limited) /* keep it near, so that it cannot come round */
		c->cwnd_limited = c->snd_una - 1;
}

/** Text is acknowledged, selectively perhaps, or an ACK came twice. */
static void tcp_ack_process(struct tcp_conn *c, struct tcp_ack_info *n)
{
	const struct before b = {c->snd_una, tcp_ca_reducing(c), c->ca_state == TCP_CA_LOSS};
	uint32_t held = c->sendq.count;
	uint64_t rtt;

	tcp_loss_take(c, n);
	c->s->tx_held -= held - c->sendq.count;
	rtt = tcp_ack_measure(c, n);
	if (c->snd_una != b.una)
		tcp_ack_advanced(c, n, b.una);
	tcp_loss_on_ack(c, n);
	if (n->d.any)
		tcp_pmtu_delivered(c, n->d.newest.len);
	tcp_ack_tell_congestion_control(c, n, &b, rtt);
}

void tcp_ack_arrives_with_text(struct tcp_conn *c, const struct tcp_segment *seg)
{
	struct tcp_stack *s = c->s;

	/* An answer beside what is acknowledged would need a ring in each of many connections. */
	if (seg->ack == c->snd_una || c->write_refused || c->acks_watched ||
		c->sendq.nxt != c->sendq.count || s->table.count >= TCP_TABLE_MANY) {
		tcp_ack_arrives(c, seg);
		return;
	}
	s->owed_ack = (struct tcp_owed_ack){c, s->now, *seg};
}

void tcp_ack_settle(struct tcp_stack *s)
{
	struct tcp_conn *c = s->owed_ack.c;
	uint64_t now = s->now;

	if (!c)
		return;
	s->owed_ack.c = NULL;
	if (c->state == TCP_CLOSED)
		return;
	/* Round trips are measured by it, and timers run from it. */
	tcp_stack_set_clock(s, s->owed_ack.at);
	tcp_ack_arrives(c, &s->owed_ack.seg);
	tcp_stack_set_clock(s, now);
}

/**
 * The window was closed over text in flight, and has room for the oldest again. What was sent
 * meanwhile was not late but unwanted: it goes when it would have without that, mostly at once.
 */
static void tcp_ack_window_reopens(struct tcp_conn *c)
{
	uint64_t now = c->s->now;

	tcp_rto_collapse(&c->rto);
	/* As long as a stall may last: who opens and closes it all the time has no more. */
	if (c->stalled && now < tcp_stall_deadline(c))
		c->progress_at = now;
	if (c->rtx_at <= now) /* it fires anyway, and knows how late it is */
		return;
	c->rec.rto_from = u64_max(c->rec.rto_from, now - u64_min(now, tcp_rto_get(&c->rto)));
	tcp_loss_sent(c);
}

void tcp_ack_arrives(struct tcp_conn *c, const struct tcp_segment *seg)
{
	struct tcp_ack_info n;
	bool shut = tcp_is_shut_in_flight(c);
	bool outstanding = tcp_flight(c) != 0;
	uint32_t una = c->snd_una;
	bool window_changed = tcp_ack_update_window(c, seg);
	/* RFC 5681 section 2, but for what is outstanding. */
	bool repeats = seg->ack == c->snd_una && !seg->len && !window_changed &&
		       tcp_ack_window(c, seg) == c->snd_wnd && !(seg->flags & (TCP_SYN | TCP_FIN));

	if (seg->ack == c->snd_una && !seg->n_sack && !outstanding && !c->persist) {
		if (repeats)
			tcp_tlp_answered_twice(c);
		return;
	}
	tcp_ack_info_begin(&n, seg, tcp_pipe(c));
	n.duplicate = outstanding && repeats;
	if (seq_gt(seg->ack, c->snd_una) || seg->n_sack || n.duplicate)
		tcp_ack_process(c, &n);
	c->wnd_moved |= window_changed;
	if (unlikely(shut) && seg->ack == una && !tcp_is_shut_in_flight(c))
		tcp_ack_window_reopens(c);
	/* Not for a window that is nearly closed: a peer that changes it all the time would restart
	 * the wait each time, and never count as stalled (stall.h). */
	if (c->persist && window_changed && tcp_may_send_new(c)) {
		tcp_rto_collapse(&c->rto);
		c->persist = false;
		c->rtx_at = TIMER_NEVER;
	}
	tcp_conn_mark_dirty(c);
}
