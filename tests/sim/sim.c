/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/sim.h"

#include "base/container_of.h"
#include "support/eal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

/** A frame on its way. */
struct flight {
	TAILQ_ENTRY(flight) entry;
	struct sim_host *to;
	struct rte_mbuf *m;
	uint64_t arrival;
};

TAILQ_HEAD(flight_list, flight);

struct sim_host {
	TAILQ_ENTRY(sim_host) entry;
	struct sim *sim;
	struct engine engine;
	struct ip_stack *ip;
	struct tcp_stack *tcp;
	struct rnic *rnic;
	struct sim_host *peer;
	struct sim_link_config link;
	struct sim_link_stats stats;
	uint64_t wire_free; /**< when the last byte queued will have left */
	struct flight_list rx;
	bool has_input;
};

struct sim {
	uint64_t now;
	uint64_t rng;
	struct rte_mempool *pool;
	TAILQ_HEAD(, sim_host) hosts;
	struct flight_list flights; /**< by arrival */
};

/** splitmix64: small, seedable, good enough to decide which packet dies. */
static uint64_t sim_random(struct sim *s)
{
	uint64_t z = s->rng += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static void sim_fill(void *ctx, void *buf, size_t len)
{
	uint8_t *p = buf;

	while (len--)
		*p++ = (uint8_t)sim_random(ctx);
}

static bool chance(struct sim *s, uint32_t ppm)
{
	return ppm && sim_random(s) % 1000000 < ppm;
}

struct sim *sim_create(uint64_t seed)
{
	static unsigned pools;
	struct sim *s = calloc(1, sizeof *s);
	char name[32];

	if (!s)
		abort();
	test_eal_init();
	snprintf(name, sizeof name, "sim%u", pools++);
	s->pool = test_pool(name, 16383, 2048);
	s->rng = seed;
	s->now = SIM_S;
	TAILQ_INIT(&s->hosts);
	TAILQ_INIT(&s->flights);
	return s;
}

uint64_t sim_now(const struct sim *s)
{
	return s->now;
}

static void flight_free(struct sim *s, struct flight *f)
{
	rte_pktmbuf_free(f->m);
	free(f);
}

/* ---- the wire ---------------------------------------------------------------------------- */

static void launch(struct sim *s, struct sim_host *to, struct rte_mbuf *m, uint64_t arrival)
{
	struct flight *f = malloc(sizeof *f), *i;

	if (!f)
		abort();
	*f = (struct flight){.to = to, .m = m, .arrival = arrival};
	TAILQ_FOREACH_REVERSE(i, &s->flights, flight_list, entry)
	if (i->arrival <= arrival)
		break;
	if (i)
		TAILQ_INSERT_AFTER(&s->flights, i, f, entry);
	else
		TAILQ_INSERT_HEAD(&s->flights, f, entry);
}

/** When the frame will have left, or 0 when the queue is full. */
static uint64_t wire_departure(struct sim_host *h, uint32_t len)
{
	const struct sim_link_config *l = &h->link;
	uint64_t now = h->sim->now, start = h->wire_free > now ? h->wire_free : now;
	uint32_t queue = l->queue ? l->queue : 1 << 20;

	if (!l->rate)
		return now;
	if ((start - now) * l->rate / 8 / SIM_S + len > queue)
		return 0;
	h->wire_free = start + (uint64_t)len * 8 * SIM_S / l->rate;
	return h->wire_free;
}

static bool scripted_drop(const struct sim_host *h)
{
	return h->link.drop_count && h->stats.packets - 1 >= h->link.drop_from &&
	       h->stats.packets - 1 - h->link.drop_from < h->link.drop_count;
}

static void flip_a_bit(struct sim *s, struct rte_mbuf *m)
{
	uint32_t len = rte_pktmbuf_data_len(m);
	uint32_t at = 14 + (uint32_t)(sim_random(s) % (len - 14));

	*rte_pktmbuf_mtod_offset(m, uint8_t *, at) ^= (uint8_t)(1 << (sim_random(s) & 7));
}

/** A copy, as a wire makes one: the sender may keep its mbuf for retransmission. */
static void put_on_wire(struct sim_host *h, struct rte_mbuf *m, uint64_t departure)
{
	struct sim *s = h->sim;
	struct rte_mbuf *c = rte_pktmbuf_copy(m, s->pool, 0, UINT32_MAX);
	uint64_t arrival = departure + h->link.delay;

	if (!c)
		return;
	c->ol_flags = 0;
	if (chance(s, h->link.corrupt_ppm)) {
		flip_a_bit(s, c);
		h->stats.corrupted++;
	}
	if (chance(s, h->link.reorder_ppm)) {
		arrival += h->link.reorder_delay;
		h->stats.reordered++;
	}
	launch(s, h->peer, c, arrival);
}

static void host_transmit(void *ctx, struct rte_mbuf *m)
{
	struct sim_host *h = ctx;
	struct sim *s = h->sim;
	uint64_t departure;

	h->stats.packets++;
	h->stats.bytes += rte_pktmbuf_pkt_len(m);
	if (!h->peer || chance(s, h->link.loss_ppm) || scripted_drop(h)) {
		h->stats.lost++;
	} else if (!(departure = wire_departure(h, rte_pktmbuf_pkt_len(m)))) {
		h->stats.queue_drops++;
	} else {
		put_on_wire(h, m, departure);
		if (chance(s, h->link.duplicate_ppm)) {
			put_on_wire(h, m, departure);
			h->stats.duplicated++;
		}
	}
	rte_pktmbuf_free(m);
}

/* ---- a host ------------------------------------------------------------------------------ */

static uint64_t host_clock(void *ctx)
{
	return ((struct sim_host *)ctx)->sim->now;
}

static void host_nothing(void *ctx)
{
}

static unsigned host_poll(void *ctx, uint64_t now)
{
	struct sim_host *h = ctx;
	struct rte_mbuf *burst[32];
	unsigned n = 0, handled;
	struct flight *f;

	while (n < 32 && (f = TAILQ_FIRST(&h->rx))) {
		TAILQ_REMOVE(&h->rx, f, entry);
		burst[n++] = f->m;
		free(f);
	}
	tcp_set_now(h->tcp, now);
	handled = ip_input(h->ip, burst, n, now);
	timer_wheel_run(&h->engine.wheel, now);
	return handled;
}

static void host_enter(void *ctx)
{
	struct sim_host *h = ctx;

	if (h->tcp)
		tcp_set_now(h->tcp, h->sim->now);
}

static void host_flush(void *ctx)
{
	struct sim_host *h = ctx;

	if (h->tcp)
		tcp_round_end(h->tcp);
	/* What was just served may have looped a packet to ourselves. */
	h->has_input = true;
}

static const struct engine_ops host_ops = {
	.clock = host_clock,
	.enter = host_enter,
	.leave = host_nothing,
	.poll = host_poll,
	.flush = host_flush,
	.wake = host_nothing,
};

static void must(int r, const char *what)
{
	if (r < 0) {
		fprintf(stderr, "sim: %s: %s\n", what, strerror(-r));
		abort();
	}
}

static void host_ip_create(struct sim_host *h, const struct sim_host_config *cfg, unsigned number)
{
	struct ip_stack_config ic = {
		.mac = {0x02, 0, 0, 0, 0, (uint8_t)number},
		.mtu = cfg->mtu ? cfg->mtu : 1500,
		.wheel = &h->engine.wheel,
		.pool = h->sim->pool,
		.random = {sim_fill, h->sim},
		.transmit = host_transmit,
		.transmit_ctx = h,
	};
	struct ip_addr a, any = ip_addr_from_v4("\0\0\0\0"), gw;
	unsigned prefix;

	must(ip_stack_create(&ic, h->sim->now, &h->ip), "ip_stack_create");
	must(ip_addr_parse_cidr(cfg->address, &a, &prefix), cfg->address);
	must(ip_addr_add(h->ip, &a, prefix, h->sim->now), "ip_addr_add");
	if (!cfg->gateway)
		return;
	must(ip_addr_parse(cfg->gateway, &gw), cfg->gateway);
	if (!ip_addr_is_v4(&gw))
		memset(&any, 0, sizeof any);
	must(ip_route_add(h->ip, &any, 0, &gw), "ip_route_add");
}

struct sim_host *sim_host_create(struct sim *s, const struct sim_host_config *cfg)
{
	struct sim_host *h = calloc(1, sizeof *h), *i;
	struct tcp_stack_config tc = cfg->tcp;
	struct rnic_config rc = cfg->rnic;
	unsigned number = 1;

	if (!h)
		abort();
	TAILQ_FOREACH (i, &s->hosts, entry)
		number++;
	h->sim = s;
	TAILQ_INIT(&h->rx);
	engine_init(&h->engine, &host_ops, h);
	host_ip_create(h, cfg, number);
	tc.ip = h->ip;
	tc.wheel = &h->engine.wheel;
	tc.pool = s->pool;
	tc.random = (struct random_source){sim_fill, s};
	must(tcp_stack_create(&tc, s->now, &h->tcp), "tcp_stack_create");
	rc.engine = &h->engine;
	rc.net = tcp_llp_stack(h->tcp);
	rc.random = tc.random;
	if (!rc.mpa.revision)
		rc.mpa = (struct mpa_config){
			.revision = 2, .crc = true, .rtr = MPA_RTR_WRITE | MPA_RTR_READ};
	must(rnic_create(&rc, &h->rnic), "rnic_create");
	TAILQ_INSERT_TAIL(&s->hosts, h, entry);
	return h;
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

struct rnic *sim_host_rnic(struct sim_host *h)
{
	return h->rnic;
}

void sim_join(struct sim_host *a, struct sim_host *b, const struct sim_link_config *cfg)
{
	a->peer = b;
	b->peer = a;
	a->link = b->link = *cfg;
}

struct sim_link_config *sim_link(struct sim_host *h)
{
	return &h->link;
}

const struct sim_link_stats *sim_link_get_stats(const struct sim_host *h)
{
	return &h->stats;
}

/* ---- time -------------------------------------------------------------------------------- */

static void arrive(struct sim *s)
{
	struct flight *f;

	while ((f = TAILQ_FIRST(&s->flights)) && f->arrival <= s->now) {
		TAILQ_REMOVE(&s->flights, f, entry);
		TAILQ_INSERT_TAIL(&f->to->rx, f, entry);
		f->to->has_input = true;
	}
}

/** Run every host that has something to do now. */
static bool run_hosts(struct sim *s)
{
	struct sim_host *h;
	bool any = false;

	TAILQ_FOREACH (h, &s->hosts, entry) {
		if (!h->has_input && atomic_load(&h->engine.deadline) > s->now)
			continue;
		h->has_input = engine_round(&h->engine) || !TAILQ_EMPTY(&h->rx);
		any |= h->has_input;
	}
	return any;
}

static uint64_t next_event(const struct sim *s)
{
	const struct flight *f = TAILQ_FIRST(&s->flights);
	uint64_t next = f ? f->arrival : UINT64_MAX;
	struct sim_host *h;

	TAILQ_FOREACH (h, &s->hosts, entry) {
		uint64_t d = atomic_load(&h->engine.deadline);

		if (d < next)
			next = d;
	}
	return next;
}

bool sim_run(struct sim *s, uint64_t limit, bool (*done)(void *ctx), void *ctx)
{
	uint64_t end = s->now + limit, next;

	for (;;) {
		do
			arrive(s);
		while (run_hosts(s));
		if (done && done(ctx))
			return true;
		next = next_event(s);
		if (next > end) {
			s->now = end;
			return false;
		}
		/* A deadline that stands still would stop the clock: at least one tick. */
		s->now = next > s->now ? next : s->now + TIMER_TICK_NS;
	}
}

void sim_destroy(struct sim *s)
{
	struct sim_host *h;
	struct flight *f;

	while ((h = TAILQ_FIRST(&s->hosts))) {
		TAILQ_REMOVE(&s->hosts, h, entry);
		rnic_destroy(h->rnic);
		tcp_stack_destroy(h->tcp);
		ip_stack_destroy(h->ip);
		while ((f = TAILQ_FIRST(&h->rx))) {
			TAILQ_REMOVE(&h->rx, f, entry);
			flight_free(s, f);
		}
		engine_fini(&h->engine);
		free(h);
	}
	while ((f = TAILQ_FIRST(&s->flights))) {
		TAILQ_REMOVE(&s->flights, f, entry);
		flight_free(s, f);
	}
	if (sim_leaked(s)) {
		fprintf(stderr, "sim: %u packets leaked\n", sim_leaked(s));
		abort();
	}
	rte_mempool_free(s->pool);
	free(s);
}

unsigned sim_leaked(const struct sim *s)
{
	return test_pool_missing(s->pool);
}
