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
/** How often a peer is asked at least before the user time-out ends it: one of them may be lost. */
#define QUESTIONS 3
/** SYNs without an answer after which a dead next hop ends the attempt. */
#define SYNS_TO_DEAD_HOP 2

void tcp_timers_keepalive(struct tcp_conn *c)
{
	if (c->s->cfg.keepalive_ms && !c->closing_early) /* that has the timer */
		tcp_timers_set_life(c, c->s->now + c->s->cfg.keepalive_ms * TCP_MS);
}

/* ---- the user time-out (RFC 9293 section 3.8.3) --------------------------------------------- */

static uint64_t tcp_timers_user_timeout(const struct tcp_conn *c)
{
	return c->s->cfg.user_timeout_ms * TCP_MS;
}

/** The longest wait between two questions of a peer that need not take anything. */
static uint64_t tcp_timers_patience(const struct tcp_conn *c)
{
	return u64_max(tcp_timers_user_timeout(c) / QUESTIONS, c->rto.base);
}

/** The peer has been heard since progress_at, so what it has not answered was not asked before. */
static bool tcp_timers_is_answered(const struct tcp_conn *c)
{
	return c->heard_at >= c->progress_at;
}

/** No answer is missing of a peer with a closed window: it gave one, or was not asked yet. */
static bool tcp_timers_owes_nothing(const struct tcp_conn *c)
{
	return tcp_timers_is_answered(c) || (c->persist && !c->window_asked);
}

/** A peer with a closed window is asked: an answer is missing from now on, or from before. */
static void tcp_timers_ask(struct tcp_conn *c)
{
	/* Without a user, an answer is no sign of progress. */
	if (!c->orphan && tcp_timers_owes_nothing(c))
		c->progress_at = c->s->now;
	c->window_asked = true;
}

/**
 * When waiting for the peer ends. Text must be acknowledged; but of one with a closed window any
 * answer is a reason to wait (RFC 1122 section 4.2.2.17), while there is a user, who may end the
 * connection. An orphan must end by itself (RFC 6429 section 3): otherwise a peer could keep our
 * packets forever.
 */
static uint64_t tcp_timers_user_deadline(const struct tcp_conn *c)
{
	if (!c->orphan && tcp_is_shut(c) && tcp_timers_owes_nothing(c))
		return TIMER_NEVER;
	return c->progress_at + tcp_timers_user_timeout(c);
}

uint64_t tcp_timers_bound(const struct tcp_conn *c, uint64_t at)
{
	uint64_t end = tcp_timers_user_deadline(c), answer = tcp_rto_answer(&c->rto);
	uint64_t now = c->s->now;

	/* What leaves when an answer would be too late leaves before that; once. */
	if (end != TIMER_NEVER && at + answer > end)
		at = now + 2 * answer <= end ? end - answer : u64_min(at, u64_max(end, now));
	return tcp_is_shut(c) ? u64_min(at, u64_max(tcp_stall_deadline(c), now)) : at;
}

uint64_t tcp_timers_interval(const struct tcp_conn *c)
{
	uint64_t rto = tcp_rto_get(&c->rto);

	return c->rto.backoff && tcp_is_shut(c) ? u64_min(rto, tcp_timers_patience(c)) : rto;
}

/* ---- retransmissions and probes of windows -------------------------------------------------- */

void tcp_timers_start_persist(struct tcp_conn *c)
{
	c->persist = true;
	c->window_asked = false;
	c->wnd_moved = false;
	/* Without a user, closing and opening the window is no sign of progress. */
	if (!c->orphan)
		c->progress_at = c->s->now;
	tcp_timers_set_rtx(c, c->s->now + tcp_timers_interval(c));
}

static void tcp_timers_give_up(struct tcp_conn *c)
{
	int err = c->soft_error ? c->soft_error : -ETIMEDOUT;

	if (tcp_synchronized(c))
		tcp_send_rst(c);
	tcp_conn_close(c, err);
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

	if (c->syn_sent_n > c->s->cfg.syn_retries || c->s->now >= tcp_timers_user_deadline(c) ||
		(dead_hop && c->syn_sent_n > SYNS_TO_DEAD_HOP)) {
		tcp_timers_give_up(c);
		return;
	}
	c->timeouts++;
	c->s->stats.timeouts++;
	tcp_rto_expired(&c->rto);
	tcp_conn_doubt_path(c);
	tcp_send_syn(c);
	tcp_timers_set_rtx(c, c->s->now + tcp_rto_get(&c->rto));
}

/**
 * RFC 9293 section 3.8.6.1: probes go on as long as the peer answers them (RFC 1122, 4.2.2.17), if
 * the configuration does not end that.
 */
static void tcp_timers_persist_timeout(struct tcp_conn *c)
{
	if (c->rto.backoff && c->s->now - c->heard_at > tcp_timers_interval(c))
		tcp_conn_doubt_path(c);
	tcp_rto_expired(&c->rto);
	tcp_send_window_probe(c);
	if (c->persist)
		tcp_timers_set_rtx(c, c->s->now + tcp_timers_interval(c));
}

