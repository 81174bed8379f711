/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A whole RNIC opposite a hostile peer that keeps to MPA: ULPDUs with good CRCs into DDP, RDMAP,
 * queue pairs and memory regions. What was not registered for the peer must never change. Segments
 * may overtake others: then everything is done again without placing any of them early, and the
 * completions must be the same.
 */
#include "base/bytes.h"
#include "ddp/ddp_wire.h"
#include "fuzz.h"
#include "mpa/enframe.h"
#include "rdmap/opcode.h"
#include "unit/rnic/pair.h"

#include <errno.h>

#define STEPS_MAX  100000
#define ARENA      8192
#define REGIONS    5
#define IOVA(k)    (UINT64_C(0x10000) * ((k) + 1))
#define ULPDU_MOST 4096

/** The arena's parts; what lies between them is registered to nobody. */
static const struct {
	uint32_t at, len;
	unsigned access;
	bool peer_writes; /* its bytes may change */
} regions[REGIONS] = {
	{512, 1024,
		RNIC_ACCESS_LOCAL_WRITE | RNIC_ACCESS_REMOTE_WRITE | RNIC_ACCESS_REMOTE_READ |
			RNIC_ACCESS_REMOTE_ATOMIC,
		true},
	{2048, 512, RNIC_ACCESS_REMOTE_READ, false},
	{3072, 1000, RNIC_ACCESS_LOCAL_WRITE, true}, /* receive buffers, sinks of Reads */
	{4200, 7, RNIC_ACCESS_LOCAL_WRITE | RNIC_ACCESS_REMOTE_WRITE | RNIC_ACCESS_REMOTE_ATOMIC,
		true},
	{5000, 512, RNIC_ACCESS_LOCAL_WRITE, false}, /* sources of our messages alone */
};

struct world {
	struct fuzz *in;
	struct pair pair;
	struct side *us;
	struct llp_mem_peer peer, stranger; /* the latter never gets further than start-up */
	struct rnic_ep *request;            /* the peer's, accepted */
	uint8_t *arena;
	struct rnic_mr *mr[REGIONS];
	uint32_t stag[REGIONS];
	uint32_t msn[DDP_QUEUES]; /* that the peer should use next, of each queue */
	uint64_t wr_id;
	unsigned taken;        /* segments placed before their turn */
	uint32_t seen[2];      /* digests of the completions of both queues */
	struct mpa_enframe tx; /* how the peer frames */
	uint32_t imms;         /* Immediate Data behind Sends, so far */
	bool imm_due;
};

static uint8_t pattern(uint32_t i)
{
	return (uint8_t)(i * 7 + (i >> 8));
}

/** Guards, and regions that nobody may write, are as they were. */
static void check_arena(const struct world *w)
{
	uint32_t at = 0;

	for (unsigned k = 0; k <= REGIONS; k++) {
		uint32_t end = k < REGIONS ? regions[k].at : ARENA;

		for (; at < end; at++)
			MUST(w->arena[at] == pattern(at));
		if (k < REGIONS && regions[k].peer_writes)
			at += regions[k].len;
	}
}

/* ---- start and end ----------------------------------------------------------------------- */

static void send_start(struct world *w, const char *key, uint8_t flags, uint16_t ird, uint16_t ord)
{
	uint8_t frame[MPA_HEADER_LEN + MPA_ENHANCED_LEN] = {0};

	memcpy(frame, key, MPA_KEY_LEN);
	frame[MPA_AT_FLAGS] = (uint8_t)(flags | MPA_FLAG_ENHANCED);
	frame[MPA_AT_REVISION] = 2;
	store_be16(frame + MPA_AT_PD_LENGTH, MPA_ENHANCED_LEN);
	store_be16(frame + MPA_AT_PRIVATE_DATA + MPA_AT_IRD, ird);
	store_be16(frame + MPA_AT_PRIVATE_DATA + MPA_AT_ORD, ord);
	if (w->peer.llp)
		llp_mem_send_raw(w->peer.llp, frame, sizeof frame);
	pair_run(&w->pair);
}

