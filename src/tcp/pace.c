/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/pace.h"

#include "base/container_of.h"
#include "tcp/conn.h"

/**
 * The lateness that is made up for in one burst. The thread that runs the engine may have slept, or
 * been kept from running; without this each such delay would cost throughput; with more of it the
 * burst would. Longer delays are made up for gradually, at twice the rate: otherwise a process that
 * shares a core stays below the rate forever, and a module that measures the rate takes it for the
 * path's.
 */
#define CATCH_UP TCP_MS
/**
 * Where a packet can be there and back sooner than this, on one host or one switch, nothing is
 * gained by waiting for fractions of it, and each wait costs a timer and perhaps a thread's sleep.
 */
#define SHORT_PATH (100 * (TCP_MS / 1000))

static void tcp_pace_due(struct exact_timer *t, uint64_t now)
{
	struct tcp_conn *c = container_of(t, struct tcp_conn, pace_timer);

	tcp_set_now(c->s, now);
	tcp_conn_mark_dirty(c);
}

void tcp_pace_init(struct tcp_conn *c)
{
	c->pace = (struct tcp_pace){.quantum = 2 * c->emss};
	c->pace_timer.fn = tcp_pace_due;
	tcp_pace_restart(c);
}

void tcp_pace_stop(struct tcp_conn *c)
{
	exact_timer_stop(&c->s->cfg.wheel->exact, &c->pace_timer);
}

void tcp_pace_restart(struct tcp_conn *c)
{
	c->pace.sent = -(int32_t)u32_min(c->cc.cwnd, tcp_cc_initial_window(c->emss));
}

bool tcp_pace_may_send(struct tcp_conn *c)
{
	if (c->s->now >= c->pace.at || tcp_flight(c) == 0)
		return true;
	c->pace.behind = true;
	if (!exact_timer_running(&c->pace_timer) || c->pace_timer.deadline != c->pace.at)
		exact_timer_start(&c->s->cfg.wheel->exact, &c->pace_timer, c->pace.at);
	return false;
}

/** Is the window all that holds this connection back? A module that lives by its rate is asked. */
static bool tcp_pace_is_unpaced(const struct tcp_conn *c)
{
	uint64_t rtt = tcp_min_rtt_get(&c->rec.min_rtt);

	return ((rtt && rtt < SHORT_PATH) || c->s->cfg.no_pacing) && !c->cc.ops->owns_cwnd;
}

/**
 * The longest that the next quantum waits. A rate that gives less than a quantum in a round trip is
 * not the path's: the window was a few bytes when it was taken, as proportional rate reduction may
 * leave it, or the round trip had an outage in it. What is known a moment later does not shorten a
 * wait that has begun.
 */
static uint64_t tcp_pace_most(const struct tcp_conn *c)
{
	return u64_min(c->rto.srtt, 1000 * TCP_MS);
}

/**
 * When may the next quantum follow one that leaves now and takes @p ns by the rate? What is owed
 * is never more than a round trip: what was not sent before that is no part of the window any more.
 */
static uint64_t tcp_pace_follow(struct tcp_conn *c, uint64_t ns)
{
	struct tcp_pace *p = &c->pace;
	uint64_t now = c->s->now, from = now - u64_min(now, CATCH_UP), next, credit;

	if (!p->behind) {
		p->owed = 0;
		return u64_max(p->at, now) + ns;
	}
	if (p->at < from)
		p->owed = (uint32_t)u64_min(p->owed + (from - p->at), tcp_pace_most(c));
	next = u64_max(p->at, from) + ns;
	if (next <= now)
		return next; /* the burst; it is paid in full */
	credit = u64_min(u64_min(ns / 2, next - now), p->owed);
	p->owed -= (uint32_t)credit;
	return next - credit;
}

/** A quantum is out: when may the next follow? */
static void tcp_pace_charge(struct tcp_conn *c, uint32_t in_flight)
{
	struct tcp_pace *p = &c->pace;
	uint64_t rate =
		tcp_pace_is_unpaced(c) ? 0 : tcp_cc_pacing_rate(&c->cc, in_flight, c->rto.srtt);

	if (rate) {
		p->at = u64_min(tcp_pace_follow(c, (uint64_t)p->sent * UINT64_C(1000000000) / rate),
			c->s->now + tcp_pace_most(c));
		p->quantum = tcp_pace_quantum(rate, c->emss);
	}
	p->sent = 0;
}

void tcp_pace_sent(struct tcp_conn *c, uint32_t len, uint32_t in_flight)
{
	c->pace.sent += (int32_t)len;
	if (c->pace.sent >= (int32_t)c->pace.quantum)
		tcp_pace_charge(c, in_flight);
}

void tcp_pace_idle(struct tcp_conn *c)
{
	if (!c->pace.behind) /* then the timer, which is not in the cache, does not run */
		return;
	c->pace.behind = false;
	tcp_pace_stop(c);
}
