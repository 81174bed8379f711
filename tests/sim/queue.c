/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/queue.h"

#include "base/container_of.h"
#include "sim/ecn.h"

#include <math.h>
#include <stdlib.h>

#define DEFAULT_LIMIT (UINT64_C(1) << 20)

/** Of RED. */
struct red {
	double average;
	uint64_t idle_since; /**< ns; 0: not idle */
	int count;           /**< packets since the last one that was chosen; -1: below min */
};

struct sim_queue {
	struct sim_element element;
	struct sim_queue_config cfg;
	struct sim_queue_stats stats;
	struct prng rng;
	struct sim_fifo fifo;
	struct sim_event sent; /**< the first packet has left */
	uint64_t remainder;    /**< of the division for its time, so that none is lost */
	uint64_t counted_at;
	struct red red;
};

static void count_bytes(struct sim_queue *q)
{
	q->stats.byte_ns += (double)q->fifo.bytes * (double)(q->element.sim->now - q->counted_at);
	q->counted_at = q->element.sim->now;
}

static void send_first(struct sim_queue *q)
{
	uint64_t bits = UINT64_C(8) * sim_fifo_at(&q->fifo, 0)->len * SIM_S + q->remainder;
	uint64_t rate = q->cfg.rate;

	q->remainder = rate ? bits % rate : 0;
	sim_event_set(
		&q->element.sim->events, &q->sent, q->element.sim->now + (rate ? bits / rate : 0));
}

static void first_sent(struct sim_event *e)
{
	struct sim_queue *q = container_of(e, struct sim_queue, sent);
	struct rte_mbuf *m;

	count_bytes(q);
	q->stats.packets++;
	q->stats.bytes += sim_fifo_at(&q->fifo, 0)->len;
	m = sim_fifo_take(&q->fifo);
	if (q->fifo.n) {
		send_first(q);
	} else {
		q->remainder = 0;
		q->red.idle_since = q->element.sim->now;
	}
	sim_pass(&q->element, m);
}

/** While the line was idle, RED sees as many empty queues as small packets would have passed. */
static void red_average(struct sim_queue *q)
{
	const double w = q->cfg.red.weight > 0 ? q->cfg.red.weight : 0.002;
	struct red *r = &q->red;

	if (!q->fifo.n && r->idle_since) {
		double idle = (double)(q->element.sim->now - r->idle_since);

		r->average *= pow(1 - w, idle * (double)q->cfg.rate / 8e9 / 500);
		r->idle_since = 0;
	}
	r->average += w * ((double)q->fifo.bytes - r->average);
}

/** @return true: drop or mark the packet that arrives. */
static bool red_chooses(struct sim_queue *q)
{
	const double min = (double)q->cfg.red.min, max = (double)q->cfg.red.max;
	const double max_p = q->cfg.red.max_p > 0 ? q->cfg.red.max_p : 0.1;
	struct red *r = &q->red;
	double p;

	red_average(q);
	if (r->average < min) {
		r->count = -1;
		return false;
	}
	r->count++;
	if (r->average < max)
		p = max_p * (r->average - min) / (max - min);
	else
		p = max_p + (1 - max_p) * (r->average - max) / max;
	/* Spread evenly over the packets between two that are chosen. */
	p = r->count * p < 1 ? p / (1 - r->count * p) : 1;
	if (!prng_chance(&q->rng, p))
		return false;
	r->count = 0;
	return true;
}

/** Mark or drop, as the queue's discipline says. @return the packet if it may go in. */
static struct rte_mbuf *admit(struct sim_queue *q, struct rte_mbuf *m)
{
	const uint64_t limit = q->cfg.limit ? q->cfg.limit : DEFAULT_LIMIT;
	bool mark = q->cfg.ecn_threshold && q->fifo.bytes >= q->cfg.ecn_threshold;
	bool chosen = q->cfg.red.max && red_chooses(q);

	if ((mark || chosen) && sim_ecn_capable(m)) {
		q->stats.marks++;
		m = sim_ecn_mark(q->element.sim, m);
		chosen = false;
	}
	if (m && (chosen || q->fifo.bytes + m->pkt_len > limit)) {
		rte_pktmbuf_free(m);
		m = NULL;
	}
	if (!m)
		q->stats.drops++;
	return m;
}

static void queue_input(struct sim_element *e, struct rte_mbuf *m)
{
	struct sim_queue *q = container_of(e, struct sim_queue, element);

	if (!q->cfg.rate && !q->fifo.n) {
		q->stats.packets++;
		q->stats.bytes += m->pkt_len;
		sim_pass(e, m);
		return;
	}
	m = admit(q, m);
	if (!m)
		return;
	count_bytes(q);
	sim_fifo_push(&q->fifo, m, 0);
	if (q->fifo.bytes > q->stats.max_bytes)
		q->stats.max_bytes = q->fifo.bytes;
	if (q->fifo.n == 1)
		send_first(q);
}

static void queue_destroy(struct sim_element *e)
{
	struct sim_queue *q = container_of(e, struct sim_queue, element);

	sim_fifo_free(&q->fifo);
	free(q);
}

static const struct sim_element_ops ops = {queue_input, queue_destroy};

struct sim_queue *sim_queue_create(struct sim *s, const struct sim_queue_config *cfg)
{
	struct sim_queue *q = sim_element_new(s, &ops, sizeof *q);

	q->cfg = *cfg;
	q->sent.fn = first_sent;
	q->rng.state = prng_u64(&s->rng);
	q->red.count = -1;
	sim_queue_reset_stats(q);
	return q;
}

struct sim_element *sim_queue_element(struct sim_queue *q)
{
	return &q->element;
}

struct sim_queue_config *sim_queue_config(struct sim_queue *q)
{
	return &q->cfg;
}

const struct sim_queue_stats *sim_queue_stats(struct sim_queue *q)
{
	return &q->stats;
}

void sim_queue_reset_stats(struct sim_queue *q)
{
	q->stats = (struct sim_queue_stats){.since = q->element.sim->now};
	q->counted_at = q->element.sim->now;
}

uint64_t sim_queue_bytes(const struct sim_queue *q)
{
	return q->fifo.bytes;
}

double sim_queue_mean(struct sim_queue *q)
{
	uint64_t time = q->element.sim->now - q->stats.since;

	count_bytes(q);
	return time ? q->stats.byte_ns / (double)time : 0;
}
