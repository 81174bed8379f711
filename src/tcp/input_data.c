/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/buffer.h"
#include "tcp/control.h"
#include "tcp/input.h"
#include "tcp/llp_ops.h"
#include "tcp/mbuf.h"
#include "tcp/mbuf_cache.h"
#include "tcp/timers.h"
#include "tcp/unread.h"

/** How long an ACK waits, at most and at least (RFC 9293 section 3.8.6.3: less than 0.5 s). */
#define DELAYED_ACK_MAX (40 * TCP_MS)
#define DELAYED_ACK_MIN TCP_MS
/** Pieces shown in one call: more than an FPDU needs that was packed, in packets of 2 KiB. */
#define SHOW_MAX 128
/** Packets that every connection may hold out of order, while there are any. */
#define OUT_OF_ORDER_MIN 1024u
/** Places of the table that are searched for a connection that holds more, and what none is asked
 * for. */
#define RECLAIM_SLOTS 16
#define RECLAIM_MIN   8u
/** Segments acknowledged at once after a loss, while the peer's window is small. */
#define QUICK_ACKS_LOSS 8

static bool tcp_data_gaps(const struct tcp_conn *c)
{
	return c->ooo_state && c->ooo_state->ooo.n;
}

/** What comes next is there already, and will be taken in before anything else is done. */
static bool tcp_data_is_draining(const struct tcp_conn *c)
{
	return tcp_data_gaps(c) && seq_leq(tcp_ooo_at(&c->ooo_state->ooo, 0)->r.left, c->rcv_nxt);
}

/**
 * How long an ACK may wait for text that takes it along, or for more to acknowledge. The peer has
 * its copy of the text until then, a packet for each small message: with many connections it would
 * run out of them long before 40 ms. A quarter of the round trip makes that no more than a quarter
 * longer, and few ACKs where they are dear.
 */
static uint64_t tcp_data_ack_delay(const struct tcp_conn *c)
{
	uint64_t rtt = tcp_min_rtt_get(&c->rec.min_rtt);

	if (!rtt && !(rtt = c->rto.srtt)) /* it has sent nothing since its SYN */
		return DELAYED_ACK_MAX;
	return u64_max(DELAYED_ACK_MIN, u64_min(rtt / 4, DELAYED_ACK_MAX));
}

/**
 * RFC 5681 section 4.2: at least every second full segment, and not later than the timer. What came
 * in one burst has one ACK, at the round's end, as behind receive offload (RFC 9293 section
 * 3.8.6.3): also while ACKs are quick, as a second one would tell nothing.
 */
static void tcp_data_owe_ack(struct tcp_conn *c)
{
	if (c->quick_acks) {
		c->quick_acks--;
		c->ack_now = true;
	} else if (c->rcv_nxt - c->last_ack_sent >= 2u * c->rcv_mss) {
		c->ack_now = true;
	} else if (c->delack_at == TIMER_NEVER) {
		c->delack_at = c->s->now + tcp_data_ack_delay(c); /* armed when the round ends */
	}
	tcp_conn_mark_dirty(c);
}

/** The user took bytes: is the window worth telling (RFC 9293 section 3.8.6.2.2)? */
static void tcp_data_consider_window_update(struct tcp_conn *c)
{
	uint32_t buffer = tcp_rcv_buffer(c), edge = tcp_buffer_edge(c), told = tcp_rcv_wnd(c);
	uint32_t growth = edge - c->rcv_adv, limit = 65535u << c->rcv_wscale;

	if (c->fin_received || seq_leq(edge, c->rcv_adv) || told >= limit - c->rcv_mss)
		return;
	/* Each time that it doubles: a few updates take it from nothing to all. */
	if (growth >= buffer / 4 || growth >= u32_max(told, tcp_buffer_step(c))) {
		c->ack_now = true;
		tcp_conn_mark_dirty(c);
	}
}

/** @return how many of the @p total bytes the user is done with. */
static size_t tcp_data_show(struct tcp_conn *c, const struct llp_iov *v, unsigned n, size_t total)
{
	size_t need = 0, taken = total;

	c->resume = false;
	c->in_readable = true;
	/* First: programs expect that what an answer is to has completed. */
	tcp_tell_acked(c);
	if (c->llp.user_ops)
		taken = c->llp.user_ops->readable(c->llp.user, v, n, total, &need);
	c->in_readable = false;
	c->read_need = need < UINT32_MAX ? (uint32_t)need : UINT32_MAX;
	return taken < total ? taken : total;
}

