/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/llp_ops.h"

#include "base/container_of.h"
#include "base/guarded.h"
#include "tcp/buffer.h"
#include "tcp/control.h"
#include "tcp/external.h"
#include "tcp/input.h"
#include "tcp/listen.h"
#include "tcp/mbuf.h"
#include "tcp/output.h"
#include "tcp/timers.h"

#include <errno.h>
#include <string.h>

/** writable() comes when so much room is there: buffers are best filled many at a time.
 */
#define WRITABLE_STEP (64u * 1024)
/**
 * Text that we write lies so far behind the headroom, if that leaves room for a full segment: its
 * headers are not in the headroom then, which no packet that came has touched, but where the one
 * that was freed last had its own, and that is in the caches. What both IPs and a timestamp take.
 */
#define TEXT_OFFSET RTE_ALIGN(IP_HEADROOM + TCP_HEADER_LEN + TCP_TS_LEN, 32u)

static uint32_t tcp_llp_emss(const struct llp *l)
{
	return tcp_conn_of(l)->emss;
}

static bool tcp_llp_can_queue(const struct tcp_conn *c)
{
	return !c->fin_queued && !c->closing_early &&
	       tcp_in(c, TCP_STATE_BIT(TCP_SYN_SENT) | TCP_STATE_BIT(TCP_SYN_RECEIVED) |
				 TCP_STATE_BIT(TCP_ESTABLISHED) | TCP_STATE_BIT(TCP_CLOSE_WAIT));
}

static void *tcp_llp_refuse(struct tcp_conn *c)
{
	c->write_refused = true;
	tcp_conn_mark_dirty(c);
	return NULL;
}

/** The end of the last record, if @p len bytes may join it there. */
static void *tcp_llp_join_room(struct tcp_conn *c, uint32_t len)
{
	struct tcp_record *r = tcp_sendq_unsent_tail(&c->sendq);

	if (!r || !r->m || (r->flags & TCP_REC_EXTERNAL) || rte_mbuf_refcnt_read(r->m) != 1 ||
		r->len >= c->emss || len > c->emss - r->len ||
		len > (uint32_t)r->m->buf_len - r->off - r->len)
		return NULL;
	return tcp_record_text(r) + r->len;
}

static void *tcp_llp_reserve(struct llp *l, uint32_t len, bool join)
{
	struct tcp_conn *c = tcp_conn_of(l);
	struct rte_mbuf *m;
	void *room;

	if (!tcp_llp_can_queue(c) || len == 0 || len > c->s->room)
		return NULL;
	if (!tcp_buffer_may_queue(c, len) || tcp_conn_send_room(c))
		return tcp_llp_refuse(c);
	room = join ? tcp_llp_join_room(c, len) : NULL;
	if (room) {
		c->reserved_join = (uint16_t)len; /* no more than a packet has */
		return room;
	}
	m = tcp_stack_packet(c->s);
	if (!m)
		return tcp_llp_refuse(c);
	if (likely(u32_max(len, c->emss) + TEXT_OFFSET <= c->s->room))
		m->data_off = (uint16_t)(m->data_off + TEXT_OFFSET);
	c->reserved = m;
	return rte_pktmbuf_mtod(m, void *);
}

static uint32_t tcp_llp_end_of_queue(const struct tcp_conn *c)
{
	const struct tcp_sendq *q = &c->sendq;

	return q->count ? tcp_record_end(tcp_sendq_at(q, q->count - 1)) : c->snd_nxt;
}

static bool tcp_llp_sums(const struct llp *l)
{
	const struct tcp_conn *c = tcp_conn_of(l);

	return ip_sums(c->s->cfg.ip, &c->path, IP_PROTO_TCP);
}

