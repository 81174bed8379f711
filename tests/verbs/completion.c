/* SPDX-License-Identifier: BSD-2-Clause */
/* What a completion tells, against what was posted. */
#include "program.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

bool program_is_signaled(const struct program_end *e, const struct program_request *q)
{
	return e->signals_all || q->flags & IBV_SEND_SIGNALED;
}

/* ---- what has arrived ------------------------------------------------------------------------ */

/** The Writes of @p e before number @p upto are in the peer's memory. */
static void program_placed(struct program_end *e, unsigned upto)
{
	struct program_end *to = e->peer;

	for (; e->placed < upto; e->placed++) {
		const struct program_request *q = &e->request[e->placed];

		if (!program_is_write(q) || q->slot == PROGRAM_SLOTS || q->illegal)
			continue;
		program_slot_check(
			&to->memory[PROGRAM_TARGET], q->slot, q->at, q->payload, q->len, false);
		to->target_busy[q->slot] = false;
		to->window.users -= q->by_window;
	}
}

const struct program_request *program_message(struct program_end *e)
{
	while (e->consumed < e->posted && !program_consumes(&e->request[e->consumed]))
		e->consumed++;
	return e->consumed < e->posted ? &e->request[e->consumed] : NULL;
}

/* ---- requests -------------------------------------------------------------------------------- */

static enum ibv_wc_opcode program_opcode(const struct program_request *q)
{
	switch (q->op) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return IBV_WC_RDMA_WRITE;
	case IBV_WR_RDMA_READ:
		return IBV_WC_RDMA_READ;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		return IBV_WC_COMP_SWAP;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return IBV_WC_FETCH_ADD;
	case IBV_WR_LOCAL_INV:
		return IBV_WC_LOCAL_INV;
	case IBV_WR_BIND_MW:
		return IBV_WC_BIND_MW;
	default:
		return IBV_WC_SEND;
	}
}

static void program_succeeded(struct program_end *e, unsigned i)
{
	struct program_request *q = &e->request[i];

	NEED(!e->sends_failed);
	NEED(!q->illegal || q->op == IBV_WR_RDMA_WRITE);
	if (program_is_answered(q)) {
		program_placed(e, i);
		program_slot_check(
			&e->memory[PROGRAM_SINK], q->slot, q->at, q->payload, q->len, false);
		e->sink_busy[q->slot] = false;
	} else if (q->op == IBV_WR_BIND_MW) {
		e->window.mw->rkey = q->rkey;
		e->window.state = WINDOW_BOUND;
	} else if (q->op == IBV_WR_LOCAL_INV) {
		e->window.state = WINDOW_FREE;
	} else if (q->scratch) {
		memset(q->scratch, 0xdd, q->len); /* the program's again */
	}
}

static void program_request_failed(
	struct program_end *e, unsigned i, const struct program_completion *c)
{
	const struct program_request *q = &e->request[i];

	NEED(program.broken);
	NEED(c->status == IBV_WC_WR_FLUSH_ERR || q->illegal || !program_is_write(q) ||
		(c->status == IBV_WC_RETRY_EXC_ERR && !e->id));
	e->sends_failed = true;
	if (program_is_answered(q))
		program_slot_check(
			&e->memory[PROGRAM_SINK], q->slot, q->at, q->payload, q->len, true);
}

static void program_request_completed(struct program_end *e, const struct program_completion *c)
{
	NEED(c->wr_id < e->posted && c->wr_id >= e->polled);
	/* Those before it that made none have succeeded; all fail with one. */
	for (; e->polled < c->wr_id; e->polled++) {
		NEED(!program_is_signaled(e, &e->request[e->polled]));
		program_succeeded(e, e->polled);
	}
	e->polled++;
	if (c->status != IBV_WC_SUCCESS) {
		program_request_failed(e, (unsigned)c->wr_id, c);
		return;
	}
	NEED(program_is_signaled(e, &e->request[c->wr_id]));
	NEED(c->opcode == program_opcode(&e->request[c->wr_id]));
	if (program_is_answered(&e->request[c->wr_id]))
		NEED(c->byte_len == e->request[c->wr_id].len);
	program_succeeded(e, (unsigned)c->wr_id);
}

/* ---- receives -------------------------------------------------------------------------------- */