static void responder(struct world *w, uint16_t ird, uint16_t ord)
{
	struct rnic_conn_param cp = {.qp = w->us->qp, .ird = 4, .ord = 4};
	struct ip_endpoint to = llp_mem_endpoint(w->pair.mem, 1, PAIR_PORT);

	pair_listen(&w->pair, 2);
	llp_mem_peer_connect(&w->peer, w->pair.mem, 0, &to);
	pair_run(&w->pair);
	send_start(w, MPA_REQUEST_KEY,
		(w->tx.crc ? MPA_FLAG_CRC : 0) | (ird & 0x100 ? MPA_FLAGS_SEND_IMM_OFFER : 0), ird,
		ord);
	if (!w->us->request)
		return;
	w->request = w->us->request;
	w->us->request = NULL;
	rnic_ep_set_context(w->request, pair_ep_event, w->us);
	rnic_ep_accept(w->request, &cp);
}

static void initiator(struct world *w, uint16_t ird, uint16_t ord)
{
	struct rnic_conn_param cp = {.qp = w->us->qp, .ird = 4, .ord = 4};
	struct ip_endpoint to = llp_mem_endpoint(w->pair.mem, 0, PAIR_PORT);

	llp_mem_peer_listen(&w->peer, w->pair.mem, 0, PAIR_PORT);
	MUST(!rnic_ep_resolve(w->us->ep, &to, 0));
	rnic_ep_connect(w->us->ep, &cp);
	pair_run(&w->pair);
	send_start(w, MPA_REPLY_KEY,
		(w->tx.crc ? MPA_FLAG_CRC : 0) | (ird & 0x100 ? MPA_FLAGS_SEND_IMM_AGREE : 0), ird,
		ord);
}

static void world_start(struct world *w, struct fuzz *in, bool in_order)
{
	uint8_t bits = fuzz_u8(in);
	const struct rnic_qp_attr all = {.access = RNIC_ACCESS_REMOTE_WRITE |
						   RNIC_ACCESS_REMOTE_READ |
						   RNIC_ACCESS_REMOTE_ATOMIC};
	const struct rnic_config cfg = {.mpa = {.revision = 2,
						.crc = bits & 1,
						.rtr = bits >> 1 & 7,
						.peer_to_peer = bits & 16,
						.markers = bits & 128,
						.in_order = in_order,
						.send_imm = true}};

	memset(w, 0, sizeof *w);
	w->in = in;
	w->us = &w->pair.b;
	mpa_enframe_init(&w->tx, bits & 1, bits & 128);
	for (unsigned q = 0; q < DDP_QUEUES; q++)
		w->msn[q] = 1;
	w->arena = malloc(ARENA);
	MUST(w->arena);
	for (uint32_t i = 0; i < ARENA; i++)
		w->arena[i] = pattern(i);
	pair_engine_init(&w->pair);
	pair_rnic(&w->pair, w->us, 1, &cfg);
	pair_side(w->us);
	MUST(!rnic_qp_modify(w->us->qp, RNIC_QP_ACCESS, &all));
	for (unsigned k = 0; k < REGIONS; k++) {
		MUST(!rnic_mr_reg(w->us->pd, w->arena + regions[k].at, regions[k].len, IOVA(k),
			regions[k].access, &w->mr[k]));
		w->stag[k] = rnic_mr_stag(w->mr[k]);
	}
	llp_mem_set_segment(w->pair.mem, bits & 32 ? 1 + fuzz_u8(in) : 0);
	if (bits & 64)
		initiator(w, fuzz_u16(in), fuzz_u16(in));
	else
		responder(w, fuzz_u16(in), fuzz_u16(in));
}