static void tcp_timers_retransmit_timeout(struct tcp_conn *c)
{
	bool shut;

	if (!tcp_synchronized(c)) {
		tcp_timers_syn_timeout(c);
		return;
	}
	if (!c->persist && tcp_flight(c) == 0)
		return;
	shut = tcp_is_shut(c);
	if (c->s->now >= tcp_timers_user_deadline(c) || (shut && tcp_timers_stall_timeout(c))) {
		tcp_timers_give_up(c);
		return;
	}
	if (c->state == TCP_CLOSED)
		return;
	if (shut)
		tcp_timers_ask(c);
	if (c->persist)
		tcp_timers_persist_timeout(c);
	else
		tcp_loss_timer(c);
}

/* ---- the life of a connection --------------------------------------------------------------- */

static void tcp_timers_keepalive_timeout(struct tcp_conn *c)
{
	uint64_t idle = c->s->cfg.keepalive_ms * TCP_MS;
	uint64_t interval = u64_min(idle, u64_min(KEEPALIVE_INTERVAL, tcp_timers_patience(c)));
	uint64_t end;

	/* MUST-26 of section 3.8.4: what is outstanding has a timer of its own. A peer that lacks
	 * what was before a keep-alive need not answer it. */
	if (tcp_flight(c) || c->persist) {
		c->keepalive_probes = 0;
		tcp_timers_set_life(c, c->s->now + idle);
		return;
	}
	/* Whatever came since is an answer, also when a round trip is shorter than we are late. */
	if (tcp_timers_is_answered(c))
		c->keepalive_probes = 0;
	if (c->s->now - c->heard_at < idle) {
		tcp_timers_set_life(c, c->heard_at + idle);
		return;
	}
	if (c->keepalive_probes)
		tcp_conn_doubt_path(c);
	else
		c->progress_at = c->s->now;
	/* The user timeout bounds this as well (RFC 5482 section 3), counted from the first probe.
	 */
	end = c->progress_at + tcp_timers_user_timeout(c);
	if (c->keepalive_probes >= KEEPALIVE_PROBES || (c->keepalive_probes && c->s->now >= end)) {
		tcp_timers_give_up(c);
		return;
	}
	c->keepalive_probes++;
	tcp_send_keepalive(c);
	tcp_timers_set_life(c, u64_min(c->s->now + interval, end));
}

static void tcp_timers_life_timeout(struct tcp_conn *c)
{
	if (c->closing_early) {
		if (tcp_synchronized(c))
			tcp_send_rst(c);
		tcp_conn_close(c, -ECONNABORTED);
	} else if (c->state == TCP_TIME_WAIT || (c->state == TCP_FIN_WAIT_2 && c->orphan)) {
		tcp_conn_close(c, 0);
	} else if (tcp_synchronized(c) && c->s->cfg.keepalive_ms) {
		tcp_timers_keepalive_timeout(c);
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

/** What was due at @p deadline is a question, for the answer of which no time would be left. */
static bool tcp_timers_is_last_question(const struct tcp_conn *c, uint64_t deadline)
{
	uint64_t end = tcp_timers_user_deadline(c), now = c->s->now;

	return deadline < end && deadline < now && now + tcp_rto_answer(&c->rto) > end;
}

/**
 * For how long nothing was done of what was due at @p deadline, if that counts: a deadline of some
 * seconds ago, we stood still since. The peer may have stood still with us, or has answered what we
 * had no time to send, so that is not its silence (RFC 9293 section 3.8.3). Nor is it that it was
 * not asked in time.
 */
static uint64_t tcp_timers_late(const struct tcp_conn *c, uint64_t deadline)
{
	return tcp_timers_is_last_question(c, deadline) ? c->s->now - deadline
							: timer_late(deadline, c->s->now);
}

/** All waiting for the peer is so much longer. */
static void tcp_timers_make_up(struct tcp_conn *c, uint64_t deadline, uint64_t late)
{
	/* What came since was there already when we ran again, and is later than the deadline. */
	if (c->progress_at <= deadline)
		c->progress_at += late;
	if (c->heard_at <= deadline)
		c->heard_at += late;
	if (c->stalled && c->stall->since <= deadline)
		c->stall->since += late;
}

static void tcp_timers_on_timer(struct timer *t, uint64_t now)
{
	struct tcp_conn *c = container_of(t, struct tcp_conn, timer);
	uint64_t deadline;

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
	deadline = u64_min(c->rtx_at, c->life_at);
	tcp_timers_make_up(c, deadline, tcp_timers_late(c, deadline));
	if (now >= c->rtx_at) {
		c->rtx_at = TIMER_NEVER;
		tcp_timers_retransmit_timeout(c);
	}
	if (c->state != TCP_CLOSED && now >= c->life_at) {
		c->life_at = TIMER_NEVER;
		tcp_timers_life_timeout(c);
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
