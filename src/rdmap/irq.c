/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdmap/rdmap_priv.h"

#include <errno.h>

uint8_t rdmap_protection_code(int rc)
{
	switch (rc) {
	case -EPERM:
		return RDMAP_CODE_STAG_STREAM;
	case -EACCES:
		return RDMAP_CODE_ACCESS;
	case -ERANGE:
		return RDMAP_CODE_BOUNDS;
	case -EOVERFLOW:
		return RDMAP_CODE_TO_WRAP;
	default:
		return RDMAP_CODE_INVALID_STAG;
	}
}

bool rdmap_irq_add(struct rdmap *r, const struct rdmap_irqe *q, struct ddp_segment *s)
{
	uint32_t at = (uint32_t)r->irq_head + r->irq_count;

	/*
	 * The IRD is the number of untagged buffers on queue 1 (RFC 5040 section 5.2.2). RFC 7306
	 * section 5.2.2, item 4, wants room for Reads and Atomics; verbs negotiate one number for
	 * both.
	 */
	if (r->irq_count == r->ird) {
		rdmap_fail_ddp(r, DDP_ERROR_NO_BUFFER, s);
		return false;
	}
	r->irq[at >= r->ird ? at - r->ird : at] = *q;
	r->irq_count++;
	r->wake = true;
	return true;
}

void rdmap_irq_pop(struct rdmap *r)
{
	r->irq_head = (uint16_t)(r->irq_head + 1 == r->ird ? 0 : r->irq_head + 1);
	r->irq_count--;
	r->tx = RDMAP_TX_NONE;
}

uint32_t rdmap_irq_msn(const struct rdmap *r)
{
	/* MSNs of the queue are consecutive, and the ring holds its newest irq_count. */
	return r->ddp.rx[RDMAP_QN_READ].msn - r->irq_count;
}
