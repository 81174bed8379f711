/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the peer's TCP has acknowledged. The kernel knows and does not tell, so who wants to hear of
 * it has it looked at: soon after a send, and then after ever longer times.
 */
#include "sock/conn.h"
#include "sock/option.h"

/** A tick of the wheel. It doubles while it is below the other. */
#define ACKS_LOOK_FIRST TIMER_TICK_NS
#define ACKS_LOOK_LAST  UINT64_C(500000)

static void sock_acks_start(struct sock_conn *c, uint64_t now)
{
	timer_start(c->s->cfg.wheel, &c->acks_timer, now + c->acks_look);
}

uint64_t sock_acks_to(struct sock_conn *c)
{
	uint32_t n;

	/* The kernel counts its FIN, too: of that and no text it tells one byte too many. */
	if (c->state == SOCK_OPEN && sock_option_outq(c->source.fd, &n) &&
		c->taken - c->acked_to > n)
		c->acked_to = c->taken - n;
	return c->acked_to;
}

bool sock_acks_tell(struct sock_conn *c)
{
	uint64_t before = c->acked_to;

	if (!c->acks_watched || before == c->taken || sock_acks_to(c) == before)
		return false;
	if (c->llp.user_ops)
		c->llp.user_ops->acked(c->llp.user);
	return true;
}

static void sock_acks_on_timer(struct timer *t, uint64_t now)
{
	struct sock_conn *c = container_of(t, struct sock_conn, acks_timer);

	if (sock_acks_tell(c))
		c->acks_look = ACKS_LOOK_FIRST;
	else if (c->acks_look < ACKS_LOOK_LAST)
		c->acks_look *= 2;
	if (c->state == SOCK_OPEN && c->acked_to != c->taken && !timer_running(t))
		sock_acks_start(c, now);
}

void sock_acks_watch(struct sock_conn *c)
{
	c->acks_watched = true;
	timer_init(&c->acks_timer, sock_acks_on_timer);
}

void sock_acks_expect(struct sock_conn *c)
{
	if (!c->acks_watched || (timer_running(&c->acks_timer) && c->acks_look == ACKS_LOOK_FIRST))
		return;
	c->acks_look = ACKS_LOOK_FIRST;
	timer_stop(c->s->cfg.wheel, &c->acks_timer);
	sock_acks_start(c, c->s->now);
}
