/* SPDX-License-Identifier: BSD-2-Clause */
#include "fixture.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct fixture fx;

/* ---- the device ------------------------------------------------------------------------------ */

struct ibv_device *fixture_device(struct ibv_device ***list)
{
	int n = 0;

	*list = ibv_get_device_list(&n);
	assert_non_null(*list);
	for (int i = 0; i < n; i++)
		if (strcmp(ibv_get_device_name((*list)[i]), "uiw0") == 0)
			return (*list)[i];
	fail_msg("there is no uiw0");
	return NULL;
}

int fixture_open(void **state)
{
	struct ibv_device **list;

	fx.context = ibv_open_device(fixture_device(&list));
	ibv_free_device_list(list);
	return fx.context == NULL;
}

int fixture_close(void **state)
{
	return ibv_close_device(fx.context);
}

/* ---- alone ----------------------------------------------------------------------------------- */

#define BUILDERS                                                                         \
	(IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_LOCAL_INV | \
		IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ)

void lone_open(struct lone *l, const struct ibv_qp_cap *cap, int cqe, bool extended)
{
	struct ibv_qp_init_attr_ex a = {.comp_mask = IBV_QP_INIT_ATTR_PD,
		.send_ops_flags = BUILDERS,
		.qp_type = IBV_QPT_RC,
		.cap = *cap};

	l->pd = ibv_alloc_pd(fx.context);
	l->cq = ibv_create_cq(fx.context, cqe, NULL, NULL, 0);
	assert_non_null(l->pd);
	assert_non_null(l->cq);
	a.pd = l->pd;
	a.send_cq = a.recv_cq = l->cq;
	if (extended)
		a.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	l->qp = ibv_create_qp_ex(fx.context, &a);
	assert_non_null(l->qp);
	l->cap = a.cap;
}

void lone_close(struct lone *l)
{
	assert_int_equal(ibv_destroy_qp(l->qp), 0);
	assert_int_equal(ibv_destroy_cq(l->cq), 0);
	assert_int_equal(ibv_dealloc_pd(l->pd), 0);
}

int qp_go(struct ibv_qp *qp, enum ibv_qp_state to)
{
	struct ibv_qp_attr attr = {.qp_state = to, .port_num = 1};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | (to == IBV_QPS_INIT ? IBV_QP_PORT : 0));
}

/* ---- a connection ---------------------------------------------------------------------------- */

static void make_qp(struct end *e, bool signal_all, bool shared)
{
	struct ibv_qp_init_attr_ex attr = {
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = signal_all,
		.send_ops_flags = BUILDERS,
		.cap = {.max_send_wr = 4,
			.max_recv_wr = 4,
			.max_send_sge = 2,
			.max_recv_sge = 2,
			.max_inline_data = 16},
	};
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 4, .max_sge = 2}};
	const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			   IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;

	if (shared) {
		e->srq = ibv_create_srq(e->id->pd, &srq);
		assert_non_null(e->srq);
	}
	attr.pd = e->id->pd;
	attr.srq = e->srq;
	assert_int_equal(rdma_create_qp_ex(e->id, &attr), 0);
	e->buf = calloc(1, FIXTURE_SIZE);
	e->mr = ibv_reg_mr(e->id->pd, e->buf, FIXTURE_SIZE, access);
	assert_non_null(e->mr);
}

static void unmake_qp(struct end *e)
{
	rdma_destroy_qp(e->id);
	assert_int_equal(ibv_dereg_mr(e->mr), 0);
	if (e->srq != NULL)
		assert_int_equal(ibv_destroy_srq(e->srq), 0);
	assert_int_equal(rdma_destroy_id(e->id), 0);
	free(e->buf);
}

struct serving {
	struct rdma_cm_id *listener;
	bool shared;
};

static void *serve(void *arg)
{
	const struct serving *s = arg;
	struct rdma_conn_param param = {.responder_resources = 4, .initiator_depth = 4};

	assert_int_equal(rdma_get_request(s->listener, &fx.server.id), 0);
	make_qp(&fx.server, s->shared, s->shared);
	assert_int_equal(rdma_accept(fx.server.id, &param), 0);
	return NULL;
}

