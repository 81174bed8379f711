/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/stack.h"

#include "tcp/buffer.h"
#include "tcp/control.h"
#include "tcp/ecn.h"
#include "tcp/external.h"
#include "tcp/input.h"
#include "tcp/listen.h"
#include "tcp/llp_ops.h"
#include "tcp/mbuf_cache.h"
#include "tcp/output.h"
#include "tcp/stall.h"
#include "tcp/tcp_wire.h"
#include "tcp/timers.h"
#include "tcp/unread.h"

#include <errno.h>
#include <stdlib.h>

static void tcp_stack_fill_in(struct tcp_stack_config *cfg)
{
	if (!cfg->max_connections)
		cfg->max_connections = 65536;
	if (!cfg->max_orphans)
		cfg->max_orphans = u32_max(cfg->max_connections / 4, 1);
	if (!cfg->max_half_open)
		cfg->max_half_open = 4096;
	if (!cfg->max_ack_delay_ms)
		cfg->max_ack_delay_ms = 50;
	if (!cfg->time_wait_ms)
		cfg->time_wait_ms = 60000;
	if (!cfg->syn_retries)
		cfg->syn_retries = 6;
	if (!cfg->user_timeout_ms)
		cfg->user_timeout_ms = 100000;
}

static void tcp_stack_draw_keys(struct tcp_stack *s)
{
	struct siphash_key table_key;
	struct random_source *r = &s->cfg.random;

	r->fill(r->ctx, &s->isn_key, sizeof s->isn_key);
	r->fill(r->ctx, &s->port_key, sizeof s->port_key);
	r->fill(r->ctx, &s->ts_key, sizeof s->ts_key);
	r->fill(r->ctx, &table_key, sizeof table_key);
	s->table.key = table_key;
	s->ports.counter = random_u32(r);
	tcp_cookies_init(&s->cookies, r);
}

static void tcp_stack_size_up(struct tcp_stack *s)
{
	struct rte_mempool *pool = s->cfg.pool;

	s->room = rte_pktmbuf_data_room_size(pool) - RTE_PKTMBUF_HEADROOM;
	tcp_buffer_init_stack(s);
}

int tcp_stack_create(const struct tcp_stack_config *cfg, uint64_t now, struct tcp_stack **out)
{
	const struct tcp_cc_ops *cc = tcp_cc_find(cfg->congestion_control);
	struct ip_transport t = {.input = tcp_input,
		.burst = tcp_burst_comes,
		.error = tcp_icmp_error,
		.tx_cksum = RTE_MBUF_F_TX_TCP_CKSUM,
		.min_len = TCP_HEADER_LEN,
		.cksum_off = TCP_OFF_CKSUM,
		.words_off = TCP_OFF_DATA};
	struct tcp_stack *s;

	if (!cc)
		return -EINVAL;
	s = calloc(1, sizeof *s);
	if (!s)
		return -ENOMEM;
	s->llp.ops = &tcp_llp_stack_ops;
	s->cfg = *cfg;
	s->cc = cc;
	s->dirty_tail = &s->dirty;
	s->time_wait.tail = &s->time_wait.head;
	s->orphans.tail = &s->orphans.head;
	tcp_stack_fill_in(&s->cfg);
	tcp_stack_draw_keys(s);
	tcp_stack_size_up(s);
	tcp_set_now(s, now);
	if (tcp_stalls_init(s))
		goto no_stalls;
	if (tcp_unreads_init(s))
		goto no_unreads;
	if (tcp_table_init(&s->table, &s->table.key))
		goto no_table;
	if (tcp_external_init(s))
		goto no_zeros;
	t.ctx = s;
	ip_set_transport(cfg->ip, IP_PROTO_TCP, &t);
	*out = s;
	return 0;
no_zeros:
	tcp_table_fini(&s->table);
no_table:
	tcp_unreads_fini(s);
no_unreads:
	tcp_stalls_fini(s);
no_stalls:
	free(s);
	return -ENOMEM;
}

