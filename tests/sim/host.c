/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/host.h"

#include "base/container_of.h"
#include "ip/stack.h"
#include "sim/element.h"
#include "support/engine_round.h"
#include "tcp/stack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BURST 32
/** Packets that wait in the port of a host that does not run: a ring of the usual size. */
#define PORT_RING 512

struct sim_host {
	struct sim_element port; /**< its input is what arrives; next: where its packets go */
	struct sim_host *next;
	struct engine engine;
	struct ip_stack *ip;
	struct tcp_stack *tcp;
	struct esp_boundary *esp; /**< may be NULL */
	struct tls_stack *tls;    /**< may be NULL */
	struct rnic *rnic;
	struct sim_nic *nic; /**< may be NULL */
	struct ip_addr address;
	struct sim_event round;
	struct sim_fifo rx;
	uint64_t poll, polled_at;
	uint64_t ahead; /**< of the simulation's time: all times of the engine are */
	uint64_t frozen_until;
	unsigned index;
	unsigned mapped; /**< regions that the port may read */
	bool in_round;
};

static void must(int r, const char *what)
{
	if (r < 0) {
		fprintf(stderr, "sim: %s: %s\n", what, strerror(-r));
		abort();
	}
}

/* ---- when it runs ------------------------------------------------------------------------ */

static void wake_at(struct sim_host *h, uint64_t at)
{
	if (at == TIMER_NEVER)
		return;
	at = RTE_MAX(at, h->frozen_until);
	if (!sim_event_is_set(&h->round) || at < h->round.at)
		sim_event_set(&h->port.sim->events, &h->round, at);
}

static void host_input(struct sim_element *e, struct rte_mbuf *m)
{
	struct sim_host *h = container_of(e, struct sim_host, port);

	if (e->sim->now < h->frozen_until && h->rx.n >= PORT_RING) {
		rte_pktmbuf_free(m);
		return;
	}
	sim_fifo_push(&h->rx, m, e->sim->now);
	wake_at(h, RTE_MAX(e->sim->now, h->polled_at + h->poll));
}

static bool looped(const struct sim_host *h)
{
	return h->ip->loop_head != h->ip->loop_tail;
}

/** @return when it wants to run next, not before @p earliest; packets that come are not counted. */
static uint64_t next_round(const struct sim_host *h, uint64_t earliest)
{
	const uint64_t now = h->port.sim->now;
	uint64_t next = timer_wheel_next(&h->engine.wheel);

	if (next != TIMER_NEVER)
		next -= RTE_MIN(next, h->ahead);
	/* A packet for ourselves, or a pool was empty: again soon, as a poll loop would. */
	if (looped(h))
		next = RTE_MIN(next, now + SIM_US);
	else if (h->tcp->dirty)
		next = RTE_MIN(next, now + TIMER_TICK_NS);
	return RTE_MAX(next, earliest);
}

static void run_round(struct sim_event *e)
{
	struct sim_host *h = container_of(e, struct sim_host, round);
	struct sim *s = h->port.sim;

	h->in_round = true;
	h->polled_at = s->now;
	do
		engine_round(&h->engine);
	while (h->rx.n);
	h->in_round = false;
	s->changed = true;
	/* A deadline that stands still must not stop the clock. */
	wake_at(h, next_round(h, s->now + SIM_US));
}

/* ---- the engine's port ------------------------------------------------------------------- */

static uint64_t host_clock(void *ctx)
{
	const struct sim_host *h = ctx;

	return h->port.sim->now + h->ahead;
}

static void host_nothing(void *ctx)
{
}

static void host_transmit(void *ctx, struct rte_mbuf *m)
{
	struct sim_host *h = ctx;

	if (h->nic) {
		sim_nic_send(h->nic, m);
		return;
	}
	m = sim_packet_launch(h->port.sim, m);
	if (m)
		sim_pass(&h->port, m);
}

static unsigned host_poll(void *ctx, uint64_t now)
{
	struct sim_host *h = ctx;
	struct rte_mbuf *burst[BURST];
	unsigned n = 0, handled;

	while (n < BURST && h->rx.n)
		burst[n++] = sim_fifo_take(&h->rx);
	tcp_set_now(h->tcp, now);
	handled = ip_input(h->ip, burst, n, now);
	timer_wheel_run(&h->engine.wheel, now);
	return handled;
}

static void host_enter(void *ctx)
{
	struct sim_host *h = ctx;

	if (h->tcp)
		tcp_set_now(h->tcp, host_clock(h));
}

static void host_flush(void *ctx)
{
	struct sim_host *h = ctx;

	if (h->tcp)
		tcp_round_end(h->tcp);
	if (h->nic)
		sim_nic_flush(h->nic);
	/* A program called: timers may be new, or packets to ourselves. */
	if (!h->in_round)
		wake_at(h, next_round(h, h->port.sim->now));
}

