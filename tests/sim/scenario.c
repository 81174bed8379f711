/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/scenario.h"

#include <stdio.h>
#include <stdlib.h>

#define HEADERS        (14 + 20 + 20) /* Ethernet, IPv4, TCP without options */
#define V6_MORE        20
#define TS_OPTION      12
#define DEFAULT_MTU    1500u
#define DEFAULT_SETTLE (5 * SIM_S)

uint64_t sim_scenario_bdp(const struct sim_scenario_config *cfg)
{
	return (uint64_t)((double)cfg->rate / 8 * (double)cfg->rtt / (double)SIM_S);
}

static void fill_in(struct sim_scenario_config *c)
{
	uint64_t bdp = sim_scenario_bdp(c);

	if (!c->mtu)
		c->mtu = DEFAULT_MTU;
	if (!c->queue)
		c->queue = RTE_MAX(bdp, UINT64_C(10) * c->mtu);
	if (!c->settle)
		c->settle = DEFAULT_SETTLE;
	if (!c->sample)
		c->sample = c->duration / 600 + 1;
	c->forward.queue.rate = c->rate;
	c->forward.queue.limit = c->queue;
	c->forward.delay = c->rtt / 2;
	c->backward.delay = c->rtt - c->rtt / 2;
	if (!c->backward.queue.limit)
		c->backward.queue.limit = c->queue;
}

/**
 * What a full path and its queue hold, several times over: stacks use only shares of a pool, and
 * behind what is lost twice, text of three round trips waits.
 */
static uint32_t packets(const struct sim_scenario_config *c)
{
	uint64_t bytes = sim_scenario_bdp(c) + c->queue;

	return (uint32_t)(6 * bytes / (c->mtu - 100u) + 4096 * (c->n_flows + 1));
}

static struct sim_host *host_create(struct sim_scenario *x, unsigned i, unsigned side)
{
	const struct sim_scenario_config *c = &x->cfg;
	struct sim_host_config h = {.mtu = c->mtu,
		.poll = c->poll,
		.no_rnic = c->flow[i].kind != SIM_FLOW_RDMA,
		.tcp = c->tcp};
	char address[32];

	snprintf(address, sizeof address, c->v6 ? "fd00::%x/64" : "10.0.0.%u/16", 1 + 2 * i + side);
	h.address = address;
	h.tcp.congestion_control = c->flow[i].cc;
	if (c->window)
		h.tcp.send_buffer = h.tcp.receive_buffer = (uint32_t)c->window;
	return sim_host_create(x->sim, &h);
}

static void flow_create(struct sim_scenario *x, unsigned i)
{
	const struct sim_scenario_flow *f = &x->cfg.flow[i];
	struct sim_delay *more = sim_delay_create(x->sim, f->rtt_more);
	struct sim_flow_config fc = {.kind = f->kind,
		.port = (uint16_t)(SIM_SCENARIO_PORT + i),
		.start = x->began + f->start};

	fc.from = x->from[i] = host_create(x, i, 0);
	fc.to = x->to[i] = host_create(x, i, 1);
	sim_delay_element(more)->next = sim_host_port(fc.from);
	sim_switch_attach(x->left, fc.from, sim_delay_element(more));
	sim_switch_attach(x->right, fc.to, sim_host_port(fc.to));
	sim_host_attach(fc.from, sim_switch_element(x->left));
	sim_host_attach(fc.to, sim_switch_element(x->right));
	x->flow[i] = sim_flow_create(x->sim, &fc);
	x->sampler[i] = sim_sampler_create(x->sim, x->flow[i], x->forward.queue, x->cfg.sample);
}

struct sim_scenario *sim_scenario_create(const struct sim_scenario_config *cfg)
{
	struct sim_scenario *x = calloc(1, sizeof *x);

	if (!x || cfg->n_flows > SIM_SCENARIO_FLOWS)
		abort();
	x->cfg = *cfg;
	fill_in(&x->cfg);
	x->sim = sim_create(&(struct sim_config){.seed = cfg->seed,
		.packets = packets(&x->cfg),
		.room = (uint16_t)(x->cfg.mtu + 64)});
	x->began = x->sim->now;
	x->left = sim_switch_create(x->sim);
	x->right = sim_switch_create(x->sim);
	sim_path_create(x->sim, &x->cfg.forward, sim_switch_trunk_in(x->right), &x->forward);
	sim_path_create(x->sim, &x->cfg.backward, sim_switch_trunk_in(x->left), &x->backward);
	sim_switch_set_trunk(x->left, x->forward.in);
	sim_switch_set_trunk(x->right, x->backward.in);
	for (unsigned i = 0; i < cfg->n_flows; i++)
		flow_create(x, i);
	return x;
}

void sim_scenario_run(struct sim_scenario *x)
{
	sim_run(x->sim, x->cfg.settle, NULL, NULL);
	sim_queue_reset_stats(x->forward.queue);
	sim_run(x->sim, x->cfg.duration - x->cfg.settle, NULL, NULL);
	for (unsigned i = 0; i < x->cfg.n_flows; i++)
		sim_sampler_look(x->sampler[i]);
}

void sim_scenario_destroy(struct sim_scenario *x)
{
	for (unsigned i = 0; i < x->cfg.n_flows; i++) {
		sim_sampler_destroy(x->sampler[i]);
		sim_flow_destroy(x->flow[i]);
	}
	sim_destroy(x->sim);
	free(x);
}

/** Bytes delivered by the last sample not after @p at, from the beginning. */
static double delivered(const struct sim_scenario *x, unsigned i, uint64_t at, uint64_t *when)
{
	const struct sim_sample *v;
	size_t n = sim_sampler_get(x->sampler[i], &v);

	while (n > 1 && v[n - 1].at > x->began + at)
		n--;
	*when = n ? v[n - 1].at : 0;
	return n ? (double)v[n - 1].flow.delivered : 0;
}

double sim_scenario_goodput(const struct sim_scenario *x, unsigned i, uint64_t from, uint64_t to)
{
	uint64_t t0, t1;
	double a = delivered(x, i, from, &t0), b = delivered(x, i, to, &t1);

	return t1 > t0 ? (b - a) * 8 * (double)SIM_S / (double)(t1 - t0) : 0;
}

double sim_scenario_capacity(const struct sim_scenario *x, unsigned i)
{
	struct sim_flow_state f;
	double text, headers = HEADERS + (x->cfg.v6 ? V6_MORE : 0);

	sim_flow_get(x->flow[i], &f);
	headers += f.sender.timestamps ? TS_OPTION : 0;
	text = x->cfg.mtu + 14 - headers;
	return (double)x->cfg.rate * text / (text + headers);
}

double sim_scenario_fairness(const struct sim_scenario *x, uint64_t from, uint64_t to)
{
	double sum = 0, squares = 0;

	for (unsigned i = 0; i < x->cfg.n_flows; i++) {
		double g = sim_scenario_goodput(x, i, from, to);

		sum += g;
		squares += g * g;
	}
	return squares > 0 ? sum * sum / (x->cfg.n_flows * squares) : 0;
}
