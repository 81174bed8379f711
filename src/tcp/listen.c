/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/listen.h"

#include "tcp/conn.h"
#include "tcp/output.h"
#include "tcp/timers.h"

#include <errno.h>
#include <stdlib.h>

/** RFC 1122 section 4.2.2.13's increment between incarnations, as 4.4BSD. */
#define ISS_STEP 128000

int tcp_listen(struct tcp_stack *s, const struct ip_endpoint *local, unsigned backlog,
	llp_accept_fn *accept, void *user, struct tcp_listener **out)
{
	struct tcp_listener *l;

	if (!ip_addr_is_any(&local->addr) && !ip_addr_is_local(s->cfg.ip, &local->addr))
		return -EADDRNOTAVAIL;
	for (l = s->listeners; l; l = l->next)
		if (l->local.port == local->port && ip_addr_equal(&l->local.addr, &local->addr))
			return -EADDRINUSE;
	l = malloc(sizeof *l);
	if (!l)
		return -ENOMEM;
	*l = (struct tcp_listener){.next = s->listeners,
		.s = s,
		.local = *local,
		.backlog = backlog ? backlog : 1,
		.accept = accept,
		.user = user};
	s->listeners = l;
	*out = l;
	return 0;
}

void tcp_unlisten(struct tcp_listener *l)
{
	struct tcp_stack *s = l->s;
	struct tcp_listener **p = &s->listeners;

	for (uint32_t b = 0; l->handshakes && b <= s->table.mask; b++) {
		struct tcp_conn *next;

		for (struct tcp_conn *c = s->table.bucket[b]; c; c = next) {
			next = c->hash_next;
			if (c->listener == l) {
				tcp_send_rst(c);
				tcp_conn_close(c, -ECONNABORTED);
			}
		}
	}
	while (*p != l)
		p = &(*p)->next;
	*p = l->next;
	free(l);
}

/** 3: the exact address; 2: 0.0.0.0 for IPv4; 1: [::] for both; 0: not for it. */
static unsigned fits(const struct tcp_listener *l, const struct ip_endpoint *local)
{
	if (ip_addr_equal(&l->local.addr, &local->addr))
		return l->local.port == local->port ? 3 : 0;
	if (!ip_addr_is_any(&l->local.addr) || !tcp_endpoint_overlaps(&l->local, local))
		return 0;
	return ip_addr_is_v4(&l->local.addr) ? 2 : 1;
}

struct tcp_listener *tcp_listener_find(struct tcp_stack *s, const struct ip_endpoint *local)
{
	struct tcp_listener *best = NULL;
	unsigned best_fit = 0;

	for (struct tcp_listener *l = s->listeners; l; l = l->next) {
		unsigned f = fits(l, local);

		if (f > best_fit) {
			best = l;
			best_fit = f;
		}
	}
	return best;
}

static void answer_syn(struct tcp_listener *l, struct tcp_conn *c, const struct tcp_segment *seg,
	const uint32_t *iss_above)
{
	if (iss_above && seq_leq(c->iss, *iss_above)) {
		c->iss = *iss_above + ISS_STEP;
		c->snd_una = c->iss;
		c->snd_nxt = c->snd_max = c->push_seq = c->iss + 1;
	}
	c->passive = true;
	c->listener = l;
	l->handshakes++;
	tcp_conn_take_syn(c, seg);
	tcp_send_syn(c);
	tcp_timers_set_rtx(c, c->s->now + tcp_rto_get(&c->rto));
}

void tcp_listen_input(struct tcp_listener *l, const struct ip_rx *rx, const struct tcp_segment *seg,
	const uint32_t *iss_above)
{
	const struct tcp_tuple id = {rx->dst, rx->src, seg->dport, seg->sport};
	struct tcp_stack *s = l->s;
	struct tcp_conn *c;

	if (seg->flags & TCP_RST) /* first */
		return;
	if (seg->flags & TCP_ACK) { /* second */
		tcp_reply_rst(s, rx, seg);
		return;
	}
	if (!(seg->flags & TCP_SYN) || (seg->flags & TCP_FIN)) /* third and fourth */
		return;
	/* RFC 9293 section 3.9.2.3 (MUST-57): no connection with a broadcast or multicast peer. */
	if (ip_addr_is_multicast(&rx->src) || ip_addr_is_any(&rx->src))
		return;
	if (l->handshakes >= l->backlog || tcp_conn_new(s, &id, TCP_SYN_RECEIVED, &c)) {
		s->stats.accept_overflows++; /* the peer's next SYN may find room */
		return;
	}
	answer_syn(l, c, seg, iss_above);
}
