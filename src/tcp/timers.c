/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/timers.h"

#include "base/container_of.h"
#include "tcp/control.h"
#include "tcp/input.h"
#include "tcp/loss.h"
#include "tcp/output.h"
#include "tcp/stall.h"

#include <errno.h>

/** RFC 9293 section 3.8.4 leaves both open; as most stacks. */
#define KEEPALIVE_INTERVAL (75000 * TCP_MS)
#define KEEPALIVE_PROBES   9
/** SYNs without an answer after which a dead next hop ends the attempt. */
#define SYNS_TO_DEAD_HOP 2

void tcp_timers_keepalive(struct tcp_conn *c)
{
	if (c->s->cfg.keepalive_ms && !c->closing_early) /* that has the timer */
		tcp_timers_set_life(c, c->s->now + c->s->cfg.keepalive_ms * TCP_MS);
}

void tcp_timers_start_persist(struct tcp_conn *c)
{
	c->persist = true;
	c->wnd_moved = false;
	/* Without a user, closing and opening the window is no sign of progress. */
	if (!c->orphan)
		c->progress_at = c->s->now;
	tcp_timers_set_rtx(c, c->s->now + tcp_rto_get(&c->rto));
}

static void tcp_timers_give_up(struct tcp_conn *c)
{
	int err = c->soft_error ? c->soft_error : -ETIMEDOUT;

	if (tcp_synchronized(c))
		tcp_send_rst(c);
	tcp_conn_close(c, err);
}

static bool tcp_timers_user_timeout(const struct tcp_conn *c, uint64_t since)
{
	return c->s->now - since >= c->s->cfg.user_timeout_ms * TCP_MS;
}

/**
 * Since when a peer with a closed window has given no reason to wait for it. While there is a user,
 * any answer is a reason (RFC 1122 section 4.2.2.17), as the user may end the connection. An orphan
 * must end by itself (RFC 6429 section 3): otherwise a peer could keep our packets forever.
 */
static uint64_t tcp_timers_waiting_since(const struct tcp_conn *c)
{
	return c->orphan ? c->progress_at : u64_max(c->heard_at, c->progress_at);
}

/** The window is closed. @return true: that has lasted for too long. @p c may end in here. */
static bool tcp_timers_stall_timeout(struct tcp_conn *c)
{
	tcp_stall_begin(c);
	if (c->s->now < tcp_stall_deadline(c))
		return false;
	c->s->stats.zero_window_timeouts++;
	tcp_stall_log(c, "which zero_window_timeout does not allow");
	return true;
}

static void tcp_timers_syn_timeout(struct tcp_conn *c)
{
	/* Our own knowledge, not a stranger's word, so it may end the attempt early. */
	bool dead_hop = c->hop_dead && c->state == TCP_SYN_SENT;

	if (c->syn_sent_n > c->s->cfg.syn_retries || tcp_timers_user_timeout(c, c->progress_at) ||
		(dead_hop && c->syn_sent_n > SYNS_TO_DEAD_HOP)) {
		tcp_timers_give_up(c);
		return;
	}
	c->timeouts++;
	c->s->stats.timeouts++;
	tcp_rto_expired(&c->rto);
	tcp_conn_doubt_path(c);
	tcp_send_syn(c);
	if (c->state != TCP_CLOSED)
		tcp_timers_set_rtx(c, c->s->now + tcp_rto_get(&c->rto));
}

/**
 * RFC 9293 section 3.8.6.1: probes go on as long as the peer answers them (RFC 1122, 4.2.2.17), if
 * the configuration does not end that.
 */
static void tcp_timers_persist_timeout(struct tcp_conn *c)
{
	if (tcp_timers_user_timeout(c, tcp_timers_waiting_since(c)) ||
		tcp_timers_stall_timeout(c)) {
		tcp_timers_give_up(c);
		return;
	}
	if (c->state == TCP_CLOSED)
		return;
	if (c->rto.backoff && c->s->now - c->heard_at > tcp_rto_get(&c->rto))
		tcp_conn_doubt_path(c);
	tcp_rto_expired(&c->rto);
	tcp_send_window_probe(c);
	if (c->persist && c->state != TCP_CLOSED)
		tcp_timers_set_rtx(
			c, u64_min(c->s->now + tcp_rto_get(&c->rto), tcp_stall_deadline(c)));
}

/** The retransmission timer must not run past the deadline of a stall. */
static void tcp_timers_stall_bound_timer(struct tcp_conn *c)
{
	if (!c->stalled)
		return;
	c->stall->rtx_due = 0;
	if (c->snd_wnd || c->rtx_at <= tcp_stall_deadline(c))
		return;
	c->stall->rtx_due = c->rtx_at;
	tcp_timers_set_rtx(c, tcp_stall_deadline(c));
}

/** It runs for such a deadline, but the window is open now. @return true: it goes on. */
static bool tcp_timers_stall_gives_timer_back(struct tcp_conn *c)
{
	if (!c->stalled || !c->snd_wnd || c->s->now >= c->stall->rtx_due)
		return false;
	tcp_timers_set_rtx(c, c->stall->rtx_due);
	c->stall->rtx_due = 0;
	return true;
}

