/* SPDX-License-Identifier: BSD-2-Clause */
#include "program.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef PROGRAM_ADDRESS /* of the host's own TCP: meson.build */
#define PROGRAM_ADDRESS "10.99.0.1"
#endif
#define SEND_WR  16
#define CQ_LEAST 200 /* all that may wait at once */
#define BUILDERS                                                                                \
	(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND | \
		IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |                       \
		IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |       \
		IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_SEND_WITH_INV)
#define FIELDS                                                                  \
	(IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM | \
		IBV_WC_EX_WITH_SRC_QP)

_Thread_local struct program program;

_Noreturn void program_fail(const char *file, int line, const char *what)
{
	fprintf(stderr, "seed %" PRIu64 ": %s:%d: not so: %s (errno: %s)\n", program.seed, file,
		line, what, strerror(errno));
	for (unsigned i = 0; i < PROGRAM_ENDS; i++) {
		const struct program_end *e = &program.end[i];

		fprintf(stderr,
			"  end %u: %u of %u requests, %u placed, %u consumed; %u of %u receives, "
			"%u "
			"promised%s\n",
			i, e->polled, e->posted, e->placed, e->consumed,
			e->receives ? e->receives->done : 0, e->receives ? e->receives->posted : 0,
			e->receives ? e->receives->promised : 0,
			e->receives && e->receives->srq ? ", shared" : "");
	}
	exit(EXIT_FAILURE);
}

/* ---- the process ----------------------------------------------------------------------------- */

static struct sockaddr *program_address(uint16_t port)
{
	static _Thread_local struct sockaddr_in sin;

	sin = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = port};
	NEED(inet_pton(AF_INET, PROGRAM_ADDRESS, &sin.sin_addr) == 1);
	return (struct sockaddr *)&sin;
}

void program_begin(void)
{
	program.channel = rdma_create_event_channel();
	NEED(program.channel);
	NEED(rdma_create_id(program.channel, &program.listener, NULL, RDMA_PS_TCP) == 0);
	NEED(rdma_bind_addr(program.listener, program_address(0)) == 0);
	NEED(rdma_listen(program.listener, 4) == 0);
	program.context = program.listener->verbs;
	NEED(program.context);
	NEED(fcntl(program.context->async_fd, F_SETFL, O_NONBLOCK) == 0);
}

void program_stop(void)
{
	NEED(rdma_destroy_id(program.listener) == 0);
	rdma_destroy_event_channel(program.channel);
}

/* ---- completion queues ----------------------------------------------------------------------- */

static void program_cq_open(struct program_cq *q, unsigned i)
{
	struct ibv_cq_init_attr_ex attr = {.cqe = CQ_LEAST + program_below(100),
		.cq_context = q,
		.wc_flags = FIELDS,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = program_chance(0.5) ? IBV_CREATE_CQ_ATTR_SINGLE_THREADED : 0};

	*q = (struct program_cq){0};
	q->channel = program_chance(0.8) ? ibv_create_comp_channel(program.context) : NULL;
	attr.channel = q->channel;
	if (i == 0) {
		q->ex = ibv_create_cq_ex(program.context, &attr);
		NEED(q->ex);
		q->cq = ibv_cq_ex_to_cq(q->ex);
	} else {
		q->cq = ibv_create_cq(program.context, (int)attr.cqe, q, q->channel, 0);
		NEED(q->cq);
	}
	NEED(q->cq->cqe >= CQ_LEAST);
}

static void program_cq_close(struct program_cq *q)
{
	program_event(q, false);
	program_ack(q, q->unacked);
	NEED(ibv_destroy_cq(q->cq) == 0);
	NEED(!q->channel || ibv_destroy_comp_channel(q->channel) == 0);
}

/* ---- queues of receives ---------------------------------------------------------------------- */

static void program_receives_open(struct program_receives *q, bool shared)
{
	struct ibv_srq_init_attr attr = {
		.attr = {.max_wr = PROGRAM_RECEIVES, .max_sge = PROGRAM_SGES}};

	memset(q, 0, sizeof *q);
	program_memory_open(&q->memory, IBV_ACCESS_LOCAL_WRITE);
	q->srq = shared ? ibv_create_srq(program.pd, &attr) : NULL;
	NEED(!shared || q->srq);
}