static void tcp_llp_commit(struct llp *l, uint32_t len, uint32_t sum)
{
	struct tcp_conn *c = tcp_conn_of(l);
	struct rte_mbuf *m = c->reserved;

	if (c->reserved_join) {
		tcp_record_append(tcp_sendq_at(&c->sendq, c->sendq.count - 1), len, sum);
		c->sendq.bytes += len;
		c->reserved_join = 0;
		return;
	}
	c->reserved = NULL;
	if (len == 0) {
		rte_pktmbuf_free(m);
		return;
	}
	if (!m)
		return; /* the connection ended in between */
	tcp_sendq_push(&c->sendq, m, m->data_off, len, tcp_llp_end_of_queue(c),
		sum == LLP_SUM_UNKNOWN ? 0 : TCP_REC_SUM);
	tcp_sendq_at(&c->sendq, c->sendq.count - 1)->sum = (uint16_t)sum;
	c->s->tx_held++;
}

static bool tcp_llp_takes_external(const struct llp *l)
{
	return tcp_external_is_taken(tcp_conn_of(l));
}

/** There is no chain to be had: the text is copied after all. */
static bool tcp_llp_copy_external(
	struct llp *l, uint8_t *room, uint32_t len, uint32_t head, const struct llp_external *e)
{
	memset(room + head + e->len, 0, len - head - e->len);
	if (!guarded_copy_from(room + head, e->from, e->len))
		return false;
	tcp_llp_commit(l, len, LLP_SUM_UNKNOWN);
	return true;
}

static bool tcp_llp_commit_external(
	struct llp *l, uint32_t len, uint32_t head, const struct llp_external *e)
{
	struct tcp_conn *c = tcp_conn_of(l);
	struct tcp_record *last;

	if (c->reserved_join) {
		last = tcp_sendq_at(&c->sendq, c->sendq.count - 1);
		return tcp_llp_copy_external(l, tcp_record_text(last) + last->len, len, head, e);
	}
	if (!c->reserved)
		return true; /* the connection ended in between */
	if (!tcp_external_chain(c, c->reserved, len, head, e))
		return tcp_llp_copy_external(
			l, rte_pktmbuf_mtod(c->reserved, uint8_t *), len, head, e);
	tcp_llp_commit(l, len, LLP_SUM_UNKNOWN);
	last = tcp_sendq_at(&c->sendq, c->sendq.count - 1);
	last->flags |= TCP_REC_EXTERNAL;
	last->sum = 0;
	return true;
}

static bool tcp_llp_own_external(struct llp *l)
{
	struct tcp_conn *c = tcp_conn_of(l);
	bool owned = tcp_external_own(c, NULL);

	tcp_external_settle(c, owned);
	return owned;
}

static void tcp_llp_push(struct llp *l)
{
	struct tcp_conn *c = tcp_conn_of(l);

	c->push_seq = tcp_llp_end_of_queue(c);
	tcp_output(c);
}

static void tcp_llp_resume(struct llp *l)
{
	struct tcp_conn *c = tcp_conn_of(l);

	c->read_need = 0;
	if (c->in_readable) {
		c->resume = true;
		return;
	}
	tcp_show_unread(c);
	/* Called outside a round, perhaps: the window must not wait for the next one. */
	if (c->state != TCP_CLOSED && c->ack_now && tcp_synchronized(c))
		tcp_send_ack(c);
}

static bool tcp_llp_took_ooo(const struct llp *l)
{
	const struct tcp_conn *c = tcp_conn_of(l);

	return c->ooo_state && tcp_ooo_has_notes(&c->ooo_state->ooo);
}

static size_t tcp_llp_unacked(const struct llp *l)
{
	return tcp_conn_of(l)->sendq.bytes;
}

static uint64_t tcp_llp_queued(const struct llp *l)
{
	const struct tcp_conn *c = tcp_conn_of(l);

	return c->bytes_acked + (tcp_llp_end_of_queue(c) - c->snd_una);
}

static uint64_t tcp_llp_acked(const struct llp *l)
{
	return tcp_conn_of(l)->bytes_acked;
}

