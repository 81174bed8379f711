/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/conn.h"

#include "tcp/buffer.h"
#include "tcp/control.h"
#include "tcp/external.h"
#include "tcp/llp_ops.h"
#include "tcp/loss.h"
#include "tcp/pmtu.h"
#include "tcp/stall.h"
#include "tcp/timers.h"
#include "tcp/unread.h"

#include <errno.h>

#define MSS_DEFAULT_V4 536
#define MSS_DEFAULT_V6 1220
/** A peer that offers less would have us send headers only. As FreeBSD. */
#define MSS_MIN 216
/** Segments acknowledged at once when a connection begins, while the peer's window is small. */
#define QUICK_ACKS 16

static unsigned tcp_conn_ip_header_len(const struct tcp_tuple *id)
{
	return ip_addr_is_v4(&id->remote) ? 20 : 40;
}

uint32_t tcp_conn_iss(const struct tcp_stack *s, const struct tcp_tuple *id)
{
	/* ISN = M + F(tuple, key); M ticks every 4 microseconds. */
	return (uint32_t)(s->now / 4000) + (uint32_t)siphash(&s->isn_key, id, sizeof *id);
}

uint32_t tcp_conn_tsval(const struct tcp_stack *s, const struct tcp_tuple *id)
{
	return s->now_ms + (uint32_t)siphash(&s->ts_key, id, sizeof *id);
}

uint16_t tcp_conn_default_mss(const struct tcp_tuple *id)
{
	return ip_addr_is_v4(&id->remote) ? MSS_DEFAULT_V4 : MSS_DEFAULT_V6;
}

bool tcp_conn_room(const struct tcp_stack *s)
{
	return s->table.count < s->cfg.max_connections || s->time_wait.head || s->orphans.head;
}

/** A connection without a user is in TIME-WAIT's queue or in that of the orphans. */
static struct tcp_conn_queue *tcp_conn_queue_of(struct tcp_conn *c)
{
	return c->state == TCP_TIME_WAIT ? &c->s->time_wait : &c->s->orphans;
}

static void tcp_conn_join_queue(struct tcp_conn *c)
{
	struct tcp_conn_queue *q = tcp_conn_queue_of(c);

	c->queue_next = NULL;
	c->queue_pprev = q->tail;
	*q->tail = c;
	q->tail = &c->queue_next;
	q->count++;
}

static void tcp_conn_leave_queue(struct tcp_conn *c)
{
	struct tcp_conn_queue *q = tcp_conn_queue_of(c);

	if (!c->queue_pprev)
		return;
	*c->queue_pprev = c->queue_next;
	if (c->queue_next)
		c->queue_next->queue_pprev = c->queue_pprev;
	else
		q->tail = c->queue_pprev;
	c->queue_pprev = NULL;
	q->count--;
}

static void tcp_conn_tell_closed(struct tcp_conn *c, int error)
{
	const struct llp_user_ops *ops = c->llp.user_ops;

	c->llp.user_ops = NULL;
	c->orphan = true;
	if (ops)
		ops->closed(c->llp.user, error);
}

void tcp_conn_drop_unread(struct tcp_conn *c)
{
	c->s->rx_held -= c->recvq.count;
	tcp_mbufs_free(&c->recvq);
}

/**
 * TIME-WAIT runs from now on, and there is no user any more. After LAST-ACK there is none: it is
 * for who has closed first (RFC 9293 section 3.10.7.4).
 */
static void tcp_conn_run_time_wait(struct tcp_conn *c)
{
	if (c->closed_last) {
		tcp_conn_close(c, 0);
		return;
	}
	tcp_unread_end(c);
	tcp_conn_join_queue(c);
	tcp_timers_set_life(c, c->s->now + c->s->cfg.time_wait_ms * TCP_MS);
	tcp_conn_tell_closed(c, 0);
	if (!c->in_readable) /* nobody will read it, and packets are dear */
		tcp_conn_drop_unread(c);
}

