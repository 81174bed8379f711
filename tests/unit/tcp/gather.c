/* SPDX-License-Identifier: BSD-2-Clause */
#include "gather.h"

#include <stdlib.h>

/* ---- a port that gathers ------------------------------------------------------------------- */

static int map(void *ctx, const void *addr, size_t len)
{
	struct gather *g = ctx;

	g->mapped += g->map_error == 0;
	return g->map_error;
}

static void unmap(void *ctx, const void *addr, size_t len)
{
	struct gather *g = ctx;

	assert_non_null(addr);
	assert_int_equal(len, 2 * LEN);
	g->mapped--;
}

static bool settle(void *ctx)
{
	struct gather *g = ctx;

	g->settled++;
	rte_pktmbuf_free(g->with_device);
	g->with_device = NULL;
	return g->settled < g->settles;
}

/** The port's queue; unless all that was sent waits for the neighbour. */
static void drop(
	void *ctx, bool (*is_of)(const struct rte_mbuf *m, const void *arg), const void *arg)
{
	struct gather *g = ctx;

	if (!g->h.ip.waits)
		ip_double_drop(&g->h.ip, is_of, arg);
}

/* ---- a connection --------------------------------------------------------------------------- */

void gather_read(struct gather *g)
{
	memset(g->text, 'h', HEAD);
	memcpy(g->text + HEAD, g->bytes, LEN);
	memset(g->text + HEAD + LEN, 0, TAIL);
}

void gather_start(struct gather *g, unsigned mbufs)
{
	struct tcp_stack_config tweak = {
		.external = {.map = map, .unmap = unmap, .settle = settle, .drop = drop, .ctx = g}};

	test_eal_init();
	g->pool = tweak.external.pool = test_pool("external", mbufs, 0);
	g->mapped = g->settled = 0;
	g->settles = 3;
	g->map_error = 0;
	g->c = host_accepted(&g->h, &g->p, TCP_HAS_MSS | TCP_HAS_SACK_PERMITTED, &tweak);
	g->seq = g->p.ack;
	g->h.ip.no_sums = true;
	assert_true(llp_takes_external(g->h.app.llp));
	g->bytes = malloc(2 * LEN);
	for (unsigned i = 0; i < 2 * LEN; i++)
		g->bytes[i] = (uint8_t)(i * 7);
	gather_read(g);
	g->memory = llp_memory_add(g->h.llp, g->bytes, 2 * LEN);
	assert_non_null(g->memory);
	assert_int_equal(g->mapped, 1);
}

void gather_start_with_device(struct gather *g)
{
	gather_start(g, 63);
	gather_send(g);
	g->with_device = ip_double_take(&g->h.ip);
}

void gather_finish(struct gather *g)
{
	if (g->memory)
		llp_memory_remove(g->h.llp, g->memory);
	g->memory = NULL;
	host_end(&g->h);
	assert_int_equal(g->mapped, 0);
	assert_int_equal(test_pool_missing(g->pool), 0);
	rte_mempool_free(g->pool);
	free(g->bytes);
	g->bytes = NULL;
}

bool gather_commit(struct gather *g, bool join)
{
	uint8_t *room = llp_reserve(g->h.app.llp, SIZE, join);

	assert_non_null(room);
	memset(room, 'h', HEAD);
	return llp_commit_external(
		g->h.app.llp, SIZE, HEAD, &(struct llp_external){g->memory, g->bytes, LEN});
}

void gather_send(struct gather *g)
{
	assert_true(gather_commit(g, false));
	llp_push(g->h.app.llp);
}

void gather_expect(struct gather *g, uint32_t begin, uint32_t skip, uint32_t len)
{
	struct heard a;

	host_expect(&g->h, &a);
	assert_int_equal(a.h.seq, begin + skip);
	assert_int_equal(a.len, len);
	assert_memory_equal(a.text, g->text + skip, len);
}

unsigned gather_references(const struct gather *g)
{
	return test_pool_missing(g->pool);
}

bool gather_is_external(const struct gather *g, uint32_t i)
{
	return tcp_sendq_at(&g->c->sendq, i)->flags & TCP_REC_EXTERNAL;
}