static void tcp_llp_watch_acks(struct llp *l)
{
	tcp_conn_of(l)->acks_watched = true;
}

static void tcp_llp_shutdown_sending(struct llp *l)
{
	struct tcp_conn *c = tcp_conn_of(l);

	if (c->state == TCP_SYN_SENT) { /* RFC 9293 section 3.10.4: delete; but not from in here */
		c->closing_early = true;
		tcp_timers_set_life(c, c->s->now);
		return;
	}
	tcp_conn_queue_fin(c);
	tcp_output(c);
}

static void tcp_llp_let_go(struct tcp_conn *c)
{
	c->llp.user_ops = NULL;
	c->orphan = true;
}

static void tcp_llp_abort_connection(struct llp *l)
{
	struct tcp_conn *c = tcp_conn_of(l);

	tcp_llp_let_go(c);
	/* RFC 9293 section 3.10.5. */
	if (tcp_in(c, TCP_STATE_BIT(TCP_SYN_RECEIVED) | TCP_STATE_BIT(TCP_ESTABLISHED) |
			      TCP_STATE_BIT(TCP_FIN_WAIT_1) | TCP_STATE_BIT(TCP_FIN_WAIT_2) |
			      TCP_STATE_BIT(TCP_CLOSE_WAIT)))
		tcp_send_rst(c);
	tcp_conn_close(c, -ECONNABORTED);
}

/** From here on, it has the user timeout. */
static void tcp_llp_begin_orphan(struct tcp_conn *c)
{
	c->orphan = true;
	(void)tcp_llp_own_external(&c->llp);
	c->progress_at = c->s->now;
	if (!c->in_readable) /* else it is dropped after that */
		tcp_conn_drop_unread(c);
}

static void tcp_llp_orphan(struct llp *l)
{
	struct tcp_conn *c = tcp_conn_of(l);

	if (c->orphan || !tcp_synchronized(c))
		return;
	tcp_llp_begin_orphan(c);
	if (c->state == TCP_FIN_WAIT_2)
		tcp_timers_set_life(c, c->s->now + TCP_ORPHAN_FIN_WAIT_2);
	tcp_conn_orphan(c);
}

static void tcp_llp_release(struct llp *l)
{
	struct tcp_conn *c = tcp_conn_of(l);
	bool was = c->orphan;

	c->llp.user_ops = NULL;
	if (c->state == TCP_SYN_SENT) {
		tcp_conn_close(c, -ECONNABORTED);
		return;
	}
	if (!was)
		tcp_llp_begin_orphan(c);
	tcp_conn_queue_fin(c);
	tcp_output(c);
	if (c->state == TCP_FIN_WAIT_2)
		tcp_timers_set_life(c, c->s->now + TCP_ORPHAN_FIN_WAIT_2);
	if (!was)
		tcp_conn_orphan(c);
}

static void tcp_llp_endpoints(
	const struct llp *l, struct ip_endpoint *local, struct ip_endpoint *remote)
{
	const struct tcp_tuple *id = &tcp_conn_of(l)->id;

	*local = (struct ip_endpoint){id->local, id->lport};
	*remote = (struct ip_endpoint){id->remote, id->rport};
}

const struct llp_ops tcp_llp_ops = {
	.emss = tcp_llp_emss,
	.reserve = tcp_llp_reserve,
	.sums = tcp_llp_sums,
	.commit = tcp_llp_commit,
	.takes_external = tcp_llp_takes_external,
	.commit_external = tcp_llp_commit_external,
	.own_external = tcp_llp_own_external,
	.push = tcp_llp_push,
	.resume = tcp_llp_resume,
	.took_ooo = tcp_llp_took_ooo,
	.unacked = tcp_llp_unacked,
	.queued = tcp_llp_queued,
	.acked = tcp_llp_acked,
	.watch_acks = tcp_llp_watch_acks,
	.shutdown = tcp_llp_shutdown_sending,
	.abort = tcp_llp_abort_connection,
	.orphan = tcp_llp_orphan,
	.release = tcp_llp_release,
	.endpoints = tcp_llp_endpoints,
	.set_tos = tcp_set_tos,
};

