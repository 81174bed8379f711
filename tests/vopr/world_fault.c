/* SPDX-License-Identifier: BSD-2-Clause */
/** The network between the hosts, and what it does to them. */
#include "sim/coalesce.h"
#include "sim/some.h"
#include "sim/split.h"
#include "support/alloc_fault.h"
#include "vopr/world.h"

#define CUT_HARMLESS (3 * SIM_S)
/** No burst of losses takes as long, also where a packet is sent now and then. */
#define BURST_MOST SIM_S
/** From about here on, TCP gives up on a peer that reads nothing. */
#define PATIENCE (50 * SIM_S)

/** Streams between them may end from here on, also one whose peer is gone: what that has sent is on
 *  its way still. */
static void excuse_between(struct world *w, unsigned a, unsigned b)
{
	for (unsigned i = 0; i < WORLD_QPS; i++) {
		struct world_qp *q = &w->host[a].qp[i];

		if (q->qp && q->linked && q->far == b)
			model_excuse(&q->model);
	}
}

static void excuse_all(struct world_host *h)
{
	for (unsigned i = 0; i < h->w->n; i++)
		excuse_between(h->w, h->index, i);
}

/** Likewise, and those that are about to be made. */
static void excuse_also_new(struct world *w, unsigned a, unsigned b)
{
	excuse_between(w, a, b);
	for (unsigned i = 0; i < WORLD_QPS; i++) {
		struct world_qp *q = &w->host[a].qp[i], *p = &w->host[b].qp[i];

		if (q->qp && !q->linked)
			model_excuse(&q->model);
		if (p->qp && !p->linked)
			model_excuse(&p->model);
	}
}

static void excuse_all_also_new(struct world_host *h)
{
	for (unsigned i = 0; i < h->w->n; i++)
		excuse_also_new(h->w, h->index, i);
}

/** What is waited for may never come, if the length of an FPDU has become another. */
static void garble_between(struct world *w, unsigned a, unsigned b)
{
	for (unsigned i = 0; i < WORLD_QPS; i++) {
		struct world_qp *q = &w->host[a].qp[i];

		if (q->qp && (!q->linked || q->far == b))
			q->garbled = true;
	}
}

static void mangled(void *ctx, unsigned from, unsigned to)
{
	struct world *w = ctx;

	world_trace(w, "a segment of host %u to host %u is mangled", from, to);
	if (from < w->n && to < w->n) {
		excuse_between(w, from, to);
		excuse_between(w, to, from);
		garble_between(w, from, to);
		garble_between(w, to, from);
	}
}

static void forged(void *ctx, unsigned from, unsigned to)
{
	struct world *w = ctx;

	world_trace(w, "somebody lies to host %u in the name of host %u", to, from);
	if (from >= w->n || to >= w->n)
		return;
	excuse_also_new(w, from, to);
	excuse_also_new(w, to, from);
	garble_between(w, from, to);
	garble_between(w, to, from);
}

/** From the host to the switch: what changes segments first, and what breaks streams. */
static void plug_in_boxes(struct world *w, struct world_host *h)
{
	h->split = sim_split_create(w->s, UINT32_MAX);
	h->coalesce = sim_coalesce_create(w->s, 0, 0);
	h->box = box_create(w->s);
	box_repeat(h->box, w->program->profile.again);
	h->forge = forge_create(h->host, forged, w);
	h->forge->text = !w->program->profile.crc_off;
	h->mangle = mangle_create(w->s, mangled, w);
	sim_path_prepend(&h->up, h->coalesce);
	sim_path_prepend(&h->up, h->split);
	sim_path_prepend(&h->up, &h->forge->element);
	sim_path_prepend(&h->up, &h->mangle->element);
	sim_path_prepend(&h->up, box_out(h->box));
	sim_path_append(&h->down, box_in(h->box));
	h->overlap = overlap_create(
		w->s, w->program->profile.mtu, w->program->profile.seed ^ h->index << 16);
	sim_path_prepend(&h->up, overlap_out(h->overlap));
	sim_path_append(&h->down, overlap_in(h->overlap));
}

static uint64_t path_delay(const struct world *w)
{
	return w->program->profile.delay * SIM_US;
}

