/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/corrupt.h"

#include "ip/eth_wire.h"

static void flip_a_bit(struct sim_some *x, struct rte_mbuf *m)
{
	uint64_t at = ETH_LEN + prng_u64(&x->rng) % (m->pkt_len - ETH_LEN);

	*rte_pktmbuf_mtod_offset(m, uint8_t *, at) ^= (uint8_t)(1 << (prng_u64(&x->rng) & 7));
}

static void corrupt_input(struct sim_element *e, struct rte_mbuf *m)
{
	struct sim_some *x = sim_some_of(e);

	if (sim_some_chance(x)) {
		x->count++;
		m = sim_packet_own(e->sim, m);
		if (!m)
			return;
		flip_a_bit(x, m);
	}
	sim_pass(e, m);
}

static const struct sim_element_ops ops = {corrupt_input, sim_element_free};

struct sim_some *sim_corrupt_create(struct sim *s, double p)
{
	return sim_some_create(s, &ops, p);
}