void tcp_consider_writable(struct tcp_conn *c)
{
	if (!c->write_refused)
		return;
	if (!tcp_buffer_may_queue(c, u32_min(tcp_buffer_send_limit(c) / 8, WRITABLE_STEP))) {
		if (!tcp_flight(c) && !c->persist)
			tcp_conn_mark_dirty(c); /* no ACK will come to remind us */
		return;
	}
	c->write_refused = false;
	if (c->llp.user_ops && c->llp.user_ops->writable)
		c->llp.user_ops->writable(c->llp.user);
}

void tcp_tell_acked(struct tcp_conn *c)
{
	if (c->acks_watched && c->llp.user_ops)
		c->llp.user_ops->acked(c->llp.user);
}

/* ---- the stack's side -------------------------------------------------------------------- */

static struct tcp_stack *tcp_llp_stack_of(struct llp_stack *s)
{
	return container_of(s, struct tcp_stack, llp);
}

struct port_query {
	struct tcp_stack *s;
	struct tcp_tuple id;
};

static bool tcp_llp_port_free(void *ctx, uint16_t port)
{
	struct port_query *q = ctx;
	const struct ip_endpoint local = {q->id.local, port};

	q->id.lport = port;
	return !tcp_table_find(&q->s->table, &q->id) && !tcp_listener_find(q->s, &local) &&
	       !tcp_ports_reserved(&q->s->ports, &local, 0);
}

static uint16_t tcp_llp_port_choose(
	struct llp_stack *ls, const struct ip_addr *local, const struct ip_endpoint *remote)
{
	struct tcp_stack *s = tcp_llp_stack_of(ls);
	struct port_query q = {.s = s, .id = {*local, remote->addr, 0, remote->port}};

	return tcp_ports_ephemeral(&s->ports, &s->port_key, local, remote, tcp_llp_port_free, &q);
}

static int tcp_llp_choose_local(
	struct tcp_stack *s, const struct llp_connect_params *p, struct tcp_tuple *id)
{
	int err;

	*id = (struct tcp_tuple){p->local.addr, p->remote.addr, p->local.port, p->remote.port};
	if (ip_addr_is_any(&id->local)) {
		err = ip_source(s->cfg.ip, &id->remote, &id->local);
		if (err)
			return err;
	} else if (!ip_addr_is_local(s->cfg.ip, &id->local)) {
		return -EADDRNOTAVAIL;
	}
	if (id->lport)
		return 0;
	id->lport = tcp_llp_port_choose(&s->llp, &id->local, &p->remote);
	return id->lport ? 0 : -EADDRNOTAVAIL;
}

static int tcp_llp_connect(struct llp_stack *ls, const struct llp_connect_params *p,
	const struct llp_user_ops *ops, void *user, struct llp **out)
{
	struct tcp_stack *s = tcp_llp_stack_of(ls);
	const struct tcp_cc_ops *cc = s->cc;
	struct tcp_tuple id;
	struct tcp_conn *c;
	int err;

	if (p->congestion_control)
		cc = tcp_cc_find(p->congestion_control);
	if (!cc)
		return -EINVAL;
	if (ip_addr_is_any(&p->remote.addr) || ip_addr_is_multicast(&p->remote.addr))
		return -ENETUNREACH;
	err = tcp_llp_choose_local(s, p, &id);
	if (!err)
		err = tcp_conn_new(s, &id, TCP_SYN_SENT, &c);
	if (err)
		return err;
	tcp_set_tos(&c->llp, p->tos);
	c->cc.ops = cc;
	llp_set_user(&c->llp, ops, user);
	tcp_send_syn(c);
	tcp_timers_set_rtx(c, s->now + tcp_rto_get(&c->rto));
	*out = &c->llp;
	return 0;
}

