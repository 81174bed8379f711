/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/sim.h"

#include "base/container_of.h"
#include "sim/element.h"
#include "sim/host.h"
#include "sim/pool.h"
#include "support/eal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Of address space; what is not touched costs nothing. */
#define EAL_MEGABYTES 8192

struct appointment {
	struct sim_event event;
	struct sim *sim;
	void (*fn)(void *ctx);
	void *ctx;
	struct appointment *next, **pprev;
};

static struct rte_mempool *pool_create(const char *what, uint32_t n, uint32_t room)
{
	static unsigned pools;
	char name[32];
	struct rte_mempool *p;

	snprintf(name, sizeof name, "sim_%s%u", what, pools++);
	p = rte_pktmbuf_pool_create(name, n, 256,
		RTE_ALIGN(sizeof(struct sim_packet), RTE_MBUF_PRIV_ALIGN), (uint16_t)room,
		SOCKET_ID_ANY);
	if (!p) {
		fprintf(stderr, "sim: no memory for %u packets\n", n);
		abort();
	}
	return p;
}

struct sim *sim_create(const struct sim_config *cfg)
{
	struct sim *s = calloc(1, sizeof *s);
	uint32_t n = cfg->packets ? cfg->packets : 16383;
	uint32_t room = (cfg->room ? cfg->room : 2048u) + RTE_PKTMBUF_HEADROOM;

	if (!s)
		abort();
	test_eal_init_with(EAL_MEGABYTES);
	s->pool = cfg->no_packet ? sim_pool_create(n, room, cfg->no_packet)
				 : pool_create("host", n, room);
	s->references = pool_create("ref", n, 0);
	s->external = pool_create("external", 4095, 0);
	s->copies = pool_create("copy", cfg->copies ? cfg->copies : 16383, room);
	s->rng.state = cfg->seed;
	s->now = SIM_S;
	return s;
}

static void fill(void *ctx, void *buf, size_t len)
{
	struct sim *s = ctx;
	uint8_t *p = buf;

	while (len--)
		*p++ = (uint8_t)prng_u64(&s->rng);
}

struct random_source sim_random_source(struct sim *s)
{
	return (struct random_source){fill, s};
}

void *sim_element_new(struct sim *s, const struct sim_element_ops *ops, size_t size)
{
	struct sim_element *e = calloc(1, size);

	if (!e)
		abort();
	e->ops = ops;
	e->sim = s;
	e->all = s->elements;
	s->elements = e;
	return e;
}

void sim_element_free(struct sim_element *e)
{
	free(e);
}

/* ---- time -------------------------------------------------------------------------------- */

static void appointment_free(struct appointment *a)
{
	*a->pprev = a->next;
	if (a->next)
		a->next->pprev = a->pprev;
	free(a);
}

static void appointment_due(struct sim_event *e)
{
	struct appointment *a = container_of(e, struct appointment, event);
	void (*fn)(void *ctx) = a->fn;
	void *ctx = a->ctx;

	a->sim->changed = true;
	appointment_free(a);
	fn(ctx);
}

void sim_at(struct sim *s, uint64_t at, void (*fn)(void *ctx), void *ctx)
{
	struct appointment *a = malloc(sizeof *a);

	if (!a)
		abort();
	*a = (struct appointment){.event.fn = appointment_due,
		.sim = s,
		.fn = fn,
		.ctx = ctx,
		.next = s->appointments,
		.pprev = &s->appointments};
	if (a->next)
		a->next->pprev = &a->next;
	s->appointments = a;
	sim_event_set(&s->events, &a->event, at > s->now ? at : s->now);
}

bool sim_run(struct sim *s, uint64_t limit, bool (*done)(void *ctx), void *ctx)
{
	uint64_t end = s->now + limit;
	struct sim_event *e;

	s->changed = true;
	for (;;) {
		if (s->changed && done) {
			s->changed = false;
			if (done(ctx))
				return true;
		}
		if (sim_events_next(&s->events) > end)
			break;
		e = sim_events_take(&s->events);
		s->now = e->at;
		e->fn(e);
	}
	s->now = end;
	return false;
}

/* ---- the end ----------------------------------------------------------------------------- */

static void pool_destroy(struct rte_mempool *p)
{
	if (rte_mempool_in_use_count(p)) {
		fprintf(stderr, "sim: %u packets of %s leaked\n", rte_mempool_in_use_count(p),
			p->name);
		abort();
	}
	rte_mempool_free(p);
}

void sim_destroy(struct sim *s)
{
	struct sim_element *e;

	sim_hosts_destroy(s);
	while ((e = s->elements)) {
		s->elements = e->all;
		e->ops->destroy(e);
	}
	while (s->appointments)
		appointment_free(s->appointments);
	sim_events_fini(&s->events);
	pool_destroy(s->references);
	pool_destroy(s->copies);
	pool_destroy(s->external);
	pool_destroy(s->pool);
	free(s);
}
