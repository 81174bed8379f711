/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file sidr_wire.h
 * A double of ud_net's ports for two RNICs: what is sent waits until the test delivers, loses or
 * repeats it.
 */
#ifndef TESTS_UNIT_RNIC_SIDR_WIRE_H
#define TESTS_UNIT_RNIC_SIDR_WIRE_H

#include "pair.h"
#include "ud/sidr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SIDR_WIRE_PORTS 8

struct ud_port {
	struct ud_port_user user;
	uint16_t number; /**< 0: closed */
	unsigned host;
};

struct sidr_datagram {
	unsigned from_host;
	struct ip_endpoint from, to;
	uint8_t data[SIDR_LEN];
};

/** All of a test. */
static struct {
	struct pair pair;
	struct ud_net net[2];
	struct ud_port port[SIDR_WIRE_PORTS];
	struct sidr_datagram sent[64]; /**< the last of them, from 0 */
	unsigned n_sent, open;
	bool no_gid;        /**< no address of either is one */
	struct ip_addr gid; /**< one is this, with no_gid; any: none is */
	int open_rc;
} sidr_wire;

static unsigned sidr_wire_host_of(const struct ip_addr *a)
{
	struct ip_endpoint e = llp_mem_endpoint(sidr_wire.pair.mem, 0, 0);

	return !ip_addr_equal(a, &e.addr);
}

static int sidr_wire_open(
	void *ctx, uint16_t port, const struct ud_port_user *user, struct ud_port **out)
{
	unsigned host = ctx == &sidr_wire.net[1];

	if (sidr_wire.open_rc)
		return sidr_wire.open_rc;
	for (unsigned i = 0; i < SIDR_WIRE_PORTS; i++)
		if (sidr_wire.port[i].number == port && sidr_wire.port[i].host == host)
			return -EADDRINUSE;
	for (unsigned i = 0; i < SIDR_WIRE_PORTS; i++)
		if (!sidr_wire.port[i].number) {
			sidr_wire.port[i] =
				(struct ud_port){.user = *user, .number = port, .host = host};
			*out = &sidr_wire.port[i];
			sidr_wire.open++;
			return 0;
		}
	return -ENOSPC;
}

static void sidr_wire_close(struct ud_port *p)
{
	p->number = 0;
	sidr_wire.open--;
}

static void sidr_wire_send(struct ud_port *p, const struct ip_addr *from,
	const struct ip_endpoint *to, const void *data, size_t len)
{
	struct sidr_datagram *d = &sidr_wire.sent[sidr_wire.n_sent++];

	if (len != SIDR_LEN || sidr_wire.n_sent > 64)
		abort();
	*d = (struct sidr_datagram){
		.from_host = p->host, .from = {.addr = *from, .port = p->number}, .to = *to};
	memcpy(d->data, data, len);
}

static bool sidr_wire_has_gid(void *ctx, const struct ip_addr *local)
{
	return !sidr_wire.no_gid;
}

static int sidr_wire_gid_source(void *ctx, const struct ip_addr *remote, struct ip_addr *local)
{
	if (ip_addr_is_any(&sidr_wire.gid))
		return -EADDRNOTAVAIL;
	*local = sidr_wire.gid;
	return 0;
}

/** @return false: nobody has that port, which the sender is told. */
static inline bool sidr_wire_deliver(const struct sidr_datagram *given)
{
	const struct sidr_datagram d = *given;
	unsigned host = sidr_wire_host_of(&d.to.addr);
	struct ud_port *p = sidr_wire.port, *back = NULL, *to = NULL;

	for (; p < sidr_wire.port + SIDR_WIRE_PORTS; p++) {
		if (p->number == d.to.port && p->host == host)
			to = p;
		if (p->number == d.from.port && p->host == d.from_host)
			back = p;
	}
	engine_lock(&sidr_wire.pair.engine);
	if (to)
		to->user.input(to->user.ctx, &d.from, &d.to, d.data, SIDR_LEN);
	else if (back)
		back->user.error(back->user.ctx, &d.to, d.data, SIDR_LEN);
	engine_unlock(&sidr_wire.pair.engine);
	return to;
}

/** Deliver all, answers too. */
static inline void sidr_wire_run(void)
{
	for (unsigned i = 0; i < sidr_wire.n_sent; i++)
		sidr_wire_deliver(&sidr_wire.sent[i]);
	sidr_wire.n_sent = 0;
}

static inline void sidr_wire_init(const struct rnic_limits *limits)
{
	memset(&sidr_wire, 0, sizeof sidr_wire);
	pair_engine_init(&sidr_wire.pair);
	for (unsigned i = 0; i < 2; i++) {
		struct rnic_config cfg = {.mpa = {.revision = 2},
			.pairing_port = 61525,
			.ud = &sidr_wire.net[i],
			.ud_port = 61525};
		struct side *s = i ? &sidr_wire.pair.b : &sidr_wire.pair.a;

		if (limits)
			cfg.limits = *limits;
		sidr_wire.net[i] = (struct ud_net){.port_open = sidr_wire_open,
			.port_close = sidr_wire_close,
			.port_send = sidr_wire_send,
			.has_gid = sidr_wire_has_gid,
			.gid_source = sidr_wire_gid_source,
			.max_message = 1024,
			.ctx = &sidr_wire.net[i]};
		pair_rnic(&sidr_wire.pair, s, i, &cfg);
		pair_side(s);
		rnic_ep_destroy(s->ep);
		assert_int_equal(rnic_ep_create_ud(s->rnic, pair_ep_event, s, &s->ep), 0);
	}
}

/** See that no port is left. */
static inline unsigned sidr_wire_fini(void)
{
	pair_fini(&sidr_wire.pair);
	return sidr_wire.open;
}

#endif
