/* SPDX-License-Identifier: BSD-2-Clause */
#include "many_qps.h"

#include "completion.h"

#include <errno.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANY_QPS_CQES 1024

static void many_qps_die(const char *what)
{
	fprintf(stderr, "many_qps: %s: %s\n", what, strerror(errno));
	exit(1);
}

void many_qps_post_receive(struct many_qps *m, unsigned i)
{
	struct ibv_sge sge = {(uintptr_t)m->buffer[i], MANY_QPS_MESSAGE, m->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1}, *bad;

	errno = ibv_post_srq_recv(m->srq, &wr, &bad);
	if (errno)
		many_qps_die("ibv_post_srq_recv");
}

/** What all queue pairs share. */
static void many_qps_prepare(struct many_qps *m, struct ibv_context *verbs)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = MANY_QPS_BUFFERS, .max_sge = 1}};

	if (m->pd)
		return;
	m->pd = ibv_alloc_pd(verbs);
	m->cq = ibv_create_cq(verbs, MANY_QPS_CQES, NULL, NULL, 0);
	if (!m->pd || !m->cq)
		many_qps_die("PD or CQ");
	m->srq = ibv_create_srq(m->pd, &attr);
	m->mr = ibv_reg_mr(m->pd, m->buffer, sizeof m->buffer, IBV_ACCESS_LOCAL_WRITE);
	m->block_mr = ibv_reg_mr(
		m->pd, m->block, sizeof m->block, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!m->srq || !m->mr || !m->block_mr)
		many_qps_die("SRQ or MR");
	for (unsigned i = 0; i < MANY_QPS_BUFFERS; i++)
		many_qps_post_receive(m, i);
}

/** many_qps_prepare() comes first. */
static void many_qps_make_qp(struct many_qps *m, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {.send_cq = m->cq,
		.recv_cq = m->cq,
		.srq = m->srq,
		.cap = {.max_send_wr = m->depth, .max_send_sge = 1},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1};

	if (rdma_create_qp(id, m->pd, &attr))
		many_qps_die("rdma_create_qp");
}

void many_qps_send(struct many_qps *m, struct ibv_qp *qp)
{
	struct ibv_sge sge = {
		(uintptr_t)m->buffer[MANY_QPS_BUFFERS], MANY_QPS_MESSAGE, m->mr->lkey};
	struct ibv_send_wr wr = {
		.wr_id = MANY_QPS_BUFFERS, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND};

	completion_post_send(qp, &wr);
}

struct ibv_qp *many_qps_find(const struct many_qps *m, uint32_t num)
{
	for (unsigned i = 0; i < m->made; i++)
		if (m->id[i]->qp && m->id[i]->qp->qp_num == num)
			return m->id[i]->qp;
	return NULL;
}

static void many_qps_begin(struct many_qps *m)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(m->channel, &id, NULL, RDMA_PS_TCP) ||
		rdma_resolve_addr(id, NULL, m->address->ai_dst_addr, 2000))
		many_qps_die("rdma_resolve_addr");
	m->id[m->made++] = id;
}

static void many_qps_accept(struct many_qps *m, struct rdma_cm_id *id)
{
	struct many_qps_target target;
	struct rdma_conn_param param = {.initiator_depth = 1,
		.responder_resources = 1,
		.private_data = &target,
		.private_data_len = sizeof target};

	many_qps_prepare(m, id->verbs);
	many_qps_make_qp(m, id);
	m->id[m->made++] = id;
	target = (struct many_qps_target){(uintptr_t)m->block, m->block_mr->rkey};
	if (rdma_accept(id, &param))
		many_qps_die("rdma_accept");
}

static void many_qps_ask(struct many_qps *m, struct rdma_cm_id *id)
{
	struct rdma_conn_param param = {.initiator_depth = 1, .responder_resources = 1};

	many_qps_prepare(m, id->verbs);
	many_qps_make_qp(m, id);
	if (rdma_connect(id, &param))
		many_qps_die("rdma_connect");
}

/** Handle one event of rdma_cm. */
static void many_qps_on_event(struct many_qps *m)
{
	struct rdma_cm_event *ev;

	if (rdma_get_cm_event(m->channel, &ev))
		many_qps_die("rdma_get_cm_event");
	switch (ev->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		if (rdma_resolve_route(ev->id, 2000))
			many_qps_die("rdma_resolve_route");
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		many_qps_ask(m, ev->id);
		break;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		many_qps_accept(m, ev->id);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		if (m->client && ev->param.conn.private_data_len >= sizeof m->target)
			memcpy(&m->target, ev->param.conn.private_data, sizeof m->target);
		m->connected++;
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		m->ended++;
		break;
	default:
		fprintf(stderr, "many_qps: %s, %d\n", rdma_event_str(ev->event), ev->status);
		exit(1);
	}
	rdma_ack_cm_event(ev);
}

/** Until @p n are connected. */
void many_qps_connect(struct many_qps *m, unsigned n)
{
	while (m->connected < n) {
		while (m->client && m->made < n && m->made - m->connected < MANY_QPS_UNDER_WAY)
			many_qps_begin(m);
		many_qps_on_event(m);
	}
}

void many_qps_open(struct many_qps *m, const char *address)
{
	struct rdma_addrinfo hints = {
		.ai_port_space = RDMA_PS_TCP, .ai_flags = address ? 0 : RAI_PASSIVE};

	m->client = address != NULL;
	m->id = calloc(m->n, sizeof *m->id);
	m->channel = rdma_create_event_channel();
	if (!m->id || !m->channel ||
		rdma_getaddrinfo(address ? address : "0.0.0.0", MANY_QPS_PORT, &hints, &m->address))
		many_qps_die("rdma_getaddrinfo");
	if (m->client)
		return;
	if (rdma_create_id(m->channel, &m->listener, NULL, RDMA_PS_TCP) ||
		rdma_bind_addr(m->listener, m->address->ai_src_addr) ||
		rdma_listen(m->listener, 4 * MANY_QPS_UNDER_WAY))
		many_qps_die("rdma_listen");
}

void many_qps_close(struct many_qps *m)
{
	for (unsigned i = 0; m->client && i < m->made; i++)
		rdma_disconnect(m->id[i]);
	while (m->ended < m->connected)
		many_qps_on_event(m);
}
