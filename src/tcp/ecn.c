/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/ecn.h"

#include "tcp/loss.h"

/**
 * Windows in a row, all with the least cwnd there is, in which the peer reports a mark: a middlebox
 * that marks or echoes everything looks like this. Then we stop marking text as ECN-capable. If the
 * congestion is real, it shows as loss.
 */
#define WINDOWS_OF_DISTRUST 16
/** Segments of a cwnd that cannot get smaller; bbr's least is 4. */
#define CWND_LEAST 4

bool tcp_ecn_offered(
	const struct tcp_stack_config *cfg, const struct ip_rx *rx, const struct tcp_segment *syn)
{
	/* Section 6.1.1: its IP header has no codepoint; a path that writes one cannot tell us
	 * anything by it. */
	return cfg->ecn != TCP_ECN_OFF && tcp_ecn_asks(syn) && (rx->tos & TCP_ECN_MASK) == 0;
}

uint8_t tcp_ecn_syn_flags(struct tcp_conn *c)
{
	if (c->state == TCP_SYN_RECEIVED)
		return c->ecn.on ? TCP_ECE : 0;
	/* Section 6.1.1.1: without, when the first one got no answer. */
	c->ecn.asked = c->s->cfg.ecn == TCP_ECN_ON && c->syn_sent_n == 0;
	return c->ecn.asked ? TCP_ECE | TCP_CWR : 0;
}

void tcp_ecn_take_syn_ack(struct tcp_conn *c, const struct tcp_segment *seg)
{
	/* Section 6.1.1: ECE alone; both means that the peer mirrors reserved bits. */
	c->ecn.on = c->ecn.asked && (seg->flags & (TCP_ECE | TCP_CWR)) == TCP_ECE;
}

void tcp_ecn_marked(struct tcp_conn *c, const struct ip_rx *rx, const struct tcp_segment *seg)
{
	/* Section 6.1.3: ECE on every ACK until CWR comes; the same segment may start it anew. */
	if (seg->flags & TCP_CWR)
		c->ecn.echo = false;
	if ((rx->tos & TCP_ECN_MASK) != TCP_ECN_CE)
		return;
	c->ce_received++;
	if (c->ecn.echo)
		return;
	c->ecn.echo = true;
	c->ack_now = true; /* the sooner the peer knows, the shorter the queue */
	tcp_conn_mark_dirty(c);
}

/** @return true: the peer's ECE cannot be meant. */
static bool tcp_ecn_distrust(struct tcp_conn *c)
{
	if (c->cc.cwnd > CWND_LEAST * c->cc.smss)
		c->ecn.windows = 0;
	else if (++c->ecn.windows >= WINDOWS_OF_DISTRUST)
		c->ecn.distrusted = true;
	return c->ecn.distrusted;
}

void tcp_ecn_echoed(struct tcp_conn *c, const struct tcp_segment *seg)
{
	bool ece = (seg->flags & TCP_ECE) && tcp_ecn_capable(c);

	if (seq_lt(seg->ack, c->snd_una)) /* overtaken: what it tells has been acted upon */
		return;
	c->ece_received += ece;
	if (c->ecn.waiting) {
		/* Section 6.1.2: once per window; the peer cannot know of our CWR before it has
		 * what was sent after it. */
		if (seq_leq(seg->ack, c->ecn.recover))
			return;
		c->ecn.waiting = false;
		if (!ece)
			c->ecn.windows = 0;
	}
	if (!ece || tcp_ecn_distrust(c))
		return;
	c->ecn.recover = c->snd_nxt;
	c->ecn.waiting = true;
	c->cwr_pending = true;
	/* Section 6.1.2: a loss in the same window has reduced it already. Even if that was none.
	 */
	if (tcp_ca_recovering(c))
		tcp_cc_confirm(&c->cc);
	else
		tcp_loss_ecn(c);
}