/** Completions so far, in the order of each queue. @return how many there were. */
static int poll(struct world *w)
{
	struct rnic_wc wc[8];
	int n = rnic_cq_poll(w->us->cq, 8, wc);

	for (int i = 0; i < n; i++) {
		const struct rdmap_wc *c = &wc[i].wc;
		uint32_t *seen = &w->seen[c->op >= RDMAP_WC_RECV];

		MUST(c->wr_id < w->wr_id && c->status <= RDMAP_WC_FATAL_ERR);
		*seen = *seen * 31 + (uint32_t)c->wr_id;
		*seen = *seen * 31 + c->status;
		if (c->status == RDMAP_WC_SUCCESS)
			*seen = *seen * 31 + c->byte_len;
	}
	return n;
}

static void world_end(struct world *w)
{
	pair_run(&w->pair);
	while (poll(w) > 0)
		;
	llp_mem_peer_done(&w->peer);
	llp_mem_peer_done(&w->stranger);
	pair_advance(&w->pair, 2);
	w->us->n_ep_events = w->us->n_events = 0;
	w->us->request = NULL; /* the stranger's goes with the listener */
	if (w->request)
		rnic_ep_destroy(w->request);
	if (w->us->qp)
		MUST(!rnic_qp_destroy(w->us->qp));
	w->us->qp = NULL;
	for (unsigned k = 0; k < REGIONS; k++)
		if (w->mr[k])
			MUST(!rnic_mr_dereg(w->mr[k]));
	check_arena(w);
	pair_fini(&w->pair);
	free(w->arena);
}

/* ---- the peer ---------------------------------------------------------------------------- */

static void send_ulpdu(struct world *w, const uint8_t *ulpdu, uint32_t len)
{
	uint32_t total = mpa_enframe_len(&w->tx, len);
	uint8_t *fpdu = calloc(1, total);

	MUST(fpdu);
	memcpy(fpdu + mpa_enframe_lead(&w->tx), ulpdu, len);
	mpa_enframe_finish(&w->tx, fpdu, len);
	if (w->peer.llp)
		llp_mem_send_raw(w->peer.llp, fpdu, total);
	free(fpdu);
}

static uint32_t any_stag(struct world *w)
{
	uint8_t k = fuzz_u8(w->in);

	if (k < 0xf0)
		return w->stag[k % REGIONS];
	return k < 0xf8 ? rnic_mr_stag(w->us->mr) : fuzz_u32(w->in);
}

/** Mostly near the beginning of a region. */
static uint64_t any_to(struct world *w)
{
	uint8_t k = fuzz_u8(w->in);

	if (k == 0xff)
		return fuzz_u64(w->in);
	return IOVA(k % REGIONS) + (uint64_t)(int64_t)(int16_t)fuzz_u16(w->in);
}

/** @return the segment's length. */
static uint32_t payload(struct world *w, uint8_t *at, uint32_t header)
{
	uint32_t len = fuzz_u16(w->in) % (ULPDU_MOST - header);

	memset(at + header, 0xa5, len);
	return header + len;
}

static void tagged(struct world *w, uint8_t bits)
{
	static const uint8_t opcodes[] = {RDMAP_OP_WRITE, RDMAP_OP_READ_RESPONSE};
	uint8_t p[ULPDU_MOST];
	uint32_t stag = any_stag(w);

	ddp_put_tagged(p, bits & 16, RDMAP_CONTROL(opcodes[bits >> 5 & 1]), stag, any_to(w));
	if (bits & 64) /* damage */
		p[fuzz_u8(w->in) & 1] ^= fuzz_u8(w->in);
	send_ulpdu(w, p, payload(w, p, DDP_TAGGED_LEN));
}

/** The reserved bits of a Send, and the count that goes with them (docs/connect.md). */
static uint32_t send_imm(struct world *w, uint8_t op, uint8_t *control, bool last)
{
	bool send = op == RDMAP_OP_SEND || op == RDMAP_OP_SEND_SE;

	if (send && last)
		w->imm_due = *control & RDMAP_CONTROL_IMM_DUE;
	if (op == RDMAP_OP_IMMEDIATE && w->imm_due) {
		w->imm_due = false;
		w->imms++;
	}
	if (!send || !w->imms)
		return any_stag(w);
	*control |= RDMAP_CONTROL_IMM_BEFORE;
	return w->imms;
}