/** As of a port (src/host/poller.c). What a poll leaves open, the host's next round ends. */
static bool host_flush_may_wait(void *ctx)
{
	struct sim_host *h = ctx;

	if (!h->tcp || !tcp_round_end_may_wait(h->tcp) || looped(h) ||
		(h->nic && sim_nic_has_queued(h->nic)))
		return false;
	wake_at(h, next_round(h, h->port.sim->now));
	return true;
}

static const struct engine_ops host_ops = {
	.clock = host_clock,
	.enter = host_enter,
	.leave = host_nothing,
	.poll = host_poll,
	.flush = host_flush,
	.wake = host_nothing,
	.flush_may_wait = host_flush_may_wait,
};

void sim_host_freeze(struct sim_host *h, uint64_t ns)
{
	h->frozen_until = h->port.sim->now + ns;
	/* What is due before that is due then. */
	if (sim_event_is_set(&h->round) && h->round.at < h->frozen_until)
		sim_event_set(&h->port.sim->events, &h->round, h->frozen_until);
}

void sim_host_step_clock(struct sim_host *h, uint64_t ns)
{
	h->ahead += ns;
	wake_at(h, h->port.sim->now);
}

void sim_host_call(struct sim_host *h, void (*fn)(void *ctx), void *ctx)
{
	engine_lock(&h->engine);
	fn(ctx);
	engine_unlock(&h->engine);
}

/* ---- making and ending ------------------------------------------------------------------- */

/** Locally administered, the index in the last four bytes. */
static void host_mac(uint8_t mac[6], unsigned index)
{
	mac[0] = 0x02;
	mac[1] = 0;
	store_be32(mac + 2, index + 1);
}

unsigned sim_host_number(const uint8_t mac[6])
{
	return load_be32(mac + 2) - 1;
}

static void ip_create(struct sim_host *h, const struct sim_host_config *cfg)
{
	struct sim *s = h->port.sim;
	struct ip_stack_config ic = {
		.mtu = cfg->mtu ? cfg->mtu : 1500,
		.wheel = &h->engine.wheel,
		.pool = s->pool,
		.random = sim_random_source(s),
		.transmit = host_transmit,
		.transmit_ctx = h,
		.tx_ipv4_cksum = !cfg->no_offload,
		.tx_tcp_cksum = !cfg->no_offload,
	};
	struct ip_addr any = ip_addr_from_v4("\0\0\0\0"), gw;
	char why[600] = "";
	unsigned prefix;

	host_mac(ic.mac, h->index);
	if (cfg->ipsec) {
		const struct esp_boundary_config ec = {
			.path = cfg->ipsec, .pool = s->pool, .random = sim_random_source(s)};

		must(esp_boundary_create(&ec, &h->esp), "esp_boundary_create");
		ic.ipsec = esp_boundary_ops(h->esp);
		ic.tx_ipv4_cksum = ic.tx_tcp_cksum = false;
	}
	must(ip_stack_create(&ic, s->now, &h->ip), "ip_stack_create");
	must(ip_addr_parse_cidr(cfg->address, &h->address, &prefix), cfg->address);
	must(ip_addr_add(h->ip, &h->address, prefix, s->now), "ip_addr_add");
	if (h->esp)
		must(esp_boundary_open(h->esp, h->ip, s->now, why, sizeof why), why);
	if (!cfg->gateway)
		return;
	must(ip_addr_parse(cfg->gateway, &gw), cfg->gateway);
	if (!ip_addr_is_v4(&gw))
		memset(&any, 0, sizeof any);
	must(ip_route_add(h->ip, &any, 0, &gw), "ip_route_add");
}

static int host_map(void *ctx, const void *addr, size_t len)
{
	struct sim_host *h = ctx;

	h->mapped++;
	return 0;
}

static void host_unmap(void *ctx, const void *addr, size_t len)
{
	struct sim_host *h = ctx;

	h->mapped--;
}

static bool host_settle(void *ctx)
{
	struct sim_host *h = ctx;

	sim_nic_flush(h->nic);
	sim_nic_settle(h->nic);
	return false;
}

/** A NIC of ours takes all at once. */
static void host_drop(
	void *ctx, bool (*is_of)(const struct rte_mbuf *m, const void *arg), const void *arg)
{
}

static void tcp_create(struct sim_host *h, const struct sim_host_config *cfg)
{
	struct sim *s = h->port.sim;
	struct tcp_stack_config tc = cfg->tcp;

	if (cfg->gather)
		tc.external = (struct tcp_external_config){.pool = s->external,
			.map = host_map,
			.unmap = host_unmap,
			.settle = host_settle,
			.drop = host_drop,
			.ctx = h};
	tc.ip = h->ip;
	tc.wheel = &h->engine.wheel;
	tc.pool = s->pool;
	tc.random = sim_random_source(s);
	must(tcp_stack_create(&tc, s->now, &h->tcp), "tcp_stack_create");
}