void tcp_stack_reset_all(struct tcp_stack *s)
{
	for (uint32_t i = 0; i <= s->table.mask; i++) {
		struct tcp_conn *c = tcp_slot_conn(s->table.slot[i]);

		if (c && c->state != TCP_TIME_WAIT)
			tcp_send_rst(c);
	}
}

void tcp_stack_destroy(struct tcp_stack *s)
{
	struct tcp_conn *c;

	if (!s)
		return;
	tcp_stack_reset_all(s);
	while (s->listeners)
		tcp_unlisten(s->listeners);
	for (uint32_t i = 0; s->table.count; i = (i + 1) & s->table.mask)
		while ((c = tcp_slot_conn(s->table.slot[i]))) {
			c->llp.user_ops = NULL;
			tcp_conn_close(c, -ECONNABORTED);
		}
	for (c = s->dirty; c; c = c->dirty_next)
		c->dirty = false;
	tcp_conn_reap(s);
	tcp_mbuf_cache_flush(&s->mbuf_cache);
	tcp_external_fini(s);
	tcp_table_fini(&s->table);
	tcp_conn_pool_fini(&s->conn_pool);
	tcp_synq_fini(&s->synq);
	tcp_stalls_fini(s);
	tcp_unreads_fini(s);
	tcp_ports_fini(&s->ports);
	free(s);
}

void tcp_stack_set_clock(struct tcp_stack *s, uint64_t now)
{
	s->now = now;
	s->now_ms = (uint32_t)(now / TCP_MS);
}

void tcp_set_now(struct tcp_stack *s, uint64_t now)
{
	if (now > s->now)
		tcp_stack_set_clock(s, now);
}

struct llp_stack *tcp_llp_stack(struct tcp_stack *s)
{
	return &s->llp;
}

bool tcp_stack_refill(struct tcp_stack *s)
{
	bool any = s->mbuf_cache.n != 0;

	tcp_mbuf_cache_give_back(&s->mbuf_cache);
	return any;
}

struct rte_mbuf *tcp_stack_packet(struct tcp_stack *s)
{
	struct rte_mbuf *m = tcp_mbuf_cache_take(&s->mbuf_cache);

	if (m)
		return m;
	m = rte_pktmbuf_alloc(s->cfg.pool);
	if (unlikely(!m && tcp_stack_refill(s)))
		m = rte_pktmbuf_alloc(s->cfg.pool);
	if (unlikely(!m))
		s->stats.pool_empty++;
	return m;
}

static void tcp_stack_end_round_for(struct tcp_conn *c)
{
	if (c->state == TCP_CLOSED)
		return;
	tcp_consider_writable(c);
	tcp_tell_acked(c);
	if (c->state == TCP_CLOSED) /* by its user, in one of these */
		return;
	if (unlikely(c->fin_owed))
		tcp_conn_queue_fin(c);
	tcp_output(c);
	/* From SYN-RECEIVED on there is something to acknowledge (RFC 9293 section 3.10.7.4). */
	if (c->ack_now && c->state >= TCP_SYN_RECEIVED)
		tcp_send_ack(c);
	/* Only now is it known that no text took the ACK along. */
	if (c->delack_at != TIMER_NEVER)
		tcp_timers_arm(c, c->delack_at);
	if (!c->sendq.count)
		tcp_conn_return_ring(c);
	if (unlikely(c->ooo_state != NULL))
		tcp_ooo_state_done(c);
}

bool tcp_round_end_may_wait(const struct tcp_stack *s)
{
	const struct tcp_conn *c = s->dirty;

	return c && !c->dirty_next && c->state == TCP_ESTABLISHED && !s->dead && !s->tx_wanted &&
	       !s->rx_wanted && !c->ack_now && !c->write_refused && !c->acks_watched &&
	       !c->fin_owed && !c->persist && !c->ooo_state && c->sendq.nxt == c->sendq.count;
}

