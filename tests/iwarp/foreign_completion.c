/* SPDX-License-Identifier: BSD-2-Clause */
#include "foreign_host.h"

#include <assert.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void succeeded(struct foreign_host *h, struct request *q)
{
	struct window *window = &h->world->window[q->window];

	if (h->send_failed)
		return world_wrong(h->world, "a request succeeds behind one that failed");
	if (request_is_read(q) && !world_has_answered(h->world, q))
		return world_wrong(h->world, "a Read or Atomic succeeds that was not answered");
	q->done = true;
	if (request_is_read(q))
		foreign_memory_answered(h, q);
	if (q->kind == REQUEST_BIND)
		window->state = WINDOW_BOUND;
	window->used = window->used || q->kind == REQUEST_BIND;
	if (q->kind == REQUEST_INVALIDATE)
		window->state = WINDOW_FREE;
}

static uint8_t op_of(const struct request *q)
{
	static const uint8_t op[] = {[REQUEST_SEND] = RDMAP_WC_SEND,
		[REQUEST_WRITE] = RDMAP_WC_WRITE,
		[REQUEST_WRITE_IMM] = RDMAP_WC_WRITE,
		[REQUEST_READ] = RDMAP_WC_READ,
		[REQUEST_FETCH_ADD] = RDMAP_WC_FETCH_ADD,
		[REQUEST_CMP_SWAP] = RDMAP_WC_CMP_SWAP,
		[REQUEST_BIND] = RDMAP_WC_BIND_MW,
		[REQUEST_INVALIDATE] = RDMAP_WC_LOCAL_INV};

	return op[q->kind];
}

static void request_done(struct foreign_host *h, const struct rdmap_wc *wc)
{
	struct foreign_world *w = h->world;
	struct request *q;

	/* Those before it that made no completion have succeeded. */
	while (w->polled < wc->wr_id && w->polled < w->requests && !w->request[w->polled].signaled)
		succeeded(h, &w->request[w->polled++]);
	if (wc->wr_id != w->polled || w->polled == w->requests)
		return world_wrong(w, "a request completes out of order, or twice");
	q = &w->request[w->polled++];
	if (wc->op != op_of(q))
		return world_wrong(w, "a completion is of another operation");
	if (wc->status == RDMAP_WC_SUCCESS && !q->signaled)
		return world_wrong(w, "a request completes that was not signaled");
	if (wc->status == RDMAP_WC_SUCCESS)
		return succeeded(h, q);
	h->send_failed = true;
}

static bool is_immediate(const struct delivery *d)
{
	return d->opcode == FOREIGN_IMMEDIATE || d->opcode == FOREIGN_IMMEDIATE_SE;
}

static bool is_invalidate(const struct delivery *d)
{
	return d->opcode == FOREIGN_SEND_INV || d->opcode == FOREIGN_SEND_SE_INV;
}

static void check_message(
	struct foreign_host *h, const struct rdmap_wc *wc, const struct delivery *d)
{
	bool solicited = d->opcode == FOREIGN_SEND_SE || d->opcode == FOREIGN_SEND_SE_INV ||
			 d->opcode == FOREIGN_IMMEDIATE_SE;
	unsigned flags = (solicited ? RDMAP_WC_SOLICITED : 0u) |
			 (is_invalidate(d) ? RDMAP_WC_WITH_INV : 0u) |
			 (is_immediate(d) ? RDMAP_WC_WITH_IMM : 0u);

	if (wc->flags != flags || wc->op != (is_immediate(d) ? RDMAP_WC_RECV_IMM : RDMAP_WC_RECV))
		world_wrong(h->world, "a message is told as another kind");
	else if (wc->byte_len != (is_immediate(d) ? d->write_len : d->len))
		world_wrong(h->world, "a message is told with another length");
	else if (is_immediate(d) ? wc->imm != d->imm : is_invalidate(d) && wc->inv_stag != d->stag)
		world_wrong(h->world, "a message is told with other data");
}

static void window_ended(struct foreign_world *w, uint32_t stag)
{
	for (unsigned i = 0; i < WINDOWS; i++)
		if (w->window[i].stag == stag)
			w->window[i].state = WINDOW_FREE;
}

