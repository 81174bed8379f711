/* SPDX-License-Identifier: BSD-2-Clause */
#include "mesh.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#define RESOLVE_MS 60000

/* Others may be too busy to take a connection at once: a host's backlog is short. */
#define BACKLOG MESH_MOST

static struct sockaddr_in mesh_place(const struct mesh *m, unsigned rank)
{
	struct sockaddr_in sa = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)(m->port + (int)rank))};

	if (inet_pton(AF_INET, m->address, &sa.sin_addr) != 1)
		mesh_die("%s is no IPv4 address", m->address);
	return sa;
}

void mesh_listen(struct mesh *m)
{
	struct sockaddr_in sa = mesh_place(m, m->rank);

	m->events = rdma_create_event_channel();
	mesh_need(m->events != NULL, "rdma_create_event_channel");
	mesh_need(
		rdma_create_id(m->events, &m->listener, NULL, RDMA_PS_TCP) == 0, "rdma_create_id");
	mesh_need(rdma_bind_addr(m->listener, (struct sockaddr *)&sa) == 0, "rdma_bind_addr");
	mesh_need(rdma_listen(m->listener, BACKLOG) == 0, "rdma_listen");
}

void mesh_connect(struct mesh *m, unsigned rank)
{
	struct sockaddr_in sa = mesh_place(m, rank);
	struct mesh_peer *p = &m->peer[rank];

	mesh_need(rdma_create_id(m->events, &p->id, p, RDMA_PS_TCP) == 0, "rdma_create_id");
	mesh_need(rdma_resolve_addr(p->id, NULL, (struct sockaddr *)&sa, RESOLVE_MS) == 0,
		"rdma_resolve_addr");
}

/** What all connections share, of the device of the first. */
static void mesh_open(struct mesh *m, struct ibv_context *device)
{
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

	if (m->pd)
		return;
	m->memory = calloc(1, sizeof *m->memory);
	mesh_need(m->memory != NULL, "calloc");
	m->pd = ibv_alloc_pd(device);
	mesh_need(m->pd != NULL, "ibv_alloc_pd");
	m->mr = ibv_reg_mr(m->pd, m->memory, sizeof *m->memory, access);
	mesh_need(m->mr != NULL, "ibv_reg_mr");
	m->channel = ibv_create_comp_channel(device);
	mesh_need(m->channel != NULL, "ibv_create_comp_channel");
	m->cq = ibv_create_cq(device, (int)(m->size * (MESH_RECVS + 4)), NULL, m->channel, 0);
	mesh_need(m->cq != NULL, "ibv_create_cq");
	mesh_need(ibv_req_notify_cq(m->cq, 0) == 0, "ibv_req_notify_cq");
	mesh_fill(m);
}

static void mesh_create_qp(struct mesh *m, struct mesh_peer *p)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 4,
			.max_recv_wr = MESH_RECVS,
			.max_send_sge = 1,
			.max_recv_sge = 1}};

	mesh_open(m, p->id->verbs);
	attr.send_cq = attr.recv_cq = m->cq;
	mesh_need(rdma_create_qp(p->id, m->pd, &attr) == 0, "rdma_create_qp");
	p->id->qp->qp_context = p;
	mesh_post_receives(m, (unsigned)(p - m->peer));
}

static struct rdma_conn_param mesh_param(const struct mesh *m, struct mesh_hello *hello)
{
	*hello = (struct mesh_hello){
		.addr = (uintptr_t)m->memory, .rkey = m->mr->rkey, .rank = m->rank};
	return (struct rdma_conn_param){.private_data = hello,
		.private_data_len = sizeof *hello,
		.responder_resources = 4,
		.initiator_depth = 4};
}

/** The listener gives a new id; who it is of is in the private data. */
static void mesh_asked(struct mesh *m, const struct rdma_cm_event *ev)
{
	struct rdma_conn_param param;
	struct mesh_hello hello, ours;
	struct mesh_peer *p;

	if (ev->param.conn.private_data_len < sizeof hello)
		mesh_die("a request without private data");
	memcpy(&hello, ev->param.conn.private_data, sizeof hello);
	if (hello.rank >= m->rank || m->peer[hello.rank].id)
		mesh_die("rank %u connects here", hello.rank);
	p = &m->peer[hello.rank];
	p->hello = hello;
	p->id = ev->id;
	p->id->context = p;
	mesh_create_qp(m, p);
	param = mesh_param(m, &ours);
	mesh_need(rdma_accept(p->id, &param) == 0, "rdma_accept");
}

static void mesh_ask(struct mesh *m, struct mesh_peer *p)
{
	struct rdma_conn_param param;
	struct mesh_hello ours;

	mesh_create_qp(m, p);
	param = mesh_param(m, &ours);
	mesh_need(rdma_connect(p->id, &param) == 0, "rdma_connect");
}

static void mesh_is_up(struct mesh *m, struct mesh_peer *p, const struct rdma_cm_event *ev)
{
	if ((unsigned)(p - m->peer) > m->rank) {
		if (ev->param.conn.private_data_len < sizeof p->hello)
			mesh_die("an answer without private data");
		memcpy(&p->hello, ev->param.conn.private_data, sizeof p->hello);
		if (p->hello.rank != (unsigned)(p - m->peer))
			mesh_die("rank %u answers for another", p->hello.rank);
	}
	m->up++;
}

void mesh_cm_event(struct mesh *m)
{
	struct rdma_cm_event *ev;
	struct mesh_peer *p;

	mesh_need(rdma_get_cm_event(m->events, &ev) == 0, "rdma_get_cm_event");
	p = ev->id->context;
	switch (ev->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		mesh_need(rdma_resolve_route(ev->id, RESOLVE_MS) == 0, "rdma_resolve_route");
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		mesh_ask(m, p);
		break;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		mesh_asked(m, ev);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		mesh_is_up(m, p, ev);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		if (m->round < m->rounds || !mesh_reads_are_over(m))
			mesh_die("rank %u is gone", (unsigned)(p - m->peer));
		rdma_disconnect(ev->id);
		m->up--;
		break;
	default:
		mesh_die("rank %u: %s, status %d", p ? (unsigned)(p - m->peer) : m->rank,
			rdma_event_str(ev->event), ev->status);
	}
	rdma_ack_cm_event(ev);
}

void mesh_disconnect(struct mesh *m)
{
	for (unsigned q = m->rank + 1; q < m->size; q++)
		mesh_need(rdma_disconnect(m->peer[q].id) == 0, "rdma_disconnect");
}

void mesh_close(struct mesh *m)
{
	for (unsigned q = 0; q < m->size; q++) {
		if (q == m->rank)
			continue;
		rdma_destroy_qp(m->peer[q].id);
		mesh_need(rdma_destroy_id(m->peer[q].id) == 0, "rdma_destroy_id");
	}
	mesh_need(ibv_destroy_cq(m->cq) == 0, "ibv_destroy_cq");
	ibv_destroy_comp_channel(m->channel);
	mesh_need(ibv_dereg_mr(m->mr) == 0, "ibv_dereg_mr");
	mesh_need(ibv_dealloc_pd(m->pd) == 0, "ibv_dealloc_pd");
	rdma_destroy_id(m->listener);
	rdma_destroy_event_channel(m->events);
	free(m->memory);
}
