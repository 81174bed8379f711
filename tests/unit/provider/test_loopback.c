/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The whole provider in one process: started by "uiwarp run" on a port that goes nowhere, two QPs
 * of ours are connected through librdmacm over our own address, which the IP layer loops back.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
/* After the four that it needs. */
#include <cmocka.h>

#define ADDRESS "10.99.0.1"
#define SIZE    100000

struct end {
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	uint8_t *buf;
};

static struct {
	struct ibv_context *context;
	struct end client, server;
} t;

static struct ibv_device *our_device(struct ibv_device ***list)
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

static int open_device(void **state)
{
	struct ibv_device **list;

	t.context = ibv_open_device(our_device(&list));
	/* Some programs do this, and it must do. */
	free(list);
	return t.context == NULL;
}

static int close_device(void **state)
{
	return ibv_close_device(t.context);
}

/* ---- objects without a connection --------------------------------------------------------------
 */

static void test_device(void **state)
{
	struct ibv_device_attr_ex ex;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	struct ibv_gid_entry entry;
	union ibv_gid gid;

	assert_int_equal(t.context->device->node_type, IBV_NODE_RNIC);
	assert_int_equal(t.context->device->transport_type, IBV_TRANSPORT_IWARP);
	assert_int_equal(ibv_query_device(t.context, &attr), 0);
	assert_int_equal(attr.phys_port_cnt, 1);
	assert_true(attr.node_guid == ibv_get_device_guid(t.context->device));
	assert_int_equal(ibv_query_device_ex(t.context, NULL, &ex), 0);
	assert_memory_equal(&ex.orig_attr, &attr, sizeof attr);
	assert_int_equal(ibv_query_port(t.context, 1, &port), 0);
	assert_int_equal(port.state, IBV_PORT_ACTIVE);
	assert_int_equal(port.link_layer, IBV_LINK_LAYER_ETHERNET);
	assert_int_equal(port.max_msg_sz, INT32_MAX);
	assert_int_equal(ibv_query_port(t.context, 2, &port), EINVAL);
	assert_int_equal(ibv_query_gid(t.context, 1, 0, &gid), 0);
	assert_int_equal(ibv_query_gid_ex(t.context, 1, 0, &entry, 0), 0);
	assert_memory_equal(&entry.gid, &gid, sizeof gid);
	assert_int_equal(ibv_query_gid_ex(t.context, 1, 1, &entry, 0), ENODATA);
	assert_int_equal(ibv_query_gid_table(t.context, &entry, 1, 0), 1);
}

static void test_memory(void **state)
{
	const int rw = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	struct ibv_pd *pd = ibv_alloc_pd(t.context);
	uint8_t *gone = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr;
	char byte;

	assert_non_null(pd);
	/* Read-only; the second page gone. */
	errno = 0;
	assert_null(ibv_reg_mr(pd, gone, 8192, rw));
	assert_int_equal(errno, EFAULT);
	mr = ibv_reg_mr(pd, gone, 8192, IBV_ACCESS_REMOTE_READ);
	assert_non_null(mr);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	munmap(gone + 4096, 4096);
	assert_null(ibv_reg_mr(pd, gone + 4000, 100, 0));
	assert_int_equal(errno, EFAULT);
	munmap(gone, 4096);
	assert_null(ibv_reg_mr(pd, &byte, SIZE_MAX, 0));
	assert_null(ibv_reg_mr(pd, &byte, 1, IBV_ACCESS_REMOTE_WRITE));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_reg_mr(pd, &byte, 1, IBV_ACCESS_ON_DEMAND));
	assert_int_equal(errno, EOPNOTSUPP);
	mr = ibv_reg_mr(pd, &byte, 1, rw | IBV_ACCESS_RELAXED_ORDERING);
	assert_non_null(mr);
	assert_int_equal(mr->lkey, mr->rkey);
	assert_int_equal(ibv_dealloc_pd(pd), EBUSY);
	assert_int_equal(ibv_close_device(t.context), -1);
	assert_int_equal(errno, EBUSY);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
}