static void untagged(struct world *w, uint8_t bits)
{
	uint8_t p[ULPDU_MOST], qn = fuzz_u8(w->in), octet = fuzz_u8(w->in), op = octet & 15;
	uint8_t control = RDMAP_CONTROL(op) | (octet & 0x20);
	const struct rdmap_opcode_info *info = rdmap_opcode_info(op);
	uint32_t q = qn < 0xf0 ? (info != NULL ? info->qn : 0) : qn;
	uint32_t msn = q < DDP_QUEUES ? w->msn[q] : 1, mo = 0, stag;

	if (bits & 32)
		mo = fuzz_u16(w->in);
	if (bits & 64)
		msn += (uint32_t)(int8_t)fuzz_u8(w->in);
	if (bits & 16 && q < DDP_QUEUES)
		w->msn[q]++;
	stag = send_imm(w, op, &control, bits & 16);
	ddp_put_untagged(p, bits & 16, control, stag, q, msn, mo);
	send_ulpdu(w, p, payload(w, p, DDP_UNTAGGED_LEN));
}

static void read_request(struct world *w, uint8_t bits)
{
	uint8_t p[DDP_UNTAGGED_LEN + RDMAP_READ_HEADER_LEN], *h = p + DDP_UNTAGGED_LEN;

	ddp_put_untagged(p, true, RDMAP_CONTROL(RDMAP_OP_READ_REQUEST), 0, RDMAP_QN_READ,
		w->msn[RDMAP_QN_READ]++, 0);
	store_be32(h + RDMAP_AT_SINK_STAG, fuzz_u32(w->in));
	store_be64(h + RDMAP_AT_SINK_TO, fuzz_u64(w->in));
	store_be32(h + RDMAP_AT_SIZE, bits & 16 ? fuzz_u32(w->in) : fuzz_u16(w->in) % 2048u);
	store_be32(h + RDMAP_AT_SOURCE_STAG, any_stag(w));
	store_be64(h + RDMAP_AT_SOURCE_TO, any_to(w));
	send_ulpdu(w, p, sizeof p);
}

static void atomic_request(struct world *w, uint8_t bits)
{
	uint8_t p[DDP_UNTAGGED_LEN + RDMAP_ATOMIC_REQUEST_LEN], *h = p + DDP_UNTAGGED_LEN;

	ddp_put_untagged(p, true, RDMAP_CONTROL(RDMAP_OP_ATOMIC_REQUEST), 0, RDMAP_QN_READ,
		w->msn[RDMAP_QN_READ]++, 0);
	store_be32(h + RDMAP_AT_ATOMIC_OPCODE, bits & 16 ? fuzz_u8(w->in) : RDMAP_ATOMIC_CMP_SWAP);
	store_be32(h + RDMAP_AT_ATOMIC_REQUEST_ID, 0x12345678);
	store_be32(h + RDMAP_AT_ATOMIC_STAG, any_stag(w));
	store_be64(h + RDMAP_AT_ATOMIC_TO, any_to(w) & ~(uint64_t)(bits & 32 ? 0 : 7));
	store_be64(h + RDMAP_AT_ATOMIC_DATA, fuzz_u64(w->in));
	store_be64(h + RDMAP_AT_ATOMIC_MASK, fuzz_u64(w->in));
	store_be64(h + RDMAP_AT_ATOMIC_COMPARE, 0);
	store_be64(h + RDMAP_AT_ATOMIC_COMPARE_MASK, bits & 64 ? fuzz_u64(w->in) : 0);
	send_ulpdu(w, p, sizeof p);
}