/** Text joined the queue, which had @p before packets. */
static void tcp_data_count_unread(struct tcp_conn *c, uint32_t before)
{
	struct tcp_stack *s = c->s;

	s->rx_held += c->recvq.count - before;
	if (!before)
		tcp_unread_moves(c);
	/* A connection that had nothing is never refused: another may have to give. */
	if (unlikely(s->rx_held > s->rx_hard_limit))
		tcp_unread_want(s, before);
}

static void tcp_data_queue_text(struct tcp_conn *c, struct rte_mbuf *m)
{
	uint32_t before = c->recvq.count;

	tcp_mbufs_push(&c->recvq, m);
	tcp_data_count_unread(c, before);
}

/** Is there something that the user wants to see? After a FIN all is, as no more will come. */
static bool tcp_data_is_worth_showing(const struct tcp_conn *c)
{
	return c->recvq.count && (c->recvq.bytes >= c->read_need || c->fin_received);
}

/** @param all that is unread was shown. */
static void tcp_data_tell_eof(struct tcp_conn *c, bool all)
{
	const struct llp_user_ops *ops = c->llp.user_ops;

	c->eof_owed = !all;
	if (all && ops && ops->eof)
		ops->eof(c->llp.user);
	else if (!all && ops && ops->eof_waits)
		ops->eof_waits(c->llp.user);
}

/**
 * Describe what to show, in @p v. What the user needs at once may lie in too many packets, as text
 * does that came before its turn, in segments not small enough to be copied then.
 * @param[out] total its bytes. @return pieces.
 */
static unsigned tcp_data_describe(struct tcp_conn *c, struct llp_iov v[SHOW_MAX], size_t *total)
{
	uint32_t held = c->recvq.count;
	unsigned n = tcp_mbufs_show(&c->recvq, v, SHOW_MAX, total);

	if (likely(n == held || *total >= c->read_need))
		return n;
	tcp_mbufs_pack(&c->recvq, c->read_need, c->s->cfg.pool);
	c->s->rx_held -= held - c->recvq.count;
	return tcp_mbufs_show(&c->recvq, v, SHOW_MAX, total);
}

void tcp_show_unread(struct tcp_conn *c)
{
	struct llp_iov v[SHOW_MAX];
	size_t total = 0, taken = 1;
	bool all = !c->recvq.count;

	if (c->in_readable)
		return;
	do {
		unsigned n;
		uint32_t held;
		size_t before = taken ? 0 : total;

		if (!tcp_data_is_worth_showing(c))
			break;
		n = tcp_data_describe(c, v, &total);
		if (total <= before)
			break; /* the user has seen this, and needs more than can be shown */
		held = c->recvq.count;
		all = total == c->recvq.bytes;
		taken = c->llp.user_ops ? tcp_data_show(c, v, n, total) : total;
		if (c->state == TCP_CLOSED)
			return; /* freed with the connection */
		if (c->orphan) {
			tcp_conn_drop_unread(c);
			return;
		}
		tcp_mbufs_consume(&c->recvq, (uint32_t)taken);
		c->s->rx_held -= held - c->recvq.count;
		if (taken)
			tcp_unread_moves(c);
	} while (
		(taken && (taken == total || c->resume)) || (!all && c->read_need > total - taken));
	tcp_data_consider_window_update(c);
	if (c->eof_owed)
		tcp_data_tell_eof(c, all);
	tcp_conn_was_read(c);
}

/** To the user without a stop in the queue. Owns @p m. */
static void tcp_data_hand_up(struct tcp_conn *c, struct rte_mbuf *m)
{
	const struct llp_iov v = tcp_mbuf_iov(m);
	size_t taken = tcp_data_show(c, &v, 1, v.len);

	if (taken == v.len || c->orphan || c->state == TCP_CLOSED) {
		tcp_mbuf_cache_put_read(&c->s->mbuf_cache, m, c->s->cfg.pool);
		return;
	}
	m->data_off = (uint16_t)(m->data_off + taken);
	m->data_len = (uint16_t)(m->data_len - taken);
	m->pkt_len = m->data_len;
	tcp_data_queue_text(c, m);
	if (taken && c->resume)
		tcp_show_unread(c);
}