static void tcp_conn_drop_oldest_orphan(struct tcp_stack *s)
{
	struct tcp_conn *c = s->orphans.head;

	s->stats.orphans_recycled++;
	tcp_send_rst(c);
	tcp_conn_close(c, -ECONNABORTED);
}

void tcp_conn_orphan(struct tcp_conn *c)
{
	if (c->state == TCP_CLOSED)
		return;
	if (c->state == TCP_TIME_WAIT) { /* there was something to read */
		tcp_conn_run_time_wait(c);
		return;
	}
	tcp_stall_end(c);
	tcp_unread_end(c);
	tcp_conn_join_queue(c);
	if (c->s->orphans.count > c->s->cfg.max_orphans)
		tcp_conn_drop_oldest_orphan(c->s);
}

/** Make room, if the table is full: a connection without a user goes, the oldest in TIME-WAIT
 * first. */
static bool tcp_conn_have_room(struct tcp_stack *s)
{
	if (s->table.count < s->cfg.max_connections)
		return true;
	if (s->time_wait.head)
		tcp_conn_close(s->time_wait.head, 0);
	else if (s->orphans.head)
		tcp_conn_drop_oldest_orphan(s);
	return s->table.count < s->cfg.max_connections;
}

static void tcp_conn_init_receive(struct tcp_conn *c)
{
	c->rcv_wscale = c->s->rcv_wscale;
	c->rcv_mss = TCP_RCV_MSS_MIN;
	c->quick_acks = QUICK_ACKS;
	tcp_buffer_init(c);
}

void tcp_conn_set_iss(struct tcp_conn *c, uint32_t iss)
{
	c->snd_una = iss;
	c->snd_nxt = c->snd_max = c->push_seq = iss + 1;
}

int tcp_conn_new(struct tcp_stack *s, const struct tcp_tuple *id, enum tcp_state state,
	struct tcp_conn **out)
{
	struct tcp_conn *c;
	int err;

	if (tcp_table_find(&s->table, id))
		return -EADDRINUSE;
	if (!tcp_conn_have_room(s))
		return -ENOMEM;
	c = tcp_conn_pool_get(&s->conn_pool, sizeof *c);
	if (!c)
		return -ENOMEM;
	err = ip_path_init(s->cfg.ip, &c->path, &id->local, &id->remote, s->now);
	if (err) {
		tcp_conn_pool_put(&s->conn_pool, c);
		return err;
	}
	c->llp.ops = &tcp_llp_ops;
	c->s = s;
	c->id = *id;
	if (tcp_table_insert(&s->table, c)) {
		tcp_conn_pool_put(&s->conn_pool, c);
		return -ENOMEM;
	}
	c->state = (uint8_t)state;
	tcp_conn_set_iss(c, tcp_conn_iss(s, id));
	c->ts_offset = tcp_conn_tsval(s, id) - s->now_ms;
	c->peer_mss = tcp_conn_default_mss(id);
	c->heard_at = c->progress_at = s->now;
	c->rtx_at = c->delack_at = c->life_at = TIMER_NEVER;
	c->cc.ops = s->cc;
	tcp_rto_init(&c->rto);
	tcp_conn_init_receive(c);
	c->mtu = c->path_mtu = c->path.mtu;
	tcp_conn_update_emss(c);
	tcp_timers_init(c);
	s->stats.connections = s->table.count;
	*out = c;
	return 0;
}

