/* SPDX-License-Identifier: BSD-2-Clause */
#include "vopr/program.h"

#include "base/prng.h"

#include <stdlib.h>
#include <string.h>

enum weight_of { PLAIN, CHANGE, FAULT };

static const struct {
	const char *name;
	unsigned weight;
	enum weight_of of;
} kinds[STEP_KINDS] = {
	[STEP_WAIT] = {"wait", 250, PLAIN},
	[STEP_POST] = {"post", 600, PLAIN},
	[STEP_RECV] = {"recv", 350, PLAIN},
	[STEP_POLL] = {"poll", 200, PLAIN},
	[STEP_SCRIBBLE] = {"scribble", 60, PLAIN},
	[STEP_MR_REG] = {"mr_reg", 30, CHANGE},
	[STEP_MR_DEREG] = {"mr_dereg", 8, CHANGE},
	[STEP_MW_ALLOC] = {"mw_alloc", 20, CHANGE},
	[STEP_MW_DEALLOC] = {"mw_dealloc", 6, CHANGE},
	[STEP_CQ_RESIZE] = {"cq_resize", 6, CHANGE},
	[STEP_CQ_ARM] = {"cq_arm", 40, PLAIN},
	[STEP_SRQ_CREATE] = {"srq_create", 6, CHANGE},
	[STEP_SRQ_DESTROY] = {"srq_destroy", 4, CHANGE},
	[STEP_QP_CREATE] = {"qp_create", 25, CHANGE},
	[STEP_QP_DESTROY] = {"qp_destroy", 5, CHANGE},
	[STEP_QP_RESET] = {"qp_reset", 5, CHANGE},
	[STEP_QP_ERROR] = {"qp_error", 5, CHANGE},
	[STEP_QP_DRAIN] = {"qp_drain", 5, CHANGE},
	[STEP_QP_RESUME] = {"qp_resume", 12, CHANGE},
	[STEP_CONNECT] = {"connect", 40, CHANGE},
	[STEP_DISCONNECT] = {"disconnect", 6, CHANGE},
	[STEP_EP_DESTROY] = {"ep_destroy", 3, CHANGE},
	[STEP_RENEW] = {"renew", 60, PLAIN},
	[STEP_LOSS] = {"loss", 10, FAULT},
	[STEP_BURSTS] = {"bursts", 5, FAULT},
	[STEP_REORDER] = {"reorder", 8, FAULT},
	[STEP_DUPLICATE] = {"duplicate", 8, FAULT},
	[STEP_DELAY] = {"delay", 6, FAULT},
	[STEP_MTU] = {"mtu", 2, FAULT},
	[STEP_CUT] = {"cut", 3, FAULT},
	[STEP_STALL] = {"stall", 4, FAULT},
	[STEP_MANGLE] = {"mangle", 2, FAULT},
	[STEP_HOG] = {"hog", 2, FAULT},
	[STEP_NO_MEMORY] = {"no_memory", 3, FAULT},
	[STEP_CORRUPT] = {"corrupt", 3, FAULT},
	[STEP_BOX] = {"box", 8, FAULT},
	[STEP_FORGE] = {"forge", 4, FAULT},
	[STEP_REBIND] = {"rebind", 1, FAULT},
	[STEP_FREEZE] = {"freeze", 3, FAULT},
	[STEP_CLOCK] = {"clock", 2, FAULT},
	[STEP_CALM] = {"calm", 10, FAULT},
	[STEP_SRQ_LIMIT] = {"srq_limit", 20, CHANGE},
	[STEP_MR_REREG] = {"mr_rereg", 8, CHANGE},
	[STEP_UD] = {"ud", 150, PLAIN},
};

/** The version of the generator that brought it, if it was not the first. */
static const uint8_t since[STEP_KINDS] = {
	[STEP_SRQ_LIMIT] = 2, [STEP_MR_REREG] = 2, [STEP_UD] = 10};

const char *step_name(uint8_t kind)
{
	return kinds[kind].name;
}

