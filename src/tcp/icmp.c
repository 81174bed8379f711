/* SPDX-License-Identifier: BSD-2-Clause */
/* ICMP errors, believed only as far as RFC 5927 advises. */
#include "base/bytes.h"
#include "tcp/input.h"
#include "tcp/output.h"
#include "tcp/pmtu.h"

#include <errno.h>

static int tcp_icmp_error_of(const struct ip_error *e)
{
	switch (e->kind) {
	case IP_ERROR_NET:
		return -ENETUNREACH;
	case IP_ERROR_PROTO:
	case IP_ERROR_PORT:
		return -ECONNREFUSED;
	default:
		return -EHOSTUNREACH;
	}
}

/** There is no host where our answer went (RFC 4987 section 3.3): one place less is taken. */
static bool tcp_icmp_half_open_error(
	struct tcp_stack *s, const struct tcp_tuple *id, int kind, uint32_t seq)
{
	struct tcp_synq_entry *h = tcp_synq_find(&s->synq, id);

	if (!h || seq != h->e.iss || kind == IP_ERROR_MTU || kind == IP_ERROR_TIME)
		return false;
	tcp_synq_drop(h);
	return true;
}

void tcp_icmp_error(void *ctx, const struct ip_error *e, uint64_t now)
{
	struct tcp_stack *s = ctx;
	struct tcp_tuple id = {.local = e->src, .remote = e->dst};
	struct tcp_conn *c;
	uint32_t seq;

	tcp_set_now(s, now);
	tcp_ack_settle(s);
	if (e->l4_len < 8) {
		s->stats.icmp_ignored++;
		return;
	}
	id.lport = load_be16(e->l4 + TCP_OFF_SPORT);
	id.rport = load_be16(e->l4 + TCP_OFF_DPORT);
	seq = load_be32(e->l4 + TCP_OFF_SEQ);
	c = tcp_table_find(&s->table, &id);
	if (!c && tcp_icmp_half_open_error(s, &id, e->kind, seq))
		return;
	/* RFC 5927 section 4.1: only about what is in flight. */
	if (!c || !(seq_leq(c->snd_una, seq) && seq_lt(seq, c->snd_max))) {
		s->stats.icmp_ignored++;
		return;
	}
	if (e->kind == IP_ERROR_MTU) {
		if (tcp_pmtu_too_big(c, seq, e->mtu))
			tcp_output(c); /* RFC 1191 section 6.4: what was dropped, smaller */
		else
			s->stats.icmp_ignored++;
		return;
	}
	/* RFC 9293 section 3.9.2.2: hard errors may end an attempt; RFC 5927 section 5.2: but never
	 * a synchronized connection. All others are remembered, for when it times out. */
	if (c->state == TCP_SYN_SENT && (e->kind == IP_ERROR_PROTO || e->kind == IP_ERROR_PORT))
		tcp_conn_close(c, tcp_icmp_error_of(e));
	else
		c->soft_error = tcp_icmp_error_of(e);
}
