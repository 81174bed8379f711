/* SPDX-License-Identifier: BSD-2-Clause */
/* All is done; then it is over. */
#include "program.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/** Completions, as they come. */
static void program_wait(bool (*done)(struct program_end *e))
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (unsigned i = 0; i < PROGRAM_ENDS; i++) {
		while (!done(&program.end[i])) {
			if (program_poll_all())
				clock_gettime(CLOCK_MONOTONIC, &begin);
			clock_gettime(CLOCK_MONOTONIC, &now);
			NEED(now.tv_sec - begin.tv_sec < PROGRAM_PATIENCE_S);
		}
	}
}

/* ---- rest ------------------------------------------------------------------------------------ */

static bool program_is_done(struct program_end *e)
{
	return e->polled == e->posted && !program_message(e->peer);
}

static void program_check_rest(struct program_end *e)
{
	const struct program_receives *q = e->receives;

	NEED(e->placed + 1 == e->posted); /* all before the Read */
	NEED(e->window.users == 0);
	NEED(memcmp(e->memory[PROGRAM_ATOMIC].at, e->atomic, sizeof e->atomic) == 0);
	/* A shared queue gives its oldest to whoever comes. */
	for (unsigned i = 0; i < q->done; i++)
		NEED(!q->list[i].waits);
}

void program_rest(void)
{
	for (unsigned i = 0; i < PROGRAM_ENDS; i++)
		while (!program_post_last(&program.end[i]))
			(void)program_poll_all();
	program_wait(program_is_done);
	for (unsigned i = 0; i < PROGRAM_ENDS; i++)
		program_check_rest(&program.end[i]);
	for (unsigned i = 0; i < PROGRAM_CQS; i++)
		program_event(&program.cq[i], program.cq[i].due);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void program_to_error(struct program_end *e)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	NEED(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE) == 0);
}

static void program_end_one(struct program_end *e)
{
	switch (program_below(4)) {
	case 0:
		if (program_post_illegal(e))
			return;
		program_to_error(e);
		break;
	case 1:
		if (e->id)
			NEED(rdma_disconnect(e->id) == 0);
		else
			program_to_error(e);
		break;
	case 2:
		program_to_error(e);
		break;
	default:
		program_destroy_qp(e);
	}
	/* Without rdma_cm a peer hears of an end when it sends, and its retries' time is over. */
	if (!e->id)
		program_to_error(e->peer);
}

/**
 * Without rdma_cm a peer that ends in good order is noticed by who sends. What is sent first may
 * succeed: its TCP has it.
 */
static void program_notice(struct program_end *e)
{
	if (e->posted == PROGRAM_MOST)
		program_to_error(e);
	else
		(void)program_post_nothing(e);
}

static bool program_is_over(struct program_end *e)
{
	const struct program_receives *q = e->receives;

	if (e->qp && !e->id && !e->sends_failed && e->polled == e->posted)
		program_notice(e);
	return !e->qp || (e->polled == e->posted && (q->srq || q->done == q->posted));
}

/** Both ends of each connection hear of it, once. */
static void program_hear_disconnected(void)
{
	struct rdma_cm_event *ev;
	unsigned seen = 0;

	for (unsigned i = 0; i < PROGRAM_ENDS; i++) {
		unsigned of = 0;

		if (!program.end[i].id)
			continue;
		NEED(rdma_get_cm_event(program.channel, &ev) == 0);
		NEED(ev->event == RDMA_CM_EVENT_DISCONNECTED);
		while (of < PROGRAM_ENDS && program.end[of].id != ev->id)
			of++;
		NEED(of < PROGRAM_ENDS && !(seen & 1U << of));
		seen |= 1U << of;
		NEED(rdma_ack_cm_event(ev) == 0);
	}
}

static void program_check_async(const struct ibv_async_event *ev)
{
	const struct program_end *e;

	switch (ev->event_type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		e = ev->element.qp->qp_context;
		NEED(e->peer->peer == e);
		break;
	default:
		NEED(ev->event_type == IBV_EVENT_GID_CHANGE ||
			ev->event_type == IBV_EVENT_PORT_ACTIVE ||
			ev->event_type == IBV_EVENT_PORT_ERR);
	}
}

/** Of any thread's queue pairs: they share the context. */
static void program_read_async(void)
{
	struct ibv_async_event ev;

	while (ibv_get_async_event(program.context, &ev) == 0) {
		program_check_async(&ev);
		ibv_ack_async_event(&ev);
	}
	NEED(errno == EAGAIN);
}

void program_end(void)
{
	program.broken = true;
	for (unsigned i = 0; i < PROGRAM_ENDS; i += 2)
		program_end_one(&program.end[i + program_below(2)]);
	for (unsigned i = 0; i < PROGRAM_ENDS; i++) {
		struct program_end *e = &program.end[i];

		program_post(e);
		program_post_receive(e);
		while (e->qp && !program_post_nothing(e))
			(void)program_poll_all();
	}
	program_wait(program_is_over);
	program_hear_disconnected();
	program_read_async();
}