void tcp_conn_take_syn(struct tcp_conn *c, const struct tcp_segment *seg)
{
	const struct tcp_stack_config *cfg = &c->s->cfg;

	c->rcv_nxt = seg->seq + 1;
	c->rcv_adv = c->rcv_nxt + u32_min(tcp_rcv_buffer(c), 65535u); /* a SYN's is unscaled */
	c->last_ack_sent = c->rcv_nxt;
	if (seg->has & TCP_HAS_MSS)
		c->peer_mss = (uint16_t)u32_max(seg->mss, MSS_MIN);
	/* RFC 7323 sections 1.3 and 2.2, RFC 2018 section 2: only where both SYNs have it. */
	c->wscale_on = (seg->has & TCP_HAS_WSCALE) && !cfg->no_window_scale;
	c->snd_wscale = c->wscale_on ? seg->wscale : 0;
	if (!c->wscale_on)
		c->rcv_wscale = 0;
	c->sack_on = (seg->has & TCP_HAS_SACK_PERMITTED) && !cfg->no_sack;
	c->ts_on = (seg->has & TCP_HAS_TS) && !cfg->no_timestamps;
	if (c->ts_on) {
		c->ts_recent = seg->tsval;
		c->ts_recent_at = tcp_coarse(c->s->now);
	}
	c->snd_wnd = c->max_snd_wnd = seg->wnd; /* unscaled on a SYN: RFC 7323 section 2.2 */
	c->snd_wl1 = seg->seq;
	c->snd_wl2 = seg->ack;
	tcp_conn_update_emss(c);
}

void tcp_conn_establish(struct tcp_conn *c)
{
	c->state = TCP_ESTABLISHED;
	c->rtx_at = TIMER_NEVER;
	tcp_rto_collapse(&c->rto);
	if (c->syn_sent_n > 1) /* RFC 6298 section 5.7: the timer has expired */
		c->rto.base = TCP_RTO_AFTER_SYN_LOSS;
	tcp_loss_init(c);
	c->cwnd_limited = c->snd_una - 1;
	/* RFC 6928 section 2: a single one may have been needless. */
	tcp_cc_init(&c->cc, c->cc.ops, c->emss, c->syn_sent_n > 2, c->s->now);
	tcp_buffer_establish(c);
	tcp_pace_init(c);
	tcp_timers_keepalive(c);
	tcp_conn_mark_dirty(c);
	if (c->fin_queued) { /* the user closed during the handshake */
		c->fin_queued = false;
		tcp_conn_queue_fin(c);
	}
}

void tcp_conn_mark_dirty(struct tcp_conn *c)
{
	if (c->dirty)
		return;
	c->dirty = true;
	c->dirty_next = NULL;
	*c->s->dirty_tail = c;
	c->s->dirty_tail = &c->dirty_next;
}

void tcp_conn_update_emss(struct tcp_conn *c)
{
	uint32_t mss = (uint32_t)c->mtu - tcp_conn_ip_header_len(&c->id) - TCP_HEADER_LEN;

	if (mss > c->peer_mss)
		mss = c->peer_mss;
	if (c->ts_on) /* RFC 6691 section 2: options come out of the MSS */
		mss -= TCP_TS_LEN;
	if (mss > c->s->room)
		mss = c->s->room;
	c->emss = mss;
	if (tcp_cc_begun(&c->cc))
		tcp_cc_set_smss(&c->cc, mss);
}

int tcp_conn_lend_ring(struct tcp_conn *c)
{
	struct tcp_sendq *q = &c->sendq;
	uint32_t cap, had = q->cap, n = had > 1 ? 2 * had : u32_max(1u << c->ring_log2, 2);
	struct tcp_record *ring;

	if (!had) {
		tcp_sendq_take_ring(q, &q->one, 1);
		return 0;
	}
	ring = tcp_conn_pool_ring(&c->s->conn_pool, n, sizeof *ring, &cap);
	if (!ring)
		return -ENOMEM;
	ring = tcp_sendq_take_ring(q, ring, cap);
	if (ring)
		tcp_conn_pool_ring_free(&c->s->conn_pool, ring, had, sizeof *ring);
	else
		c->sendq.most = 0;
	return 0;
}

void tcp_conn_return_ring(struct tcp_conn *c)
{
	struct tcp_sendq *q = &c->sendq;

	if (q->cap < 2 || q->count || c->reserved)
		return;
	tcp_conn_pool_ring_free(&c->s->conn_pool, q->ring, q->cap, sizeof *q->ring);
	q->ring = &q->one;
	q->cap = 1;
	/* The next burst will be like this one: then its ring does not have to grow. */
	c->ring_log2 = c->sendq.most < 2 ? 0 : (uint8_t)(32 - __builtin_clz(c->sendq.most - 1));
}

