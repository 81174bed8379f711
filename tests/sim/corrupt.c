/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/corrupt.h"

#include "base/container_of.h"

#include "ip/eth_wire.h"

struct sim_corrupt {
	struct sim_element element;
	struct prng rng;
	double p;
	uint64_t count;
};

static void flip_a_bit(struct sim_corrupt *x, struct rte_mbuf *m)
{
	uint64_t at = ETH_LEN + prng_u64(&x->rng) % (m->pkt_len - ETH_LEN);

	*rte_pktmbuf_mtod_offset(m, uint8_t *, at) ^= (uint8_t)(1 << (prng_u64(&x->rng) & 7));
}

static void corrupt_input(struct sim_element *e, struct rte_mbuf *m)
{
	struct sim_corrupt *x = container_of(e, struct sim_corrupt, element);

	if (prng_chance(&x->rng, x->p)) {
		x->count++;
		m = sim_packet_own(e->sim, m);
		if (!m)
			return;
		flip_a_bit(x, m);
	}
	sim_pass(e, m);
}

static const struct sim_element_ops ops = {corrupt_input, sim_element_free};

struct sim_corrupt *sim_corrupt_create(struct sim *s, double p)
{
	struct sim_corrupt *x = sim_element_new(s, &ops, sizeof *x);

	x->p = p;
	x->rng.state = prng_u64(&s->rng);
	return x;
}

struct sim_element *sim_corrupt_element(struct sim_corrupt *x)
{
	return &x->element;
}

void sim_corrupt_set(struct sim_corrupt *x, double p)
{
	x->p = p;
}

uint64_t sim_corrupt_count(const struct sim_corrupt *x)
{
	return x->count;
}