static void plug_in(struct world *w, struct world_host *h)
{
	const struct sim_path_config path = {.queue.rate = 1000000000,
		.delay = path_delay(w),
		.duplicate = 1e-9,
		.corrupt = 1e-9};

	sim_path_create(w->s, &path, sim_switch_element(w->sw), &h->up);
	sim_path_create(w->s, &path, sim_host_port(h->host), &h->down);
	h->up.duplicate->p = h->down.duplicate->p = 0;
	h->up.corrupt->p = h->down.corrupt->p = 0;
	sim_loss_config(h->up.loss)->longest = sim_loss_config(h->down.loss)->longest = BURST_MOST;
	plug_in_boxes(w, h);
	sim_switch_attach(w->sw, h->host, h->down.in);
	if (w->pcap)
		sim_path_prepend(&h->up, sim_tap_create(w->s, sim_pcapng_packet, w->pcap));
	sim_host_attach(h->host, h->up.in);
}

void world_network_create(struct world *w, const char *pcap)
{
	if (pcap) {
		w->pcap = sim_pcapng_open(pcap, "sent by all hosts");
		if (!w->pcap)
			perror(pcap);
	}
	w->sw = sim_switch_create(w->s);
	w->disturbed = w->program->profile.again > 0;
	for (unsigned i = 0; i < w->n; i++)
		plug_in(w, &w->host[i]);
}

static void calm_path(struct sim_path *p)
{
	sim_loss_config(p->loss)->chance = (struct wan_loss_config){0};
	*sim_reorder_config(p->reorder) = (struct sim_reorder_config){0};
	p->duplicate->p = p->corrupt->p = 0;
	*sim_mtu_config(p->mtu) = (struct sim_mtu_config){0};
}

static void calm(struct world_host *h)
{
	calm_path(&h->up);
	calm_path(&h->down);
	sim_delay_set(h->up.delay, path_delay(h->w));
	sim_delay_set(h->down.delay, path_delay(h->w));
	h->resplit = false;
	h->mangle->p = h->forge->p = 0;
	box_set(h->box, 0);
	overlap_set(h->overlap, 0);
	sim_split_set(h->split, UINT32_MAX);
	sim_coalesce_set(h->coalesce, 0, 0);
}

static void hog_end(struct world *w)
{
	if (w->n_hogged)
		rte_pktmbuf_free_bulk(w->hogged, w->n_hogged);
	w->n_hogged = 0;
}

void world_calm(struct world *w)
{
	for (unsigned i = 0; i < w->n; i++) {
		calm(&w->host[i]);
		box_repeat(w->host[i].box, 0);
	}
	hog_end(w);
	alloc_fault_chance(0, 0);
}

static void cut_end(void *ctx)
{
	struct world_host *h = ctx;

	world_trace(h->w, "host %u: the cut ends", h->index);
	sim_loss_config(h->up.loss)->chance.good = 0;
	sim_loss_config(h->down.loss)->chance.good = 0;
}

static void cut(struct world_host *h)
{
	struct world *w = h->w;
	uint64_t t =
		world_chance(w, 0.7) ? world_below(w, CUT_HARMLESS) : world_below(w, 120 * SIM_S);

	if (world_chance(w, 0.8))
		sim_loss_config(h->up.loss)->chance.good = 1;
	if (world_chance(w, 0.8))
		sim_loss_config(h->down.loss)->chance.good = 1;
	if (t >= CUT_HARMLESS)
		excuse_all(h);
	sim_at(w->s, sim_now(w->s) + t, cut_end, h);
}

static void hog_over(void *ctx)
{
	hog_end(ctx);
}

/** Packets are short: of all hosts, as they share them. */
static void hog(struct world *w)
{
	uint64_t n = world_below(w, RTE_DIM(w->hogged)) + 1;

	while (w->n_hogged < n) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(w->s->pool);

		if (!m)
			break;
		w->hogged[w->n_hogged++] = m;
	}
	sim_at(w->s, sim_now(w->s) + world_below(w, 2 * SIM_S), hog_over, w);
}

static void stall_end(void *ctx)
{
	struct world_host *h = ctx;

	sim_delay_set(h->down.delay, path_delay(h->w));
}

/** It hears of nothing for a while, then of all at once. */
static void stall(struct world_host *h)
{
	uint64_t t = world_below(h->w, 3 * SIM_S);

	sim_delay_set(h->down.delay, t);
	sim_at(h->w->s, sim_now(h->w->s) + t, stall_end, h);
}

/**
 * Streams that may be in a handshake of TLS, which ends where there is no memory. Of a pair nobody
 * tells when that is over, but what has come over it does.
 */
