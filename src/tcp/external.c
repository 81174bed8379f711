/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/external.h"

#include "tcp/conn.h"
#include "tcp/stack.h"
#include "tcp/timers.h"

#include <errno.h>
#include <inttypes.h>
#include <rte_malloc.h>
#include <stdlib.h>

/** How often the port is asked to let go of what it has sent, at most. */
#define TCP_EXTERNAL_SETTLE 10000

/** One that is handed out as the opaque struct llp_memory. */
struct tcp_memory {
	/** One reference is its owner's, the others are those of mbufs. */
	struct rte_mbuf_ext_shared_info shared;
	void *addr;
	size_t len;
	void (*unmap)(void *ctx, const void *addr, size_t len);
	void *ctx;
};

static struct tcp_memory *tcp_memory_of(const struct llp_memory *m)
{
	return (struct tcp_memory *)(uintptr_t)m;
}

/* ---- loans --------------------------------------------------------------------------------- */

static void tcp_external_zeros_free(void *addr, void *zeros)
{
	rte_free(zeros);
}

static void tcp_external_zeros_drop(struct tcp_external_zeros *z)
{
	if (rte_mbuf_ext_refcnt_update(&z->shared, -1) == 0)
		tcp_external_zeros_free(NULL, z);
}

static void tcp_external_loan_free(void *addr, void *loan)
{
	struct tcp_external_loan *l = loan;

	tcp_external_zeros_drop(l->zeros);
	free(l);
}

/** @return false: there is no memory, or there are so many loans that no more can be counted. */
static bool tcp_external_lend(struct tcp_conn *c)
{
	struct tcp_external_loan *l = c->loan;

	if (l)
		return true;
	if (rte_mbuf_ext_refcnt_read(&c->s->zeros->shared) == UINT16_MAX)
		return false;
	l = malloc(sizeof *l);
	if (!l)
		return false;
	*l = (struct tcp_external_loan){
		.shared = {.free_cb = tcp_external_loan_free, .fcb_opaque = l},
		.zeros = c->s->zeros};
	rte_mbuf_ext_refcnt_set(&l->shared, 1);
	rte_mbuf_ext_refcnt_update(&l->zeros->shared, 1);
	c->loan = l;
	return true;
}

/* ---- mbufs --------------------------------------------------------------------------------- */

bool tcp_external_is_of(const struct rte_mbuf *m, const struct llp_memory *memory)
{
	return m->next->shinfo == &tcp_memory_of(memory)->shared;
}

static void tcp_external_attach(struct rte_mbuf *m, void *bytes, rte_iova_t iova, uint32_t len,
	struct rte_mbuf_ext_shared_info *shared)
{
	rte_pktmbuf_attach_extbuf(m, bytes, iova, (uint16_t)len, shared);
	rte_mbuf_ext_refcnt_update(shared, 1);
	m->data_len = (uint16_t)len;
	m->pkt_len = len;
}

bool tcp_external_chain(struct tcp_conn *c, struct rte_mbuf *m, uint32_t len, uint32_t head,
	const struct llp_external *e)
{
	struct tcp_external_zeros *z = c->s->zeros;
	struct rte_mbuf *v[2];

	if (!tcp_external_lend(c) || rte_pktmbuf_alloc_bulk(c->s->cfg.external.pool, v, 2))
		return false;
	c->loan->left = 0;
	/* Devices know the program's memory by its own addresses. */
	tcp_external_attach(v[0], (void *)(uintptr_t)e->from, (uintptr_t)e->from, e->len,
		&tcp_memory_of(e->memory)->shared);
	tcp_external_attach(v[1], z->bytes, rte_malloc_virt2iova(z->bytes), len - head - e->len,
		&c->loan->shared);
	m->next = v[0];
	v[0]->next = v[1];
	m->nb_segs = 3;
	return true;
}

/* ---- a device that loses them --------------------------------------------------------------- */

bool tcp_external_backs_off(const struct tcp_conn *c)
{
	return c->loan && tcp_external_backoff_lasts(&c->loan->backoff, c->s->now);
}

void tcp_external_sent(struct tcp_conn *c)
{
	uint64_t ns = tcp_external_backoff_sent(&c->loan->backoff, c->s->now);

	c->s->stats.external_out++;
	if (ns == 0)
		return;
	log_printf(c->s->cfg.log, log_level_of_count(++c->s->stats.external_backoffs),
		"tcp: a connection lost many of the segments that the port was to gather from the "
		"program's memory: it copies for %" PRIu64 " s",
		ns / (1000 * TCP_MS));
}

void tcp_external_lost(struct tcp_conn *c)
{
	tcp_external_backoff_lost(&c->loan->backoff);
}

/* ---- copies -------------------------------------------------------------------------------- */

bool tcp_external_is_taken(const struct tcp_conn *c)
{
	return c->s->zeros && !tcp_external_backs_off(c) &&
	       ip_gathers(c->s->cfg.ip, &c->path, IP_PROTO_TCP);
}

/** The stream cannot go on without those bytes. */
static void tcp_external_fail(struct tcp_conn *c)
{
	c->closing_early = true;
	tcp_timers_set_life(c, c->s->now);
}

int tcp_external_own_record(struct tcp_conn *c, uint32_t i)
{
	int r;

	if (c->closing_early)
		return -ENOMEM;
	do
		r = tcp_sendq_own(&c->sendq, i, c->s->cfg.pool);
	while (r == -ENOMEM && tcp_stack_refill(c->s));
	if (r == -EFAULT)
		tcp_external_fail(c);
	return r ? -ENOMEM : 0;
}