static void receive_done(struct foreign_host *h, const struct rdmap_wc *wc)
{
	struct foreign_world *w = h->world;
	const struct delivery *d = &w->delivery[w->received];

	if (wc->wr_id != (FOREIGN_RECV_ID | w->received) || w->received == w->receives)
		return world_wrong(w, "a receive completes out of order, or twice");
	w->received++;
	if (wc->status != RDMAP_WC_SUCCESS) {
		h->recv_failed = true;
		return;
	}
	if (h->recv_failed)
		return world_wrong(w, "a receive succeeds behind one that failed");
	if (w->received > w->deliveries || d->late)
		return world_wrong(w, "a receive succeeds without a message");
	w->receive[w->received - 1].done = true;
	check_message(h, wc, d);
	foreign_memory_received(h, &w->receive[w->received - 1], d);
	foreign_memory_check_writes(h, d->placed);
	if (is_invalidate(d))
		window_ended(w, d->stag);
}

void foreign_host_poll(struct foreign_host *h)
{
	struct rnic_wc wc;

	while (!h->world->wrong && rnic_cq_poll(h->pair.a.cq, 1, &wc) == 1) {
		if (h->world->trace)
			printf("host: completion of %llx, op %u, status %u\n",
				(unsigned long long)wc.wc.wr_id, wc.wc.op, wc.wc.status);
		if (wc.wc.wr_id & FOREIGN_RECV_ID)
			receive_done(h, &wc.wc);
		else
			request_done(h, &wc.wc);
	}
}

bool foreign_host_is_idle(const struct foreign_host *h)
{
	const struct foreign_world *w = h->world;

	for (unsigned i = w->polled; i < w->requests; i++) {
		const struct request *q = &w->request[i];

		if (q->signaled || (!request_is_local(q) && !q->seen) ||
			(request_is_read(q) && !q->answered))
			return false;
	}
	return w->received >= w->deliveries;
}

/* ---- the end ----------------------------------------------------------------------------------
 */

static void check_clean(struct foreign_host *h)
{
	struct foreign_world *w = h->world;

	if (h->send_failed)
		world_wrong(w, "a request fails for no reason");
	while (!w->wrong && w->polled < w->requests && !w->request[w->polled].signaled)
		succeeded(h, &w->request[w->polled++]);
	for (unsigned i = 0; i < w->deliveries && i < w->receives; i++)
		if (!w->receive[i].done)
			return world_wrong(w, "a message is not told of");
	if (w->deliveries > w->receives)
		world_wrong(w, "the test has posted too few receives");
}

/** The peer was to blame, and the host has said so. */
static void check_bad_end(struct foreign_host *h)
{
	const struct side *s = &h->pair.a;
	bool cut_off = h->peer->terminate == FOREIGN_CODE(2, 0, 1);

	if (pair_last(s)->status != (cut_off ? -ECONNRESET : -EPROTO))
		world_wrong(h->world, "the end of the stream is told with another error");
	if (s->n_events != !cut_off)
		world_wrong(h->world, "an error of the peer is not told by one event");
}

void foreign_host_check_end(struct foreign_host *h, bool clean)
{
	struct foreign_world *w = h->world;
	const struct side *s = &h->pair.a;

	foreign_host_poll(h);
	if (clean)
		check_clean(h);
	while (w->polled < w->requests && !w->request[w->polled].signaled && !h->send_failed)
		w->polled++;
	if (w->polled != w->requests)
		world_wrong(w, "a request has no completion");
	if (w->received != w->receives)
		world_wrong(w, "a receive has no completion");
	if (pair_count(s, RNIC_EP_ESTABLISHED) > 1 || pair_count(s, RNIC_EP_DISCONNECTED) != 1)
		world_wrong(w, "the end of the stream is not told once");
	if (clean && pair_last(s)->status != 0)
		world_wrong(w, "an orderly end is told as an error");
	if (clean && s->n_events)
		world_wrong(w, "an orderly end is an event of the queue pair");
	if (w->broken && h->peer->terminate >= 0 && !w->excused && !w->stopped)
		check_bad_end(h);
	foreign_memory_check_end(h, clean);
}