static void excuse_handshakes(struct world *w)
{
	for (unsigned h = 0; h < w->n; h++) {
		for (unsigned i = 0; i < WORLD_QPS; i++) {
			struct world_qp *q = &w->host[h].qp[i];

			if (q->qp && (!q->linked || (q->paired && !q->model.made)))
				model_excuse(&q->model);
		}
	}
}

static void memory_is_back(void *ctx)
{
	alloc_fault_chance(0, 0);
}

/** Allocations fail by chance, of all hosts and all kinds; one in all or one in a few. */
static void no_memory(struct world *w)
{
	static const double chances[] = {0.002, 0.02, 0.2, 1};
	unsigned i = (unsigned)world_below(w, RTE_DIM(chances));

	alloc_fault_chance(chances[i], prng_u64(&w->r));
	/* With nothing at all, not for so long that connections end. */
	w->scarce_until = sim_now(w->s) + world_below(w, i < 3 ? 2 * SIM_S : 50 * SIM_MS);
	sim_at(w->s, w->scarce_until, memory_is_back, w);
	if (w->tls)
		excuse_handshakes(w);
}

/* docs/security.md: a handshake ends where there is no memory. */
void world_excuse_paired(struct world_qp *q)
{
	struct world *w = q->h->w;

	if (w->tls && sim_now(w->s) <= w->scarce_until)
		model_excuse(&q->model);
}

/* ---- what is between ----------------------------------------------------------------------- */

/** Some of its acts, and segments of other sizes than they were sent in. */
static void box_any(struct world_host *h)
{
	struct world *w = h->w;
	unsigned acts = (unsigned)(prng_u64(&w->r) & prng_u64(&w->r) & (2 * BOX_REPEAT - 1));

	box_set(h->box, acts);
	w->disturbed |= acts & (BOX_HOLD | BOX_REPEAT);
	h->resplit = world_chance_since(w, 3, 0.5);
	if (h->resplit) /* for something to be sent again */
		sim_loss_config(h->up.loss)->chance = (struct wan_loss_config){.good = 0.05};
	if (world_chance(w, 0.3))
		sim_split_set(h->split, 1 + (uint32_t)world_below(w, 1400));
	if (world_chance(w, 0.3))
		sim_coalesce_set(h->coalesce, (uint32_t)world_below(w, w->program->profile.mtu),
			world_below(w, SIM_MS));
	if (world_chance_since(w, 4, 0.5)) { /* with gaps, behind which something is kept */
		overlap_set(h->overlap, (double)(1 + world_below(w, 100)) / 100);
		sim_loss_config(h->down.loss)->chance = (struct wan_loss_config){.good = 0.03};
	}
	world_trace(w, "host %u: middlebox, acts %#x", h->index, acts);
}

/** What is sent again is cut in other places, and overlaps what has come. */
void world_resplit(struct world *w)
{
	for (unsigned i = 0; i < w->n; i++)
		if (w->host[i].resplit)
			sim_split_set(w->host[i].split, 1 + (uint32_t)world_below(w, 1400));
}

static void forge_some(struct world_host *h)
{
	h->forge->p = (double)world_below(h->w, 100) / 3000;
}

static void rebind(struct world_host *h)
{
	world_trace(h->w, "host %u: other ports from here on", h->index);
	excuse_all_also_new(h);
	box_rebind(h->box);
}

/** A smaller one on the way, of which senders are told or not. */
static void mtu_any(struct world_host *h, struct sim_path *p)
{
	struct world *w = h->w;
	struct ip_addr address = sim_host_address(h->host);
	uint16_t least = ip_addr_is_v4(&address) ? 576 : 1280;
	struct sim_element *back = p == &h->up ? h->down.in : h->up.in;

	*sim_mtu_config(p->mtu) =
		(struct sim_mtu_config){.mtu = (uint16_t)(least + world_below(w, 1500u - least)),
			.back = world_chance(w, 0.5) ? back : NULL};
}

static void reorder_any(struct world *w, struct sim_path *p)
{
	uint64_t most = world_chance(w, 0.2) ? 2 * SIM_S : 10 * SIM_MS;

	*sim_reorder_config(p->reorder) = (struct sim_reorder_config){
		(double)world_below(w, 300) / 1000, 1 + world_below(w, most)};
}

/* ---- time ---------------------------------------------------------------------------------- */