static void profile_generate(struct profile *p, uint64_t seed, unsigned version, struct prng *r)
{
	static const double rates[] = {0, 0, 0, 0.002, 0.02};
	static const double more_rates[] = {0, 0, 0.005, 0.02, 0.05};
	static const double weights[] = {0, 0.3, 1, 3};
	static const uint16_t mtus[] = {1500, 1500, 1500, 9000, 576, 1280};
	static const double pairs[] = {0, 0, 0.3, 1};
	static const double again[] = {0, 0, 0.05, 0.3};
	static const uint32_t delays[] = {50, 50, 50, 50, 1000};
	static const char *const controls[] = {NULL, "cubic", "bbr", "newreno"};

	*p = (struct profile){.seed = seed, .version = version};
	p->hosts = prng_chance(r, 0.6) ? 2 : 2 + (unsigned)prng_below(r, 7);
	p->qps = 1 + (unsigned)prng_below(r, 6);
	p->least = prng_chance(r, 0.5) ? 512 : 2048;
	p->waits = prng_chance(r, 0.7);
	p->in_order = prng_chance(r, 0.5);
	p->markers = prng_chance(r, 0.2);
	p->crc_off = prng_chance(r, 0.05);
	p->peer_to_peer = prng_chance(r, 0.5);
	p->software_checksums = prng_chance(r, 0.2);
	p->small_pool = prng_chance(r, 0.1);
	p->mtu = mtus[prng_below(r, 6)];
	p->offences = (version >= 9 ? more_rates : rates)[prng_below(r, 5)];
	p->wrongs = version >= 9 && p->offences > 0 ? 0.2 : 0;
	p->faults = weights[prng_below(r, 4)];
	p->changes = weights[prng_below(r, 4)];
	p->congestion_control = controls[prng_below(r, 4)];
	p->small_cq = version >= 2 && prng_chance(r, 0.3);
	p->pairs = version >= 4 ? pairs[prng_below(r, 4)] : 0;
	p->send_imm = version >= 5 && prng_chance(r, 0.6);
	p->tls = version >= 5 && prng_chance(r, 0.2);
	p->driven = version >= 6 && prng_chance(r, 0.4);
	p->acked = version >= 7 && prng_chance(r, 0.4);
	p->again = version >= 8 ? again[prng_below(r, 4)] : 0;
	p->delay = version >= 8 ? delays[prng_below(r, 5)] : delays[0];
	p->hasty = version >= 8 && p->pairs > 0 && prng_chance(r, 0.3);
	p->narrow = version >= 9 && prng_chance(r, 0.5);
	p->ud = version >= 10 && prng_chance(r, 0.3);
	p->starved = version >= 10 && prng_chance(r, 0.1);
	/* A Terminate tells of what is not complete yet. */
	if (p->starved) {
		p->acked = true;
		p->waits = false;
	}
	if (p->hasty) {
		p->delay = 5000;
		p->faults = p->changes = 0;
	}
}

static double weight(const struct profile *p, unsigned kind)
{
	double w = since[kind] > p->version ? 0 : kinds[kind].weight;

	if (kind == STEP_UD && !p->ud)
		return 0;
	if (kind == STEP_RECV && p->starved)
		return w / 3;
	if (kinds[kind].of == CHANGE)
		return w * p->changes;
	return kinds[kind].of == FAULT ? w * p->faults : w;
}

static void append(struct program *p, enum step_kind kind, unsigned host, struct prng *r)
{
	p->step[p->n++] = (struct step){(uint8_t)kind, (uint8_t)host, prng_u64(r)};
}

/** What any program begins with: objects, connections, and time to make them. */
static void begin(struct program *p, struct prng *r)
{
	for (unsigned h = 0; h < p->profile.hosts; h++) {
		append(p, STEP_MR_REG, h, r);
		append(p, STEP_MR_REG, h, r);
		if (prng_chance(r, 0.4))
			append(p, STEP_SRQ_CREATE, h, r);
		append(p, STEP_MW_ALLOC, h, r);
		for (unsigned i = 0; i < 3 && p->profile.version >= 9; i++)
			append(p, STEP_MW_ALLOC, h, r);
		for (unsigned i = 0; i < p->profile.qps; i++)
			append(p, STEP_QP_CREATE, h, r);
	}
	for (unsigned i = 0; i < p->profile.hosts * p->profile.qps; i++)
		append(p, STEP_CONNECT, i % p->profile.hosts, r);
	for (unsigned i = 0; i < 4; i++)
		append(p, STEP_WAIT, 0, r);
}

void program_generate(struct program *p, uint64_t seed, unsigned n, unsigned version)
{
	struct prng r = {seed};
	double all = 0;

	profile_generate(&p->profile, seed, version, &r);
	p->n = 0;
	p->step = calloc(n + 256, sizeof *p->step);
	if (!p->step)
		abort();
	begin(p, &r);
	for (unsigned k = 0; k < STEP_KINDS; k++)
		all += weight(&p->profile, k);
	while (p->n < n) {
		double at = all * ((double)(prng_u64(&r) >> 11) * 0x1p-53);
		unsigned k = 0;

		while (k < STEP_KINDS - 1 && (at -= weight(&p->profile, k)) >= 0)
			k++;
		append(p, k, (unsigned)prng_below(&r, p->profile.hosts), &r);
	}
}

void program_copy(struct program *to, const struct program *from)
{
	*to = *from;
	to->step = malloc((from->n + 1) * sizeof *to->step);
	if (!to->step)
		abort();
	memcpy(to->step, from->step, from->n * sizeof *to->step);
}

void program_free(struct program *p)
{
	free(p->step);
}