static void program_receives_close(struct program_receives *q)
{
	NEED(!q->srq || ibv_destroy_srq(q->srq) == 0);
	program_memory_close(&q->memory);
}

/* ---- ends ------------------------------------------------------------------------------------ */

static void program_end_make_qp(struct program_end *e)
{
	struct program_cq *receive_cq = &program.cq[program_below(PROGRAM_CQS)];
	struct ibv_qp_init_attr_ex attr = {.comp_mask = IBV_QP_INIT_ATTR_PD,
		.qp_type = IBV_QPT_RC,
		.qp_context = e,
		.send_cq = program.cq[program_below(PROGRAM_CQS)].cq,
		.recv_cq = receive_cq->cq,
		.srq = e->receives->srq,
		.pd = program.pd,
		.sq_sig_all = program_chance(0.2),
		.send_ops_flags = BUILDERS,
		.cap = {.max_send_wr = 1 + program_below(SEND_WR),
			.max_recv_wr = PROGRAM_RECEIVES,
			.max_send_sge = PROGRAM_SGES,
			.max_recv_sge = PROGRAM_SGES,
			.max_inline_data = program_chance(0.5) ? 0 : program_below(257)}};

	if (program_chance(0.5))
		attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	if (e->id)
		NEED(rdma_create_qp_ex(e->id, &attr) == 0);
	e->receive_cq = receive_cq;
	e->qp = e->id ? e->id->qp : ibv_create_qp_ex(program.context, &attr);
	NEED(e->qp);
	NEED(e->qp->qp_context == e);
	e->builder = ibv_qp_to_qp_ex(e->qp);
	NEED(!e->builder == !(attr.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS));
	e->cap = attr.cap;
	e->signals_all = attr.sq_sig_all;
}

static void program_end_open(struct program_end *e, struct rdma_cm_id *id)
{
	static const int access[PROGRAM_AREAS] = {[PROGRAM_SINK] = IBV_ACCESS_LOCAL_WRITE,
		[PROGRAM_TARGET] =
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_MW_BIND,
		[PROGRAM_READ] = IBV_ACCESS_REMOTE_READ,
		[PROGRAM_ATOMIC] = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC};
	unsigned i = program_number(e);

	memset(e, 0, sizeof *e);
	e->id = id;
	e->peer = &program.end[i ^ 1];
	e->receives = program_chance(0.4) ? &program.shared : &program.own[i];
	for (unsigned k = 0; k < PROGRAM_AREAS; k++)
		program_memory_open(&e->memory[k], access[k]);
	memset(e->memory[PROGRAM_ATOMIC].at, 0, PROGRAM_SLOT);
	e->scratch = calloc(PROGRAM_MOST, PROGRAM_SLOT);
	NEED(e->scratch);
	e->scratch_mr = ibv_reg_mr(program.pd, e->scratch, PROGRAM_MOST * PROGRAM_SLOT, 0);
	e->window.mw = ibv_alloc_mw(program.pd, IBV_MW_TYPE_2);
	NEED(e->scratch_mr && e->window.mw);
	program_end_make_qp(e);
}

static void program_end_close(struct program_end *e)
{
	if (e->qp)
		program_destroy_qp(e);
	NEED(!e->id || rdma_destroy_id(e->id) == 0);
	NEED(ibv_dealloc_mw(e->window.mw) == 0);
	NEED(ibv_dereg_mr(e->scratch_mr) == 0);
	for (unsigned k = 0; k < PROGRAM_AREAS; k++)
		program_memory_close(&e->memory[k]);
	for (unsigned i = 0; i < e->posted; i++)
		free(e->request[i].payload);
	free(e->scratch);
}

void program_destroy_qp(struct program_end *e)
{
	if (e->id)
		rdma_destroy_qp(e->id);
	else
		NEED(ibv_destroy_qp(e->qp) == 0);
	e->qp = NULL;
	e->builder = NULL;
}

/* ---- without rdma_cm ------------------------------------------------------------------------ */