/**
 * Is there no memory for text that fills a gap? A connection that keeps nothing may go on all the
 * same, as most text is taken at once: connections that let unread text pile up must not stop the
 * others. What was SACKed is dropped only for what brings the connection on (RFC 2018 section 8),
 * and what the user took never.
 */
static bool tcp_data_is_memory_short(struct tcp_conn *c)
{
	uint32_t held, limit;

	if (likely(!c->recvq.count))
		return false;
	limit = tcp_buffer_receive_limit(c);
	if (likely(c->s->rx_held < limit))
		return false;
	tcp_unread_want(c->s, tcp_unread_held(c));
	if (!c->ooo_state)
		return true;
	held = c->ooo_state->ooo.held;
	tcp_ooo_prune(&c->ooo_state->ooo, c->s->rx_held - limit + 1);
	c->s->rx_held -= held - c->ooo_state->ooo.held;
	c->s->stats.reneged += held - c->ooo_state->ooo.held;
	return c->s->rx_held >= limit;
}

/** @p len bytes at RCV.NXT are here to stay. */
static void tcp_data_take_in(struct tcp_conn *c, uint32_t len)
{
	c->rcv_nxt += len;
	c->bytes_received += len;
	c->s->stats.bytes_in += len;
	tcp_data_owe_ack(c);
}

void tcp_text_in_order(struct tcp_conn *c, const struct tcp_segment *seg, struct rte_mbuf *m)
{
	uint32_t len = seg->len;

	/* What cannot be kept is not acknowledged: to the peer, it was lost on the way. */
	if (unlikely(tcp_data_is_memory_short(c))) {
		c->s->stats.no_memory++;
		rte_pktmbuf_free(m);
		return;
	}
	tcp_buffer_received(c);
	tcp_buffer_segment(c, len, seg->flags);
	tcp_data_take_in(c, len);
	if (unlikely(c->orphan || !c->llp.user_ops)) {
		c->s->stats.text_unwanted++;
		rte_pktmbuf_free(m);
	} else if (likely(!c->recvq.count && m->nb_segs == 1 && len >= c->read_need)) {
		tcp_data_hand_up(c, m);
	} else {
		tcp_data_queue_text(c, m);
		tcp_show_unread(c);
	}
}

/** It is the turn of what the user took before. */
static void tcp_data_show_taken(struct tcp_conn *c, const struct llp_note *note)
{
	c->resume = false;
	c->in_readable = true;
	c->llp.user_ops->taken(c->llp.user, note);
	c->in_readable = false;
	if (c->state == TCP_CLOSED)
		return;
	if (c->orphan)
		tcp_conn_drop_unread(c);
	else if (c->resume)
		tcp_show_unread(c);
	tcp_data_consider_window_update(c);
}

/** What waited behind a gap that is now filled: the next run of it. */
static void tcp_data_drain(struct tcp_conn *c)
{
	struct tcp_ooo_run run;
	struct tcp_ooo *o = &c->ooo_state->ooo;
	uint32_t held = o->held;
	bool any;

	tcp_buffer_received(c);
	any = tcp_ooo_take(o, c->rcv_nxt, &run);

	c->s->rx_held -= held - o->held;
	if (!any)
		return;
	tcp_data_take_in(c, run.len);
	if (c->orphan || !c->llp.user_ops) {
		tcp_mbufs_free(&run.text);
	} else if (!run.text.first) {
		tcp_data_show_taken(c, &run.note);
	} else {
		held = c->recvq.count;
		tcp_mbufs_join(&c->recvq, &run.text);
		tcp_data_count_unread(c, held);
		tcp_show_unread(c);
	}
}

/** Is there budget for one more packet of a connection that holds @p held? As for what waits to be
 * sent. */
static bool tcp_data_budget_allows(const struct tcp_stack *s, uint32_t held)
{
	return s->rx_held < s->rx_limit && held / TCP_SHARE < s->rx_limit - s->rx_held;
}

