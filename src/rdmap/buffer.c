/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdmap/rdmap_priv.h"

#include <errno.h>
#include <string.h>

/* The part of the element at @at that is left, at most @max bytes; passes empty elements. */
static uint32_t rdmap_buffer_next_part(
	const struct rdmap_sge *sge, uint32_t num, struct rdmap_sge_at *at, uint32_t max)
{
	while (at->index < num) {
		uint32_t left = sge[at->index].len - at->offset;

		if (left != 0)
			return left < max ? left : max;
		at->index++;
		at->offset = 0;
	}
	return 0;
}

int rdmap_gather(struct rdmap *r, const struct rdmap_wqe *w, uint8_t *to, uint32_t len)
{
	struct rdmap_sge_at *at = &r->tx_at;

	if (w->flags & RDMAP_WR_INLINE) {
		memcpy(to, (const uint8_t *)w->sge + r->tx_offset, len);
		return 0;
	}
	while (len != 0) {
		uint32_t n = rdmap_buffer_next_part(w->sge, w->num_sge, at, len);
		const struct rdmap_sge *sge = &w->sge[at->index];
		uint8_t *mem;
		int rc;

		if (n == 0)
			return -EINVAL;
		rc = r->ops->stag_check(r->user, sge->stag, sge->addr + at->offset, n,
			RDMAP_ACCESS_LOCAL_READ, &mem);
		if (rc != 0)
			return rc;
		if (!mpa_gather(r->mpa, to, mem, n))
			return -ERANGE;
		at->offset += n;
		to += n;
		len -= n;
	}
	return 0;
}

bool rdmap_commit_external(struct rdmap *r, uint32_t stag, const uint8_t *mem, uint32_t len)
{
	const struct llp_external e = {
		.memory = r->ops->stag_memory(r->user, stag), .from = mem, .len = len};

	return e.memory && mpa_commit_external(r->mpa, &e);
}

bool rdmap_lend(struct rdmap *r, const struct rdmap_wqe *w, uint32_t len)
{
	const struct rdmap_sge *sge;
	uint8_t *mem;

	if (w->flags & RDMAP_WR_INLINE ||
		rdmap_buffer_next_part(w->sge, w->num_sge, &r->tx_at, len) != len)
		return false;
	sge = &w->sge[r->tx_at.index];
	if (r->ops->stag_check(r->user, sge->stag, sge->addr + r->tx_at.offset, len,
		    RDMAP_ACCESS_LOCAL_READ, &mem) != 0)
		return false; /* the copy will say why */
	if (!rdmap_commit_external(r, sge->stag, mem, len))
		return false;
	r->tx_at.offset += len;
	r->tx_external = true;
	return true;
}

struct rdmap_sge_at rdmap_sge_seek(const struct rdmap_rqe *q, uint32_t offset)
{
	struct rdmap_sge_at at = {.offset = offset};

	while (at.index < q->num_sge && at.offset >= q->sge[at.index].len)
		at.offset -= q->sge[at.index++].len;
	return at;
}

int rdmap_scatter(
	struct rdmap *r, const struct rdmap_rqe *q, struct rdmap_sge_at *at, struct ddp_segment *s)
{
	uint32_t len = s->len;

	while (len != 0) {
		uint32_t n = rdmap_buffer_next_part(q->sge, q->num_sge, at, len);
		const struct rdmap_sge *sge = &q->sge[at->index];
		uint8_t *mem;
		int rc;

		if (n == 0)
			return -EINVAL;
		rc = r->ops->stag_check(r->user, sge->stag, sge->addr + at->offset, n,
			RDMAP_ACCESS_LOCAL_WRITE, &mem);
		if (rc != 0)
			return rc;
		rc = ddp_place(s, mem, n);
		if (rc != 0)
			return rc;
		at->offset += n;
		len -= n;
	}
	return 0;
}
