/* SPDX-License-Identifier: BSD-2-Clause */
#include "mesh.h"

#include <stddef.h>

/* What a completion is of, in its wr_id: the other's rank, and one of these above. */
#define OF_RECEIVE 0x10000u
#define OF_TOLD    0x20000u
#define OF_READ    0x30000u
#define OF_MASK    0xf0000u
#define SLOT_SHIFT 20

/** A byte that no other pair, round or place has too. */
static uint8_t mesh_byte(unsigned from, unsigned to, unsigned round, size_t i)
{
	uint64_t x = (uint64_t)from << 40 ^ (uint64_t)to << 24 ^ (uint64_t)round << 16 ^ i >> 3;

	x *= UINT64_C(0x9e3779b97f4a7c15);
	return (uint8_t)(x >> (32 + (i & 7)));
}

static void mesh_put(uint8_t *block, unsigned from, unsigned to, unsigned round)
{
	for (size_t i = 0; i < MESH_BLOCK; i++)
		block[i] = mesh_byte(from, to, round, i);
}

static void mesh_look(const uint8_t *block, unsigned from, unsigned to, unsigned round)
{
	for (size_t i = 0; i < MESH_BLOCK; i++)
		if (block[i] != mesh_byte(from, to, round, i))
			mesh_die("byte %zu of rank %u's block of round %u is %#x, not %#x", i, from,
				round, block[i], mesh_byte(from, to, round, i));
}

/** What is for all to read has the number of no rank as its reader. */
void mesh_fill(struct mesh *m)
{
	mesh_put(m->memory->shown, m->rank, MESH_MOST, 0);
}

/* ---- posting ------------------------------------------------------------------------------ */

static void mesh_post(struct mesh *m, unsigned q, struct ibv_send_wr *wr, void *buf, uint32_t len)
{
	struct ibv_sge sge = {.addr = (uintptr_t)buf, .length = len, .lkey = m->mr->lkey};
	struct ibv_send_wr *bad;

	wr->sg_list = &sge;
	wr->num_sge = 1;
	if (ibv_post_send(m->peer[q].id->qp, wr, &bad))
		mesh_die("ibv_post_send to rank %u", q);
}

static void mesh_post_receive(struct mesh *m, unsigned q, unsigned slot)
{
	struct ibv_sge sge = {.addr = (uintptr_t)&m->memory->told[q][slot],
		.length = sizeof(uint32_t),
		.lkey = m->mr->lkey};
	struct ibv_recv_wr wr = {
		.wr_id = OF_RECEIVE | q | slot << SLOT_SHIFT, .sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad;

	if (ibv_post_recv(m->peer[q].id->qp, &wr, &bad))
		mesh_die("ibv_post_recv of rank %u", q);
}

void mesh_post_receives(struct mesh *m, unsigned rank)
{
	for (unsigned slot = 0; slot < MESH_RECVS; slot++)
		mesh_post_receive(m, rank, slot);
}

/** A block to one of the others, and the word that it is there. */
static void mesh_write_to(struct mesh *m, unsigned q)
{
	struct mesh_peer *p = &m->peer[q];
	size_t place = offsetof(struct mesh_memory, in) +
		       ((size_t)(m->round & 1) * MESH_MOST + m->rank) * MESH_BLOCK;
	struct ibv_send_wr write = {.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = {.remote_addr = p->hello.addr + place, .rkey = p->hello.rkey}};
	struct ibv_send_wr tell = {
		.wr_id = OF_TOLD | q, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};

	mesh_put(m->memory->out[q], m->rank, q, m->round);
	mesh_post(m, q, &write, m->memory->out[q], MESH_BLOCK);
	m->memory->tell[q] = m->round;
	mesh_post(m, q, &tell, &m->memory->tell[q], sizeof(uint32_t));
	p->owed++;
}

/** Who is ahead of us has told of its next block already; it cannot be two rounds ahead. */
static void mesh_take(struct mesh *m, unsigned q)
{
	if (m->peer[q].told != m->round + 1)
		return;
	mesh_look(m->memory->in[m->round & 1][q], q, m->rank, m->round);
	m->in++;
}

void mesh_begin_round(struct mesh *m)
{
	m->in = 0;
	for (unsigned i = 1; i < m->size; i++)
		mesh_write_to(m, (m->rank + i) % m->size);
	for (unsigned q = 0; q < m->size; q++)
		if (q != m->rank)
			mesh_take(m, q);
}

static bool mesh_owes_nothing(const struct mesh *m)
{
	for (unsigned q = 0; q < m->size; q++)
		if (m->peer[q].owed)
			return false;
	return true;
}

bool mesh_round_is_over(const struct mesh *m)
{
	return m->in == m->size - 1 && mesh_owes_nothing(m);
}

void mesh_begin_reads(struct mesh *m)
{
	for (unsigned i = 1; i < m->size; i++) {
		unsigned q = (m->rank + i) % m->size;
		struct mesh_peer *p = &m->peer[q];
		struct ibv_send_wr wr = {.wr_id = OF_READ | q,
			.opcode = IBV_WR_RDMA_READ,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = {
				.remote_addr = p->hello.addr + offsetof(struct mesh_memory, shown),
				.rkey = p->hello.rkey}};

		mesh_post(m, q, &wr, m->memory->read[q], MESH_BLOCK);
		p->owed++;
	}
}

bool mesh_reads_are_over(const struct mesh *m)
{
	return m->reads == m->size - 1;
}

/* ---- completions -------------------------------------------------------------------------- */

static void mesh_received(struct mesh *m, unsigned q, unsigned slot)
{
	struct mesh_peer *p = &m->peer[q];

	if (m->memory->told[q][slot] != p->told)
		mesh_die("rank %u tells of round %u, not %u", q, m->memory->told[q][slot], p->told);
	p->told++;
	mesh_post_receive(m, q, slot);
	mesh_take(m, q);
}

static void mesh_completion(struct mesh *m, const struct ibv_wc *wc)
{
	unsigned q = wc->wr_id & 0xffff;

	if (wc->status == IBV_WC_WR_FLUSH_ERR && mesh_reads_are_over(m))
		return;
	if (wc->status != IBV_WC_SUCCESS)
		mesh_die("rank %u: a completion with %s", q, ibv_wc_status_str(wc->status));
	switch (wc->wr_id & OF_MASK) {
	case OF_RECEIVE:
		mesh_received(m, q, (unsigned)(wc->wr_id >> SLOT_SHIFT));
		return;
	case OF_READ:
		mesh_look(m->memory->read[q], q, MESH_MOST, 0);
		m->reads++;
		break;
	}
	m->peer[q].owed--;
}

void mesh_completions(struct mesh *m)
{
	struct ibv_wc wc[16];
	struct ibv_cq *cq;
	void *context;
	int n;

	mesh_need(ibv_get_cq_event(m->channel, &cq, &context) == 0, "ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
	mesh_need(ibv_req_notify_cq(cq, 0) == 0, "ibv_req_notify_cq");
	while ((n = ibv_poll_cq(cq, 16, wc)) > 0)
		for (int i = 0; i < n; i++)
			mesh_completion(m, &wc[i]);
	mesh_need(n == 0, "ibv_poll_cq");
}
