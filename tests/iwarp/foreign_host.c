/* SPDX-License-Identifier: BSD-2-Clause */
#include "foreign_host.h"

#include "support/engine_round.h"

#include <assert.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- what it is like --------------------------------------------------------------------------
 */

static void draw_config(struct foreign_host *h, struct rnic_config *c)
{
	struct foreign_world *w = h->world;
	struct foreign_rnic *p = h->peer;

	*c = (struct rnic_config){
		.mpa = {.revision = world_chance(w, 0.75) ? 2 : 1,
			.crc = (uint8_t)world_below(w, 3),
			.markers = world_chance(w, 0.4),
			.peer_to_peer = world_chance(w, 0.5),
			.rtr = (uint8_t)(1 + world_below(w, 7)),
			.in_order = world_chance(w, 0.2),
			.send_imm = world_chance(w, 0.5),
			.tell_acked = world_chance(w, 0.3)},
		.rnr_timeout_ms = world_chance(w, 0.4) ? 600000 : 0,
	};
	/* It may not like a reply without the C bit: that is no fault of the peer's. */
	if (c->mpa.crc == MPA_CRC_REQUIRED)
		p->crc = true;
	w->waits = c->rnr_timeout_ms != 0;
	/* Else what is placed cannot wait. */
	c->mpa.in_order = c->mpa.in_order || w->waits;
	p->host_crc = c->mpa.crc != MPA_CRC_OFF;
	p->host_markers = c->mpa.markers;
	p->host_p2p = c->mpa.peer_to_peer;
	p->host_rtr = c->mpa.rtr;
	p->host_revision = c->mpa.revision;
	p->host_ird = (uint16_t)world_below(w, 9);
	p->host_ord = (uint16_t)world_below(w, 9);
	/* What both can do. */
	if (!(p->rtr & p->host_rtr))
		p->rtr |= p->host_rtr;
}

static void register_area(struct foreign_host *h, enum foreign_area area)
{
	static const unsigned access[AREAS] = {
		[AREA_RECV] = RNIC_ACCESS_LOCAL_WRITE,
		[AREA_SINK] = RNIC_ACCESS_LOCAL_WRITE,
		[AREA_WRITE] =
			RNIC_ACCESS_LOCAL_WRITE | RNIC_ACCESS_REMOTE_WRITE | RNIC_ACCESS_MW_BIND,
		[AREA_READ] = RNIC_ACCESS_REMOTE_READ | RNIC_ACCESS_MW_BIND,
		[AREA_ATOMIC] = RNIC_ACCESS_LOCAL_WRITE | RNIC_ACCESS_REMOTE_ATOMIC,
		[AREA_OTHER] = RNIC_ACCESS_LOCAL_WRITE | RNIC_ACCESS_REMOTE_WRITE |
			       RNIC_ACCESS_REMOTE_READ | RNIC_ACCESS_REMOTE_ATOMIC,
	};
	struct foreign_world *w = h->world;
	struct rnic_pd *pd = area == AREA_OTHER ? h->other : h->pair.a.pd;
	uint8_t *at = world_area(w, area);

	w->iova[area] = (uintptr_t)at;
	if (world_chance(w, 0.6))
		w->iova[area] =
			world_chance(w, 0.3) ? 0 : (prng_u64(&w->random) >> 1) & ~UINT64_C(7);
	assert_int_equal(
		rnic_mr_reg(pd, at, AREA_LEN, w->iova[area], access[area], &h->mr[area]), 0);
	w->stag[area] = rnic_mr_stag(h->mr[area]);
}

static void make_memory(struct foreign_host *h)
{
	struct foreign_world *w = h->world;

	w->memory = aligned_alloc(64, AREAS * (size_t)AREA_LEN);
	h->told = malloc(AREAS * (size_t)AREA_LEN);
	h->base = malloc(AREA_LEN);
	assert(w->memory && h->told && h->base);
	for (unsigned i = 0; i < AREAS; i++)
		memcpy(world_area(w, i), w->noise + 7919 * i % (NOISE_LEN - AREA_LEN), AREA_LEN);
	memcpy(h->told, w->memory, AREAS * (size_t)AREA_LEN);
	memcpy(h->base, world_area(w, AREA_WRITE), AREA_LEN);
	memcpy(w->atomic, world_area(w, AREA_ATOMIC), sizeof w->atomic);
}

void foreign_host_start(struct foreign_host *h, struct foreign_world *w, struct foreign_rnic *p)
{
	static const uint32_t emss[] = {536, 1448, 1448, 8948};
	const struct rnic_qp_attr rights = {.access = RNIC_ACCESS_REMOTE_WRITE |
						      RNIC_ACCESS_REMOTE_READ |
						      RNIC_ACCESS_REMOTE_ATOMIC};
	struct rnic_config config;

	memset(h, 0, sizeof *h);
	h->world = w;
	h->peer = p;
	draw_config(h, &config);
	pair_engine_init(&h->pair);
	h->pair.quiet = true;
	llp_mem_set_emss(h->pair.mem, emss[world_below(w, 4)]);
	w->whole = world_chance(w, 0.6);
	if (!w->whole)
		llp_mem_set_random_segment(
			h->pair.mem, 1 + world_below(w, 600), (uint32_t)prng_u64(&w->random) | 1);
	if (world_chance(w, 0.3))
		llp_mem_set_buffer(h->pair.mem, 2000 + world_below(w, 20000));
	pair_rnic(&h->pair, &h->pair.a, 0, &config);
	pair_side(&h->pair.a);
	assert_int_equal(rnic_qp_modify(h->pair.a.qp, RNIC_QP_ACCESS, &rights), 0);
	assert_int_equal(rnic_pd_alloc(h->pair.a.rnic, &h->other), 0);
	make_memory(h);
	for (unsigned i = 0; i < AREAS; i++)
		register_area(h, i);
	for (unsigned i = 0; i < WINDOWS; i++) {
		assert_int_equal(rnic_mw_alloc(h->pair.a.pd, RNIC_MW_TYPE_2, &h->mw[i]), 0);
		w->window[i].stag = rnic_mw_stag(h->mw[i]);
	}
}