/**
 * The budget is used up. Look at some connections, others each time. From those that hold much more
 * behind their gaps than @p c, take half of the difference. Their peers send it again (RFC 2018
 * section 8).
 */
static void tcp_data_reclaim_gaps(const struct tcp_conn *c, uint32_t own)
{
	struct tcp_stack *s = c->s;

	for (unsigned i = 0; i < RECLAIM_SLOTS; i++) {
		struct tcp_conn *other =
			tcp_slot_conn(s->table.slot[s->reclaim_at++ & s->table.mask]);
		uint32_t held =
			other && other != c && other->ooo_state ? other->ooo_state->ooo.held : 0;

		if (held <= 2 * own + RECLAIM_MIN)
			continue;
		tcp_ooo_prune(&other->ooo_state->ooo, (held - own) / 2);
		s->rx_held -= held - other->ooo_state->ooo.held;
		s->stats.reneged += held - other->ooo_state->ooo.held;
	}
}

/** May @p c hold one more packet out of order? Others give back what they have more. */
static bool tcp_data_make_room(const struct tcp_conn *c, uint32_t held)
{
	uint32_t usual = 2 * (tcp_rcv_buffer(c) / c->rcv_mss);

	/* Nobody else's packets help against a limit of its own. */
	if (held >= u32_max(usual, OUT_OF_ORDER_MIN))
		return false;
	if (likely(tcp_data_budget_allows(c->s, held)))
		return true;
	tcp_data_reclaim_gaps(c, held);
	if (tcp_data_budget_allows(c->s, held))
		return true;
	/* All of the budget is taken, perhaps by text that nobody takes. */
	if (c->s->rx_held >= c->s->rx_limit)
		tcp_unread_want(c->s, tcp_unread_held(c));
	return false;
}

/**
 * A segment repeats something, comes too early or fills a gap: an ACK, at once (RFC 5681 section
 * 4.2). That is at the round's end, for all of its segments, as long as one SACK option can tell
 * of them. Without SACK, the peer counts the ACKs.
 */
static void tcp_data_answer_at_once(struct tcp_conn *c)
{
	if (c->ack_now && (!c->sack_on || (c->ooo_state && tcp_sack_is_full(&c->ooo_state->sack,
								   tcp_sack_blocks(c)))))
		tcp_send_ack(c);
	c->ack_now = true;
	if (c->quick_acks < QUICK_ACKS_LOSS)
		c->quick_acks = QUICK_ACKS_LOSS;
	tcp_conn_mark_dirty(c);
}

/** Keep what is missing of @p m; owns it. */
static void tcp_data_keep_text(
	struct tcp_conn *c, const struct tcp_segment *seg, struct rte_mbuf *m)
{
	struct tcp_ooo *o = &c->ooo_state->ooo;
	uint32_t held = o->held;
	struct tcp_ooo_result result = tcp_ooo_insert(o, m, seg->seq, seg->len, c->s->cfg.pool);

	c->s->rx_held += o->held - held;
	if (result.dup.left != result.dup.right)
		tcp_ooo_state_duplicate(c, result.dup);
}

static void tcp_data_keep_out_of_order(
	struct tcp_conn *c, const struct tcp_segment *seg, struct rte_mbuf *m)
{
	struct tcp_ooo_state *e = tcp_ooo_state_get(c);
	bool may;

	if (e && (!e->ooo.n || c->rcv_nxt - e->gap_seq >= TCP_GAP_MAX)) {
		e->ts_gap = c->ts_recent;
		e->gap_seq = c->rcv_nxt;
	}
	c->out_of_order++;
	c->s->stats.out_of_order++;
	tcp_buffer_received(c);
	tcp_buffer_segment(c, seg->len, seg->flags);
	may = e && tcp_data_make_room(c, e->ooo.held);
	if (e && tcp_ooo_state_offer(c, seg, m, may)) {
		rte_pktmbuf_free(m);
	} else if (may) {
		tcp_data_keep_text(c, seg, m);
	} else { /* never told, so nothing is taken back */
		c->s->stats.out_of_order_drops++;
		rte_pktmbuf_free(m);
		return;
	}
	tcp_sack_add(&e->sack, &e->ooo, seg->seq);
}

