/* SPDX-License-Identifier: BSD-2-Clause */
#include "corpus/stage.h"

#include <stdio.h>
#include <stdlib.h>

static const char *name = "";

void stage_must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s: %s\n", name, what);
	exit(EXIT_FAILURE);
}

static void tap_a(void *ctx, struct rte_mbuf *m, uint64_t now)
{
	struct stage *g = ctx;

	if (++g->from_a != g->left_out)
		sim_pcapng_packet(g->file, m, now);
}

static void tap_b(void *ctx, struct rte_mbuf *m, uint64_t now)
{
	struct stage *g = ctx;

	sim_pcapng_packet(g->file, m, now);
}

static struct sim_host *host(
	struct stage *g, const struct stage_config *cfg, const char *address, struct mpa_config mpa)
{
	const struct sim_host_config c = {.address = address, .mtu = cfg->mtu, .rnic.mpa = mpa};

	return sim_host_create(g->sim, &c);
}

void stage_open(struct stage *g, const char *path, const struct stage_config *cfg)
{
	static const struct stage_config plain;
	struct sim_path_config way;

	cfg = cfg ? cfg : &plain;
	way = cfg->path;
	if (!way.delay)
		way.delay = 50 * SIM_US;
	name = path;
	*g = (struct stage){.left_out = cfg->left_out};
	g->sim = sim_create(&(struct sim_config){.seed = cfg->seed ? cfg->seed : 1});
	g->file = sim_pcapng_open(path, cfg->at_sender ? "a" : "b");
	stage_must(g->file, "cannot be written");
	g->a = host(g, cfg, cfg->v6 ? "fd00::1/64" : "10.0.0.1/24", cfg->a);
	g->b = host(g, cfg, cfg->v6 ? "fd00::2/64" : "10.0.0.2/24", cfg->b);
	sim_join(g->a, g->b, &way, NULL, &g->link);
	if (cfg->at_sender) {
		sim_link_prepend(&g->link, sim_tap_create(g->sim, tap_a, g), NULL);
		sim_path_append(&g->link.ba, sim_tap_create(g->sim, tap_b, g));
	} else {
		sim_path_append(&g->link.ab, sim_tap_create(g->sim, tap_a, g));
		sim_link_prepend(&g->link, NULL, sim_tap_create(g->sim, tap_b, g));
	}
}

void stage_pair(struct stage *g, uint16_t port)
{
	rdma_pair_create_on(&g->p, g->a, g->b, port, STAGE_SIZE);
	for (unsigned i = 0; i < STAGE_SIZE; i++) {
		g->p.a.buf[i] = (uint8_t)('a' + i % 26);
		g->p.b.buf[i] = (uint8_t)('0' + i % 10);
	}
}

static bool both_gone(void *ctx)
{
	struct stage *g = ctx;

	return g->p.a.disconnected && g->p.b.disconnected;
}

void stage_pair_end(struct stage *g)
{
	if (g->p.a.established && g->p.b.established) {
		if (!g->p.a.disconnected)
			rnic_ep_disconnect(g->p.a.ep);
		stage_until(g, both_gone, g);
	}
	rdma_pair_destroy(&g->p);
	stage_settle(g);
}

void stage_until(struct stage *g, bool (*done)(void *ctx), void *ctx)
{
	stage_must(sim_run(g->sim, STAGE_LIMIT, done, ctx), "what was to come did not");
}

void stage_settle(struct stage *g)
{
	sim_run(g->sim, SIM_S, NULL, NULL);
}

void stage_close(struct stage *g)
{
	sim_destroy(g->sim);
	stage_must(!sim_pcapng_close(g->file), "cannot be written");
}
