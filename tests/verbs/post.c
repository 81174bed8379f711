/* SPDX-License-Identifier: BSD-2-Clause */
/* What is posted. Whatever must succeed asks for no more than there is by then. */
#include "program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUILD_MOST 4

bool program_consumes(const struct program_request *q)
{
	return q->op == IBV_WR_SEND || q->op == IBV_WR_SEND_WITH_IMM ||
	       q->op == IBV_WR_SEND_WITH_INV || q->op == IBV_WR_RDMA_WRITE_WITH_IMM;
}

bool program_is_answered(const struct program_request *q)
{
	return q->op == IBV_WR_RDMA_READ || q->op == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       q->op == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

bool program_is_write(const struct program_request *q)
{
	return q->op == IBV_WR_RDMA_WRITE || q->op == IBV_WR_RDMA_WRITE_WITH_IMM;
}

/* ---- payload --------------------------------------------------------------------------------- */

/** Most are short. */
static uint32_t program_length(uint32_t most)
{
	return program_below(1 + (program_chance(0.7) && most > 200 ? 200 : most));
}

/** Cut the bytes from @p at on into pieces, some of nothing. @return how many; 0 only of nothing.
 */
static int program_cut(uintptr_t at, uint32_t len, uint32_t lkey, struct ibv_sge *sge)
{
	int n = len == 0 && program_chance(0.5) ? 0 : 1 + (int)program_below(PROGRAM_SGES);

	for (int i = 0; i < n; i++) {
		sge[i] = (struct ibv_sge){at, i + 1 == n ? len : program_below(len + 1), lkey};
		at += sge[i].length;
		len -= sge[i].length;
	}
	return n;
}

/** Pieces of what is there to be sent; or of memory that changes when the request is done. */
static void program_gather(struct program_end *e, struct program_request *q)
{
	const struct program_memory *m = &e->memory[PROGRAM_SOURCE];

	q->payload = malloc(q->len + 1);
	NEED(q->payload);
	q->sges = program_cut((uintptr_t)q->payload, q->len, m->mr->lkey, q->sge);
	for (int i = 0; i < q->sges; i++) {
		const uint8_t *from = m->at + program_below(PROGRAM_SLOT);

		memcpy((void *)(uintptr_t)q->sge[i].addr, from, q->sge[i].length);
		q->sge[i].addr = (uintptr_t)from;
	}
	if (q->sges != 1 || program_chance(0.5))
		return;
	q->scratch = e->scratch + (size_t)(q - e->request) * PROGRAM_SLOT;
	memcpy(q->scratch, q->payload, q->len);
	q->sge[0] = (struct ibv_sge){(uintptr_t)q->scratch, q->len, e->scratch_mr->lkey};
}

/* ---- kinds ----------------------------------------------------------------------------------- */

/** Into the next receive that the peer has posted. */
static bool program_send(struct program_end *e, struct program_request *q)
{
	struct program_receives *to = e->peer->receives;
	struct program_window *w = &e->peer->window;

	if (to->promised == to->posted ||
		(q->op == IBV_WR_SEND_WITH_INV && w->state != WINDOW_BOUND))
		return false;
	q->len = program_length(to->list[to->promised++].len);
	if (q->op == IBV_WR_SEND_WITH_INV) {
		q->rkey = w->mw->rkey;
		w->state = WINDOW_ENDING;
	}
	program_gather(e, q);
	return true;
}

static bool program_write(struct program_end *e, struct program_request *q)
{
	const struct program_memory *m = &e->peer->memory[PROGRAM_TARGET];
	struct program_receives *to = e->peer->receives;

	if (q->op == IBV_WR_RDMA_WRITE_WITH_IMM && to->promised == to->posted)
		return false;
	q->slot = program_slot_take(m, e->peer->target_busy);
	if (q->slot == PROGRAM_SLOTS)
		return false;
	if (q->op == IBV_WR_RDMA_WRITE_WITH_IMM)
		to->promised++;
	q->len = program_length(PROGRAM_SLOT);
	q->at = program_below(PROGRAM_SLOT - q->len + 1);
	q->remote = (uintptr_t)program_slot(m, q->slot) + q->at;
	q->by_window = e->peer->window.state == WINDOW_BOUND && program_chance(0.5);
	q->rkey = q->by_window ? e->peer->window.mw->rkey : m->mr->rkey;
	e->peer->window.users += q->by_window;
	program_gather(e, q);
	return true;
}

static bool program_read(struct program_end *e, struct program_request *q)
{
	const struct program_memory *m = &e->memory[PROGRAM_SINK];
	const struct program_memory *from = &e->peer->memory[PROGRAM_READ];
	uint32_t at;

	q->slot = program_slot_take(m, e->sink_busy);
	if (q->slot == PROGRAM_SLOTS)
		return false;
	q->len = program_length(PROGRAM_SLOT);
	q->at = program_below(PROGRAM_SLOT - q->len + 1);
	q->sges = q->len || program_chance(0.5);
	q->sge[0] =
		(struct ibv_sge){(uintptr_t)program_slot(m, q->slot) + q->at, q->len, m->mr->lkey};
	at = program_below(PROGRAM_SLOTS * PROGRAM_SLOT - q->len + 1);
	q->remote = (uintptr_t)from->at + at;
	q->rkey = from->mr->rkey;
	q->payload = malloc(q->len + 1);
	NEED(q->payload);
	memcpy(q->payload, from->at + at, q->len);
	return true;
}

static bool program_atomic(struct program_end *e, struct program_request *q)
{
	const struct program_memory *m = &e->memory[PROGRAM_SINK];
	const struct program_memory *to = &e->peer->memory[PROGRAM_ATOMIC];
	unsigned word = program_below(PROGRAM_ATOMICS);
	uint64_t *value = &e->peer->atomic[word];

	q->slot = program_slot_take(m, e->sink_busy);
	if (q->slot == PROGRAM_SLOTS)
		return false;
	q->len = 8;
	q->at = 8 * program_below(PROGRAM_SLOT / 8);
	q->sges = 1;
	q->sge[0] = (struct ibv_sge){(uintptr_t)program_slot(m, q->slot) + q->at, 8, m->mr->lkey};
	q->remote = (uintptr_t)(to->at + 8 * word);
	q->rkey = to->mr->rkey;
	q->payload = malloc(8);
	NEED(q->payload);
	memcpy(q->payload, value, 8); /* what it must find */
	q->swap = prng_u64(&program.random);
	q->add = q->op == IBV_WR_ATOMIC_FETCH_AND_ADD || program_chance(0.3) ? q->swap + 1 : *value;
	if (q->op == IBV_WR_ATOMIC_FETCH_AND_ADD)
		*value += q->add;
	else if (*value == q->add)
		*value = q->swap;
	return true;
}

/** Of an end's own window. */
static bool program_key(struct program_end *e, struct program_request *q)
{
	struct program_window *w = &e->window;

	if (q->op == IBV_WR_LOCAL_INV) {
		if (w->state != WINDOW_BOUND || w->users)
			return false;
		w->state = WINDOW_ENDING;
		q->rkey = w->mw->rkey;
		return true;
	}
	if (w->state != WINDOW_FREE)
		return false;
	w->state = WINDOW_BINDING;
	q->rkey = ibv_inc_rkey(w->mw->rkey);
	return true;
}

static bool program_choose(struct program_end *e, struct program_request *q)
{
	static const struct {
		enum ibv_wr_opcode op;
		bool (*how)(struct program_end *e, struct program_request *q);
	} kind[] = {{IBV_WR_SEND, program_send}, {IBV_WR_SEND, program_send},
		{IBV_WR_SEND_WITH_IMM, program_send}, {IBV_WR_SEND_WITH_INV, program_send},
		{IBV_WR_RDMA_WRITE, program_write}, {IBV_WR_RDMA_WRITE, program_write},
		{IBV_WR_RDMA_WRITE_WITH_IMM, program_write}, {IBV_WR_RDMA_READ, program_read},
		{IBV_WR_RDMA_READ, program_read}, {IBV_WR_ATOMIC_CMP_AND_SWP, program_atomic},
		{IBV_WR_ATOMIC_FETCH_AND_ADD, program_atomic}, {IBV_WR_LOCAL_INV, program_key},
		{IBV_WR_BIND_MW, program_key}};
	unsigned i = program_below(sizeof kind / sizeof kind[0]);

	*q = (struct program_request){.op = kind[i].op, .imm = program_below(UINT32_MAX)};
	if (!kind[i].how(e, q))
		return false;
	q->flags = (program_chance(0.5) ? IBV_SEND_SIGNALED : 0) |
		   (program_chance(0.1) ? IBV_SEND_FENCE : 0);
	if (program_consumes(q) && program_chance(0.3))
		q->flags |= IBV_SEND_SOLICITED;
	if ((program_consumes(q) || program_is_write(q)) && q->len <= e->cap.max_inline_data &&
		program_chance(0.7))
		q->flags |= IBV_SEND_INLINE;
	return true;
}

/* ---- posting --------------------------------------------------------------------------------- */

/** A message that asks for an event at @p e, if it is told. */
static void program_solicit(struct program_end *e, const struct program_request *q)
{
	if (!(q->flags & IBV_SEND_SOLICITED) || !e->qp)
		return;
	e->receive_cq->solicited_posted++;
	e->receive_cq->cause = true;
}

/** What was read when it was posted may be anything now. */
static void program_posted(struct program_end *e, unsigned n)
{
	for (; n; n--) {
		struct program_request *q = &e->request[e->posted++];

		q->turn = ++program.turn;
		program_solicit(e->peer, q);
		if (q->scratch && q->flags & IBV_SEND_INLINE)
			memset(q->scratch, 0xee, q->len);
	}
}

/** Those that hold a place for certain: they are to be polled. */
static unsigned program_signaled_waiting(const struct program_end *e)
{
	unsigned n = 0;

	for (unsigned i = e->polled; i < e->posted; i++)
		n += program_is_signaled(e, &e->request[i]);
	return n;
}

/** The request that was made last, if there is room: what is not signaled has it until it is done.
 */
static bool program_hand_over_one(struct program_end *e)
{
	unsigned taken;
	int rc = program_hand_over(e, e->posted, 1, &taken);

	NEED(rc == 0 || (rc == ENOMEM && e->posted - e->polled >= e->cap.max_send_wr));
	NEED(taken == (rc == 0));
	NEED(rc || program_signaled_waiting(e) < e->cap.max_send_wr);
	program_posted(e, taken);
	return rc == 0;
}

/** A Write of nothing to a queue that may be full. */
static bool program_post_empty(struct program_end *e, unsigned flags)
{
	e->request[e->posted] = (struct program_request){
		.op = IBV_WR_RDMA_WRITE, .flags = flags, .slot = PROGRAM_SLOTS};
	return program_hand_over_one(e);
}

void program_post(struct program_end *e)
{
	unsigned n = 0, most = 1 + program_below(BUILD_MOST), taken;

	if (!e->qp || e->posted > PROGRAM_MOST - 16)
		return;
	if (e->posted - e->polled + most > e->cap.max_send_wr) {
		(void)program_post_empty(e, program_chance(0.5) ? IBV_SEND_SIGNALED : 0);
		return;
	}
	while (n < most && program_choose(e, &e->request[e->posted + n]))
		n++;
	if (!n)
		return;
	NEED(program_hand_over(e, e->posted, n, &taken) == 0);
	NEED(taken == n);
	program_posted(e, n);
}

bool program_post_nothing(struct program_end *e)
{
	return program_post_empty(e, IBV_SEND_SIGNALED);
}

bool program_post_last(struct program_end *e)
{
	struct program_request *q = &e->request[e->posted];

	*q = (struct program_request){.op = IBV_WR_RDMA_READ};
	if (!program_read(e, q))
		return false;
	q->flags = IBV_SEND_SIGNALED;
	if (program_hand_over_one(e))
		return true;
	e->sink_busy[q->slot] = false;
	free(q->payload);
	return false;
}

bool program_post_illegal(struct program_end *e)
{
	struct program_request *q = &e->request[e->posted];
	unsigned taken;

	if (e->posted - e->polled >= e->cap.max_send_wr)
		return false;
	*q = (struct program_request){
		.op = program_chance(0.5) ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ};
	if (!(q->op == IBV_WR_RDMA_READ ? program_read : program_write)(e, q))
		return false;
	q->illegal = q->len; /* no key is looked at for nothing */
	q->flags = program_chance(0.5) ? IBV_SEND_SIGNALED : 0;
	e->peer->window.users -= q->by_window;
	q->by_window = false;
	switch (program_below(4)) {
	case 0:
		q->rkey ^= 0x1000;
		break;
	case 1: /* without the right */
		q->rkey = e->peer->memory[PROGRAM_ATOMIC].mr->rkey;
		q->remote = (uintptr_t)e->peer->memory[PROGRAM_ATOMIC].at;
		break;
	case 2: /* beyond its end */
		q->remote += PROGRAM_SLOTS * PROGRAM_SLOT;
		break;
	default:
		for (int i = 0; i < q->sges; i++)
			q->sge[i].lkey ^= 0x1000;
	}
	NEED(program_hand_over(e, e->posted, 1, &taken) == 0);
	program_posted(e, 1);
	return q->illegal;
}

/* ---- receives -------------------------------------------------------------------------------- */

void program_post_receive(struct program_end *e)
{
	struct program_receives *q = e->receives;
	struct program_receive *r = &q->list[q->posted];
	struct ibv_recv_wr wr = {.wr_id = PROGRAM_RECEIVE_ID | q->posted, .sg_list = r->sge},
			   *bad = NULL;

	if (!e->qp || q->posted == PROGRAM_MOST || q->posted - q->done == PROGRAM_RECEIVES)
		return;
	r->slot = program_slot_take(&q->memory, q->busy);
	if (r->slot == PROGRAM_SLOTS)
		return;
	/* Whose turn it is in a shared queue is not known: each takes any message. */
	r->len = q->srq ? PROGRAM_SLOT : program_length(PROGRAM_SLOT);
	r->sges = program_cut(
		(uintptr_t)program_slot(&q->memory, r->slot), r->len, q->memory.mr->lkey, r->sge);
	wr.num_sge = r->sges;
	r->waits = true;
	q->posted++;
	if (q->srq)
		NEED(ibv_post_srq_recv(q->srq, &wr, &bad) == 0);
	else
		NEED(ibv_post_recv(e->qp, &wr, &bad) == 0);
}
