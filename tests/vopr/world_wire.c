/* SPDX-License-Identifier: BSD-2-Clause */
/** The network that datagrams of UD cross: some are lost, doubled, late or changed. */
#include "vopr/world.h"

#include "base/bytes.h"
#include "vopr/arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HEADER    24
#define CRC       4
#define WITH_IMM  1
#define SOLICITED 2

/** In the order of docs/ud.md. */
struct world_datagram {
	struct world_host *from, *to;
	struct ud_path path;
	uint16_t port;
	uint32_t len;
	bool changed; /**< on its way */
	struct model_ud_message message;
	uint8_t octets[HEADER + MODEL_UD_MOST + CRC];
};

/** CRC32c, bit by bit. */
static uint32_t crc_of(const uint8_t *p, uint32_t len)
{
	uint32_t crc = UINT32_MAX;

	for (; len--; p++) {
		crc ^= *p;
		for (unsigned i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0x82f63b78) : 0);
	}
	return ~crc;
}

/** @return false: it is none. */
static bool dissect(struct world_datagram *d)
{
	const uint8_t *p = d->octets;
	struct model_ud_message *s = &d->message;

	if (memcmp(p, "uiUD\1", 5) != 0 || p[5] & ~(WITH_IMM | SOLICITED) ||
		load_be16(p + 6) != d->len - HEADER - CRC ||
		load_le32(p + d->len - CRC) != crc_of(p, d->len - CRC))
		return false;
	*s = (struct model_ud_message){.with_imm = p[5] & WITH_IMM,
		.solicited = p[5] & SOLICITED,
		.length = load_be16(p + 6),
		.to = load_be32(p + 8),
		.from = load_be32(p + 12),
		.qkey = load_be32(p + 16),
		.tos = d->path.tos,
		.ttl = d->path.ttl};
	memcpy(&s->imm, p + 20, 4);
	memcpy(s->gid[0], d->path.local.b, 16);
	memcpy(s->gid[1], d->path.remote.b, 16);
	memcpy(s->data, p + HEADER, s->length);
	return true;
}

/* ---- arrival ----------------------------------------------------------------------------- */

/** Under the receiver's lock. */
static void take_in(void *ctx)
{
	struct world_datagram *d = ctx;
	struct world_host *h = d->to;
	struct world_ud *u = world_ud_find(h, d->message.to);
	enum rnic_qp_state state = u ? rnic_qp_get_state(u->qp) : RNIC_QP_RESET;
	struct ud_path path = {.local = d->path.remote,
		.remote = d->path.local,
		.tos = d->path.tos,
		.ttl = d->path.ttl};
	bool taken = !d->changed && (state == RNIC_QP_RTR || state == RNIC_QP_RTS) &&
		     model_ud_arrived(&u->model, &d->message);

	world_trace(h->w, "host %u: a datagram for qp %u comes%s", h->index, d->message.to,
		taken ? "" : ", and is dropped");
	h->w->told.other[TALLY_UD_DROPPED] += !taken;
	h->uds.input(h->uds.user, &path, d->octets, d->len);
}

static void arrive(void *ctx)
{
	struct world_datagram *d = ctx;
	struct world *w = d->from->w;

	if (!w->over && d->to->uds.input && d->to->uds.port == d->port) {
		if (d->changed)
			d->octets[prng_below(&w->wire, d->len)] ^=
				(uint8_t)(1u << prng_below(&w->wire, 8));
		sim_host_call(d->to->host, take_in, d);
	}
	free(d);
}

static void launch(const struct world_datagram *of)
{
	struct world *w = of->from->w;
	struct world_datagram *d = model_need(malloc(sizeof *d));
	uint64_t most = UINT64_C(1) << (prng_chance(&w->wire, 0.05) ? 30 : 20);

	*d = *of;
	d->changed = prng_chance(&w->wire, 0.02);
	sim_at(w->s, sim_now(w->s) + 50 * SIM_US + prng_below(&w->wire, most), arrive, d);
}

/* ---- what the RNIC asks of it ------------------------------------------------------------ */

static int wire_open(void *ctx, uint16_t port, uint16_t group_port, ud_input_fn *input, void *user)
{
	struct world_host *h = ctx;

	h->uds.port = port;
	h->uds.input = input;
	h->uds.user = user;
	return 0;
}

static void wire_close(void *ctx)
{
	struct world_host *h = ctx;

	h->uds.input = NULL;
}

static int wire_begin(
	void *ctx, const struct ud_path *path, uint16_t port, size_t len, uint8_t **room)
{
	struct world_host *h = ctx;
	struct world *w = h->w;
	struct world_datagram *d;
	unsigned to = 0;

	if (prng_chance(&w->wire, 0.02))
		return -EAGAIN;
	while (to < w->n && memcmp(path->remote.b, sim_host_address(w->host[to].host).b, 16) != 0)
		to++;
	if (to == w->n)
		return -ENETUNREACH;
	if (h->uds.writing || len > sizeof d->octets) {
		model_fail(
			&w->m, "host %u: a datagram of %zu octets, for no reason", h->index, len);
		return -EINVAL;
	}
	d = h->uds.writing = model_need(malloc(sizeof *d));
	*d = (struct world_datagram){
		.from = h, .to = &w->host[to], .path = *path, .port = port, .len = (uint32_t)len};
	*room = d->octets;
	return 0;
}

static void wire_cancel(void *ctx)
{
	struct world_host *h = ctx;

	free(h->uds.writing);
	h->uds.writing = NULL;
}

static void wire_commit(void *ctx, uint16_t sum)
{
	struct world_host *h = ctx;
	struct world *w = h->w;
	struct world_datagram *d = h->uds.writing;
	struct world_ud *u = dissect(d) ? world_ud_find(h, d->message.from) : NULL;

	if (u)
		model_ud_sent(&u->model, &d->message);
	else
		model_fail(&w->m, "host %u: a datagram of no UD QP", h->index);
	if (!prng_chance(&w->wire, 0.05))
		launch(d);
	if (prng_chance(&w->wire, 0.05))
		launch(d);
	wire_cancel(h);
}

static bool wire_flush(void *ctx)
{
	struct world_host *h = ctx;

	return !prng_chance(&h->w->wire, 0.05);
}

static void wire_prepare(void *ctx, const struct ip_addr *remote)
{
}

void world_uds_prepare(struct world_host *h)
{
	h->uds.net = (struct ud_net){.open = wire_open,
		.close = wire_close,
		.begin = wire_begin,
		.commit = wire_commit,
		.cancel = wire_cancel,
		.flush = wire_flush,
		.prepare = wire_prepare,
		.max_message = MODEL_UD_MOST,
		.group_ttl = 1,
		.ctx = h};
}