static void program_bring_up(struct program_end *e)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags =
			IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = e->peer->qp->qp_num,
		.rq_psn = program_number(e->peer),
		.sq_psn = program_number(e),
		.max_rd_atomic = (uint8_t)(1 + program_below(8)),
		.max_dest_rd_atomic = (uint8_t)(1 + program_below(8)),
		.min_rnr_timer = 12,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.ah_attr = {.is_global = 1, .port_num = 1, .grh.hop_limit = 64}};

	NEED(ibv_query_gid(program.context, 1, 0, &attr.ah_attr.grh.dgid) == 0);
	NEED(ibv_modify_qp(e->qp, &attr,
		     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
	program_post_receive(e);
	attr.qp_state = IBV_QPS_RTR;
	NEED(ibv_modify_qp(e->qp, &attr,
		     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0);
	attr.qp_state = IBV_QPS_RTS;
	NEED(ibv_modify_qp(e->qp, &attr,
		     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0);
}

/** By their numbers, as programs for InfiniBand do it. */
static void program_pair(struct program_end *one, struct program_end *other)
{
	program_end_open(one, NULL);
	program_end_open(other, NULL);
	program_bring_up(one);
	program_bring_up(other);
}

/* ---- by rdma_cm ----------------------------------------------------------------------------- */

static struct rdma_cm_event *program_next(enum rdma_cm_event_type type)
{
	struct rdma_cm_event *ev;

	NEED(rdma_get_cm_event(program.channel, &ev) == 0);
	if (ev->event != type)
		fprintf(stderr, "%s\n", rdma_event_str(ev->event));
	NEED(ev->event == type && ev->status == 0);
	return ev;
}

static void program_ack_event(struct rdma_cm_event *ev)
{
	NEED(rdma_ack_cm_event(ev) == 0);
}

static void program_connect(struct program_end *active, struct program_end *passive)
{
	struct rdma_conn_param param = {
		.responder_resources = (uint8_t)(1 + program_below(8)), .initiator_depth = 8};
	struct rdma_cm_event *ev;
	struct rdma_cm_id *id;

	NEED(rdma_create_id(program.channel, &id, active, RDMA_PS_TCP) == 0);
	NEED(rdma_resolve_addr(id, NULL, program_address(rdma_get_src_port(program.listener)),
		     PROGRAM_PATIENCE_S * 1000) == 0);
	program_ack_event(program_next(RDMA_CM_EVENT_ADDR_RESOLVED));
	NEED(rdma_resolve_route(id, PROGRAM_PATIENCE_S * 1000) == 0);
	program_ack_event(program_next(RDMA_CM_EVENT_ROUTE_RESOLVED));
	program_end_open(active, id);
	NEED(rdma_connect(id, &param) == 0);
	ev = program_next(RDMA_CM_EVENT_CONNECT_REQUEST);
	NEED(ev->listen_id == program.listener);
	param.initiator_depth = ev->param.conn.initiator_depth;
	param.responder_resources = ev->param.conn.responder_resources;
	program_end_open(passive, ev->id);
	program_ack_event(ev);
	NEED(rdma_accept(passive->id, &param) == 0);
	for (unsigned seen = 0; seen != 3;) {
		ev = program_next(RDMA_CM_EVENT_ESTABLISHED);
		NEED(ev->id == active->id || ev->id == passive->id);
		seen += ev->id == active->id ? 1 : 2;
		program_ack_event(ev);
	}
}

void program_open(uint64_t seed)
{
	program.seed = seed;
	program.random = (struct prng){seed};
	program.turn = 0;
	program.broken = false;
	program.pd = ibv_alloc_pd(program.context);
	NEED(program.pd);
	for (unsigned i = 0; i < PROGRAM_CQS; i++)
		program_cq_open(&program.cq[i], i);
	program_receives_open(&program.shared, true);
	for (unsigned i = 0; i < PROGRAM_ENDS; i++)
		program_receives_open(&program.own[i], false);
	for (unsigned i = 0; i < PROGRAM_ENDS; i += 2)
		(program_chance(0.3) ? program_pair : program_connect)(
			&program.end[i], &program.end[i + 1]);
}

void program_close(void)
{
	for (unsigned i = 0; i < PROGRAM_ENDS; i++)
		program_end_close(&program.end[i]);
	program_receives_close(&program.shared);
	for (unsigned i = 0; i < PROGRAM_ENDS; i++)
		program_receives_close(&program.own[i]);
	for (unsigned i = 0; i < PROGRAM_CQS; i++)
		program_cq_close(&program.cq[i]);
	NEED(ibv_dealloc_pd(program.pd) == 0);
}