static void test_refusals(void **state)
{
	struct ibv_pd *pd = ibv_alloc_pd(t.context);
	struct ibv_cq *cq = ibv_create_cq(t.context, 8, NULL, NULL, 0);
	struct ibv_qp_init_attr a = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UD};
	struct ibv_td_init_attr td = {0};
	struct ibv_ah_attr ah = {0};
	struct ibv_device_attr dev;

	ibv_query_device(t.context, &dev);
	assert_null(ibv_create_cq(t.context, 0, NULL, NULL, 0));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_create_cq(t.context, dev.max_cqe + 1, NULL, NULL, 0));
	assert_null(ibv_create_cq(t.context, 1, NULL, NULL, 1));
	assert_null(ibv_create_qp(pd, &a));
	assert_int_equal(errno, EOPNOTSUPP);
	a.qp_type = IBV_QPT_RC;
	a.cap.max_send_wr = (uint32_t)dev.max_qp_wr + 1;
	assert_null(ibv_create_qp(pd, &a));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_alloc_td(t.context, &td));
	assert_int_equal(errno, EOPNOTSUPP);
	assert_null(ibv_alloc_mw(pd, IBV_MW_TYPE_1));
	assert_null(ibv_create_ah(pd, &ah));
	assert_int_equal(errno, EOPNOTSUPP);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
}

static void test_qp_states(void **state)
{
	struct ibv_pd *pd = ibv_alloc_pd(t.context);
	struct ibv_cq *cq = ibv_create_cq(t.context, 8, NULL, NULL, 0);
	struct ibv_qp_init_attr a = {.send_cq = cq,
		.recv_cq = cq,
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1}};
	struct ibv_qp *qp = ibv_create_qp(pd, &a);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct ibv_recv_wr recv = {.wr_id = 7}, *bad_recv;
	struct ibv_send_wr send = {.wr_id = 8}, *bad_send = NULL;
	struct ibv_wc wc[4];

	assert_non_null(qp);
	assert_true(a.cap.max_send_wr >= 2);
	assert_int_equal(qp->state, IBV_QPS_RESET);
	assert_int_equal(ibv_post_recv(qp, &recv, &bad_recv), EINVAL);
	assert_int_equal(ibv_destroy_cq(cq), EBUSY);
	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT), 0);
	assert_int_equal(qp->state, IBV_QPS_INIT);
	attr.port_num = 2;
	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT), EINVAL);
	assert_int_equal(ibv_post_send(qp, &send, &bad_send), EINVAL);
	assert_ptr_equal(bad_send, &send);
	assert_int_equal(ibv_post_recv(qp, &recv, &bad_recv), 0);
	attr.qp_state = IBV_QPS_ERR;
	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	/* In ERROR what was posted, and what still is, completes flushed. */
	assert_int_equal(ibv_post_send(qp, &send, &bad_send), 0);
	assert_int_equal(ibv_poll_cq(cq, 4, wc), 2);
	for (int i = 0; i < 2; i++)
		assert_int_equal(wc[i].status, IBV_WC_WR_FLUSH_ERR);
	/* librdmacm's disconnect must get past this. */
	attr.qp_state = IBV_QPS_SQD;
	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
}

static void test_extended_cq(void **state)
{
	struct ibv_cq_init_attr_ex attr = {.cqe = 16, .wc_flags = IBV_WC_STANDARD_FLAGS};
	struct ibv_poll_cq_attr poll_attr = {0};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(t.context, &attr);

	assert_non_null(cq);
	assert_int_equal(ibv_start_poll(cq, &poll_attr), ENOENT);
	assert_int_equal(ibv_resize_cq(ibv_cq_ex_to_cq(cq), 64), 0);
	assert_true(cq->cqe >= 64);
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	attr.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
	assert_null(ibv_create_cq_ex(t.context, &attr));
	assert_int_equal(errno, EOPNOTSUPP);
}