bool tcp_external_own(struct tcp_conn *c, const struct llp_memory *memory)
{
	for (uint32_t i = 0; i < c->sendq.count; i++) {
		const struct tcp_record *r = tcp_sendq_at(&c->sendq, i);

		if (!(r->flags & TCP_REC_EXTERNAL) || (memory && !tcp_external_is_of(r->m, memory)))
			continue;
		if (tcp_external_own_record(c, i)) {
			tcp_external_fail(c);
			return false;
		}
	}
	return true;
}

/* ---- what the port has ---------------------------------------------------------------------- */

/** A frame with a part that counts as a reference to @p shared. */
static bool tcp_external_is_with(const struct rte_mbuf *m, const void *shared)
{
	for (m = m->next; m; m = m->next)
		if (RTE_MBUF_HAS_EXTBUF(m) && m->shinfo == shared)
			return true;
	return false;
}

/** All references but the first are those of frames. */
static bool tcp_external_is_settled(struct rte_mbuf_ext_shared_info *shared)
{
	return rte_mbuf_ext_refcnt_read(shared) == 1;
}

/** @param wait also for what the device has: it may be that all references are frames' soon. */
static void tcp_external_settle_frames(
	struct tcp_stack *s, struct rte_mbuf_ext_shared_info *shared, bool wait)
{
	const struct tcp_external_config *cfg = &s->cfg.external;
	bool helps;

	if (tcp_external_is_settled(shared))
		return;
	helps = cfg->settle(cfg->ctx) && wait;
	/* While its link is down, or it is busy, there is no end to waiting for what it has yet to
	 * take. */
	if (!tcp_external_is_settled(shared)) {
		ip_drop_waiting(s->cfg.ip, tcp_external_is_with, shared);
		cfg->drop(cfg->ctx, tcp_external_is_with, shared);
	}
	for (unsigned i = 0; i < TCP_EXTERNAL_SETTLE && helps; i++)
		helps = !tcp_external_is_settled(shared) && cfg->settle(cfg->ctx);
}

void tcp_external_settle(struct tcp_conn *c, bool owned)
{
	struct tcp_external_loan *l = c->loan;

	if (!l || rte_mbuf_ext_refcnt_read(&l->shared) == l->left)
		return;
	tcp_external_settle_frames(c->s, &l->shared, owned);
	if (owned)
		l->left = rte_mbuf_ext_refcnt_read(&l->shared);
}

void tcp_external_end(struct tcp_conn *c)
{
	struct tcp_external_loan *l = c->loan;

	if (!l)
		return;
	tcp_external_settle(c, true);
	c->loan = NULL;
	if (rte_mbuf_ext_refcnt_update(&l->shared, -1) == 0)
		tcp_external_loan_free(NULL, l);
}

/* ---- memory -------------------------------------------------------------------------------- */

static void tcp_memory_free(void *addr, void *memory)
{
	struct tcp_memory *m = memory;

	m->unmap(m->ctx, m->addr, m->len);
	free(m);
}

static void tcp_memory_drop(struct tcp_memory *m)
{
	if (rte_mbuf_ext_refcnt_update(&m->shared, -1) == 0)
		tcp_memory_free(m->addr, m);
}

struct llp_memory *tcp_external_add(struct tcp_stack *s, void *addr, size_t len)
{
	const struct tcp_external_config *cfg = &s->cfg.external;
	struct tcp_memory *m;

	if (!s->zeros)
		return NULL;
	m = malloc(sizeof *m);
	if (!m)
		return NULL;
	*m = (struct tcp_memory){.shared = {.free_cb = tcp_memory_free, .fcb_opaque = m},
		.addr = addr,
		.len = len,
		.unmap = cfg->unmap,
		.ctx = cfg->ctx};
	rte_mbuf_ext_refcnt_set(&m->shared, 1);
	if (cfg->map(cfg->ctx, addr, len)) {
		free(m);
		return NULL;
	}
	return (struct llp_memory *)(void *)m;
}

void tcp_external_remove(struct tcp_stack *s, struct llp_memory *memory)
{
	struct tcp_memory *m = tcp_memory_of(memory);

	for (uint32_t i = 0; rte_mbuf_ext_refcnt_read(&m->shared) > 1 && i <= s->table.mask; i++) {
		struct tcp_conn *c = tcp_slot_conn(s->table.slot[i]);

		if (c)
			tcp_external_own(c, memory);
	}
	/* What the device has yet to read, it reads now, or from pages that stay ours until then.
	 */
	tcp_external_settle_frames(s, &m->shared, true);
	tcp_memory_drop(m);
}

/* ---- life ---------------------------------------------------------------------------------- */

int tcp_external_init(struct tcp_stack *s)
{
	if (!s->cfg.external.pool)
		return 0;
	s->zeros = rte_zmalloc("tcp zeros", sizeof *s->zeros, 0);
	if (!s->zeros)
		return -ENOMEM;
	s->zeros->shared.free_cb = tcp_external_zeros_free;
	s->zeros->shared.fcb_opaque = s->zeros;
	rte_mbuf_ext_refcnt_set(&s->zeros->shared, 1);
	return 0;
}

void tcp_external_fini(struct tcp_stack *s)
{
	/* The port may have some mbufs still. */
	if (s->zeros)
		tcp_external_zeros_drop(s->zeros);
}