/** Text at RCV.NXT; what it has in common with the first island came before. */
static void tcp_data_fill_gap(struct tcp_conn *c, const struct tcp_segment *seg, struct rte_mbuf *m)
{
	uint32_t end = seg->seq + seg->len;
	struct tcp_range first;

	if (likely(!tcp_data_gaps(c))) {
		tcp_text_in_order(c, seg, m);
		return;
	}
	first = tcp_ooo_at(&c->ooo_state->ooo, 0)->r;
	if (tcp_ooo_has_notes_before(&c->ooo_state->ooo, end)) {
		/* RFC 5044 appendix A.3: what was taken is not given again. */
		tcp_data_keep_text(c, seg, m);
	} else {
		if (seq_lt(first.left, end))
			tcp_ooo_state_duplicate(
				c, (struct tcp_range){first.left, seq_min(first.right, end)});
		tcp_text_in_order(c, seg, m);
	}
	while (tcp_in(c, TCP_STATES_RECEIVING) && tcp_data_is_draining(c))
		tcp_data_drain(c);
}

/** Cut what is before RCV.NXT or beyond the window off @p seg and its text. @return the text. */
static struct rte_mbuf *tcp_data_trim(
	struct tcp_conn *c, struct tcp_segment *seg, struct rte_mbuf *m)
{
	uint32_t end = seg->seq + seg->len;

	if (seq_gt(end, c->rcv_adv)) {
		uint32_t n = u32_min(end - c->rcv_adv, seg->len);

		tcp_mbuf_trim_back(m, n);
		seg->len -= n;
		seg->flags &= (uint8_t)~TCP_FIN;
		c->ack_now = true;
		tcp_conn_mark_dirty(c);
	}
	if (seg->len && seq_lt(seg->seq, c->rcv_nxt)) {
		uint32_t n = u32_min(c->rcv_nxt - seg->seq, seg->len);

		tcp_ooo_state_duplicate(c, (struct tcp_range){seg->seq, seg->seq + n});
		if (n < seg->len)
			m = tcp_mbuf_trim_front(m, n);
		seg->seq += n;
		seg->len -= n;
	}
	return m;
}

/** RFC 9293 section 3.10.7.4, eighth: every byte before the FIN has come. */
static void tcp_data_fin_arrives(struct tcp_conn *c)
{
	c->rcv_nxt++;
	if (seq_lt(c->rcv_adv, c->rcv_nxt))
		c->rcv_adv = c->rcv_nxt;
	c->fin_received = true;
	c->fin_ooo = false;
	c->ack_now = true;
	tcp_conn_mark_dirty(c);
	if (c->state == TCP_ESTABLISHED)
		c->state = TCP_CLOSE_WAIT;
	else if (c->state == TCP_FIN_WAIT_1)
		c->state = TCP_CLOSING;
	c->eof_owed = true;
	tcp_show_unread(c);
	if (c->state == TCP_FIN_WAIT_2)
		tcp_conn_time_wait(c);
}

void tcp_text_arrives(struct tcp_conn *c, struct tcp_segment *seg, struct rte_mbuf *m)
{
	if (seg->len && (seg->seq != c->rcv_nxt || tcp_data_gaps(c)))
		tcp_data_answer_at_once(c);
	m = tcp_data_trim(c, seg, m);
	if (seg->flags & TCP_FIN) {
		uint32_t fin = seg->seq + seg->len;

		/* It needs no room: the edge of the window will do. */
		if (seq_geq(fin, c->rcv_nxt) && seq_leq(fin, c->rcv_adv)) {
			c->fin_ooo = true;
			c->rcv_fin = fin;
		} else {
			c->ack_now = true;
			tcp_conn_mark_dirty(c);
		}
	}
	if (!seg->len) {
		rte_pktmbuf_free(m);
	} else if (seg->seq != c->rcv_nxt) {
		tcp_data_keep_out_of_order(c, seg, m);
	} else {
		tcp_data_fill_gap(c, seg, m);
	}
	if (c->state != TCP_CLOSED && c->fin_ooo && c->rcv_fin == c->rcv_nxt)
		tcp_data_fin_arrives(c);
	else if (c->fin_ooo && c->state != TCP_CLOSED && !seg->len) {
		c->ack_now = true; /* a FIN beyond a gap */
		tcp_conn_mark_dirty(c);
	}
}