void tcp_round_end(struct tcp_stack *s)
{
	struct tcp_conn *c;

	tcp_ack_settle(s);
	c = s->dirty;
	/* A connection that is touched from here on (an empty pool, for one) has its turn in the
	 * next round. */
	s->dirty = NULL;
	s->dirty_tail = &s->dirty;
	while (c) {
		struct tcp_conn *next = c->dirty_next;

		c->dirty = false;
		tcp_stack_end_round_for(c);
		c = next;
	}
	if (unlikely(s->tx_wanted))
		tcp_stalls_relieve(s);
	if (unlikely(s->rx_wanted))
		tcp_unread_relieve(s);
	tcp_mbuf_cache_round(&s->mbuf_cache, s->table.count >= TCP_TABLE_MANY);
	tcp_conn_reap(s);
}

void tcp_get_info(const struct llp *l, struct tcp_info *out)
{
	tcp_conn_info(tcp_conn_of(l), out);
}

int tcp_set_congestion_control(struct llp *l, const char *name)
{
	const struct tcp_cc_ops *ops = tcp_cc_find(name);
	struct tcp_conn *c = tcp_conn_of(l);

	if (!ops)
		return -EINVAL;
	tcp_cc_switch(&c->cc, ops, c->s->now);
	return 0;
}

int tcp_listener_set_congestion_control(struct llp_listener *l, const char *name)
{
	const struct tcp_cc_ops *ops = tcp_cc_find(name);

	if (!ops)
		return -EINVAL;
	((struct tcp_listener *)(void *)l)->cc = ops;
	return 0;
}

void tcp_set_tos(struct llp *l, uint8_t tos)
{
	tcp_conn_of(l)->path.tos = tos & (uint8_t)~TCP_ECN_MASK;
}

void tcp_listener_set_tos(struct llp_listener *l, uint8_t tos)
{
	((struct tcp_listener *)(void *)l)->tos = tos & (uint8_t)~TCP_ECN_MASK;
}

/** Handshake number @p i of all listeners. */
static bool tcp_stack_handshake_get(const struct tcp_stack *s, unsigned i,
	struct ip_endpoint *local, struct ip_endpoint *remote, struct tcp_info *info)
{
	for (const struct tcp_listener *l = s->listeners; l; l = l->next)
		for (const struct tcp_synq_entry *h = l->synq.oldest; h; h = h->next) {
			if (i--)
				continue;
			*local = (struct ip_endpoint){h->e.id.local, h->e.id.lport};
			*remote = (struct ip_endpoint){h->e.id.remote, h->e.id.rport};
			*info = (struct tcp_info){.state = tcp_state_name(TCP_SYN_RECEIVED),
				.congestion_control = l->cc->name,
				.snd_wnd = h->e.wnd,
				.timestamps = h->e.has & TCP_HAS_TS,
				.sack = h->e.has & TCP_HAS_SACK_PERMITTED,
				.window_scale = h->e.has & TCP_HAS_WSCALE};
			return true;
		}
	return false;
}

bool tcp_connection_get(struct tcp_stack *s, unsigned i, struct ip_endpoint *local,
	struct ip_endpoint *remote, struct tcp_info *info)
{
	const struct tcp_conn *c = tcp_table_get(&s->table, i);

	if (!c)
		return tcp_stack_handshake_get(s, i - s->table.count, local, remote, info);
	llp_endpoints(&c->llp, local, remote);
	tcp_conn_info(c, info);
	return true;
}

const struct tcp_stats *tcp_stack_stats(const struct tcp_stack *s)
{
	return &s->stats;
}

enum walk tcp_connection_walk(
	const struct tcp_stack *s, struct tcp_walk *w, struct tcp_walk_item *item)
{
	struct tcp_table_walk at = {w->at[0], w->at[1]};
	struct tcp_conn *c;
	enum walk found = tcp_table_walk(&s->table, &at, &c);

	*w = (struct tcp_walk){{at.home, at.nth}};
	if (found != WALK_HELD)
		return found;
	llp_endpoints(&c->llp, &item->local, &item->remote);
	tcp_conn_info(c, &item->info);
	item->queued = c->sendq.bytes;
	item->unread = c->recvq.bytes;
	return found;
}
