/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/delay.h"

#include "base/container_of.h"

#include <stdlib.h>

struct sim_delay {
	struct sim_element element;
	uint64_t ns;
	struct sim_event arrival; /**< of the first packet of either */
	struct sim_fifo in_order;
	struct sim_heap overtaking; /**< set out after the way had become shorter */
};

static uint64_t first_at(const struct sim_delay *d)
{
	uint64_t a = d->in_order.n ? sim_fifo_at(&d->in_order, 0)->at : SIM_NEVER;
	uint64_t b = d->overtaking.n ? sim_packet(d->overtaking.v[0])->at : SIM_NEVER;

	return a < b ? a : b;
}

static void arrive(struct sim_event *e)
{
	struct sim_delay *d = container_of(e, struct sim_delay, arrival);
	uint64_t now = d->element.sim->now;
	struct rte_mbuf *m;

	if (d->in_order.n && sim_fifo_at(&d->in_order, 0)->at <= now)
		m = sim_fifo_take(&d->in_order);
	else
		m = sim_heap_take(&d->overtaking);
	sim_event_set(&d->element.sim->events, &d->arrival, first_at(d));
	sim_pass(&d->element, m);
}

static void delay_input(struct sim_element *e, struct rte_mbuf *m)
{
	struct sim_delay *d = container_of(e, struct sim_delay, element);
	uint64_t at = e->sim->now + d->ns;

	if (!d->ns && !sim_event_is_set(&d->arrival)) {
		sim_pass(e, m);
		return;
	}
	if (d->in_order.n && sim_fifo_at(&d->in_order, d->in_order.n - 1)->at > at) {
		sim_packet(m)->at = at;
		sim_heap_push(&d->overtaking, m);
	} else {
		sim_fifo_push(&d->in_order, m, at);
	}
	if (!sim_event_is_set(&d->arrival) || at < d->arrival.at)
		sim_event_set(&e->sim->events, &d->arrival, at);
}

static void delay_destroy(struct sim_element *e)
{
	struct sim_delay *d = container_of(e, struct sim_delay, element);

	sim_fifo_free(&d->in_order);
	sim_heap_free(&d->overtaking);
	free(d);
}

static const struct sim_element_ops ops = {delay_input, delay_destroy};

struct sim_delay *sim_delay_create(struct sim *s, uint64_t ns)
{
	struct sim_delay *d = sim_element_new(s, &ops, sizeof *d);

	d->ns = ns;
	d->arrival.fn = arrive;
	return d;
}

struct sim_element *sim_delay_element(struct sim_delay *d)
{
	return &d->element;
}

void sim_delay_set(struct sim_delay *d, uint64_t ns)
{
	d->ns = ns;
}