static void program_check_message(struct program_end *e, const struct program_request *q,
	const struct program_receive *r, const struct program_completion *c)
{
	bool write = q->op == IBV_WR_RDMA_WRITE_WITH_IMM;
	unsigned flags = q->op == IBV_WR_SEND_WITH_INV            ? IBV_WC_WITH_INV
			 : write || q->op == IBV_WR_SEND_WITH_IMM ? IBV_WC_WITH_IMM
								  : 0;

	NEED(c->opcode == (write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV));
	NEED(c->byte_len == q->len);
	NEED((c->flags & (IBV_WC_WITH_IMM | IBV_WC_WITH_INV)) == flags);
	NEED(flags != IBV_WC_WITH_IMM || c->imm == htonl(q->imm));
	NEED(flags != IBV_WC_WITH_INV || c->invalidated == q->rkey);
	program_receive_check(e->receives, r, q->payload, write ? 0 : q->len, false);
	if (q->op == IBV_WR_SEND_WITH_INV)
		e->window.state = WINDOW_FREE;
}

/** Whose message began to come into @p r is not known of a shared queue. */
static void program_receive_failed(
	struct program_end *e, struct program_receive *r, const struct program_completion *c)
{
	const struct program_request *next = program_message(e->peer);

	NEED(program.broken);
	NEED(c->status == IBV_WC_WR_FLUSH_ERR || c->status == IBV_WC_LOC_LEN_ERR);
	if (e->receives_failed || !next || next->op == IBV_WR_RDMA_WRITE_WITH_IMM)
		program_receive_check(e->receives, r, NULL, 0, false);
	else
		program_receive_check(e->receives, r, next->payload, next->len, true);
	e->receives_failed = true;
}

static void program_receive_completed(
	struct program_cq *cq, struct program_end *e, const struct program_completion *c)
{
	struct program_receives *q = e->receives;
	struct program_receive *r = &q->list[c->wr_id];
	const struct program_request *message;

	NEED(c->wr_id < q->posted && r->waits);
	NEED(q->srq || c->wr_id == q->done);
	r->waits = false;
	q->done++;
	if (c->status != IBV_WC_SUCCESS) {
		program_receive_failed(e, r, c);
		q->busy[r->slot] = false;
		return;
	}
	NEED(!e->receives_failed);
	message = program_message(e->peer);
	NEED(message);
	e->peer->consumed++;
	program_check_message(e, message, r, c);
	q->busy[r->slot] = false;
	program_placed(e->peer, e->peer->consumed);
	cq->solicited_posted -= (message->flags & IBV_SEND_SOLICITED) != 0;
	if (message->turn > cq->armed_turn && cq->armed &&
		(!cq->solicited || message->flags & IBV_SEND_SOLICITED))
		cq->due = true;
}

/* ---- each ------------------------------------------------------------------------------------ */

static struct program_end *program_whose(uint32_t qp_num)
{
	for (unsigned i = 0; i < PROGRAM_ENDS; i++)
		if (program.end[i].qp && program.end[i].qp->qp_num == qp_num)
			return &program.end[i];
	NEED(!"a completion is of a queue pair that there is");
	return NULL;
}

void program_completed(struct program_cq *cq, const struct program_completion *c)
{
	struct program_end *e = program_whose(c->qp_num);
	bool receive = c->wr_id & PROGRAM_RECEIVE_ID;
	struct program_completion its = *c;

	its.wr_id = (uint32_t)c->wr_id;
	if (program.trace)
		printf("queue %u: end %u: %s %u, status %d, opcode %d, %u octets\n",
			(unsigned)(cq - program.cq), program_number(e),
			receive ? "receive" : "request", (unsigned)its.wr_id, c->status, c->opcode,
			c->byte_len);
	if (receive) {
		NEED(cq->cq == e->qp->recv_cq);
		NEED(c->status != IBV_WC_SUCCESS || c->opcode & IBV_WC_RECV);
		program_receive_completed(cq, e, &its);
		return;
	}
	NEED(cq->cq == e->qp->send_cq);
	program_request_completed(e, &its);
	if (e->request[its.wr_id].turn > cq->armed_turn && cq->armed && !cq->solicited)
		cq->due = true;
}
