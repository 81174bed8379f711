/* SPDX-License-Identifier: BSD-2-Clause */
#include "vopr/world_place.h"

#define TRIES 8
/** From here on the arena is for what ends a program: there must be memory for it. */
#define RESERVE (MODEL_ARENA - 49152)
/** Behind this no receive is posted in the end, nor anything before it. */
#define LAST (MODEL_ARENA - 64)

struct model_key *place_own_key(struct world_host *h, unsigned pd)
{
	unsigned first = h->w->ending ? 0 : (unsigned)world_below(h->w, WORLD_MRS);

	for (unsigned i = 0; i < WORLD_MRS; i++) {
		const struct world_mr *mr = &h->mr[(first + i) % WORLD_MRS];

		if (mr->mr && mr->pd == pd && mr->key->valid == MODEL_YES)
			return mr->key;
	}
	return NULL;
}

uint32_t place_any(struct world *w, const struct model_key *k, uint32_t len, uint32_t align)
{
	uint32_t from = w->ending && k->off < RESERVE ? RESERVE : k->off;
	uint32_t end = k->off + k->len;
	uint32_t at;

	/* Receives on a grid, so that no room is lost between them. */
	if (w->ending && len == w->program->profile.least && from == RESERVE)
		return RESERVE + len * (uint32_t)(w->next_place++ % ((LAST - from) / len));
	if (!w->ending && end > RESERVE && k->off < RESERVE)
		end = RESERVE;
	at = from + (uint32_t)world_below(w, (end < from + len ? 0 : end - len - from) + 1);

	return at & ~(align - 1);
}

/**
 * Try one more piece of @p part bytes.
 * @param anywhere not only where there is memory for it in the end.
 * @return true: it is free, and apart from those before.
 */
static bool is_place(struct world_host *h, const struct model_qp *fenced, struct model_wr *r,
	uint32_t part, bool write, bool anywhere)
{
	struct model_piece *p = &r->piece[r->n];
	uint32_t at = anywhere ? r->local->off + (uint32_t)world_below(h->w, r->local->len)
			       : place_any(h->w, r->local, part, 1);

	*p = (struct model_piece){at, part};
	for (unsigned k = 0; k < r->n; k++)
		if (p->off < r->piece[k].off + r->piece[k].len && r->piece[k].off < p->off + p->len)
			return false;
	return p->off >= r->local->off && p->off + part <= r->local->off + r->local->len &&
	       model_is_there(r->local, p->off, part, write ? MODEL_LOCAL_WRITE : 0) &&
	       (fenced ? model_free_fenced(fenced, p->off, part)
		       : model_free(&h->w->m, h->index, p->off, part, write));
}

bool place_find_own(struct world_host *h, const struct model_qp *fenced, struct model_wr *r,
	uint32_t len, unsigned n, bool write)
{
	struct world *w = h->w;

	r->n = 0;
	for (unsigned i = 0; i < n && len; i++) {
		uint32_t part = i + 1 < n ? (uint32_t)world_below(w, len + 1) : len;
		unsigned tries = 0;
		bool found = false;

		if (!part)
			continue;
		/* In the end shared queues may hold all that is meant for it, for nothing. */
		for (; !found && tries < (w->ending ? 24 * TRIES : TRIES); tries++)
			found = is_place(h, fenced, r, part, write, tries >= 8 * TRIES);
		if (!found)
			return false;
		r->n++;
		len -= part;
	}
	return !len;
}

bool place_covers_hole(const struct model_key *k)
{
	return k->off <= MODEL_HOLE && k->off + k->len >= MODEL_HOLE + MODEL_HOLE_LEN;
}

bool place_find_missing(struct world_host *h, struct model_wr *r, bool write)
{
	const struct model_key *k = r->local;

	if (r->copied || !k->on_demand || r->length > MODEL_HOLE_LEN || !place_covers_hole(k) ||
		!world_chance(h->w, h->w->program->profile.offences))
		return false;
	r->n = 1;
	r->piece[0] = (struct model_piece){
		MODEL_HOLE + (uint32_t)world_below(h->w, MODEL_HOLE_LEN + 1 - r->length),
		r->length};
	return !model_is_there(k, r->piece[0].off, r->length, write ? MODEL_LOCAL_WRITE : 0);
}

