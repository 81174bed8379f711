/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/rdma_writes.h"

#include <string.h>

static void rdma_writes_post(struct rdma_pair *p, unsigned n)
{
	size_t len = p->size / RDMA_WRITES_PIECES, at = n % RDMA_WRITES_PIECES * len;

	for (size_t i = 0; i < len; i++)
		p->a.buf[at + i] = (uint8_t)(n * 7 + i * 31 + (i >> 9));
	rdma_post(p, &p->a, RDMAP_WR_WRITE, at, at, (uint32_t)len);
}

bool rdma_writes_run(struct rdma_pair *p, unsigned seconds, uint64_t limit, unsigned *done)
{
	uint64_t began = sim_now(p->sim), second;
	unsigned n = RDMA_WRITES_PIECES;

	for (unsigned i = 0; i < n; i++)
		rdma_writes_post(p, i);
	for (;;) {
		if (!rdma_complete(p, &p->a, 1, limit))
			return false;
		second = (sim_now(p->sim) - began) / SIM_S;
		if (second >= seconds)
			break;
		done[second]++;
		rdma_writes_post(p, n++);
	}
	rdma_post(p, &p->a, RDMAP_WR_READ, 0, 0, 0);
	return rdma_complete(p, &p->a, RDMA_WRITES_PIECES, limit) &&
	       !memcmp(p->a.buf, p->b.buf, p->size);
}
