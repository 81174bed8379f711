/* SPDX-License-Identifier: BSD-2-Clause */
#include "vopr/mangle.h"

#include "base/container_of.h"
#include "ip/eth_wire.h"
#include "sim/headers.h"
#include "sim/host.h"

#include <string.h>

/** Start-up frames have no CRC: what becomes of these may be anything (RFC 5044 section 7.1). */
static bool may_be_mangled(const struct sim_headers *h)
{
	uint32_t len = h->end - h->text;

	return len >= 8 && memcmp(h->frame + h->text, "MPA ID", 6) != 0;
}

/** Let two words change places: their sum stays. @return false: they are equal. */
static bool swap_words(struct mangle *x, const struct sim_headers *h)
{
	uint32_t words = (h->end - h->text) / 2;
	uint8_t *a = h->frame + h->text + 2 * prng_below(&x->rng, words);
	uint8_t *b = h->frame + h->text + 2 * prng_below(&x->rng, words), t[2];

	if (memcmp(a, b, 2) == 0)
		return false;
	memcpy(t, a, 2);
	memcpy(a, b, 2);
	memcpy(b, t, 2);
	return true;
}

static void mangle_input(struct sim_element *e, struct rte_mbuf *m)
{
	struct mangle *x = container_of(e, struct mangle, element);
	struct sim_headers h;

	if (prng_chance(&x->rng, x->p)) {
		m = sim_packet_own(e->sim, m);
		if (!m)
			return;
		if (sim_headers_find(m, &h) && h.is_tcp && may_be_mangled(&h) && swap_words(x, &h))
			x->told(x->ctx, sim_host_number(h.frame + ETH_SRC),
				sim_host_number(h.frame + ETH_DST));
	}
	sim_pass(e, m);
}

struct mangle *mangle_create(struct sim *s, void (*told)(void *, unsigned, unsigned), void *ctx)
{
	static const struct sim_element_ops ops = {mangle_input, sim_element_free};
	struct mangle *x = sim_element_new(s, &ops, sizeof *x);

	x->rng.state = prng_u64(&s->rng);
	x->told = told;
	x->ctx = ctx;
	return x;
}
