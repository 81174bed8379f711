/* SPDX-License-Identifier: BSD-2-Clause */
/* From the user to the kernel: all records that are queued in one system call. */
#include "sock/conn.h"
#include "sock/held.h"
#include "sock/option.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

/*
 * A send costs as much as many small messages do. So a program that posts one after the other,
 * without hearing from its peer, has them gathered for a moment. What follows a pause goes at once,
 * and so do the first few behind it.
 */
#define HOLD_NS    UINT64_C(15000) /* from a round that sends to the next; a send takes 5 us */
#define PAUSE_NS   UINT64_C(50000)
#define HOLD_FREE  4
#define HOLD_BYTES (16u * 1024) /* with so much it is worth it */

static uint64_t sock_send_since(const struct sock_conn *c)
{
	return c->s->now - c->sent_at;
}

static bool sock_send_may_wait(struct sock_conn *c)
{
	uint64_t since = sock_send_since(c);

	if (since >= PAUSE_NS || c->heard)
		c->series = 0;
	return c->series >= HOLD_FREE && since < HOLD_NS && sock_queued(c) < HOLD_BYTES &&
	       !c->refused && !c->fin_wanted;
}

void sock_send_held(struct sock_stack *s)
{
	struct sock_conn *c;

	while ((c = TAILQ_FIRST(&s->held)) != NULL && sock_send_since(c) >= HOLD_NS) {
		sock_conn_unhold(c);
		sock_conn_mark_dirty(c);
	}
	if (c && !timer_running(&s->held_timer))
		timer_start(s->cfg.wheel, &s->held_timer, c->sent_at + HOLD_NS);
}

/** The kernel takes no more. What it has for us may tell why. */
static void sock_send_broken(struct sock_conn *c, int error)
{
	if (c->eof) {
		sock_conn_end(c, sock_conn_error(-error));
		return;
	}
	c->broken = c->hangup = c->more = true;
	sock_tx_give(c);
	sock_conn_mark_ready(c);
}

/** The kernel has no room for the rest. */
static void sock_send_wait(struct sock_conn *c)
{
	c->blocked = true;
	sock_tx_keep(c);
}

/** @return false: the kernel has no room, or an error. */
static bool sock_send_once(struct sock_conn *c)
{
	struct sock_buffer *b = c->tx;
	/* What was refused room follows at once: a part of a segment may wait for it. */
	int flags = MSG_DONTWAIT | MSG_NOSIGNAL | (c->refused ? MSG_MORE : 0);
	ssize_t n = send(c->source.fd, b->data + b->head, b->len, flags);

	c->s->stats.sends++;
	if (n < 0) {
		if (errno == EAGAIN || errno == EINTR || errno == ENOBUFS || errno == ENOMEM)
			sock_send_wait(c);
		else
			sock_send_broken(c, errno);
		return false;
	}
	c->s->stats.bytes_out += (uint64_t)n;
	c->corked = c->refused;
	c->heard = false;
	c->sent_at = c->s->now;
	c->series++;
	c->taken += (uint64_t)n;
	sock_conn_expect_ack(c);
	sock_acks_expect(c);
	b->head += (uint32_t)n;
	b->len -= (uint32_t)n;
	if (b->len) {
		sock_send_wait(c);
		return false;
	}
	sock_tx_give(c);
	return true;
}

/** Tell a user that was refused room. */
static void sock_send_tell_writable(struct sock_conn *c)
{
	if (!c->refused)
		return;
	c->refused = false;
	if (c->llp.user_ops && c->llp.user_ops->writable)
		c->llp.user_ops->writable(c->llp.user);
	/* It has nothing any more: what waits in the kernel for more goes. */
	if (c->state == SOCK_OPEN && c->corked && !sock_queued(c)) {
		c->corked = false;
		(void)sock_option(c->source.fd, IPPROTO_TCP, TCP_NODELAY, 1);
	}
}

static void sock_send_fin(struct sock_conn *c)
{
	c->fin_sent = true;
	sock_option_reset_on_close(c->source.fd, false);
	(void)shutdown(c->source.fd, SHUT_WR);
	sock_conn_expect_ack(c);
	sock_conn_end_if_closed(c);
}

void sock_send(struct sock_conn *c)
{
	if (c->state != SOCK_OPEN || c->blocked || c->broken)
		return;
	if (sock_queued(c) && c->pushed && sock_send_may_wait(c)) {
		sock_conn_hold(c);
		return;
	}
	sock_conn_unhold(c);
	if (sock_queued(c) && (c->pushed || c->fin_wanted) && !sock_send_once(c))
		return;
	if (!sock_queued(c)) {
		c->pushed = false;
		sock_send_tell_writable(c);
	}
	if (c->state == SOCK_OPEN && c->fin_wanted && !c->fin_sent && !sock_queued(c))
		sock_send_fin(c);
}