/* A listener is handed out as the opaque struct llp_listener. */
static int tcp_llp_listen(struct llp_stack *ls, const struct ip_endpoint *local, unsigned backlog,
	llp_accept_fn *accept, void *user, struct llp_listener **out)
{
	struct tcp_listener *l;
	int err = tcp_listen(tcp_llp_stack_of(ls), local, backlog, accept, user, &l);

	if (!err)
		*out = (struct llp_listener *)(void *)l;
	return err;
}

static void tcp_llp_unlisten(struct llp_listener *l)
{
	tcp_unlisten((struct tcp_listener *)(void *)l);
}

static int tcp_llp_source(struct llp_stack *s, const struct ip_addr *remote, struct ip_addr *local)
{
	return ip_source(tcp_llp_stack_of(s)->cfg.ip, remote, local);
}

static int tcp_llp_reach(struct llp_stack *ls, const struct ip_addr *remote)
{
	struct tcp_stack *s = tcp_llp_stack_of(ls);

	return ip_reach(s->cfg.ip, remote, s->now);
}

static bool tcp_llp_is_local(struct llp_stack *s, const struct ip_addr *a)
{
	return ip_addr_is_local(tcp_llp_stack_of(s)->cfg.ip, a);
}

static bool tcp_llp_reservable(struct tcp_stack *s, const struct ip_endpoint *local, unsigned flags)
{
	for (const struct tcp_listener *l = s->listeners; l; l = l->next)
		if (tcp_endpoint_overlaps(&l->local, l->flags, local, flags))
			return false;
	return !tcp_ports_reserved(&s->ports, local, flags);
}

static bool tcp_llp_port_reservable(void *ctx, uint16_t port)
{
	struct port_query *q = ctx;
	const struct ip_endpoint local = {q->id.local, port};

	return tcp_llp_reservable(q->s, &local, 0);
}

static int tcp_llp_port_reserve(struct llp_stack *ls, struct ip_endpoint *local, unsigned flags)
{
	struct tcp_stack *s = tcp_llp_stack_of(ls);
	struct port_query q = {.s = s, .id.local = local->addr};
	static const struct ip_endpoint nobody;

	if (!ip_addr_is_any(&local->addr) && !ip_addr_is_local(s->cfg.ip, &local->addr))
		return -EADDRNOTAVAIL;
	if (local->port == 0) {
		local->port = tcp_ports_ephemeral(&s->ports, &s->port_key, &local->addr, &nobody,
			tcp_llp_port_reservable, &q);
		if (!local->port)
			return -EADDRINUSE;
	} else if (!tcp_llp_reservable(s, local, flags)) {
		return -EADDRINUSE;
	}
	return tcp_ports_reserve(&s->ports, local, flags);
}

static void tcp_llp_port_release(struct llp_stack *ls, const struct ip_endpoint *local)
{
	tcp_ports_release(&tcp_llp_stack_of(ls)->ports, local);
}

static struct llp_memory *tcp_llp_memory_add(struct llp_stack *s, void *addr, size_t len)
{
	return tcp_external_add(tcp_llp_stack_of(s), addr, len);
}

static void tcp_llp_memory_remove(struct llp_stack *s, struct llp_memory *m)
{
	tcp_external_remove(tcp_llp_stack_of(s), m);
}

const struct llp_stack_ops tcp_llp_stack_ops = {
	.connect = tcp_llp_connect,
	.listen = tcp_llp_listen,
	.unlisten = tcp_llp_unlisten,
	.source = tcp_llp_source,
	.reach = tcp_llp_reach,
	.is_local = tcp_llp_is_local,
	.port_reserve = tcp_llp_port_reserve,
	.port_release = tcp_llp_port_release,
	.port_choose = tcp_llp_port_choose,
	.memory_add = tcp_llp_memory_add,
	.memory_remove = tcp_llp_memory_remove,
};