/** Mostly what no connection minds. */
static uint64_t any_time(struct world *w, uint64_t most)
{
	return world_below(w, world_chance(w, 0.8) ? CUT_HARMLESS : most);
}

/** No program posts receives meanwhile, so that what is behind a message which waits is not read.
 */
static void excuse_waiting(struct world *w)
{
	for (unsigned i = 0; i < w->n * WORLD_QPS; i++) {
		struct world_qp *q = &w->host[i / WORLD_QPS].qp[i % WORLD_QPS];

		if (q->qp && q->linked && !TAILQ_EMPTY(&q->model.inbox))
			model_excuse(&q->model);
	}
}

/** It does not run, and its program does not; the others go on. */
static void freeze(struct world_host *h)
{
	struct world *w = h->w;
	uint64_t t = any_time(w, 300 * SIM_S);

	world_trace(w, "host %u: stands still for %.3f s", h->index, (double)t / 1e9);
	if (t >= CUT_HARMLESS)
		excuse_all_also_new(h);
	if (t >= PATIENCE)
		excuse_waiting(w);
	sim_host_freeze(h->host, t);
	w->still = true;
	sim_run(w->s, t, NULL, NULL);
	w->still = false;
}

/** Messages that it has got and keeps for a receive have waited for so long. */
static void expire_waiting(struct world_host *h)
{
	for (unsigned i = 0; i < WORLD_QPS; i++) {
		struct world_qp *q = &h->qp[i];

		if (q->qp && q->linked)
			model_rq_expire(q->model.rq);
	}
}

static void step_clock(struct world_host *h)
{
	struct world *w = h->w;
	uint64_t t = any_time(w, 86400 * SIM_S);

	world_trace(w, "host %u: its clock jumps by %.3f s", h->index, (double)t / 1e9);
	if (t >= CUT_HARMLESS) {
		excuse_all_also_new(h);
		expire_waiting(h);
	}
	sim_host_step_clock(h->host, t);
}

/** @return false: it is none of these. */
static bool fault_between(struct world_host *h, struct sim_path *p, uint8_t kind)
{
	switch (kind) {
	case STEP_REORDER:
		reorder_any(h->w, p);
		return true;
	case STEP_MTU:
		mtu_any(h, p);
		return true;
	case STEP_CORRUPT:
		/* On one half of the way: where two bits are flipped, their sum may stay. */
		h->down.corrupt->p = (double)world_below(h->w, 100) / 2000;
		return true;
	case STEP_BOX:
		box_any(h);
		return true;
	case STEP_FORGE:
		forge_some(h);
		return true;
	case STEP_REBIND:
		rebind(h);
		return true;
	case STEP_FREEZE:
		freeze(h);
		return true;
	case STEP_CLOCK:
		step_clock(h);
		return true;
	default:
		return false;
	}
}

void world_fault(struct world_host *h, const struct step *step)
{
	struct world *w = h->w;
	struct sim_path *p = world_chance(w, 0.5) ? &h->up : &h->down;

	w->disturbed |=
		step->kind == STEP_REORDER || step->kind == STEP_DELAY || step->kind == STEP_STALL;
	for (unsigned i = 0; i < w->n; i++)
		w->host[i].forge->in_order = !w->disturbed;
	if (fault_between(h, p, step->kind))
		return;
	switch (step->kind) {
	case STEP_LOSS:
		sim_loss_config(p->loss)->chance =
			(struct wan_loss_config){.good = (double)world_below(w, 50) / 1000};
		break;
	case STEP_BURSTS:
		sim_loss_config(p->loss)->chance = wan_loss_bursts(
			(double)(1 + world_below(w, 20)) / 1000, (double)(2 + world_below(w, 20)));
		break;
	case STEP_DUPLICATE:
		p->duplicate->p = (double)world_below(w, 200) / 1000;
		break;
	case STEP_DELAY:
		sim_delay_set(p->delay, world_below(w, 100 * SIM_MS));
		break;
	case STEP_CUT:
		cut(h);
		break;
	case STEP_STALL:
		stall(h);
		break;
	case STEP_MANGLE:
		if (!w->program->profile.crc_off)
			h->mangle->p = (double)world_below(w, 100) / 10000;
		break;
	case STEP_HOG:
		hog(w);
		break;
	case STEP_NO_MEMORY:
		no_memory(w);
		break;
	default:
		calm(h);
	}
}
