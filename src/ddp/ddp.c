/* SPDX-License-Identifier: BSD-2-Clause */
#include "ddp/ddp.h"

#include <errno.h>

void ddp_init(struct ddp *d)
{
	*d = (struct ddp){0};
	for (unsigned i = 0; i < DDP_QUEUES; i++)
		d->rx[i].msn = d->tx_msn[i] = 1;
}

static void ddp_load_header(struct ddp_segment *s, const uint8_t *p)
{
	if (s->tagged) {
		s->stag = load_be32(p + DDP_AT_STAG);
		s->to = load_be64(p + DDP_AT_TO);
		return;
	}
	s->ulp32 = load_be32(p + DDP_AT_ULP32);
	s->qn = load_be32(p + DDP_AT_QN);
	s->msn = load_be32(p + DDP_AT_MSN);
	s->mo = load_be32(p + DDP_AT_MO);
}

enum ddp_error ddp_parse(struct ddp_segment *s, const struct mpa_ulpdu *u)
{
	uint8_t copy[DDP_HEADER_MAX];
	const uint8_t *p;
	uint8_t control;

	s->ulpdu = u;
	s->placed = s->failed = false;
	s->payload = u->at;
	if (u->len < DDP_TAGGED_LEN)
		return DDP_ERROR_SHORT;
	control = *mpa_cursor_at(&u->at);
	s->tagged = control & DDP_CONTROL_TAGGED;
	s->last = control & DDP_CONTROL_LAST;
	s->header_len = s->tagged ? DDP_TAGGED_LEN : DDP_UNTAGGED_LEN;
	if (u->len < s->header_len)
		return DDP_ERROR_SHORT;
	s->len = u->len - s->header_len;
	if (mpa_cursor_run(&s->payload) >= s->header_len) {
		p = mpa_cursor_at(&s->payload);
		mpa_cursor_advance(&s->payload, s->header_len);
	} else {
		mpa_cursor_copy(&s->payload, copy, s->header_len);
		p = copy;
	}
	s->ulp = p[DDP_AT_ULP];
	ddp_load_header(s, p);
	/* Section 4.1: DV MUST be one; the four reserved bits are not checked. */
	if ((control & DDP_CONTROL_VERSION) != DDP_VERSION)
		return s->tagged ? DDP_ERROR_TAGGED_VERSION : DDP_ERROR_UNTAGGED_VERSION;
	return DDP_OK;
}

enum ddp_error ddp_check_untagged(const struct ddp *d, const struct ddp_segment *s)
{
	const struct ddp_queue *q;

	if (s->qn >= DDP_QUEUES)
		return DDP_ERROR_INVALID_QN;
	q = &d->rx[s->qn];
	if (s->msn != q->msn)
		return DDP_ERROR_MSN_RANGE;
	if (s->mo != q->mo)
		return DDP_ERROR_INVALID_MO;
	/* Section 5.2: a message is shorter than 2^32. */
	if (s->len > UINT32_MAX - s->mo)
		return DDP_ERROR_TOO_LONG;
	return DDP_OK;
}

bool ddp_at_boundary(const struct ddp *d)
{
	for (unsigned i = 0; i < DDP_QUEUES; i++) {
		if (d->rx[i].mo != 0)
			return false;
	}
	return true;
}

enum ddp_error ddp_tagged_error(int stag_check_error)
{
	switch (stag_check_error) {
	case 0:
		return DDP_OK;
	case -EPERM:
		return DDP_ERROR_STAG_STREAM;
	case -ERANGE:
		return DDP_ERROR_BOUNDS;
	case -EOVERFLOW:
		return DDP_ERROR_TO_WRAP;
	default:
		/*
		 * Also for missing rights: check 2 of section 7.1, no buffer that allows the
		 * Placement. RDMAP's own code for it is not for Writes (RFC 5040, Figure 10).
		 */
		return DDP_ERROR_INVALID_STAG;
	}
}

void ddp_copy_header(const struct ddp_segment *s, uint8_t *out)
{
	struct mpa_cursor c = s->ulpdu->at;

	/* Lengths that are known cost no call. */
	if (mpa_cursor_run(&c) < DDP_UNTAGGED_LEN)
		mpa_cursor_copy(&c, out, s->header_len);
	else if (s->tagged)
		memcpy(out, mpa_cursor_at(&c), DDP_TAGGED_LEN);
	else
		memcpy(out, mpa_cursor_at(&c), DDP_UNTAGGED_LEN);
}
