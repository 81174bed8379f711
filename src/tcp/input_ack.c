/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/input.h"
#include "tcp/loss.h"
#include "tcp/output.h"
#include "tcp/pmtu.h"
#include "tcp/timers.h"

/** How often the neighbour's entry is told that it works. */
#define CONFIRM_INTERVAL (1000 * TCP_MS)

/** RFC 9293 section 3.10.7.4: only from segments newer than the one that set it last. */
static bool update_window(struct tcp_conn *c, const struct tcp_segment *seg)
{
	uint32_t wnd = (uint32_t)seg->wnd << c->snd_wscale;
	bool changed = wnd != c->snd_wnd;

	if (!seq_lt(c->snd_wl1, seg->seq) &&
		!(c->snd_wl1 == seg->seq && seq_leq(c->snd_wl2, seg->ack)))
		return false;
	c->snd_wnd = wnd;
	c->snd_wl1 = seg->seq;
	c->snd_wl2 = seg->ack;
	if (wnd > c->max_snd_wnd)
		c->max_snd_wnd = wnd;
	return changed;
}

static void measure(struct tcp_conn *c, const struct tcp_segment *seg, uint64_t sent_at)
{
	if (sent_at) {
		tcp_rto_sample(&c->rto, c->s->now - sent_at);
	} else if (c->ts_on && seg->tsecr) {
		/* RTTM (RFC 7323 section 4.1): also where Karn's rule forbids the other. */
		int32_t ms = (int32_t)(c->s->now_ms + c->ts_offset - seg->tsecr);

		if (ms >= 0)
			tcp_rto_sample(&c->rto, ms ? (uint64_t)ms * TCP_MS : TCP_MS);
	}
}

static void confirm_path(struct tcp_conn *c)
{
	if (c->confirmed_at && c->s->now - c->confirmed_at < CONFIRM_INTERVAL)
		return;
	c->confirmed_at = c->s->now;
	ip_path_confirm(c->s->cfg.ip, &c->path, c->s->now);
}

/** New bytes are acknowledged: SND.UNA < SEG.ACK =< SND.MAX. */
static void advance(struct tcp_conn *c, const struct tcp_segment *seg, struct tcp_delivery *d)
{
	uint32_t acked = seg->ack - c->snd_una, held = c->sendq.count;

	tcp_sendq_ack(&c->sendq, seg->ack, d);
	c->s->tx_held -= held - c->sendq.count;
	c->snd_una = seg->ack;
	if (seq_gt(seg->ack, c->snd_nxt))
		c->snd_nxt = seg->ack; /* a window probe was taken */
	c->bytes_acked += acked;
	measure(c, seg, d->rtt_sent_at);
	tcp_rto_progress(&c->rto);
	c->progress_at = c->s->now;
	c->soft_error = 0;
	confirm_path(c);
	/* RFC 6298 sections 5.2 and 5.3. */
	c->persist = false;
	tcp_timers_set_rtx(c, tcp_flight(c) ? c->s->now + tcp_rto_get(&c->rto) : TIMER_NEVER);
}

/** How things stood before an ACK. */
struct before {
	uint32_t in_flight, total_lost;
	bool recovery;
};

static void tell_congestion_control(
	struct tcp_conn *c, const struct tcp_delivery *d, const struct before *b)
{
	struct tcp_rate_sample rate;
	const struct tcp_cc_ack a = {
		.now = c->s->now,
		.srtt = c->rto.srtt,
		.rtt = d->rtt_sent_at ? c->s->now - d->rtt_sent_at : 0,
		.acked = d->acked,
		.delivered = d->delivered,
		.lost = c->sendq.total_lost - b->total_lost,
		.prior_in_flight = b->in_flight,
		.in_flight = tcp_pipe(c),
		.snd_una = c->snd_una,
		.snd_nxt = c->snd_nxt,
		.cwnd_limited = seq_leq(c->snd_una - d->acked, c->cwnd_limited),
		.in_recovery = b->recovery || c->recovery,
		.rate = &rate,
	};

	tcp_rate_take(c, d, &rate);
	tcp_cc_on_ack(&c->cc, &a);
	if (c->cc.held_back)
		tcp_rate_app_limited(c, a.in_flight);
	if (!a.cwnd_limited) /* keep it near, so that it cannot come round */
		c->cwnd_limited = c->snd_una - 1;
}

void tcp_ack_arrives(struct tcp_conn *c, const struct tcp_segment *seg)
{
	struct tcp_delivery d = {.credible_until = UINT64_MAX, .fack = c->high_sacked};
	const struct before b = {tcp_pipe(c), c->sendq.total_lost, c->recovery};
	bool dup, outstanding = tcp_flight(c) != 0;
	bool window_changed = update_window(c, seg);

	if (seg->ack == c->snd_una && !seg->n_sack && !outstanding && !c->persist)
		return;
	if (seq_gt(seg->ack, c->snd_una))
		advance(c, seg, &d);
	if (seg->n_sack && seg->ack == c->snd_una)
		tcp_loss_sack(c, seg, &d);
	/* RFC 5681 section 2; with SACK it must also report something (RFC 6675 section 2). */
	dup = !d.acked && outstanding && seg->ack == c->snd_una && !seg->len && !window_changed &&
	      !(seg->flags & (TCP_SYN | TCP_FIN)) && (!c->sack_on || d.sacked);
	if (d.any)
		tcp_pmtu_delivered(c, d.newest.len);
	if (d.sacked || dup || c->recovery || c->rto_recovery || c->dupacks)
		tcp_loss_on_ack(c, &d, dup);
	if (d.delivered || c->sendq.total_lost != b.total_lost)
		tell_congestion_control(c, &d, &b);
	if (c->persist && window_changed) {
		c->rto.backoff = 0;
		c->persist = false;
		c->rtx_at = TIMER_NEVER;
	}
	tcp_conn_touch(c);
}
