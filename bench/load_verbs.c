/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends of reliable queue pairs that rdma_cm connects. The receiver tells what it has taken, so
 * that a message always finds its receive. */
#include "load.h"

#include "completion.h"

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdlib.h>
#include <string.h>

/** Messages under way on one connection, and on all; what a receiver tells of at once is a quarter
 * of the former. */
#define VERBS_DEPTH 128
#define VERBS_ALL   1024
#define VERBS_LEAST 16

struct verbs_connection {
	struct rdma_cm_id *id;
	uint8_t *memory; /**< depth messages, to be sent or received */
	uint32_t lkey;
	unsigned sent, room; /**< sender: sent, and that may be sent still */
	unsigned received;   /**< receiver */
};

struct verbs {
	struct rdma_cm_id *listener;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint8_t *memory;
	struct verbs_connection *connection;
	unsigned n, depth;
	size_t size;
	bool sender;
};

/** Work request identifiers: a connection, and the place of its message; without the place: what
 * tells of others. */
#define VERBS_NO_PLACE 0xffffu

static uint64_t verbs_wr_id(unsigned connection, unsigned place)
{
	return (uint64_t)connection << 16 | place;
}

static void verbs_post_receive(struct verbs *v, unsigned connection, unsigned place)
{
	struct verbs_connection *c = &v->connection[connection];
	struct ibv_sge sge = {(uintptr_t)(c->memory + place * v->size), (uint32_t)v->size, c->lkey};
	struct ibv_recv_wr wr = {
		.wr_id = verbs_wr_id(connection, place), .sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad;

	if (v->sender)
		wr = (struct ibv_recv_wr){.wr_id = verbs_wr_id(connection, VERBS_NO_PLACE)};
	errno = ibv_post_recv(c->id->qp, &wr, &bad);
	if (errno)
		err(1, "ibv_post_recv");
}

/* ---- connecting --------------------------------------------------------------------------- */

static void verbs_prepare(struct verbs *v, unsigned i)
{
	struct verbs_connection *c = &v->connection[i];
	struct ibv_qp_init_attr attr = {.cap = {.max_send_wr = v->depth + 4,
						.max_recv_wr = v->depth + 4,
						.max_send_sge = 1,
						.max_recv_sge = 1},
		.qp_type = IBV_QPT_RC};
	size_t bytes = v->n * v->depth * v->size;

	if (!v->cq) {
		v->memory = aligned_alloc(4096, (bytes + 4095) & ~(size_t)4095);
		v->cq = ibv_create_cq(
			c->id->verbs, (int)(2 * v->n * (v->depth + 4)), NULL, NULL, 0);
		if (!v->memory || !v->cq)
			err(1, "memory or CQ");
		memset(v->memory, 1, bytes);
		v->mr = ibv_reg_mr(c->id->pd, v->memory, bytes, IBV_ACCESS_LOCAL_WRITE);
		if (!v->mr)
			err(1, "ibv_reg_mr");
	}
	attr.send_cq = attr.recv_cq = v->cq;
	if (rdma_create_qp(c->id, v->mr->pd, &attr))
		err(1, "rdma_create_qp");
	c->memory = v->memory + i * v->depth * v->size;
	c->lkey = v->mr->lkey;
	c->room = v->depth;
	for (unsigned place = 0; place < (v->sender ? 8 : v->depth); place++)
		verbs_post_receive(v, i, place);
}

static void *verbs_open(const struct load_options *o)
{
	struct rdma_addrinfo hints = {
		.ai_port_space = RDMA_PS_TCP, .ai_flags = o->address ? 0 : RAI_PASSIVE};
	struct rdma_conn_param param = {.initiator_depth = 1, .responder_resources = 1};
	struct rdma_addrinfo *at;
	struct verbs *v = calloc(1, sizeof *v);

	if (!v)
		err(1, "memory");
	v->n = o->connections;
	v->size = o->size;
	v->sender = o->address != NULL;
	v->depth = VERBS_ALL / v->n > VERBS_DEPTH ? VERBS_DEPTH : VERBS_ALL / v->n;
	v->depth = v->depth < VERBS_LEAST ? VERBS_LEAST : v->depth & ~3u;
	v->connection = calloc(v->n, sizeof *v->connection);
	if (!v->connection ||
		rdma_getaddrinfo(o->address ? o->address : "0.0.0.0", o->port, &hints, &at))
		err(1, "rdma_getaddrinfo");
	if (!v->sender && (rdma_create_ep(&v->listener, at, NULL, NULL) ||
				  rdma_listen(v->listener, (int)v->n)))
		err(1, "rdma_listen");
	for (unsigned i = 0; i < v->n; i++) {
		struct rdma_cm_id **id = &v->connection[i].id;

		if (v->sender ? rdma_create_ep(id, at, NULL, NULL)
			      : rdma_get_request(v->listener, id))
			err(1, "connection");
		verbs_prepare(v, i);
		if (v->sender ? rdma_connect(*id, &param) : rdma_accept(*id, &param))
			err(1, "connection");
	}
	rdma_freeaddrinfo(at);
	return v;
}

/* ---- messages ----------------------------------------------------------------------------- */

static bool verbs_send(void *transport, unsigned connection, uint64_t stamp)
{
	struct verbs *v = transport;
	struct verbs_connection *c = &v->connection[connection];
	unsigned place = c->sent % v->depth;
	uint8_t *message = c->memory + place * v->size;
	struct ibv_sge sge = {(uintptr_t)message, (uint32_t)v->size, c->lkey};
	struct ibv_send_wr wr = {.wr_id = verbs_wr_id(connection, place),
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = (c->sent + 1) % (v->depth / 4) == 0 ? IBV_SEND_SIGNALED : 0};

	if (!c->room)
		return false;
	memcpy(message, &stamp, sizeof stamp);
	completion_post_send(c->id->qp, &wr);
	c->sent++;
	c->room--;
	return true;
}

/** Of a quarter of the messages at once; its own completion is not needed. */
static void verbs_tell(struct verbs *v, unsigned connection)
{
	struct verbs_connection *c = &v->connection[connection];
	struct ibv_send_wr wr = {.wr_id = verbs_wr_id(connection, VERBS_NO_PLACE),
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED};

	if (++c->received % (v->depth / 4) == 0)
		completion_post_send(c->id->qp, &wr);
}

static void verbs_poll(void *transport, load_arrived_fn *arrived, void *ctx)
{
	struct verbs *v = transport;
	struct ibv_wc wc[16];
	unsigned n = completion_reap(v->cq, wc, 16);

	for (unsigned i = 0; i < n; i++) {
		unsigned connection = (unsigned)(wc[i].wr_id >> 16), place = wc[i].wr_id & 0xffff;
		struct verbs_connection *c = &v->connection[connection];
		uint64_t stamp;

		if (!(wc[i].opcode & IBV_WC_RECV))
			continue;
		if (v->sender) {
			c->room += v->depth / 4;
		} else {
			memcpy(&stamp, c->memory + place * v->size, sizeof stamp);
			arrived(ctx, stamp);
			verbs_tell(v, connection);
		}
		verbs_post_receive(v, connection, place);
	}
}

static void verbs_close(void *transport)
{
	struct verbs *v = transport;

	/* rdma_disconnect() ends in good order: what was sent arrives before. */
	for (unsigned i = 0; i < v->n; i++) {
		rdma_disconnect(v->connection[i].id);
		rdma_destroy_ep(v->connection[i].id);
	}
	ibv_dereg_mr(v->mr);
	ibv_destroy_cq(v->cq);
	if (v->listener)
		rdma_destroy_ep(v->listener);
	free(v->connection);
	free(v->memory);
	free(v);
}

const struct load_transport load_verbs = {"verbs", verbs_open, verbs_send, verbs_poll, verbs_close};