static void tcp_timers_retransmit_timeout(struct tcp_conn *c)
{
	if (!tcp_synchronized(c)) {
		tcp_timers_syn_timeout(c);
		return;
	}
	if (c->persist) {
		tcp_timers_persist_timeout(c);
		return;
	}
	if (tcp_flight(c) == 0 || tcp_timers_stall_gives_timer_back(c))
		return;
	/* A peer that answers with a closed window is alive. */
	if (tcp_timers_user_timeout(c, c->snd_wnd ? c->progress_at : tcp_timers_waiting_since(c)) ||
		(!c->snd_wnd && tcp_timers_stall_timeout(c))) {
		tcp_timers_give_up(c);
		return;
	}
	if (c->state == TCP_CLOSED)
		return;
	tcp_loss_timer(c);
	if (c->state != TCP_CLOSED)
		tcp_timers_stall_bound_timer(c);
}

/** @p due: the deadline that has passed, an interval after the last probe if there was one. */
static void tcp_timers_keepalive_timeout(struct tcp_conn *c, uint64_t due)
{
	uint64_t idle = c->s->cfg.keepalive_ms * TCP_MS;
	uint64_t interval = u64_min(idle, KEEPALIVE_INTERVAL);

	/* MUST-26 of section 3.8.4: what is outstanding has a timer of its own. A peer that lacks
	 * what was before a keep-alive need not answer it. */
	if (tcp_flight(c) || c->persist) {
		c->keepalive_probes = 0;
		tcp_timers_set_life(c, c->s->now + idle);
		return;
	}
	/* Whatever came since is an answer, also when a round trip is shorter than we are late. */
	if (c->heard_at >= due - interval)
		c->keepalive_probes = 0;
	if (c->s->now - c->heard_at < idle) {
		tcp_timers_set_life(c, c->heard_at + idle);
		return;
	}
	/* The user timeout bounds this as well (RFC 5482 section 3), counted from the first probe.
	 */
	if (c->keepalive_probes >= KEEPALIVE_PROBES ||
		(c->keepalive_probes &&
			c->s->now - c->heard_at >= idle + c->s->cfg.user_timeout_ms * TCP_MS)) {
		tcp_timers_give_up(c);
		return;
	}
	if (c->keepalive_probes)
		tcp_conn_doubt_path(c);
	c->keepalive_probes++;
	tcp_send_keepalive(c);
	tcp_timers_set_life(c, c->s->now + interval);
}

static void tcp_timers_life_timeout(struct tcp_conn *c, uint64_t due)
{
	if (c->closing_early) {
		if (tcp_synchronized(c))
			tcp_send_rst(c);
		tcp_conn_close(c, -ECONNABORTED);
	} else if (c->state == TCP_TIME_WAIT || (c->state == TCP_FIN_WAIT_2 && c->orphan)) {
		tcp_conn_close(c, 0);
	} else if (tcp_synchronized(c) && c->s->cfg.keepalive_ms) {
		tcp_timers_keepalive_timeout(c, due);
	}
}

/** See that the timer runs for what comes next. */
static void tcp_timers_arm_next(struct tcp_conn *c)
{
	uint64_t next = u64_min(c->rtx_at, u64_min(c->delack_at, c->life_at));

	if (next != TIMER_NEVER)
		tcp_timers_arm(c, next);
}

static bool tcp_timers_is_due(const struct tcp_conn *c, uint64_t now)
{
	return now >= c->rtx_at || now >= c->delack_at || now >= c->life_at;
}

/**
 * A deadline of some seconds ago: we stood still since. The peer may have stood still with us, or
 * has answered what we had no time to send, so that is not its silence (RFC 9293 section 3.8.3).
 */
static void tcp_timers_stood_still(struct tcp_conn *c, uint64_t deadline)
{
	uint64_t late = timer_late(deadline, c->s->now);

	if (!late)
		return;
	/* What came since was there already when we ran again, and is later than the deadline. */
	if (c->progress_at <= deadline)
		c->progress_at += late;
	if (c->heard_at <= deadline)
		c->heard_at += late;
}

static void tcp_timers_on_timer(struct timer *t, uint64_t now)
{
	struct tcp_conn *c = container_of(t, struct tcp_conn, timer);

	tcp_set_now(c->s, now);
	now = c->s->now;
	if (likely(!tcp_timers_is_due(
		    c, now))) { /* the usual case, and the rest is not in the cache */
		tcp_timers_arm_next(c);
		return;
	}
	tcp_ack_settle(c->s);
	if (now >= c->delack_at) {
		c->delack_at = TIMER_NEVER;
		tcp_send_ack(c);
	}
	tcp_timers_stood_still(c, u64_min(c->rtx_at, c->life_at));
	if (now >= c->rtx_at) {
		c->rtx_at = TIMER_NEVER;
		tcp_timers_retransmit_timeout(c);
	}
	if (c->state != TCP_CLOSED && now >= c->life_at) {
		uint64_t due = c->life_at;

		c->life_at = TIMER_NEVER;
		tcp_timers_life_timeout(c, due);
	}
	if (c->state != TCP_CLOSED)
		tcp_timers_arm_next(c);
}

void tcp_timers_init(struct tcp_conn *c)
{
	timer_init(&c->timer, tcp_timers_on_timer);
}

void tcp_timers_stop(struct tcp_conn *c)
{
	timer_stop(c->s->cfg.wheel, &c->timer);
	tcp_pace_stop(c);
	c->rtx_at = c->delack_at = c->life_at = TIMER_NEVER;
}