static int connect_ends(bool shared)
{
	struct rdma_conn_param param = {.responder_resources = 4, .initiator_depth = 4};
	struct sockaddr_in sin = {.sin_family = AF_INET, .sin_port = htons(7000)};
	struct serving s = {.shared = shared};
	pthread_t thread;

	inet_pton(AF_INET, FIXTURE_ADDRESS, &sin.sin_addr);
	memset(&fx.client, 0, sizeof fx.client);
	memset(&fx.server, 0, sizeof fx.server);
	/* Without an event channel librdmacm waits for each step. */
	assert_int_equal(rdma_create_id(NULL, &s.listener, NULL, RDMA_PS_TCP), 0);
	assert_int_equal(rdma_bind_addr(s.listener, (struct sockaddr *)&sin), 0);
	assert_int_equal(rdma_listen(s.listener, 1), 0);
	assert_int_equal(pthread_create(&thread, NULL, serve, &s), 0);
	assert_int_equal(rdma_create_id(NULL, &fx.client.id, NULL, RDMA_PS_TCP), 0);
	assert_int_equal(rdma_resolve_addr(fx.client.id, NULL, (struct sockaddr *)&sin, 2000), 0);
	assert_int_equal(rdma_resolve_route(fx.client.id, 2000), 0);
	assert_string_equal(ibv_get_device_name(fx.client.id->verbs->device), "uiw0");
	make_qp(&fx.client, shared, false);
	assert_int_equal(rdma_connect(fx.client.id, &param), 0);
	pthread_join(thread, NULL);
	assert_int_equal(rdma_destroy_id(s.listener), 0);
	return 0;
}

int fixture_connect(void **state)
{
	return connect_ends(false);
}

int fixture_connect_srq(void **state)
{
	return connect_ends(true);
}

int fixture_disconnect(void **state)
{
	/* Not when the test has ended the connection itself. */
	rdma_disconnect(fx.client.id);
	unmake_qp(&fx.client);
	unmake_qp(&fx.server);
	return 0;
}

/* ---- requests and completions ---------------------------------------------------------------- */

struct ibv_wc take(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int n;

	while ((n = ibv_poll_cq(cq, 1, &wc)) == 0)
		;
	assert_int_equal(n, 1);
	return wc;
}

void take_sent(uint64_t wr_id)
{
	struct ibv_wc wc = take(fx.client.id->send_cq);

	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.wr_id, wr_id);
}

struct ibv_send_wr request(
	enum ibv_wr_opcode op, struct ibv_sge *sge, const struct end *from, uint32_t len)
{
	*sge = (struct ibv_sge){
		.addr = (uintptr_t)from->buf, .length = len, .lkey = from->mr->lkey};
	return (struct ibv_send_wr){.wr_id = 1000 + (unsigned)op,
		.sg_list = sge,
		.num_sge = 1,
		.opcode = op,
		.send_flags = IBV_SEND_SIGNALED};
}

void aim(struct ibv_send_wr *wr, size_t offset)
{
	wr->wr.rdma.remote_addr = (uintptr_t)fx.server.buf + offset;
	wr->wr.rdma.rkey = fx.server.mr->rkey;
}

void client_posts(struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	assert_int_equal(ibv_post_send(fx.client.id->qp, wr, &bad), 0);
}

void client_begins(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &fx.client, 0);

	aim(&wr, 0);
	client_posts(&wr);
	take_sent(wr.wr_id);
}

struct ibv_mw *server_window(size_t len)
{
	struct ibv_mw *mw = ibv_alloc_mw(fx.server.id->pd, IBV_MW_TYPE_2);
	struct ibv_send_wr wr = {.wr_id = 900,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {.mw = mw,
			.bind_info = {.mr = fx.server.mr,
				.addr = (uintptr_t)fx.server.buf,
				.length = len,
				.mw_access_flags =
					IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ}}};
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	assert_non_null(mw);
	client_begins();
	wr.bind_mw.rkey = mw->rkey = ibv_inc_rkey(mw->rkey);
	assert_int_equal(ibv_post_send(fx.server.id->qp, &wr, &bad), 0);
	wc = take(fx.server.id->send_cq);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, IBV_WC_BIND_MW);
	return mw;
}

void fill(uint8_t *buf, uint8_t seed)
{
	for (size_t i = 0; i < FIXTURE_SIZE; i++)
		buf[i] = (uint8_t)(seed + i * 7 + i / 256);
}

void post_recv(struct end *e, uint64_t wr_id)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)e->buf, .length = FIXTURE_SIZE, .lkey = e->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad;

	if (e->srq != NULL)
		assert_int_equal(ibv_post_srq_recv(e->srq, &wr, &bad), 0);
	else
		assert_int_equal(ibv_post_recv(e->id->qp, &wr, &bad), 0);
}