/** Messages of one small header: Immediate Data, or the answer to an Atomic of ours. */
static void small(struct world *w, uint8_t bits)
{
	uint8_t p[DDP_UNTAGGED_LEN + RDMAP_ATOMIC_RESPONSE_LEN] = {0}, k = fuzz_u8(w->in);
	bool answer = k & 2;
	uint8_t op = answer ? RDMAP_OP_ATOMIC_RESPONSE : RDMAP_OP_IMMEDIATE | (k & 1);
	uint32_t qn = answer ? RDMAP_QN_ATOMIC_RESPONSE : RDMAP_QN_SEND;

	ddp_put_untagged(p, true, RDMAP_CONTROL(op), 0, qn, w->msn[qn]++, 0);
	if (answer) /* our requests are numbered as their queue is */
		store_be32(p + DDP_UNTAGGED_LEN, bits & 16 ? fuzz_u8(w->in) : w->msn[qn] - 1);
	send_ulpdu(w, p,
		DDP_UNTAGGED_LEN + (answer ? RDMAP_ATOMIC_RESPONSE_LEN : RDMAP_IMMEDIATE_LEN));
}

static void raw(struct world *w)
{
	size_t got;
	const uint8_t *p = fuzz_bytes(w->in, 1u + fuzz_u8(w->in), &got);

	send_ulpdu(w, p, (uint32_t)got);
}

/* ---- our program ------------------------------------------------------------------------- */

static struct rdmap_sge any_sge(struct world *w, unsigned k)
{
	uint32_t at = fuzz_u8(w->in), len = fuzz_u16(w->in) % 1200u;

	return (struct rdmap_sge){IOVA(k) + at, len, w->stag[k]};
}

static void post_recv(struct world *w, uint8_t bits)
{
	struct rdmap_rqe *e;

	if (rnic_rq_begin(w->us->qp))
		return;
	e = rnic_rq_next(w->us->qp);
	if (e) {
		e->wr_id = w->wr_id++;
		e->num_sge = bits >> 4 & 2 ? 2 : bits >> 4 & 1;
		e->length = 0;
		for (unsigned i = 0; i < e->num_sge; i++) {
			e->sge[i] = any_sge(w, 2);
			e->length += e->sge[i].len;
		}
		rnic_rq_commit(w->us->qp);
	}
	rnic_rq_end(w->us->qp);
}

/** What an octet of the input stands for, modulo their number; it stays so, as the seeds do. */
static const uint8_t operations[] = {RDMAP_WR_SEND, RDMAP_WR_SEND_INV, RDMAP_WR_WRITE,
	RDMAP_WR_READ, RDMAP_WR_SEND_IMM, RDMAP_WR_LOCAL_INV, RDMAP_WR_WRITE_IMM,
	RDMAP_WR_FETCH_ADD, RDMAP_WR_CMP_SWAP};

static void post_send(struct world *w, uint8_t bits)
{
	struct rdmap_wqe *e;
	uint8_t octet = fuzz_u8(w->in);
	unsigned op = octet < 0xf0 ? operations[octet % sizeof operations] : RDMAP_WR_SEND_IMM;
	bool atomic = op == RDMAP_WR_FETCH_ADD || op == RDMAP_WR_CMP_SWAP;
	bool read = op == RDMAP_WR_READ || atomic;

	if (rnic_sq_begin(w->us->qp))
		return;
	e = rnic_sq_next(w->us->qp);
	if (e) {
		e->wr_id = w->wr_id++;
		e->op = (uint8_t)op;
		e->flags = RDMAP_WR_SIGNALED | (bits >> 4 & (RDMAP_WR_FENCE | RDMAP_WR_SOLICITED));
		e->num_sge = read || bits & 128;
		if (e->num_sge) {
			e->sge[0] = any_sge(w, read ? 2 : 4);
			if (atomic && !(bits & 128))
				e->sge[0].len = RDMAP_ATOMIC_LEN;
			e->length = e->sge[0].len;
		}
		e->remote_stag = fuzz_u8(w->in);
		e->remote_to = fuzz_u16(w->in);
		e->inv_stag = any_stag(w); /* or immediate data */
		if (atomic)
			e->atomic.data = e->atomic.mask = e->atomic.compare = op;
		rnic_sq_commit(w->us->qp);
	}
	rnic_sq_end(w->us->qp);
}

