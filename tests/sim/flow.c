/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/flow.h"

#include "sim/rdma_pair.h"
#include "traffic/traffic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sim_flow {
	struct sim *sim;
	struct sim_flow_config cfg;
	bool failed;
	/* A stream. */
	struct traffic_pattern pattern;
	struct traffic source, sink;
	struct llp_listener *listener;
	/* RDMA. */
	struct rdma_pair pair;
	uint64_t posted, completed;
};

static void must(int r, const char *what)
{
	if (r < 0) {
		fprintf(stderr, "flow: %s: %s\n", what, strerror(-r));
		abort();
	}
}

/* ---- a stream ---------------------------------------------------------------------------- */

static void stream_ended(void *ctx, struct traffic *t, const struct llp *last)
{
	((struct sim_flow *)ctx)->failed = true;
}

static int stream_accept(void *user, struct llp *l)
{
	struct sim_flow *f = user;

	traffic_accept(&f->sink, l);
	return 0;
}

static void stream_listen(void *ctx)
{
	struct sim_flow *f = ctx;
	struct ip_endpoint at = {sim_host_address(f->cfg.to), f->cfg.port};

	must(llp_listen(tcp_llp_stack(sim_host_tcp(f->cfg.to)), &at, 4, stream_accept, f,
		     &f->listener),
		"listen");
}

static void stream_connect(void *ctx)
{
	struct sim_flow *f = ctx;
	struct llp_connect_params p = {
		.remote = {sim_host_address(f->cfg.to), f->cfg.port},
	};

	p.local.addr = sim_host_address(f->cfg.from);
	must(traffic_connect(&f->source, tcp_llp_stack(sim_host_tcp(f->cfg.from)), &p), "connect");
}

static void stream_create(struct sim_flow *f)
{
	struct traffic_config c = {
		.pattern = &f->pattern, .ended = stream_ended, .ctx = f, .role = TRAFFIC_SOURCE};

	traffic_pattern_init(&f->pattern, f->cfg.port);
	traffic_init(&f->source, &c);
	c.role = TRAFFIC_SINK;
	traffic_init(&f->sink, &c);
}

static void stream_destroy_from(void *ctx)
{
	traffic_abort(&((struct sim_flow *)ctx)->source);
}

static void stream_destroy_to(void *ctx)
{
	struct sim_flow *f = ctx;

	traffic_abort(&f->sink);
	if (f->listener)
		llp_unlisten(tcp_llp_stack(sim_host_tcp(f->cfg.to)), f->listener);
}

/* ---- RDMA -------------------------------------------------------------------------------- */

/** Take completions, and post until as many Writes are under way as shall be. */
static void keep_busy(void *ctx)
{
	struct sim_flow *f = ctx;
	struct rnic_wc wc;

	if (f->pair.a.failed || f->pair.a.disconnected)
		f->failed = true;
	if (f->failed || !f->pair.a.established)
		return;
	rdma_arm(&f->pair.a);
	while (rnic_cq_poll(f->pair.a.cq, 1, &wc) == 1) {
		f->completed++;
		if (wc.wc.status != RDMAP_WC_SUCCESS)
			f->failed = true;
	}
	while (!f->failed && f->posted - f->completed < f->cfg.depth) {
		rdma_post(&f->pair, &f->pair.a, RDMAP_WR_WRITE, 0, 0, f->cfg.message);
		f->posted++;
	}
}

static void rdma_create(struct sim_flow *f)
{
	rdma_pair_create_on(&f->pair, f->cfg.from, f->cfg.to, f->cfg.port, f->cfg.message);
	f->pair.a.changed = keep_busy;
	f->pair.a.ctx = f;
}

/* ---- both -------------------------------------------------------------------------------- */

static void start(void *ctx)
{
	struct sim_flow *f = ctx;

	if (f->cfg.kind == SIM_FLOW_RDMA) {
		rdma_pair_start(&f->pair);
		return;
	}
	sim_host_call(f->cfg.to, stream_listen, f);
	sim_host_call(f->cfg.from, stream_connect, f);
}

struct sim_flow *sim_flow_create(struct sim *s, const struct sim_flow_config *cfg)
{
	struct sim_flow *f = calloc(1, sizeof *f);

	if (!f)
		abort();
	f->sim = s;
	f->cfg = *cfg;
	if (!f->cfg.message)
		f->cfg.message = 1 << 20;
	if (!f->cfg.depth)
		f->cfg.depth = 4;
	if (cfg->kind == SIM_FLOW_RDMA)
		rdma_create(f);
	else
		stream_create(f);
	sim_at(s, cfg->start, start, f);
	return f;
}

/** The connection of @p h that has the flow's port, local or remote. */
static bool find(
	const struct sim_flow *f, struct sim_host *h, bool local_port, struct tcp_info *out)
{
	struct ip_endpoint local, remote;

	for (unsigned i = 0; tcp_connection_get(sim_host_tcp(h), i, &local, &remote, out); i++)
		if ((local_port ? local.port : remote.port) == f->cfg.port)
			return true;
	*out = (struct tcp_info){0};
	return false;
}

void sim_flow_get(const struct sim_flow *f, struct sim_flow_state *out)
{
	struct tcp_info receiver;

	*out = (struct sim_flow_state){.failed = f->failed, .writes = f->completed};
	out->connected = find(f, f->cfg.from, false, &out->sender);
	if (find(f, f->cfg.to, true, &receiver))
		out->delivered = receiver.bytes_received;
}

void sim_flow_destroy(struct sim_flow *f)
{
	if (f->cfg.kind == SIM_FLOW_RDMA) {
		rdma_pair_destroy(&f->pair);
	} else {
		sim_host_call(f->cfg.from, stream_destroy_from, f);
		sim_host_call(f->cfg.to, stream_destroy_to, f);
	}
	free(f);
}