/**
 * The record of text that the FIN rides on, or NULL: none waits, or the peer's window ends with the
 * text, which shall not wait for one byte more.
 */
static struct tcp_record *tcp_conn_fin_carrier(const struct tcp_conn *c)
{
	struct tcp_record *r = tcp_sendq_unsent_tail(&c->sendq);

	if (!r || seq_geq(tcp_record_end(r), c->snd_una + c->snd_wnd))
		return NULL;
	return r;
}

void tcp_conn_queue_fin(struct tcp_conn *c)
{
	struct tcp_record *last;
	uint32_t seq;

	if (c->fin_queued && !c->fin_owed)
		return;
	c->fin_queued = true;
	if (!tcp_synchronized(c))
		return; /* tcp_conn_establish() comes back to it */
	last = tcp_conn_fin_carrier(c);
	c->fin_owed = !last && tcp_conn_send_room(c) != 0;
	if (c->fin_owed) { /* the end of the round does */
		tcp_conn_mark_dirty(c);
		return;
	}
	if (last) {
		seq = tcp_record_end(last);
		last->flags |= TCP_REC_FIN;
	} else {
		last = c->sendq.count ? tcp_sendq_at(&c->sendq, c->sendq.count - 1) : NULL;
		seq = last ? tcp_record_end(last) : c->snd_nxt;
		tcp_sendq_push(&c->sendq, NULL, 0, 0, seq, TCP_REC_FIN);
		c->s->tx_held++; /* every record counts, as every one is taken off again */
	}
	c->state = c->state == TCP_CLOSE_WAIT ? TCP_LAST_ACK : TCP_FIN_WAIT_1;
	c->push_seq = seq + 1;
}

/** Free what is queued; what the user may be looking at stays until the round ends. */
static void tcp_conn_drop_queues(struct tcp_conn *c)
{
	c->s->tx_held -= c->sendq.count;
	tcp_sendq_clear(&c->sendq);
	tcp_external_end(c);
	if (c->reserved)
		rte_pktmbuf_free(c->reserved);
	c->reserved = NULL;
	c->reserved_join = 0;
	tcp_ooo_state_clear(c);
	tcp_buffer_release(c);
}

void tcp_conn_time_wait(struct tcp_conn *c)
{
	tcp_stall_end(c);
	if (c->orphan)
		tcp_conn_leave_queue(c);
	c->closed_last = c->state == TCP_LAST_ACK;
	c->state = TCP_TIME_WAIT;
	c->rtx_at = c->life_at = TIMER_NEVER;
	tcp_conn_drop_queues(c);
	tcp_pmtu_free(c);
	if (!tcp_conn_has_reader(c))
		tcp_conn_run_time_wait(c);
}

void tcp_conn_was_read(struct tcp_conn *c)
{
	if (c->state == TCP_TIME_WAIT && !c->orphan && !tcp_conn_has_reader(c))
		tcp_conn_run_time_wait(c);
}

void tcp_conn_restart_time_wait(struct tcp_conn *c)
{
	if (!c->orphan)
		return; /* it has not begun */
	tcp_conn_leave_queue(c);
	tcp_conn_join_queue(c);
	tcp_timers_set_life(c, c->s->now + c->s->cfg.time_wait_ms * TCP_MS);
}

void tcp_conn_close(struct tcp_conn *c, int error)
{
	struct tcp_stack *s = c->s;

	if (c->state == TCP_CLOSED)
		return;
	tcp_stall_end(c);
	tcp_unread_end(c);
	tcp_conn_leave_queue(c);
	c->state = TCP_CLOSED;
	tcp_timers_stop(c);
	tcp_conn_drop_queues(c);
	tcp_pmtu_free(c);
	tcp_table_remove(&s->table, c);
	s->stats.connections = s->table.count;
	c->queue_next = s->dead;
	s->dead = c;
	tcp_conn_tell_closed(c, error);
}

