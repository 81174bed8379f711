/* SPDX-License-Identifier: BSD-2-Clause */
/* Scatter/gather lists: any list, any position in it. */
#include "proofs/rdmap_stub.h"

#include "rdmap/buffer.c"

#define SGE_MOST 3

struct stub_rqe {
	struct rdmap_rqe q;
	struct rdmap_sge sge[SGE_MOST];
};

/* Any list, and its length: their sum, which is checked when it is posted. */
static uint64_t nondet_list(struct stub_rqe *e)
{
	uint64_t sum = 0;

	e->q.num_sge = nondet_u32();
	assume(e->q.num_sge <= SGE_MOST);
	for (uint32_t i = 0; i < e->q.num_sge; i++) {
		e->q.sge[i].len = nondet_u32();
		sum += e->q.sge[i].len;
	}
	assume(sum <= UINT32_MAX);
	e->q.length = (uint32_t)sum;
	return sum;
}

/* Bytes of the list before @at. */
static uint64_t bytes_before(const struct rdmap_rqe *q, struct rdmap_sge_at at)
{
	uint64_t sum = at.offset;

	for (uint32_t i = 0; i < at.index; i++)
		sum += q->sge[i].len;
	return sum;
}

/* From any place: the next part lies in one element, and is missing only at the end. */
void proof_sge_next_part(void)
{
	struct stub_rqe e;
	uint64_t sum = nondet_list(&e), before;
	struct rdmap_sge_at at = {.index = nondet_u32(), .offset = nondet_u32()};
	uint32_t most = nondet_u32(), n;

	assume(most != 0 && at.index <= e.q.num_sge);
	assume(at.index == e.q.num_sge ? at.offset == 0 : at.offset <= e.q.sge[at.index].len);
	before = bytes_before(&e.q, at);
	n = rdmap_buffer_next_part(e.q.sge, e.q.num_sge, &at, most);
	assert(bytes_before(&e.q, at) == before);
	assert((n == 0) == (before == sum));
	assert(n <= most);
	if (n != 0)
		assert(at.index < e.q.num_sge && n <= e.q.sge[at.index].len - at.offset);
}
