/* SPDX-License-Identifier: BSD-2-Clause */
/* Atomic Operations (RFC 7306 section 5): their messages, and what they make of a value. */
#include "proofs/rdmap_stub.h"

#include "ddp/ddp.c"
#include "rdmap/atomic.c"
#include "rdmap/irq.c"
#include "rdmap/sq.c"

void rdmap_fail(struct rdmap *r, const struct rdmap_error *e)
{
	stub_failed = true;
}

void rdmap_fail_ddp(struct rdmap *r, enum ddp_error error, const struct ddp_segment *s)
{
	stub_failed = true;
}

void rdmap_fail_rdma(struct rdmap *r, uint8_t etype, uint8_t code, const struct ddp_segment *s)
{
	stub_failed = true;
}

void rdmap_terminate(struct rdmap *r, uint8_t layer, uint8_t etype, uint8_t code)
{
	stub_failed = true;
}

void rdmap_read_done(struct rdmap *r, struct rdmap_wqe *w)
{
}

bool rdmap_take_header(struct rdmap *r, struct ddp_segment *s, uint8_t *p, uint32_t len)
{
	if (s->len != len || !s->last)
		return false;
	ddp_place(s, p, len);
	return true;
}

/* Any request: what the peer will do is what was asked for. */
void proof_atomic_request(void)
{
	struct rdmap_sq sq = {0};
	struct rdmap_irqe ring[1];
	struct rdmap tx = {.ops = &stub_ops, .sq = &sq},
		     rx = {.ops = &stub_ops, .irq = ring, .ird = 1};
	bool swap = nondet_bool();
	struct rdmap_wqe w = {.op = swap ? RDMAP_WR_CMP_SWAP : RDMAP_WR_FETCH_ADD,
		.remote_stag = nondet_u32(),
		.remote_to = nondet_u64(),
		.atomic = {.data = nondet_u64(),
			.mask = nondet_u64(),
			.compare = nondet_u64(),
			.compare_mask = nondet_u64()}};
	struct mpa_ulpdu u;
	struct ddp_segment s;
	struct llp_iov v;

	ddp_init(&tx.ddp);
	ddp_init(&rx.ddp);
	tx.ddp.tx_msn[RDMAP_QN_READ] = rx.ddp.rx[RDMAP_QN_READ].msn = nondet_u32();
	assert(rdmap_send_atomic_request(&tx, &w) == RDMAP_MORE);
	u = stub_ulpdu(&v);
	assert(ddp_parse(&s, &u) == DDP_OK && !s.tagged && s.last);
	assert(ddp_check_untagged(&rx.ddp, &s) == DDP_OK);
	rdmap_on_atomic_request(&rx, &s);
	assert(!stub_failed && rx.irq_count == 1 && ring[0].atomic);
	assert(ring[0].atomic_opcode == (swap ? RDMAP_ATOMIC_CMP_SWAP : RDMAP_ATOMIC_FETCH_ADD));
	assert(ring[0].src_stag == w.remote_stag && ring[0].src_to == w.remote_to);
	assert(ring[0].request_id == w.msn);
	assert(ring[0].operands.data == w.atomic.data && ring[0].operands.mask == w.atomic.mask);
	if (swap)
		assert(ring[0].operands.compare == w.atomic.compare &&
			ring[0].operands.compare_mask == w.atomic.compare_mask);
}

/* Any value there: it is what the requester gets, in its sink. */
void proof_atomic_response(void)
{
	struct rdmap_sq sq = {.size = 1};
	struct rdmap_irqe ring[1] = {{.atomic = true, .request_id = nondet_u32()}};
	struct mpa mpa;
	struct rdmap tx = {.ops = &stub_ops, .irq = ring, .ird = 1, .irq_count = 1},
		     rx = {.ops = &stub_ops, .mpa = &mpa, .sq = &sq, .reads_out = 1};
	struct {
		struct rdmap_wqe w;
		struct rdmap_sge sge;
	} e = {.w = {.op = RDMAP_WR_FETCH_ADD, .num_sge = 1, .msn = ring[0].request_id}};
	uint64_t there = nondet_u64();
	struct mpa_ulpdu u;
	struct ddp_segment s;
	struct llp_iov v;

	sq.ring = (uint8_t *)&e;
	sq.stride = sizeof e;
	stub_memory = there;
	ddp_init(&tx.ddp);
	ddp_init(&rx.ddp);
	assert(rdmap_send_atomic_response(&tx) == RDMAP_MORE && tx.irq_count == 0);
	stub_memory = 0;
	u = stub_ulpdu(&v);
	assert(ddp_parse(&s, &u) == DDP_OK);
	assert(ddp_check_untagged(&rx.ddp, &s) == DDP_OK);
	rdmap_on_atomic_response(&rx, &s);
	assert(!stub_failed && stub_memory == there);
}

/* FetchAdd as section 5.1.1 has it: bit by bit, where no carry leaves a field. */
void proof_masked_add(void)
{
	uint64_t value = nondet_u64(), data = nondet_u64(), mask = nondet_u64(), sum = 0;
	unsigned carry = 0;

	for (unsigned i = 0; i < 64; i++) {
		unsigned bits = (unsigned)(value >> i & 1) + (unsigned)(data >> i & 1) + carry;

		sum |= (uint64_t)(bits & 1) << i;
		carry = mask >> i & 1 ? 0 : bits >> 1;
	}
	assert(rdmap_masked_add(value, data, mask) == sum);
}

/* CmpSwap as section 5.1.2 has it, for any bit. */
void proof_masked_swap(void)
{
	struct rdmap_atomic a = {.data = nondet_u64(),
		.mask = nondet_u64(),
		.compare = nondet_u64(),
		.compare_mask = nondet_u64()};
	uint64_t value = nondet_u64(), got = rdmap_masked_swap(value, &a);
	unsigned i = nondet_u8() % 64;
	bool same = (value & a.compare_mask) == (a.compare & a.compare_mask);

	assert((got >> i & 1) == ((same && a.mask >> i & 1 ? a.data : value) >> i & 1));
}