void foreign_host_end(struct foreign_host *h)
{
	struct side *s = &h->pair.a;

	if (s->request)
		rnic_ep_destroy(s->request);
	s->request = NULL;
	if (s->qp)
		assert_int_equal(rnic_qp_destroy(s->qp), 0);
	s->qp = NULL;
	for (unsigned i = 0; i < WINDOWS; i++)
		assert_int_equal(rnic_mw_dealloc(h->mw[i]), 0);
	for (unsigned i = 0; i < AREAS; i++)
		assert_int_equal(rnic_mr_dereg(h->mr[i]), 0);
	assert_int_equal(rnic_pd_dealloc(h->other), 0);
	foreign_rnic_end(h->peer);
	pair_run(&h->pair);
	pair_fini(&h->pair);
	free(h->world->memory);
	free(h->told);
	free(h->base);
}

/* ---- connecting -------------------------------------------------------------------------------
 */

static struct rnic_conn_param conn_param(struct foreign_host *h)
{
	return (struct rnic_conn_param){.qp = h->pair.a.qp,
		.ird = h->peer->host_ird,
		.ord = h->peer->host_ord,
		.private_data = h->world->noise,
		.private_len =
			(uint16_t)world_below(h->world, world_chance(h->world, 0.2) ? 509 : 30)};
}

static void ask(struct foreign_host *h)
{
	struct ip_endpoint here = llp_mem_endpoint(h->pair.mem, 0, PAIR_PORT);
	struct ip_endpoint there = llp_mem_endpoint(h->pair.mem, 1, PAIR_PORT);
	struct rnic_conn_param cp = conn_param(h);
	struct side *s = &h->pair.a;

	h->asked = true;
	if (h->peer->initiator) {
		assert_int_equal(rnic_ep_bind(s->ep, &here, false, false), 0);
		assert_int_equal(rnic_ep_listen(s->ep, 4), 0);
		llp_mem_peer_connect(&h->peer->tcp, h->pair.mem, 1, &here);
	} else {
		llp_mem_peer_listen(&h->peer->tcp, h->pair.mem, 1, PAIR_PORT);
		assert_int_equal(rnic_ep_resolve(s->ep, &there, 0), 0);
		assert_int_equal(rnic_ep_connect(s->ep, &cp), 0);
	}
}

void foreign_host_connect(struct foreign_host *h)
{
	struct side *s = &h->pair.a;
	struct rnic_conn_param cp = conn_param(h);

	if (!h->asked) {
		ask(h);
	} else if (s->request && !h->accepted) {
		rnic_ep_set_context(s->request, pair_ep_event, s);
		h->accepted = true;
		/* -ENOTCONN: the peer is gone already. */
		(void)rnic_ep_accept(s->request, &cp);
	}
}

bool foreign_host_is_connected(const struct foreign_host *h)
{
	return pair_count(&h->pair.a, RNIC_EP_ESTABLISHED) != 0;
}

bool foreign_host_has_all(const struct foreign_host *h)
{
	const struct foreign_rnic *p = h->peer;
	size_t held;

	return p->tcp.llp && !llp_mem_pending(p->tcp.llp, &held) && !p->out_len && !p->write.open &&
	       h->world->received == h->world->deliveries;
}

void foreign_host_disconnect(struct foreign_host *h)
{
	h->world->closed = true;
	h->world->receives_closed = h->world->receives;
	(void)rnic_ep_disconnect(h->peer->initiator ? h->pair.a.request : h->pair.a.ep);
}

void foreign_host_stop(struct foreign_host *h)
{
	h->world->stopped = true;
	assert_int_equal(pair_go(h->pair.a.qp, RNIC_QP_ERROR), 0);
}

/** Segments overtake those before them. */
static void shuffle(struct foreign_host *h)
{
	struct foreign_world *w = h->world;

	if (!h->peer->tcp.llp || !h->peer->tcp.connected)
		return;
	engine_lock(&h->pair.engine);
	for (unsigned n = world_below(w, 4); n; n--) {
		if (!llp_mem_ooo(h->peer->tcp.llp, 1 + world_below(w, 4)))
			continue;
		w->shuffled = true;
		w->overtaken = w->overtaken || w->broken;
	}
	engine_unlock(&h->pair.engine);
}

bool foreign_host_move(struct foreign_host *h, unsigned steps)
{
	struct llp_mem *m = h->pair.mem;
	bool any = false, more = true;

	if (world_chance(h->world, 0.5))
		shuffle(h);
	while (steps-- && more) {
		engine_lock(&h->pair.engine);
		more = llp_mem_step(m);
		engine_unlock(&h->pair.engine);
		any = any || more;
	}
	(void)engine_round(&h->pair.engine);
	return any;
}