/** Shared keys do not expire. */
static int64_t tls_time(void)
{
	return 0;
}

static void tls_create(struct sim_host *h, const struct sim_host_config *cfg)
{
	const struct tls_stack_config tc = {.below = tcp_llp_stack(h->tcp),
		.wheel = &h->engine.wheel,
		.tls = cfg->tls,
		.time = tls_time};
	struct tls_error e;

	must(tls_stack_create(&tc, &h->tls, &e), "tls_stack_create");
}

static void rnic_create_on(struct sim_host *h, const struct sim_host_config *cfg)
{
	struct rnic_config rc = cfg->rnic;

	rc.engine = &h->engine;
	rc.net = h->tls ? tls_llp_stack(h->tls) : tcp_llp_stack(h->tcp);
	rc.random = sim_random_source(h->port.sim);
	if (!rc.mpa.revision)
		rc.mpa = (struct mpa_config){
			.revision = 2, .crc = true, .rtr = MPA_RTR_WRITE | MPA_RTR_READ};
	must(rnic_create(&rc, &h->rnic), "rnic_create");
}

struct sim_host *sim_host_create(struct sim *s, const struct sim_host_config *cfg)
{
	static const struct sim_element_ops ops = {.input = host_input};
	struct sim_host *h = calloc(1, sizeof *h);

	if (!h)
		abort();
	h->port = (struct sim_element){.ops = &ops, .sim = s};
	h->index = s->n_hosts++;
	h->poll = cfg->poll;
	h->round.fn = run_round;
	if (cfg->tso)
		h->nic = sim_nic_create(&h->port);
	engine_init(&h->engine, &host_ops, h);
	ip_create(h, cfg);
	tcp_create(h, cfg);
	if (cfg->tls)
		tls_create(h, cfg);
	if (!cfg->no_rnic)
		rnic_create_on(h, cfg);
	h->next = s->hosts;
	s->hosts = h;
	wake_at(h, s->now);
	return h;
}

static void host_destroy(struct sim_host *h)
{
	h->in_round = true; /* no more of them */
	if (h->rnic)
		rnic_destroy(h->rnic);
	tcp_stack_destroy(h->tcp);
	h->tcp = NULL;
	if (h->tls)
		tls_stack_destroy(h->tls);
	ip_stack_destroy(h->ip);
	if (h->nic)
		sim_nic_flush(h->nic);
	sim_nic_destroy(h->nic);
	h->nic = NULL;
	if (h->mapped) {
		fprintf(stderr, "sim: %u regions are mapped at the end\n", h->mapped);
		abort();
	}
	sim_fifo_free(&h->rx);
	engine_fini(&h->engine);
	esp_boundary_destroy(h->esp);
	sim_event_clear(&h->port.sim->events, &h->round);
}

void sim_hosts_destroy(struct sim *s)
{
	struct sim_host *h;

	/* Their last packets may still go to each other. */
	for (h = s->hosts; h; h = h->next)
		host_destroy(h);
	for (h = s->hosts; h; h = h->next)
		sim_fifo_free(&h->rx);
	while ((h = s->hosts)) {
		s->hosts = h->next;
		sim_event_clear(&s->events, &h->round);
		free(h);
	}
}

struct engine *sim_host_engine(struct sim_host *h)
{
	return &h->engine;
}

struct ip_stack *sim_host_ip(struct sim_host *h)
{
	return h->ip;
}

struct tcp_stack *sim_host_tcp(struct sim_host *h)
{
	return h->tcp;
}

struct esp_boundary *sim_host_esp(struct sim_host *h)
{
	return h->esp;
}

struct tls_stack *sim_host_tls(struct sim_host *h)
{
	return h->tls;
}

struct rnic *sim_host_rnic(struct sim_host *h)
{
	return h->rnic;
}

unsigned sim_host_mapped(const struct sim_host *h)
{
	return h->mapped;
}

struct sim *sim_host_sim(struct sim_host *h)
{
	return h->port.sim;
}

struct ip_addr sim_host_address(const struct sim_host *h)
{
	return h->address;
}

struct sim_element *sim_host_port(struct sim_host *h)
{
	return &h->port;
}

const struct sim_nic *sim_host_nic(const struct sim_host *h)
{
	return h->nic;
}

void sim_host_attach(struct sim_host *h, struct sim_element *to)
{
	h->port.next = to;
}

unsigned sim_host_index(const struct sim_host *h)
{
	return h->index;
}