static void test_fork(void **state)
{
	struct ibv_pd *pd = ibv_alloc_pd(t.context);
	struct ibv_cq *cq = ibv_create_cq(t.context, 8, NULL, NULL, 0);
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct ibv_wc wc;
		int ok = ibv_alloc_pd(t.context) == NULL && errno == ENODEV &&
			 ibv_poll_cq(cq, 1, &wc) < 0 && ibv_req_notify_cq(cq, 0) == ENODEV &&
			 ibv_destroy_cq(cq) == ENODEV;

		/* exit(), not _exit(): what runs then must leave the parent's device alone. */
		exit(ok ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
}

/* ---- a connection -------------------------------------------------------------------------------
 */

static void make_qp(struct end *e)
{
	struct ibv_qp_init_attr_ex attr = {
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 0,
		.send_ops_flags =
			IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ,
		.cap = {.max_send_wr = 4,
			.max_recv_wr = 4,
			.max_send_sge = 2,
			.max_recv_sge = 2,
			.max_inline_data = 16},
	};
	const int access =
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

	attr.pd = e->id->pd;
	assert_int_equal(rdma_create_qp_ex(e->id, &attr), 0);
	e->buf = calloc(1, SIZE);
	e->mr = ibv_reg_mr(e->id->pd, e->buf, SIZE, access);
	assert_non_null(e->mr);
}

static void unmake_qp(struct end *e)
{
	rdma_destroy_qp(e->id);
	assert_int_equal(ibv_dereg_mr(e->mr), 0);
	assert_int_equal(rdma_destroy_id(e->id), 0);
	free(e->buf);
}

static void *serve(void *arg)
{
	struct rdma_cm_id *listener = arg;
	struct rdma_conn_param param = {.responder_resources = 4, .initiator_depth = 4};

	assert_int_equal(rdma_get_request(listener, &t.server.id), 0);
	make_qp(&t.server);
	assert_int_equal(rdma_accept(t.server.id, &param), 0);
	return NULL;
}

static int connect_ends(void **state)
{
	struct rdma_conn_param param = {.responder_resources = 4, .initiator_depth = 4};
	struct sockaddr_in sin = {.sin_family = AF_INET, .sin_port = htons(7000)};
	struct rdma_cm_id *listener;
	pthread_t thread;

	inet_pton(AF_INET, ADDRESS, &sin.sin_addr);
	memset(&t.client, 0, sizeof t.client);
	memset(&t.server, 0, sizeof t.server);
	/* Without an event channel librdmacm waits for each step. */
	assert_int_equal(rdma_create_id(NULL, &listener, NULL, RDMA_PS_TCP), 0);
	assert_int_equal(rdma_bind_addr(listener, (struct sockaddr *)&sin), 0);
	assert_int_equal(rdma_listen(listener, 1), 0);
	assert_int_equal(pthread_create(&thread, NULL, serve, listener), 0);
	assert_int_equal(rdma_create_id(NULL, &t.client.id, NULL, RDMA_PS_TCP), 0);
	assert_int_equal(rdma_resolve_addr(t.client.id, NULL, (struct sockaddr *)&sin, 2000), 0);
	assert_int_equal(rdma_resolve_route(t.client.id, 2000), 0);
	assert_string_equal(ibv_get_device_name(t.client.id->verbs->device), "uiw0");
	make_qp(&t.client);
	assert_int_equal(rdma_connect(t.client.id, &param), 0);
	pthread_join(thread, NULL);
	assert_int_equal(rdma_destroy_id(listener), 0);
	return 0;
}

static int disconnect_ends(void **state)
{
	/* Not when the test has ended the connection itself. */
	rdma_disconnect(t.client.id);
	unmake_qp(&t.client);
	unmake_qp(&t.server);
	return 0;
}

static struct ibv_wc take(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int n;

	while ((n = ibv_poll_cq(cq, 1, &wc)) == 0)
		;
	assert_int_equal(n, 1);
	return wc;
}

static struct ibv_send_wr request(
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

static void fill(uint8_t *buf, uint8_t seed)
{
	for (size_t i = 0; i < SIZE; i++)
		buf[i] = (uint8_t)(seed + i * 7 + i / 256);
}

static void post_recv(struct end *e, uint64_t wr_id)
{
	struct ibv_sge sge = {.addr = (uintptr_t)e->buf, .length = SIZE, .lkey = e->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad;

	assert_int_equal(ibv_post_recv(e->id->qp, &wr, &bad), 0);
}

static void test_write_and_read(void **state)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &t.client, SIZE), *bad;
	struct ibv_wc wc;

	fill(t.client.buf, 1);
	wr.wr.rdma.remote_addr = (uintptr_t)t.server.buf;
	wr.wr.rdma.rkey = t.server.mr->rkey;
	assert_int_equal(ibv_post_send(t.client.id->qp, &wr, &bad), 0);
	/* A Read behind it: when it is answered, the Write has been placed. */
	wr = request(IBV_WR_RDMA_READ, &sge, &t.client, SIZE / 2);
	wr.wr.rdma.remote_addr = (uintptr_t)t.server.buf + SIZE / 2;
	wr.wr.rdma.rkey = t.server.mr->rkey;
	assert_int_equal(ibv_post_send(t.client.id->qp, &wr, &bad), 0);
	wc = take(t.client.id->send_cq);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, IBV_WC_RDMA_WRITE);
	assert_int_equal(wc.qp_num, t.client.id->qp->qp_num);
	wc = take(t.client.id->send_cq);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, IBV_WC_RDMA_READ);
	assert_int_equal(wc.byte_len, SIZE / 2);
	assert_memory_equal(t.client.buf, t.server.buf + SIZE / 2, SIZE / 2);
	fill(t.client.buf, 1);
	assert_memory_equal(t.client.buf, t.server.buf, SIZE);
}

