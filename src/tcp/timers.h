/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file timers.h
 * A connection's deadlines: retransmission or window probe, delayed ACK, and life (keep-alive,
 * TIME-WAIT, an orphan's FIN-WAIT-2). They are fields; one timer of the wheel runs for the
 * earliest. A deadline that moves away leaves the timer alone: it finds nothing due and goes on.
 */
#ifndef TCP_TIMERS_H
#define TCP_TIMERS_H

#include "tcp/conn.h"

/** How long an orphan waits for the peer's FIN: as most stacks. */
#define TCP_ORPHAN_FIN_WAIT_2 (60000 * TCP_MS)

/** A timer that is this far away may run early. */
#define TCP_TIMERS_COARSE (64 * TCP_MS)

void tcp_timers_init(struct tcp_conn *c);
void tcp_timers_stop(struct tcp_conn *c);

/** See that the wheel's timer runs no later than @p at. */
static inline void tcp_timers_arm(struct tcp_conn *c, uint64_t at)
{
	/* Mostly it finds that its deadline has moved: at a turn of the wheel's first level it is
	 * taken out and run in one, and with many connections each look at one is dear. */
	if (at != TIMER_NEVER && at - c->s->now > TCP_TIMERS_COARSE && at > c->s->now)
		at &= ~(uint64_t)(TIMER_SLOTS * TIMER_TICK_NS - 1);
	if (!timer_running(&c->timer) || at < c->timer.deadline)
		timer_start(c->s->cfg.wheel, &c->timer, at);
}

/**
 * Not later than the end of waiting for the peer, and not so late that an answer would be: instead
 * of the last retransmission or probe that would be, one leaves just in time.
 */
uint64_t tcp_timers_bound(const struct tcp_conn *c, uint64_t at);

/** The retransmission timer, bounded so. */
static inline void tcp_timers_set_rtx(struct tcp_conn *c, uint64_t at)
{
	/* Mostly it is far from any of that. */
	if (unlikely(c->persist || c->stalled ||
		     at > c->progress_at + c->s->cfg.user_timeout_ms * (TCP_MS / 4)))
		at = tcp_timers_bound(c, at);
	c->rtx_at = at;
	if (at != TIMER_NEVER)
		tcp_timers_arm(c, at);
}

static inline void tcp_timers_set_life(struct tcp_conn *c, uint64_t at)
{
	c->life_at = at;
	if (at != TIMER_NEVER)
		tcp_timers_arm(c, at);
}

/** The next keep-alive, counted from now, if it is wanted. */
void tcp_timers_keepalive(struct tcp_conn *c);

/**
 * The retransmission timeout. While the peer need not take anything, it is short enough that
 * several questions fit into the user time-out: one that is lost must not end the connection.
 */
uint64_t tcp_timers_interval(const struct tcp_conn *c);

/** Start to probe a window that has no room (RFC 9293 section 3.8.6.1). */
void tcp_timers_start_persist(struct tcp_conn *c);

#endif
