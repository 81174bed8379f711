/* SPDX-License-Identifier: BSD-2-Clause */
#include "vopr/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void model_fail(struct model *m, const char *fmt, ...)
{
	va_list ap;

	if (m->wrong[0])
		return;
	va_start(ap, fmt);
	vsnprintf(m->wrong, sizeof m->wrong, fmt, ap);
	va_end(ap);
}

void *model_need(void *p)
{
	if (!p)
		abort();
	return p;
}

void model_wr_unref(struct model_wr *w)
{
	if (--w->refs)
		return;
	free(w->data);
	free(w);
}

static bool overlaps(const struct model_claim *c, uint32_t off, uint32_t len)
{
	return off < c->off + c->len && c->off < off + len;
}

void arena_claim(struct model *m, unsigned host, const struct model_claim *c)
{
	struct model_host *h = &m->host[host];

	if (!c->len && c->off != MODEL_NOWHERE)
		return;
	if (h->n == h->room) {
		h->room = h->room ? 2 * h->room : 64;
		h->claim = model_need(realloc(h->claim, h->room * sizeof *h->claim));
	}
	h->claim[h->n++] = *c;
	c->wr->refs++;
}

/** What the byte at @p at may be besides what it is known to be. */
static bool may_be(const struct model_host *h, uint32_t at)
{
	for (unsigned i = 0; i < h->n; i++) {
		const struct model_claim *c = &h->claim[i];

		if (c->write && overlaps(c, at, 1) &&
			(!c->data || c->data[at - c->off] == h->memory[at]))
			return true;
	}
	return false;
}

/** Compare, and take what is there for what is known. */
static void look(struct model *m, unsigned host, uint32_t off, uint32_t len, const char *when)
{
	struct model_host *h = &m->host[host];

	for (uint32_t i = off; i < off + len; i++) {
		if (h->memory[i] == h->known[i])
			continue;
		if (!may_be(h, i))
			model_fail(m, "host %u: byte %u is 0x%02x, was 0x%02x: %s", host, i,
				h->memory[i], h->known[i], when);
		h->known[i] = h->memory[i];
	}
}

void arena_forget(struct model_host *h, unsigned i)
{
	struct model_wr *w = h->claim[i].wr;

	h->n--;
	memmove(&h->claim[i], &h->claim[i + 1], (h->n - i) * sizeof *h->claim);
	model_wr_unref(w);
}

void arena_release(struct model *m, unsigned host, unsigned i, const char *when)
{
	struct model_claim *c = &m->host[host].claim[i];

	if (c->write)
		look(m, host, c->off, c->len, when);
	arena_forget(&m->host[host], i);
}

void arena_resolve(struct model *m, unsigned host, unsigned i)
{
	struct model_host *h = &m->host[host];
	struct model_claim c = h->claim[i];

	m->resolved++;
	if (c.incoming)
		h->placed[h->n_placed++ % MODEL_PLACES] = (struct model_place){c.off, c.len};
	memcpy(h->known + c.off, c.data, c.len);
	c.wr->refs++;
	arena_forget(h, i);
	if (memcmp(h->memory + c.off, c.data, c.len) != 0) {
		for (uint32_t at = c.off; at < c.off + c.len; at++) {
			if (h->memory[at] != h->known[at] && !may_be(h, at))
				model_fail(m,
					"host %u: byte %u is 0x%02x, not 0x%02x, though request "
					"%#jx was done",
					host, at, h->memory[at], h->known[at], (uintmax_t)c.wr->id);
		}
	}
	model_wr_unref(c.wr);
}

void arena_release_of(struct model *m, unsigned host, const struct model_wr *w)
{
	for (unsigned i = m->host[host].n; i--;)
		if (m->host[host].claim[i].wr == w && m->host[host].claim[i].incoming)
			arena_release(m, host, i, "by what only reads");
}

void arena_foresee(const struct model *m, unsigned host, uint32_t off, uint32_t len,
	const struct model_qp *via, bool incoming, uint8_t *out)
{
	const struct model_host *h = &m->host[host];

	memcpy(out, h->known + off, len);
	for (unsigned i = 0; i < h->n; i++) {
		const struct model_claim *c = &h->claim[i];
		uint32_t from = c->off > off ? c->off : off;
		uint32_t to = c->off + c->len < off + len ? c->off + c->len : off + len;

		if (c->write && c->via == via && c->incoming == incoming && c->data && from < to)
			memcpy(out + (from - off), c->data + (from - c->off), to - from);
	}
}

bool model_free(struct model *m, unsigned host, uint32_t off, uint32_t len, bool write)
{
	for (unsigned i = 0; i < m->host[host].n; i++) {
		const struct model_claim *c = &m->host[host].claim[i];

		if (overlaps(c, off, len) && (write || c->write))
			return false;
	}
	return true;
}

bool model_free_behind(const struct model_qp *qp, uint32_t off, uint32_t len, bool write,
	const struct model_key *atomic)
{
	const struct model_host *h = &qp->m->host[qp->peer->host];

	for (unsigned i = 0; i < h->n; i++) {
		const struct model_claim *c = &h->claim[i];
		bool ours = c->incoming && c->via == qp->peer;
		bool chain = c->wr->op >= MODEL_ADD && c->off == off && c->len == len &&
			     c->key == atomic;

		if (!overlaps(c, off, len) || (!write && !c->write))
			continue;
		if (!ours || (write && !(atomic && c->write && chain)))
			return false;
	}
	return true;
}

bool model_free_fenced(const struct model_qp *qp, uint32_t off, uint32_t len)
{
	const struct model_host *h = &qp->m->host[qp->host];

	for (unsigned i = 0; i < h->n; i++) {
		const struct model_claim *c = &h->claim[i];

		if (overlaps(c, off, len) && c->write && (c->incoming || c->via != qp || !c->data))
			return false;
	}
	return true;
}

void model_fill(struct model *m, unsigned host, uint32_t off, uint32_t len, uint64_t seed)
{
	struct model_host *h = &m->host[host];

	look(m, host, off, len, "nobody was to write there");
	for (uint32_t i = off; i < off + len; i++) {
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
		h->memory[i] = h->known[i] = (uint8_t)(seed >> 33);
	}
}

void model_look(struct model *m)
{
	for (unsigned host = 0; host < MODEL_HOSTS; host++) {
		struct model_host *h = &m->host[host];

		for (uint32_t i = 0; h->memory && i < MODEL_ARENA; i += 4096) {
			if (memcmp(h->memory + i, h->known + i, 4096) == 0)
				continue;
			for (uint32_t at = i; at < i + 4096; at++) {
				if (h->memory[at] != h->known[at] && !may_be(h, at))
					model_fail(m, "host %u: byte %u is 0x%02x, was 0x%02x",
						host, at, h->memory[at], h->known[at]);
			}
		}
	}
}

void model_init(struct model *m, uint8_t *const memory[MODEL_HOSTS])
{
	*m = (struct model){.waits = false};
	LIST_INIT(&m->keys);
	for (unsigned i = 0; i < MODEL_HOSTS; i++) {
		m->host[i].memory = memory[i];
		if (memory[i])
			m->host[i].known = model_need(calloc(1, MODEL_ARENA));
	}
}

void model_fini(struct model *m)
{
	struct model_key *k;

	for (unsigned i = 0; i < MODEL_HOSTS; i++) {
		while (m->host[i].n)
			arena_forget(&m->host[i], m->host[i].n - 1);
		free(m->host[i].claim);
		free(m->host[i].known);
	}
	while ((k = LIST_FIRST(&m->keys))) {
		LIST_REMOVE(k, link);
		free(k);
	}
}
