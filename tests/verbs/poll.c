/* SPDX-License-Identifier: BSD-2-Clause */
/* How completions are polled, and waited for. */
#include "program.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>

#define WC_MOST 5

static void program_poll_list(struct program_cq *q, int n, const struct ibv_wc *wc)
{
	for (int i = 0; i < n; i++) {
		struct program_completion c = {.wr_id = wc[i].wr_id,
			.status = wc[i].status,
			.opcode = wc[i].opcode,
			.byte_len = wc[i].byte_len,
			.imm = wc[i].imm_data,
			.invalidated = wc[i].invalidated_rkey,
			.qp_num = wc[i].qp_num,
			.flags = wc[i].wc_flags};

		program_completed(q, &c);
	}
}

/** What the functions of an extended queue say of the present one. */
static void program_read_one(struct program_cq *q)
{
	struct ibv_cq_ex *x = q->ex;
	struct program_completion c = {
		.wr_id = x->wr_id, .status = x->status, .qp_num = ibv_wc_read_qp_num(x)};

	if (c.status == IBV_WC_SUCCESS) {
		c.opcode = ibv_wc_read_opcode(x);
		c.byte_len = ibv_wc_read_byte_len(x);
		c.flags = ibv_wc_read_wc_flags(x);
		c.imm = ibv_wc_read_imm_data(x);
		c.invalidated = ibv_wc_read_invalidated_rkey(x);
	}
	program_completed(q, &c);
}

static unsigned program_poll_extended(struct program_cq *q)
{
	unsigned n = 0, most = 1 + program_below(WC_MOST);
	int rc = ibv_start_poll(q->ex, &(struct ibv_poll_cq_attr){0});

	if (rc == ENOENT)
		return 0;
	NEED(rc == 0);
	do {
		program_read_one(q);
		n++;
	} while (n < most && (rc = ibv_next_poll(q->ex)) == 0);
	NEED(rc == 0 || rc == ENOENT);
	ibv_end_poll(q->ex);
	return n;
}

unsigned program_poll(struct program_cq *q)
{
	struct ibv_wc wc[WC_MOST];
	int n;

	if (q->ex && program_chance(0.7))
		return program_poll_extended(q);
	n = ibv_poll_cq(q->cq, 1 + (int)program_below(WC_MOST), wc);
	NEED(n >= 0);
	program_poll_list(q, n, wc);
	return (unsigned)n;
}

unsigned program_poll_all(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < PROGRAM_CQS; i++)
		n += program_poll(&program.cq[i]);
	return n;
}

/* ---- events ---------------------------------------------------------------------------------- */

/** To ask for any, when solicited ones were asked for, asks for any. */
void program_arm(struct program_cq *q)
{
	bool solicited = program_chance(0.3);

	if (!q->channel)
		return;
	NEED(ibv_req_notify_cq(q->cq, solicited) == 0);
	if (program.trace)
		printf("queue %u: armed%s\n", (unsigned)(q - program.cq),
			solicited ? " for solicited" : "");
	q->asked++;
	if (!q->armed || (q->solicited && !solicited)) {
		q->solicited = solicited;
		q->armed_turn = program.turn;
		q->cause = !solicited || q->solicited_posted || q->asked > 1;
	}
	q->armed = true;
}

void program_event(struct program_cq *q, bool wait)
{
	struct pollfd p = {.events = POLLIN};
	struct ibv_cq *of;
	void *context;
	int n;

	if (!q->channel)
		return;
	p.fd = q->channel->fd;
	n = poll(&p, 1, wait ? PROGRAM_PATIENCE_S * 1000 : 0);
	NEED(n == 1 || !wait);
	if (n == 0)
		return;
	NEED(ibv_get_cq_event(q->channel, &of, &context) == 0);
	NEED(of == q->cq && context == q);
	if (program.trace)
		printf("queue %u: event\n", (unsigned)(q - program.cq));
	NEED(q->asked);
	NEED(q->cause || program.broken);
	q->asked--;
	q->armed = q->due = false; /* another, asked for since, may have been the same */
	q->unacked++;
}

void program_ack(struct program_cq *q, unsigned n)
{
	if (n)
		ibv_ack_cq_events(q->cq, n);
	q->unacked -= n;
}