static void test_send(void **state)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, &t.client, SIZE), *bad;
	struct ibv_wc wc;

	post_recv(&t.server, 55);
	fill(t.client.buf, 9);
	assert_int_equal(ibv_post_send(t.client.id->qp, &wr, &bad), 0);
	wc = take(t.server.id->recv_cq);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, IBV_WC_RECV);
	assert_int_equal(wc.wr_id, 55);
	assert_int_equal(wc.byte_len, SIZE);
	assert_memory_equal(t.client.buf, t.server.buf, SIZE);
	wc = take(t.client.id->send_cq);
	assert_int_equal(wc.wr_id, wr.wr_id);
}

static void test_send_with_invalidate(void **state)
{
	struct ibv_mr *mr = ibv_reg_mr(t.server.id->pd, t.server.buf, 64,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(IBV_WR_SEND_WITH_INV, &sge, &t.client, 4), *bad;
	struct ibv_wc wc;

	post_recv(&t.server, 56);
	wr.invalidate_rkey = mr->rkey;
	assert_int_equal(ibv_post_send(t.client.id->qp, &wr, &bad), 0);
	wc = take(t.server.id->recv_cq);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_true((wc.wc_flags & IBV_WC_WITH_INV) != 0);
	assert_int_equal(wc.invalidated_rkey, mr->rkey);
	take(t.client.id->send_cq);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

static void test_post_errors(void **state)
{
	struct ibv_sge sge[3];
	struct ibv_send_wr wr = request(IBV_WR_SEND, sge, &t.client, 17), *bad = NULL;

	wr.send_flags |= IBV_SEND_INLINE;
	sge[0].length = 1 << 20;
	assert_int_equal(ibv_post_send(t.client.id->qp, &wr, &bad), EINVAL);
	assert_ptr_equal(bad, &wr);
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.num_sge = 1000;
	assert_int_equal(ibv_post_send(t.client.id->qp, &wr, &bad), EINVAL);
	wr.num_sge = -1;
	assert_int_equal(ibv_post_send(t.client.id->qp, &wr, &bad), EINVAL);
	wr.num_sge = 1;
	wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	assert_int_equal(ibv_post_send(t.client.id->qp, &wr, &bad), EOPNOTSUPP);
	wr.opcode = (enum ibv_wr_opcode)1000;
	assert_int_equal(ibv_post_send(t.client.id->qp, &wr, &bad), EOPNOTSUPP);
}

static void test_builders(void **state)
{
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(t.client.id->qp);
	char text[] = "built inline";
	struct ibv_wc wc;

	assert_non_null(ex);
	fill(t.client.buf, 3);
	/* Abandoned: neither may be seen. */
	ibv_wr_start(ex);
	ex->wr_id = 1;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(ex, t.server.mr->rkey, (uintptr_t)t.server.buf);
	ibv_wr_set_sge(ex, t.client.mr->lkey, (uintptr_t)t.client.buf, 8);
	ibv_wr_send(ex);
	ibv_wr_abort(ex);
	/* An error keeps all of them back. */
	ibv_wr_start(ex);
	ibv_wr_rdma_write(ex, t.server.mr->rkey, (uintptr_t)t.server.buf);
	ibv_wr_set_inline_data(ex, t.client.buf, SIZE);
	assert_int_equal(ibv_wr_complete(ex), EINVAL);

	post_recv(&t.server, 57);
	ibv_wr_start(ex);
	ex->wr_id = 2;
	ex->wr_flags = 0;
	ibv_wr_rdma_write(ex, t.server.mr->rkey, (uintptr_t)t.server.buf + 1000);
	ibv_wr_set_sge(ex, t.client.mr->lkey, (uintptr_t)t.client.buf, 5000);
	ex->wr_id = 3;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(ex);
	ibv_wr_set_inline_data(ex, text, sizeof text);
	assert_int_equal(ibv_wr_complete(ex), 0);
	wc = take(t.server.id->recv_cq);
	assert_int_equal(wc.wr_id, 57);
	assert_int_equal(wc.byte_len, sizeof text);
	assert_string_equal((char *)t.server.buf, text);
	assert_memory_equal(t.server.buf + 1000, t.client.buf, 5000);
	wc = take(t.client.id->send_cq);
	assert_int_equal(wc.wr_id, 3);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(ibv_poll_cq(t.client.id->send_cq, 1, &wc), 0);
}

static void test_completion_channel(void **state)
{
	struct ibv_cq *cq = t.server.id->recv_cq, *which;
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, &t.client, 1), *bad;
	struct pollfd fd = {.fd = t.server.id->recv_cq_channel->fd, .events = POLLIN};
	void *cq_context;

	post_recv(&t.server, 58);
	assert_int_equal(poll(&fd, 1, 0), 0);
	assert_int_equal(ibv_req_notify_cq(cq, 0), 0);
	assert_int_equal(ibv_post_send(t.client.id->qp, &wr, &bad), 0);
	/* Blocks, with nobody but the engine's own thread to make progress. */
	assert_int_equal(ibv_get_cq_event(t.server.id->recv_cq_channel, &which, &cq_context), 0);
	assert_ptr_equal(which, cq);
	assert_int_equal(take(cq).wr_id, 58);
	ibv_ack_cq_events(cq, 1);
	take(t.client.id->send_cq);
	/* An event that nobody reads goes with its CQ. */
	post_recv(&t.server, 59);
	assert_int_equal(ibv_req_notify_cq(cq, 0), 0);
	assert_int_equal(ibv_post_send(t.client.id->qp, &wr, &bad), 0);
	assert_int_equal(poll(&fd, 1, 5000), 1);
}

static void test_bad_rkey(void **state)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &t.client, 8), *bad;
	struct ibv_async_event ev;
	struct ibv_wc wc;

	wr.wr.rdma.remote_addr = (uintptr_t)t.server.buf;
	wr.wr.rdma.rkey = t.server.mr->rkey ^ 0x5a5a00;
	post_recv(&t.server, 60);
	post_recv(&t.client, 61);
	assert_int_equal(ibv_post_send(t.client.id->qp, &wr, &bad), 0);
	/* The server tells of it by a Terminate, and all that is posted is flushed on both sides.
	 */
	wc = take(t.server.id->recv_cq);
	assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(wc.wr_id, 60);
	wc = take(t.client.id->recv_cq);
	assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(ibv_get_async_event(t.server.id->verbs, &ev), 0);
	assert_true(ev.event_type == IBV_EVENT_QP_ACCESS_ERR ||
		    ev.event_type == IBV_EVENT_QP_FATAL || ev.event_type == IBV_EVENT_QP_REQ_ERR);
	ibv_ack_async_event(&ev);
}

#define CONNECTED(f) cmocka_unit_test_setup_teardown(f, connect_ends, disconnect_ends)
#define OPENED(f)    cmocka_unit_test_setup_teardown(f, open_device, close_device)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OPENED(test_device),
		OPENED(test_memory),
		OPENED(test_refusals),
		OPENED(test_qp_states),
		OPENED(test_extended_cq),
		OPENED(test_fork),
		CONNECTED(test_write_and_read),
		CONNECTED(test_send),
		CONNECTED(test_send_with_invalidate),
		CONNECTED(test_post_errors),
		CONNECTED(test_builders),
		CONNECTED(test_completion_channel),
		CONNECTED(test_bad_rkey),
	};

	/* A lost event must end the test, not the patience of who runs it. */
	alarm(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