void tcp_conn_reap(struct tcp_stack *s)
{
	struct tcp_conn *c = s->dead, *next;

	s->dead = NULL;
	for (; c; c = next) {
		next = c->queue_next;
		if (c->dirty) { /* still in the list for the next round's end */
			c->queue_next = s->dead;
			s->dead = c;
			continue;
		}
		tcp_conn_drop_unread(c);
		tcp_cc_fini(&c->cc);
		tcp_conn_pool_put(&s->conn_pool, c);
	}
}

const char *tcp_state_name(enum tcp_state state)
{
	static const char *const name[] = {"CLOSED", "SYN-SENT", "SYN-RECEIVED", "ESTABLISHED",
		"FIN-WAIT-1", "FIN-WAIT-2", "CLOSE-WAIT", "CLOSING", "LAST-ACK", "TIME-WAIT"};

	return name[state];
}

static const char *tcp_conn_ca_state(const struct tcp_conn *c)
{
	static const char *const name[] = {[TCP_CA_OPEN] = "open",
		[TCP_CA_CWR] = "cwr",
		[TCP_CA_RECOVERY] = "recovery",
		[TCP_CA_LOSS] = "loss"};
	bool hint = c->dupacks || c->sendq.n_sacked;

	return c->ca_state == TCP_CA_OPEN && hint ? "disorder" : name[c->ca_state];
}

void tcp_conn_info(const struct tcp_conn *c, struct tcp_info *out)
{
	struct tcp_cc_info cc;

	tcp_cc_get_info(&c->cc, &cc);
	*out = (struct tcp_info){
		.state = tcp_state_name(c->state),
		.srtt = c->rto.srtt,
		.rttvar = c->rto.rttvar,
		.rto = tcp_rto_get(&c->rto),
		.cwnd = c->cc.cwnd,
		.ssthresh = c->cc.ssthresh,
		.snd_wnd = c->snd_wnd,
		.rcv_wnd = tcp_rcv_wnd(c),
		.emss = c->emss,
		.mtu = c->mtu,
		.flight = tcp_flight(c),
		.send_buffer = tcp_snd_buffer(c),
		.receive_buffer = tcp_rcv_buffer(c),
		.bytes_sent = c->bytes_sent,
		.bytes_acked = c->bytes_acked,
		.bytes_received = c->bytes_received,
		.segments_out = c->segments_out,
		.segments_in = c->segments_in,
		.retransmits = c->retransmits,
		.timeouts = c->timeouts,
		.fast_recoveries = c->fast_recoveries,
		.min_rtt = tcp_min_rtt_get(&c->rec.min_rtt),
		.reo_wnd = tcp_rack_reo_wnd(&c->rec.rack, tcp_min_rtt_get(&c->rec.min_rtt),
			c->rto.srtt, tcp_ca_recovering(c), c->sendq.n_sacked),
		.reordering_seen = c->rec.rack.reordering_seen,
		.lost = c->sendq.lost,
		.sacked = c->sendq.sacked,
		.tlp_probes = c->rec.tlp_probes,
		.dsacks = c->dsacks,
		.spurious_recoveries = c->spurious_recoveries,
		.spurious_timeouts = c->rto.spurious,
		.out_of_order = c->out_of_order,
		.timestamps = c->ts_on,
		.sack = c->sack_on,
		.window_scale = c->wscale_on,
		.ecn = c->ecn.on,
		.ce_received = c->ce_received,
		.ece_received = c->ece_received,
		.congestion_control = cc.name,
		.phase = cc.phase,
		.ca_state = tcp_conn_ca_state(c),
		.bandwidth = cc.bandwidth,
		.delivery_rate = tcp_rate_last(&c->rate),
		.app_limited = c->rate.app_limited,
	};
	if (tcp_cc_begun(&c->cc))
		out->pacing_rate = tcp_cc_pacing_rate(&c->cc, tcp_pipe(c), c->rto.srtt);
}
