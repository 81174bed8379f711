/* SPDX-License-Identifier: BSD-2-Clause */
/* Read Requests (RFC 5040 section 4.4) there and back, and the ring that they wait in. */
#include "proofs/rdmap_stub.h"

#include "ddp/ddp.c"
#include "rdmap/irq.c"
#include "rdmap/read.c"

#define IRD_MOST 4

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

void rdmap_sq_done(struct rdmap *r, struct rdmap_wqe *w, enum rdmap_wc_status status)
{
}

/* That of rx.c, which has too much beside. */
bool rdmap_take_header(struct rdmap *r, struct ddp_segment *s, uint8_t *p, uint32_t len)
{
	if (s->len != len || !s->last)
		return false;
	ddp_place(s, p, len);
	return true;
}

/* Any request: what the peer keeps is what was asked for. */
void proof_read_round_trip(void)
{
	struct rdmap_irqe ring[IRD_MOST], q = {.sink_stag = nondet_u32(),
						  .sink_to = nondet_u64(),
						  .len = nondet_u32(),
						  .src_stag = nondet_u32(),
						  .src_to = nondet_u64()};
	struct rdmap tx = {.ops = &stub_ops}, rx = {.ops = &stub_ops, .irq = ring, .ird = IRD_MOST};
	struct mpa_ulpdu u;
	struct ddp_segment s;
	struct llp_iov v;

	ddp_init(&tx.ddp);
	ddp_init(&rx.ddp);
	tx.ddp.tx_msn[RDMAP_QN_READ] = rx.ddp.rx[RDMAP_QN_READ].msn = nondet_u32();
	assert(rdmap_put_read_request(&tx, &q));
	u = stub_ulpdu(&v);
	assert(ddp_parse(&s, &u) == DDP_OK && !s.tagged && s.last);
	assert(ddp_check_untagged(&rx.ddp, &s) == DDP_OK);
	assert(s.ulp == RDMAP_CONTROL(RDMAP_OP_READ_REQUEST));
	rdmap_on_read_request(&rx, &s);
	assert(!stub_failed && rx.irq_count == 1);
	assert(ring[0].sink_stag == q.sink_stag && ring[0].sink_to == q.sink_to);
	assert(ring[0].len == q.len && ring[0].sent == 0);
	assert(ring[0].src_stag == q.src_stag && ring[0].src_to == q.src_to);
}

/*
 * Any IRD, any state of the ring: one more request goes behind those that wait, or is refused; one
 * that is answered leaves the others. The place is always in the ring.
 */
void proof_irq_ring(void)
{
	struct rdmap r = {.ird = nondet_u16(), .irq_head = nondet_u16(), .irq_count = nondet_u16()};
	struct rdmap_irqe q = {.len = nondet_u32()}, ring[IRD_MOST];
	uint32_t at;
	struct ddp_segment s;
	struct rdmap before;

	assume(r.ird > 0 && r.ird <= IRD_MOST);
	assume(r.irq_head < r.ird && r.irq_count <= r.ird);
	r.irq = ring + IRD_MOST - r.ird;
	before = r;
	if (nondet_bool()) {
		at = (r.irq_head + r.irq_count) % r.ird;
		if (!rdmap_irq_add(&r, &q, &s)) {
			assert(before.irq_count == r.ird && r.irq_count == r.ird && stub_failed);
			return;
		}
		assert(r.irq_count == before.irq_count + 1 && r.irq_head == before.irq_head);
		assert(r.irq[at].len == q.len);
	} else {
		assume(r.irq_count != 0);
		rdmap_irq_pop(&r);
		assert(r.irq_count == before.irq_count - 1);
		assert(r.irq_head == (before.irq_head + 1) % r.ird);
	}
	assert(r.irq_head < r.ird && r.irq_count <= r.ird);
}

/* Any response to any Read: what is placed lies within its sink, each byte in its turn. */
void proof_read_response(void)
{
	struct rdmap r = {.read_placed = nondet_u32()};
	struct {
		struct rdmap_wqe w;
		struct rdmap_sge sge;
	} e = {.w = {.op = RDMAP_WR_READ, .length = nondet_u32(), .num_sge = nondet_bool()}};
	struct ddp_segment s = {.stag = nondet_u32(), .to = nondet_u64(), .len = nondet_u32()};

	e.sge = (struct rdmap_sge){.addr = nondet_u64(), .len = e.w.length, .stag = nondet_u32()};
	assume(r.read_placed <= e.w.length);
	assume(e.sge.addr <= UINT64_MAX - e.w.length);
	if (rdmap_read_check_response(&r, &e.w, &s) != DDP_OK || s.len == 0)
		return;
	assert(e.w.num_sge == 1 && s.stag == e.sge.stag);
	assert(s.to >= e.sge.addr && s.to - e.sge.addr == r.read_placed);
	assert((uint64_t)r.read_placed + s.len <= e.w.length);
}