/** What a key of the peer's stood for, before it ended. @return false: there is none. */
static bool find_ended(struct world_qp *q, struct model_wr *r)
{
	struct world *w = q->h->w;
	const struct world_host *p = &w->host[q->model.peer->host];

	for (unsigned i = 0; r->length && r->length <= 200 && i < TRIES; i++) {
		unsigned n = (unsigned)world_below(w, WORLD_MRS + WORLD_MWS);
		struct model_key *k = n < WORLD_MRS ? p->mr[n].key : p->mw[n - WORLD_MRS].key;

		if (!k || k->valid != MODEL_NO || k->len < r->length + 8 ||
			(n >= WORLD_MRS && p->mw[n - WORLD_MRS].binding))
			continue;
		r->remote = k;
		r->at = (k->off + 7) & ~7u;
		return true;
	}
	return false;
}

/** Would the peer's QP, and the key, allow it? */
static enum model_verdict judge_remote(
	const struct model_qp *peer, const struct model_wr *r, unsigned rights)
{
	if ((peer->rights & rights) != rights)
		return MODEL_NO;
	return model_judge(r->remote, peer, r->at, r->length, rights);
}

/** Would it be right, if memory on demand were there? */
static bool lacks_memory(const struct model_qp *peer, const struct model_key *k, unsigned rights)
{
	return k && k->on_demand && place_covers_hole(k) && (peer->rights & rights) == rights &&
	       model_judge(k, peer, k->off, 0, rights) == MODEL_YES;
}

/** What @p q may reach with a key of its peer's, but is not there. @return false: nothing. */
static bool find_hole(struct world_qp *q, struct model_wr *r, unsigned rights)
{
	const struct model_qp *peer = q->model.peer;
	const struct world_host *p = &q->h->w->host[peer->host];

	r->remote = NULL;
	for (unsigned i = 0; i < WORLD_MRS; i++)
		if (lacks_memory(peer, p->mr[i].key, rights))
			r->remote = p->mr[i].key;
	/* Windows are fewer. */
	for (unsigned i = 0; i < WORLD_MWS; i++)
		if (lacks_memory(peer, p->mw[i].key, rights))
			r->remote = p->mw[i].key;
	r->at = MODEL_HOLE + 8 * (uint32_t)world_below(q->h->w, MODEL_HOLE_LEN / 16);
	return r->remote && r->length && r->length <= 200;
}

bool place_find_remote(struct world_qp *q, struct model_wr *r, unsigned rights, bool atomic)
{
	struct world *w = q->h->w;
	struct world_host *p = &w->host[q->model.peer->host];
	bool offence = world_chance(w, w->program->profile.offences);

	if (world_chance_since(w, 3, 0.01) && find_ended(q, r))
		return true;
	if (offence && world_chance_since(w, 10, 0.3) && find_hole(q, r, rights))
		return true;
	for (unsigned i = 0; i < 2 * TRIES; i++) {
		unsigned n = (unsigned)world_below(w, WORLD_MRS + WORLD_MWS);
		struct model_key *k = n < WORLD_MRS ? p->mr[n].key : p->mw[n - WORLD_MRS].key;

		if (!k || (n >= WORLD_MRS && p->mw[n - WORLD_MRS].binding))
			continue;
		r->remote = k;
		r->at = place_any(w, k, r->length, atomic ? 8 : 1);
		/* One byte too far; a longer Write might come in parts, of which some are right. */
		if (offence && !atomic && r->length <= 200 && k->off + k->len < MODEL_ARENA)
			r->at = k->off + k->len - r->length + 1;
		if (r->length > 200 && (r->at + r->length > k->off + k->len ||
					       !model_is_there(k, r->at, r->length, rights)))
			continue;
		if (offence && r->length && judge_remote(q->model.peer, r, rights) == MODEL_NO)
			return true;
		if (!offence && judge_remote(q->model.peer, r, rights) == MODEL_YES &&
			model_free_behind(&q->model, r->at, r->length,
				!(rights & MODEL_REMOTE_READ), atomic ? k : NULL))
			return true;
	}
	return false;
}
