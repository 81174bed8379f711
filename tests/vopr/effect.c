/* SPDX-License-Identifier: BSD-2-Clause */
#include "vopr/effect.h"

#include <stdlib.h>
#include <string.h>

bool model_is_atomic(const struct model_wr *w)
{
	return w->op == MODEL_ADD || w->op == MODEL_SWAP;
}

bool model_is_answered(const struct model_wr *w)
{
	return w->op == MODEL_READ || model_is_atomic(w);
}

/* ---- foresight --------------------------------------------------------------------------- */

/** RFC 7306 section 5.1.1: no carry leaves a field, whose highest bit the mask has. */
static uint64_t add(uint64_t value, uint64_t operand, uint64_t mask)
{
	uint64_t sum = 0;
	unsigned carry = 0;

	for (unsigned i = 0; i < 64; i++) {
		unsigned bits = (value >> i & 1) + (operand >> i & 1) + carry;

		sum |= (uint64_t)(bits & 1) << i;
		carry = mask >> i & 1 ? 0 : bits >> 1;
	}
	return sum;
}

/** Data of an Atomic: the value before, then that after. */
static void foresee_atomic(struct model_qp *qp, struct model_wr *w)
{
	uint64_t v[2];

	arena_foresee(qp->m, qp->peer->host, w->at, 8, qp->peer, true, (uint8_t *)v);
	if (w->op == MODEL_ADD)
		v[1] = add(v[0], w->operand, w->mask);
	else if (((v[0] ^ w->compare) & w->compare_mask) == 0)
		v[1] = (v[0] & ~w->mask) | (w->operand & w->mask);
	else
		v[1] = v[0];
	memcpy(w->data, v, sizeof v);
}

static void foresee_data(struct model_qp *qp, struct model_wr *w, bool live)
{
	uint32_t at = 0;

	w->data = model_need(malloc(w->length + 16));
	if (live && model_is_atomic(w))
		foresee_atomic(qp, w);
	else if (live && w->op == MODEL_READ)
		arena_foresee(qp->m, qp->peer->host, w->at, w->length, qp->peer, true, w->data);
	for (unsigned i = 0; i < w->n && !model_is_answered(w); at += w->piece[i++].len)
		arena_foresee(
			qp->m, qp->host, w->piece[i].off, w->piece[i].len, qp, false, w->data + at);
}

void effect_foresee_recv(struct model_rq *rq, struct model_wr *w, const struct model_wr *s)
{
	struct model_host *h = &rq->m->host[rq->host];
	uint32_t at = 0, end = s && s->op == MODEL_SEND && s->data ? s->length : 0;

	w->data = model_need(malloc(w->length + 1));
	for (unsigned i = 0; i < w->n; at += w->piece[i++].len) {
		uint32_t len = w->piece[i].len, n = end < at ? 0 : end - at < len ? end - at : len;

		memcpy(w->data + at, h->known + w->piece[i].off, len);
		if (n)
			memcpy(w->data + at, s->data + at, n);
		for (unsigned c = 0; c < h->n; c++) {
			if (h->claim[c].wr == w && h->claim[c].off == w->piece[i].off)
				h->claim[c].data = w->data + at;
		}
	}
}

/* ---- claims ------------------------------------------------------------------------------ */

/** It needs no memory, but a key that must not end meanwhile. */
static void claim_key(
	struct model_qp *via, struct model_wr *w, const struct model_key *k, bool incoming)
{
	arena_claim(via->m, via->host,
		&(struct model_claim){
			.wr = w, .off = MODEL_NOWHERE, .incoming = incoming, .via = via, .key = k});
}

static void claim_all(struct model_qp *qp, struct model_wr *w, bool live)
{
	uint32_t at = 0;

	for (unsigned i = 0; i < w->n && !w->copied && w->verdict_local != MODEL_NO;
		at += w->piece[i++].len) {
		arena_claim(qp->m, qp->host,
			&(struct model_claim){.wr = w,
				.off = w->piece[i].off,
				.len = w->piece[i].len,
				.write = model_is_answered(w),
				.via = qp,
				.key = w->local,
				.data = w->data + at});
	}
	if (live && w->op != MODEL_SEND && w->op < MODEL_INVALIDATE &&
		w->verdict_remote != MODEL_NO)
		arena_claim(qp->m, qp->peer->host,
			&(struct model_claim){.wr = w,
				.off = w->at,
				.len = w->length,
				.write = w->op != MODEL_READ,
				.incoming = true,
				.via = qp->peer,
				.key = w->remote,
				.data = w->data + (model_is_atomic(w) ? 8 : 0)});
	if (w->op >= MODEL_INVALIDATE)
		claim_key(qp, w, w->op == MODEL_BIND ? w->remote : w->change, false);
	if (w->op == MODEL_BIND && w->change_end && w->change->only)
		claim_key(qp, w, w->change_end, false);
	if (live && w->op == MODEL_SEND && w->change)
		claim_key(qp->peer, w, w->change, true);
}

void effect_of_request(struct model_qp *qp, struct model_wr *w, bool live)
{
	foresee_data(qp, w, live);
	claim_all(qp, w, live);
}

void effect_of_recv(struct model_rq *rq, struct model_qp *qp, struct model_wr *w)
{
	for (unsigned i = 0; i < w->n && w->verdict_local != MODEL_NO; i++)
		arena_claim(rq->m, rq->host,
			&(struct model_claim){.wr = w,
				.off = w->piece[i].off,
				.len = w->piece[i].len,
				.write = true,
				.via = qp,
				.key = w->local});
}

/* ---- the end of requests ----------------------------------------------------------------- */

void effect_own_memory(struct model *m, unsigned host, struct model_wr *w, bool good)
{
	for (unsigned i = 0; i < m->host[host].n;) {
		const struct model_claim *c = &m->host[host].claim[i];

		if (c->wr != w || c->incoming)
			i++;
		else if (good && c->write)
			arena_resolve(m, host, i);
		else
			arena_release(m, host, i, "its request has failed");
	}
}

void effect_give_up_recv(struct model_rq *rq, struct model_wr *w, const struct model_wr *s)
{
	if (s || !rq->holes)
		effect_foresee_recv(rq, w, s);
	effect_own_memory(rq->m, rq->host, w, false);
}

void effect_delivered(struct model_qp *qp, uint64_t seq, bool answered)
{
	struct model_host *h = &qp->m->host[qp->host];

	for (unsigned i = 0; i < h->n;) {
		const struct model_claim *c = &h->claim[i];

		if (c->via == qp && c->incoming && c->write && c->wr->seq <= seq &&
			(answered || !model_is_atomic(c->wr)))
			arena_resolve(qp->m, qp->host, i);
		else
			i++;
	}
}

void effect_end_stream(struct model_qp *qp, bool all, const char *when)
{
	struct model_host *h = &qp->m->host[qp->host];

	for (unsigned i = h->n; i--;) {
		if (h->claim[i].via == qp && (all || h->claim[i].incoming))
			arena_release(qp->m, qp->host, i, when);
	}
}