/** Another comes to the listener, says what the input has it say, and may be turned away. */
static void stranger(struct world *w, uint8_t bits)
{
	struct ip_endpoint to = llp_mem_endpoint(w->pair.mem, 1, PAIR_PORT);
	struct rnic_ep *ep = w->us->request;
	const uint8_t *p;
	size_t got;

	if (!w->request) /* we are the initiator: nobody listens */
		return;
	if (ep && bits & 128) {
		w->us->request = NULL;
		rnic_ep_set_context(ep, pair_ep_event, w->us);
		if (bits & 64)
			rnic_ep_reject(ep, "no", bits & 32 ? 2 : 0);
		rnic_ep_destroy(ep);
	} else if (!w->stranger.llp) {
		llp_mem_peer_done(&w->stranger);
		llp_mem_peer_connect(&w->stranger, w->pair.mem, 0, &to);
		pair_run(&w->pair);
	} else if (bits & 16) {
		p = fuzz_bytes(w->in, fuzz_u8(w->in), &got);
		if (got)
			llp_mem_send_raw(w->stranger.llp, p, got);
	} else if (bits & 32) {
		llp_mem_peer_done(&w->stranger);
	} else {
		llp_mem_send_raw(w->stranger.llp, MPA_REQUEST_KEY, MPA_KEY_LEN);
	}
}

static void rare(struct world *w, uint8_t bits)
{
	static const enum rnic_qp_state states[] = {RNIC_QP_ERROR, RNIC_QP_SQD, RNIC_QP_RTS};
	struct rnic_qp_attr attr = {.state = states[(bits >> 4) % 3]};
	unsigned k = (bits >> 4) % REGIONS;

	switch (fuzz_u8(w->in) % 7) {
	case 0:
		rnic_qp_modify(w->us->qp, RNIC_QP_STATE, &attr);
		break;
	case 1:
		if (w->mr[k] && !rnic_mr_dereg(w->mr[k]))
			w->mr[k] = NULL;
		break;
	case 2:
		if (w->peer.llp)
			llp_shutdown(w->peer.llp);
		break;
	case 3:
		if (w->peer.llp && bits & 128)
			llp_mem_fail(w->peer.llp, -ECONNRESET);
		break;
	case 5:
		stranger(w, bits);
		break;
	case 4:
		pair_advance(&w->pair, fuzz_u8(w->in));
		break;
	default:
		rnic_ep_disconnect(w->request ? w->request : w->us->ep);
	}
}

static void step(struct world *w)
{
	uint8_t op = fuzz_u8(w->in);

	switch (op & 15) {
	case 0:
	case 1:
	case 2:
		tagged(w, op);
		break;
	case 3:
	case 4:
	case 5:
		untagged(w, op);
		break;
	case 6:
		read_request(w, op);
		break;
	case 7:
		if (op & 128)
			atomic_request(w, op);
		else
			small(w, op);
		break;
	case 8:
		raw(w);
		break;
	case 9:
	case 10:
		post_recv(w, op);
		break;
	case 11:
	case 12:
		post_send(w, op);
		break;
	case 13:
		rare(w, op);
		break;
	case 15:
		if (w->peer.llp)
			w->taken += llp_mem_ooo(w->peer.llp, 1u + (op >> 4));
		break;
	default:
		pair_run(&w->pair);
		poll(w);
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	setenv("CMOCKA_TEST_ABORT", "1", 1); /* asserts of the double */
	return 0;
}

/** @return how many segments were placed before their turn. @param[out] seen of completions. */
static unsigned run(const uint8_t *data, size_t size, bool in_order, uint32_t *seen)
{
	struct fuzz in = {data, size};
	static struct world w;

	world_start(&w, &in, in_order);
	while (in.left) {
		step(&w);
		check_arena(&w);
		w.us->n_ep_events = w.us->n_events = 0; /* what happened was noted, and is enough */
	}
	world_end(&w);
	*seen = w.seen[0] * 31 + w.seen[1];
	return w.taken;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t seen, again;

	if (run(data, size, false, &seen) != 0) {
		run(data, size, true, &again);
		MUST(seen == again);
	}
	return 0;
}
