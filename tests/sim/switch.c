/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/switch.h"

#include "base/container_of.h"
#include "ip/eth_wire.h"
#include "sim/host.h"

#include <stdlib.h>

struct sim_switch {
	struct sim_element element; /**< from its hosts; next is the trunk */
	struct sim_element trunk_in;
	struct sim_element **port; /**< by host number */
	unsigned n;
};

/** To all hosts here but @p not. */
static void flood(struct sim_switch *w, struct rte_mbuf *m, unsigned not )
{
	for (unsigned i = 0; i < w->n; i++) {
		struct rte_mbuf *c;

		if (!w->port[i] || i == not )
			continue;
		c = sim_packet_copy(w->element.sim, m);
		if (c)
			sim_input(w->port[i], c);
	}
}

/** @return the port of the station @p mac, or NULL. */
static struct sim_element *find(const struct sim_switch *w, const uint8_t *mac)
{
	unsigned i = sim_host_number(mac);

	return i < w->n ? w->port[i] : NULL;
}

static void from_host(struct sim_element *e, struct rte_mbuf *m)
{
	struct sim_switch *w = container_of(e, struct sim_switch, element);
	const uint8_t *h = rte_pktmbuf_mtod(m, const uint8_t *);
	struct sim_element *port = find(w, h + ETH_DST);

	if (eth_addr_is_group(h + ETH_DST))
		flood(w, m, sim_host_number(h + ETH_SRC));
	if (port)
		sim_input(port, m);
	else
		sim_pass(e, m);
}

static void from_trunk(struct sim_element *e, struct rte_mbuf *m)
{
	struct sim_switch *w = container_of(e, struct sim_switch, trunk_in);
	const uint8_t *h = rte_pktmbuf_mtod(m, const uint8_t *);
	struct sim_element *port = find(w, h + ETH_DST);

	if (port) {
		sim_input(port, m);
		return;
	}
	if (eth_addr_is_group(h + ETH_DST))
		flood(w, m, UINT32_MAX);
	rte_pktmbuf_free(m);
}

static void switch_destroy(struct sim_element *e)
{
	struct sim_switch *w = container_of(e, struct sim_switch, element);

	free(w->port);
	free(w);
}

struct sim_switch *sim_switch_create(struct sim *s)
{
	static const struct sim_element_ops ops = {from_host, switch_destroy};
	static const struct sim_element_ops trunk_ops = {.input = from_trunk};
	struct sim_switch *w = sim_element_new(s, &ops, sizeof *w);

	w->trunk_in = (struct sim_element){.ops = &trunk_ops, .sim = s};
	return w;
}

struct sim_element *sim_switch_element(struct sim_switch *w)
{
	return &w->element;
}

struct sim_element *sim_switch_trunk_in(struct sim_switch *w)
{
	return &w->trunk_in;
}

void sim_switch_attach(struct sim_switch *w, struct sim_host *h, struct sim_element *port)
{
	unsigned i = sim_host_index(h);

	if (i >= w->n) {
		w->port = realloc(w->port, (i + 1) * sizeof(struct sim_element *));
		if (!w->port)
			abort();
		memset(w->port + w->n, 0, (i + 1 - w->n) * sizeof(struct sim_element *));
		w->n = i + 1;
	}
	w->port[i] = port;
}

void sim_switch_set_trunk(struct sim_switch *w, struct sim_element *port)
{
	w->element.next = port;
}
