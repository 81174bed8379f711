/* SPDX-License-Identifier: BSD-2-Clause */
/** Keys: what they allow, and whom, and when they end. */
#include "vopr/arena.h"
#include "vopr/reason.h"

#include <stdlib.h>

struct model_key *model_key_new(
	struct model *m, unsigned host, unsigned pd, uint32_t off, uint32_t len, unsigned rights)
{
	struct model_key *k = model_need(calloc(1, sizeof *k));

	*k = (struct model_key){
		.m = m, .host = host, .pd = pd, .rights = rights, .off = off, .len = len};
	LIST_INSERT_HEAD(&m->keys, k, link);
	return k;
}

bool model_is_there(const struct model_key *k, uint32_t off, uint32_t len, unsigned rights)
{
	const unsigned writes = MODEL_LOCAL_WRITE | MODEL_REMOTE_WRITE | MODEL_REMOTE_ATOMIC;
	uint32_t missing = rights & writes ? MODEL_HOLE_LEN : MODEL_HOLE_LEN / 2;

	/* A window that is bound touches nothing. */
	if (!k->on_demand || !len || rights & MODEL_BINDS)
		return true;
	return off + len <= MODEL_HOLE || off >= MODEL_HOLE + missing;
}

enum model_verdict model_judge(const struct model_key *k, const struct model_qp *qp, uint32_t off,
	uint32_t len, unsigned rights)
{
	if (!k || k->valid == MODEL_NO || k->host != qp->host || k->pd != qp->pd ||
		(k->only && k->only != qp) || (k->rights & rights) != rights || off < k->off ||
		off + len > k->off + k->len || !model_is_there(k, off, len, rights))
		return MODEL_NO;
	return k->valid;
}

enum model_verdict model_judge_end(
	const struct model_key *k, const struct model_qp *qp, bool remote)
{
	const unsigned peers = MODEL_REMOTE_WRITE | MODEL_REMOTE_READ | MODEL_REMOTE_ATOMIC;

	/* Windows of type 1 end by a Bind; regions that no peer may reach are ours alone. */
	if (k->window ? !k->only : remote && !(k->rights & peers))
		return MODEL_NO;
	/* RFC 5040 section 8.1.1 rule 7: not what other streams have, too. */
	if (remote && !k->only && k->m->host[k->host].qps[k->pd] > 1)
		return MODEL_NO;
	return model_judge(k, qp, k->off, 0, 0);
}

enum model_verdict model_judge_bind(const struct model_qp *qp, const struct model_wr *w)
{
	const unsigned writes = MODEL_REMOTE_WRITE | MODEL_REMOTE_ATOMIC;
	enum model_verdict v = model_judge(w->remote, qp, w->at, w->length,
		MODEL_BINDS | (w->bind_rights & writes ? MODEL_LOCAL_WRITE : 0));

	if (w->change->pd != qp->pd)
		return MODEL_NO;
	/* One of type 2 has to be free, and is bound to something. */
	if (w->change->only && (!w->length || (w->change_end && w->change_end->valid == MODEL_YES)))
		return MODEL_NO;
	if (w->change->only && w->change_end && w->change_end->valid == MODEL_MAYBE)
		v = v == MODEL_NO ? v : MODEL_MAYBE;
	return v;
}

/** It need not fail any more, nor succeed. */
static void doubt_own(const struct model_claim *c, const struct model_key *k)
{
	struct model_wr *w = c->wr;

	/* But for one that finds its window bound, what must fail does for ever. */
	if (w->verdict_local == MODEL_NO && w->change_end != k)
		return;
	w->verdict_local = MODEL_MAYBE;
	if (w->op == MODEL_RECV)
		return;
	reason_add(c->via, reason_own_memory(w), w);
	if (c->via->doomed == w->seq)
		c->via->doomed = 0;
}

/** Likewise, what a peer asks for. */
static void doubt_peers(const struct model_claim *c)
{
	struct model_qp *peer = c->via->peer;

	c->wr->verdict_remote = MODEL_MAYBE;
	if (!peer) {
		c->via->left_why |= MODEL_BY_REFUSAL;
		return;
	}
	reason_add(peer, MODEL_BY_REFUSAL, c->wr);
	if (peer->doomed == c->wr->seq)
		peer->doomed = 0;
}

void model_key_doubt(struct model_key *k)
{
	const struct model_host *h;

	if (!k || k->valid == MODEL_NO)
		return;
	k->valid = MODEL_MAYBE;
	h = &k->m->host[k->host];
	for (unsigned i = 0; i < h->n; i++) {
		const struct model_claim *c = &h->claim[i];

		if (c->key != k)
			continue;
		if (!c->incoming)
			doubt_own(c, k);
		else if (c->wr->verdict_remote != MODEL_NO)
			doubt_peers(c);
	}
}

void model_pd_doubt(struct model *m, unsigned host, unsigned pd)
{
	const struct model_host *h = &m->host[host];

	for (unsigned i = 0; i < h->n; i++) {
		const struct model_claim *c = &h->claim[i];
		struct model_key *k = c->wr->op == MODEL_SEND && c->incoming ? c->wr->change : NULL;

		if (!k || k != c->key || k->pd != pd || k->window)
			continue;
		doubt_peers(c);
		model_key_doubt(k);
	}
}

bool model_key_is_used(const struct model_key *k)
{
	const struct model_host *h = &k->m->host[k->host];

	for (unsigned i = 0; i < h->n; i++)
		if (h->claim[i].key == k)
			return true;
	return false;
}

void model_key_end(struct model_key *k)
{
	struct model_host *h = &k->m->host[k->host];

	model_key_doubt(k);
	k->valid = MODEL_NO;
	for (unsigned i = h->n; i--;)
		if (h->claim[i].key == k)
			arena_release(k->m, k->host, i, "a key of it was ended");
}
